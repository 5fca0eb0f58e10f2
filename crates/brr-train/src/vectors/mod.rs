//! Pretrained word vectors.

/// Words with their vectors, in file order (most frequent first in the usual files).
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    /// The words.
    pub words: Vec<String>,
    /// Length of a vector.
    pub dim: usize,
    /// `words.len() * dim` numbers, row after row.
    pub data: Vec<f32>,
}

impl Vectors {
    /// The vector of word `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }
}
