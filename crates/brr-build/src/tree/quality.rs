//! What a tree keeps of the vectors: whether near words are near in it.

use brr::parts::tree::WordTree;

use super::Tags;
use crate::quality::real_neighbors;
use crate::vectors::Vectors;

/// Words that are looked at, spread evenly over the vocabulary.
const SAMPLE: usize = 4000;
/// Words of each level to which a word is compared.
const COMPARED: usize = 8;

/// What was measured at one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelQuality {
    /// The level.
    pub level: u32,
    /// Share of words whose nearest word by cosine is at this level or below it.
    pub nearest: f64,
    /// Mean cosine of two words at this level.
    pub cosine: f64,
    /// Share of two words at this level that have a tag in common, of those that both have any; `None`
    /// without tags.
    pub tags: Option<f64>,
}

/// What was measured of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeQuality {
    /// Level by level, from 1 on.
    pub levels: Vec<LevelQuality>,
    /// Words over which these are means.
    pub sample: usize,
}

/// Measures a tree over the words of these vectors, and how far it agrees with tags.
pub fn measure(
    vectors: &Vectors,
    tree: &WordTree,
    tags: Option<&Tags>,
    threads: usize,
) -> TreeQuality {
    let words = vectors.words.len();
    let sample = SAMPLE.min(words);
    let looked_at: Vec<usize> = (0..sample).map(|i| i * words / sample).collect();
    let nearest = real_neighbors(vectors, &looked_at, 1, threads);
    let mut found = vec![0usize; tree.levels() as usize + 1];
    let mut compared = vec![Compared::default(); tree.levels() as usize + 1];
    for (&word, near) in looked_at.iter().zip(&nearest) {
        for (near, _) in near {
            found[tree.level(word as u32, *near as u32) as usize] += 1;
        }
        for (level, compared) in (0..).zip(&mut compared) {
            let there = tree.at_level(word as u32, level);
            for i in 0..COMPARED.min(there.len()) {
                let other = there[i * there.len() / COMPARED.min(there.len())] as usize;
                compared.cosines += cosine(vectors.row(word), vectors.row(other));
                compared.pairs += 1;
                let [a, b] = [word, other].map(|w| vectors.words[w].as_str());
                if let Some(agree) = tags.and_then(|tags| tags.agree(a, b)) {
                    compared.tagged += 1;
                    compared.agreeing += usize::from(agree);
                }
            }
        }
    }
    let mut below = found[0];
    let level = |level: usize| {
        below += found[level];
        LevelQuality {
            level: level as u32,
            nearest: below as f64 / sample.max(1) as f64,
            cosine: compared[level].cosines / compared[level].pairs.max(1) as f64,
            tags: compared[level].agreement(),
        }
    };
    TreeQuality {
        levels: (1..found.len()).map(level).collect(),
        sample,
    }
}

/// Pairs of words of a level.
#[derive(Clone, Copy, Default)]
struct Compared {
    pairs: usize,
    cosines: f64,
    /// Pairs of which both words have tags, and those with one in common.
    tagged: usize,
    agreeing: usize,
}

impl Compared {
    fn agreement(&self) -> Option<f64> {
        (self.tagged > 0).then(|| self.agreeing as f64 / self.tagged as f64)
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 {
        dot(a, b) / lengths
    } else {
        0.0
    }
}
