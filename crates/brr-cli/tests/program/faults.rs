//! What goes wrong on real machines, with the real thing where that can be had.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use crate::support::corpora::{KINDS, assert_all_rows, in_words, options, pack, write};
use crate::support::{Folder, Ran, assert_one_line, brr, run, run_with, tiny_model};

const SAME: [&str; 6] = ["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"];

/// A file system of a few kilobytes, if this process may mount one.
#[cfg(target_os = "linux")]
struct SmallDisk(Folder);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount(size: &str) -> Option<SmallDisk> {
        let folder = Folder::new();
        let size = format!("size={size}");
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs", &folder.name("")]);
        let mounted = mount.stderr(Stdio::null()).status().ok()?;
        mounted.success().then(|| SmallDisk(folder))
    }

    fn grow(&self, size: &str) {
        let size = format!("remount,size={size}");
        let mut mount = std::process::Command::new("mount");
        assert!(
            mount
                .args(["-o", &size, &self.0.name("")])
                .status()
                .unwrap()
                .success()
        );
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount")
            .arg(self.0.name(""))
            .status();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing_and_the_run_goes_on_when_there_is_room() {
    for kind in KINDS {
        let Some(disk) = SmallDisk::mount("64k") else {
            eprintln!("skipped: this process may not mount a file system");
            return;
        };
        let folder = Folder::new();
        let model = folder.file("m.brr", &tiny_model());
        let input = folder.name(&format!("in.{kind}"));
        let rows = if kind.contains('.') { 60_000 } else { 6000 };
        let texts: Vec<String> = (0..rows).map(in_words).collect();
        write(kind, Path::new(&input), &texts);
        let output = disk.0.name(&format!("out.{kind}"));
        let files = ["-m", &model, "--input", &input, "--output", &output];
        let often = ["--checkpoint-seconds", "0"];
        let args = [&SAME[..], &files, &often, options(kind)].concat();
        let full = run(&args);
        assert_eq!(full.code, 1, "{kind}: {}", full.stderr);
        assert!(
            full.stderr.contains("No space left"),
            "{kind}: {}",
            full.stderr
        );
        assert_eq!(full.stderr.lines().count(), 1, "{}", full.stderr);
        assert!(!Path::new(&output).exists());
        disk.grow("16m");
        let again = run(&[&args[..], &["--resume"]].concat());
        assert_eq!(again.code, 0, "{kind}: {}", again.stderr);
        assert_all_rows(kind, Path::new(&output), rows);
        assert_eq!(disk.0.listing(), [format!("out.{kind}")]);
    }
}

#[test]
fn input_that_was_cut_short_is_an_error_that_says_so() {
    let folder = Folder::new();
    let whole = "id,body\n".to_owned() + &"1,the film was good\n".repeat(100);
    let cut = |name: &str, bytes: &[u8], more: &[&str], parts: &[&str]| {
        let input = folder.file(name, bytes);
        let output = folder.name(&format!("out-{name}"));
        let args = [&SAME[..], &["--input", &input, "--output", &output], more].concat();
        assert_one_line(&run(&args), 1, parts);
        assert!(!Path::new(&output).exists());
    };
    let csv = ["-c", "body"];
    cut(
        "a.csv",
        format!("{whole}2").as_bytes(),
        &csv,
        &["row 101", "fewer cells", "100 rows are safe"],
    );
    cut(
        "b.csv",
        format!("{whole}2,\"the").as_bytes(),
        &csv,
        &[
            "b.csv ends inside a quoted cell",
            "byte 2008",
            "after row 100",
        ],
    );
    cut(
        "a.jsonl",
        b"{\"body\":\"the\"}\n{\"body\":\"fi",
        &csv,
        &["row 2", "not valid JSON"],
    );
    for (name, kind) in [("g.csv.gz", "gz"), ("z.csv.zst", "zst")] {
        let packed = pack(kind, whole.as_bytes());
        cut(
            name,
            &packed[..packed.len() - 5],
            &csv,
            &[name, "ends inside its compressed data"],
        );
    }
    let parquet = folder.path("p.parquet");
    let texts: Vec<String> = (0..100).map(in_words).collect();
    write("parquet", &parquet, &texts);
    let bytes = std::fs::read(&parquet).unwrap();
    cut(
        "p.parquet",
        &bytes[..bytes.len() / 2],
        &csv,
        &["p.parquet", "cut short"],
    );
}

#[test]
fn input_of_another_kind_is_told() {
    let check = |format: &str, input: &[u8], part: &str| {
        let ran = run_with(
            &[&SAME[..], &["--format", format, "-c", "body"]].concat(),
            input,
        );
        assert_one_line(&ran, 1, &[part]);
    };
    check("csv", b"\xff\xfei\0d\0", "--encoding utf-16");
    check("csv", b"\xff\xfe\0\0i\0\0\0", "UTF-32");
    // Without a mark it is text of another encoding, and no other delimiter would help.
    check("csv", b"i\0d\0,\0b\0o\0d\0y\0\n\0", "--encoding");
    check("jsonl", b"{\"body\":\"caf\xe9\"}\n", "--encoding");
    check("json", b"[{\"body\":\"caf\xe9\"}]", "--encoding");
    check("csv", &pack("gz", b"id,body\n"), "gzip");
    check("jsonl", &pack("zst", b"{}"), "Zstandard");
    let text = run_with(&SAME, &pack("gz", b"the film"));
    assert_one_line(&text, 1, &["gzip"]);
    let array = ["--format", "jsonl", "-c", "body"];
    let array = run_with(&[&SAME[..], &array].concat(), b"[{\"body\":\"the\"}]");
    assert_one_line(&array, 2, &["array", "json"]);
    let parquet = run_with(
        &[&SAME[..], &["--format", "parquet", "-c", "body"]].concat(),
        b"PAR1",
    );
    assert_one_line(&parquet, 2, &["no stream", "--input"]);
}

#[test]
fn text_is_of_the_encoding_that_was_named() {
    let with =
        |name: &str, input: &[u8]| run_with(&[&SAME[..], &["--encoding", name]].concat(), input);
    let both = "the film\n".encode_utf16();
    let big: Vec<u8> = both.clone().flat_map(u16::to_be_bytes).collect();
    let little: Vec<u8> = both.flat_map(u16::to_le_bytes).collect();
    for (name, bytes) in [
        ("utf-16", &big),
        ("utf-16", &little),
        ("UTF16LE", &little),
        ("UTF-16BE", &big),
    ] {
        assert_eq!(with(name, bytes).stdout, "the film\n", "{name}");
    }
    let han: Vec<u8> = "\u{4e2d}\u{6587}"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_one_line(&with("utf-16", &han), 1, &["utf-16le or utf-16be"]);
    assert_one_line(&with("ascii", "caf\u{e9}\n".as_bytes()), 1, &["encoding"]);
    assert_eq!(with("cp932", b"the film\n").code, 0);
    assert_one_line(
        &with("utf-32", b"the film\n"),
        2,
        &["--encoding", "UTF-8 first"],
    );
}

#[test]
fn what_stands_between_objects_is_that_of_json() {
    let args = [&SAME[..], &["--format", "json", "-c", "t"]].concat();
    let object = r#"{"t":"the"}"#;
    for broken in [
        "[O O]", "]] [", ",,", "[O,,O]", "[,O]", "[O]]", "O,O", "[O],O", "[O][O]",
    ] {
        let input = broken.replace('O', object);
        let ran = run_with(&args, input.as_bytes());
        assert_eq!(ran.code, 1, "{broken}: {}", ran.stderr);
        assert!(ran.stderr.contains("no JSON"), "{broken}: {}", ran.stderr);
    }
    for sound in ["[O, O]", "O O", "O\nO\n", "[]", " [ O ]\n", "OO"] {
        let input = sound.replace('O', object);
        let ran = run_with(&args, input.as_bytes());
        assert_eq!(
            (ran.code, &*ran.stdout),
            (0, &*input),
            "{sound}: {}",
            ran.stderr
        );
    }
    let strings = run_with(&args, br#"["a"]"#);
    assert_one_line(&strings, 2, &["not a JSON object"]);
    assert!(
        !strings.stderr.contains("there are ,"),
        "{}",
        strings.stderr
    );
}

#[test]
fn names_of_a_header_are_told_if_it_is_said_to_be_one() {
    let args = [&SAME[..], &["--format", "csv", "-c", "text"]].concat();
    let input = b"id,body\n1,the\n";
    let told = run_with(&[&args[..], &["--header"]].concat(), input);
    assert_one_line(&told, 2, &["there are body, id"]);
    // A row of data may be private.
    let silent = run_with(&args, input);
    assert_one_line(&silent, 2, &["2 cells", "--header"]);
    assert!(!silent.stderr.contains("body"), "{}", silent.stderr);
}

#[test]
fn damage_in_a_parquet_file_is_told_in_a_line() {
    let folder = Folder::new();
    // A model that does not know the canary: a word of the vocabulary may be drawn by chance.
    let model = folder.file("m.brr", &tiny_model());
    let input = folder.name("in.parquet");
    let canaries = [in_words(0) + " canary", in_words(1) + " canary"];
    write("parquet", Path::new(&input), &canaries);
    let whole = std::fs::read(&input).unwrap();
    let output = folder.name("out.parquet");
    let mut refused = 0;
    // The footer and all that it points to.
    for place in (0..whole.len()).step_by(5) {
        let mut damaged = whole.clone();
        damaged[place] = damaged[place].wrapping_mul(5) ^ 0xa5;
        std::fs::write(&input, damaged).unwrap();
        let files = ["--input", &input, "--output", &output, "--force"];
        let args = ["privatize", "-q", "-m", &model, "--mechanism", "k-ary"];
        let ran = run(&[&args[..], &["--epsilon", "1"], &files, options("parquet")].concat());
        refused += u32::from(ran.code != 0);
        assert!(matches!(ran.code, 0..=2), "byte {place}: {ran:?}");
        assert!(ran.stderr.lines().count() <= 1, "byte {place}: {ran:?}");
        assert!(
            !ran.stderr.contains("this is a bug"),
            "byte {place}: {ran:?}"
        );
        for name in folder
            .listing()
            .iter()
            .filter(|name| name.starts_with("out"))
        {
            let written = std::fs::read(folder.path(name)).unwrap();
            let canary = written.windows(6).any(|part| part == b"canary");
            assert!(!canary, "byte {place}: {name}");
        }
    }
    assert!(refused > 0);
}

#[test]
fn ten_thousand_columns() {
    let row = |first: &str| first.to_owned() + &",x".repeat(9998) + ",The\n";
    let header: Vec<String> = (0..10_000).map(|i| format!("c{i}")).collect();
    let input = header.join(",") + "\n" + &row("1").repeat(20);
    let ran = run_with(
        &[&SAME[..], &["--format", "csv", "-c", "c9999"]].concat(),
        input.as_bytes(),
    );
    assert_eq!(ran.stdout, input.replace("The", "the"));
}

/// A line far beyond the limit goes by in constant memory.
#[cfg(target_os = "linux")]
#[test]
fn an_endless_row_is_a_bad_row() {
    let megabytes: usize = std::env::var("BRR_LONG_ROW_MB").map_or(64, |n| n.parse().unwrap());
    let model = Folder::new();
    let file = model.file("m.brr", &tiny_model());
    for (format, start, end) in [
        ("text", "the\n", "\nfilm\n"),
        ("csv", "id,body\n1,the\n2,\"", "\"\n3,film\n"),
        (
            "jsonl",
            "{\"body\":\"the\"}\n{\"body\":\"",
            "\"}\n{\"body\":\"film\"}\n",
        ),
    ] {
        let column: &[&str] = if format == "text" {
            &[]
        } else {
            &["-c", "body"]
        };
        let limits = [
            "--format",
            format,
            "--max-record",
            "4M",
            "--on-bad-row",
            "skip",
            "-m",
            &file,
            // What is read ahead grows with the threads, and they with the machine's cores.
            "--threads",
            "2",
        ];
        let args = [&SAME[..], &limits, column].concat();
        let mut child = brr(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(start.as_bytes()).unwrap();
        let megabyte = "the film ".repeat((1 << 20) / 9);
        let mut peak_after = |megabytes: usize| {
            for _ in 0..megabytes {
                stdin.write_all(megabyte.as_bytes()).unwrap();
            }
            crate::support::peak_memory(&child)
        };
        // Beyond the limit of 4 MB, what follows takes no memory of its own.
        let (early, late) = (peak_after(8), peak_after(megabytes - 8));
        stdin.write_all(end.as_bytes()).unwrap();
        drop(stdin);
        let most = (megabytes as u64 - 8) << 9;
        assert!(
            late - early < most,
            "{format}: from {early} kB to {late} kB"
        );
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("1 bad row was left out, of 3"),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stdout.contains("the") && ran.stdout.contains("film") && ran.stdout.len() < 100
        );
    }
    let long = run_with(
        &[&SAME[..], &["--max-record", "1K"]].concat(),
        &[b'a'; 40_000],
    );
    assert_one_line(&long, 1, &["row 1 (at byte 0) is longer than --max-record"]);
}

#[test]
fn a_model_that_is_replaced_while_in_use_stays_in_use() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let mut child = brr(&[&SAME[..], &["-m", &model]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for content in [b"".as_slice(), b"another file", b"the film was good"] {
        writeln!(stdin, "the film").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), "the film");
        // In place, as an editor or a copy would, not by a new file under the name.
        std::fs::write(&model, content).unwrap();
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_is_told_before_the_work() {
    let folder = Folder::new();
    let input = folder.file("in.txt", b"the\n");
    for output in ["/proc/version.txt", "/nowhere/out.txt"] {
        let ran = run(&[&SAME[..], &["--input", &input, "--output", output]].concat());
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
    let manifest = folder.file("run.json", b"{}");
    let ran = run(&[&SAME[..], &["--input", &input, "--manifest", &manifest]].concat());
    assert_one_line(&ran, 2, &["--manifest", "exists already", "--force"]);
}
