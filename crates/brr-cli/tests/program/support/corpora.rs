//! The same rows in every format, written and read back by other crates than brr's own code.
#![allow(dead_code)] // each test uses its part

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::parser::parse_message_type;

/// Extensions that stand for all formats and packings.
pub const KINDS: [&str; 8] = [
    "txt",
    "csv",
    "jsonl",
    "parquet",
    "tsv.gz",
    "jsonl.zst",
    "csv.zst",
    "txt.gz",
];

/// Options that such a file needs.
pub fn options(kind: &str) -> &'static [&'static str] {
    match format(kind) {
        "txt" => &[],
        "jsonl" => &["--column", "review.body"],
        _ => &["--column", "body"],
    }
}

fn format(kind: &str) -> &str {
    kind.split('.').next().unwrap()
}

pub fn pack(kind: &str, bytes: &[u8]) -> Vec<u8> {
    match kind.rsplit('.').next().unwrap() {
        "gz" => {
            let level = flate2::Compression::fast();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        "zst" => zstd::encode_all(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    }
}

pub fn unpack(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match kind.rsplit('.').next().unwrap() {
        "gz" => {
            let mut decoder = flate2::read::MultiGzDecoder::new(bytes);
            decoder.read_to_end(&mut plain).unwrap();
        }
        "zst" => plain = zstd::decode_all(bytes).unwrap(),
        _ => plain.extend_from_slice(bytes),
    }
    plain
}

/// What can be read of a file that may be cut short.
pub fn unpack_cut(kind: &str, mut bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let _ = match kind.rsplit('.').next().unwrap() {
        "gz" => flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain),
        "zst" => zstd::Decoder::new(bytes).and_then(|mut d| d.read_to_end(&mut plain)),
        _ => bytes.read_to_end(&mut plain),
    };
    plain
}

/// Writes rows, numbered from 0, with these texts. Texts have no line ends if the format is text.
pub fn write(kind: &str, path: &Path, texts: &[String]) {
    if format(kind) == "parquet" {
        return write_parquet(path, texts, 1000);
    }
    let mut plain = String::new();
    match format(kind) {
        "csv" => plain.push_str("\u{feff}id,\"body\",\"no, te\"\r\n"),
        "tsv" => plain.push_str("id\t\"body\"\tnote\n"),
        _ => {}
    }
    for (id, text) in texts.iter().enumerate() {
        let quoted = text.replace('"', "\"\"");
        plain += &match format(kind) {
            "txt" => format!("{text}\n"),
            "csv" => format!("{id},\"{quoted}\",\"a \"\"note\"\"\r\nof {id}\"\r\n"),
            "tsv" => format!("{id}\t\"{quoted}\"\tn{id}\n"),
            "jsonl" => {
                let text = serde_json::to_string(text).unwrap();
                format!("{{\"id\": {id}, \"review\":{{ \"body\" : {text}, \"n\":1.50}}}}\n")
            }
            other => panic!("{other}"),
        };
    }
    std::fs::write(path, pack(kind, plain.as_bytes())).unwrap();
}

/// The rows' numbers (in text, their places) and texts. Panics if anything else changed.
pub fn read(kind: &str, path: &Path) -> Vec<(usize, String)> {
    let bytes = std::fs::read(path).unwrap();
    if format(kind) == "parquet" {
        return read_parquet(bytes);
    }
    let plain = unpack(kind, &bytes);
    match format(kind) {
        "txt" => {
            let text = String::from_utf8(plain).unwrap();
            let lines = text.strip_suffix('\n').unwrap_or(&text).split('\n');
            lines.map(str::to_owned).enumerate().collect()
        }
        "jsonl" => {
            let text = String::from_utf8(plain).unwrap();
            text.lines().map(read_json).collect()
        }
        format => {
            let mut reader = csv::ReaderBuilder::new();
            reader.delimiter(if format == "tsv" { b'\t' } else { b',' });
            let mut reader = reader.from_reader(&plain[..]);
            reader.records().map(|r| read_cells(&r.unwrap())).collect()
        }
    }
}

fn read_json(line: &str) -> (usize, String) {
    let row: serde_json::Value = serde_json::from_str(line).unwrap();
    assert!(
        line.ends_with(", \"n\":1.50}}") && line.starts_with("{\"id\": "),
        "{line}"
    );
    let body = row["review"]["body"].as_str().unwrap();
    (row["id"].as_u64().unwrap() as usize, body.to_owned())
}

fn read_cells(record: &csv::StringRecord) -> (usize, String) {
    let id = record[0].parse().unwrap();
    let note = &record[2];
    assert!(
        note == format!("a \"note\"\r\nof {id}") || note == format!("n{id}"),
        "{note}"
    );
    (id, record[1].to_owned())
}

pub fn write_parquet(path: &Path, texts: &[String], group: usize) {
    let schema = "message rows { required int64 id; optional binary body (STRING); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let key = KeyValue::new("owner".to_owned(), "tests".to_owned());
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![key]))
        .set_compression(Compression::SNAPPY)
        .set_column_compression("body".into(), Compression::UNCOMPRESSED)
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for (number, part) in texts.chunks(group).enumerate() {
        let first = number * group;
        let ids: Vec<i64> = (first..first + part.len()).map(|i| i as i64).collect();
        let bodies: Vec<ByteArray> = part.iter().map(|t| t.as_str().into()).collect();
        let levels = vec![1; part.len()];
        let mut row_group = writer.next_row_group().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        column
            .typed::<Int64Type>()
            .write_batch(&ids, None, None)
            .unwrap();
        column.close().unwrap();
        let mut column = row_group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&bodies, Some(&levels), None).unwrap();
        column.close().unwrap();
        row_group.close().unwrap();
    }
    writer.close().unwrap();
}

fn read_parquet(bytes: Vec<u8>) -> Vec<(usize, String)> {
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        let mut fields = row.get_column_iter();
        let (Some((_, Field::Long(id))), Some((_, body))) = (fields.next(), fields.next()) else {
            panic!("other columns");
        };
        let body = match body {
            Field::Str(body) => body.clone(),
            _ => "null".into(),
        };
        (*id as usize, body)
    })
    .collect()
}

const DIGITS: [&str; 5] = ["the", "film", "was", "good", "bad"];

/// A number in words of the tiny model, which stay at a large epsilon.
pub fn in_words(mut number: usize) -> String {
    let mut words = Vec::new();
    for _ in 0..9 {
        words.push(DIGITS[number % 5]);
        number /= 5;
    }
    words.join(" ")
}

/// The same rows, all of them, once, in order.
pub fn assert_all_rows(kind: &str, path: &Path, count: usize) {
    let rows = read(kind, path);
    for (place, (id, text)) in rows.iter().enumerate() {
        assert_eq!(*id, place, "{kind}: a row is lost or doubled");
        assert_eq!(*text, in_words(place), "{kind}: a text is in another row");
    }
    assert_eq!(rows.len(), count, "{kind}");
}
