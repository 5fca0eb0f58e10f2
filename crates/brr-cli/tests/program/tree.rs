//! Tree response of the built-in model draws what its exported tree says, by an account that shares no code with it.
//!
//! The noise of the program is not seeded: over all comparisons together, a false alarm has a probability below 1e-6.

use std::collections::{BTreeMap, HashMap};

use crate::support::{Folder, run, run_with};

/// Draws for each comparison.
const DRAWS: usize = 60_000;
/// Words with fewer draws expected are counted together with those of their subtree of this height, and what
/// is still less with all others.
const FEWEST: f64 = 10.0;
const HEIGHT: u32 = 10;

/// The words of the built-in model and their places, as `brr inspect --export` writes them.
struct Exported {
    words: Vec<String>,
    places: Vec<u32>,
    levels: u32,
}

impl Exported {
    fn read() -> Exported {
        let folder = Folder::new();
        assert_eq!(run(&["inspect", "--export", &folder.name("out")]).code, 0);
        let list = std::fs::read_to_string(folder.path("out/words.txt")).unwrap();
        let words: Vec<String> = list.lines().map(str::to_owned).collect();
        let file = std::fs::read(folder.path("out/tree.npy")).unwrap();
        let numbers = file[file.len() - 4 * words.len()..].chunks(4);
        let places: Vec<u32> = numbers
            .map(|b| u32::from_le_bytes(b.try_into().unwrap()))
            .collect();
        let levels = u32::BITS - places.iter().max().unwrap().leading_zeros();
        Exported {
            words,
            places,
            levels,
        }
    }

    /// The words that answer for each place: those of the smallest subtree around it that has any.
    fn answers(&self) -> Vec<Vec<usize>> {
        let mut answers = vec![Vec::new(); 1 << self.levels];
        for height in 0..=self.levels {
            let mut groups: HashMap<u32, Vec<usize>> = HashMap::new();
            for (word, place) in self.places.iter().enumerate() {
                groups.entry(place >> height).or_default().push(word);
            }
            for (place, answer) in (0..).zip(&mut answers).filter(|(_, a)| a.is_empty()) {
                *answer = groups.get(&(place >> height)).cloned().unwrap_or_default();
            }
        }
        answers
    }

    /// The probability of every output: of a word by exp(-epsilon * level), of an unknown token alike for all places.
    fn row(&self, answers: &[Vec<usize>], word: &str, epsilon: f64) -> Vec<f64> {
        let own = self.words.iter().position(|w| w == word);
        let own = own.map(|word| self.places[word]);
        let weight = |place: u32| {
            let level = own.map_or(0, |own| u32::BITS - (own ^ place).leading_zeros());
            (-epsilon * f64::from(level)).exp()
        };
        let total: f64 = (0..1 << self.levels).map(weight).sum();
        let mut row = vec![0.0; self.words.len()];
        for (place, answers) in (0..).zip(answers) {
            let each = weight(place) / total / answers.len() as f64;
            answers.iter().for_each(|&word| row[word] += each);
        }
        row
    }
}

/// How often each word comes out.
fn drawn(exported: &Exported, word: &str, epsilon: f64) -> Vec<u64> {
    let epsilon = epsilon.to_string();
    let args = [
        "privatize",
        "--mechanism",
        "tree",
        "--no-context",
        "--case",
        "plain",
        "-q",
        "--epsilon",
        &epsilon,
    ];
    let ran = run_with(&args, [word].repeat(DRAWS).join(" ").as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ids: HashMap<&str, usize> = (0..)
        .zip(&exported.words)
        .map(|(i, w)| (w.as_str(), i))
        .collect();
    let mut counts = vec![0; exported.words.len()];
    ran.stdout
        .split_whitespace()
        .for_each(|w| counts[ids[w]] += 1);
    counts
}

/// Chi-square by which counts depart from probabilities, in standard deviations (Wilson and Hilferty).
fn departure(exported: &Exported, counts: &[u64], row: &[f64]) -> f64 {
    let cells = counts.iter().zip(row);
    let cells = cells.map(|(&count, p)| (count as f64, p * DRAWS as f64));
    let groups = exported.places.iter().map(|place| place >> HEIGHT);
    let cells = together(cells.zip(groups).collect());
    let mut cells = together(cells.into_iter().map(|cell| (cell, 0)).collect());
    if let Some(rest) = cells.pop_if(|rest| rest.1 < FEWEST) {
        cells[0] = (cells[0].0 + rest.0, cells[0].1 + rest.1);
    }
    let square = |(count, expected): &(f64, f64)| (count - expected).powi(2) / expected;
    let sum: f64 = cells.iter().map(square).sum();
    let freedom = (cells.len() - 1) as f64;
    let variance = 2.0 / (9.0 * freedom);
    ((sum / freedom).cbrt() - (1.0 - variance)) / variance.sqrt()
}

/// Cells of which small ones are those of their group together.
fn together(cells: Vec<((f64, f64), u32)>) -> Vec<(f64, f64)> {
    let mut large = Vec::new();
    let mut groups: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (cell, group) in cells {
        if cell.1 >= FEWEST {
            large.push(cell);
            continue;
        }
        let sum = groups.entry(group).or_default();
        *sum = (sum.0 + cell.0, sum.1 + cell.1);
    }
    large.extend(groups.into_values().filter(|sum| sum.1 > 0.0));
    large
}

#[test]
fn the_built_in_tree_draws_what_its_export_says() {
    let exported = Exported::read();
    let answers = exported.answers();
    // A normal number is above 5.2 with a probability of 1e-7: six comparisons, 6e-7.
    for word in ["doctor", "the", "zzqxvk"] {
        for epsilon in [0.85, 1.2] {
            let counts = drawn(&exported, word, epsilon);
            assert_eq!(counts.iter().sum::<u64>(), DRAWS as u64);
            let found = departure(&exported, &counts, &exported.row(&answers, word, epsilon));
            assert!(found < 5.2, "{word} {epsilon}: {found}");
            // Another epsilon, or another word, is told from it.
            if word != "zzqxvk" {
                let other = departure(
                    &exported,
                    &counts,
                    &exported.row(&answers, word, epsilon + 0.05),
                );
                assert!(other > 10.0, "{word} {epsilon}: {other}");
                let other = departure(
                    &exported,
                    &counts,
                    &exported.row(&answers, "nurse", epsilon),
                );
                assert!(other > 10.0, "{word} {epsilon}: {other}");
            }
        }
    }
}
