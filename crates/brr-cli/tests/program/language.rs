//! `brr language`, and `brr privatize --context`.

use crate::support::{Folder, run, run_with};

const TEXT: &str = "Thank you very much for your help. I will see you again on Monday!";

#[test]
fn a_language_model_is_built_inspected_and_used() {
    let folder = Folder::new();
    let public = "Thank you very much. See you again on Monday.\n".repeat(50);
    let (text, file) = (
        folder.file("public.txt", public.as_bytes()),
        folder.name("own.lm"),
    );
    let build = [
        "language", "build", &text, "--output", &file, "--name", "mine",
    ];
    let built = run(&build);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(run(&build).code, 2, "an existing file stays");
    assert_eq!(run(&[&build[..], &["--force"]].concat()).code, 0);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);

    let shown = run(&["language", "inspect", &file]);
    assert!(
        shown.stdout.contains("name: mine\nwords: 32561\n"),
        "{}",
        shown.stdout
    );
    let after = run(&["language", "inspect", &file, "--after", "thank"]);
    assert!(
        after.stdout.lines().next().unwrap().ends_with(" you"),
        "{}",
        after.stdout
    );

    let bound = ["--mechanism", "brr", "--bound", "300", "--language", &file];
    let ran = run(&[&["privatize", "--case", "plain"], &bound[..], &[TEXT]].concat());
    assert_eq!(ran.stdout, TEXT.to_lowercase() + "\n", "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("a plausible text, not what was written"),
        "{}",
        ran.stderr
    );
    // Nobody knows what share of words this language model brings back.
    let keep = run(&["privatize", "--keep", "0.4", "--language", &file, TEXT]);
    assert_eq!(keep.code, 2);
    assert!(
        keep.stderr.contains("give an epsilon or a bound"),
        "{}",
        keep.stderr
    );
}

#[test]
fn the_manifest_names_the_language_model() {
    let folder = Folder::new();
    let (out, manifest) = (folder.name("out.txt"), folder.name("run.json"));
    let args = [
        "privatize",
        "--context",
        "--bound",
        "16",
        "-o",
        &out,
        "--manifest",
        &manifest,
    ];
    let ran = run_with(&args, format!("{TEXT}\n").repeat(5).as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let record = std::fs::read_to_string(&manifest).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    let shown = run(&["language", "inspect"]).stdout;
    let identity = shown
        .lines()
        .find_map(|line| line.strip_prefix("identity: "))
        .unwrap();
    assert_eq!(record["context"]["language"], identity);
    // Its words no longer have the mechanism's frequencies.
    let estimate = run(&["estimate", "--manifest", &manifest, "--input", &out]);
    assert_eq!(estimate.code, 1);
    assert!(
        estimate.stderr.contains("decoded with context"),
        "{}",
        estimate.stderr
    );
}

#[test]
fn share_of_words_is_that_of_the_text_that_leaves() {
    let loss = |args: &[&str]| {
        let ran = run(&[&["privatize", "--keep", "0.5", "--json", TEXT], args].concat());
        let line: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        line["bound"].as_f64().unwrap()
    };
    // Context brings words back, so the same share costs less.
    assert!(loss(&["--context"]) < loss(&["--no-context"]));
    // Text that is typed is decoded unless asked otherwise; what comes through a pipe is not.
    assert_eq!(loss(&[]), loss(&["--context"]));
    let piped = run_with(&["privatize", "--keep", "0.5"], TEXT.as_bytes());
    assert!(!piped.stderr.contains("decoded"), "{}", piped.stderr);
    // Text in clear is warned about, decoded or not.
    let clear = run(&["privatize", "--context", "--epsilon", "1e9", TEXT]);
    assert!(clear.stderr.contains("leaves in clear"), "{}", clear.stderr);
    let brr = ["--mechanism", "brr", "--no-context"];
    assert!(loss(&["--mechanism", "brr"]) < 0.9 * loss(&brr));
}

#[test]
fn files_that_do_not_fit_are_refused_with_the_way_out() {
    let folder = Folder::new();
    let junk = folder.file("junk.lm", b"not a language model");
    let ran = run(&["privatize", "--bound", "16", "--language", &junk, TEXT]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("brr language build"), "{}", ran.stderr);
    let model = folder.file("tiny.brr", &crate::support::tiny_model());
    let ran = run(&[
        "privatize",
        "--bound",
        "16",
        "--context",
        "--model",
        &model,
        TEXT,
    ]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("--language"), "{}", ran.stderr);
    let empty = folder.file("empty.txt", b"");
    let ran = run(&[
        "language",
        "build",
        &empty,
        "--output",
        &folder.name("x.lm"),
    ]);
    assert!(
        ran.code == 1 && ran.stderr.contains("no word"),
        "{}",
        ran.stderr
    );
}
