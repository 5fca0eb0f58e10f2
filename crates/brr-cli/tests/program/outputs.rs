//! Where outputs go, what inputs may be, and several files at once.

use std::path::Path;
use std::process::Stdio;

use crate::support::{Folder, assert_one_line, brr, run, run_with, tiny_model};
use serde_json::Value;

/// Words of the model stay, so that what changes, changes for another reason.
const SAME: [&str; 6] = ["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"];

fn with(args: &[&str]) -> crate::support::Ran {
    run(&[&SAME[..], args].concat())
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_links_are_written_through() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new();
    let input = folder.file("in.txt", b"the film\n");
    let name = "/dev/null";
    for force in [&[][..], &["--force"]] {
        for extra in [&["-i", input.as_str()][..], &["the film"]] {
            let extra = [extra, force].concat();
            let ran = with(&[&extra[..], &["-o", name, "--manifest", name]].concat());
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
            let kind = std::fs::metadata(name).unwrap().file_type();
            assert!(kind.is_char_device());
        }
    }
    let pipe = folder.name("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let reading = pipe.clone();
    let reader = std::thread::spawn(move || std::fs::read(reading).unwrap());
    assert_eq!(with(&["-i", &input, "-o", &pipe, "--force"]).code, 0);
    assert_eq!(reader.join().unwrap(), b"the film\n");
    assert!(
        std::fs::symlink_metadata(&pipe)
            .unwrap()
            .file_type()
            .is_fifo()
    );
    // A link stays, and the file that it leads to is replaced, if that was asked for.
    let target = folder.file("target.txt", b"old");
    let link = folder.name("link.txt");
    symlink("target.txt", &link).unwrap();
    assert_eq!(with(&["-i", &input, "-o", &link]).code, 2);
    assert_eq!(std::fs::read(&target).unwrap(), b"old");
    assert_eq!(with(&["-i", &input, "-o", &link, "--force"]).code, 0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&target).unwrap(), b"the film\n");
}

/// A name that leads to an open descriptor is written to, and what others write there stays.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_are_written_to_and_never_replaced() {
    let folder = Folder::new();
    let input = folder.file("in.txt", b"the film\n");
    for force in [&[][..], &["--force"]] {
        let args = [
            "-i",
            &input,
            "-o",
            "/dev/stdout",
            "--manifest",
            "/dev/stdout",
        ];
        let ran = with(&[&args[..], force].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        let (text, manifest) = ran.stdout.split_once('\n').unwrap();
        assert_eq!(text, "the film");
        serde_json::from_str::<Value>(manifest).unwrap();
        // A file that others write to as well, at its end and in its middle.
        let log = folder.file("log", b"precious\n");
        let to = |append: bool| {
            let mut options = std::fs::OpenOptions::new();
            let opened = options.write(!append).append(append).open(&log);
            std::process::Stdio::from(opened.unwrap())
        };
        let program = |stdout: Stdio, input: &[&str]| {
            let mut command = brr(&[&SAME[..], input, &["-o", "/dev/stdout"], force].concat());
            assert!(command.stdout(stdout).status().unwrap().success());
        };
        program(to(true), &["-i", &input]);
        program(to(true), &["the film"]);
        assert_eq!(
            std::fs::read_to_string(&log).unwrap(),
            "precious\nthe film\nThe film\n"
        );
    }
}

/// What is written matters more than whether anybody hears about it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_standard_error_is_no_failure() {
    let folder = Folder::new();
    let input = folder.file("in.txt", b"the film\n");
    let output = folder.name("out.txt");
    let loud = |args: &[&str], stderr: Stdio| {
        let mut command = brr(&[&["privatize", "--epsilon", "0.09"], args].concat());
        let done = command.stderr(stderr).stdin(Stdio::null()).output();
        assert_eq!(done.unwrap().status.code(), Some(0));
    };
    let full = || Stdio::from(std::fs::File::create("/dev/full").unwrap());
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for (i, stderr) in [full(), closed(), full()].into_iter().enumerate() {
        match i {
            2 => loud(&["the film"], stderr),
            _ => loud(&["-i", &input, "-o", &output, "--force"], stderr),
        }
    }
    assert_eq!(folder.listing(), ["in.txt", "out.txt"]);
    let words = std::fs::read_to_string(&output).unwrap();
    assert_eq!(words.split_whitespace().count(), 2);
}

#[test]
fn a_report_is_not_overwritten_and_a_bad_path_is_told_first() {
    let folder = Folder::new();
    let there = folder.file("there", b"mine");
    let nowhere = folder.name("none/report");
    for verb in [
        &["calibrate", "--html"][..],
        &["audit", "--report"],
        &["certify", "--epsilon", "0.1", "-o"],
    ] {
        for (path, word) in [(&there, "--force"), (&nowhere, "cannot write")] {
            let ran = run(&[verb, &[path]].concat());
            assert_ne!(ran.code, 0, "{verb:?}");
            assert!(
                ran.stderr.contains(word) && ran.stdout.is_empty(),
                "{verb:?}: {}",
                ran.stderr
            );
        }
    }
    assert_eq!(std::fs::read(&there).unwrap(), b"mine");
}

#[test]
fn a_dash_is_standard_input_and_output() {
    let ran = run_with(
        &[&SAME[..], &["-i", "-", "-o", "-"]].concat(),
        b"the film\n",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "the film\n"));
    assert_eq!(with(&["the film", "-o", "-"]).stdout, "The film\n");
}

#[cfg(unix)]
#[test]
fn no_verb_calls_a_closed_pipe_or_a_full_disk_a_bug() {
    let folder = Folder::new();
    let toml = folder.name("none.toml");
    let model = folder.file("m.brr", &tiny_model());
    for verb in [
        &["inspect"][..],
        &["explain", "film"],
        &["calibrate", "-m", &model, "--mechanism", "k-ary", "--json"],
        &["certify", &model, "--json", "--epsilon", "0.1"],
        &["privatize", "the film"],
        &["estimate", "--keep", "0.5", "--json", "-i", "-"],
        &["ratio", "english", "english"],
        &["evaluate", &toml],
        &["--help"],
    ] {
        let mut child = brr(verb)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ran = child.wait_with_output().unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(!told.contains("bug"), "{verb:?}: {told}");
        let full = std::fs::File::options().write(true).open("/dev/full");
        let Ok(full) = full else { continue };
        let ran = brr(verb)
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(!told.contains("bug"), "{verb:?}: {told}");
        assert_ne!(ran.status.code(), Some(101), "{verb:?}");
    }
}

#[test]
fn what_is_no_utf8_is_refused_unless_its_encoding_is_named() {
    let folder = Folder::new();
    let latin = folder.file("latin.txt", b"the caf\xe9 film\n");
    let utf16: Vec<u8> = "the film\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let utf16 = folder.file("utf16.txt", &utf16);
    let random: Vec<u8> = (0..2000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let random = folder.file("random.txt", &random);
    let bzip = folder.file("b.txt", b"BZh91AY&SY");
    let xz = folder.file("x.txt", b"\xfd7zXZ\0\0\x04");
    for input in [&latin, &utf16, &random, &bzip, &xz] {
        let ran = with(&["-i", input]);
        assert_one_line(&ran, 1, &[]);
        assert_eq!(ran.stdout, "", "{input}");
    }
    assert!(with(&["-i", &latin]).stderr.contains("--encoding"));
    let decoded = with(&["-i", &utf16, "--encoding", "utf-16"]);
    assert_eq!((decoded.code, decoded.stdout.as_str()), (0, "the film\n"));
    let decoded = with(&["-i", &latin, "--encoding", "latin-1"]);
    assert_eq!(decoded.code, 0);
    assert!(decoded.stdout.is_ascii() || decoded.stdout.starts_with("the "));
    let wrong = with(&["-i", &latin, "--encoding", "my secret"]);
    assert_eq!(wrong.code, 2);
    assert!(!wrong.stderr.contains("secret"));
}

#[test]
fn an_array_of_objects_is_like_json_lines() {
    let folder = Folder::new();
    let text =
        "[\n  {\"id\": 1, \"t\": \"the film\"},\n  {\"id\": 2, \"t\": \"xqz\",\n \"n\": [1]}\n]\n";
    let input = folder.file("in.json", text.as_bytes());
    let output = folder.name("out.json");
    let ran = with(&["-i", &input, "-o", &output, "-c", "t"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let out = std::fs::read_to_string(&output).unwrap();
    let (before, after) = text.split_once("xqz").unwrap();
    assert!(out.starts_with(before) && out.ends_with(after), "{out}");
    let rows: Value = serde_json::from_str(&out).unwrap();
    assert_ne!(rows[1]["t"], "xqz");
    let cut = folder.file("cut.json", &text.as_bytes()[..text.len() - 4]);
    let ran = with(&["-i", &cut, "-c", "t"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("cut short"), "{}", ran.stderr);
    // What is no object ends the run, or is null in an array that is still sound.
    let mixed = folder.file("mixed.json", b"[ {\"t\": \"the\"}, \"xqz\", 5 ]");
    assert_eq!(with(&["-i", &mixed, "-c", "t"]).code, 1);
    let ran = with(&["-i", &mixed, "-c", "t", "--on-bad-row", "copy-null"]);
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(rows, serde_json::json!([{"t": "the"}, null, null]));
}

#[test]
fn a_path_goes_through_lists_however_it_is_written() {
    let rows = concat!(
        "{\"messages\": [{\"role\": \"user\", \"content\": \"the film\"}]}\n",
        "{\"messages\": [{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"xqz\"}]}]}\n",
    );
    for path in [
        "messages.content",
        "messages[].content",
        "/messages/content",
    ] {
        let args = [&SAME[..], &["--format", "jsonl", "-c", path]].concat();
        let ran = run_with(&args, rows.as_bytes());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{path}");
        assert!(ran.stdout.contains("the film") && ran.stdout.contains("\"type\": \"text\""));
        assert!(!ran.stdout.contains("xqz"));
        // An image, or a field that nobody spoke of, is not copied.
        for part in [
            "{\"type\": \"image_url\", \"image_url\": \"secret\"}",
            "{\"type\": \"text\", \"text\": \"the\", \"note\": \"secret\"}",
            "{\"type\": \"secret\", \"text\": \"the\"}",
        ] {
            let row = format!("{{\"messages\": [{{\"content\": [{part}]}}]}}\n");
            let ran = run_with(&args, row.as_bytes());
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{part}");
        }
    }
    let ran = run_with(
        &[&SAME[..], &["--format", "jsonl", "-c", "mesages.content"]].concat(),
        rows.as_bytes(),
    );
    assert_one_line(&ran, 2, &["--column", "messages.content"]);
}

#[test]
fn nothing_in_is_nothing_out_in_every_format() {
    for format in ["csv", "tsv", "jsonl", "json"] {
        let args = [&SAME[..], &["--format", format, "-c", "t"]].concat();
        let ran = run_with(&args, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{format}");
        assert!(ran.stderr.contains("no rows"), "{format}: {}", ran.stderr);
    }
}

#[test]
fn several_files_go_into_a_folder_with_one_record() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.name("in/deep")).unwrap();
    folder.file("in/a.txt", b"the film\n");
    folder.file("in/deep/b.txt", b"the\nfilm\n");
    folder.file("in/photo.bin", b"\xff\xff");
    let single = folder.file("c.csv", b"id,t\n7,the film\n");
    let (inputs, out) = (folder.name("in"), folder.name("out"));
    // Columns are for none of them, or are missing for one: said before anything is written.
    let refused = with(&[&inputs, "--output-dir", &out, "-c", "t"]);
    assert_one_line(&refused, 2, &["a.txt", "--column is for CSV"]);
    let refused = with(&[&inputs, &single, "--output-dir", &out]);
    assert_one_line(&refused, 2, &["c.csv", "--column"]);
    assert!(!Path::new(&out).exists());
    // A column is for the formats that have columns.
    let mixed = folder.name("mixed");
    let ran = with(&[&inputs, &single, "--output-dir", &mixed, "-c", "t"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(Path::new(&mixed).join(name)).unwrap();
    assert_eq!(read("c.csv"), "id,t\n7,the film\n");
    assert_eq!(read("a.txt"), "the film\n");
    let args = [inputs.as_str(), "--output-dir", &out];
    let ran = with(&args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("left alone: 1"));
    let read = |name: &str| std::fs::read_to_string(Path::new(&out).join(name)).unwrap();
    assert_eq!(read("a.txt"), "the film\n");
    assert_eq!(read("deep/b.txt"), "the\nfilm\n");
    let record: Value = serde_json::from_str(&read("brr-manifest.json")).unwrap();
    assert_eq!(record["words"], 4);
    assert_eq!(record["files"].as_object().unwrap().len(), 2);
    assert_eq!(with(&args).code, 2);
    // What is complete stays as it is; what is missing is made, and the record counts all.
    std::fs::remove_file(Path::new(&out).join("a.txt")).unwrap();
    let again = with(&[&args[..], &["--resume"]].concat());
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("complete already: 1"));
    let record: Value = serde_json::from_str(&read("brr-manifest.json")).unwrap();
    assert_eq!(record["words"], 4);
    let other = [
        "privatize",
        "--epsilon",
        "20",
        &inputs,
        "--output-dir",
        &out,
        "--resume",
    ];
    let other = run(&other);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("epsilon"), "{}", other.stderr);
    // Both would be a.txt.
    let twin = folder.file("a.txt", b"the\n");
    let (fresh, twins) = (folder.name("fresh"), [inputs.as_str(), &twin]);
    assert_eq!(
        with(&[&twins[..], &["--output-dir", &fresh]].concat()).code,
        2
    );
}

/// Two draws of a text cost twice.
#[cfg(unix)]
#[test]
fn a_file_of_a_folder_is_drawn_once_whatever_leads_to_it() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("d")).unwrap();
    let file = folder.file("d/z.txt", b"the film\n");
    std::os::unix::fs::symlink(".", folder.path("d/circle")).unwrap();
    std::os::unix::fs::symlink("z.txt", folder.path("d/a.txt")).unwrap();
    std::fs::hard_link(&file, folder.path("d/zz.txt")).unwrap();
    let (inputs, out) = (folder.name("d"), folder.name("out"));
    let ran = with(&[&inputs, &file, "--output-dir", &out]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("left out: 4"), "{}", ran.stderr);
    let mut written: Vec<_> = std::fs::read_dir(&out)
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    written.sort();
    assert_eq!(written, ["brr-manifest.json", "z.txt"]);
}

#[cfg(unix)]
#[test]
fn a_pipe_among_files_is_not_waited_for() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("d")).unwrap();
    folder.file("d/a.txt", b"the film\n");
    let pipe = folder.name("d/p.txt");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let (inputs, out) = (folder.name("d"), folder.name("out"));
    let ran = with(&[&inputs, "--output-dir", &out]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("left alone: 1"), "{}", ran.stderr);
    let refused = with(&[&pipe, "--output-dir", &out, "--force"]);
    assert_one_line(&refused, 2, &["p.txt", "--input"]);
}

#[test]
fn what_is_wrong_with_a_row_of_many_files_names_the_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("d")).unwrap();
    folder.file("d/a.csv", b"id,t\n1,the\n");
    folder.file("d/b.csv", b"id,t\n1,the,bad\n");
    folder.file("d/c.json", b"[]");
    let (inputs, out) = (folder.name("d"), folder.name("out"));
    let args = [&inputs, "-c", "t", "--output-dir", &out];
    assert_one_line(&with(&args), 1, &["b.csv", "row 1", "more cells"]);
    // The record would lie where an input is to go.
    folder.file("d/brr-manifest.json", b"[]");
    let args = [&args[..], &["--force"]].concat();
    assert_one_line(&with(&args), 2, &["brr-manifest.json", "--manifest"]);
}

#[test]
fn a_name_of_a_file_in_place_of_text_is_warned_of_and_not_repeated() {
    let folder = Folder::new();
    let file = folder.file("secret.txt", b"the film\n");
    let ran = with(&["the", &file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("argument 2 names a file") && ran.stderr.contains("--input"));
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    assert!(!with(&["the", "film"]).stderr.contains("names a file"));
}
