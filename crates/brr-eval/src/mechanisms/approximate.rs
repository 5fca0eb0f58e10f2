//! Approximate nearest-word search, as the paper used it for Madlib: a
//! navigable small-world graph (HNSW; crate `hnsw_rs`).
//!
//! An approximate answer is as private as an exact one, since the graph sees the
//! noisy vector alone. But noisy vectors lie far from every word, where such a
//! graph finds its way badly: always state [`Graph::recall`] beside a speed.

use brr::parts::vocabulary::WordId;
use hnsw_rs::prelude::{DistL2, Hnsw};

use super::space::{NearestVector, Space};

/// How a graph is built and searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphOptions {
    /// Neighbours of a node.
    pub neighbors: usize,
    /// Candidates looked at while building.
    pub building: usize,
    /// Candidates looked at while searching.
    pub searching: usize,
}

impl Default for GraphOptions {
    fn default() -> GraphOptions {
        GraphOptions {
            neighbors: 16,
            building: 200,
            searching: 64,
        }
    }
}

/// A graph over the words of a space.
pub struct Graph {
    graph: Hnsw<'static, f32, DistL2>,
    dim: usize,
    options: GraphOptions,
}

impl Graph {
    /// Builds the graph with all cores. Its shape, and so an answer, can differ
    /// from build to build.
    pub fn build(space: &Space, options: GraphOptions) -> Graph {
        let vectors = space.vectors();
        let graph = Hnsw::new(options.neighbors, space.len(), 16, options.building, DistL2);
        let rows: Vec<(&[f32], usize)> = (0..space.len()).map(|i| (vectors.row(i), i)).collect();
        graph.parallel_insert_slice(&rows);
        Graph {
            graph,
            dim: vectors.dim,
            options,
        }
    }

    /// Share of queries whose exact answer the graph finds.
    pub fn recall(&self, space: &Space, queries: &[f32]) -> f64 {
        let (found, exact) = (self.nearest(queries), space.nearest(queries));
        let same = found.iter().zip(&exact).filter(|(a, b)| a == b).count();
        same as f64 / exact.len().max(1) as f64
    }
}

impl NearestVector for Graph {
    fn nearest(&self, queries: &[f32]) -> Vec<WordId> {
        let one = |query| {
            let found = self.graph.search(query, 1, self.options.searching);
            found.first().map_or(0, |n| n.d_id as WordId)
        };
        queries.chunks_exact(self.dim).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::tests::space;
    use super::*;

    #[test]
    fn words_find_themselves() {
        let value = |i: usize| ((i * 2_654_435_761) % 10_007) as f32 / 1000.0;
        let space = space(8, (0..8 * 500).map(value).collect());
        let graph = Graph::build(&space, GraphOptions::default());
        let recall = graph.recall(&space, &space.vectors().data);
        assert!(recall > 0.9, "{recall}");
    }
}
