//! What a mechanism over the private words says of all words: decoding with context needs it.

use std::ops::Range;

use zeroize::Zeroizing;

use crate::mechanism::{Emission, Observations};
use crate::vocabulary::WordId;

/// The emission of a mechanism over some words, as one over all words: the others cannot be there.
pub struct Among<'a> {
    inner: &'a dyn Emission,
    /// The ids of the mechanism's words among all, in its order.
    words: &'a [WordId],
    offsets: Vec<f32>,
}

impl<'a> Among<'a> {
    /// Over `all` words.
    pub fn new(inner: &'a dyn Emission, words: &'a [WordId], all: usize) -> Among<'a> {
        let mut offsets = vec![f32::NEG_INFINITY; all];
        let own = inner.offsets();
        for (i, &word) in words.iter().enumerate() {
            offsets[word as usize] = own.get(i).copied().unwrap_or(0.0);
        }
        Among {
            inner,
            words,
            offsets,
        }
    }

    /// Steps of the mechanism's words to steps of all words; the others stand nowhere near.
    fn scatter(&self, steps: &[u16], out: &mut [u16]) {
        out.fill(self.table().len() as u16 - 1);
        for (&word, &step) in self.words.iter().zip(steps) {
            out[word as usize] = step;
        }
    }
}

impl Emission for Among<'_> {
    fn table(&self) -> &[f32] {
        self.inner.table()
    }

    fn offsets(&self) -> &[f32] {
        &self.offsets
    }

    fn unknown(&self) -> f32 {
        self.inner.unknown()
    }

    fn steps(&self, observations: &Observations, i: usize, out: &mut [u16]) {
        let mut steps = Zeroizing::new(vec![0; self.words.len()]);
        self.inner.steps(observations, i, &mut steps);
        self.scatter(&steps, out);
    }

    fn steps_of_many(
        &self,
        observations: &Observations,
        which: Range<usize>,
        out: &mut [u16],
        each: &mut dyn FnMut(usize, usize, &[u16]),
    ) {
        let (own, all) = (self.words.len(), self.offsets.len());
        let mut steps = Zeroizing::new(vec![0; which.len() * own]);
        let told = &mut |_: usize, _: usize, _: &[u16]| {};
        self.inner
            .steps_of_many(observations, which, &mut steps, told);
        let rows = steps.chunks_exact(own).zip(out.chunks_exact_mut(all));
        for (row, (steps, out)) in rows.enumerate() {
            self.scatter(steps, out);
            each(row, 0, out);
        }
    }
}
