//! The character n-grams of fastText ("Enriching Word Vectors with Subword Information",
//! Bojanowski et al. 2017, section 3.2).
//!
//! A word is put between `<` and `>`; its n-grams of `min` to `max` characters are hashed into a
//! fixed number of buckets, each of which has a vector. The hash is FNV-1a over the bytes *as
//! signed numbers*, a slip of the first release that all models since depend on.

/// Which n-grams a model has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subwords {
    /// Least characters of an n-gram.
    pub(super) min: usize,
    /// Most characters of an n-gram; 0 if the model has none.
    pub(super) max: usize,
    /// Buckets that n-grams are hashed into.
    pub(super) buckets: u32,
}

impl Subwords {
    /// Calls `found` with the bucket of each n-gram of `word`. Words are bytes: they are cut at
    /// UTF-8 starts as fastText does, valid or not.
    pub(super) fn for_each(&self, word: &[u8], mut found: impl FnMut(u32)) {
        if self.max == 0 || self.buckets == 0 {
            return;
        }
        let bracketed = [b"<", word, b">"].concat();
        let is_start = |at: &usize| bracketed[*at] & 0xc0 != 0x80;
        let mut starts: Vec<usize> = (0..bracketed.len()).filter(is_start).collect();
        starts.push(bracketed.len());
        let characters = starts.len() - 1;
        for first in 0..characters {
            for n in self.min.max(1)..=self.max.min(characters - first) {
                // The brackets alone are no n-grams.
                if n == 1 && (first == 0 || first + 1 == characters) {
                    continue;
                }
                let ngram = &bracketed[starts[first]..starts[first + n]];
                found(hash(ngram) % self.buckets);
            }
        }
    }
}

fn hash(ngram: &[u8]) -> u32 {
    ngram.iter().fold(2_166_136_261, |hash: u32, byte| {
        (hash ^ (*byte as i8 as u32)).wrapping_mul(16_777_619)
    })
}
