//! A balanced tree over the words: near words share small subtrees.
//!
//! A tree of L levels has 2^L *places*, numbered from left to right, and every word stands at one
//! of them. The **level** of two words is the height of their lowest common ancestor: the number
//! of binary digits of the exclusive or of their places. It is 0 for a word and itself, 1 for the
//! other place of its pair, 2 for the other pair of its four, and L across the root.
//!
//! **Any number of words.** Words are seldom as many as a power of two. A place may hold two
//! words, whose level is then 0 too; and a place may be empty. Each place has *answers*: the words
//! that stand there or, if it is empty, all words of the smallest subtree around it that
//! has one. Answers are a public function of the place alone, and that is why neither enters the
//! loss of the mechanism (`mechanism/tree.rs`): it draws a place, and the answer is
//! post-processing. An empty subtree whose sibling is not empty is a *gap*; all its
//! places have the same answers, so gaps are what there is to store of empty places.
//!
//! **In a file** (section TREE): the number of levels in a byte, then the place of every word in
//! the order of ids, L bits each, the lowest first, packed without space between them: 1.9 bytes a word for
//! the 2^15 places of 32,782 words, 2.4 for the 2^19 of 400,000.

mod among;

use crate::error::{Error, Result};
use crate::frequency::{self, Keep};
use crate::guarantee::PairDistances;
use crate::vocabulary::WordId;

/// The most words that a place may hold.
const MOST_SHARING: u32 = 2;
/// A tree has at most this many places for each word.
const MOST_PLACES: u64 = 4;

/// The words that a place stands for: a stretch of [`WordTree::order`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    pub start: u32,
    pub len: u32,
}

/// An empty subtree whose sibling is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Its first place.
    pub place: u32,
    /// The height of its parent: its level from the words of its sibling.
    pub height: u32,
    /// The words of its sibling.
    pub answers: Answers,
}

impl Gap {
    /// How many places lead to each of its words.
    pub(crate) fn each(&self) -> f64 {
        f64::from(1u32 << (self.height - 1)) / f64::from(self.answers.len)
    }
}

/// A balanced tree over the words of a vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct WordTree {
    levels: u32,
    /// By id.
    places: Vec<u32>,
    /// The words by place, and by id within a place.
    order: Vec<WordId>,
    /// By place.
    answers: Vec<Answers>,
    gaps: Vec<Gap>,
}

impl WordTree {
    /// The tree in which word `i` stands at `places[i]`, below 2^`levels`.
    ///
    /// Fails if a place holds more than two words, or if there are more than four places for each
    /// word.
    pub fn new(levels: u32, places: Vec<u32>) -> Result<WordTree> {
        let invalid = |reason| {
            Err(Error::ModelInvalid {
                section: "tree",
                reason,
            })
        };
        if levels > 31 || 1u64 << levels > MOST_PLACES * places.len() as u64 {
            return invalid("it has too many levels for its words");
        }
        if places.iter().any(|&place| place >> levels != 0) {
            return invalid("a place is out of range");
        }
        let starts = starts(levels, &places);
        if starts
            .windows(2)
            .any(|ends| ends[1] - ends[0] > MOST_SHARING)
        {
            return invalid("a place has more than two words");
        }
        let mut order: Vec<WordId> = (0..places.len() as WordId).collect();
        order.sort_by_key(|&word| places[word as usize]);
        let gaps = gaps(levels, &starts);
        Ok(WordTree {
            answers: answers(&starts, &gaps),
            levels,
            places,
            order,
            gaps,
        })
    }

    /// The number of levels above the places.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// The place of every word, by id.
    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The level of two words.
    pub fn level(&self, a: WordId, b: WordId) -> u32 {
        level(self.places[a as usize], self.places[b as usize])
    }

    /// The words at exactly this level from `word`, by place; at level 0 those that stand where it
    /// does, itself among them.
    pub fn at_level(&self, word: WordId, level: u32) -> &[WordId] {
        let place = self.places[word as usize];
        let below = level.saturating_sub(1);
        let sibling = (place >> below) ^ u32::from(level > 0);
        let first = |subtree: u64| {
            let from = |&w: &WordId| u64::from(self.places[w as usize]) < subtree << below;
            self.order.partition_point(from)
        };
        &self.order[first(sibling.into())..first(u64::from(sibling) + 1)]
    }

    /// Levels between the words, over all ordered pairs: exact.
    pub fn pair_distances(&self) -> PairDistances {
        let n = self.places.len() as f64;
        let starts = starts(self.levels, &self.places);
        let (mut sum, mut maximum) = (0u128, 0);
        for height in 1..=self.levels {
            let pairs: u128 = subtrees(height, &starts).map(|[a, b]| 2 * a * b).sum();
            sum += pairs * u128::from(height);
            maximum = if pairs > 0 { height } else { maximum };
        }
        let nearest: Vec<u32> = (0..self.places.len() as WordId)
            .map(|word| self.nearest_level(word))
            .collect();
        PairDistances {
            average: sum as f64 / (n * n),
            maximum: maximum.into(),
            nearest_mean: nearest.iter().map(|&l| u64::from(l)).sum::<u64>() as f64 / n,
            nearest_min: nearest.iter().min().copied().unwrap_or(0).into(),
        }
    }

    /// The level of the nearest other word; 0 if there is none.
    fn nearest_level(&self, word: WordId) -> u32 {
        let is_alone = |level: u32| self.at_level(word, level).len() <= usize::from(level == 0);
        let nearest = (0..=self.levels).find(|&level| !is_alone(level));
        nearest.unwrap_or(0)
    }

    /// How many places, as a share of their answers, lead from each level to a word itself: the
    /// mean over all words, by use and plain, for each level.
    pub(crate) fn own_places(&self) -> Vec<Keep> {
        let n = self.places.len();
        let (by_use, plain) = (frequency::shares(n), 1.0 / n as f64);
        let mut own = vec![
            Keep {
                weighted: 0.0,
                plain: 0.0
            };
            self.levels as usize + 1
        ];
        let mut add = |level: u32, word: WordId, each: f64| {
            own[level as usize].weighted += by_use[word as usize] * each;
            own[level as usize].plain += plain * each;
        };
        for (word, &place) in self.places.iter().enumerate() {
            let sharing = self.answers[place as usize].len;
            add(0, word as WordId, 1.0 / f64::from(sharing));
        }
        for gap in &self.gaps {
            let words = self.words(gap.answers).iter();
            words.for_each(|&word| add(gap.height, word, gap.each()));
        }
        own
    }

    /// How many places lead to each word, by id.
    pub(crate) fn masses(&self) -> Vec<f64> {
        let own = |&place: &u32| 1.0 / f64::from(self.answers[place as usize].len);
        let mut masses: Vec<f64> = self.places.iter().map(own).collect();
        for gap in &self.gaps {
            let words = self.words(gap.answers).iter();
            words.for_each(|&word| masses[word as usize] += gap.each());
        }
        masses
    }

    /// The places that lead to each word, by id, and how often: its own, and the first place of every
    /// gap that it is an answer of, for all of that gap.
    pub fn sources(&self) -> Vec<Vec<(u32, f64)>> {
        let own = |&place: &u32| vec![(place, 1.0 / f64::from(self.answers(place).len))];
        let mut sources: Vec<_> = self.places.iter().map(own).collect();
        for gap in &self.gaps {
            for &word in self.words(gap.answers) {
                sources[word as usize].push((gap.place, gap.each()));
            }
        }
        sources
    }

    /// The gaps.
    pub(crate) fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The answers of a place.
    #[inline]
    pub(crate) fn answers(&self, place: u32) -> Answers {
        self.answers[place as usize]
    }

    /// The word at this place in the order.
    #[inline]
    pub(crate) fn word(&self, rank: u32) -> WordId {
        self.order[rank as usize]
    }

    /// Some answers' words.
    pub(crate) fn words(&self, answers: Answers) -> &[WordId] {
        let start = answers.start as usize;
        &self.order[start..start + answers.len as usize]
    }

    /// Reads the section of a file.
    pub(crate) fn read(bytes: &[u8], words: usize) -> Result<WordTree> {
        let invalid = |reason| Error::ModelInvalid {
            section: "tree",
            reason,
        };
        let (&levels, packed) = bytes.split_first().ok_or(invalid("it is empty"))?;
        let bits = words as u64 * u64::from(levels);
        if levels > 31 || packed.len() as u64 != bits.div_ceil(8) {
            return Err(invalid("its size does not fit the number of words"));
        }
        let (mut places, mut held, mut have) = (Vec::with_capacity(words), 0u64, 0);
        let mut packed = packed.iter();
        for _ in 0..words {
            while have < u32::from(levels) {
                held |= u64::from(*packed.next().expect("as many bits as words need")) << have;
                have += 8;
            }
            places.push((held & ((1 << levels) - 1)) as u32);
            held >>= levels;
            have -= u32::from(levels);
        }
        if held != 0 {
            return Err(invalid("its padding is not empty"));
        }
        WordTree::new(levels.into(), places)
    }

    /// The section of a file.
    pub(crate) fn write(&self) -> Vec<u8> {
        let (mut out, mut held, mut have) = (vec![self.levels as u8], 0u64, 0);
        for &place in &self.places {
            held |= u64::from(place) << have;
            have += self.levels;
            while have >= 8 {
                out.push(held as u8);
                held >>= 8;
                have -= 8;
            }
        }
        if have > 0 {
            out.push(held as u8);
        }
        out
    }
}

/// The level of two places: the number of binary digits in which they differ, up to the highest.
#[inline]
pub(crate) fn level(a: u32, b: u32) -> u32 {
    u32::BITS - (a ^ b).leading_zeros()
}

/// How many words stand before each place, and in the end how many there are.
fn starts(levels: u32, places: &[u32]) -> Vec<u32> {
    let mut starts = vec![0; (1 << levels) + 1];
    places
        .iter()
        .for_each(|&place| starts[place as usize + 1] += 1);
    for place in 1..starts.len() {
        starts[place] += starts[place - 1];
    }
    starts
}

/// The number of words in the two halves of every subtree of this height.
fn subtrees(height: u32, starts: &[u32]) -> impl Iterator<Item = [u128; 2]> {
    let half = 1 << (height - 1);
    (0..starts.len() - 1).step_by(2 * half).map(move |first| {
        let words = |from: usize| u128::from(starts[from + half] - starts[from]);
        [words(first), words(first + half)]
    })
}

/// The gaps, by height and place.
fn gaps(levels: u32, starts: &[u32]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for height in 1..=levels {
        let half = 1u32 << (height - 1);
        for (halves, first) in subtrees(height, starts).zip((0..).step_by(2 * half as usize)) {
            let place = match halves.map(|words| words == 0) {
                [true, false] => first,
                [false, true] => first + half,
                _ => continue,
            };
            let (start, end) = (starts[first as usize], starts[(first + 2 * half) as usize]);
            gaps.push(Gap {
                place,
                height,
                answers: Answers {
                    start,
                    len: end - start,
                },
            });
        }
    }
    gaps
}

/// The answers of every place.
fn answers(starts: &[u32], gaps: &[Gap]) -> Vec<Answers> {
    let standing = |ends: &[u32]| Answers {
        start: ends[0],
        len: ends[1] - ends[0],
    };
    let mut answers: Vec<Answers> = starts.windows(2).map(standing).collect();
    for gap in gaps {
        let places = gap.place as usize..gap.place as usize + (1 << (gap.height - 1));
        answers[places].fill(gap.answers);
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seven words at eight places: two share one, two places are empty.
    fn small() -> WordTree {
        WordTree::new(3, vec![0, 1, 2, 7, 4, 4, 6]).unwrap()
    }

    #[test]
    fn levels_are_heights_of_common_ancestors() {
        let tree = small();
        let found = [(0, 0), (0, 1), (0, 2), (0, 3), (4, 5), (4, 6)].map(|(a, b)| tree.level(a, b));
        assert_eq!(found, [0, 1, 2, 3, 0, 2]);
        assert_eq!(tree.at_level(0, 0), [0]);
        assert_eq!(tree.at_level(0, 2), [2]);
        assert_eq!(tree.at_level(0, 3), [4, 5, 6, 3]);
        assert_eq!(tree.at_level(5, 0), [4, 5]);
        assert!(tree.at_level(4, 1).is_empty());
    }

    #[test]
    fn every_place_answers_with_the_smallest_subtree_around_it() {
        let tree = small();
        let answers = |place| tree.words(tree.answers(place)).to_vec();
        assert_eq!((answers(0), answers(3)), (vec![0], vec![2]));
        assert_eq!((answers(4), answers(5)), (vec![4, 5], vec![4, 5]));
        // Each place goes to its answers in equal parts.
        let masses = tree.masses();
        assert_eq!(masses, [1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
        // A whole half without words.
        let tree = WordTree::new(2, vec![0, 1]).unwrap();
        assert_eq!(tree.masses(), [2.0, 2.0]);
        assert_eq!(tree.words(tree.answers(3)), [0, 1]);
    }

    #[test]
    fn distances_are_those_of_all_pairs() {
        for tree in [small(), WordTree::new(4, vec![0, 15, 3, 9, 8]).unwrap()] {
            let n = tree.places().len() as u32;
            let all = || (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
            let found = tree.pair_distances();
            let sum: u32 = all().map(|(a, b)| tree.level(a, b)).sum();
            assert_eq!(found.average, f64::from(sum) / f64::from(n * n));
            let most = all().map(|(a, b)| tree.level(a, b)).max().unwrap();
            assert_eq!(found.maximum, f64::from(most));
            let nearest = |a: u32| (0..n).filter(|&b| a != b).map(|b| tree.level(a, b)).min();
            let near: Vec<u32> = (0..n).filter_map(nearest).collect();
            assert_eq!(found.nearest_min, f64::from(*near.iter().min().unwrap()));
            let mean = f64::from(near.iter().sum::<u32>()) / f64::from(n);
            assert_eq!(found.nearest_mean, mean);
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mixed = |n: u32, levels: u32| (0..n).map(|i| i * 5 % (1 << levels)).collect();
        for (levels, places) in [
            (0, vec![0]),
            (0, vec![0, 0]),
            (1, vec![1]),
            (3, small().places().to_vec()),
            (7, mixed(100, 7)),
            (11, mixed(2048, 11)),
        ] {
            let tree = WordTree::new(levels, places).unwrap();
            let bytes = tree.write();
            assert_eq!(WordTree::read(&bytes, tree.places().len()).unwrap(), tree);
            assert!(
                bytes.len() as f64
                    <= 1.0 + (tree.places().len() as u32 * levels) as f64 / 8.0 + 1.0
            );
        }
    }

    #[test]
    fn hostile_sections_are_errors() {
        let good = small().write();
        assert!(WordTree::read(&good, 7).is_ok());
        let [mut far, mut padded, mut crowded] = [good.clone(), good.clone(), good.clone()];
        far[0] = 31;
        *padded.last_mut().unwrap() |= 0x80;
        crowded[1..].fill(0);
        let (short, long) = (&good[..3], [good.clone(), vec![0]].concat());
        for bytes in [
            &[][..],
            &[200],
            &[9, 0],
            &far,
            &padded,
            &crowded,
            short,
            &long,
        ] {
            assert!(WordTree::read(bytes, 7).is_err(), "{bytes:?}");
        }
        // Nothing is allocated by what a header claims.
        assert!(WordTree::new(31, vec![0; 7]).is_err());
        assert!(WordTree::new(2, vec![4]).is_err());
        assert!(WordTree::new(0, Vec::new()).is_err());
    }
}
