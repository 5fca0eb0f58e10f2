//! Word-similarity sets: pairs of words with a human judgement each.

use super::rank::spearman;
use crate::vectors::Vectors;
use brr::parts::codes::{CodeRows, hamming};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A set of judged word pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilaritySet {
    /// Its name: the file's, without folder and extension.
    pub name: String,
    /// Word, word, score; words in lower case.
    pub pairs: Vec<(String, String, f64)>,
}

/// Why a similarity file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimilarityError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A line is not "word word score".
    #[error("{}:{line}: {problem}; expected two words and a number, separated by space or tab", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// There is no pair in it.
    #[error("{}: no word pair found; expected lines of two words and a number", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl SimilaritySet {
    /// Reads a file; the format is that of [`parse`](Self::parse).
    pub fn read(path: &Path) -> Result<SimilaritySet, SimilarityError> {
        let bytes = std::fs::read(path).map_err(|source| SimilarityError::Io {
            path: path.into(),
            source,
        })?;
        Self::parse(path, &String::from_utf8_lossy(&bytes))
    }

    /// Parses lines of two words and a score, separated by white space; further
    /// columns, blank lines and lines that begin with `#` are ignored, and so is
    /// a first line without a number (a header). `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<SimilaritySet, SimilarityError> {
        let mut pairs = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut first = true;
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            match parse_line(line) {
                Ok(pair) => pairs.push(pair),
                Err(_) if first => {}
                Err(problem) => {
                    let (path, line) = (path.into(), at + 1);
                    return Err(SimilarityError::Line {
                        path,
                        line,
                        problem,
                    });
                }
            }
            first = false;
        }
        if pairs.is_empty() {
            return Err(SimilarityError::Empty { path: path.into() });
        }
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(SimilaritySet { name, pairs })
    }
}

/// Two words and a finite number.
fn parse_line(line: &str) -> Result<(String, String, f64), &'static str> {
    let mut fields = line.split_whitespace();
    let (Some(a), Some(b)) = (fields.next(), fields.next()) else {
        return Err("fewer than two words");
    };
    let score = fields.next().ok_or("no score")?;
    let score: f64 = score.parse().map_err(|_| "the score is not a number")?;
    if !score.is_finite() {
        return Err("the score is not finite");
    }
    Ok((a.to_lowercase(), b.to_lowercase(), score))
}

/// How much of a similarity set codes keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Retention {
    /// The set's name.
    pub name: String,
    /// Pairs of which both words have a code; the others are skipped.
    pub used: usize,
    /// Pairs in the set.
    pub pairs: usize,
    /// Spearman correlation of human scores and cosines of the real vectors;
    /// `None` if it is not defined (fewer than two pairs, or all equal).
    pub real: Option<f64>,
    /// The same with the codes' Hamming distance (negated).
    pub codes: Option<f64>,
}

impl Retention {
    /// Codes' correlation as a share of the real vectors'.
    pub fn ratio(&self) -> Option<f64> {
        let (real, codes) = (self.real?, self.codes?);
        (real != 0.0).then(|| codes / real)
    }
}

/// Measures every set. Row `i` of `codes` belongs to word `i` of `vectors`.
pub fn retention(vectors: &Vectors, codes: &CodeRows, sets: &[SimilaritySet]) -> Vec<Retention> {
    let mut ids: HashMap<&str, usize> = HashMap::with_capacity(vectors.words.len());
    for (id, word) in vectors.words.iter().enumerate() {
        ids.entry(word).or_insert(id);
    }
    let measure = |set: &SimilaritySet| {
        let (mut human, mut real, mut code) = (Vec::new(), Vec::new(), Vec::new());
        for (a, b, score) in &set.pairs {
            if let (Some(&i), Some(&j)) = (ids.get(a.as_str()), ids.get(b.as_str())) {
                human.push(*score);
                real.push(cosine(vectors.row(i), vectors.row(j)));
                code.push(-f64::from(hamming(codes.row(i), codes.row(j))));
            }
        }
        Retention {
            name: set.name.clone(),
            used: human.len(),
            pairs: set.pairs.len(),
            real: spearman(&human, &real),
            codes: spearman(&human, &code),
        }
    };
    sets.iter().map(measure).collect()
}

/// Cosine of two vectors; 0 if one is zero.
fn cosine(x: &[f32], y: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(p, q)| f64::from(*p) * f64::from(*q))
            .sum()
    };
    let lengths = (dot(x, x) * dot(y, y)).sqrt();
    if lengths > 0.0 {
        dot(x, y) / lengths
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brr::parts::codes::CodeBits;

    fn parse(text: &str) -> Result<SimilaritySet, SimilarityError> {
        SimilaritySet::parse(Path::new("sets/tiny.txt"), text)
    }

    #[test]
    fn header_tabs_case_and_comments() {
        let set = parse("\u{feff}word1\tword2\tscore\n# note\nOld  new 1.5 extra\n\nA\tb\t2\r\n")
            .unwrap();
        assert_eq!(set.name, "tiny");
        let pair = |a: &str, b: &str, s| (a.to_string(), b.to_string(), s);
        assert_eq!(set.pairs, [pair("old", "new", 1.5), pair("a", "b", 2.0)]);
    }

    #[test]
    fn errors_name_file_and_line() {
        for (text, message) in [
            ("a b 1\nc d\n", "sets/tiny.txt:2: no score"),
            (
                "a b 1\n\nc d x\n",
                "sets/tiny.txt:3: the score is not a number",
            ),
            (
                "a b 1\nc d inf\n",
                "sets/tiny.txt:2: the score is not finite",
            ),
            ("a b 1\nc\n", "sets/tiny.txt:2: fewer than two words"),
            ("", "sets/tiny.txt: no word pair found"),
            ("word1 word2 score\n", "sets/tiny.txt: no word pair found"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let missing = SimilaritySet::read(Path::new("/nowhere/x.txt")).unwrap_err();
        assert!(missing.to_string().starts_with("/nowhere/x.txt: "));
    }

    #[test]
    fn unknown_words_are_skipped() {
        let vectors = Vectors {
            words: ["a", "b", "c"].map(String::from).to_vec(),
            dim: 2,
            data: vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0],
        };
        let mut codes = CodeRows::new(CodeBits::new(64).unwrap());
        [[0b111u64], [0b110], [0b1000]]
            .iter()
            .for_each(|c| codes.push(c));
        let set = parse("a b 9\na c 1\nb c 2\na zebra 5\n").unwrap();
        let got = &retention(&vectors, &codes, &[set])[0];
        assert_eq!((got.used, got.pairs), (3, 4));
        assert!((got.real.unwrap() - 1.0).abs() < 1e-12);
        assert!((got.ratio().unwrap() - 1.0).abs() < 1e-12);
    }
}
