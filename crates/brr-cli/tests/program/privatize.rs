//! `brr privatize` as a user meets it.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Folder, assert_one_line, brr, run, run_with, tiny_model};
use serde_json::Value;

#[test]
fn a_sentence_with_the_built_in_model() {
    let ran = run(&["privatize", "the film was a terrible waste of an evening"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stdout.split_whitespace().count(), 9);
    assert!(
        ran.stderr.contains("epsilon") && ran.stderr.contains("default"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.stderr.lines().count(), 3);
    for part in [
        "not what was written",
        "mechanism",
        "epsilon",
        "metric",
        "stay",
        "per word",
        "per 100 words",
    ] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
}

#[test]
fn a_large_epsilon_keeps_every_known_word() {
    let ran = run(&[
        "privatize",
        "-q",
        "--epsilon",
        "30",
        "The film was",
        "good.",
    ]);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("The film was good.\n", "")
    );
}

#[test]
fn documents_keep_their_order_and_their_line_ends() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let lines: Vec<String> = (0..20_000)
        .map(|i| "the ".repeat(i % 7) + "bad\r")
        .collect();
    let input = lines.join("\n") + "\nfilm";
    let ran = run_with(
        &[
            "privatize",
            "-q",
            "-m",
            &model,
            "--epsilon",
            "30",
            "--threads",
            "3",
        ],
        input.as_bytes(),
    );
    assert!(ran.stdout == input, "order or layout changed");
    let words = run_with(
        &[
            "privatize",
            "-q",
            "-m",
            &model,
            "--epsilon",
            "30",
            "--layout",
            "words",
        ],
        b"the, FILM!\n\nwas\n",
    );
    assert_eq!(words.stdout, "the film\n\nwas\n");
}

#[test]
fn interactive_input_is_answered_line_by_line() {
    let mut child = brr(&["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in ["a", "good film", "the end"] {
        writeln!(stdin, "{line}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), line);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn json_lines_and_manifest_tell_the_guarantee_and_no_text() {
    let folder = Folder::new();
    let manifest = folder.name("run.json");
    let args = [
        "privatize",
        "-q",
        "--bound",
        "40",
        "--json",
        "--manifest",
        &manifest,
    ];
    let ran = run_with(&args, "secretword film\nI saw it.\n".as_bytes());
    let lines: Vec<Value> = ran
        .stdout
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["words"], 3);
    assert_eq!(lines[0]["metric"], "hamming-256");
    let number = |v: &Value, key: &str| v[key].as_f64().unwrap();
    assert!(number(&lines[0], "bound") <= 40.0 && number(&lines[0], "bound") > 39.9);
    let per_word = number(&lines[1], "loss_per_word");
    assert!(number(&lines[1], "total_loss") >= 3.0 * per_word);
    assert!(number(&lines[1], "total_loss") < 3.01 * per_word);
    assert!(!ran.stdout.contains("secretword") && lines[0].get("unknown").is_none());

    let text = std::fs::read_to_string(&manifest).unwrap();
    let record: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(record["documents"], 2);
    assert_eq!(record["words"], 5);
    assert_eq!(record["unknown_words"], 1);
    assert_eq!(record["epsilon"], lines[0]["epsilon"]);
    assert_eq!(record["loss_per_word"], lines[0]["loss_per_word"]);
    assert!(number(&record, "loss_per_word") >= number(&record, "loss_worst"));
    assert!(number(&record, "loss_per_word") >= number(&record, "loss_unknown"));
    assert_eq!(record["model"]["identity"].as_str().unwrap().len(), 64);
    assert!(!text.contains("secret") && !text.contains("film"));
}

#[test]
fn unknown_rules_that_leak_are_announced() {
    let keep = run(&[
        "privatize",
        "--unknown",
        "keep",
        "--epsilon",
        "30",
        "good zzyzx",
    ]);
    assert_eq!(keep.stdout, "Good zzyzx\n");
    assert!(keep.stderr.contains("NOT private"));
    let mask = run(&[
        "privatize",
        "--unknown",
        "mask",
        "--epsilon",
        "30",
        "--json",
        "good zzyzx",
    ]);
    let line: Value = serde_json::from_str(&mask.stdout).unwrap();
    assert_eq!(line["text"], "Good <unk>");
    assert_eq!(line["total_loss"], "infinite");
    assert_eq!(line["loss_per_word"], "infinite");
    assert!(mask.stderr.contains("warning") && mask.stderr.contains("without limit"));
    let folder = Folder::new();
    let manifest = folder.name("run.json");
    run(&[
        "privatize",
        "--unknown",
        "drop",
        "--manifest",
        &manifest,
        "good",
    ]);
    let record: Value = serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap();
    for loss in ["loss_unknown", "loss_per_word", "total_loss"] {
        assert_eq!(record[loss], "infinite", "{loss}");
    }
    assert_eq!(record["schema"], 2);
}

#[test]
fn wrong_calls_get_one_line_that_names_the_flag() {
    let usage = |args: &[&str], parts: &[&str]| {
        let all: Vec<&str> = ["privatize", "x"].iter().chain(args).copied().collect();
        assert_one_line(&run(&all), 2, parts);
    };
    usage(&["--epsilon", "0"], &["--epsilon", "positive", "0.5"]);
    usage(&["--epsilon", "-1"], &["--epsilon", "positive"]);
    usage(&["--epsilon", "NaN"], &["--epsilon", "positive"]);
    usage(&["--epsilon", "inf"], &["--epsilon", "positive"]);
    usage(&["--bound", "0"], &["--bound", "positive"]);
    usage(&["--keep", "1.2"], &["--keep", "between 0 and 1"]);
    usage(&["--keep", "0.0001"], &["--keep", "can be asked for"]);
    usage(
        &["--epsilon", "1", "--keep", "0.5"],
        &["--epsilon", "--keep", "cannot be used with"],
    );
    usage(&["--threads", "0"], &["--threads"]);
    usage(&["--layout", "none"], &["--layout", "keep", "words"]);
    usage(&["--input", "f.txt"], &["--input"]);
}

#[test]
fn text_that_looks_like_a_flag_is_not_repeated() {
    let ran = run(&["privatize", "--mysecret"]);
    assert_one_line(&ran, 2, &["goes after `--`"]);
    assert!(!ran.stderr.contains("mysecret"));
    assert_eq!(run(&["privatize", "--", "--mysecret"]).code, 0);
    let forgotten = run(&["mysecret text"]);
    assert_one_line(&forgotten, 2, &["brr privatize"]);
    assert!(!forgotten.stderr.contains("mysecret"));
}

#[test]
fn what_cannot_be_read_fails_in_one_line() {
    let folder = Folder::new();
    let missing = folder.name("missing.txt");
    assert_one_line(
        &run(&["privatize", "--input", &missing]),
        1,
        &["--input", "check the path"],
    );
    assert_one_line(
        &run(&["privatize", "-m", &missing, "x"]),
        1,
        &["--model", "check the path"],
    );
    let other = folder.file(
        "other.txt",
        b"hello, this is no model, but it is long enough to look like one",
    );
    assert_one_line(
        &run(&["privatize", "-m", &other, "x"]),
        1,
        &["other.txt", "not a brr model", "brr build"],
    );
    let mut newer = tiny_model();
    newer[8] = 7;
    let newer = folder.file("newer.brr", &newer);
    assert_one_line(
        &run(&["privatize", "-m", &newer, "x"]),
        1,
        &["version 7", "build the model again"],
    );
    let mut damaged = tiny_model();
    *damaged.last_mut().unwrap() ^= 1;
    let damaged = folder.file("damaged.brr", &damaged);
    assert_one_line(
        &run(&["privatize", "-m", &damaged, "x"]),
        1,
        &["damaged.brr", "checksum"],
    );
}

#[test]
fn output_files_appear_whole_and_are_not_overwritten() {
    let folder = Folder::new();
    let input = folder.file("in.txt", b"good film\n");
    let output = folder.name("out.txt");
    let args = [
        "privatize",
        "-q",
        "--epsilon",
        "30",
        "--input",
        &input,
        "--output",
        &output,
    ];
    assert_eq!(run(&args).code, 0);
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "good film\n");
    assert_one_line(&run(&args), 2, &["out.txt exists", "--force"]);
    assert_eq!(run(&[&args[..], &["--force"]].concat()).code, 0);
    let nowhere = folder.name("no/such/out.txt");
    assert_one_line(
        &run(&[
            "privatize",
            "-q",
            "--keep",
            "0.5",
            "x",
            "--output",
            &nowhere,
        ]),
        1,
        &["folder of the file given as --output"],
    );
    let full = run(&["privatize", "-q", "x", "--manifest", "/dev/full/x"]);
    assert_eq!(full.code, 1);
    assert_eq!(folder.listing(), ["in.txt", "out.txt"]);
}

#[test]
fn a_file_wants_a_budget_and_standard_output_says_which_it_has() {
    let folder = Folder::new();
    let text = folder.file("in.txt", b"good film\n");
    let table = folder.file("in.csv", b"id,body\n1,good film\n");
    let output = folder.name("out.txt");
    for args in [
        &["x", "--output", &output][..],
        &["--input", &text, "--output", &output],
        &["-q", "--input", &text, "--output", &output, "--resume"],
        &[
            "--input",
            &table,
            "-c",
            "body",
            "-o",
            &folder.name("out.csv"),
        ],
    ] {
        let ran = run(&[&["privatize"], args].concat());
        assert_one_line(&ran, 2, &["--output", "--epsilon", "--bound", "--keep"]);
    }
    assert_eq!(folder.listing(), ["in.csv", "in.txt"]);
    // Redirected, as here, or not.
    let streamed = run(&["privatize", "--input", &text]);
    assert_eq!(streamed.code, 0);
    assert!(streamed.stderr.contains("default"), "{}", streamed.stderr);
    for budget in [["--epsilon", "1"], ["--bound", "40"], ["--keep", "0.5"]] {
        let files = ["-q", "x", "--output", &output, "--force"];
        assert_eq!(run(&[&["privatize"], &budget[..], &files].concat()).code, 0);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_no_partial_output() {
    let folder = Folder::new();
    for signal in ["INT", "TERM"] {
        let output = folder.name("out.txt");
        let mut child = brr(&["privatize", "-q", "--keep", "0.5", "--output", &output])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"good film\n").unwrap();
        while folder.listing().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        crate::support::signal(&child, signal);
        assert!(!child.wait().unwrap().success());
        assert!(
            folder.listing().is_empty(),
            "left behind: {:?}",
            folder.listing()
        );
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let input = folder.file("in.txt", "the film was good\n".repeat(100_000).as_bytes());
    let mut child = brr(&["privatize", "-q", "-m", &model, "--input", &input])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// 32 MiB through a pipe, and the last 24 of them take no memory of their own. How much the
/// first take depends on the machine's pages and allocator. The kernel's count is approximate, and may
/// even fall a little.
#[cfg(target_os = "linux")]
#[test]
fn streaming_takes_constant_memory() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let mut child = brr(&["privatize", "-q", "-m", &model, "--threads", "2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let chunk = "the film was good and the rest was bad, or so they say\n".repeat(1000);
    let mut peak_after = |megabytes: usize| {
        for _ in 0..(megabytes << 20) / chunk.len() {
            stdin.write_all(chunk.as_bytes()).unwrap();
        }
        crate::support::peak_memory(&child)
    };
    let (early, late) = (peak_after(8), peak_after(24));
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(
        late.saturating_sub(early) < 12 << 10,
        "from {early} kB to {late} kB"
    );
}

#[test]
fn bytes_that_are_no_text_do_not_pass() {
    let ran = run_with(
        &["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"],
        b"good \xff\xfe\xfa film\n",
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("--encoding"), "{}", ran.stderr);
}

#[test]
fn a_manifest_that_cannot_be_written_is_told_before_the_work() {
    let ran = run(&[
        "privatize",
        "-q",
        "--manifest",
        "/nowhere/at/all.json",
        "the film",
    ]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    let folder = Folder::new();
    let input = folder.file("in.txt", b"the film\n");
    let output = folder.name("out.txt");
    let args = [
        "--input",
        &input,
        "--output",
        &output,
        "--keep",
        "0.4",
        "--manifest",
    ];
    let ran = run(&[&["privatize", "-q"][..], &args, &["/nowhere/at/all.json"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(folder.listing(), ["in.txt"]);
}
