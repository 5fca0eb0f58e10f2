//! Public and private words, and capital letters, as users of the program ask for them.

use std::collections::BTreeSet;

use crate::support::{Folder, assert_one_line, run, run_with};
use brr::Model;
use serde_json::Value;

const TEXT: &str =
    "The DOCTOR told Susan that she was not well. I am sorry, it was late in CHICAGO.";
const TREE: [&str; 5] = ["privatize", "--mechanism", "tree", "--epsilon", "0.8"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    TREE.iter().chain(more).copied().collect()
}

/// The words of an output, with what it says of case folded.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn listed(name: &str, model: &Model) -> BTreeSet<String> {
    let list = brr_english::list(name, model).unwrap();
    let words = list.words().iter().map(|&id| model.vocabulary().word(id));
    words.map(str::to_owned).collect()
}

#[test]
fn public_words_stay_and_private_ones_become_private_words() {
    let model = brr_english::model().unwrap();
    let public = listed("function-words", &model);
    let names = listed("names+places", &model);
    for context in ["--context", "--no-context"] {
        let ran = run(&with(&[context, "--public", "function-words", TEXT]));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        for (before, after) in words(TEXT).iter().zip(words(&ran.stdout)) {
            match public.contains(before) {
                true => assert_eq!(*before, after),
                false => assert!(!public.contains(&after), "{after}"),
            }
        }
        assert!(
            ran.stderr
                .contains("list function-words (220 words, identity "),
            "{}",
            ran.stderr
        );
        assert!(
            ran.stderr.contains("public words: 10 of 17 (58.8 %)"),
            "{}",
            ran.stderr
        );
        let ran = run(&with(&[
            context,
            "--private",
            "names",
            "--private",
            "places",
            TEXT,
        ]));
        for (before, after) in words(TEXT).iter().zip(words(&ran.stdout)) {
            match names.contains(before) {
                true => assert!(names.contains(&after), "{after}"),
                false => assert_eq!(*before, after),
            }
        }
        assert!(
            ran.stderr.contains("the list names+places ("),
            "{}",
            ran.stderr
        );
    }
}

/// Capital letters are the default for text that is typed alone, and come from the output.
#[test]
fn capital_letters_are_for_typed_text() {
    let public = with(&[
        "--private",
        "names",
        "the film was good. WAS IT? i think so",
    ]);
    let ran = run(&public);
    assert_eq!(ran.stdout, "The film was good. Was it? I think so\n");
    let plain = run(&[&public[..], &["--case", "plain"]].concat());
    assert_eq!(plain.stdout, "the film was good. was it? i think so\n");
    let text = b"THE film was good. Was IT? I think so\n";
    let piped = run_with(&with(&["--private", "names"]), text);
    assert_eq!(piped.stdout, plain.stdout);
    let sentences = run_with(&with(&["--private", "names", "--case", "sentence"]), text);
    assert_eq!(sentences.stdout, ran.stdout);
}

#[test]
fn a_list_from_a_file_holds_words_of_the_model_alone() {
    let folder = Folder::new();
    let good = folder.file("mine.txt", b"# ours\nDoctor\nsusan\n");
    let ran = run(&with(&["--private", &good, "the doctor is in"]));
    assert!(
        ran.stderr.contains("the list mine.txt (2 words, identity "),
        "{}",
        ran.stderr
    );
    assert!(
        ["The doctor is in\n", "The Susan is in\n"].contains(&&*ran.stdout),
        "{}",
        ran.stdout
    );
    let bad = folder.file("bad.txt", b"doctor\nQzxjsecret\n");
    for option in ["--public", "--private"] {
        let ran = run(&with(&[option, &bad, "x"]));
        assert_one_line(&ran, 2, &[option, "line 2"]);
        assert!(
            !ran.stderr.to_lowercase().contains("qzxj"),
            "{}",
            ran.stderr
        );
        let ran = run(&with(&[option, "my qzxj text", "x"]));
        assert_one_line(&ran, 2, &[option, "function-words, names, places"]);
        assert!(!ran.stderr.contains("qzxj"), "{}", ran.stderr);
    }
    let both = run(&with(&["--public", &good, "--private", &good, "x"]));
    assert_one_line(&both, 2, &["--public", "--private"]);
}

#[test]
fn a_file_s_record_names_the_list_and_a_run_goes_on_with_the_same_one_alone() {
    let folder = Folder::new();
    let input = folder.file("in.txt", format!("{TEXT}\n{TEXT}\n").as_bytes());
    let (output, manifest) = (folder.name("out.txt"), folder.name("run.json"));
    let files = [
        "--input",
        &input,
        "--output",
        &output,
        "--manifest",
        &manifest,
    ];
    let ran = run(&[&with(&["--public", "function-words"])[..], &files].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("public words: 20 of 34 (58.8 %)"),
        "{}",
        ran.stderr
    );
    let record: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    let policy = &record["policy"];
    assert_eq!(policy["private"], "all-but");
    assert_eq!(policy["list"], "function-words");
    assert_eq!(policy["identity"].as_str().unwrap().len(), 64);
    assert_eq!(
        (&policy["public_tokens"], &record["words"]),
        (&20.into(), &34.into())
    );
    let (total, each) = (&record["total_loss"], &record["loss_per_word"]);
    assert!((total.as_f64().unwrap() - 14.0 * each.as_f64().unwrap()).abs() < 1e-6);
    assert!(
        record["adjacency"]
            .as_str()
            .unwrap()
            .contains("public list function-words")
    );
    // No case of the input, in files as everywhere.
    let text = std::fs::read_to_string(&output).unwrap();
    assert!(!text.contains(|c: char| c.is_uppercase()), "{text}");
    // Frequencies of private words cannot be told from this record.
    let estimated = run(&["estimate", "-i", &output, "--manifest", &manifest]);
    assert_ne!(estimated.code, 0);
    assert!(
        estimated.stderr.contains("some words were public"),
        "{}",
        estimated.stderr
    );

    // An unfinished run: its checkpoint says which list it had.
    let rows: String = (0..200).map(|i| format!("{TEXT} {}\n", i % 7)).collect();
    let bad = folder.file(
        "bad.jsonl",
        format!(
            "{}{{",
            rows.lines()
                .map(|line| format!("{{\"t\": \"{line}\"}}\n"))
                .collect::<String>()
        )
        .as_bytes(),
    );
    let output = folder.name("bad-out.jsonl");
    let files = [
        "--input",
        &bad,
        "--output",
        &output,
        "-c",
        "t",
        "--checkpoint-seconds",
        "0",
        "--resume",
    ];
    let first = run(&[&with(&["--public", "function-words"])[..], &files].concat());
    assert_eq!(first.code, 1, "{}", first.stderr);
    for other in [&["--private", "names"][..], &["--public", "names"], &[]] {
        let ran = run(&[&with(other)[..], &files].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("--public or --private"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_json_line_tells_what_was_public() {
    let ran = run(&with(&[
        "-q",
        "--json",
        "--public",
        "function-words",
        "the doctor of the town",
    ]));
    let line: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(line["policy"]["public_tokens"], 3);
    let each = line["loss_per_word"].as_f64().unwrap();
    assert!((line["total_loss"].as_f64().unwrap() - 2.0 * each).abs() < 1e-9);
}

/// A share is one of the private words that leave, where that was measured, and else one of the draws; what is said is the
/// same on standard error and in the manifest.
#[test]
fn a_share_under_a_policy_says_what_it_is_of() {
    let folder = Folder::new();
    let own = folder.file("few.txt", b"doctor\nnurse\nlawyer\nteacher\n");
    let manifest = folder.name("run.json");
    for (list, context, words) in [
        (
            ["--public", "function-words"],
            "--context",
            "private words stay as they are",
        ),
        (
            ["--public", "function-words"],
            "--no-context",
            "private words stay as they are",
        ),
        (
            ["--private", "names+places"],
            "--context",
            "private words stay as they are",
        ),
        (
            ["--private", &own],
            "--context",
            "private words are drawn as they were, and decoded text may keep more",
        ),
    ] {
        let mut args = vec!["privatize", "--mechanism", "tree", "--keep", "0.5", context];
        args.extend(list);
        args.extend([
            "--manifest",
            &manifest,
            "--force",
            "the doctor saw Susan in Paris",
        ]);
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.stderr.contains(&format!("% of {words}\n")),
            "{}",
            ran.stderr
        );
        let record = std::fs::read_to_string(&manifest).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        assert_eq!(record["kept_words"], words);
        let share = record["expected_keep"].as_f64().unwrap();
        assert!(share > 0.44 && share <= 0.5, "{share}");
    }
}

/// A word that could only become itself is not private.
#[test]
fn a_list_of_one_private_word_is_refused() {
    let folder = Folder::new();
    let one = folder.file("one.txt", b"doctor\n");
    let ran = run(&[
        "privatize",
        "--mechanism",
        "tree",
        "--epsilon",
        "0.8",
        "--private",
        &one,
        "the doctor",
    ]);
    assert_one_line(&ran, 1, &["single word", "two"]);
    assert_eq!(ran.stdout, "");
}

/// The default mechanism is certified on the private words, and the loss is of the same size as without a
/// policy: not the textbook's, which is about half as large again.
#[test]
fn the_default_mechanism_is_certified_on_the_private_words() {
    let folder = Folder::new();
    let list = folder.file(
        "few.txt",
        b"doctor\nnurse\nlawyer\nteacher\nfarmer\nbaker\n",
    );
    let ran = run(&[
        "privatize",
        "--keep",
        "0.6",
        "--private",
        &list,
        "the doctor",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("about 60 % of private words are drawn"),
        "{}",
        ran.stderr
    );
    let refused = run(&[
        "privatize",
        "--mechanism",
        "brr",
        "--keep",
        "0.6",
        "--private",
        &list,
        "x",
    ]);
    assert_one_line(&refused, 2, &["--keep", "private words"]);
}
