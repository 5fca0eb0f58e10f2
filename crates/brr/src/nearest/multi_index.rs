//! Multi-index hashing (placeholder).
use super::{Neighbor, Scan};
use crate::codes::{CodeBlocks, CodeRows};

/// To be written.
pub struct MultiIndex<'a>(Scan<'a>);
impl<'a> MultiIndex<'a> {
    /// New.
    pub fn new(codes: CodeBlocks<'a>) -> Self {
        MultiIndex(Scan::new(codes))
    }
    /// Nearest.
    pub fn nearest(&self, queries: &CodeRows) -> Vec<Neighbor> {
        self.0.nearest(queries)
    }
}
