//! Privacy losses, as people and programs read them.

use brr::{Budget, Policy, Privatizer};
use brr_corpus::Report;
pub use brr_corpus::manifest::{loss as in_json, loss_per_word as per_word};

/// A share of kept words from which on a text is as good as unprotected.
const IN_CLEAR: f64 = 0.95;

/// What is promised, in two lines.
pub fn statement(privatizer: &Privatizer) -> [String; 2] {
    let word = match privatizer.options().policy {
        Policy::All => "word",
        _ => "private word",
    };
    [
        format!(
            "mechanism {}, epsilon {}, metric {}{}",
            privatizer.mechanism().name(),
            used(privatizer),
            privatizer.guarantee().metric,
            kept(privatizer)
        ),
        format!(
            "privacy loss {} per {word}, unknown words included, {} per 100 {word}s",
            at_most(per_word(privatizer)),
            at_most(privatizer.total_loss(100)),
        ),
    ]
}

/// What the user must know before the text leaves: that it leaves unprotected.
pub fn warning(privatizer: &Privatizer) -> Option<String> {
    let kept = privatizer
        .keep_within()
        .start()
        .max(codes_survive(privatizer));
    (kept >= IN_CLEAR).then(|| {
        "at this epsilon nearly every word stays as it is: the text leaves in clear; choose less, such as --keep 0.5".into()
    })
}

/// The probability that BRR flips no bit of a code: whatever is known about the codes, a word that
/// has one of its own then stays.
fn codes_survive(privatizer: &Privatizer) -> f64 {
    match privatizer.options().mechanism {
        brr::MechanismKind::Brr => {
            let bits = privatizer.model().bits().get() as f64;
            (-bits * (-privatizer.guarantee().epsilon).exp().ln_1p()).exp()
        }
        _ => 0.0,
    }
}

/// An epsilon with four digits after the point, or with as many as tell it from 0.
pub fn epsilon(value: f64) -> String {
    fixed(value, 4, 0.001)
}

/// A privacy-loss bound with two digits after the point, or with as many as tell it from 0.
#[cfg(feature = "workstation")]
pub fn bound(value: f64) -> String {
    fixed(value, 2, 0.01)
}

/// With so many digits after the point from `least` on. What rounds to `least` is written as that is.
fn fixed(value: f64, digits: usize, least: f64) -> String {
    let short = format!("{value:.3e}");
    match short.parse().unwrap_or(value) {
        0.0 => "0".into(),
        rounded if (least..1e6).contains(&rounded) => format!("{value:.digits$}"),
        _ => short,
    }
}

/// The epsilon in use, and beside it the one that was asked for, if they differ as they are written.
fn used(privatizer: &Privatizer) -> String {
    let used = epsilon(privatizer.guarantee().epsilon);
    match privatizer.options().budget {
        Budget::Epsilon(asked) if epsilon(asked) != used => {
            format!(
                "{used} (the nearest below the {} asked for)",
                epsilon(asked)
            )
        }
        _ => used,
    }
}

/// How many words stay: what is known, or between which bounds, rounded outward.
fn kept(privatizer: &Privatizer) -> String {
    let (low, high) = privatizer.keep_within().into_inner();
    let share = match privatizer.expected_keep() {
        Some(keep) => format!("about {:.0} %", 100.0 * keep),
        // What is known of the draws is not known of the text that leaves.
        None if privatizer.options().context.is_some() => return String::new(),
        None if high < 0.5 => format!("at most {:.0} %", (100.0 * high).ceil()),
        None if low > 0.5 => format!("at least {:.0} %", (100.0 * low).floor()),
        None => return String::new(),
    };
    format!("; {share} of {}", privatizer.kept_words())
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
