//! From unbiased counts, which are noisy, to likely ones: an empirical Bayes estimate in three steps.
//!
//! **Every word by itself.** What texts have of a word is modelled as a multiple of what the prior
//! expects. How the multiples are distributed is learned from the words that the prior expects about equally often: a
//! mixture of normal distributions around powers of 2 times the prior, and of "does not occur", whose
//! weights maximize the likelihood of the unbiased counts (Kiefer and Wolfowitz 1956, by
//! expectation-maximization). The weights of all words together are believed a little, too. The estimate is the mean
//! of a word's posterior, but words that stand out from the noise keep their unbiased counts.
//!
//! **Every received token by itself** ([`by_token`]). With these counts as what is expected of the words, each token that was
//! received has a posterior over the words that it may have been, by the channel: what these add up to is the estimate. One
//! word at a time, the first step cannot see that words which often become each other have errors that go
//! against each other, nor that a word which was received once was there more likely than one which was not.
//!
//! **The words that stand out** have their unbiased counts again, as a set, so that no prior changes the order of the frequent
//! words ([`reorder`]). Which of them has which is decided by an order between that of the unbiased and that of the raw
//! counts: the first are right on average, but undoing the noise made them noisier than the second, which are biased
//! instead. How much of the second is taken is what makes the error least, estimated from the counts themselves
//! (Green and Strawderman 1991). That the best values, the best distribution of values and the best ranks are three different
//! estimates, of which the last two can be had at once in this way, is from Shen and Louis (1998).

use crate::channel::WordChannel;
use crate::intervals::Variances;

/// Powers of 2 on either side of the prior.
const POWERS: i32 = 12;
/// Standard deviation of a component, relative to its mean.
const WIDTH: f64 = 0.4;
/// Iterations over the weights.
const ITERATIONS: usize = 40;
/// Standard deviations by which a word stands out. With fewer, words that do and words that do not would stand beside each
/// other among the most frequent ones of a few hundred texts, and have counts of two kinds.
const CLEAR: f64 = 4.0;
/// Words that the weights of all words are worth, beside a group's own.
const BELIEVED: f64 = 4.0;
/// Words of the most frequent group.
const FREQUENT: usize = 64;
/// Fewer outputs than these are not expected of any word.
const HARDLY: f64 = 1e-9;
/// A variance below which a count is known.
const KNOWN: f64 = 1e-9;

/// The likely counts of all words, from unbiased ones.
pub(crate) fn shrink(solution: &[f64], expected: &[f64], variances: &Variances) -> Vec<f64> {
    let multiples: Vec<f64> = std::iter::once(0.0)
        .chain((-POWERS..=POWERS).map(|k| f64::from(k).exp2()))
        .collect();
    let component = |w: usize, multiple: f64| {
        let mean = multiple * expected[w];
        let noise = variances.of(w, mean) + KNOWN;
        let own = (WIDTH * mean).powi(2);
        let total = own + noise;
        let off = solution[w] - mean;
        let log = -0.5 * (off * off / total + libm::log(total));
        (log, mean + off * own / total)
    };
    let likelihoods: Vec<Vec<f64>> = (0..solution.len())
        .map(|w| {
            let logs: Vec<f64> = multiples.iter().map(|m| component(w, *m).0).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            logs.iter().map(|l| libm::exp(l - most)).collect()
        })
        .collect();
    let groups = groups(expected);
    let even = vec![1.0 / multiples.len() as f64; multiples.len()];
    let common = likeliest_weights(&likelihoods, &groups.concat(), &even, 0.0);
    let mut weights = vec![Vec::new(); solution.len()];
    for group in groups {
        let likeliest = likeliest_weights(&likelihoods, &group, &common, BELIEVED);
        group
            .iter()
            .for_each(|&w| weights[w].clone_from(&likeliest));
    }
    let posterior = |(w, row): (usize, &Vec<f64>)| {
        if stands_out(solution[w], w, variances) {
            return solution[w];
        }
        let (mut mean, mut total) = (0.0, 0.0);
        for ((multiple, likelihood), weight) in multiples.iter().zip(row).zip(&weights[w]) {
            mean += likelihood * weight * component(w, *multiple).1;
            total += likelihood * weight;
        }
        (mean / total).max(0.0)
    };
    likelihoods.iter().enumerate().map(posterior).collect()
}

/// The weights that make these words likeliest, together with so many more that have the weights of `common`.
fn likeliest_weights(
    likelihoods: &[Vec<f64>],
    words: &[usize],
    common: &[f64],
    believed: f64,
) -> Vec<f64> {
    let mut weights = common.to_vec();
    let all = words.len() as f64 + believed;
    for _ in 0..ITERATIONS {
        let mut next: Vec<f64> = common.iter().map(|c| believed * c).collect();
        for &w in words {
            let row = &likelihoods[w];
            let total: f64 = row.iter().zip(&weights).map(|(l, w)| l * w).sum();
            let parts = next.iter_mut().zip(row.iter().zip(&weights));
            parts.for_each(|(next, (l, w))| *next += l * w / total);
        }
        weights = next.into_iter().map(|n| n / all).collect();
    }
    weights
}

/// Words that the prior expects about equally often: the most frequent ones, then twice as many, and so on.
fn groups(expected: &[f64]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..expected.len()).collect();
    order.sort_by(|&a, &b| expected[b].total_cmp(&expected[a]).then(a.cmp(&b)));
    let mut groups = Vec::new();
    let mut size = FREQUENT;
    while !order.is_empty() {
        let rest = order.split_off(size.min(order.len()));
        groups.push(std::mem::replace(&mut order, rest));
        size *= 2;
    }
    groups
}

/// Whether a count is well above what noise alone may give.
fn stands_out(count: f64, w: usize, variances: &Variances) -> bool {
    count > CLEAR * variances.of(w, count.max(0.0)).sqrt()
}

/// The counts that received tokens add up to, each shared out among the words by Bayes' rule, for several sets of
/// outputs: Pr[w | y] is in proportion to `likely[w]` Pr[y | w], with so many unknown tokens as one more word.
pub(crate) fn by_token(
    channel: &WordChannel<'_>,
    likely: &mut [Vec<f64>],
    unknown: &[f64],
    outputs: &[Vec<f64>],
) {
    let row = channel.unknown();
    let slices: Vec<&[f64]> = likely.iter().map(Vec::as_slice).collect();
    let expected = channel.outputs(&slices);
    let ratios = |((outputs, expected), unknown): ((&Vec<f64>, &Vec<f64>), &f64)| {
        let pairs = outputs.iter().zip(expected).zip(&row);
        let ratio =
            |((c, of_words), q): ((&f64, &f64), &f64)| c / (of_words + unknown * q).max(HARDLY);
        pairs.map(ratio).collect()
    };
    let ratios: Vec<Vec<f64>> = outputs
        .iter()
        .zip(&expected)
        .zip(unknown)
        .map(ratios)
        .collect();
    let slices: Vec<&[f64]> = ratios.iter().map(Vec::as_slice).collect();
    for (likely, means) in likely.iter_mut().zip(channel.means(&slices)) {
        likely
            .iter_mut()
            .zip(means)
            .for_each(|(f, mean)| *f *= mean);
    }
}

/// Gives the unbiased counts of the words that stand out to these in an order between that of unbiased and that of
/// raw counts.
pub(crate) fn reorder(
    likely: &mut [f64],
    solution: &[f64],
    raw: &[f64],
    stays: &[f64],
    variances: &Variances,
) {
    let mut clear: Vec<usize> = (0..solution.len())
        .filter(|&w| stands_out(solution[w], w, variances))
        .collect();
    let total = |counts: &[f64]| clear.iter().map(|&w| counts[w]).sum::<f64>();
    let scale = total(solution) / total(raw).max(1.0);
    let part = part_of_raw(&clear, solution, raw, scale, stays, variances);
    let score = |w: usize| (1.0 - part) * solution[w] + part * scale * raw[w];
    let mut counts: Vec<f64> = clear.iter().map(|&w| solution[w]).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    clear.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    for (w, count) in clear.into_iter().zip(counts) {
        likely[w] = count;
    }
}

/// The part of the raw counts, scaled, in the mixture whose error is least.
///
/// With e the error of the unbiased count and D what the raw count is off from it, e + l D has the mean square
/// E e^2 + 2 l E eD + l^2 E D^2, which is least at l = -E eD / E D^2. -E eD is the variance of the unbiased count less its
/// covariance with the raw one, which is about that of the word's own output.
fn part_of_raw(
    words: &[usize],
    solution: &[f64],
    raw: &[f64],
    scale: f64,
    stays: &[f64],
    variances: &Variances,
) -> f64 {
    let (mut gain, mut apart) = (0.0, 0.0);
    for &w in words {
        let variance = variances.of(w, solution[w]);
        let shared = raw[w] / stays[w] - stays[w] * solution[w];
        gain += 1.0 - scale * shared / variance;
        apart += (scale * raw[w] - solution[w]).powi(2) / variance;
    }
    match apart > 0.0 {
        true => (gain / apart).clamp(0.0, 1.0),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certain(variance: f64) -> Variances {
        Variances {
            fixed: vec![variance; 3],
            slope: vec![0.0; 3],
            ..Variances::rough(&[1.0; 3], &[1.0; 3])
        }
    }

    /// Of three words two stand out: they have their two unbiased counts. The third keeps what it had.
    #[test]
    fn words_that_stand_out_have_their_unbiased_counts() {
        let mut likely = vec![1.0, 2.0, 0.5];
        let raw = [50.0, 45.0, 40.0];
        reorder(
            &mut likely,
            &[100.0, 90.0, 1.0],
            &raw,
            &[0.5; 3],
            &certain(1.0),
        );
        assert_eq!(likely, [100.0, 90.0, 0.5]);
    }

    /// Unbiased counts with much noise are put in the order of raw counts that have little and agree with them but for it; with
    /// little noise of their own they are not.
    #[test]
    fn the_noisier_the_counts_the_more_raw_ones_decide_the_order() {
        let (solution, raw) = ([100.0, 90.0, 95.0], [30.0, 31.0, 32.0]);
        for (variance, order) in [(500.0, [90.0, 95.0, 100.0]), (1.0, solution)] {
            let mut likely = vec![0.0; 3];
            reorder(&mut likely, &solution, &raw, &[0.32; 3], &certain(variance));
            assert_eq!(likely, order, "variance {variance}");
        }
    }
}
