//! The value of an option may be text that was given in the wrong place: no message repeats it.
//!
//! Values that a parser refuses are gone over for every option in `src/usage.rs`; here are those
//! that only the work itself finds wrong.

use crate::support::{Folder, run_with, tiny_model};

const CANARY: &str = "my secret is qzxj";

fn assert_silent(args: &[&str], input: &str) {
    let ran = run_with(args, input.as_bytes());
    assert_ne!(ran.code, 0, "{args:?}: {}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {}", ran.stderr);
    for part in ["secret", "qzxj"] {
        assert!(!ran.stderr.contains(part), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn files_that_are_not_there_are_called_by_their_option() {
    let folder = Folder::new();
    let nowhere = folder.name(CANARY) + "/x";
    let long = CANARY.repeat(100);
    let text = folder.file("in.txt", b"the film\n");
    for path in [CANARY, &nowhere, &long] {
        for args in [
            &["privatize", "--input", path][..],
            &["privatize", "--model", path, "x"],
            &["privatize", &format!("--input={path}")],
            &["estimate", "--keep", "0.5", "--input", path],
            &["estimate", "--manifest", path],
            &["estimate", "--keep", "0.5", "--prior", path],
            &["inspect", path],
            &["inspect", "--neighbors", "film", "--vectors", path],
            &["calibrate", "--model", path],
            &["explain", "film", "--epsilon", "1", "--model", path],
            &["explain", CANARY, "--epsilon", "1"],
            &["inspect", "--neighbors", CANARY],
            &["certify", path, "--epsilon", "1"],
            &["ratio", path, path, "--epsilon", "1"],
            &["evaluate", path],
            &["build", path, "-o", &folder.name("m.brr")],
            &["audit", "--epsilon", "1", "--model", path],
        ] {
            assert_silent(args, "");
        }
    }
    for path in [&nowhere, &long] {
        let budget = ["privatize", "-q", "--keep", "0.5"];
        for args in [
            &["x", "--output", path][..],
            &["--input", &text, "--output", path],
            &["x", "--manifest", path],
        ] {
            let ran = run_with(&[&budget[..], args].concat(), b"");
            assert_eq!(ran.code, 1, "{}", ran.stderr);
            assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
            assert!(ran.stderr.contains("given as --"), "{}", ran.stderr);
        }
    }
}

#[test]
fn columns_are_called_by_their_place() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let json = "{\"a\":\"the\"}\n";
    for (format, input) in [("csv", "a,b\nthe,film\n"), ("jsonl", json)] {
        let fixed = ["privatize", "-m", &model, "--format", format];
        for columns in [
            &["-c", CANARY][..],
            &["-c", "a", "-c", CANARY],
            &["-c", "my secret..qzxj"],
        ] {
            assert_silent(&[&fixed[..], columns].concat(), input);
        }
    }
    let optional = ["privatize", "-q", "-m", &model, "--format", "jsonl"];
    let optional = [&optional[..], &["-c", CANARY, "--optional-columns"]].concat();
    for more in [&[][..], &["-c", "a"]] {
        let ran = run_with(&[&optional[..], more].concat(), json.as_bytes());
        assert_eq!(ran.code, 0);
        assert!(ran.stderr.contains("warning") && !ran.stderr.contains("secret"));
    }
}
