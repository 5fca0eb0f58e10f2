//! `brr calibrate`, `explain`, `ratio` and `audit` as a user meets them.

use std::sync::OnceLock;

use crate::support::{Folder, assert_one_line, run, small_vectors};
use serde_json::Value;

/// A small model and its vectors, built once.
fn small() -> &'static (Folder, String, String) {
    static MODEL: OnceLock<(Folder, String, String)> = OnceLock::new();
    MODEL.get_or_init(|| {
        let folder = Folder::new();
        let vectors = folder.file("v.txt", small_vectors(100).as_bytes());
        let model = folder.name("m.brr");
        let ran = run(&["build", &vectors, "-o", &model, "--bits", "64"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (folder, model, vectors)
    })
}

fn json(args: &[&str]) -> Value {
    let ran = run(args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn calibrate_shows_a_ladder_and_solves_for_epsilon() {
    let (folder, model, vectors) = small();
    let page = folder.name("page.html");
    let args = [
        "calibrate",
        model,
        "--mechanism",
        "brr",
        "exponential",
        "madlib",
        "tree",
        "k-ary",
        "--vectors",
        vectors,
        "--bounds",
        "4",
        "20",
        "--words",
        "40",
        "--draws",
        "40",
        "--keep",
        "0.6",
        "--html",
        &page,
        "--json",
    ];
    let result = json(&args);
    let tables = result["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 5);
    // What tree and k-ary response do to a word is computed, not drawn.
    for exact in ["tree", "k-ary"] {
        let table = tables.iter().find(|t| t["mechanism"] == exact).unwrap();
        let step = &table["steps"][0];
        assert_eq!(step["exact"], true, "{table}");
        assert_eq!(step["keep"]["low"], step["keep"]["high"], "{table}");
    }
    for table in tables {
        let keep = |i: usize| table["steps"][i]["keep"]["value"].as_f64().unwrap();
        assert!(keep(0) < keep(1), "{table}");
    }
    for solved in result["solutions"].as_array().unwrap() {
        let kept = &solved["solution"]["step"]["keep_by_use"]["value"];
        assert!((kept.as_f64().unwrap() - 0.6).abs() < 0.1, "{solved}");
    }
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && !page.contains("http://") && !page.contains("https://"));
    let text = run(&[
        "calibrate",
        model,
        "--mechanism",
        "brr",
        "--bounds",
        "10",
        "--words",
        "20",
        "--draws",
        "20",
    ]);
    assert!(
        text.stdout.contains("bound") && text.stdout.contains("±"),
        "{}",
        text.stdout
    );
}

#[test]
fn explain_speaks_plainly() {
    let (_, model, _) = small();
    let args = [
        "explain",
        "waa",
        "-m",
        model,
        "--mechanism",
        "exponential",
        "--bound",
        "6",
    ];
    let text = run(&args).stdout;
    assert!(
        text.contains("\"waa\" stays as it is") && text.contains("hardest to tell from"),
        "{text}"
    );
    let facts = json(&[&args[..], &["--json"]].concat());
    assert_eq!(
        facts["words"][0]["outputs"],
        json(&["explain", "waa", "-m", model, "--bound", "6", "--json"])["words"][0]["outputs"],
        "what is explained by default is what privatize uses by default"
    );
    let outputs = facts["words"][0]["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 10);
    let unknown = run(&["explain", "mysecret", "-m", model, "--epsilon", "1"]);
    assert_one_line(&unknown, 2, &["not in the model"]);
    assert!(!unknown.stderr.contains("mysecret"));
    let second = run(&["explain", "waa", "mysecret", "-m", model]);
    assert_one_line(&second, 2, &["WORD 2 of 2 is not in the model"]);
    for mechanism in ["brr", "exponential", "tree", "k-ary"] {
        let ran = run(&["explain", "waa", "-m", model, "--mechanism", mechanism]);
        assert_eq!(ran.code, 0, "{mechanism}: {}", ran.stderr);
    }
}

#[test]
fn the_tree_states_a_loss_for_each_level_and_k_ary_names_no_word() {
    let (_, model, _) = small();
    let options = |mechanism| ["-m", model, "--mechanism", mechanism, "--epsilon", "0.8"];
    let line = |mechanism| {
        json(
            &[
                &["privatize", "waa", "--json", "-q"][..],
                &options(mechanism),
            ]
            .concat(),
        )
    };
    let tree = line("tree");
    let losses = tree["loss_by_level"].as_array().unwrap();
    assert!(losses.len() > 5 && losses[0] == 0.0);
    assert_eq!(losses.last(), Some(&tree["loss_per_word"]));
    assert!(line("k-ary")["loss_by_level"].is_null());
    let text = run(&[&["explain", "waa"][..], &options("k-ary")].concat()).stdout;
    assert!(
        text.contains("each of them as likely as any other"),
        "{text}"
    );
    assert!(
        !text.contains("most often becomes") && !text.contains("hardest to tell"),
        "{text}"
    );
    // Neither has a table, and the least share is not 0.
    for mechanism in ["tree", "k-ary"] {
        let budget = [
            "-m",
            model,
            "--mechanism",
            mechanism,
            "--keep",
            "0.00001",
            "--no-context",
        ];
        let refused = run(&[&["privatize", "waa"][..], &budget].concat());
        assert_one_line(&refused, 2, &["can be asked for"]);
        let message = &refused.stderr;
        assert!(
            !message.contains("table") && !message.contains("0.0000 "),
            "{message}"
        );
    }
}

/// An unknown token of tree response is a place of the tree, not a word: nothing of its loss remains.
#[test]
fn unknown_tokens_cost_next_to_nothing_where_words_do() {
    for (epsilon, most) in [("0.05", 0.75), ("1e-12", 1.51e-11)] {
        let args = [
            "privatize",
            "hi",
            "--mechanism",
            "tree",
            "--no-context",
            "--json",
            "-q",
            "--epsilon",
            epsilon,
        ];
        let loss = json(&args)["loss_per_word"].as_f64().unwrap();
        assert!(loss > 0.0 && loss <= most, "{epsilon}: {loss}");
    }
}

/// Numbers that are said about a budget are true at the ends of the range too.
#[test]
fn extreme_budgets_are_told_as_they_are() {
    let (_, model, _) = small();
    let told = |mechanism: &str, epsilon: &str| {
        let options = ["-m", model, "--mechanism", mechanism, "--epsilon", epsilon];
        run(&[&["privatize", "waa"][..], &options].concat()).stderr
    };
    for mechanism in ["brr", "exponential"] {
        let little = told(mechanism, "0.00001");
        assert!(!little.contains("epsilon 0.0000"), "{little}");
        assert!(!little.contains("about"), "{little}");
        assert!(!little.contains("warning"), "{little}");
        let much = told(mechanism, "1e9");
        assert!(
            much.contains("warning") && much.contains("in clear"),
            "{much}"
        );
        assert!(much.contains("asked for"), "{much}");
        assert!(!told(mechanism, "0.3").contains("warning"));
    }
}

/// The answer alone if an answer is asked for, in words; the ladder where the mechanism is of use, each
/// mechanism once, with a legend and a step to start from.
#[test]
fn calibrate_answers_in_words() {
    let (_, model, _) = small();
    let few = ["--words", "20", "--draws", "20"];
    let ask = |more: &[&str]| run(&[&["calibrate", model], more, &few[..]].concat()).stdout;
    let answer = ask(&["--keep", "0.5"]);
    assert!(
        answer.starts_with("exponential: To keep 0.5 of words by use: at epsilon"),
        "{answer}"
    );
    assert!(
        answer.contains("one word in") && answer.contains("attacker"),
        "{answer}"
    );
    assert_eq!(answer.lines().count(), 1, "{answer}");
    let both = ask(&["--keep", "0.5", "--ladder"]);
    assert!(both.starts_with("exponential: To keep"), "{both}");
    for text in [&both, &ask(&[])] {
        assert!(text.contains("S_w       number of words"), "{text}");
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("To start with exponential"), "{text}");
    }
    let twice = json(&[
        "calibrate",
        model,
        "--bounds",
        "9",
        "9",
        "--words",
        "20",
        "--json",
    ]);
    assert_eq!(twice["tables"][0]["steps"].as_array().unwrap().len(), 1);
}

/// A negative number is refused by the option that it was given to, with its range.
#[test]
fn negative_numbers_are_refused_by_their_option() {
    for (verb, option) in [
        ("privatize", "--threads"),
        ("evaluate", "--threads"),
        ("certify", "--threads"),
        ("calibrate", "--words"),
        ("calibrate", "--bounds"),
        ("calibrate", "--seed"),
        ("audit", "--timings"),
        ("explain", "--count"),
        ("certify", "--radius"),
    ] {
        assert_one_line(&run(&[verb, option, "-1"]), 2, &[option, "must be a"]);
    }
}

#[test]
fn ratio_converts_between_metrics() {
    let (folder, model, vectors) = small();
    let long = folder.name(&format!("{}.brr", "long".repeat(10)));
    std::fs::copy(model, &long).unwrap();
    let table = run(&["ratio", vectors, &long, "--epsilon", "8"]).stdout;
    let widths: Vec<usize> = table.lines().take(3).map(str::len).collect();
    assert!(widths.windows(2).all(|w| w[0] == w[1]), "{table}");
    let c = json(&["ratio", vectors, model, "--epsilon", "8", "--json"]);
    let number = |v: &Value| v.as_f64().unwrap();
    let by = &c["by_average"];
    let expected = 8.0 * number(&c["a"]["average"]) / number(&c["b"]["average"]);
    assert!((number(&by["epsilon"]) - expected).abs() < 1e-9);
    // Exact, not the bound that stands in for it while a file is unchecked.
    let facts = json(&["inspect", model, "--json"]);
    assert_eq!(number(&c["b"]["maximum"]), number(&facts["p_max"]));
    assert!(
        run(&["ratio", vectors, model, "--epsilon", "8"])
            .stdout
            .contains("P_avg")
    );
    assert_one_line(
        &run(&["ratio", "nope", model, "--epsilon", "8"]),
        1,
        &["given as A"],
    );
    // The epsilons of the tree and of k-ary response are of other metrics.
    let words = number(&c["b"]["words"]);
    for (metric, average) in [("discrete", 1.0 - 1.0 / words), ("tree", f64::NAN)] {
        let args = [
            "ratio",
            model,
            model,
            "--epsilon",
            "2",
            "--json",
            "--metric-a",
        ];
        let c = json(&[&args[..], &[metric]].concat());
        assert!(c["a"]["metric"].as_str().unwrap().starts_with(metric));
        assert_eq!(c["b"]["metric"], "hamming-64");
        let average = match metric {
            "tree" => {
                let losses = [
                    "explain",
                    "waa",
                    "-m",
                    model,
                    "--mechanism",
                    "tree",
                    "--epsilon",
                    "2",
                    "--json",
                ];
                let facts = json(&losses);
                number(&facts["bound"]) / number(&facts["epsilon"])
            }
            _ => average,
        };
        assert!((number(&c["a"]["average"]) - average).abs() < 1e-6, "{c}");
    }
    let args = [
        "ratio",
        vectors,
        model,
        "--epsilon",
        "8",
        "--metric-a",
        "tree",
    ];
    assert_one_line(&run(&args), 2, &["has no tree"]);
}

/// False alarms: 1e-6 at most, as the audit itself promises. Four timed runs are too few to
/// fail it: they show that times are reported.
#[test]
fn the_built_program_survives_its_audit() {
    let (_, model, _) = small();
    for mechanism in ["brr", "exponential", "tree", "k-ary"] {
        let args = [
            "audit",
            "-m",
            model,
            "--mechanism",
            mechanism,
            "--epsilon",
            "0.3",
            "--trials",
            "2000",
            "--timings",
            "4",
        ];
        let ran = run(&args);
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stdout.contains("A pass proves nothing"),
            "{}",
            ran.stdout
        );
        assert!(ran.stdout.contains("pass  canaries"), "{}", ran.stdout);
        assert_eq!(ran.stdout.matches("note  timing").count(), 2);
    }
}

/// Programs that break the promise in the ways that people do.
#[test]
fn broken_programs_fail_their_audit() {
    let (_, model, _) = small();
    let this = env!("CARGO_BIN_EXE_brr");
    let audit = |epsilon: &str, program: &[&str]| {
        let args = [
            "audit",
            "-m",
            model,
            "--epsilon",
            epsilon,
            "--trials",
            "4000",
            "--timings",
            "0",
            "--",
        ];
        let ran = run(&[&args[..], program].concat());
        assert_eq!(ran.code, 1, "{:?} passed: {}", program, ran.stdout);
        assert!(
            ran.stdout.contains("FAIL") && ran.stderr.contains("broken promise"),
            "{}",
            ran.stdout
        );
        ran.stdout
    };
    // Passes everything through.
    audit("0.3", &["cat"]);
    // The same at an epsilon that so few draws cannot test: it fails elsewhere, and nothing passes.
    let huge = audit("8", &["cat"]);
    assert!(huge.contains("not testable  loss"), "{huge}");
    // Uses less noise than it says.
    audit(
        "0.3",
        &[this, "privatize", "-q", "-m", model, "--epsilon", "0.6"],
    );
    // Lets unknown words pass.
    audit(
        "0.3",
        &[
            this,
            "privatize",
            "-q",
            "-m",
            model,
            "--epsilon",
            "0.3",
            "--unknown",
            "keep",
        ],
    );
    // Cuts a contraction by whether it knows the stem.
    let cut_by_vocabulary = format!(
        "sed \"s/\\(zxqvjkwq\\)'ll/\\1 ' ll/g\" | '{this}' privatize -q -m '{model}' --epsilon 0.3"
    );
    let found = audit("0.3", &["sh", "-c", &cut_by_vocabulary]);
    assert!(found.contains("FAIL  structure"), "{found}");
    // Draws the same each time.
    audit("0.3", &["sed", "s/[[:alpha:]][[:alpha:]]*/waa/g"]);
    let failing = run(&["audit", "-m", model, "--epsilon", "0.3", "--", "false"]);
    assert_one_line(&failing, 1, &["program under audit failed"]);
}

/// What is explained is what is drawn: the same epsilon for every mechanism and budget.
#[test]
fn explain_and_calibrate_speak_of_the_mechanism_that_privatizes() {
    let (_, model, _) = small();
    let number = |out: &str, path: &str| {
        let value: Value = serde_json::from_str(out).unwrap();
        value.pointer(path).unwrap().as_f64().unwrap()
    };
    for mechanism in ["brr", "exponential", "tree", "k-ary"] {
        for budget in [
            &["--epsilon", "0.41"][..],
            &["--bound", "13"],
            &["--keep", "0.6"],
            &[],
        ] {
            let options = [&["--mechanism", mechanism, "-m", model, "--json"], budget].concat();
            let explained = run(&[&["explain", "waa"][..], &options].concat());
            let drawn = run(&[&["privatize", "waa"][..], &options].concat());
            if drawn.code != 0 {
                assert_eq!(explained.code, drawn.code, "{}", explained.stderr);
                continue;
            }
            let epsilon = number(&drawn.stdout, "/epsilon");
            assert_eq!(
                number(&explained.stdout, "/epsilon"),
                epsilon,
                "{options:?}"
            );
            if let ["--bound", bound] = budget {
                let args = [
                    "calibrate",
                    model,
                    "--mechanism",
                    mechanism,
                    "--bounds",
                    bound,
                ];
                let table = run(&[&args[..], &["--json", "--words", "20"]].concat());
                let step = number(&table.stdout, "/tables/0/steps/0/epsilon");
                assert!((step / epsilon - 1.0).abs() < 1e-9, "{step} {epsilon}");
            }
        }
    }
}
