//! Files of every format through the program: what is private changes, nothing else does.

use std::path::Path;

use crate::support::corpora::{self, KINDS, in_words, options, pack, unpack, write};
use crate::support::{Folder, assert_one_line, run, run_with, tiny_model};
use serde_json::Value;

/// At this epsilon every word of the model stays: what changes, changes for another reason.
const SAME: [&str; 6] = ["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"];

#[test]
fn every_format_and_packing_keeps_its_rows() {
    for kind in KINDS {
        let folder = Folder::new();
        let model = folder.file("m.brr", &tiny_model());
        let input = folder.name(&format!("in.{kind}"));
        let texts: Vec<String> = (0..3000).map(in_words).collect();
        write(kind, Path::new(&input), &texts);
        let output = folder.name(&format!("out.{kind}"));
        let files = ["-m", &model, "--input", &input, "--output", &output];
        let ran = run(&[&SAME[..], &files, options(kind)].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{kind}");
        corpora::assert_all_rows(kind, Path::new(&output), 3000);
        if kind != "parquet" {
            let bytes = |name| unpack(kind, &std::fs::read(name).unwrap());
            assert!(bytes(&input) == bytes(&output), "{kind}: bytes changed");
        }
    }
}

#[test]
fn packing_may_differ_on_both_sides() {
    let folder = Folder::new();
    let plain = b"id,body\n1,the film\n".as_slice();
    let input = folder.file("in.csv.gz", &pack("gz", plain));
    for out in ["a.csv", "b.csv.zst", "c.csv.gz"] {
        let output = folder.name(out);
        let files = ["--input", &input, "--output", &output, "--column", "body"];
        assert_eq!(run(&[&SAME[..], &files].concat()).code, 0);
        assert_eq!(unpack(out, &std::fs::read(&output).unwrap()), plain);
    }
    let empty = folder.file("empty.txt", b"");
    let output = folder.name("empty.txt.gz");
    let files = ["--input", &empty, "--output", &output];
    assert_eq!(run(&[&SAME[..], &files].concat()).code, 0);
    assert_eq!(unpack("gz", &std::fs::read(&output).unwrap()), b"");
}

fn through(args: &[&str], input: &str) -> String {
    let ran = run_with(&[&SAME[..], args].concat(), input.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{input:?}");
    ran.stdout
}

#[test]
fn csv_is_kept_byte_by_byte_outside_of_private_cells() {
    let csv = ["--format", "csv", "--column", "body"];
    let same = |input: &str| assert_eq!(through(&csv, input), input);
    same("\u{feff}id,body\r\n1,the film\r\n");
    same("\u{feff}\"body\",id\n\"the\",1\n");
    same("id,body,n\n1,\"the, \"\"film\"\"\nwas\r\ngood\", x \n\n2,bad,\"\"\"\"\r\n3,,");
    same("id,body\r1,the film\r2,bad\r");
    same("body\nthe\n\"\"\n");
    same("\r\n\nid,body\n\n1,the\n");
    same("id,body\n007,the\n 1.0 ,film\n");
    let semicolon = [
        "--format",
        "csv",
        "--column",
        "2",
        "--no-header",
        "--delimiter",
        ";",
    ];
    assert_eq!(through(&semicolon, "x;The FILM;,\n"), "x;the film;,\n");
    assert_eq!(
        through(&csv, "id,body\n1,The \"film\"\n"),
        "id,body\n1,\"the \"\"film\"\"\"\n"
    );
    let tsv = ["--format", "tsv", "--column", "body", "--no-quotes"];
    assert_eq!(
        through(&tsv, "id\tbody\n\"1\tthe \"film\n"),
        "id\tbody\n\"1\tthe \"film\n"
    );
}

#[test]
fn quotes_of_a_private_cell_do_not_tell_what_was_in_it() {
    let words = ["--format", "csv", "--column", "body", "--layout", "words"];
    // What the quotes were needed for is gone.
    assert_eq!(
        through(
            &words,
            "id,body\n1,\"the, film\"\n2,\"the \"\"film\"\"\"\n3,the film\n"
        ),
        "id,body\n1,the film\n2,the film\n3,the film\n"
    );
    // The header is public: if it is in quotes, so is every cell.
    let quoted = "\"id\",\"body\"\n1,\"the film\"\n2,\"the film\"\n";
    let mixed = "\"id\",\"body\"\n1,\"the, film\"\n2,the film\n";
    assert_eq!(through(&words, mixed), quoted);
    // Null is not a text without words.
    let empty = "id,body\n1,\n2,\"\"\n3,!\n";
    assert_eq!(through(&words, empty), "id,body\n1,\n2,\"\"\n3,\"\"\n");
}

#[test]
fn backslashes_before_quotes_move_no_text_into_other_columns() {
    for cell in [
        r#""he said \"hi
SECRET, there\" ok""#,
        r#""he said \"
SECRET, there\" ok""#,
        r#""the"SECRET"#,
    ] {
        let ran = run_with(
            &[&SAME[..], &["--format", "csv", "-c", "body"]].concat(),
            format!("id,body\n1,{cell}\n").as_bytes(),
        );
        assert_eq!(ran.code, 1, "{cell}");
        assert!(
            ran.stderr
                .contains("row 1 (at byte 8) has text or a backslash")
        );
        assert!(!(ran.stdout + &ran.stderr).contains("SECRET"), "{cell}");
    }
    let csv = ["--format", "csv", "--column", "body"];
    let fine = "id,body\n\"C:\\\",\"the\" \n";
    assert_eq!(through(&csv, fine), "id,body\n\"C:\\\",the \n");
}

#[test]
fn columns_are_names_or_numbers_and_a_header_is_declared() {
    let csv = |more: &[&str]| {
        let args = [&SAME[..], &["--format", "csv"], more].concat();
        run_with(&args, b"the,Film\nGood,Bad\n")
    };
    assert_eq!(csv(&["--column", "Film"]).stdout, "the,Film\nGood,bad\n");
    assert_eq!(
        csv(&["-c", "1", "-c", "2", "--header"]).stdout,
        "the,Film\ngood,bad\n"
    );
    assert_eq!(
        csv(&["-c", "2", "--no-header"]).stdout,
        "the,film\nGood,bad\n"
    );
    assert_one_line(&csv(&["-c", "2"]), 2, &["--header", "--no-header"]);
    assert_one_line(
        &csv(&["-c", "3", "--header"]),
        2,
        &["--column:", "2 columns"],
    );
    assert_one_line(&csv(&["-c", "body"]), 2, &["--column:", "--delimiter"]);
    let alike = csv(&["-c", " film"]);
    assert_one_line(&alike, 2, &["column 2", "case or white space", "#2"]);
    let aloud = ["privatize", "--format", "csv", "-c", "body"];
    assert_one_line(
        &run_with(
            &aloud, b"the
",
        ),
        2,
        &["--column:"],
    );
    let numbers = |more: &[&str]| {
        let args = [&SAME[..], &["--format", "csv"], more].concat();
        run_with(&args, b"2,1,3\nThe,Film,Was\n")
    };
    let both = numbers(&["-c", "2", "--header"]);
    assert_one_line(&both, 2, &["--column:", "#2", "#1"]);
    assert_eq!(
        numbers(&["-c", "#2", "--header"]).stdout,
        "2,1,3\nThe,film,Was\n"
    );
    assert_one_line(&numbers(&["-c", "3"]), 2, &["--header", "--no-header"]);
    let data = [&SAME[..], &["--format", "csv", "-c", "7"]].concat();
    let data = run_with(&data, b"7,SECRET,pos\n8,SECRET,neg\n");
    assert_one_line(&data, 2, &["--header", "--no-header"]);
    assert_one_line(&csv(&[]), 2, &["--column", "csv"]);
    let text = run_with(&[&SAME[..], &["-c", "x"]].concat(), b"the\n");
    assert_one_line(&text, 2, &["--column", "text"]);
    let text = run_with(&[&SAME[..], &["--delimiter", "ab"]].concat(), b"the\n");
    assert_one_line(&text, 2, &["--delimiter", "one character"]);
    let mixed = run(&[
        &SAME[..],
        &["--input", "a.csv", "--output", "b.jsonl", "-c", "x"],
    ]
    .concat());
    assert_one_line(&mixed, 2, &["csv in, jsonl out", "does not convert"]);
}

#[test]
fn json_fields_are_found_and_the_rest_is_kept() {
    let columns = ["--format", "jsonl", "-c", "a.text", "-c", "tags"];
    let args = [&columns[..], &["--optional-columns"]].concat();
    let same = |line: &str| assert_eq!(through(&args, line), line);
    same(
        "{\"a\" : {\"text\":\"the film\",\"n\":1.50e+01}, \"tags\":[\"good\", null, \"bad\"] , \"x\":\"É\\u00e9\"}\n\n{\"a\":null}\r\n{}",
    );
    same("\n\n{\"a\":{\"text\":\"the\"},\"tags\":[]}\n");
    same("{\"a\":[{\"text\":\"the\"},{\"text\":[\"film\",[\"was\"]]}],\"tags\":null}\n");
    // A key that is there twice or in disguise is private all the same.
    let twice = "{\"tags\":\"SECRET\",\"t\\u0061gs\":\"SECRET\",\"b\":{\"tags\":\"kept\"},\"a\":{\"text\":\"\"}}\n";
    let out = through(&args, twice);
    assert!(!out.contains("SECRET") && out.contains("kept"), "{out}");
    let dotted = ["--format", "jsonl", "-c", "/a.text/b"];
    assert_eq!(
        through(&dotted, "{\"a.text\":{\"b\":\"The\"}}\n"),
        "{\"a.text\":{\"b\":\"the\"}}\n"
    );
}

#[test]
fn text_is_a_document_per_line_or_per_file() {
    let folder = Folder::new();
    let manifest = folder.name("run.json");
    let documents = |more: &[&str]| {
        let args = [&["--manifest", &manifest, "--force"], more].concat();
        let out = through(&args, "the\nFILM\n");
        let record: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
        (out, record["documents"].as_u64().unwrap())
    };
    assert_eq!(documents(&[]), ("the\nfilm\n".into(), 2));
    assert_eq!(
        documents(&["--document", "file"]),
        ("the\nfilm\n".into(), 1)
    );
    let (json, _) = documents(&["--document", "file", "--json", "--layout", "words"]);
    let line: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(line["text"], "the film");
}

#[test]
fn parquet_keeps_row_groups_metadata_and_other_columns() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let (input, output) = (folder.name("in.parquet"), folder.name("out.parquet"));
    let texts: Vec<String> = (0..2500).map(|i| in_words(i) + " SECRETWORD").collect();
    write("parquet", Path::new(&input), &texts);
    let files = ["-m", &model, "--input", &input, "--output", &output];
    let ran = run(&[&SAME[..], &files, &["--column", "body"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let bytes = std::fs::read(&output).unwrap();
    let secret = b"SECRETWORD";
    assert!(
        !bytes
            .windows(secret.len())
            .any(|w| w.eq_ignore_ascii_case(secret))
    );
    let open = |name| SerializedFileReader::new(std::fs::File::open(name).unwrap()).unwrap();
    let (before, after) = (open(&input), open(&output));
    let (a, b) = (before.metadata(), after.metadata());
    assert_eq!(a.num_row_groups(), 3);
    assert_eq!(
        a.file_metadata().key_value_metadata(),
        b.file_metadata().key_value_metadata()
    );
    assert_eq!(a.file_metadata().schema(), b.file_metadata().schema());
    for (a, b) in a.row_groups().iter().zip(b.row_groups()) {
        assert_eq!(a.num_rows(), b.num_rows());
        assert_eq!(a.column(0).statistics(), b.column(0).statistics());
        assert_eq!(a.column(0).compressed_size(), b.column(0).compressed_size());
        assert_eq!(
            a.column(1).compression_codec(),
            b.column(1).compression_codec()
        );
        assert_ne!(a.column(1).statistics(), b.column(1).statistics());
    }
    let rows = corpora::read("parquet", Path::new(&output));
    assert!(
        rows.iter()
            .enumerate()
            .all(|(i, (id, text))| i == *id && text.starts_with(&in_words(i)))
    );
    assert_eq!(rows.len(), 2500);
    let number = run(&[&SAME[..], &files, &["--column", "id", "--force"]].concat());
    assert_one_line(&number, 2, &["--column:", "not a column of strings"]);
}

/// A footer can say that a column's bytes are those of another.
#[test]
fn a_copied_parquet_column_brings_no_private_one_along() {
    use parquet::file::metadata::ParquetMetaDataWriter;
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let folder = Folder::new();
    let (input, output) = (folder.name("in.parquet"), folder.name("out.parquet"));
    write("parquet", Path::new(&input), &["canary ".repeat(5)]);
    let mut bytes = std::fs::read(&input).unwrap();
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    let footer = bytes.len() - 8;
    let footer = footer - u32::from_le_bytes(*bytes[footer..].first_chunk().unwrap()) as usize;
    let mut metadata = reader.metadata().clone().into_builder();
    for group in metadata.take_row_groups() {
        let mut columns = group.columns().to_vec();
        let body = columns[1].clone();
        columns[0] = columns[0]
            .clone()
            .into_builder()
            .set_data_page_offset(body.data_page_offset())
            .set_dictionary_page_offset(body.dictionary_page_offset())
            .set_total_compressed_size(body.compressed_size())
            .build()
            .unwrap();
        let group = group.into_builder().set_column_metadata(columns);
        metadata = metadata.add_row_group(group.build().unwrap());
    }
    bytes.truncate(footer);
    ParquetMetaDataWriter::new(&mut bytes, &metadata.build())
        .finish()
        .unwrap();
    std::fs::write(&input, &bytes).unwrap();
    assert!(bytes.windows(6).any(|part| part == b"canary"));
    let files = ["--input", &input, "--output", &output, "--column", "body"];
    let ran = run(&[&SAME[..], &files].concat());
    assert_one_line(&ran, 1, &["in.parquet", "damaged"]);
    for name in folder.listing().iter().filter(|name| *name != "in.parquet") {
        let written = std::fs::read(folder.path(name)).unwrap();
        assert!(!written.windows(6).any(|part| part == b"canary"), "{name}");
    }
}

#[test]
fn bad_rows_fail_are_left_out_or_lose_their_text() {
    let folder = Folder::new();
    let check = |format: &str, input: &[u8], place: &str, skipped: &str, emptied: &str| {
        let args = [&SAME[..], &["--format", format, "-c", "body"]].concat();
        let failed = run_with(&args, input);
        assert_eq!(failed.code, 1);
        assert!(
            failed.stderr.contains(place) && failed.stderr.lines().count() == 1,
            "{}",
            failed.stderr
        );
        assert!(!failed.stderr.contains("SECRET") && !failed.stdout.contains("SECRET"));
        let manifest = folder.name("run.json");
        for (policy, expected, counted) in [
            ("skip", skipped, "skipped"),
            ("copy-null", emptied, "emptied"),
        ] {
            let more = ["--on-bad-row", policy, "--manifest", &manifest, "--force"];
            let ran = run_with(&[&args[..], &more].concat(), input);
            assert_eq!(
                (ran.code, ran.stdout.as_str()),
                (0, expected),
                "{}",
                ran.stderr
            );
            assert!(
                ran.stderr.starts_with("brr: 1 bad row was"),
                "{}",
                ran.stderr
            );
            let record: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
            assert_eq!(record["bad_rows"][counted], 1);
            assert_eq!(record["rows"], 3);
        }
    };
    check(
        "csv",
        b"id,body\n1,the\n2,SECRET,SECRET\n3,bad\n",
        "row 2 (at byte 14) has more cells",
        "id,body\n1,the\n3,bad\n",
        "id,body\n1,the\n,\n3,bad\n",
    );
    check(
        "csv",
        b"id,body\n1,the\n2,\xffSECRET\n3,bad\n",
        "row 2 (at byte 14) is not UTF-8",
        "id,body\n1,the\n3,bad\n",
        "id,body\n1,the\n2,\n3,bad\n",
    );
    check(
        "jsonl",
        b"{\"body\":\"the\"}\n{\"body\":\"SECRET\n{\"body\":\"bad\"}\n",
        "row 2 (at byte 15) is not valid JSON",
        "{\"body\":\"the\"}\n{\"body\":\"bad\"}\n",
        "{\"body\":\"the\"}\nnull\n{\"body\":\"bad\"}\n",
    );
    check(
        "jsonl",
        b"{\"body\":\"the\"}\n{\"n\":1,\"body\":{\"SECRET\":1}}\n{\"body\":\"bad\"}",
        "row 2 (at byte 15) has a value that is not a string",
        "{\"body\":\"the\"}\n{\"body\":\"bad\"}",
        "{\"body\":\"the\"}\n{\"n\":1,\"body\":null}\n{\"body\":\"bad\"}",
    );
}

#[test]
fn json_without_bottom_is_a_bad_row() {
    let jsonl = [&SAME[..], &["--format", "jsonl", "-c", "t"]].concat();
    let nested = |depth: usize| {
        let open = "[".repeat(depth);
        format!("{{\"t\":{open}\"the\"{}}}\n", "]".repeat(depth))
    };
    assert_eq!(run_with(&jsonl, nested(100).as_bytes()).stdout, nested(100));
    for depth in [200, 50_000] {
        let deep = run_with(&jsonl, nested(depth).as_bytes());
        assert!(matches!(deep.code, 1 | 2), "{}", deep.stderr);
        assert_eq!(deep.stderr.lines().count(), 1, "{}", deep.stderr);
    }
    let first = "{\"t\":\"the\"}\n".to_owned() + &nested(50_000);
    let deep = run_with(&jsonl, first.as_bytes());
    assert_eq!((deep.code, deep.stderr.lines().count()), (1, 1));
}

#[test]
fn a_mistyped_path_copies_nothing() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let rows = b"{\"user\":[{\"comment\":\"secretword\"}]}\n{\"id\":2}\n";
    let (input, output) = (folder.file("in.jsonl", rows), folder.name("out.jsonl"));
    let call = |column: &str, more: &[&str]| {
        let mut args = vec!["privatize", "-q", "-m", &model, "--epsilon", "1"];
        args.extend([
            "--input", &input, "--output", &output, "--column", column, "--force",
        ]);
        args.extend(more);
        run(&args)
    };
    assert_one_line(
        &call("user.coment", &[]),
        2,
        &["--column:", "--optional-columns"],
    );
    assert!(!folder.path("out.jsonl").exists());
    assert_eq!(call("user.comment", &[]).code, 0, "a later row may lack it");
    assert!(
        !std::fs::read_to_string(&output)
            .unwrap()
            .contains("secretword")
    );
    let one = call("remark", &["--optional-columns", "-c", "user.comment"]);
    assert_one_line(&one, 0, &["warning", "the 1st --column", "no row"]);
    let nothing = call("remark", &["--optional-columns"]);
    assert_one_line(
        &nothing,
        0,
        &["warning", "--column", "nothing was privatized"],
    );
}
