//! From unbiased counts, which are noisy, to likely ones: an empirical Bayes estimate.
//!
//! What texts have of a word is modelled as a multiple of what the prior expects. How the
//! multiples are distributed is learned from all words together: a mixture of normal
//! distributions around powers of 2 times the prior, and of "does not occur", whose weights
//! maximize the likelihood of the unbiased counts (Kiefer and Wolfowitz 1956, by
//! expectation-maximization). The estimate is the mean of a word's posterior, but words that stand
//! out from the noise take no part in this: no prior changes the order of the frequent words.
//!
//! These keep their unbiased counts as a set. Which of them has which is decided by their order in a
//! sum of two shares, that of the unbiased and that of the raw counts: the first are right on
//! average, but undoing the noise made them noisier than the second, which are biased instead, and for
//! an order the two together are better than either (`experiments/estimate`). That the best values,
//! the best distribution of values and the best ranks are three different estimates, of which the last
//! two can be had at once in this way, is from Shen and Louis (1998).

use crate::intervals::Variances;

/// Powers of 2 on either side of the prior.
const POWERS: i32 = 12;
/// Standard deviation of a component, relative to its mean.
const WIDTH: f64 = 0.4;
/// Iterations over the weights.
const ITERATIONS: usize = 40;
/// Standard deviations by which a word stands out. Of tens of thousands of words that do not occur a
/// few hundred do, too, and cost little; a prior for texts of another kind would cost more.
const CLEAR: f64 = 2.5;
/// A variance below which a count is known.
const KNOWN: f64 = 1e-9;

/// The likely counts of all words, from unbiased ones.
pub(crate) fn shrink(solution: &[f64], expected: &[f64], variances: &Variances) -> Vec<f64> {
    let multiples: Vec<f64> = std::iter::once(0.0)
        .chain((-POWERS..=POWERS).map(|k| f64::from(k).exp2()))
        .collect();
    let component = |w: usize, multiple: f64| {
        let mean = multiple * expected[w];
        let noise = variances.fixed[w] + variances.slope[w] * mean + KNOWN;
        let own = (WIDTH * mean).powi(2);
        let total = own + noise;
        let off = solution[w] - mean;
        let log = -0.5 * (off * off / total + libm::log(total));
        (log, mean + off * own / total)
    };
    let mut weights = vec![1.0 / multiples.len() as f64; multiples.len()];
    let likelihoods: Vec<Vec<f64>> = (0..solution.len())
        .map(|w| {
            let logs: Vec<f64> = multiples.iter().map(|m| component(w, *m).0).collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            logs.iter().map(|l| libm::exp(l - most)).collect()
        })
        .collect();
    for _ in 0..ITERATIONS {
        let mut next = vec![0.0; weights.len()];
        for row in &likelihoods {
            let total: f64 = row.iter().zip(&weights).map(|(l, w)| l * w).sum();
            let parts = next.iter_mut().zip(row.iter().zip(&weights));
            parts.for_each(|(next, (l, w))| *next += l * w / total);
        }
        let words = solution.len() as f64;
        weights = next.into_iter().map(|n| n / words).collect();
    }
    let posterior = |(w, row): (usize, &Vec<f64>)| {
        if stands_out(solution[w], w, variances) {
            return solution[w];
        }
        let (mut mean, mut total) = (0.0, 0.0);
        for ((multiple, likelihood), weight) in multiples.iter().zip(row).zip(&weights) {
            mean += likelihood * weight * component(w, *multiple).1;
            total += likelihood * weight;
        }
        (mean / total).max(0.0)
    };
    likelihoods.iter().enumerate().map(posterior).collect()
}

/// Whether a count is well above what noise alone may give.
fn stands_out(count: f64, w: usize, variances: &Variances) -> bool {
    let variance = variances.fixed[w] + variances.slope[w] * count.max(0.0);
    count > CLEAR * variance.sqrt()
}

/// Gives the counts of the words that stand out to these in the order that raw and unbiased counts
/// have together.
pub(crate) fn reorder(likely: &mut [f64], solution: &[f64], raw: &[f64], variances: &Variances) {
    let mut clear: Vec<usize> = (0..solution.len())
        .filter(|&w| stands_out(solution[w], w, variances))
        .collect();
    let total = |counts: &[f64]| clear.iter().map(|&w| counts[w]).sum::<f64>();
    let totals = [total(solution), total(raw).max(1.0)];
    let score = |w: usize| solution[w] / totals[0] + raw[w] / totals[1];
    let mut counts: Vec<f64> = clear.iter().map(|&w| solution[w]).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    clear.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    for (w, count) in clear.into_iter().zip(counts) {
        likely[w] = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of three words two stand out: they have their two counts still, the larger one now where raw and
    /// unbiased counts together say so. The third keeps what it had.
    #[test]
    fn words_that_stand_out_have_their_counts_in_the_order_of_both() {
        let variances = Variances {
            fixed: vec![1.0; 3],
            slope: vec![0.0; 3],
            ..Variances::rough(&[1.0; 3], &[1.0; 3])
        };
        let mut likely = vec![100.0, 90.0, 0.5];
        reorder(
            &mut likely,
            &[100.0, 90.0, 1.0],
            &[50.0, 80.0, 40.0],
            &variances,
        );
        assert_eq!(likely, [90.0, 100.0, 0.5]);
        reorder(
            &mut likely,
            &[100.0, 90.0, 1.0],
            &[81.0, 80.0, 40.0],
            &variances,
        );
        assert_eq!(likely, [100.0, 90.0, 0.5]);
    }
}
