//! `brr decode`: from released text to a plausible original.

use crate::support::{Folder, Ran, assert_one_line, run, run_with};

const SENTENCES: [&str; 8] = [
    "thank you very much for your help",
    "we will see you again on monday",
    "the doctor was late this morning",
    "my sister lives in a small town",
    "this film was a waste of time",
    "please send me the final report today",
    "he never answered the second letter",
    "our train leaves at seven in the evening",
];

/// Each sentence so often, one to a line.
fn sample(times: usize) -> String {
    let lines = SENTENCES.map(|sentence| format!("{sentence}.\n").repeat(times));
    lines.concat()
}

/// A language model of texts like the sample.
fn language(folder: &Folder) -> String {
    let text = folder.file("public.txt", sample(30).as_bytes());
    let file = folder.name("own.lm");
    let ran = run(&["language", "build", &text, "--output", &file]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    file
}

/// Privatizes into `private` with a record, and succeeds.
fn release(folder: &Folder, text: &str, private: &str, more: &[&str]) -> String {
    let manifest = folder.name("run.json");
    let to = ["privatize", "--output", private, "--manifest", &manifest];
    let ran = run_with(
        &[&to[..], &["--force", "-q"], more].concat(),
        text.as_bytes(),
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    manifest
}

fn decode(manifest: &str, more: &[&str]) -> Ran {
    run(&[&["decode", "--manifest", manifest], more].concat())
}

/// The share of words that are those of the original.
fn same(original: &str, text: &str) -> f64 {
    let (a, b) = (original.split_whitespace(), text.split_whitespace());
    assert_eq!(a.clone().count(), b.clone().count());
    let words = a.clone().count() as f64;
    a.zip(b).filter(|(a, b)| a == b).count() as f64 / words
}

/// 495 words. The noise is not seeded: in six runs 0.16 to 0.41 of them stayed as drawn, and 0.93 or more were right
/// decoded. A standard deviation of the difference is below 0.03, so 0.3 is missed by chance with less than 1e-10.
#[test]
fn more_words_are_right_than_as_drawn() {
    let folder = Folder::new();
    let (language, private) = (language(&folder), folder.name("private.txt"));
    let text = sample(9);
    for (mechanism, bound) in [("brr", "60"), ("k-ary", "10"), ("tree", "11")] {
        let budget = ["--mechanism", mechanism, "--bound", bound];
        let manifest = release(&folder, &text, &private, &budget);
        let drawn = std::fs::read_to_string(&private).unwrap();
        let ran = decode(&manifest, &["--input", &private, "--language", &language]);
        assert_one_statement(&ran, mechanism);
        let (before, after) = (same(&text, &drawn), same(&text, &ran.stdout));
        assert!(after > before + 0.3, "{mechanism} {before} {after}");
        // The posteriors say about the same, and how sure they are.
        let json = ["--input", &private, "--language", &language, "--json", "-q"];
        let ran = decode(&manifest, &json);
        assert_eq!((ran.code, &*ran.stderr), (0, ""));
        let rows: Vec<serde_json::Value> = ran
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let texts: Vec<&str> = rows
            .iter()
            .map(|row| row["text"].as_str().unwrap())
            .collect();
        assert!(same(&text, &texts.join("\n")) > before + 0.3, "{mechanism}");
        for token in rows
            .iter()
            .flat_map(|row| row["tokens"].as_array().unwrap())
        {
            let p = |token: &serde_json::Value| token["posterior"].as_f64().unwrap();
            let others: Vec<f64> = token["others"].as_array().unwrap().iter().map(p).collect();
            assert_eq!(others.len(), 3);
            assert!(p(token) >= others[0] && others[0] >= others[2]);
            assert!(p(token) + others.iter().sum::<f64>() < 1.0001);
        }
    }
}

fn assert_one_statement(ran: &Ran, mechanism: &str) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let parts = [
        mechanism,
        "a guess",
        "not what was written",
        "no privacy is spent",
    ];
    assert!(
        parts.iter().all(|part| ran.stderr.contains(part)),
        "{}",
        ran.stderr
    );
}

/// At such a budget every word stays, and its most probable original is the word itself: what is written is what was
/// read, in every format that was written.
#[test]
fn files_keep_their_form() {
    let folder = Folder::new();
    let all = ["--mechanism", "k-ary", "--epsilon", "60"];
    let csv = "id,text,n\n1,\"thank you, very\nmuch!\",2\n2,see you again,3\n";
    let json = "{\"a\":1,\"text\":\"thank you\"}\n{\"a\":2,\"text\":\"see you\"}\n";
    let text = "thank you very much!\n\nsee  you\tagain. on monday\n";
    for (name, content, more) in [
        ("in.txt", text, &[][..]),
        ("in.csv", csv, &["-c", "text"]),
        ("in.jsonl", json, &["-c", "text"]),
        ("whole.txt", text, &["--document", "file"]),
    ] {
        let input = folder.file(name, content.as_bytes());
        for end in ["", ".gz"] {
            let private = folder.name(&format!("out-{name}{end}"));
            let decoded = folder.name(&format!("decoded-{name}"));
            let from = [&["--input", &input], more, &all].concat();
            let manifest = release(&folder, "", &private, &from);
            let ran = decode(&manifest, &["-i", &private, "-o", &decoded, "--force"]);
            assert_eq!(ran.code, 0, "{name}{end} {}", ran.stderr);
            assert_eq!(std::fs::read_to_string(&decoded).unwrap(), content);
            assert_one_line(
                &decode(&manifest, &["-qi", &private, "-o", &decoded]),
                2,
                &["--force"],
            );
        }
    }
    // Lines of JSON that the program wrote itself, through standard streams, and capitals.
    let private = folder.name("lines.json");
    let manifest = release(
        &folder,
        "see you\n",
        &private,
        &[&all[..], &["--json"]].concat(),
    );
    let lines = std::fs::read(&private).unwrap();
    let dashes = [
        "decode",
        "--manifest",
        &manifest,
        "-i",
        "-",
        "-o",
        "-",
        "--case",
        "sentence",
    ];
    let ran = run_with(&dashes, &lines);
    assert!(
        ran.stdout.contains("\"text\":\"See you\""),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[cfg(feature = "parquet")]
#[test]
fn folders_keep_their_files() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).unwrap();
    folder.file("in/a.txt", b"thank you\nsee you\n");
    folder.file("in/b.txt", b"on monday\n");
    let (from, private, to) = (
        folder.name("in"),
        folder.name("out"),
        folder.name("decoded"),
    );
    let ran = run(&[
        "privatize",
        &from,
        "--output-dir",
        &private,
        "--mechanism",
        "k-ary",
        "--epsilon",
        "60",
        "-q",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let manifest = folder.name("out/brr-manifest.json");
    let ran = decode(&manifest, &["-q", "--input", &private, "--output-dir", &to]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(read("decoded/a.txt"), "thank you\nsee you\n");
    assert_eq!(read("decoded/b.txt"), "on monday\n");
    assert_one_line(&decode(&manifest, &["-i", &private]), 2, &["--output-dir"]);
}

#[test]
fn public_words_are_those_of_the_very_list() {
    let folder = Folder::new();
    let private = folder.name("private.txt");
    let list = folder.file("own.txt", b"thank\nyou\n");
    let other = folder.file("other.txt", b"thank\n");
    let budget = ["--mechanism", "k-ary", "--bound", "3"];
    let text = "thank you very much\n";
    let manifest = release(
        &folder,
        text,
        &private,
        &[&budget[..], &["--public", &list]].concat(),
    );
    assert_one_line(&decode(&manifest, &["-i", &private]), 2, &["--list"]);
    let ran = decode(&manifest, &["-i", &private, "--list", &other]);
    assert_one_line(&ran, 1, &["other words were public", "--list"]);
    let ran = decode(&manifest, &["-i", &private, "--list", &list]);
    assert!(
        ran.stdout.starts_with("thank you "),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    // A built-in list is known by its name; so is the policy that it stands for.
    for (option, kept) in [("--public", "you"), ("--private", "thank")] {
        let under = [
            option,
            "function-words",
            "--mechanism",
            "exponential",
            "--epsilon",
            "0.02",
        ];
        let manifest = release(&folder, text, &private, &under);
        let ran = decode(&manifest, &["-i", &private]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(
            ran.stdout.split_whitespace().any(|word| word == kept),
            "{}",
            ran.stdout
        );
    }
    let manifest = release(&folder, text, &private, &budget);
    assert_one_line(
        &decode(&manifest, &["-i", &private, "--list", &list]),
        2,
        &["--list"],
    );
}

/// The manifest of another file, and one that was edited: what would be decoded by them would mean nothing.
#[test]
fn a_manifest_of_another_file_is_told() {
    let folder = Folder::new();
    let (private, other) = (folder.name("private.txt"), folder.name("other.txt"));
    let text = "thank you very much\n";
    release(
        &folder,
        text,
        &other,
        &["--mechanism", "k-ary", "--bound", "3"],
    );
    let theirs = folder.file(
        "theirs.json",
        &std::fs::read(folder.path("run.json")).unwrap(),
    );
    let manifest = release(
        &folder,
        text,
        &private,
        &["--mechanism", "k-ary", "--bound", "9"],
    );
    let warned = |ran: &Ran| {
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr.contains("not, byte for byte, what the run of")
    };
    assert!(!warned(&decode(&manifest, &["-i", &private])));
    assert!(warned(&decode(&theirs, &["-qi", &private])));
    assert!(warned(&decode(&theirs, &["-qi", &private, "--json"])));
    // Standard input too, which has been read by then.
    let bytes = std::fs::read(&private).unwrap();
    let from = |manifest: &str| run_with(&["decode", "--manifest", manifest], &bytes);
    assert!(!warned(&from(&manifest)));
    assert!(warned(&from(&theirs)));
    let estimate = |manifest: &str| {
        let few = ["--resamplings", "0", "--input", &private];
        run(&[&["estimate", "--manifest", manifest], &few[..]].concat())
    };
    assert!(!warned(&estimate(&manifest)));
    assert!(warned(&estimate(&theirs)));

    let mut record: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    record["epsilon"] = serde_json::json!(8.0);
    let edited = folder.file("edited.json", record.to_string().as_bytes());
    for ran in [decode(&edited, &["-i", &private]), estimate(&edited)] {
        assert_one_line(&ran, 1, &["edited.json", "contradicts itself"]);
    }
}

#[test]
fn what_cannot_be_decoded_is_refused_with_the_way_out() {
    let folder = Folder::new();
    let private = folder.name("private.txt");
    let text = "thank you secretword\n";
    let budget = ["--mechanism", "k-ary", "--bound", "9"];
    let manifest = release(
        &folder,
        text,
        &private,
        &[&budget[..], &["--context"]].concat(),
    );
    assert_one_line(
        &decode(&manifest, &["-i", &private]),
        1,
        &["decoded on the device", "--context"],
    );
    let manifest = release(&folder, text, &private, &budget);
    let record = std::fs::read_to_string(&manifest).unwrap();
    let cases: [(&[u8], &str); 5] = [
        (b"secretword", "no record"),
        (b"{}", "no record"),
        (
            &record.replace("k-ary", "madlib").into_bytes(),
            "a mechanism that this brr does not have",
        ),
        (
            &record
                .replace("\"codes\": \"", "\"codes\": \"0")
                .into_bytes(),
            "--model",
        ),
        (
            &record
                .replace("\"schema\": 2", "\"schema\": 99")
                .into_bytes(),
            "newer brr",
        ),
    ];
    for (content, part) in cases {
        let manifest = folder.file("bad.json", content);
        assert_one_line(
            &decode(&manifest, &["-i", &private]),
            1,
            &["bad.json", part],
        );
    }
    let none = folder.name("none.txt");
    assert_one_line(
        &decode(&manifest, &["-qi", &none]),
        1,
        &["--input", "check the path"],
    );
    let lm = folder.file("bad.lm", b"secretword");
    assert_one_line(&decode(&manifest, &["--language", &lm]), 1, &["bad.lm"]);
    assert_eq!(decode(&manifest, &["--others", "2"]).code, 2);
}

/// A mask is one token, as the unknown word was: what comes behind it stays in its place.
#[test]
fn a_mask_is_one_token() {
    let folder = Folder::new();
    let private = folder.name("private.txt");
    let budget = [
        "--mechanism",
        "k-ary",
        "--epsilon",
        "60",
        "--unknown",
        "mask",
    ];
    let manifest = release(&folder, "thank qwxzv, (qwxzv) you.\n", &private, &budget);
    assert_eq!(
        std::fs::read_to_string(&private).unwrap(),
        "thank <unk>, (<unk>) you.\n"
    );
    let ran = decode(&manifest, &["-q", "-i", &private, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(line["text"], "thank <unk>, (<unk>) you.");
    assert_eq!(line["tokens"].as_array().unwrap().len(), 4);
    assert_eq!(line["tokens"][3]["word"], "you");
}

/// Text that was given as an argument and written as JSON is read as what it is.
#[test]
fn a_line_of_json_is_read_by_its_record() {
    let folder = Folder::new();
    let (private, manifest) = (folder.name("p.jsonl"), folder.name("run.json"));
    let args = [
        "privatize",
        "thank you",
        "--json",
        "--no-context",
        "-q",
        "-o",
        &private,
    ];
    let how = [
        "--mechanism",
        "k-ary",
        "--epsilon",
        "60",
        "--manifest",
        &manifest,
    ];
    assert_eq!(run(&[&args[..], &how].concat()).code, 0);
    let ran = decode(&manifest, &["-q", "-i", &private, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let line: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(line["text"], "thank you");
}
