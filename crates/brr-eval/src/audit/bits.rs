//! Are bits flipped as often as claimed?

use brr::parts::codes::CodeBits;

use super::{ALPHA, Check, SHARES};
use crate::interval::Binomial;

/// Counts flips of a randomized response that claims `epsilon` per bit, on `codes`
/// codes of zeros and as many of ones. Fails if some bit, or bits of one value, or
/// all bits together, flip too rarely, or if neighbouring bits flip together. (To
/// flip too often wastes utility and breaks no promise.)
pub fn bit_flips(
    flip: &mut dyn FnMut(&mut [u64]),
    bits: CodeBits,
    epsilon: f64,
    codes: usize,
) -> Check {
    let claimed = 1.0 / (1.0 + libm::exp(epsilon));
    let mut flips = [vec![0u64; bits.get()], vec![0u64; bits.get()]];
    let mut unlike = 0;
    for (value, flips) in [0u64, u64::MAX].into_iter().zip(&mut flips) {
        for _ in 0..codes {
            let mut code = vec![value; bits.limbs()];
            flip(&mut code);
            let bit = |i: usize| code[i / 64] >> (i % 64) & 1 != value & 1;
            for (i, count) in flips.iter_mut().enumerate() {
                *count += u64::from(bit(i));
                unlike += u64::from(i % 2 == 1 && bit(i) != bit(i - 1));
            }
        }
    }
    let (n, per_value) = (codes as u64, (codes * bits.get()) as u64);
    let sums = flips.each_ref().map(|f| f.iter().sum::<u64>());
    let mut rates: Vec<Binomial> = flips
        .iter()
        .flatten()
        .map(|&f| Binomial::new(f, n))
        .collect();
    rates.extend(sums.map(|s| Binomial::new(s, per_value)));
    rates.push(Binomial::new(sums[0] + sums[1], 2 * per_value));
    let each = ALPHA / SHARES / (rates.len() + 2) as f64;
    let rare = rates.iter().filter(|r| r.upper(each) < claimed).count();
    // Independent bits that flip at the rate seen differ at 2 r (1 - r).
    let all = rates[rates.len() - 1];
    let apart = Binomial::new(unlike, per_value);
    let together = {
        let (low, high) = all.interval(each);
        let least = (2.0 * low * (1.0 - low)).min(2.0 * high * (1.0 - high));
        apart.upper(each) < least
    };
    let finding = format!(
        "bits flip at a rate of {:.6}, claimed {claimed:.6}; {rare} of {} rates are too low{}",
        all.share(),
        rates.len(),
        if together {
            "; neighbouring bits flip together"
        } else {
            ""
        }
    );
    Check::new("bit flips", rare > 0 || together, finding)
}
