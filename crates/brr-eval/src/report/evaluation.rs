//! The page of `brr evaluate`.

use super::chart::{Axis, Chart, Point, Series, number};
use super::page::{Column, Page, Table};
use crate::attack::Success;
use crate::experiment::{Outcome, Results};
use crate::interval::Estimate;

/// The whole page.
pub fn evaluation(results: &Results) -> String {
    let mut page = Page::new(&format!("What privacy costs: {}", results.name));
    for documents in results.sizes() {
        page.paragraph(&results.recommendation(documents));
    }
    page.paragraph(&summary(results));
    for documents in results.sizes() {
        page.heading(&format!("{documents} training texts"));
        page.table(&levels(results, documents));
        for chart in charts(results, documents) {
            page.chart(&chart);
        }
        let conditions = results.of(documents).filter(|o| o.bound.is_some());
        page.table(&Table::of("Every condition", &OUTCOMES, conditions));
        let caption = "Shares of words that attackers name: who reads context, and Bayes', who sees one word at a time";
        let conditions = results.of(documents).filter(|o| o.bound.is_some());
        page.table(&Table::of(caption, &NAMED, conditions));
    }
    let controls = results.outcomes.iter().filter(|o| o.bound.is_none());
    let caption = "Classifiers trained on the texts as they are; the overfitted one shows that the attack works";
    let controls = Table::of(caption, &BASELINES, controls);
    page.heading("Without privacy").table(&controls);
    page.heading("How it was done");
    for text in method(results) {
        page.paragraph(&text);
    }
    page.finish()
}

/// The chart of accuracy over the bound, to stand alone.
pub fn evaluation_picture(results: &Results) -> Option<String> {
    let documents = *results.sizes().first()?;
    Some(charts(results, documents).first()?.standalone())
}

fn summary(results: &Results) -> String {
    let base = results.sizes().first().and_then(|d| results.baseline(*d));
    let base = base.map_or(String::new(), |b| {
        format!(
            " Without privacy it is right in {} of test texts.",
            percent(b.accuracy.value)
        )
    });
    format!(
        "A classifier learns privatized texts ({} words, {} labels) and is then asked about texts it has not seen.{base} \
         Charts show the mean over trials with 95 % intervals.",
        results.words,
        results.labels.len()
    )
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

type Across = fn(&Outcome) -> Option<f64>;
type Up = fn(&Outcome) -> Option<Estimate>;

fn lines(results: &Results, documents: usize, x: Across, y: Up) -> Vec<Series> {
    let line = |label: &str| {
        let of = results.of(documents).filter(|o| o.label == label);
        let mut points: Vec<Point> = of
            .filter_map(|o| Some(Point { x: x(o)?, y: y(o)? }))
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series {
            name: label.to_owned(),
            points,
        }
    };
    let mut all: Vec<Series> = results.labels_of(documents).into_iter().map(line).collect();
    all.retain(|s| !s.points.is_empty());
    all
}

/// A level line across the chart.
fn across(series: &[Series], name: &str, y: Estimate) -> Option<Series> {
    let points = || series.iter().flat_map(|s| &s.points);
    let xs = || points().map(|p| p.x).filter(|x| x.is_finite());
    let (low, high) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    let y = Estimate::exact(y.value);
    (low < high).then(|| Series {
        name: name.to_owned(),
        points: [low, high].map(|x| Point { x, y }).to_vec(),
    })
}

fn charts(results: &Results, documents: usize) -> Vec<Chart> {
    let baseline = results.baseline(documents);
    let mut charts = Vec::new();
    let mut add = |title: &str,
                   description: &str,
                   x: (Axis, Across),
                   y: (Axis, Up),
                   level: Option<Estimate>| {
        let mut series = lines(results, documents, x.1, y.1);
        let level = level.and_then(|level| across(&series, "original text", level));
        series.extend(level);
        if series.iter().any(|s| s.points.len() > 1) {
            charts.push(Chart {
                title: title.into(),
                description: description.into(),
                x: x.0,
                y: y.0,
                series,
            });
        }
    };
    let average = || -> (Axis, Across) {
        let label = "loss bound at the average pair of words (left is more private)";
        (Axis::log(label), |o| o.bound)
    };
    let mut add_accuracy = |title: &str, description: &str, x: (Axis, Across)| {
        let accuracy = Axis::linear("accuracy on unseen texts");
        let level = baseline.map(|b| b.accuracy);
        add(
            title,
            description,
            x,
            (accuracy, |o| Some(o.accuracy)),
            level,
        );
    };
    add_accuracy(
        "Accuracy of a classifier trained on privatized text",
        "Accuracy rises with the privacy-loss bound; how soon depends on the mechanism.",
        average(),
    );
    let nearest = Axis::log("mean loss between a word and its nearest neighbour");
    add_accuracy(
        "Accuracy, by the loss between nearest neighbours",
        "The same accuracies over the mean loss between a word and its nearest neighbour.",
        (nearest, |o| o.nearest),
    );
    let named = Axis::linear("share of words that the attacker names who reads context");
    add_accuracy(
        "Accuracy, by what an attacker recovers",
        "Accuracy against the share of words that the attacker names who reads context.",
        (named, |o| context(o, "all").map(|s| s.context)),
    );
    if results.madlib_average.is_some() {
        let madlib = Axis::linear("epsilon of Madlib with the same loss bound");
        add_accuracy(
            "As in the paper: accuracy over Madlib's epsilon",
            "Each mechanism at the bound that Madlib has at this epsilon.",
            (madlib, |o| o.madlib_epsilon.filter(|e| *e <= 25.0)),
        );
    }
    let auc = Axis::linear("area under the attacker's curve (0.5 is guessing)");
    add(
        "Membership inference",
        "Area under the attacker's curve over the bound; 0.5 is guessing.",
        average(),
        (auc, |o| o.auc),
        baseline.and_then(|b| b.auc),
    );
    let share = || Axis::linear("share of words").from_to(0.0, 1.0);
    add(
        "Words that the attacker names who reads context",
        "Share of known words that the attacker names who has learned from the texts that are not privatized, over the bound.",
        average(),
        (share(), |o| context(o, "all").map(|s| s.estimate())),
        None,
    );
    add(
        "Words that Bayes' attacker names, one word at a time",
        "Share of all known words that the attacker names, over the bound.",
        average(),
        (share(), |o| o.recovered.map(|r| Estimate::exact(r.bayes))),
        None,
    );
    charts
}

/// What the attacker reached who reads context.
fn context<'o>(o: &'o Outcome, class: &str) -> Option<&'o Success> {
    o.context.as_ref().and_then(|c| c.on(class))
}

fn levels(results: &Results, documents: usize) -> Table {
    let labels = results.labels_of(documents);
    let row = |level: crate::experiment::Level| {
        let bounds = level
            .bounds
            .into_iter()
            .map(|(_, b)| b.map_or("not reached".into(), number));
        [percent(level.accuracy)]
            .into_iter()
            .chain(bounds)
            .collect()
    };
    Table {
        caption: "The loss bound (at the average pair) at which each mechanism reaches an accuracy, between its conditions".into(),
        head: ["Accuracy"].into_iter().chain(labels).map(str::to_owned).collect(),
        rows: results.levels(documents).into_iter().map(row).collect(),
    }
}

fn shown(e: Option<Estimate>) -> String {
    match e {
        None => "-".into(),
        Some(e) if e.is_exact() => format!("{:.3}", e.value),
        Some(e) => format!("{:.3} ({:.3} to {:.3})", e.value, e.low, e.high),
    }
}

fn some(x: Option<f64>) -> String {
    x.map_or("-".into(), number)
}

const OUTCOMES: [Column<Outcome>; 10] = [
    ("Mechanism", |o| o.label.clone()),
    ("Bound, average pair", |o| some(o.bound)),
    ("Epsilon", |o| some(o.epsilon)),
    ("Loss, nearest pair", |o| some(o.nearest)),
    ("Madlib's epsilon", |o| some(o.madlib_epsilon)),
    ("Trials", |o| o.trials.to_string()),
    ("Accuracy", |o| shown(Some(o.accuracy))),
    ("Accuracy, test privatized too", |o| {
        shown(o.accuracy_privatized)
    }),
    ("Membership AUC", |o| shown(o.auc)),
    ("AUC by confidence alone", |o| shown(o.auc_of_confidence)),
];

/// What attackers name, as shares of words.
const NAMED: [Column<Outcome>; 10] = [
    ("Mechanism", |o| o.label.clone()),
    ("Bound, average pair", |o| some(o.bound)),
    ("Words that stay", |o| some(o.recovered.map(|r| r.as_is))),
    ("Attacker with context names", |o| {
        shown(context(o, "all").map(|s| s.estimate()))
    }),
    ("of content words", |o| {
        some(context(o, "content").map(|s| s.context))
    }),
    ("of names and places", |o| {
        some(context(o, "names").map(|s| s.context))
    }),
    ("of rarer words", |o| {
        some(context(o, "rare").map(|s| s.context))
    }),
    ("with the public language model", |o| {
        let weak = o.context.as_ref().and_then(|c| c.weak_on("all"));
        some(weak.map(|s| s.context))
    }),
    ("Bayes names", |o| some(o.recovered.map(|r| r.bayes))),
    ("Bayes names, rarer words", |o| {
        some(o.recovered.map(|r| r.bayes_rare))
    }),
];

const BASELINES: [Column<Outcome>; 6] = [
    ("Classifier", |o| o.label.clone()),
    ("Training texts", |o| o.documents.to_string()),
    ("Trials", |o| o.trials.to_string()),
    ("Accuracy", |o| shown(Some(o.accuracy))),
    ("Membership AUC", |o| shown(o.auc)),
    ("AUC by confidence alone", |o| shown(o.auc_of_confidence)),
];

fn method(results: &Results) -> Vec<String> {
    let parts: Vec<String> = results
        .parts
        .iter()
        .map(|(name, n)| format!("{name} {n}"))
        .collect();
    let c = &results.classifier;
    let m = &results.machine;
    let mut texts = vec![
        format!(
            "Texts: {}, dealt out by seed {}. {} All mechanisms privatize the same words: a vocabulary of {}; unknown words become \
             random ones.",
            parts.join(", "),
            results.seed,
            match results.halved {
                true => "There are no official halves: each part is a quarter of all texts.",
                false => "Train and validation are the halves of the official training set, test and shadow those of the official test set.",
            },
            results.vocabulary
        ),
        format!(
            "Utility: fastText's supervised classifier (crate fasttext; {} dimensions, {} epochs, rate {}, runs of {} word) learns the \
             privatized train part and is asked about the test part in original text.",
            c.dim, c.epochs, c.rate, c.ngrams
        ),
        "Membership inference (Shokri et al.): the attacker privatizes the shadow part with the same mechanism, trains a shadow classifier on it, \
         and teaches a network of 64 and 64 rectified units, one for each true label, to tell its members (shadow) from others (test) by the \
         vector of confidences and its logarithms. It is then asked about the target's members (train, original text) and others (validation)."
            .to_owned(),
        "The attacker who reads context knows the mechanism and how words follow each other: from the official test half of the texts, or, \
         where that is said, from the public language model. He weighs every word of the vocabulary at every position by a hidden Markov model of \
         the whole sentence, and names the most probable. BRR's and Madlib's channels are estimated from draws, so their attacker is a lower bound. \
         Intervals are over the words that were attacked, in the first trial. Where text is decoded with context, he is given the draws that it was \
         computed from: k-ary, exponential and tree response's draws tell no less than the decoded text, so that what he names of them is an upper \
         bound for it. BRR decodes its noisy codes, which tell more than the words that it draws; there is no attacker of these, and a dash stands there."
            .to_owned(),
        "Bayes' attacker sees one word at a time: the share of known words that he names from the privatized text, by Bayes' rule with a channel and a use of \
         words learned on half of the texts and tried on the other half. Rarer words are those beyond the 1,000 most frequent."
            .to_owned(),
        "The bound is epsilon times the mean distance of two words in the mechanism's own metric: one number to put different metrics side \
         by side. It is not the whole story: k-ary randomized response promises its bound to every pair, the others far less loss to near \
         words. So the loss between nearest neighbours and the attacker's success stand beside it."
            .to_owned(),
        "Intervals: 95 %, for new trials (noise and classifier drawn anew) and new test texts. The variance over trials and that of the choice \
         of texts are added, with the degrees of freedom of the sum (Welch and Satterthwaite); with one trial, that of the test texts alone. \
         Where trials differ much, fewer than 5 of them make wide intervals."
            .to_owned(),
    ];
    if let Some(average) = results.madlib_average {
        texts.push(format!(
            "Madlib's epsilon times {} (P_avg, Euclidean) is the bound.",
            number(average)
        ));
    }
    texts.push(format!(
        "Run with brr {} (commit {}) on {}, {} cores, {}. All noise in this evaluation is seeded, unlike in a release.",
        m.brr, m.commit, m.cpu, m.cores, m.system
    ));
    texts
}
