//! Runs that are cut off and go on.
//!
//! `scripts/test-faults` runs the same with many more interruptions.

use std::path::Path;
#[cfg(unix)]
use std::process::Child;
use std::process::Stdio;
use std::time::Duration;

use crate::support::corpora::{KINDS, assert_all_rows, in_words, options, write};
use crate::support::{Folder, assert_one_line, brr, run, tiny_model};
#[cfg(unix)]
use crate::support::{Ran, signal, wait_for_content};
use serde_json::Value;

struct Case {
    folder: Folder,
    kind: &'static str,
    args: Vec<String>,
    rows: usize,
}

impl Case {
    fn new(kind: &'static str, rows: usize) -> Case {
        let folder = Folder::new();
        let model = folder.file("m.brr", &tiny_model());
        let input = folder.name(&format!("in.{kind}"));
        let texts: Vec<String> = (0..rows).map(in_words).collect();
        write(kind, Path::new(&input), &texts);
        let output = folder.name(&format!("out.{kind}"));
        let fixed = [
            "privatize",
            "-q",
            "--epsilon",
            "30",
            "--checkpoint-seconds",
            "0",
        ];
        let mut args: Vec<String> = fixed.map(String::from).into();
        for arg in ["-m", &model, "--input", &input, "--output", &output] {
            args.push(arg.to_owned());
        }
        args.extend(options(kind).iter().map(|s| s.to_string()));
        Case {
            folder,
            kind,
            args,
            rows,
        }
    }

    fn with<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        self.args
            .iter()
            .map(String::as_str)
            .chain(more.iter().copied())
            .collect()
    }

    fn output(&self) -> std::path::PathBuf {
        self.folder.path(&format!("out.{}", self.kind))
    }

    /// Starts it and kills it after a while; whether it was still at work. Even a process that
    /// was killed may have done all of it.
    fn killed_after(&self, pause: Duration) -> bool {
        let manifest = self.folder.name("run.json");
        let args = self.with(&["--resume", "--manifest", &manifest]);
        let mut child = brr(&args).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(pause);
        // SIGKILL: nothing can be put in order.
        let _ = child.kill();
        let ended = child.wait().unwrap();
        assert!(
            matches!(ended.code(), None | Some(0)),
            "it failed by itself"
        );
        let complete = self.output().exists() && !self.checkpoint().exists();
        !ended.success() && !complete
    }

    /// Kills it where a checkpoint is there, and the output is not.
    fn killed_at_a_checkpoint(&self) {
        let manifest = self.folder.name("run.json");
        for _ in 0..100 {
            let args = self.with(&["--force", "--manifest", &manifest]);
            let mut child = brr(&args).stderr(Stdio::null()).spawn().unwrap();
            while !self.checkpoint().exists() && child.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = child.kill();
            child.wait().unwrap();
            if self.checkpoint().exists() && !self.output().exists() {
                return;
            }
            let _ = std::fs::remove_file(self.output());
            let _ = std::fs::remove_file(self.checkpoint());
        }
        panic!("it was always done before it could be killed");
    }

    /// Starts a run of this many rows and holds it (SIGSTOP) while it is at work: some of the output
    /// is there, and half of the input is left. None if it was too quick for that.
    #[cfg(unix)]
    fn held_at_work(kind: &'static str, rows: usize) -> Option<(Case, Child)> {
        let case = Case::new(kind, rows);
        let mut child = brr(&case.with(&[])).stderr(Stdio::piped()).spawn().unwrap();
        let partial = case.folder.path(&format!("out.{kind}.partial"));
        wait_for_content(&partial, &mut child);
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        signal(&child, "STOP");
        let state = std::fs::read(case.checkpoint()).ok();
        let state = state.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        let done = state.and_then(|state| state["counts"]["rows"].as_u64());
        if done.is_some_and(|done| done < rows as u64 / 2) {
            return Some((case, child));
        }
        let _ = child.kill();
        let _ = child.wait();
        None
    }

    fn checkpoint(&self) -> std::path::PathBuf {
        self.folder.path(&format!("out.{}.checkpoint", self.kind))
    }

    fn finish(&self) -> Value {
        let manifest = self.folder.name("run.json");
        let ran = run(&self.with(&["--resume", "--manifest", &manifest]));
        assert_eq!(ran.code, 0, "{}: {}", self.kind, ran.stderr);
        assert_all_rows(self.kind, &self.output(), self.rows);
        let mut left = self.folder.listing();
        // A kill while the manifest is written leaves its temporary file.
        left.retain(|name| !name.starts_with(".brr-"));
        let input = format!("in.{}", self.kind);
        let output = format!("out.{}", self.kind);
        assert_eq!(left, [input.as_str(), "m.brr", &output, "run.json"]);
        serde_json::from_slice(&std::fs::read(manifest).unwrap()).unwrap()
    }
}

/// A pause between two ends, other each time.
fn pause(random: &mut u64, longest: Duration) -> Duration {
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    longest.mul_f64((*random >> 40) as f64 / (1 << 24) as f64)
}

#[test]
fn no_row_is_lost_or_doubled_by_kills_at_random_moments() {
    let cycles: usize = std::env::var("BRR_KILLS").map_or(8, |n| n.parse().unwrap());
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let mut random = seed.unwrap().as_nanos() as u64;
    let (mut kills, mut finished, mut restarts) = (0, 0, 0);
    for (round, kind) in KINDS.iter().cycle().enumerate() {
        // Kills before the first checkpoint, or after the end, show nothing: there are more then.
        if kills >= cycles && restarts > 0 {
            break;
        }
        assert!(
            round < 10 * (cycles + 10),
            "{kills} kills, {restarts} restarts"
        );
        let case = Case::new(kind, 6000);
        let start = std::time::Instant::now();
        assert_eq!(run(&case.with(&[])).code, 0);
        let whole = start.elapsed();
        std::fs::remove_file(case.output()).unwrap();
        for _ in 0..4 {
            let killed = case.killed_after(pause(&mut random, whole));
            kills += usize::from(killed);
            if !killed {
                assert_all_rows(case.kind, &case.output(), case.rows);
                finished += 1;
                std::fs::remove_file(case.output()).unwrap();
                std::fs::remove_file(case.folder.path("run.json")).unwrap();
            }
        }
        restarts += case.finish()["restarts"].as_array().unwrap().len();
        finished += 1;
    }
    println!("{kills} kills, {restarts} restarts from a checkpoint, {finished} outputs whole");
}

#[test]
fn the_manifest_tells_where_a_run_went_on() {
    let case = Case::new("csv", 20_000);
    case.killed_at_a_checkpoint();
    let text = std::fs::read(case.checkpoint()).unwrap();
    let state: Value = serde_json::from_slice(&text).unwrap();
    let record = case.finish();
    let restarts = record["restarts"].as_array().unwrap();
    assert_eq!(
        restarts.last().unwrap()["after_rows"],
        state["counts"]["rows"]
    );
    assert_eq!(record["rows"], 20_000);
    assert_eq!(record["documents"], 20_000);
    assert_eq!(record["words"], 180_000);
}

/// Numbers of rows, until a run of that many can be caught at work: machines differ.
#[cfg(unix)]
fn more_and_more() -> impl Iterator<Item = usize> {
    (0..7).map(|doublings| 20_000 << doublings)
}

#[cfg(unix)]
#[test]
fn a_signal_ends_at_a_safe_point_and_says_how_to_go_on() {
    for kind in ["csv", "jsonl.zst", "txt.gz", "parquet"] {
        let stopped = |rows| {
            let (case, child) = Case::held_at_work(kind, rows)?;
            signal(&child, "TERM");
            signal(&child, "CONT");
            let ended = Ran::from(child.wait_with_output().unwrap());
            // It may be done before it hears the signal.
            (ended.code != 0).then_some((case, ended))
        };
        let (case, ended) = more_and_more().find_map(stopped).expect("it never stops");
        assert_one_line(&ended, 130, &["stopped", "safe in", ".partial", "--resume"]);
        let again = run(&case.with(&[]));
        assert_one_line(&again, 2, &["unfinished run", "--resume", "--force"]);
        case.finish();
    }
}

#[test]
fn only_the_same_run_goes_on() {
    let case = Case::new("csv", 20_000);
    case.killed_at_a_checkpoint();
    let other = case.with(&["--resume", "--layout", "words"]);
    assert_one_line(&run(&other), 2, &["--layout", "keep", "words", "--force"]);
    let other = case.with(&["--resume", "--column", "id"]);
    let refused = run(&other);
    assert_one_line(&refused, 2, &["differs", "--column", "--force"]);
    assert!(!refused.stderr.contains("body"), "{}", refused.stderr);
    let input = case.folder.path("in.csv");
    let longer = std::fs::OpenOptions::new().append(true).open(&input);
    std::io::Write::write_all(&mut longer.unwrap(), b"20000,more,n20000\r\n").unwrap();
    let changed = run(&case.with(&["--resume"]));
    assert_one_line(&changed, 2, &["input has changed", "--force"]);
    assert_eq!(run(&case.with(&["--force"])).code, 0);
    assert!(case.output().exists());
    assert_one_line(&run(&case.with(&["--resume"])), 2, &["exists already"]);
}

/// A program of before may have had other defaults, or known fewer settings.
#[test]
fn a_run_that_was_begun_under_other_defaults_does_not_go_on() {
    let case = Case::new("csv", 20_000);
    case.killed_at_a_checkpoint();
    let text = std::fs::read(case.checkpoint()).unwrap();
    let state: Value = serde_json::from_slice(&text).unwrap();
    let resolved = [
        ("mechanism", "exponential"),
        ("layout", "keep"),
        ("unknown", "random"),
        ("manifest schema", "2"),
    ];
    for (setting, value) in resolved {
        assert_eq!(state["settings"][setting], value);
    }
    for (setting, named) in [
        ("epsilon", "epsilon"),
        ("mechanism", "--mechanism"),
        ("layout", "--layout"),
        ("unknown", "--unknown"),
        ("model", "--model"),
    ] {
        let mut other = state.clone();
        other["settings"][setting] = "other".into();
        let older = other["settings"].as_object_mut().unwrap();
        older.remove("manifest schema");
        std::fs::write(case.checkpoint(), other.to_string()).unwrap();
        let refused = run(&case.with(&["--resume"]));
        let parts = [named, "manifest schema (none then, 2 now)", "--force"];
        assert_one_line(&refused, 2, &parts);
    }
}

#[cfg(unix)]
#[test]
fn two_runs_do_not_share_an_output() {
    let held = |rows| Case::held_at_work("txt", rows);
    let (case, mut first) = more_and_more().find_map(held).expect("it is always done");
    let second = run(&case.with(&["--force"]));
    let _ = first.kill();
    let _ = first.wait();
    assert_one_line(&second, 2, &["another brr", "out.txt.partial"]);
    case.finish_without_manifest();
}

#[cfg(unix)]
impl Case {
    fn finish_without_manifest(&self) {
        assert_eq!(run(&self.with(&["--resume"])).code, 0);
        assert_all_rows(self.kind, &self.output(), self.rows);
    }
}
