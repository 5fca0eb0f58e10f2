use super::*;
use crate::calibration::Calibration;
use crate::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use crate::distances::code_distances;
use crate::model::ModelParts;

/// A model whose words stand at these places.
fn model(levels: u32, places: &[u32]) -> Arc<Model> {
    let words: Vec<String> = (0..places.len())
        .map(|i| format!("q{}", char::from(b'a' + i as u8)))
        .collect();
    let mut codes = CodeRows::zeros(CodeBits::new(64).unwrap(), words.len());
    (0..words.len()).for_each(|i| codes.row_mut(i)[0] = i as u64);
    let blocks = to_blocks(&codes);
    let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).unwrap();
    let parts = ModelParts {
        words: &words,
        codes: &codes,
        lowercase: true,
        distances: code_distances(table, 1, &|_| {}),
        calibration: Calibration::default(),
        meta: Vec::new(),
        orthography: None,
    };
    let tree = WordTree::new(levels, places.to_vec()).unwrap();
    Arc::new(parts.write().unwrap().with_tree(&tree).unwrap())
}

fn tree(levels: u32, places: &[u32], epsilon: f64) -> TreeResponse {
    TreeResponse::new(model(levels, places), Epsilon::new(epsilon).unwrap()).unwrap()
}

/// A full tree, one with two words at a place, and one with gaps of several heights.
const SHAPES: [(u32, &[u32]); 4] = [
    (3, &[3, 1, 2, 0, 7, 6, 5, 4]),
    (2, &[2, 0, 1, 3, 0, 2]),
    (4, &[0, 1, 4, 9, 4, 15]),
    (0, &[0]),
];

#[test]
fn reported_losses_are_those_of_the_weights_and_never_above_what_was_asked() {
    let mut asked = 1e-13;
    while asked < 50.0 {
        let tree = tree(4, SHAPES[2].1, asked);
        let g = tree.guarantee();
        assert!(g.epsilon <= asked, "asked {asked}, got {}", g.epsilon);
        if (1e-3..8.0).contains(&asked) {
            assert!(g.epsilon > asked * (1.0 - 1e-6), "wasteful {}", g.epsilon);
        }
        assert!(g.losses.is_sorted() && g.losses.len() == 5 && g.losses[0] == 0.0);
        for (level, &loss) in g.losses.iter().enumerate() {
            let weight = tree.weights[level];
            let exact = ((TOP - weight) as f64 / weight as f64).ln_1p();
            assert!(loss >= exact && loss <= exact * (1.0 + 1e-12) + 1e-300);
            assert!(loss <= g.epsilon * level as f64 * (1.0 + 1e-12) + 1e-300);
        }
        assert_eq!(g.worst(), g.losses[4]);
        asked *= 1.31;
    }
}

/// The loss over all pairs and outputs, against the promise; the promise is met exactly on a full
/// tree.
#[test]
fn the_guarantee_holds_over_all_pairs() {
    for (levels, places) in SHAPES {
        for epsilon in [0.05, 0.85, 3.0] {
            let tree = tree(levels, places, epsilon);
            let (g, n) = (tree.guarantee(), places.len());
            let mut rows = vec![vec![0.0; n]; n];
            for (word, row) in rows.iter_mut().enumerate() {
                tree.row(word as WordId, row);
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(row.iter().all(|&p| p > 0.0));
            }
            let mut unknown = vec![0.0; n];
            tree.row_of_unknown(&mut unknown);
            assert!((unknown.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let loss = |a: &[f64], b: &[f64]| {
                let ratios = a.iter().zip(b).map(|(a, b)| (a / b).ln().abs());
                ratios.fold(0.0, f64::max)
            };
            for a in 0..n {
                for b in 0..n {
                    let promised = g.losses[level(places[a], places[b]) as usize];
                    let found = loss(&rows[a], &rows[b]);
                    assert!(found <= promised + 1e-12, "{found} > {promised}");
                    if levels == 3 {
                        assert!((found - promised).abs() < 1e-9);
                    }
                }
                let both = loss(&rows[a], &unknown);
                assert!(both <= g.unknown_loss + 1e-12, "{both}");
                if levels == 3 {
                    assert!((both - g.unknown_loss).abs() < 1e-9);
                }
            }
        }
    }
}

/// Between a token without a code and a word: what no epsilon is left of vanishes, whatever the shape of
/// the tree, and nothing is above what it is between the farthest words or what a random word would cost.
#[test]
fn the_loss_of_unknown_tokens_goes_to_zero_with_epsilon() {
    for (levels, places) in SHAPES {
        for epsilon in [1e-12, 1e-6, 0.05, 0.85, 3.0, 50.0] {
            let tree = tree(levels, places, epsilon);
            let (g, n) = (tree.guarantee(), places.len() as f64);
            let farthest = g.losses[levels as usize];
            assert!(g.unknown_loss <= farthest, "{} {farthest}", g.unknown_loss);
            assert!(g.unknown_loss <= epsilon * f64::from(levels));
            let words = tree.tree();
            let (mut row, mut expected) = (vec![0.0; places.len()], vec![0.0; places.len()]);
            for place in 0..1 << levels {
                let answers = words.words(words.answers(place));
                let each = 1.0 / f64::from(1 << levels) / answers.len() as f64;
                answers.iter().for_each(|&w| expected[w as usize] += each);
            }
            tree.row_of_unknown(&mut row);
            let pairs = row.iter().zip(&expected);
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
            let masses = words.masses();
            let most = masses.iter().fold(0.0, |a: f64, &b| a.max(b));
            let least = masses.iter().fold(f64::INFINITY, |a: f64, &b| a.min(b));
            let (z, last) = (tree.total as f64, tree.weights[levels as usize] as f64);
            let word = (n * TOP as f64 * most / z).ln();
            let word = word.max((z / (n * last * least)).ln());
            assert!(g.unknown_loss <= word + 1e-12, "{} {word}", g.unknown_loss);
        }
    }
}

/// On a full tree; with gaps or shared places they are near it.
#[test]
fn likelihoods_are_the_columns_of_the_channel() {
    let (levels, places) = SHAPES[0];
    let (tree, n) = (tree(levels, places, 0.7), places.len());
    let drawn = Observations::Words((0..n as WordId).collect());
    let (mut row, mut steps) = (vec![0.0; n], vec![0; n]);
    tree.row_of_unknown(&mut row);
    let unknown = f64::from(tree.unknown());
    assert!(row.iter().all(|p| (unknown - p.ln()).abs() < 1e-6));
    for output in 0..n {
        tree.steps(&drawn, output, &mut steps);
        for (word, &step) in steps.iter().enumerate() {
            tree.row(word as WordId, &mut row);
            let ln = tree.table()[usize::from(step)];
            assert!((f64::from(ln) - row[output].ln()).abs() < 1e-5);
        }
    }
}

#[test]
fn shares_of_kept_words_are_exact_and_met_from_below() {
    for (levels, places) in &SHAPES[..3] {
        let model = model(*levels, places);
        let n = places.len();
        let by_use = crate::frequency::shares(n);
        for share in [0.25, 0.4, 0.49, 0.8] {
            let tree = TreeResponse::for_budget(model.clone(), Budget::Keep(share)).unwrap();
            let mut row = vec![0.0; n];
            let mut kept = 0.0;
            for word in 0..n {
                tree.row(word as WordId, &mut row);
                kept += by_use[word] * row[word];
            }
            assert!((kept - tree.keep().weighted).abs() < 1e-12);
            assert!(tree.keep().weighted <= share);
        }
        let error = TreeResponse::for_budget(model, Budget::Keep(0.01)).err();
        assert!(matches!(error, Some(Error::KeepOutOfReach { .. })));
    }
    let full = model(3, SHAPES[0].1);
    let half = TreeResponse::for_budget(full.clone(), Budget::Keep(0.5)).unwrap();
    assert!((half.keep().weighted - 0.5).abs() < 1e-9);
    let bound = TreeResponse::for_budget(full, Budget::Bound(2.0)).unwrap();
    assert!((1.999_999..=2.0).contains(&bound.guarantee().bound()));
}

/// Draws at the ends of every stretch of the numbers below Z.
#[test]
fn stretches_have_their_lengths() {
    let tree = tree(3, SHAPES[0].1, 0.6);
    let level_at = |u: u128| {
        // The draw of which u is the whole part: its fraction is in the middle.
        let (mut low, mut high) = (0u128, u128::MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            match crate::random::whole_part(middle, tree.total) < u {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let draw = low + u128::MAX / tree.total / 2;
        let mut limbs = [(draw >> 64) as u64, draw as u64, 0, 0].into_iter();
        let mut noise = Noise::scripted(move || limbs.next().expect("four limbs a word"));
        let drawn = tree.privatize(&[Some(3)], &mut noise)[0];
        tree.tree().level(3, drawn)
    };
    for (level, &end) in (0..).zip(&tree.ends) {
        assert_eq!((level_at(end - 1), level_at(end)), (level, level + 1));
    }
    assert_eq!((level_at(0), level_at(tree.total - 1)), (0, 3));
}

#[test]
fn golden() {
    let tree = tree(4, SHAPES[2].1, 0.85);
    let mut noise = Noise::numbered(11);
    let words = [Some(2), Some(2), None, Some(0), Some(5), None];
    let out = tree.privatize(&words.repeat(3), &mut noise);
    assert_eq!(out, GOLDEN);
}
const GOLDEN: [WordId; 18] = [0, 2, 1, 1, 5, 3, 1, 4, 2, 0, 3, 0, 1, 1, 5, 4, 4, 0];

#[test]
fn a_model_without_a_tree_says_so() {
    let plain = model(3, SHAPES[0].1);
    let bytes = plain.bytes().to_vec();
    // The same file with another tag.
    let at = bytes.windows(4).position(|w| w == b"TREE").unwrap();
    let mut other = bytes;
    other[at..at + 4].copy_from_slice(b"EERT");
    let checksum: [u8; 32] = <sha2::Sha256 as sha2::Digest>::digest(&other[48..]).into();
    other[16..48].copy_from_slice(&checksum);
    let old = Arc::new(Model::new(other).unwrap());
    assert!(old.tree().is_none());
    let error = TreeResponse::new(old, Epsilon::new(1.0).unwrap()).err();
    let message = error.unwrap().to_string();
    assert!(message.contains("k-ary") && message.contains("brr build"));
}

/// Losses of any shape that rises are promised, and met exactly on a full tree.
#[test]
fn losses_of_any_shape_hold_over_all_pairs() {
    let (levels, places) = SHAPES[0];
    for asked in [[0.0, 0.0, 2.0], [0.1, 0.9, 0.9], [0.5, 1.0, 3.0], [0.0; 3]] {
        let tree = TreeResponse::with_losses(model(levels, places), &asked).unwrap();
        let losses = tree.guarantee().losses;
        for (stated, asked) in losses[1..].iter().zip(asked) {
            assert!(*stated <= asked && *stated > asked - 1e-9, "{losses:?}");
        }
        let rows: Vec<Vec<f64>> = (0..8)
            .map(|word| {
                let mut row = vec![0.0; 8];
                tree.row(word, &mut row);
                row
            })
            .collect();
        for a in 0..8 {
            for b in 0..8 {
                let level = level(places[a], places[b]) as usize;
                let ratio = rows[a].iter().zip(&rows[b]).map(|(p, q)| (p / q).ln());
                let most = ratio.fold(0.0, f64::max);
                assert!((most - losses[level]).abs() < 1e-9, "{a} {b} {most}");
            }
        }
    }
    for wrong in [[1.0, 0.5, 2.0], [-0.1, 0.0, 1.0], [0.0, f64::NAN, 1.0]] {
        let refused = TreeResponse::with_losses(model(levels, places), &wrong).err();
        assert!(matches!(refused, Some(Error::InvalidEpsilon { .. })));
    }
}

/// The shorter ways are those of the rows.
#[test]
fn sums_of_rows_and_what_stays_are_those_of_the_rows() {
    for (levels, places) in SHAPES {
        for epsilon in [0.01, 0.9, 6.0] {
            let tree = tree(levels, places, epsilon);
            let counts: Vec<f64> = (0..places.len()).map(|w| (w * w) as f64 - 3.5).collect();
            let (mut row, mut sums) = (vec![0.0; places.len()], vec![0.0; places.len()]);
            let kept = tree.kept().unwrap();
            let means = tree.means(&counts).unwrap();
            for (word, count) in counts.iter().enumerate() {
                tree.row(word as WordId, &mut row);
                let mean: f64 = row.iter().zip(&counts).map(|(p, value)| p * value).sum();
                assert!((mean - means[word]).abs() < 1e-12, "{mean} {}", means[word]);
                assert!((row[word] - kept[word]).abs() < 1e-15);
                let pairs = sums.iter_mut().zip(&row);
                pairs.for_each(|(sum, p)| *sum += count * p);
            }
            for (sum, output) in sums.iter().zip(tree.outputs(&counts).unwrap()) {
                assert!((sum - output).abs() < 1e-12, "{sum} {output}");
            }
        }
    }
}
