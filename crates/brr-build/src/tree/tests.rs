use super::*;
use crate::matrix::rotation::gaussian;
use crate::seeded::generator;

/// Clusters of four words each, far from each other.
fn clustered(words: usize) -> Vectors {
    let centers = gaussian(words.div_ceil(4), 24, &mut generator(5, 0));
    let spread = gaussian(words, 24, &mut generator(6, 0));
    let entry = |i: usize, j: usize| centers.row(i / 4)[j] + 0.2 * spread.row(i)[j];
    Vectors {
        words: (0..words).map(|i| format!("w{i}")).collect(),
        dim: 24,
        data: Matrix::from_fn(words, 24, entry)
            .data
            .iter()
            .map(|&x| x as f32)
            .collect(),
    }
}

fn tree(words: usize, threads: usize) -> WordTree {
    let options = TreeOptions::new(threads);
    grow(&clustered(words), None, &options, &mut |_| {}).unwrap()
}

#[test]
fn any_number_of_words_has_a_place() {
    for words in [
        1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 100, 128, 129, 191, 192, 257,
    ] {
        let tree = tree(words, 1);
        let places = 1usize << tree.levels();
        assert_eq!(tree.places().len(), words);
        assert!(2 * words < 3 * places && 4 * words >= 3 * places || words == 1);
        let mut taken: Vec<u32> = tree.places().to_vec();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), words.min(places), "{words} words");
    }
}

#[test]
fn clusters_are_subtrees() {
    let tree = tree(512, 2);
    let inside = |word: u32| {
        let others = (word / 4 * 4..word / 4 * 4 + 4).filter(|&other| other != word);
        others.filter(|&other| tree.level(word, other) <= 2).count()
    };
    let kept: usize = (0..512).map(inside).sum();
    assert!(kept as f64 > 0.95 * 3.0 * 512.0, "{kept}");
    let quality = measure(&clustered(512), &tree, None, 2);
    assert_eq!(quality.levels.len(), 9);
    assert!(quality.levels[1].nearest > 0.95);
    assert!(quality.levels[1].cosine > 0.8 && quality.levels[8].cosine < 0.3);
    assert!(quality.levels.is_sorted_by(|a, b| a.nearest <= b.nearest));
}

#[test]
fn threads_do_not_show() {
    assert_eq!(tree(700, 1), tree(700, 3));
}

#[test]
fn tags_draw_words_together() {
    let vectors = clustered(512);
    let lines: Vec<String> = (0..512).map(|i| format!("w{i}\t{}", i % 2)).collect();
    let tags = Tags::parse(&lines.join("\n")).unwrap();
    assert_eq!(tags.known(&vectors.words), 512);
    let agreeing = |weight| {
        let options = TreeOptions {
            tags: weight,
            ..TreeOptions::new(2)
        };
        let tree = grow(&vectors, Some(&tags), &options, &mut |_| {}).unwrap();
        let pairs = (0..512u32).filter(|&w| tree.at_level(w, 1).iter().all(|o| o % 2 == w % 2));
        let share = pairs.count() as f64 / 512.0;
        let measured = measure(&vectors, &tree, Some(&tags), 2).levels[0].tags;
        assert!(
            (measured.unwrap() - share).abs() < 0.01,
            "{measured:?} {share}"
        );
        share
    };
    assert!(agreeing(0.3) > agreeing(0.0) + 0.2);
    assert!(Tags::parse("no tab").is_err());
    let many: Vec<String> = (0..65).map(|i| format!("w\t{i}")).collect();
    assert!(Tags::parse(&many.join("\n")).is_err());
}
