//! Private words per person: counted, stated, capped, whatever the threads and interruptions.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::support::{Folder, Ran, assert_one_line, run, run_with, tiny_model};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;
use serde_json::{Value, json};

/// Every word of the model stays, so that what is missing was cut off.
const SAME: [&str; 6] = ["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"];
const KINDS: [&str; 4] = ["csv", "tsv.gz", "jsonl", "parquet"];
const WORDS: [&str; 5] = ["the", "film", "was", "good", "bad"];

/// A unit and a text; units have names that must come out nowhere else.
type Row = (Option<String>, String);

/// Rows of a few units, mixed, of different lengths.
fn rows(number: usize) -> Vec<Row> {
    let mut random = 7u64;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    let mut row = || {
        // Some units have many more rows than others.
        let unit = next(40) * next(40) / 40;
        let words = (0..next(9)).map(|_| WORDS[next(5) as usize]);
        let text = words.collect::<Vec<_>>().join(" ");
        (Some(format!("person-{unit:03}")), format!("{text}."))
    };
    (0..number).map(|_| row()).collect()
}

fn words(text: &str) -> Vec<&str> {
    text.split([' ', '.']).filter(|w| !w.is_empty()).collect()
}

/// What should come out: each unit's first words.
fn capped(rows: &[Row], cap: usize) -> (Vec<Vec<&str>>, HashMap<&str, usize>, usize) {
    let (mut spent, mut cut) = (HashMap::new(), 0);
    let mut kept = Vec::new();
    for row in rows {
        let length = words(&row.1).len();
        let spent = spent.entry(row.0.as_deref().unwrap()).or_insert(0);
        let left = length.min(cap - *spent);
        *spent += left;
        cut += length - left;
        kept.push(words(&row.1)[..left].to_vec());
    }
    (kept, spent, cut)
}

fn write(kind: &str, path: &Path, rows: &[Row]) {
    let mut plain = String::new();
    match kind {
        "parquet" => return write_parquet(path, rows, 500),
        "csv" => plain.push_str("body,user\n"),
        "tsv.gz" => plain.push_str("user\tbody\n"),
        _ => {}
    }
    for (number, (unit, text)) in rows.iter().enumerate() {
        // The same name, written in several ways.
        let unit = unit.as_deref().unwrap_or_default();
        plain += &match (kind, number % 3) {
            ("csv", 0) => format!("{text},\"{unit}\"\n"),
            ("csv", _) => format!("{text},{unit} \n"),
            ("jsonl", 0) => format!("{{\"user\":{{\"id\":\" {unit}\"}},\"body\":\"{text}\"}}\n"),
            ("jsonl", _) => format!("{{\"body\":\"{text}\",\"user\":{{\"id\":\"{unit}\"}}}}\n"),
            _ => format!("{unit}\t{text}\n"),
        };
    }
    let bytes = crate::support::corpora::pack(kind, plain.as_bytes());
    std::fs::write(path, bytes).unwrap();
}

fn write_parquet(path: &Path, rows: &[Row], group: usize) {
    let schema = "message rows { optional binary user (STRING); optional binary body (STRING); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for part in rows.chunks(group) {
        let mut row_group = writer.next_row_group().unwrap();
        let users = part.iter().map(|(unit, _)| unit.clone());
        let bodies = part.iter().map(|(_, text)| Some(text.clone()));
        for values in [users.collect::<Vec<_>>(), bodies.collect()] {
            let levels: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
            let there = values.iter().flatten();
            let there: Vec<ByteArray> = there.map(|v| v.as_str().into()).collect();
            let mut column = row_group.next_column().unwrap().unwrap();
            let typed = column.typed::<ByteArrayType>();
            typed.write_batch(&there, Some(&levels), None).unwrap();
            column.close().unwrap();
        }
        row_group.close().unwrap();
    }
    writer.close().unwrap();
}

/// The texts that came out, in order.
fn read(kind: &str, path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).unwrap();
    if kind == "parquet" {
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let body = |row: parquet::record::Row| match row.get_column_iter().nth(1) {
            Some((_, Field::Str(body))) => body.clone(),
            _ => "null".into(),
        };
        return rows.map(|row| body(row.unwrap())).collect();
    }
    let plain = String::from_utf8(crate::support::corpora::unpack(kind, &bytes)).unwrap();
    if kind == "jsonl" {
        let row = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        let body = |line| row(line)["body"].as_str().unwrap_or("null").to_owned();
        return plain.lines().map(body).collect();
    }
    let delimiter = if kind == "csv" { b',' } else { b'\t' };
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.delimiter(delimiter).from_reader(plain.as_bytes());
    let place = if kind == "csv" { 0 } else { 1 };
    let records = reader.records().map(|r| r.unwrap()[place].to_owned());
    records.collect()
}

struct Case {
    folder: Folder,
    kind: &'static str,
}

impl Case {
    fn new(kind: &'static str, rows: &[Row]) -> Case {
        let folder = Folder::new();
        folder.file("m.brr", &tiny_model());
        write(kind, &folder.path(&format!("in.{kind}")), rows);
        Case { folder, kind }
    }

    fn output(&self) -> std::path::PathBuf {
        self.folder.path(&format!("out.{}", self.kind))
    }

    fn run(&self, more: &[&str]) -> Ran {
        let name = |name: &str| self.folder.name(name);
        let [model, manifest] = ["m.brr", "run.json"].map(name);
        let [input, output] = ["in", "out"].map(|end| name(&format!("{end}.{}", self.kind)));
        let unit = if self.kind == "jsonl" {
            "user.id"
        } else {
            "user"
        };
        let files = crate::support::files(&model, &input, &output, &manifest);
        let columns = ["--column", "body", "--unit", unit];
        run(&[&SAME[..], &files, &columns, more].concat())
    }

    fn record(&self) -> Value {
        let manifest = std::fs::read(self.folder.path("run.json")).unwrap();
        serde_json::from_slice(&manifest).unwrap()
    }

    fn assert_capped(&self, rows: &[Row], cap: Option<usize>, told: &str) {
        let (kept, spent, cut) = capped(rows, cap.unwrap_or(usize::MAX));
        let out = read(self.kind, &self.output());
        let out: Vec<Vec<&str>> = out.iter().map(|text| words(text)).collect();
        assert!(out == kept, "{}: {told}", self.kind);
        let record = self.record();
        let mut counts: Vec<usize> = spent.values().copied().collect();
        counts.sort_unstable();
        let n = counts.len();
        let unit = &record["unit"];
        assert_eq!(unit["units"], n, "{}: {told}", self.kind);
        assert_eq!(unit["words"]["largest"], counts[n - 1]);
        assert_eq!(unit["words"]["median"], counts[n / 2]);
        assert_eq!(unit["words"]["percentile_99"], counts[n - n.div_ceil(100)]);
        assert_eq!(unit["words_cut"], cut);
        assert_eq!(unit["max_words"], json!(cap));
        assert_eq!(record["words"], counts.iter().sum::<usize>());
        let per_word = record["loss_per_word"].as_f64().unwrap();
        for share in ["largest", "median", "percentile_99"] {
            let words = unit["words"][share].as_f64().unwrap();
            let loss = unit["total_loss"][share].as_f64().unwrap();
            assert!(loss >= words * per_word && loss <= 1.001 * words * per_word);
        }
        assert!(
            !record.to_string().contains("person"),
            "a unit's name came out"
        );
    }
}

#[test]
fn each_unit_keeps_its_first_words_whatever_the_threads() {
    let rows = rows(3000);
    for kind in KINDS {
        let case = Case::new(kind, &rows);
        for threads in ["1", "2", "7"] {
            for cap in [None, Some(1), Some(20), Some(100_000)] {
                let text = cap.unwrap_or_default().to_string();
                let more = ["--max-words", &text];
                let more = if cap.is_some() { &more[..] } else { &[] };
                let ran = case.run(&[&["--threads", threads, "--force"], more].concat());
                assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{kind}");
                case.assert_capped(&rows, cap, &format!("{cap:?} {threads} threads"));
            }
        }
    }
}

/// A bad row at the end stops the run after some checkpoints; without it the input is another.
#[test]
fn a_run_that_goes_on_counts_what_was_done_before() {
    let rows = rows(3000);
    for kind in KINDS {
        let mut with_bad = rows.clone();
        // Units that nobody can name, in the middle and at the end.
        with_bad[1700].0 = None;
        with_bad[2999].0 = None;
        let case = Case::new(kind, &with_bad);
        let often = ["--checkpoint-seconds", "0", "--max-words", "20"];
        let stopped = case.run(&often);
        assert_eq!(stopped.code, 1, "{kind}: {}", stopped.stderr);
        assert!(
            stopped.stderr.contains("row 1701"),
            "{kind}: {}",
            stopped.stderr
        );
        assert!(
            stopped.stderr.contains("--unit"),
            "{kind}: {}",
            stopped.stderr
        );
        let checkpoint = case.folder.path(&format!("out.{kind}.checkpoint"));
        let checkpoint = std::fs::read_to_string(checkpoint).unwrap();
        for secret in ["person", "film"] {
            assert!(!checkpoint.contains(secret) && !stopped.stderr.contains(secret));
        }
        let resumed = [&often[..], &["--resume", "--on-bad-row", "copy-null"]].concat();
        let ran = case.run(&resumed);
        assert_eq!(ran.code, 0, "{kind}: {}", ran.stderr);
        assert_eq!(case.record()["bad_rows"]["emptied"], 2, "{kind}");
        assert_eq!(case.record()["restarts"].as_array().unwrap().len(), 1);
        // What is nobody's has no words.
        let mut expected = rows.clone();
        for row in [1700, 2999] {
            expected[row].1 = String::new();
        }
        let (kept, ..) = capped(&expected, 20);
        let out = read(kind, &case.output());
        for (row, (out, kept)) in out.iter().zip(&kept).enumerate() {
            let emptied = [1700, 2999].contains(&row) && (out.is_empty() || out == "null");
            assert!(emptied || words(out) == *kept, "{kind}: row {row}");
        }
        let sum: usize = kept.iter().map(Vec::len).sum();
        assert_eq!(case.record()["words"], sum, "{kind}");
        let resumed = case.record();
        let whole = [&often[..], &["--force", "--on-bad-row", "copy-null"]].concat();
        assert_eq!(case.run(&whole).code, 0);
        assert_eq!(case.record()["unit"], resumed["unit"], "{kind}");
    }
}

#[test]
fn another_unit_or_cap_does_not_go_on() {
    let mut rows = rows(3000);
    rows[2999].0 = None;
    let case = Case::new("csv", &rows);
    let often = ["--checkpoint-seconds", "0"];
    let first = [&often[..], &["--max-words", "20"]].concat();
    assert_eq!(case.run(&first).code, 1);
    let resumed = [&often[..], &["--resume"]].concat();
    assert_one_line(&case.run(&resumed), 2, &["--max-words (20 then, none now)"]);
    let other = [&resumed[..], &["--max-words", "21"]].concat();
    assert_one_line(&case.run(&other), 2, &["--max-words (20 then, 21 now)"]);
    let other = [&resumed[..], &["--max-words", "20", "--max-record", "1M"]].concat();
    assert_one_line(&case.run(&other), 2, &["--max-record"]);
}

#[test]
fn without_a_column_each_document_is_a_unit() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let manifest = folder.name("run.json");
    let fixed = ["-m", &model, "--manifest", &manifest, "--force"];
    let input = "the film was good.\n\nbad, bad film!\nthe film. the film, the film was bad\n";
    let call = |more: &[&str]| {
        let ran = run_with(&[&SAME[..], &fixed, more].concat(), input.as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let record = std::fs::read(&manifest).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        (ran.stdout, record)
    };
    let (text, record) = call(&[]);
    assert_eq!(text, input);
    let unit = &record["unit"];
    assert_eq!((&unit["column"], &unit["units"]), (&Value::Null, &json!(4)));
    assert_eq!(
        unit["words"],
        json!({"largest": 8, "percentile_99": 8, "median": 4})
    );
    assert_eq!(
        (&unit["words_cut"], &unit["max_words"]),
        (&json!(0), &Value::Null)
    );
    let (text, record) = call(&["--max-words", "3"]);
    assert_eq!(text, "the film was\n\nbad, bad film!\nthe film. the\n");
    assert_eq!(record["unit"]["words_cut"], 6);
    assert_eq!(record["unit"]["words"]["largest"], 3);
    assert_eq!(
        (&record["words"], &record["documents"]),
        (&json!(9), &json!(4))
    );
    // A text in the call is a document, too.
    let text = [
        &SAME[..],
        &fixed,
        &["--max-words", "2", "the film was good"],
    ]
    .concat();
    assert_eq!(run(&text).stdout, "The film\n");
}

#[test]
fn rows_of_nobody_are_bad_rows() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let run = |format: &str, unit: &str, policy: &str, input: &str| {
        let fixed = [
            "-m", &model, "--format", format, "-c", "body", "--unit", unit,
        ];
        let args = [&SAME[..], &fixed, &["--on-bad-row", policy]].concat();
        run_with(&args, input.as_bytes())
    };
    let csv = "body,user,n\nthe film,a,1\nbad,,2\ngood,\" \",3\n";
    let failed = run("csv", "user", "fail", csv);
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.contains("row 2") && failed.stderr.contains("--unit"));
    assert_eq!(
        run("csv", "2", "skip", csv).stdout,
        "body,user,n\nthe film,a,1\n"
    );
    let emptied = "body,user,n\nthe film,a,1\n,,2\n,\" \",3\n";
    assert_eq!(run("csv", "#2", "copy-null", csv).stdout, emptied);
    let good = "{\"user\":7,\"body\":\"the film\"}\n";
    for bad in [
        "{\"body\":\"bad\"}",
        "{\"user\":null,\"body\":\"bad\"}",
        "{\"user\":\" \",\"body\":\"bad\"}",
        "{\"user\":true,\"body\":\"bad\"}",
        "{\"user\":{\"id\":1},\"body\":\"bad\"}",
        "{\"user\":[1,2],\"body\":\"bad\"}",
        "{\"user\":1,\"body\":\"bad\",\"user\":2}",
    ] {
        let input = format!("{good}{bad}\n");
        assert_eq!(run("jsonl", "user", "fail", &input).code, 1, "{bad}");
        assert_eq!(run("jsonl", "user", "skip", &input).stdout, good, "{bad}");
        let emptied = format!("{good}{}\n", bad.replace("\"bad\"", "null"));
        assert_eq!(run("jsonl", "user", "copy-null", &input).stdout, emptied);
    }
    // A number where the path should go on is no name.
    let input = "{\"user\":{\"id\":1},\"body\":\"the\"}\n{\"user\":5,\"body\":\"bad\"}\n";
    assert_eq!(run("jsonl", "user.id", "fail", input).code, 1);
}

#[test]
fn a_unit_is_a_column_that_is_there_and_not_private() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let call = |format: &str, column: &str, unit: &str, input: &str| {
        let fixed = [
            "-m", &model, "--format", format, "-c", column, "--unit", unit,
        ];
        run_with(&[&SAME[..], &fixed].concat(), input.as_bytes())
    };
    let csv = "body,user,user\nthe,a,b\n";
    assert_one_line(
        &call("csv", "body", "qzxj", csv),
        2,
        &["--unit:", "no such name"],
    );
    assert_one_line(
        &call("csv", "body", "body", csv),
        2,
        &["--unit:", "private"],
    );
    assert_one_line(&call("csv", "body", "1", csv), 2, &["--unit:", "private"]);
    assert_one_line(
        &call("csv", "body", "user", csv),
        2,
        &["--unit:", "several"],
    );
    let json = "{\"body\":\"the\",\"user\":{\"id\":1}}\n";
    assert_one_line(
        &call("jsonl", "body", "qzxj", json),
        2,
        &["--unit:", "no such"],
    );
    assert_one_line(
        &call("jsonl", "body", "/body", json),
        2,
        &["--unit:", "private"],
    );
    assert_one_line(
        &call("jsonl", "body", "user..id", json),
        2,
        &["--unit:", "keys"],
    );
    let text = run_with(&[&SAME[..], &["--unit", "x"]].concat(), b"the\n");
    assert_one_line(&text, 2, &["--unit", "text"]);
    let argument = run(&[&SAME[..], &["--unit", "x", "the"]].concat());
    assert_one_line(&argument, 2, &["--unit", "is for files"]);
    let zero = run_with(&[&SAME[..], &["--max-words", "0"]].concat(), b"the\n");
    assert_one_line(&zero, 2, &["--max-words", "from 1"]);
    let case = Case::new("parquet", &rows(10));
    let private = case.run(&["--column", "user"]);
    assert_one_line(&private, 2, &["--unit:", "private"]);
    // The last of two is an error of the call, so another column is asked for in its place.
    let input = case.folder.name("in.parquet");
    let output = case.folder.name("out.parquet");
    let missing = [
        "--input", &input, "--output", &output, "-c", "body", "--unit", "qzxj",
    ];
    let missing = run(&[&SAME[..], &missing].concat());
    assert_one_line(&missing, 2, &["--unit:", "no such column"]);
}
