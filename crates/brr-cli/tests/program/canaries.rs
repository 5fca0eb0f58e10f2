//! Planted words that must come out nowhere.
//!
//! A canary holds one of a few marks that no model word, message or option has, so one search per
//! file finds any of them, whole or in part. Where text comes out it is also checked that every
//! word of it is a word of the model, which no canary is.
//!
//! What is random but no text may hold a mark by chance: so packed files are unpacked, and the
//! temporary folder's name is left out. A time in nanoseconds is the mark of digits once in 1e9.

use std::path::Path;
use std::process::Stdio;

use crate::support::corpora::{self, KINDS, options, unpack, unpack_cut, write};
use crate::support::{Folder, brr, run_with, wait_for_content};
use brr::Model;

/// Parts of canaries, in lower case.
const MARKS: [&str; 6] = ["qzxj", "748392016", "qzхj", "жqz", "\u{200b}xj", "キqz"];

/// A token that is like no other.
fn canary(number: usize) -> String {
    match number % 8 {
        0 => format!("qzxj{}", letters(number)),
        1 => format!("748392016{number:07}"),
        2 => format!("Qzxj.{0}@qzxj{0}.example", letters(number)),
        3 => format!("жqzxj{}ж", letters(number)),
        // The third letter is Cyrillic.
        4 => format!("qzхj{}", letters(number)),
        5 => format!("qz\u{200b}xj{}", letters(number)),
        6 => format!("QZXJ{}", letters(number).repeat(400)),
        _ => format!("キqzxj{}-{number}", letters(number)),
    }
}

fn letters(mut number: usize) -> String {
    let mut text = String::new();
    for _ in 0..5 {
        text.push(char::from(b'a' + (number % 26) as u8));
        number /= 26;
    }
    text
}

/// Canaries among words: first, last, alone, next to all sorts of characters.
fn text(row: usize) -> String {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| canary(row * 4 + i));
    match row % 5 {
        0 => format!("{a} the film {b}, and ({c})? \"{d}\""),
        1 => format!("{a}{b} good/{c}… it's {d}'s"),
        2 => format!("see https://{a}.com/{b}?q={c}#{d}"),
        3 => format!("<br />{a}<b>{b}</b>\t{c}: {d}."),
        _ => format!("{a}\\{b}|{c};{d}"),
    }
}

fn planted() -> usize {
    std::env::var("BRR_CANARIES").map_or(4000, |n| n.parse().unwrap())
}

fn assert_no_mark(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).to_lowercase();
    for mark in MARKS {
        assert!(!text.contains(mark), "a canary came out in {what}");
    }
}

fn assert_model_words(model: &Model, what: &str, text: &str) {
    let plain = text.replace("<br />", " ");
    let outside = |c: char| c.is_whitespace() || ".,;:!?'\"()-/…–—‘’“”«»".contains(c);
    for word in plain.split(char::is_whitespace) {
        let known = |word: &str| word.is_empty() || model.vocabulary().id(word).is_some();
        let known =
            known(word) || known(word.trim_matches(outside)) || word.split(outside).all(known);
        assert!(known, "{what}: a word that the model does not have");
    }
}

#[test]
fn no_canary_comes_out_anywhere() {
    let model = brr_english::model().unwrap();
    let rows = planted().div_ceil(KINDS.len() * 4);
    for kind in KINDS {
        let folder = Folder::new();
        let input = folder.name(&format!("in.{kind}"));
        let texts: Vec<String> = (0..rows).map(text).collect();
        write(kind, Path::new(&input), &texts);
        let output = folder.name(&format!("out.{kind}"));
        let manifest = folder.name("run.json");
        let files = [
            "privatize",
            "--input",
            &input,
            "--output",
            &output,
            "--manifest",
            &manifest,
        ];
        let more = ["--keep", "0.9", "--checkpoint-seconds", "0", "--resume"];
        let args = [&files[..], &more, options(kind)].concat();

        // Cut off in the middle, to see the files that are there only then.
        let mut child = brr(&args).stderr(Stdio::piped()).spawn().unwrap();
        wait_for_content(&folder.path(&format!("out.{kind}.partial")), &mut child);
        let _ = child.kill();
        let told = |stderr: Vec<u8>| {
            String::from_utf8(stderr)
                .unwrap()
                .replace(&folder.name(""), "")
        };
        let stderr = child.wait_with_output().unwrap().stderr;
        assert_no_mark("standard error", told(stderr).as_bytes());
        for name in folder.listing() {
            if name.starts_with("in.") {
                continue;
            }
            let bytes = std::fs::read(folder.path(&name)).unwrap();
            let is_output = name == format!("out.{kind}") || name.ends_with(".partial");
            let plain = if is_output {
                unpack_cut(kind, &bytes)
            } else {
                bytes
            };
            assert_no_mark(&name, &plain);
        }
        let ended = brr(&args).output().unwrap();
        assert_no_mark("standard error", told(ended.stderr).as_bytes());
        assert_no_mark("the manifest", &std::fs::read(&manifest).unwrap());
        let bytes = std::fs::read(&output).unwrap();
        assert_no_mark(&output, &unpack(kind, &bytes));
        let out = corpora::read(kind, Path::new(&output));
        assert_eq!(out.len(), rows);
        for (_, text) in &out {
            assert_no_mark(kind, text.as_bytes());
            assert_model_words(&model, kind, text);
        }
    }
    println!("{} canaries planted, none came out", rows * 4 * KINDS.len());
}

/// Rows that cannot be read say nothing in messages, and leave nothing in the output.
#[test]
fn no_canary_comes_out_of_bad_rows() {
    for row in 0..5 {
        let secret = text(row).replace(['"', '\\', '\t'], " ");
        let cases = [
            ("csv", format!("id,body\n1,{secret},more,{secret},more\n")),
            ("csv", format!("id,body\n1,\"{secret}\n")),
            ("csv", format!("id,body\n{}\n", secret.replace(',', " "))),
            ("tsv", format!("id\tbody\n{secret}\n")),
            ("jsonl", format!("{{\"body\":\"{secret}\n")),
            ("jsonl", format!("{{\"body\":{{\"{secret}\":1}}}}\n")),
            ("jsonl", format!("{{\"body\":\"{secret}\\ud800\"}}\n")),
            ("jsonl", format!("[\"{secret}\"]\n{secret}\n")),
            ("text", secret.clone()),
        ];
        for (format, input) in cases {
            for policy in ["fail", "skip", "copy-null"] {
                let column: &[&str] = if format == "text" {
                    &[]
                } else {
                    &["-c", "body"]
                };
                let fixed = ["privatize", "--format", format, "--on-bad-row", policy];
                let limit = ["--max-record", if format == "text" { "1" } else { "1M" }];
                let ran = run_with(&[&fixed[..], &limit, column].concat(), input.as_bytes());
                assert_no_mark("a message", ran.stderr.as_bytes());
                assert_no_mark("the output", ran.stdout.as_bytes());
            }
        }
    }
}
