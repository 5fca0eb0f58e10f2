//! The iterative Bayesian update, and where to stop it.
//!
//! With counts c(y) of the outputs, one turn is
//!
//! ```text
//! p(y)  = sum over w of f(w) C(y | w)
//! f'(w) = f(w) * sum over y of C(y | w) c(y) / p(y)  /  sum over y of c(y)
//! ```
//!
//! which never lowers the likelihood: it is expectation-maximization. Tokens that the
//! model does not know are one more word, whose outputs are uniform and whose share is
//! given: the shares of the others are scaled to what is left.

use brr::parts::parallel;

use super::channel::WordChannel;
use super::documents::Documents;

/// Shares of words and of unknown tokens; they add up to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Frequencies {
    /// By id.
    pub words: Vec<f64>,
    /// Of tokens that the model does not know.
    pub unknown: f64,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// After so many iterations.
    After(usize),
    /// Where the half of the documents that was left out is explained best, at the
    /// latest after so many iterations.
    HeldOut {
        /// The most iterations.
        most: usize,
    },
}

impl Default for Stop {
    fn default() -> Stop {
        Stop::HeldOut { most: 300 }
    }
}

/// Turns without a gain on the documents left out after which there will be none.
const PATIENCE: usize = 10;
/// Part of the start in what the documents left out are compared with: words that one
/// half happens not to have are no reason to stop.
const DOUBT: f64 = 0.1;

/// p(y): what outputs these frequencies lead to.
pub(super) fn predict(channel: &WordChannel, f: &Frequencies) -> Vec<f64> {
    let mut rest = 0.0;
    let mut predicted = vec![f.unknown / channel.words() as f64; channel.words()];
    for (w, &share) in f.words.iter().enumerate() {
        rest += share * channel.rest(w);
        let (outputs, excess) = channel.row(w);
        for (y, e) in outputs.iter().zip(excess) {
            predicted[*y as usize] += share * f64::from(*e);
        }
    }
    add_background(channel, rest, &mut predicted);
    predicted
}

fn add_background(channel: &WordChannel, rest: f64, predicted: &mut [f64]) {
    for (p, b) in predicted.iter_mut().zip(channel.background()) {
        *p += rest * b;
    }
}

/// One turn: changes `f`, and `predicted` from what `f` led to into what it leads to.
pub(super) fn turn(
    channel: &WordChannel,
    counts: &[f64],
    f: &mut Frequencies,
    predicted: &mut [f64],
) {
    let total: f64 = counts.iter().sum();
    let ratio = |(c, p): (&f64, &f64)| {
        if *c > 0.0 {
            c / (p.max(f64::MIN_POSITIVE) * total)
        } else {
            0.0
        }
    };
    let ratios: Vec<f64> = counts.iter().zip(&*predicted).map(ratio).collect();
    let of_background: f64 = ratios
        .iter()
        .zip(channel.background())
        .map(|(r, b)| r * b)
        .sum();
    let behind_unknown = f.unknown * ratios.iter().sum::<f64>() / channel.words() as f64;
    let scale = (1.0 - f.unknown) / (1.0 - behind_unknown).max(f64::MIN_POSITIVE);
    predicted.fill(f.unknown / channel.words() as f64);
    let mut rest = 0.0;
    for (w, share) in f.words.iter_mut().enumerate() {
        let (outputs, excess) = channel.row(w);
        let entries = outputs.iter().zip(excess);
        let stored: f64 = entries
            .clone()
            .map(|(y, e)| ratios[*y as usize] * f64::from(*e))
            .sum();
        *share *= scale * (stored + channel.rest(w) * of_background);
        rest += *share * channel.rest(w);
        for (y, e) in entries {
            predicted[*y as usize] += *share * f64::from(*e);
        }
    }
    add_background(channel, rest, predicted);
}

/// So many iterations from `f` on.
pub(super) fn run(
    channel: &WordChannel,
    counts: &[f64],
    mut f: Frequencies,
    iterations: usize,
) -> Frequencies {
    if counts.iter().all(|c| *c == 0.0) {
        return f;
    }
    let mut predicted = predict(channel, &f);
    for _ in 0..iterations {
        turn(channel, counts, &mut f, &mut predicted);
    }
    f
}

/// How well outputs are explained: the mean log-likelihood.
pub(super) fn explained(counts: &[f64], predicted: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum::<f64>().max(1.0);
    let term = |(c, p): (&f64, &f64)| {
        if *c > 0.0 {
            c * libm::log(p.max(f64::MIN_POSITIVE))
        } else {
            0.0
        }
    };
    counts.iter().zip(predicted).map(term).sum::<f64>() / total
}

/// The number of iterations after which one half of the documents explains the other best,
/// both ways taken together.
pub(super) fn best_turns(
    channel: &WordChannel,
    documents: &Documents,
    first: &Frequencies,
    most: usize,
    threads: usize,
) -> usize {
    let halves = [documents.half(false), documents.half(true)];
    if halves.iter().any(|h| h.iter().all(|c| *c == 0.0)) {
        return most.min(PATIENCE);
    }
    let gains = parallel::map(threads, 2, |seen| {
        gains(channel, &halves[seen], &halves[1 - seen], first, most)
    });
    let common = gains[0].len().min(gains[1].len());
    let sum = |t: &usize| gains[0][*t] + gains[1][*t];
    // The first among equals.
    (0..common)
        .rev()
        .max_by(|a, b| sum(a).total_cmp(&sum(b)))
        .unwrap_or(0)
}

/// How well `left_out` is explained after 0, 1, ... iterations on `seen`.
fn gains(
    channel: &WordChannel,
    seen: &[f64],
    left_out: &[f64],
    first: &Frequencies,
    most: usize,
) -> Vec<f64> {
    let mut f = first.clone();
    let mut predicted = predict(channel, &f);
    let at_start = predicted.clone();
    let doubted = |predicted: &[f64]| -> Vec<f64> {
        let mix = |(p, s): (&f64, &f64)| (1.0 - DOUBT) * p + DOUBT * s;
        predicted.iter().zip(&at_start).map(mix).collect()
    };
    let mut gains = vec![explained(left_out, &predicted)];
    let mut best = 0;
    while gains.len() <= most && gains.len() - 1 < best + PATIENCE {
        turn(channel, seen, &mut f, &mut predicted);
        gains.push(explained(left_out, &doubted(&predicted)));
        if gains[gains.len() - 1] > gains[best] {
            best = gains.len() - 1;
        }
    }
    gains
}
