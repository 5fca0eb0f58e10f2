//! Lines of text to words, by ICU: U+2502 between any two.

use std::io::{BufRead, Write};

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

fn main() -> std::io::Result<()> {
    let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let ends: Vec<usize> = segmenter.segment_str(&line).collect();
        let words: Vec<&str> = ends.windows(2).map(|two| &line[two[0]..two[1]]).collect();
        writeln!(out, "{}", words.join("\u{2502}"))?;
    }
    Ok(())
}
