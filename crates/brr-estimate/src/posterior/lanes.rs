//! Forward-backward over every word, for several stretches of text side by side.
//!
//! For a stretch of tokens with observations O_1 ... O_n, the state u before it and (if anything is known
//! there) the state v behind it:
//!
//! ```text
//! a_1(w) = P(w | u) Pr[O_1 | w],   a_t(w) = Pr[O_t | w] sum over w' of a_(t-1)(w') P(w | w'),
//! b_n(w) = P(v | w),               b_t(w) = sum over w' of P(w' | w) Pr[O_(t+1) | w'] b_(t+1)(w'),
//! ```
//!
//! and the posterior of w at t is a_t(w) b_t(w), up to a factor. Every w takes part at every t.
//!
//! A step is the product of a sparse matrix with a vector. [`LANES`] stretches take their steps
//! together: what is read of the matrix once serves them all, and the lanes of a state lie side by side.
//! Of a long stretch the forward vectors are kept for [`KEPT`] tokens at a time, and made again
//! from where they began.

use std::ops::Range;

use brr::parts::language::State;

use super::chain::Chain;

/// Stretches that are worked on together.
pub const LANES: usize = 16;
/// Tokens whose forward vectors are kept: 2 MB each with 33,000 words.
const KEPT: usize = 64;
/// What a vector is scaled to add up to: far from what single precision cannot hold, on both sides.
const TOTAL: f32 = (1u64 << 40) as f32;

/// A number for each stretch.
pub type Lane = [f32; LANES];

/// Tokens between two states that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its tokens.
    pub tokens: Range<usize>,
    /// What stands before it: a public word, or the boundary of a sentence.
    pub before: State,
    /// What stands behind it, if that is known.
    pub after: Option<State>,
}

/// What was seen of tokens.
pub trait Evidence: Sync {
    /// Writes Pr[O | w] of a token for every state w, up to a factor; 0 for the boundary. The largest
    /// should be about 1.
    fn likelihoods(&self, token: usize, out: &mut [f32]);
}

/// At most [`LANES`] stretches.
pub struct Batch<'a> {
    chain: &'a Chain,
    evidence: &'a dyn Evidence,
    stretches: &'a [Stretch],
    /// Pr[O | w] at one time, lane by lane.
    likelihoods: Vec<Vec<f32>>,
}

impl<'a> Batch<'a> {
    /// # Panics
    /// If there are more stretches than lanes.
    pub fn new(chain: &'a Chain, evidence: &'a dyn Evidence, stretches: &'a [Stretch]) -> Self {
        assert!(stretches.len() <= LANES, "at most a stretch for each lane");
        Batch {
            chain,
            evidence,
            stretches,
            likelihoods: vec![vec![0.0; chain.states()]; stretches.len()],
        }
    }

    /// Calls `each` with the time, counted from each stretch's start, and the posteriors of all states, up
    /// to a factor in each lane: those of stretches that are no longer than that mean nothing.
    pub fn posteriors(mut self, mut each: impl FnMut(usize, &[Lane])) {
        let longest = self.stretches.iter().map(|s| s.tokens.len()).max();
        let longest = longest.unwrap_or(0);
        let parts: Vec<Range<usize>> = (0..longest)
            .step_by(KEPT)
            .map(|start| start..(start + KEPT).min(longest))
            .collect();
        let mut starts = vec![self.begin()];
        for part in parts.iter().skip(1) {
            let before = &parts[starts.len() - 1];
            let from = &starts[starts.len() - 1];
            let from = self.walk(from.clone(), before.start..part.start, None);
            starts.push(from);
        }
        let mut after = vec![[0.0; LANES]; self.chain.states()];
        let mut scratch = after.clone();
        for (part, start) in parts.iter().zip(starts).rev() {
            let mut kept = Vec::with_capacity(part.len());
            self.walk(start, part.clone(), Some(&mut kept));
            for t in part.clone().rev() {
                self.end(t, &mut after);
                let mut forward = kept.pop().expect("one for each time");
                multiply(&mut forward, &after);
                each(t, &forward);
                if t > 0 {
                    self.observe(t, &mut after);
                    self.chain.backward(&after, &mut scratch);
                    std::mem::swap(&mut after, &mut scratch);
                    scale(&mut after);
                }
            }
        }
    }

    /// P(w | u) for the state before each stretch.
    fn begin(&self) -> Vec<Lane> {
        let mut at = vec![[0.0; LANES]; self.chain.states()];
        for (lane, stretch) in self.stretches.iter().enumerate() {
            let row = self.chain.after(stretch.before);
            at.iter_mut().zip(row).for_each(|(at, p)| at[lane] = p);
        }
        at
    }

    /// P(v | w) for the state behind each stretch that ends here.
    fn end(&self, t: usize, after: &mut [Lane]) {
        let ending = self.stretches.iter().enumerate();
        for (lane, stretch) in ending.filter(|(_, s)| s.tokens.len() == t + 1) {
            match stretch.after {
                None => after.iter_mut().for_each(|a| a[lane] = 1.0),
                Some(state) => {
                    let column = self.chain.before(state);
                    after.iter_mut().zip(column).for_each(|(a, p)| a[lane] = p);
                }
            }
        }
    }

    /// From the forward vectors of the first of these times, without its observation, to those
    /// of the time behind the last; those on the way, with their observations, are kept if wanted.
    fn walk(
        &mut self,
        mut at: Vec<Lane>,
        times: Range<usize>,
        mut kept: Option<&mut Vec<Vec<Lane>>>,
    ) -> Vec<Lane> {
        for t in times.clone() {
            self.observe(t, &mut at);
            scale(&mut at);
            let mut to = Vec::new();
            if kept.is_none() || t + 1 < times.end {
                to = vec![[0.0; LANES]; self.chain.states()];
                self.chain.forward(&at, &mut to);
            }
            let at = std::mem::replace(&mut at, to);
            if let Some(kept) = &mut kept {
                kept.push(at);
            }
        }
        at
    }

    /// Multiplies by Pr[O | w] in the lanes of stretches that have this time.
    fn observe(&mut self, t: usize, values: &mut [Lane]) {
        let lanes = self.stretches.iter().zip(&mut self.likelihoods);
        for (stretch, likelihoods) in lanes {
            match stretch.tokens.len() > t {
                true => self
                    .evidence
                    .likelihoods(stretch.tokens.start + t, likelihoods),
                false => likelihoods.fill(1.0),
            }
        }
        for (lane, likelihoods) in self.likelihoods.iter().enumerate() {
            debug_assert_eq!(likelihoods.len(), values.len(), "lane {lane}");
        }
        for (w, value) in values.iter_mut().enumerate() {
            for (value, likelihoods) in value.iter_mut().zip(&self.likelihoods) {
                *value *= likelihoods[w];
            }
        }
    }
}

fn multiply(values: &mut [Lane], factors: &[Lane]) {
    for (values, factors) in values.iter_mut().zip(factors) {
        values.iter_mut().zip(factors).for_each(|(v, f)| *v *= f);
    }
}

/// Scales each lane to [`TOTAL`]; a lane of zeros stays.
fn scale(values: &mut [Lane]) {
    let mut totals = [0.0f32; LANES];
    for value in values.iter() {
        totals.iter_mut().zip(value).for_each(|(t, v)| *t += v);
    }
    let factors = totals.map(|t| if t > 0.0 { TOTAL / t } else { 0.0 });
    for value in values.iter_mut() {
        value.iter_mut().zip(factors).for_each(|(v, f)| *v *= f);
    }
}

/// The state with the largest value of each lane among the first `states`; the lowest of several.
pub fn largest(values: &[Lane], states: usize) -> [State; LANES] {
    let mut best = [0; LANES];
    let mut most = [0.0f32; LANES];
    for (state, values) in values[..states].iter().enumerate() {
        for ((best, most), &value) in best.iter_mut().zip(&mut most).zip(values) {
            let more = value > *most;
            *most = if more { value } else { *most };
            *best = if more { state as State } else { *best };
        }
    }
    best
}
