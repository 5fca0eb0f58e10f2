//! Running the built program.
#![allow(dead_code)] // each test uses its part

pub mod corpora;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use brr::parts::calibration::simulate;
use brr::parts::certify::certify_ladder;
use brr::parts::codes::{CodeBits, CodeBlocks, CodeRows, to_blocks};
use brr::parts::distances::code_distances;
use brr::parts::model::ModelParts;

/// The program.
pub fn brr(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brr"));
    command.args(args);
    command
}

/// What it printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

pub fn run(args: &[&str]) -> Ran {
    brr(args).stdin(Stdio::null()).output().unwrap().into()
}

pub fn run_with(args: &[&str], input: &[u8]) -> Ran {
    let mut child = brr(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feed = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    output.into()
}

/// The options that name the files of a run, less the column.
pub fn files<'a>(
    model: &'a str,
    input: &'a str,
    output: &'a str,
    manifest: &'a str,
) -> [&'a str; 8] {
    [
        "--model",
        model,
        "--input",
        input,
        "--output",
        output,
        "--manifest",
        manifest,
    ]
}

/// Waits until a file has content; not if the program ends before.
pub fn wait_for_content(path: &Path, child: &mut Child) -> bool {
    loop {
        let begun = std::fs::metadata(path).is_ok_and(|m| m.len() > 0);
        if begun || child.try_wait().unwrap().is_some() {
            return begun;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Sends a signal, by the shell: not every machine has a program for it.
#[cfg(unix)]
pub fn signal(child: &Child, name: &str) {
    let command = format!("kill -s {name} {}", child.id());
    let sent = Command::new("sh").args(["-c", &command]).status().unwrap();
    assert!(sent.success());
}

/// The most memory that a running program has had, in kilobytes.
#[cfg(target_os = "linux")]
pub fn peak_memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    peak.unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap()
}

/// Exactly one line on standard error that holds all of `parts`.
pub fn assert_one_line(ran: &Ran, code: i32, parts: &[&str]) {
    assert_eq!(ran.code, code, "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    for part in parts {
        assert!(ran.stderr.contains(part), "{part:?} in {}", ran.stderr);
    }
    assert_eq!(ran.stdout, "");
}

/// A folder for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn file(&self, name: &str, content: &[u8]) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.name(name)
    }

    pub fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// As [`listing`](Self::listing), while a program makes and removes files.
    pub fn listing_now(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
        names.collect()
    }

    pub fn listing(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A model of a few words with codes far apart: quick, and at a large epsilon
/// every word stays.
pub fn tiny_model() -> Vec<u8> {
    static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
    MODEL.get_or_init(make_tiny_model).clone()
}

fn make_tiny_model() -> Vec<u8> {
    let words: Vec<String> = ["the", "film", "was", "good", "bad"]
        .map(String::from)
        .into();
    let bits = CodeBits::new(64).unwrap();
    let mut codes = CodeRows::new(bits);
    for code in [0, 0xff, 0xff00, 0xff_0000, 0xff00_0000u64] {
        codes.push(&[code]);
    }
    let blocks = to_blocks(&codes);
    let table = CodeBlocks::new(codes.bits(), codes.len(), &blocks).unwrap();
    let parts = ModelParts {
        words: &words,
        codes: &codes,
        lowercase: true,
        distances: code_distances(table, 1, &|_| {}),
        calibration: simulate(table, 1, 2, &|_| {}),
        meta: vec![
            ("name".into(), "tiny".into()),
            ("licence".into(), "CC0".into()),
        ],
        orthography: None,
    };
    let model = parts.write().unwrap();
    let ladder = certify_ladder(&model.certifier(1, &|_| {}), &|_| {});
    model.with_certificates(&ladder).unwrap().bytes().to_vec()
}

/// Builds a small model of this many words from `v.txt`, which it writes first.
pub fn build_small(folder: &Folder, words: usize, name: &str, more: &[&str]) -> Ran {
    let vectors = folder.file("v.txt", small_vectors(words).as_bytes());
    let model = folder.name(name);
    let args = ["build", &vectors, "-o", &model, "--bits", "64"];
    run(&[&args[..], &["--certify", "0.5"], more].concat())
}

/// Vectors in GloVe's format, in clusters of ten words.
pub fn small_vectors(words: usize) -> String {
    let mut state = 1u64;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let mut text = String::new();
    let mut center = [0.0; 20];
    for word in 0..words {
        if word % 10 == 0 {
            center = std::array::from_fn(|_| next());
        }
        text.push('w');
        for place in [676, 26, 1].into_iter().skip(usize::from(words <= 676)) {
            text.push(char::from(b'a' + (word / place % 26) as u8));
        }
        for c in center {
            text.push_str(&format!(" {:.4}", c + 0.4 * next()));
        }
        text.push('\n');
    }
    text
}
