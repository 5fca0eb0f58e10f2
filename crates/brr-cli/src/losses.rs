//! Privacy losses, as people and programs read them.

use brr::Privatizer;
use brr_corpus::Report;
pub use brr_corpus::manifest::{loss as in_json, loss_per_word as per_word};

/// What is promised, in two lines.
pub fn statement(privatizer: &Privatizer) -> [String; 2] {
    let guarantee = privatizer.guarantee();
    let keep = privatizer.expected_keep();
    let keep = keep.map_or(String::new(), |keep| {
        format!(
            "; about {:.0} % of words stay as they are",
            100.0 * keep.weighted
        )
    });
    [
        format!(
            "mechanism {}, epsilon {:.4}, metric {}{keep}",
            privatizer.mechanism().name(),
            guarantee.epsilon,
            guarantee.metric
        ),
        format!(
            "privacy loss {} per word, unknown words included, {} per 100 words",
            at_most(per_word(privatizer)),
            at_most(privatizer.total_loss(100))
        ),
    ]
}

/// What a run says about its units, in a line.
pub fn of_units(privatizer: &Privatizer, report: &Report) -> String {
    let (units, cut) = (&report.units, report.counts.cut);
    format!(
        "units: {}; the largest has {} private words, privacy loss {} together; words cut off: {cut}",
        units.units,
        units.largest,
        at_most(privatizer.total_loss(units.largest)),
    )
}

/// A bound stays one when it is rounded.
fn at_most(loss: f64) -> String {
    if loss.is_finite() {
        format!("at most {:.1}", (loss * 10.0).ceil() / 10.0)
    } else {
        "without limit".into()
    }
}
