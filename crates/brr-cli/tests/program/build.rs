//! `brr build` and `brr certify` as a user meets them.

use crate::support::corpora::pack;
use crate::support::{Folder, assert_one_line, build_small, run, small_vectors};
use serde_json::Value;

fn build(folder: &Folder, name: &str, more: &[&str]) -> crate::support::Ran {
    build_small(folder, 120, name, more)
}

#[test]
fn vectors_become_a_model_that_privatizes() {
    let folder = Folder::new();
    let similarity = folder.file("sim.txt", b"waa wab 9\nwaa wbc 2\nwab wcd 1\nwba wbb 8\n");
    let ran = build(
        &folder,
        "m.brr",
        &[
            "--licence",
            "CC0",
            "--name",
            "small",
            "--similarity",
            &similarity,
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in [
        "took 120 words",
        "retention",
        "closest codes",
        "1 certificates",
    ] {
        assert!(ran.stderr.contains(part), "{part:?} in {}", ran.stderr);
    }
    let model = folder.name("m.brr");
    let facts: Value = serde_json::from_str(&run(&["inspect", &model, "--json"]).stdout).unwrap();
    assert_eq!(facts["words"], 120);
    assert_eq!(facts["duplicate_codes"], 0);
    assert_eq!(facts["meta"]["licence"], "CC0");
    assert_eq!(facts["meta"]["vectors-sha256"].as_str().unwrap().len(), 64);
    assert!(facts["meta"]["quality.retention.sim"].is_string());
    assert!(facts["calibration"].as_array().unwrap().len() > 10);
    for mechanism in ["brr", "exponential"] {
        let args = [
            "privatize",
            "-q",
            "-m",
            &model,
            "--mechanism",
            mechanism,
            "--epsilon",
            "0.5",
            "--case",
            "plain",
            "waa wab, wac",
        ];
        let out = run(&args).stdout;
        let words = out.trim_end().replacen(',', "", 1);
        let words: Vec<&str> = words.split(' ').collect();
        let is_models = |word: &&str| word.len() == 3 && word.starts_with('w');
        assert!(words.len() == 3 && words.iter().all(is_models), "{out}");
    }
}

#[test]
fn listed_words_stay_out_and_the_model_says_how_many() {
    let folder = Folder::new();
    let first = folder.file("rude.txt", b"# not here\nWAB\n\nwac # nor this\nabsent\n");
    let second = folder.file("more.txt", "wac\nwad\r\n".as_bytes());
    let ran = build(&folder, "m.brr", &["--exclude", &first, &second]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("took 117 words"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("2  different words by rude.txt"),
        "{}",
        ran.stderr
    );
    let model = folder.name("m.brr");
    let facts: Value = serde_json::from_str(&run(&["inspect", &model, "--json"]).stdout).unwrap();
    // The lists' names, and not where they lay.
    assert_eq!(
        facts["meta"]["excluded-words"],
        "2 by rude.txt, 1 by more.txt"
    );
    let export = folder.name("parts");
    assert_eq!(run(&["inspect", &model, "--export", &export]).code, 0);
    let words = std::fs::read_to_string(folder.path("parts").join("words.txt")).unwrap();
    let words: Vec<&str> = words.lines().collect();
    assert_eq!(words.len(), 117);
    assert!(["wab", "wac", "wad"].iter().all(|w| !words.contains(w)));
    assert!(words.contains(&"waa"));

    let plain = build(&folder, "plain.brr", &[]);
    assert_eq!(plain.code, 0);
    let inspect = ["inspect", &folder.name("plain.brr"), "--json"].map(String::from);
    let facts = run(&inspect.each_ref().map(String::as_str)).stdout;
    assert!(!facts.contains("excluded-words"));

    let missing = folder.name("none.txt");
    let ran = build(&folder, "never.brr", &["--exclude", &missing]);
    assert_one_line(&ran, 1, &["--exclude", "check the path"]);
    assert!(!folder.path("never.brr").exists());
}

#[test]
fn same_seed_same_bytes_on_any_number_of_threads() {
    let folder = Folder::new();
    build(&folder, "a.brr", &["--threads", "1"]);
    build(&folder, "b.brr", &["--threads", "3"]);
    build(&folder, "c.brr", &["--threads", "1", "--seed", "2"]);
    let read = |name| std::fs::read(folder.path(name)).unwrap();
    assert!(read("a.brr") == read("b.brr"), "threads show in the model");
    assert!(
        read("a.brr") != read("c.brr"),
        "the seed does not show in the model"
    );
}

#[test]
fn neighbours_side_by_side() {
    let folder = Folder::new();
    build(&folder, "m.brr", &[]);
    let (model, vectors) = (folder.name("m.brr"), folder.name("v.txt"));
    let ran = run(&[
        "inspect",
        &model,
        "--neighbors",
        "waa",
        "--vectors",
        &vectors,
        "--json",
    ]);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(list[0]["codes"].as_array().unwrap().len(), 10);
    assert_eq!(list[0]["vectors"].as_array().unwrap().len(), 10);
    assert!(
        run(&[
            "inspect",
            &model,
            "--neighbors",
            "waa",
            "--vectors",
            &vectors
        ])
        .stdout
        .contains("cosine")
    );
}

#[test]
fn what_cannot_be_built_fails_in_one_line_and_leaves_nothing() {
    let folder = Folder::new();
    let (empty, image) = (
        folder.file("empty.txt", b""),
        folder.file("image.txt", b"\x89PNG\r\n\x1a\n123456"),
    );
    let numbers = folder.file("numbers.txt", b"1 0.5 0.25\n2 0.5 0.75\n");
    let vectors = folder.file("v.txt", small_vectors(50).as_bytes());
    let model = folder.name("m.brr");
    let with =
        |vectors: &str, more: &[&str]| run(&[&["build", vectors, "-o", &model], more].concat());
    assert_one_line(&with(&empty, &[]), 1, &["empty.txt", "empty"]);
    assert_one_line(&with(&image, &[]), 1, &["image.txt", "PNG"]);
    assert_one_line(&with(&numbers, &[]), 1, &["numbers.txt"]);
    assert_one_line(&with(&folder.name("none.txt"), &[]), 1, &["VECTORS"]);
    assert_one_line(
        &with(&vectors, &["--bits", "100"]),
        2,
        &["--bits", "multiple of 64"],
    );
    assert_one_line(&with(&vectors, &["--words", "0"]), 2, &["--words"]);
    assert_one_line(
        &with(&vectors, &["--binarizer", "magic"]),
        2,
        &["--binarizer", "itq"],
    );
    assert_eq!(
        folder.listing(),
        ["empty.txt", "image.txt", "numbers.txt", "v.txt"]
    );
    std::fs::write(&model, b"mine").unwrap();
    assert_one_line(
        &with(&vectors, &["--bits", "64"]),
        2,
        &["m.brr exists", "--force"],
    );
    assert_eq!(std::fs::read(&model).unwrap(), b"mine");
}

/// The real thing: a file system of a few kilobytes. Needs the right to mount.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_half_model() {
    let folder = Folder::new();
    let vectors = folder.file("v.txt", small_vectors(2000).as_bytes());
    let disk = folder.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mount = |args: &[&str]| {
        std::process::Command::new("mount")
            .args(args)
            .arg(&disk)
            .status()
    };
    let mounted = mount(&["-t", "tmpfs", "-o", "size=16k", "none"]);
    if !mounted.is_ok_and(|status| status.success()) {
        eprintln!("no right to mount here: the test with a full disk was not made");
        return;
    }
    let model = folder.name("disk/m.brr");
    let ran = run(&[
        "build",
        &vectors,
        "-o",
        &model,
        "--bits",
        "64",
        "--no-certificates",
        "--binarizer",
        "hyperplane",
    ]);
    let left: Vec<_> = std::fs::read_dir(&disk).unwrap().collect();
    let _ = std::process::Command::new("umount").arg(&disk).status();
    assert_one_line(&ran, 1, &["--output", "space"]);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn certificates_are_stored_used_and_verified() {
    let folder = Folder::new();
    build(&folder, "m.brr", &[]);
    let model = folder.name("m.brr");
    let ran = run(&["certify", &model, "--epsilon", "0.8", "--json"]);
    let certificate: Value = serde_json::from_str(&ran.stdout).unwrap();
    let epsilon = certificate["epsilon"].as_f64().unwrap();
    assert!(epsilon <= 0.8 && epsilon > 0.7, "{epsilon}");
    let weights = certificate["weights"].as_array().unwrap();
    assert_eq!(weights.len(), 65);
    assert!(
        weights
            .iter()
            .all(|w| w.as_str().unwrap().parse::<u64>().unwrap() > 0)
    );
    assert_eq!(
        certificate["worst_pair"]["words"].as_array().unwrap().len(),
        2
    );
    let verified = run(&["certify", &model, "--verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    assert!(verified.stderr.contains("2 certificates"));
    let args = [
        "privatize",
        "-m",
        &model,
        "--mechanism",
        "exponential",
        "--epsilon",
        "0.8",
        "waa",
    ];
    assert!(run(&args).stderr.contains(&format!("{epsilon:.4}")));
}

#[test]
fn a_certificate_of_other_codes_is_refused() {
    let folder = Folder::new();
    build(&folder, "a.brr", &["--seed", "1"]);
    build(&folder, "b.brr", &["--seed", "2"]);
    let open = |name| {
        let model = brr::Model::open(folder.path(name)).unwrap();
        model.check(1, &|_| {}).unwrap();
        model
    };
    let mixed = open("a.brr").with_certificates(open("b.brr").certificates());
    assert!(mixed.err().unwrap().to_string().contains("other codes"));
    let built_in = run(&["certify", "--epsilon", "0.1"]);
    assert_one_line(&built_in, 2, &["--output"]);
}

#[test]
fn a_model_says_how_its_language_is_written() {
    let folder = Folder::new();
    let ran = build(&folder, "fr.brr", &["--language", "fr"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let french = folder.name("fr.brr");
    let facts: Value = serde_json::from_str(&run(&["inspect", &french, "--json"]).stdout).unwrap();
    assert_eq!(facts["language"]["code"], "fr");
    assert_eq!(facts["language"]["words"], "spaces");
    let text = run(&["inspect", &french]).stdout;
    assert!(text.contains("French (fr), script Latn"), "{text}");
    // An elision is a token of its own, in this language alone.
    let tokens = |model: &str| {
        let ran = run(&[
            "privatize",
            "-q",
            "-m",
            model,
            "--epsilon",
            "1",
            "--layout",
            "words",
            "d'waa",
        ]);
        ran.stdout.split_whitespace().count()
    };
    assert_eq!(tokens(&french), 2);
    assert_eq!(build(&folder, "en.brr", &["--language", "en"]).code, 0);
    assert_eq!(build(&folder, "none.brr", &[]).code, 0);
    let (english, none) = (folder.name("en.brr"), folder.name("none.brr"));
    assert_eq!(
        std::fs::read(&english).unwrap(),
        std::fs::read(&none).unwrap()
    );
    assert_eq!(tokens(&english), 1);
    let facts: Value = serde_json::from_str(&run(&["inspect", &english, "--json"]).stdout).unwrap();
    assert!(facts["language"].is_null());
}

#[test]
fn a_package_of_spacy_becomes_a_model() {
    let folder = Folder::new();
    let wheel = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../brr-build/tests/fixtures/packages/tiny_core_news_md-1.0.0-py3-none-any.whl"
    );
    let model = folder.name("m.brr");
    let arguments = ["build", wheel, "-o", &model, "--bits", "64", "--force"];
    let own = run(&arguments);
    assert_eq!(own.code, 0, "{}", own.stderr);
    let expected = [
        "rows of spaCy, took 9 words",
        "6  has the vector of another word",
    ];
    assert!(
        expected.iter().all(|part| own.stderr.contains(part)),
        "{}",
        own.stderr
    );
    let shared = run(&[&arguments[..], &["--shared-vectors"]].concat());
    assert!(shared.stderr.contains("took 15 words"), "{}", shared.stderr);
    let facts: Value = serde_json::from_str(&run(&["inspect", &model, "--json"]).stdout).unwrap();
    assert_eq!(facts["meta"]["vectors-sha256"].as_str().unwrap().len(), 64);
    // Whoever has such a model may have its vectors.
    let madlib = [
        "calibrate",
        &model,
        "--mechanism",
        "madlib",
        "--vectors",
        wheel,
    ];
    let ran = run(&madlib);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let other = run(&[&arguments[..], &["--format", "navec"]].concat());
    assert_one_line(&other, 1, &["not navec", "leave the format out"]);
}

#[test]
fn a_language_without_a_table_is_refused() {
    let folder = Folder::new();
    let ran = build(&folder, "m.brr", &["--language", "klingon"]);
    assert_one_line(&ran, 2, &["--language", "fr"]);
    assert!(!ran.stderr.contains("klingon"), "{}", ran.stderr);
    let bad = b"orthography 1\nlanguage xx Mine\nwords sometimes\n";
    let bad = folder.file("bad.txt", bad);
    let ran = build(&folder, "m.brr", &["--language", &bad]);
    assert_one_line(&ran, 1, &["line 3"]);
    let lines =
        "orthography 1\nlanguage xx Mine\nscript Latn\nwords spaces\nfold plain\nform canonical\n";
    let mine = folder.file("mine.txt", format!("{lines}elision w' waa\n").as_bytes());
    let ran = build(&folder, "m.brr", &["--language", &mine]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// What is there of a compressed file is taken if that is asked for, but for the row in which it was cut.
#[test]
fn a_file_that_was_cut_is_taken_only_as_such() {
    let folder = Folder::new();
    let whole = small_vectors(200);
    let packed = pack("gz", whole.as_bytes());
    let cut = folder.file("cut.txt.gz", &packed[..packed.len() / 2]);
    let model = folder.name("m.brr");
    let args = [
        "build",
        &cut,
        "-o",
        &model,
        "--bits",
        "64",
        "--no-certificates",
        "--no-tree",
    ];
    assert_one_line(&run(&args), 1, &["cut short", "--partial"]);
    let ran = run(&[&args[..], &["--partial"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let facts: Value = serde_json::from_str(&run(&["inspect", &model, "--json"]).stdout).unwrap();
    let words = facts["words"].as_u64().unwrap();
    assert!((20..200).contains(&words), "{words}");
    // Plain text that ends within a number cannot be told from one that ends without a line end.
    let plain = folder.file("plain.txt", whole.trim_end().as_bytes());
    let ran = run(&[&["build", &plain], &args[2..], &["--force"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("no line end"), "{}", ran.stderr);
    let ended = folder.file("ended.txt", whole.as_bytes());
    let ran = run(&[&["build", &ended], &args[2..], &["--force"]].concat());
    assert!(!ran.stderr.contains("no line end"), "{}", ran.stderr);
}
