//! `brr inspect` and `brr bench search`.

mod support;

use serde_json::Value;
use support::{Folder, assert_one_line, run, tiny_model};

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
    assert!(number("bytes_per_word") <= number("bits") / 8.0 + 5.0);
    assert_eq!(facts["duplicate_codes"], 0);
    assert!(facts["meta"]["licence"].as_str().unwrap().contains("PDDL"));
}

/// As when `brr inspect` is piped into a program that has seen enough.
#[test]
#[cfg(unix)]
fn a_closed_output_is_no_bug() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = support::brr(&["inspect"]);
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
fn exported_codes_come_back_as_queries_and_find_themselves() {
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
    assert_eq!(codes.len() % 64, 5 * 8);
    let (queries, ids) = (folder.name("out/codes.npy"), folder.name("ids.npy"));
    let ran = run(&[
        "bench",
        "search",
        "-m",
        &model,
        "--queries",
        &queries,
        "--ids",
        &ids,
        "--threads",
        "2",
        "--json",
    ]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&result["words"], &result["bits"]), (&5.into(), &64.into()));
    // A coarse clock may say that so few queries took no time.
    for key in ["single_ns_per_query", "batch_ns_per_query"] {
        assert!(result[key].as_f64().unwrap() >= 0.0, "{key}");
    }
    assert!(result["backend"].is_string());
    let ids = std::fs::read(ids).unwrap();
    let found: Vec<u8> = ids[ids.len() - 20..].iter().step_by(4).copied().collect();
    assert_eq!(found, [0, 1, 2, 3, 4]);
}

#[test]
fn queries_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    let model = folder.file("m.brr", &tiny_model());
    let text = folder.file("q.npy", b"no numpy file");
    assert_one_line(
        &run(&["bench", "search", "-m", &model, "--queries", &text]),
        1,
        &["q.npy", "np.save"],
    );
    assert_eq!(
        run(&["inspect", &model, "--export", &folder.name("out")]).code,
        0
    );
    let narrow = folder.name("out/codes.npy");
    assert_one_line(
        &run(&["bench", "search", "--queries", &narrow]),
        2,
        &["--queries", "8 bytes", "32"],
    );
}
