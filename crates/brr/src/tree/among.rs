//! A tree over some of the words of a tree.
//!
//! Fewer words want fewer levels: as many as they need to have a place each. The words are taken in the
//! order of their old places, and cut in two again and again, where two words that stand side by
//! side were at the highest level, near the middle: a half must fit its places, and has between 7/16 and
//! 9/16 of the words. So small groups stay together, and no word answers for many more empty places than
//! another. A tree that loses few words keeps its shape.
//!
//! Tree response promises the same loss for a level of *any* tree, and states the levels of this one, so nothing here can
//! make a statement false. What an unlucky subset costs is meaning, and loss between near words: two words at level 3 of the
//! old tree may be at level 5 of the new one, which at 0.85 a level is 1.7 more. ([`Model::subset`](crate::Model::subset)
//! says how often.)

use super::{WordTree, level};
use crate::vocabulary::WordId;

impl WordTree {
    /// A tree over these words, of which there is at least one; they are numbered anew in their order.
    pub(crate) fn among(&self, words: &[WordId]) -> WordTree {
        let levels = words.len().next_power_of_two().trailing_zeros();
        let mut order: Vec<usize> = (0..words.len()).collect();
        order.sort_by_key(|&i| (self.places[words[i] as usize], i));
        let old: Vec<u32> = order
            .iter()
            .map(|&i| self.places[words[i] as usize])
            .collect();
        let mut places = vec![0; words.len()];
        spread(levels, 0, &old, |rank, place| places[order[rank]] = place);
        WordTree::new(levels, places).expect("a place for each word")
    }
}

/// Gives each word of a subtree with this many levels, which begins at `first`, a place, by the rank of
/// the word and in the order of the old places.
fn spread(levels: u32, first: u32, old: &[u32], mut give: impl FnMut(usize, u32)) {
    // Subtrees that are left to do: their levels, first place, and ranks.
    let mut left = vec![(levels, first, 0..old.len())];
    while let Some((levels, first, ranks)) = left.pop() {
        if ranks.len() <= 1 {
            ranks.for_each(|rank| give(rank, first));
            continue;
        }
        let cut = ranks.start + cut(&old[ranks.clone()], 1 << (levels - 1));
        let half = 1 << (levels - 1);
        left.push((levels - 1, first, ranks.start..cut));
        left.push((levels - 1, first + half, cut..ranks.end));
    }
}

/// How many of these words go to the left: of the cuts that leave at most `room` on either side, and
/// about as many, the one between the words that were farthest apart, nearest to the middle among
/// equals, the first of two.
fn cut(old: &[u32], room: usize) -> usize {
    let n = old.len();
    let fewest = (n * 7 / 16).max(n.saturating_sub(room)).max(1);
    let most = (n * 9).div_ceil(16).min(room).min(n - 1);
    let key = |&cut: &usize| {
        (
            level(old[cut - 1], old[cut]),
            -((2 * cut).abs_diff(n) as i64),
        )
    };
    // `max_by_key` takes the last of equals: from the right.
    (fewest..=most)
        .rev()
        .max_by_key(key)
        .expect("half of them fit")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full(levels: u32) -> WordTree {
        WordTree::new(levels, (0..1 << levels).collect()).unwrap()
    }

    #[test]
    fn all_words_keep_their_places() {
        let tree = full(6);
        let all: Vec<WordId> = (0..64).collect();
        assert_eq!(tree.among(&all).places(), tree.places());
    }

    #[test]
    fn few_missing_words_leave_the_shape_alone() {
        let tree = full(8);
        let words: Vec<WordId> = (0..256).filter(|w| w % 37 != 5).collect();
        let found = tree.among(&words);
        assert_eq!(found.levels(), 8);
        let pairs = words.iter().enumerate().flat_map(|(i, &a)| {
            words[..i]
                .iter()
                .enumerate()
                .map(move |(j, &b)| (i, a, j, b))
        });
        let (mut all, mut same) = (0, 0);
        for (i, a, j, b) in pairs {
            all += 1;
            let kept = found.level(i as WordId, j as WordId) == tree.level(a, b);
            same += usize::from(kept);
        }
        assert!(same * 100 > all * 95, "{same} of {all}");
    }

    /// Every word has a place of its own, and stands for few others.
    #[test]
    fn few_words_get_few_levels() {
        let tree = full(12);
        // Crowded on the left, sparse on the right.
        let words: Vec<WordId> = (0..4096).filter(|w| w % (1 + w / 40) == 0).collect();
        for n in [1, 2, 3, 5, 17, 100, words.len()] {
            let found = tree.among(&words[..n]);
            assert!(1 << found.levels() < 2 * n.max(1), "{n}");
            let mut places = found.places().to_vec();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), n);
            let most = found.masses().into_iter().fold(0.0, f64::max);
            assert!(most <= 4.0, "{n} {most}");
        }
        // Words that share a place are told apart by nobody, and then by a level.
        let twins = WordTree::new(1, vec![0, 0, 1]).unwrap();
        assert_eq!(twins.among(&[0, 1]).level(0, 1), 1);
    }

    /// Groups that fit stay together.
    #[test]
    fn groups_stay_together() {
        let tree = full(10);
        let words: Vec<WordId> = (0..16)
            .flat_map(|g| (0..4).map(move |i| g * 64 + i))
            .collect();
        let found = tree.among(&words);
        assert_eq!(found.levels(), 6);
        for (i, a) in words.iter().enumerate() {
            for (j, b) in words.iter().enumerate().filter(|(j, _)| *j != i) {
                let together = a / 64 == b / 64;
                assert_eq!(found.level(i as WordId, j as WordId) <= 2, together);
            }
        }
    }
}
