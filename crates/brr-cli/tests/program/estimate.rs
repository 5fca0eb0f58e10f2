//! `brr estimate`: from privatized text back to counts.

use crate::support::{Folder, assert_one_line, run, run_with, tiny_model};
use brr::Model;
use brr::parts::tree::WordTree;

/// Four hundred documents in which "good" is three times as frequent as "bad".
fn text() -> String {
    "the film was good, good! the film was good; bad\n".repeat(400)
}

/// The lines of the table as (word, estimate, low, high, raw count).
fn table(stdout: &str) -> Vec<(String, f64, f64, f64, u64)> {
    let mut lines = stdout.lines();
    assert_eq!(lines.next(), Some("word\testimate\tlow\thigh\traw_count"));
    let row = |line: &str| {
        let f: Vec<&str> = line.split('\t').collect();
        let number = |i: usize| f[i].parse().unwrap();
        (
            f[0].to_owned(),
            number(1),
            number(2),
            number(3),
            f[4].parse().unwrap(),
        )
    };
    lines.map(row).collect()
}

#[test]
fn a_run_and_its_manifest_give_the_counts_back() {
    let folder = Folder::new();
    let tree = WordTree::new(3, vec![0, 1, 3, 4, 6]).unwrap();
    let model = Model::new(tiny_model()).unwrap().with_tree(&tree).unwrap();
    let model = folder.file("m.brr", model.bytes());
    let (private, manifest) = (folder.name("private.txt"), folder.name("run.json"));
    for (mechanism, epsilon) in [
        ("brr", "0.6"),
        ("exponential", "0.6"),
        ("tree", "1.5"),
        ("k-ary", "3"),
    ] {
        let ran = run_with(
            &[
                "privatize",
                "-m",
                &model,
                "--mechanism",
                mechanism,
                "--epsilon",
                epsilon,
                "--output",
                &private,
                "--force",
                "--manifest",
                &manifest,
            ],
            text().as_bytes(),
        );
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let by_manifest = [
            "estimate",
            "-m",
            &model,
            "--manifest",
            &manifest,
            "--prior",
            "uniform",
            "--top",
            "5",
            "--input",
            &private,
        ];
        let ran = run(&by_manifest);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains(mechanism), "{}", ran.stderr);
        let rows = table(&ran.stdout);
        assert!(rows.windows(2).all(|pair| pair[0].1 >= pair[1].1), "sorted");
        let of = |word: &str| rows.iter().find(|r| r.0 == word).cloned();
        let (good, bad) = (of("good").unwrap(), of("bad"));
        // 1,200 and 400 of 4,000. The noise of the run is not seeded. An estimate's standard
        // deviation is 38 with BRR, 15 with the exponential mechanism and with tree response, 21 with k-ary response, and that of
        // bad - 0.7 good is 42, 17, 24 and 24: these bounds are 7.8 of them away or more, false alarms below 1e-13.
        assert!((900.0..1500.0).contains(&good.1), "{rows:?}");
        assert!(good.2 <= good.1 && good.1 <= good.3, "{rows:?}");
        assert!(bad.is_none_or(|bad| bad.1 < 0.7 * good.1), "{rows:?}");
        assert_eq!(rows.iter().map(|r| r.4).sum::<u64>(), 4000);
        // The same options written out, and the top as JSON.
        let given = [
            "estimate",
            "-m",
            &model,
            "--mechanism",
            mechanism,
            "--epsilon",
            epsilon,
            "--unknown-share",
            "0",
            "--prior",
            "uniform",
            "--top",
            "2",
            "--json",
            "-i",
            &private,
        ];
        let ran = run(&given);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(json["words"].as_array().unwrap().len(), 2);
        let first = json["words"][0]["count"]["estimate"].as_f64().unwrap();
        assert!((first - rows[0].1).abs() < 1.0, "{first} and {rows:?}");
        assert_eq!(json["documents"].as_u64(), Some(400));
    }
}

#[test]
fn public_counts_may_say_what_is_believed_beforehand() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let prior = folder.file("prior.tsv", b"bad\t1000\nnot-a-word\t5\nfilm 1\n");
    let args = [
        "estimate",
        "-m",
        &model,
        "--epsilon",
        "0.05",
        "--prior",
        &prior,
        "--top",
        "1",
    ];
    // So much noise that the belief decides.
    let ran = run_with(&args, b"the film was good bad\n");
    assert_eq!(
        table(&ran.stdout)[0].0,
        "bad",
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn wrong_input_is_told_without_repeating_it() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let bad_prior = folder.file("prior.tsv", b"film\t3\nsecretword\n");
    let no_prior = folder.file("none.tsv", b"film\t0\n");
    let not_json = folder.file("run.json", b"secretword");
    let other = folder.file(
        "other.json",
        br#"{"model":{"identity":"00"},"mechanism":"brr"}"#,
    );
    let quiet = ["estimate", "-m", &model];
    let cases: [(&[&str], &str, &[&str]); 6] = [
        (&["--prior", &bad_prior], "film", &["prior.tsv: line 2"]),
        (
            &["--prior", &no_prior],
            "film",
            &["none.tsv", "--prior rank"],
        ),
        (
            &["--manifest", &not_json],
            "film",
            &["run.json", "--manifest"],
        ),
        (
            &["--manifest", &other],
            "film",
            &["another model", "--model"],
        ),
        (&[], "", &["no words"]),
        (
            &[],
            "film secretword secretword other",
            &["not in the model"],
        ),
    ];
    for (more, input, parts) in cases {
        let ran = run_with(&[&quiet[..], more].concat(), input.as_bytes());
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
        assert!(
            parts.iter().all(|part| last.contains(part)),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("secretword"), "{}", ran.stderr);
    }
    let both = ["estimate", "--manifest", "x", "--epsilon", "1"];
    assert_one_line(&run(&both), 2, &["--manifest", "--epsilon"]);
}

/// In every form that `privatize` writes, the private texts are counted and nothing else: not
/// the header, not the columns that were copied. (So little noise that words stay.)
#[test]
fn what_privatize_wrote_is_read_by_its_manifest() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let csv = "film,body\nfilm film,\"the good\nfilm\"\nbad,was bad\n";
    let tsv = "1;the \"good film\n2;was bad\n";
    let jsonl = "{\"n\": \"film\", \"body\": \"the good film\"}\n{\"n\": \"film\"}\n{\"body\": \"was bad\"}\n";
    let json = "[{\"n\": \"film\", \"body\": \"the good film\"}, {\"body\": \"was bad\"}]\n";
    let text = "the good film\nwas bad\n";
    let cases: [(&str, &str, &[&str]); 6] = [
        ("in.csv", csv, &["-c", "body"]),
        (
            "in.tsv",
            tsv,
            &["-c", "2", "--no-header", "--delimiter", ";", "--no-quotes"],
        ),
        ("in.jsonl", jsonl, &["-c", "body", "--optional-columns"]),
        ("in.json", json, &["-c", "body"]),
        ("in.txt", text, &[]),
        ("in.txt", text, &["--json"]),
    ];
    for (i, (name, content, options)) in cases.iter().enumerate() {
        let input = folder.file(name, content.as_bytes());
        let end = if options.contains(&"--json") {
            "jsonl"
        } else {
            &name[3..]
        };
        let private = folder.name(&format!("{i}.{end}.gz"));
        let manifest = folder.name(&format!("{i}.json"));
        let privatize = [
            "privatize",
            "-m",
            &model,
            "--epsilon",
            "20",
            "-i",
            &input,
            "-o",
            &private,
            "--manifest",
            &manifest,
        ];
        let ran = run(&[&privatize[..], options].concat());
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        let ran = run(&[
            "estimate",
            "-m",
            &model,
            "--manifest",
            &manifest,
            "-i",
            &private,
            "--json",
        ]);
        assert_eq!(ran.code, 0, "{name}: {}", ran.stderr);
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(json["words_received"], 5, "{name}: {}", ran.stdout);
        let film = json["words"]
            .as_array()
            .unwrap()
            .iter()
            .find(|w| w["word"] == "film");
        assert_eq!(film.unwrap()["raw_count"], 1, "{name}: {}", ran.stdout);
    }
}

#[test]
fn columns_are_named_where_no_manifest_does() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let private = folder.file("private.csv", b"n,body\nfilm,the good film\nfilm,was bad\n");
    let quiet = [
        "estimate",
        "-m",
        &model,
        "--epsilon",
        "20",
        "--json",
        "-i",
        &private,
    ];
    let ran = run(&[&quiet[..], &["-c", "body"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["words_received"], 5, "{}", ran.stderr);
    let ran = run(&quiet);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("--column"), "{}", ran.stderr);
}

/// A folder is read by its record, as one or file by file, also where one name ends another.
#[test]
fn a_folder_is_read_by_its_record() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    std::fs::create_dir_all(folder.name("in/more")).unwrap();
    folder.file("in/a.csv", b"n,body\nfilm,the good film\nfilm,was bad\n");
    folder.file("in/more/a.csv", b"body,n\nodd the,film\n");
    let out = folder.name("out");
    let ran = run(&[
        "privatize",
        "-m",
        &model,
        "--epsilon",
        "20",
        "-c",
        "body",
        "--output-dir",
        &out,
        &folder.name("in"),
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let record = folder.name("out/brr-manifest.json");
    let json = |input: &str| {
        let by_record = ["estimate", "-m", &model, "--manifest", &record, "--json"];
        let ran = run(&[&by_record[..], &["-i", input]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    let (all, one) = (json(&out), json(&folder.name("out/more/a.csv")));
    assert_eq!(
        (&all["words_received"], &all["unknown_words"]["high"]),
        (&7.into(), &1.0.into())
    );
    assert_eq!(
        (&one["words_received"], &one["unknown_words"]["high"]),
        (&2.into(), &1.0.into())
    );
    let other = folder.file("other.csv", b"body\nfilm\n");
    let quiet = ["estimate", "-m", &model, "-i"];
    let ran = run(&[&quiet[..], &[&other, "--manifest", &record]].concat());
    assert_one_line(&ran, 1, &["brr-manifest.json", "none of them", "--input"]);
    let ran = run(&[&quiet[..], &[&out, "--epsilon", "20"]].concat());
    assert_one_line(&ran, 2, &["--manifest", "brr-manifest.json"]);
}

/// What `privatize` wrote is read, however small the epsilon: few distributions are near 0, and it is one of them.
#[test]
fn manifests_of_tiny_budgets_are_read() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let (private, manifest) = (folder.name("private.txt"), folder.name("run.json"));
    for (mechanism, epsilon) in [
        ("brr", "1e-6"),
        ("brr", "1e-9"),
        ("k-ary", "1e-6"),
        ("k-ary", "1e-9"),
        ("exponential", "1e-4"),
        ("exponential", "1e-9"),
    ] {
        let to = [
            "-o",
            &private,
            "--force",
            "--manifest",
            &manifest,
            "-m",
            &model,
        ];
        let how = ["privatize", "--mechanism", mechanism, "--epsilon", epsilon];
        let ran = run_with(&[&how[..], &to].concat(), text().as_bytes());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let by = [
            "estimate",
            "-m",
            &model,
            "-i",
            &private,
            "--resamplings",
            "0",
        ];
        let ran = run(&[&by[..], &["--manifest", &manifest]].concat());
        assert_eq!(ran.code, 0, "{mechanism} {epsilon}: {}", ran.stderr);
        assert!(!ran.stderr.contains("epsilon 0.0"), "{}", ran.stderr);
    }
}

#[test]
fn messages_of_a_reader_name_options_that_it_has() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let csv = folder.file("p.csv", b"id,t\n1,the film\n");
    let args = ["estimate", "-m", &model, "--epsilon", "1", "-i", &csv];
    for column in [&[][..], &["-c", "2"], &["-c", "nope"]] {
        let ran = run(&[&args[..], column].concat());
        assert_one_line(&ran, 2, &["--column", "--manifest"]);
        for lacking in ["--header", "--delimiter", "to be privatized"] {
            assert!(!ran.stderr.contains(lacking), "{}", ran.stderr);
        }
    }
    let latin = folder.file("latin.txt", b"caf\xe9\n");
    let ran = run(&["estimate", "-m", &model, "--epsilon", "1", "-i", &latin]);
    assert_one_line(&ran, 1, &["not UTF-8", "row 1"]);
    assert!(!ran.stderr.contains("--encoding"), "{}", ran.stderr);
}
