//! Files in, files out: what is not private is there again, nothing else is.

use std::io::Cursor;

use brr::{Budget, Layout, Options, Privatizer};
use brr_corpus::{Compression, Error, Format, Input, OnBadRow, Output, Report, Run};
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::ByteArrayType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::text::{check_words, plain_model};

/// Short, so that inputs may have rows that are longer.
const MAX_RECORD: usize = 512;

/// The choices of the first byte that all formats share.
struct Choice {
    on_bad_row: OnBadRow,
    layout: Layout,
    compression: Compression,
}

impl Choice {
    fn new(byte: u8) -> Choice {
        Choice {
            on_bad_row: match byte & 3 {
                0 | 1 => OnBadRow::Fail,
                2 => OnBadRow::Skip,
                _ => OnBadRow::CopyNull,
            },
            layout: if byte >> 2 & 1 == 1 {
                Layout::Words
            } else {
                Layout::Keep
            },
            compression: match byte >> 3 & 3 {
                0 | 1 => Compression::None,
                2 => Compression::Gzip,
                _ => Compression::Zstd,
            },
        }
    }

    fn privatizer(&self) -> Privatizer {
        let options = Options::default()
            .with_budget(Budget::Epsilon(0.4))
            .with_layout(self.layout);
        Privatizer::new(plain_model(), options).expect("a sound budget")
    }

    fn run<'a>(&self, privatizer: &'a Privatizer, format: Format, columns: &[&str]) -> Run<'a> {
        Run {
            format: Some(format),
            input_compression: Some(self.compression),
            columns: columns.iter().map(|column| column.to_string()).collect(),
            on_bad_row: self.on_bad_row,
            max_record: MAX_RECORD,
            threads: 1,
            ..Run::new(privatizer)
        }
    }

    /// What comes out, or how far it came.
    fn stream(&self, run: Run<'_>, input: &[u8]) -> (Result<Report, Error>, Vec<u8>) {
        let mut bytes = Vec::new();
        let output = Output::Stream {
            writer: &mut bytes,
            name: None,
        };
        let input = Input::Stream(Box::new(Cursor::new(input.to_vec())));
        (run.run(input, output), bytes)
    }

    fn check_column(&self, mut column: ColumnReaderImpl<ByteArrayType>) {
        let (mut definition, mut repetition) = (Vec::new(), Vec::new());
        loop {
            let mut values = Vec::new();
            let levels = (Some(&mut definition), Some(&mut repetition));
            let read = column.read_records(64, levels.0, levels.1, &mut values);
            for value in values {
                self.check_text(std::str::from_utf8(value.data()).expect("UTF-8"));
            }
            if read.expect("records").0 == 0 {
                return;
            }
        }
    }

    /// Nothing but vocabulary and structure.
    fn check_text(&self, text: &str) {
        check_words(text, None, self.layout);
    }
}

/// The first byte has the choices of all formats, the second delimiter, quotes,
/// header and columns; the rest is the file.
pub fn csv(data: &[u8]) {
    let [first, second, file @ ..] = data else {
        return;
    };
    let choice = Choice::new(*first);
    let delimiter = [b',', b';', b'\t', b'|'][usize::from(second & 3)];
    let quotes = second >> 2 & 1 == 0;
    let header = second >> 3 & 1 == 0;
    let (columns, names): (&[usize], &[&str]) = match second >> 4 & 1 {
        0 => (&[1], &["#2"]),
        _ => (&[0, 2], &["#1", "#3"]),
    };
    let privatizer = choice.privatizer();
    let run = Run {
        header: Some(header),
        delimiter: Some(delimiter),
        quotes,
        ..choice.run(&privatizer, Format::Csv, names)
    };
    let (done, output) = choice.stream(run, file);
    let Ok(Report { counts, .. }) = done else {
        return;
    };
    // Where a name is what we call a number, other columns are meant.
    if output.contains(&b'#') {
        return;
    }

    // A reader that shares no code with ours must see the same table.
    let read = |bytes: &[u8]| -> Vec<csv::ByteRecord> {
        let mut reader = csv::ReaderBuilder::new();
        reader.has_headers(false).flexible(true);
        reader.delimiter(delimiter).quoting(quotes);
        let records = reader.from_reader(bytes).into_byte_records();
        records.map(|record| record.expect("memory")).collect()
    };
    let after = read(&output);
    assert_eq!(
        after.len() as u64,
        counts.rows - counts.skipped + u64::from(header && !after.is_empty()),
        "as many rows as were counted"
    );
    for row in after.iter().skip(usize::from(header)) {
        for &column in columns {
            let text = std::str::from_utf8(&row[column]).expect("UTF-8");
            choice.check_text(text);
        }
    }
    if counts.skipped > 0 || counts.emptied > 0 || choice.compression != Compression::None {
        return;
    }
    let before = read(file);
    assert_eq!(before.len(), after.len(), "rows");
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        assert_eq!(before.len(), after.len(), "cells");
        let all = number == 0 && header;
        for i in (0..before.len()).filter(|i| all || !columns.contains(i)) {
            assert_eq!(before[i], after[i], "a cell that is not private");
        }
    }
}

/// The first byte has the choices of all formats, and whether columns are
/// optional; the rest is the file.
pub fn jsonl(data: &[u8]) {
    let [first, file @ ..] = data else {
        return;
    };
    let choice = Choice::new(*first);
    let privatizer = choice.privatizer();
    let run = Run {
        optional_columns: first >> 5 & 1 == 1,
        ..choice.run(&privatizer, Format::Jsonl, &["t", "u.t"])
    };
    let (done, output) = choice.stream(run, file);
    let Ok(Report { counts, .. }) = done else {
        return;
    };

    // None if a number is too large for `Value`, or half a character escaped: such rows
    // are JSON, but cannot be compared here.
    let read = |bytes: &[u8]| -> Option<Vec<Value>> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let rows = bytes.split(|&b| b == b'\n');
        let rows = rows.filter(|row| !row.trim_ascii().is_empty());
        rows.map(|row| {
            serde_json::from_slice::<IgnoredAny>(row).expect("JSON");
            serde_json::from_slice(row).ok()
        })
        .collect()
    };
    let Some(mut after) = read(&output) else {
        return;
    };
    assert_eq!(
        after.len() as u64,
        counts.rows - counts.skipped,
        "as many rows as were counted"
    );
    for row in &mut after {
        for path in [&["t"][..], &["u", "t"]] {
            take(row, path, &mut |text| choice.check_text(&text));
        }
    }
    if counts.skipped > 0 || counts.emptied > 0 || choice.compression != Compression::None {
        return;
    }
    let Some(mut before) = read(file) else {
        return;
    };
    for row in &mut before {
        for path in [&["t"][..], &["u", "t"]] {
            take(row, path, &mut |_| {});
        }
    }
    assert_eq!(before, after, "what is not private");
}

/// The first byte has the choices of all formats; the rest is the file.
///
/// For the smoke test alone: the crate that reads the format panics (caught, and reported as an
/// error) and spins for seconds at some damaged headers, where a fuzzer would end.
pub fn parquet(data: &[u8]) {
    let [first, file @ ..] = data else {
        return;
    };
    let choice = Choice::new(*first);
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, file).expect("room for a file");
    let privatizer = choice.privatizer();
    let run = choice.run(&privatizer, Format::Parquet, &["t"]);
    let done = run.run(Input::File(input), Output::File(output.clone()));
    let Ok(Report { counts, .. }) = done else {
        return;
    };

    let written = std::fs::File::open(&output).expect("the output");
    let written = SerializedFileReader::new(written).expect("Parquet");
    let mut rows = 0;
    for i in 0..written.num_row_groups() {
        let group = written.get_row_group(i).expect("a row group");
        rows += group.metadata().num_rows() as u64;
        for (j, column) in group.metadata().columns().iter().enumerate() {
            if column.column_path().parts()[0] == "t" {
                let reader = group.get_column_reader(j).expect("a column");
                choice.check_column(get_typed_column_reader(reader));
            }
        }
    }
    assert_eq!(rows, counts.rows, "as many rows as were counted");
}

/// Takes the strings out that lie at a path.
fn take(value: &mut Value, path: &[&str], found: &mut dyn FnMut(String)) {
    match (value, path) {
        (Value::Array(elements), _) => {
            elements.iter_mut().for_each(|v| take(v, path, found));
        }
        (Value::String(text), []) => found(std::mem::take(text)),
        (Value::Object(fields), [key, rest @ ..]) => {
            if let Some(value) = fields.get_mut(*key) {
                take(value, rest, found);
            }
        }
        _ => {}
    }
}
