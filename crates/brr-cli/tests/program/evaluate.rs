//! `brr evaluate`, from vectors and texts to a report.

use crate::support::{Folder, Ran, assert_one_line, run};
use serde_json::Value;

/// 60 words in 6 groups of like vectors, in a language of its own.
fn word(group: usize, i: usize) -> String {
    let syllable = |n: usize| ["ba", "du", "fi", "go", "ke", "la", "mo", "nu", "pe", "ri"][n % 10];
    format!("{}{}{}", syllable(group), syllable(i), syllable(group + i))
}

fn vectors() -> String {
    let mut noise = 1u64;
    let mut lines = String::new();
    for i in 0..10 {
        for group in 0..6 {
            lines.push_str(&word(group, i));
            for d in 0..8 {
                noise = noise
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let center = if d == group { 3.0 } else { 0.0 };
                lines.push_str(&format!(
                    " {:.4}",
                    center + (noise >> 40) as f64 / (1 << 24) as f64
                ));
            }
            lines.push('\n');
        }
    }
    lines
}

/// Texts of side 0 use words of groups 0 to 2, of side 1 of groups 3 to 5, of both a little.
fn texts(rows: usize) -> String {
    let mut csv = String::from("id,said,side\n");
    for i in 0..rows {
        let side = i % 2;
        let at = |k: usize| word(side * 3 + (i * 7 + k) % 3, (i * 3 + k * k) % 10);
        let other = word((1 - side) * 3 + i % 3, i % 10);
        csv.push_str(&format!(
            "{i},\"{} {}, {} {} {other}.\",s{side}\n",
            at(0),
            at(1),
            at(2),
            at(3)
        ));
    }
    csv
}

const DEFINITION: &str = r#"
name = "test"
trials = 2
bounds = [2, 12]
[data]
format = "csv"
path = "texts.csv"
text = "said"
label = "side"
[words]
vectors = "vectors.txt"
[classifier]
epochs = 20
[[mechanism]]
name = "brr"
bits = 64
[[mechanism]]
name = "exponential"
bits = 64
[[mechanism]]
name = "madlib"
[[mechanism]]
name = "tree"
[[mechanism]]
name = "k-ary"
documents = 40
"#;

fn ready(definition: &str) -> Folder {
    let folder = Folder::new();
    folder.file("vectors.txt", vectors().as_bytes());
    folder.file("texts.csv", texts(240).as_bytes());
    folder.file("e.toml", definition.as_bytes());
    folder
}

fn evaluate(folder: &Folder, more: &[&str]) -> Ran {
    let (definition, out) = (folder.name("e.toml"), folder.name("out"));
    let mut args = vec!["evaluate", definition.as_str(), "--output", out.as_str()];
    args.extend(more);
    run(&args)
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path("out").join(name)).unwrap()
}

/// Results without what may differ from run to run.
fn results(folder: &Folder) -> Vec<Value> {
    let mut all: Value = serde_json::from_str(&read(folder, "results.json")).unwrap();
    let outcomes = all["outcomes"].as_array_mut().unwrap();
    outcomes
        .iter_mut()
        .for_each(|o| o["microseconds_per_word"] = Value::Null);
    outcomes.clone()
}

#[test]
fn from_texts_to_a_report_whatever_happens_on_the_way() {
    let folder = ready(DEFINITION);
    let ran = evaluate(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let first = results(&folder);
    // Two bounds of five mechanisms, baselines for both sizes, the control.
    assert_eq!(first.len(), 10 + 2 + 1);
    let find = |label: &str, above: f64| {
        let fits = |o: &&Value| o["label"] == label && o["bound"].as_f64().unwrap_or(99.0) > above;
        first.iter().find(fits).unwrap()["accuracy"]["value"]
            .as_f64()
            .unwrap()
    };
    assert!(find("original text", 0.0) > 0.95);
    assert!(
        find("exponential 64", 5.0) > 0.9,
        "light noise leaves what is learned"
    );
    assert!(find("exponential 64", 0.0) < find("exponential 64", 5.0));
    assert_eq!(read(&folder, "results.csv").lines().count(), 14);
    // The attacker who reads context has a row for every privatized condition, and gains with the bound.
    for label in ["brr 64", "exponential 64", "madlib", "tree", "k-ary"] {
        let of = first.iter().filter(|o| o["label"] == label);
        let named: Vec<f64> = of
            .map(|o| o["context"]["strong"][0]["context"].as_f64().unwrap())
            .collect();
        assert!(named.len() == 2 && named[0] < named[1], "{label} {named:?}");
    }
    assert!(first.iter().all(|o| o["context"]["weak"].is_null()));
    let head = read(&folder, "results.csv");
    assert!(head.contains(",attacked_words,context,context_content,"));
    let report = read(&folder, "report.html");
    for part in [
        "<svg",
        "Membership inference",
        "Attacker with context names",
        "k-ary",
        "40 training texts",
        "seed 1",
    ] {
        assert!(report.contains(part), "{part}");
    }
    assert!(read(&folder, "accuracy.svg").starts_with("<svg xmlns"));

    // A run that died in the middle of a line, continued with one thread.
    let journal = read(&folder, "trials.jsonl");
    let cut = journal.len() / 2;
    std::fs::write(folder.path("out").join("trials.jsonl"), &journal[..cut]).unwrap();
    let ran = evaluate(&folder, &["--threads", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("unfinished"), "{}", ran.stderr);
    assert_eq!(results(&folder), first);
    let kept: Vec<String> = journal[..cut].lines().map(str::to_owned).collect();
    let now = read(&folder, "trials.jsonl");
    assert!(
        kept[..kept.len() - 1].iter().all(|line| now.contains(line)),
        "finished trials stay as they were"
    );

    // Another mechanism is added; what is done is not done again.
    let more = DEFINITION.replace("bounds = [2, 12]", "bounds = [2, 12, 30]");
    folder.file("e.toml", more.as_bytes());
    assert_eq!(evaluate(&folder, &[]).code, 0);
    assert!(read(&folder, "trials.jsonl").starts_with(&now));
}

/// A table without a header, budgets that nobody had to guess, and a recommendation in the end.
#[test]
fn budgets_are_chosen_where_mechanisms_are_of_use() {
    let own = DEFINITION
        .replace(
            "bounds = [2, 12]",
            "budgets = \"auto\"\nprivatize_test = true",
        )
        .replace("text = \"said\"", "text = 2\nheader = false")
        .replace("label = \"side\"", "label = 3")
        .replace(
            "name = \"madlib\"",
            "name = \"brr\"\nbits = 64\nepsilons = [0.4]",
        );
    let folder = ready(&own);
    let bare: String = texts(240)
        .lines()
        .skip(1)
        .map(|l| format!("{l}\n"))
        .collect();
    folder.file("texts.csv", bare.as_bytes());
    let ran = evaluate(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("private test"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("training texts. To start with"),
        "{}",
        ran.stdout
    );
    assert!(ran.stderr.contains("fewer than 5 trials"), "{}", ran.stderr);
    let all = results(&folder);
    for label in ["brr 64", "exponential 64", "tree", "k-ary"] {
        let of = all
            .iter()
            .filter(|o| o["label"] == label && o["bound"].is_number());
        let kept: Vec<f64> = of
            .filter_map(|o| o["recovered"]["as_is"].as_f64())
            .collect();
        assert!(kept.len() >= 4, "{label}: {kept:?}");
        assert!(
            kept[0] < 0.4 && kept[kept.len() - 1] > 0.7,
            "{label}: {kept:?}"
        );
    }
    for o in &all {
        let end = |name: &str| o["accuracy"][name].as_f64().unwrap();
        assert!(
            end("low") <= end("value") && end("value") <= end("high"),
            "{o}"
        );
    }
    assert!(read(&folder, "report.html").contains("each part is a quarter of all texts"));
}

/// Decoded text is computed from the draws of k-ary and exponential response, which are attacked in its
/// place; BRR decodes codes, and has no attacker.
#[test]
fn the_draws_behind_decoded_text_are_attacked() {
    let own = DEFINITION
        .replace("trials = 2", "trials = 1")
        .replace("bounds = [2, 12]", "bounds = [5]")
        .replace(
            "vectors = \"vectors.txt\"",
            "model = \"own.brr\"\nlanguage = \"own.lm\"",
        )
        .replace("bits = 64", "context = true")
        .replace(
            "[[mechanism]]\nname = \"madlib\"",
            "[[mechanism]]\nname = \"exponential\"",
        )
        .replace("documents = 40", "context = true");
    let folder = ready(&own);
    let vectors = folder.name("vectors.txt");
    let (model, language) = (folder.name("own.brr"), folder.name("own.lm"));
    let built = run(&["build", &vectors, "--bits", "64", "--output", &model]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let public = folder.file("public.txt", texts(240).as_bytes());
    let made = run(&["language", "build", &public, "-m", &model, "-o", &language]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let ran = evaluate(&folder, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let all = results(&folder);
    let named = |label: &str| {
        let found = all.iter().find(|o| o["label"] == label).expect(label);
        found["context"]["strong"][0]["context"].as_f64()
    };
    let label = |name: &str| {
        let labels = all.iter().map(|o| o["label"].as_str().unwrap());
        let mut of = labels.filter(|l| l.starts_with(name) && l.ends_with("decoded"));
        of.next()
            .unwrap_or_else(|| panic!("no {name} in {all:?}"))
            .to_owned()
    };
    assert_eq!(named(&label("brr")), None);
    assert!(named(&label("k-ary")).unwrap() > 0.1);
    // The same draws with another seed, decoded or not.
    let decoded = named(&label("exponential")).unwrap();
    let plain = all.iter().map(|o| o["label"].as_str().unwrap());
    let mut plain = plain.filter(|l| l.starts_with("exponential") && !l.ends_with("decoded"));
    let plain = named(plain.next_back().unwrap()).unwrap();
    assert!((decoded - plain).abs() < 0.15, "{decoded} {plain}");
    assert!(read(&folder, "report.html").contains("upper bound for it"));
}

#[test]
fn mistakes_are_told_in_a_line() {
    let check = |from: &str, to: &str, parts: &[&str]| {
        let folder = ready(&DEFINITION.replacen(from, to, 1));
        assert_one_line(&evaluate(&folder, &[]), 1, parts);
    };
    check(
        "text = \"said\"",
        "text = \"says\"",
        &["texts.csv", "\"says\"", "column"],
    );
    check(
        "label = \"side\"",
        "label = \"id\"",
        &["\"id\"", "right column"],
    );
    check("name = \"madlib\"", "name = \"mad\"", &["\"mad\"", "k-ary"]);
    check("bounds = [2, 12]", "bounds = []", &["no budgets"]);
    check("bounds = [2, 12]", "bounds = [-1]", &["-1", "positive"]);
    check("bounds = [2, 12]", "bounts = [2]", &["bounts"]);
    check("trials = 2", "trials = 0", &["trials"]);
    check("vectors = \"vectors.txt\"", "", &["madlib", "vectors"]);
    check(
        "path = \"texts.csv\"",
        "path = \"none.csv\"",
        &["none.csv", "check the path"],
    );
    check("bits = 64", "bits = 100", &["bits = 100", "multiple of 64"]);
    let with_texts = |texts: &str, parts: &[&str]| {
        let folder = ready(DEFINITION);
        folder.file("texts.csv", texts.as_bytes());
        assert_one_line(&evaluate(&folder, &[]), 1, parts);
    };
    with_texts(
        "id,said,side\n1,secretword,a\n2,secretword,a\n",
        &["same label"],
    );
    with_texts("id,said,side\n", &["no texts"]);
    with_texts(
        "id,said,side\n1,secretword,a\n2,,b\n3,x,a\n4,x,b\n",
        &["text 2 is empty", "skip_empty"],
    );
    with_texts(
        "id,said,side\n1,secretword,a\n2,secretword,b,c\n",
        &["line 3", "columns"],
    );
    let folder = ready(DEFINITION);
    std::fs::create_dir(folder.path("out")).unwrap();
    folder.file("out/trials.jsonl", b"not a journal\n");
    assert_one_line(
        &evaluate(&folder, &[]),
        1,
        &["trials.jsonl", "another --output"],
    );
    assert_eq!(read(&folder, "trials.jsonl"), "not a journal\n");
}
