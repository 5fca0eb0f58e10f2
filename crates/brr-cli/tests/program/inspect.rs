//! `brr inspect`.

use crate::support::{Folder, assert_one_line, run, tiny_model};
use serde_json::Value;

#[test]
fn a_models_facts() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let facts: Value = serde_json::from_str(&run(&["inspect", &model, "--json"]).stdout).unwrap();
    assert_eq!(facts["words"], 5);
    assert_eq!(facts["bits"], 64);
    assert_eq!(facts["p_avg"], 256.0 / 25.0);
    assert_eq!(facts["p_max"], 16);
    assert_eq!(facts["duplicate_codes"], 0);
    assert_eq!(facts["meta"]["licence"], "CC0");
    let text = run(&["inspect", &model]).stdout;
    for part in ["P_avg", "10.2400", "P_max", "16", "tiny", "CC0"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn the_built_in_model_is_small_and_sound() {
    let facts: Value = serde_json::from_str(&run(&["inspect", "--json"]).stdout).unwrap();
    let number = |key: &str| facts[key].as_f64().unwrap();
    assert!(number("bytes_per_word") <= number("bits") / 8.0 + 5.0 + 2.2);
    assert_eq!(facts["duplicate_codes"], 0);
    assert!(facts["meta"]["licence"].as_str().unwrap().contains("PDDL"));
}

/// As when `brr inspect` is piped into a program that has seen enough.
#[test]
#[cfg(unix)]
fn a_closed_output_is_no_bug() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = crate::support::brr(&["inspect"]);
    let ended = command.stdout(writer).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert!(ended.stderr.is_empty(), "{ended:?}");
}

#[test]
fn neighbors_are_nearest_first_with_the_lowest_id_among_equals() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let ran = run(&[
        "inspect",
        &model,
        "--neighbors",
        "Film",
        "--count",
        "3",
        "--json",
    ]);
    let list: Value = serde_json::from_str(&ran.stdout).unwrap();
    let near: Vec<&str> = list[0]["codes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n["word"].as_str().unwrap())
        .collect();
    assert_eq!(near, ["the", "was", "good"]);
    let unknown = run(&["inspect", &model, "--neighbors", "mysecret"]);
    assert_one_line(&unknown, 2, &["--neighbors"]);
    assert!(!unknown.stderr.contains("mysecret"));
}

#[test]
fn exported_codes_are_rows_that_numpy_reads() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    assert_eq!(
        run(&["inspect", &model, "--export", &folder.name("out")]).code,
        0
    );
    let words = std::fs::read_to_string(folder.path("out/words.txt")).unwrap();
    assert_eq!(words, "the\nfilm\nwas\ngood\nbad\n");
    let codes = std::fs::read(folder.path("out/codes.npy")).unwrap();
    assert_eq!(&codes[..6], b"\x93NUMPY");
    let header = usize::from(u16::from_le_bytes([codes[8], codes[9]]));
    let (header, rows) = codes[10..].split_at(header);
    let header = std::str::from_utf8(header).unwrap();
    for part in ["'|u1'", "'fortran_order': False", "'shape': (5, 8)"] {
        assert!(header.contains(part), "{part} in {header}");
    }
    assert_eq!((codes.len() - rows.len()) % 64, 0);
    // Film has the nearest code to that of "the" (the test of neighbours says so).
    let distance = |a: usize, b: usize| -> u32 {
        let pairs = rows[8 * a..][..8].iter().zip(&rows[8 * b..][..8]);
        pairs.map(|(x, y)| (x ^ y).count_ones()).sum()
    };
    assert_eq!(rows.len(), 5 * 8);
    assert!((2..5).all(|other| distance(1, 0) <= distance(1, other)));
    assert_ne!(distance(1, 0), 0);
}

#[test]
fn the_tree_is_shown_exported_and_used() {
    let folder = Folder::new();
    let shown: Value =
        serde_json::from_str(&run(&["inspect", "--tree", "doctor", "--json"]).stdout).unwrap();
    let levels = shown[0]["levels"].as_array().unwrap();
    let words: usize = levels.iter().map(|l| l.as_array().unwrap().len()).sum();
    let facts: Value = serde_json::from_str(&run(&["inspect", "--json"]).stdout).unwrap();
    assert_eq!(words as u64, facts["words"].as_u64().unwrap());
    assert_eq!(levels[0], serde_json::json!(["doctor"]));
    assert_eq!(
        facts["tree_levels"].as_u64().unwrap() as usize + 1,
        levels.len()
    );
    assert_eq!(
        run(&[
            "inspect",
            "--tree",
            "doctor",
            "--export",
            &folder.name("out")
        ])
        .code,
        0
    );
    // The level of two words is the number of digits of the exclusive or of their places.
    let list = std::fs::read_to_string(folder.path("out/words.txt")).unwrap();
    let list: Vec<&str> = list.lines().collect();
    let file = std::fs::read(folder.path("out/tree.npy")).unwrap();
    let places = &file[file.len() - 4 * list.len()..];
    let place = |word: &str| {
        let id = list.iter().position(|w| *w == word).unwrap();
        u32::from_le_bytes(places[4 * id..4 * id + 4].try_into().unwrap())
    };
    for (level, words) in levels.iter().enumerate() {
        for word in words.as_array().unwrap().iter().take(3) {
            let apart = place("doctor") ^ place(word.as_str().unwrap());
            assert_eq!(u32::BITS - apart.leading_zeros(), level as u32);
        }
    }
    let args = ["privatize", "--mechanism", "tree", "--epsilon", "0.85"];
    let ran = run(&[&args[..], &["a doctor came"]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("tree-15"), "{}", ran.stderr);
    // A file without a tree says what it offers.
    let old = folder.file("m.brr", &tiny_model());
    let facts: Value = serde_json::from_str(&run(&["inspect", &old, "--json"]).stdout).unwrap();
    let offered = serde_json::json!(["exponential", "brr", "k-ary"]);
    assert_eq!(facts["mechanisms"], offered);
    let ran = run(&[&args[..], &["--model", &old, "a doctor came"]].concat());
    assert!(
        ran.code != 0 && ran.stderr.contains("k-ary"),
        "{}",
        ran.stderr
    );
}
