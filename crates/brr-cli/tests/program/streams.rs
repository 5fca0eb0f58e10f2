//! `-` is standard input and output wherever a file can be named; where it cannot be, one line says so.

use crate::support::{
    Folder, assert_one_line, build_small, run, run_with, small_vectors, tiny_model,
};
use serde_json::Value;

const SAME: [&str; 6] = ["privatize", "-q", "--mechanism", "brr", "--epsilon", "30"];

#[test]
fn a_hyphen_alone_is_standard_input() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let text = folder.file("in.txt", b"the film\n");
    let with = |args: &[&str], input: &[u8]| {
        let ran = run_with(args, input);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        ran
    };
    // Text.
    let ran = with(&[&SAME[..], &["-m", &model, "-"]].concat(), b"the film\n");
    assert_eq!(ran.stdout, "the film\n");
    // A model, for several verbs.
    let by_stream = [&SAME[..], &["-m", "-", "-i", &text]].concat();
    assert_eq!(with(&by_stream, &tiny_model()).stdout, "the film\n");
    for args in [
        &["inspect", "-"][..],
        &["explain", "film", "-m", "-", "--epsilon", "1"],
        &["ratio", "-", &model, "--epsilon", "1"],
        &[
            "calibrate",
            "-",
            "--words",
            "5",
            "--draws",
            "5",
            "--bounds",
            "9",
        ],
    ] {
        with(args, &tiny_model());
    }
    // Lists of words, a manifest, and a prior.
    let public = [&SAME[..], &["-m", &model, "-i", &text, "--public", "-"]].concat();
    assert_eq!(with(&public, b"the\n").stdout, "the film\n");
    let (private, record) = (folder.name("private.txt"), folder.name("run.json"));
    let to = [
        "-m",
        &model,
        "-i",
        &text,
        "-o",
        &private,
        "--manifest",
        &record,
    ];
    with(&[&SAME[..], &to].concat(), b"");
    let manifest = std::fs::read(&record).unwrap();
    let estimate = ["estimate", "-m", &model, "-i", &private, "--manifest"];
    with(&[&estimate[..], &["-"]].concat(), &manifest);
    with(
        &[&estimate[..], &[&record, "--prior", "-"]].concat(),
        b"the\t3\nfilm\t1\n",
    );
    let by_stream = ["estimate", "-m", &model, "-i", "-", "--manifest", &record];
    with(&by_stream, b"the film\n");
}

#[test]
fn vectors_and_what_goes_with_them_come_from_standard_input() {
    let folder = Folder::new();
    let vectors = small_vectors(60);
    let model = folder.name("m.brr");
    let args = [
        "build",
        "-",
        "-o",
        &model,
        "--bits",
        "64",
        "--no-certificates",
        "--no-tree",
    ];
    let ran = run_with(&args, vectors.as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let facts: Value = serde_json::from_str(&run(&["inspect", &model, "--json"]).stdout).unwrap();
    assert_eq!(facts["meta"]["vectors-file"], "standard input");
    assert!(facts["meta"]["vectors-sha256"].is_string());
    let near = ["inspect", &model, "--neighbors", "waa", "--vectors", "-"];
    assert!(
        run_with(&near, vectors.as_bytes())
            .stdout
            .contains("cosine")
    );
    let more = ["--exclude", "-", "--force"];
    let file = folder.file("v.txt", vectors.as_bytes());
    let ran = run_with(&[&["build", &file], &args[2..], &more].concat(), b"waa\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("excluded"), "{}", ran.stderr);
    let lm = folder.name("own.lm");
    let args = ["language", "build", "-", "-m", &model, "-o", &lm];
    let ran = run_with(&args, b"wab wac wad\nwac wab\n");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // What is wrong with it is said of standard input, not of a copy.
    let bad = run_with(&["build", "-", "-o", &folder.name("n.brr")], b"the\nfilm\n");
    assert_eq!(bad.code, 1);
    assert!(bad.stderr.contains("standard input"), "{}", bad.stderr);
    assert!(!bad.stderr.contains("/standard input"), "{}", bad.stderr);
}

#[test]
fn standard_output_takes_what_is_one_file() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let out = folder.name("out.txt");
    let args = ["-m", &model, "the film", "-o", &out, "--manifest", "-"];
    let ran = run(&[&SAME[..], &args].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let record: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(record["words"], 2);
    let page = [
        "calibrate",
        &model,
        "--words",
        "5",
        "--draws",
        "5",
        "--bounds",
        "9",
        "--html",
        "-",
    ];
    let page = run(&page);
    assert_eq!(page.code, 0, "{}", page.stderr);
    assert!(page.stdout.starts_with("<!") && page.stdout.trim_end().ends_with("</html>"));
    assert!(!std::path::Path::new("-").exists());
}

#[test]
fn two_names_for_one_stream_and_folders_are_refused_in_a_line() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let text = folder.file("in.txt", b"the film\n");
    let out = folder.name("out.txt");
    let refused = |args: &[&str], parts: &[&str]| {
        assert_one_line(&run_with(args, b"the film\n"), 2, parts);
    };
    refused(
        &["inspect", &model, "--export", "-"],
        &["--export", "folder"],
    );
    refused(&["evaluate", "x.toml", "-o", "-"], &["--output", "folder"]);
    let same = |more: &[&'static str]| [&SAME[..], more].concat();
    refused(&same(&["--manifest", "-"]), &["--manifest", "--output"]);
    refused(
        &same(&["x", "--output-dir", "-"]),
        &["--output-dir", "folder"],
    );
    refused(
        &same(&["-", "--output-dir", "d"]),
        &["--output-dir", "standard input"],
    );
    let args = [&SAME[..], &["-m", &model, "--public", "-"]].concat();
    assert_one_line(&run_with(&args, b"the\n"), 2, &["standard input", "once"]);
    let args = ["-m", "-", "--public", "-", "-i", &text, "-o", &out];
    let ran = run_with(&[&SAME[..], &args].concat(), &tiny_model());
    assert_one_line(&ran, 2, &["standard input", "once"]);
    assert_eq!(folder.listing(), ["in.txt", "m.brr"]);
}

#[test]
fn a_record_takes_nobodys_place() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let text = folder.file("in.txt", b"the film\n");
    let (out, place) = (folder.name("out.txt"), folder.name("folder"));
    std::fs::create_dir(&place).unwrap();
    for input in [&["-i", text.as_str()][..], &["the film"]] {
        for (record, told) in [(&place, "is a folder"), (&out, "is the output")] {
            let to = ["-m", &model, "-o", &out, "--manifest", record, "--force"];
            let ran = run(&[&SAME[..], input, &to].concat());
            assert_one_line(&ran, 2, &[told]);
            assert_eq!(folder.listing(), ["folder", "in.txt", "m.brr"]);
        }
    }
}

/// Every number that an option takes has a range, and the option says it.
#[test]
fn numbers_beyond_their_range_are_refused_by_their_option() {
    for (verb, option, value) in [
        ("estimate", "--top", "0"),
        ("estimate", "--resamplings", "-1"),
        ("estimate", "--seed", "-1"),
        ("decode", "--seed", "x"),
        ("build", "--words", "0"),
        ("inspect", "--count", "0"),
        ("privatize", "--checkpoint-seconds", "-1"),
    ] {
        let parts = [option, "must be a whole number from"];
        assert_one_line(&run(&[verb, option, value]), 2, &parts);
    }
}

#[test]
fn epsilon_is_never_written_as_zero() {
    let folder = Folder::new();
    assert_eq!(build_small(&folder, 60, "m.brr", &[]).code, 0);
    let model = folder.name("m.brr");
    let copy = folder.name("c.brr");
    for args in [
        &["certify", &model, "--epsilon", "1e-9", "-o", &copy][..],
        &["ratio", &model, &model, "--epsilon", "1e-9"],
        &[
            "calibrate",
            &model,
            "--bounds",
            "1e-6",
            "--words",
            "5",
            "--draws",
            "5",
        ],
    ] {
        let ran = run(args);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
        assert!(ran.stdout.contains("e-"), "{args:?}: {}", ran.stdout);
        let after = ran.stdout.split("epsilon ").skip(1);
        for number in after.filter_map(|rest| rest.split_whitespace().next()) {
            // A whole 0 is one: weights that are all the same tell nothing.
            let rounded = number.contains('.') && number.parse() == Ok(0.0);
            assert!(!rounded, "{args:?}: {}", ran.stdout);
        }
    }
    let ran = run(&[
        "privatize",
        "waa",
        "-m",
        &model,
        "--mechanism",
        "tree",
        "--epsilon",
        "0.001",
    ]);
    assert!(ran.stderr.contains("epsilon 0.0010"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("asked for"), "{}", ran.stderr);
}
