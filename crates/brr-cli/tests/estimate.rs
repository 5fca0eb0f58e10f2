//! `brr estimate`: from privatized text back to counts.

mod support;

use support::{Folder, assert_one_line, run, run_with, tiny_model};

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
    let model = folder.file("m.brr", &tiny_model());
    let (private, manifest) = (folder.name("private.txt"), folder.name("run.json"));
    for mechanism in ["brr", "exponential"] {
        let ran = run_with(
            &[
                "privatize",
                "-m",
                &model,
                "--mechanism",
                mechanism,
                "--epsilon",
                "0.6",
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
        // deviation is 38 with BRR, 15 with the exponential mechanism, and that of bad - 0.7 good
        // is 42 and 17: these bounds are 7.8 and 10 of them away, false alarms below 1e-13.
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
            "0.6",
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
