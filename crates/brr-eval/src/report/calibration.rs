//! The page of `brr calibrate`.

use super::chart::{Axis, Chart, Point, Series, number};
use super::page::{Column, Page, Table};
use crate::calibrate::{self, Solution, Step, Target};
use crate::channel::{Guess, OutputSets, Spread};
use crate::interval::Estimate;

/// One page for one or several mechanisms over the same words.
pub fn calibration(tables: &[calibrate::Table], solutions: &[Solution]) -> String {
    let mut page = Page::new("Choosing an epsilon");
    page.paragraph(
        "Each mechanism at a ladder of privacy-loss bounds (epsilon times the mean distance of two \
         words). The bound puts mechanisms with different metrics side by side; the loss between a \
         word and its nearest neighbour, often far lower, is what metric privacy adds, so both are \
         shown.",
    );
    for solution in solutions {
        page.paragraph(&solution_text(solution));
    }
    for text in tables.iter().filter_map(recommendation) {
        page.paragraph(&text);
    }
    for chart in charts(tables) {
        page.chart(&chart);
    }
    for table in tables {
        page.heading(&format!(
            "{} ({}, {} words)",
            table.mechanism, table.metric, table.words
        ));
        page.paragraph(&method(table));
        page.table(&steps(table));
    }
    page.finish()
}

/// A solution in sentences.
pub fn solution_text(solution: &Solution) -> String {
    let asked = match solution.target {
        Target::Keep(share) => format!("To keep {} of words by use", number(share)),
        Target::MaxGuess(share) => {
            let share = number(share);
            match solution.step.context {
                Some(_) => format!(
                    "To let an attacker who reads whole sentences name at most {share} of the words of a \
                     public sample, by the upper end of the interval"
                ),
                None => format!(
                    "To let an attacker who sees one output word name at most {share} of words"
                ),
            }
        }
    };
    format!("{asked}: {}", in_words(&solution.step))
}

/// The step of a table to start from, in sentences: of those that keep at most half of the words, the one
/// that keeps the most; if there are none, the one that keeps the fewest, and that there are smaller bounds.
pub fn recommendation(table: &calibrate::Table) -> Option<String> {
    let keep = |s: &&Step| s.summary.keep_by_use.value;
    let within = table.steps.iter().filter(|s| keep(s) <= 0.5);
    let Some(start) = within.max_by(|a, b| keep(a).total_cmp(&keep(b))) else {
        let least = table
            .steps
            .iter()
            .min_by(|a, b| keep(a).total_cmp(&keep(b)))?;
        return Some(format!(
            "To start with {}, look at smaller bounds: at each of these more than every second word stays. The \
             one with the fewest: {}",
            table.mechanism,
            in_words(least)
        ));
    };
    Some(format!(
        "To start with {}, at most every second word kept: {}",
        table.mechanism,
        in_words(start)
    ))
}

/// What a step does, to people who have never heard of epsilon.
fn in_words(step: &Step) -> String {
    let kept = step.summary.keep_by_use.value;
    let stays = match kept {
        k if k < 0.005 => "hardly a word stays as it is".to_owned(),
        k if k <= 0.5 => format!("about one word in {:.0} stays as it is", 1.0 / k),
        k => format!("about {:.0} of 100 words stay as they are", 100.0 * k),
    };
    let mut text = format!(
        "at epsilon {} (bound {} at the average pair, {} at the nearest neighbour) {stays} ({}).",
        number(step.epsilon),
        number(step.bound),
        number(step.nearest),
        shown(step.summary.keep_by_use)
    );
    if let Some(guess) = step.summary.guess_by_use {
        let which = match guess.at_least {
            true => "A simulated attacker, whom the best one may exceed,",
            false => "The best attacker",
        };
        text += &format!(
            " {which} who sees one output word and knows how often words are used names {} of the \
             words{}",
            shown(guess.success),
            match step.context {
                Some(_) => ".",
                None => "; context, which was not tried, can only help.",
            }
        );
    }
    if let Some(context) = step.context {
        text += &format!(
            " An attacker who reads whole sentences of a public sample, with a public language model, names {} of \
             them; with texts like those under attack he names more.",
            shown(context)
        );
    }
    text
}

fn method(table: &calibrate::Table) -> String {
    let plan = &table.plan;
    match table.steps.first().is_some_and(|s| s.summary.exact) {
        true => format!(
            "Probabilities are computed: the share kept and the attacker's success over all words, \
             output sets and similarity on {} words (seed {}).",
            plan.words.min(table.words),
            plan.seed
        ),
        false => format!(
            "Simulated: {} words drawn uniformly and as many by use, {} draws each, seed {}; 95 % \
             intervals. The attack is learned on half of the words and tested on the other half: \
             the best attacker may do better. Output sets larger than the draws can show are lower \
             bounds.",
            plan.words, plan.draws, plan.seed
        ),
    }
}

type Across = fn(&Step) -> f64;
type Pick = fn(&Step) -> Option<Estimate>;

fn charts(tables: &[calibrate::Table]) -> Vec<Chart> {
    let average: (&str, Across) = ("loss bound at the average pair", |s| s.bound);
    let nearest: (&str, Across) = ("loss at the nearest neighbour", |s| s.nearest);
    let chart = |title: &str, (x, across): (&str, Across), y: Axis, pick: Pick| Chart {
        title: title.to_owned(),
        description: format!("{title}, as a line over the {x}, for each mechanism."),
        x: Axis::log(x),
        y,
        series: tables.iter().map(|t| series(t, across, pick)).collect(),
    };
    let share = || Axis::linear("share of words").from_to(0.0, 1.0);
    let cosine = Axis::linear("mean cosine with the original").from_to(0.0, 1.0);
    let bits = Axis::linear("mean bits changed");
    let stays: Pick = |s| Some(s.summary.keep_by_use);
    let by_neighbour = "Words that stay (by use), at the nearest neighbour";
    let mut charts = vec![
        chart("Words that stay (by use)", average, share(), stays),
        chart(by_neighbour, nearest, share(), stays),
        chart(
            "Words an attacker names who reads context",
            average,
            share(),
            |s| s.context,
        ),
        chart(
            "Words an attacker names by one output word (by use)",
            average,
            share(),
            |s| s.summary.guess_by_use.map(|g| g.success),
        ),
        chart("Similarity of changed words", average, cosine, |s| {
            s.summary.changed_cosine.filter(|_| changes(s))
        }),
        chart("Distance of changed words", average, bits, |s| {
            s.summary.changed_hamming.filter(|_| changes(s))
        }),
    ];
    charts.retain(|c| c.series.iter().any(|s| !s.points.is_empty()));
    charts
}

/// Whether enough words change that a mean over those that do means something.
fn changes(step: &Step) -> bool {
    step.summary.keep.value < 0.99
}

fn series(table: &calibrate::Table, across: Across, pick: Pick) -> Series {
    let point = |step: &Step| {
        Some(Point {
            x: across(step),
            y: pick(step)?,
        })
    };
    let bits = table.metric.rsplit('-').next().unwrap_or_default();
    let name = match table.metric.starts_with("hamming") {
        true => format!("{} {bits} bits", table.mechanism),
        false => table.mechanism.clone(),
    };
    Series {
        name,
        points: table.steps.iter().filter_map(point).collect(),
    }
}

fn shown(e: Estimate) -> String {
    match e.is_exact() {
        true => number(e.value),
        false => format!(
            "{} ({} to {})",
            number(e.value),
            number(e.low),
            number(e.high)
        ),
    }
}

fn steps(table: &calibrate::Table) -> Table {
    let columns: [Column<Step>; 15] = [
        ("Bound", |s| number(s.bound)),
        ("Epsilon", |s| number(s.epsilon)),
        ("Loss at nearest", |s| number(s.nearest)),
        ("Loss at farthest", |s| number(s.worst)),
        ("Loss of unknown tokens", |s| number(s.unknown)),
        ("Stays, by use", |s| shown(s.summary.keep_by_use)),
        ("Stays, every word once", |s| shown(s.summary.keep)),
        ("Quartiles", |s| quartiles(&s.summary.keep_spread)),
        ("Least to most", |s| ends(&s.summary.keep_spread)),
        ("Outputs with 95 %", |s| size(&s.summary.outputs)),
        ("Cosine of changed", |s| optional(s.summary.changed_cosine)),
        ("Bits changed", |s| optional(s.summary.changed_hamming)),
        ("Attacker with context", |s| optional(s.context)),
        ("One output word, by use", |s| {
            success(s.summary.guess_by_use)
        }),
        ("One output word, words equally likely", |s| {
            success(s.summary.guess)
        }),
    ];
    let caption = format!("{} at each bound", table.mechanism);
    Table::of(&caption, &columns, &table.steps)
}

fn quartiles(k: &Spread) -> String {
    [k.lower_quartile, k.median, k.upper_quartile]
        .map(number)
        .join(" / ")
}

fn ends(k: &Spread) -> String {
    [k.least, k.most].map(number).join(" to ")
}

fn size(sets: &OutputSets) -> String {
    let least = if sets.at_least { "at least " } else { "" };
    format!("{least}{}", number(sets.mean))
}

fn optional(e: Option<Estimate>) -> String {
    e.map_or("-".to_owned(), shown)
}

fn success(guess: Option<Guess>) -> String {
    optional(guess.map(|g| g.success))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Sampling, Similarity};
    use crate::mechanisms::KaryFamily;

    #[test]
    fn a_page_holds_every_step() {
        let plan = Sampling {
            words: 20,
            threads: 1,
            ..Sampling::default()
        };
        let (family, similarity) = (KaryFamily(50), Similarity::default());
        let table =
            calibrate::table(&family, &[1.0, 4.0], &similarity, &plan, None, &|_| {}).unwrap();
        let target = Target::Keep(0.5);
        let solution =
            calibrate::solve(&family, target, &similarity, &plan, None, &|_| {}).unwrap();
        let html = calibration(std::slice::from_ref(&table), &[solution.unwrap()]);
        assert_eq!(html.matches("<svg").count(), 3);
        assert_eq!(html.matches("<svg").count(), html.matches("<desc").count());
        assert!(html.contains("To keep 0.5 of words by use: at epsilon 3.89"));
        assert!(html.contains(&number(table.steps[1].epsilon)));
        assert!(!html.contains("NaN"));
    }
}
