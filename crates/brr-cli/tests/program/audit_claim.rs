//! `brr audit --claim` on small programs of other people: what it finds, and how it fails.
//!
//! False alarms: 1e-6 at most, as the audit itself promises. No test waits for timings.

use std::sync::OnceLock;

use crate::support::{Folder, Ran, assert_one_line, run, small_vectors};
use serde_json::Value;

/// Words and vectors, and a program that has k-ary randomized response over the words: `kary EPSILON`,
/// with a fresh seed, or `kary EPSILON SEED`. Unknown words become any word.
fn fixture() -> &'static (Folder, String, String) {
    static MADE: OnceLock<(Folder, String, String)> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = Folder::new();
        let text = small_vectors(100);
        let vectors = folder.file("v.txt", text.as_bytes());
        let words: Vec<&str> = text.lines().filter_map(|l| l.split(' ').next()).collect();
        let words = folder.file("words", (words.join("\n") + "\n").as_bytes());
        let script = format!(
            r#"seed=${{2:-$(od -An -N3 -tu4 /dev/urandom)}}
exec awk -v e="$1" -v seed="$seed" '
BEGIN {{ srand(seed); while ((getline line < "{words}") > 0) {{ word[n++] = line; known[line] = n }}
        keep = exp(e) / (exp(e) + n - 1) }}
{{ if (!($0 in known)) {{ print word[int(rand() * n)]; next }}
  if (rand() < keep) {{ print; next }}
  other = int(rand() * (n - 1)); if (other >= known[$0] - 1) other++; print word[other] }}'
"#
        );
        let kary = folder.file("kary.sh", script.as_bytes());
        (folder, vectors, format!("sh '{kary}'"))
    })
}

fn audit(claim: &str, command: &str, more: &[&str]) -> Ran {
    audit_over(&fixture().1, claim, command, more)
}

fn audit_over(vectors: &str, claim: &str, command: &str, more: &[&str]) -> Ran {
    let args = [
        "audit",
        "--claim",
        claim,
        "--command",
        command,
        "--vectors",
        vectors,
        "--timings",
        "0",
    ];
    let size = ["--trials", "4000", "--pairs", "2"];
    let size = if more.contains(&"--trials") {
        &[]
    } else {
        &size[..]
    };
    run(&[&args[..], size, more].concat())
}

fn line<'a>(ran: &'a Ran, check: &str) -> &'a str {
    let mut lines = ran.stdout.lines();
    let found = lines.find(|l| l.contains(&format!("  {check} ")));
    found.unwrap_or_else(|| panic!("no {check} in {}{}", ran.stdout, ran.stderr))
}

#[test]
fn a_sound_program_passes_at_its_claim_and_fails_below() {
    let (_, _, kary) = fixture();
    // As many draws as refute this claim.
    let size = ["--trials", "20000", "--pairs", "2"];
    let sound = audit("epsilon=5,metric=discrete", &format!("{kary} 5"), &size);
    assert_eq!(sound.code, 0, "{}{}", sound.stdout, sound.stderr);
    assert!(sound.stdout.contains("A pass proves nothing"));
    assert!(line(&sound, "unknown words").contains("pass"));
    assert!(line(&sound, "repeats").contains("pass"));
    assert!(line(&sound, "supports").contains("pass"));
    let json = audit("epsilon=1", &format!("{kary} 5"), &["--json"]);
    assert_eq!(json.code, 1, "{}", json.stdout);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    let at_least = report["epsilon_at_least"].as_f64().unwrap();
    assert!(at_least > 1.0 && at_least <= 5.0, "{at_least}");
    assert_eq!(report["metric"], "discrete");
    let failed = report["checks"].as_array().unwrap().iter();
    let failed: Vec<_> = failed.filter(|c| c["verdict"] == "fail").collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0]["name"], "loss");
    let kinds = report["pairs"].as_array().unwrap().iter();
    let kinds: Vec<_> = kinds.map(|p| p["kind"].as_str().unwrap()).collect();
    for kind in ["near", "far", "unknown", "stop", "capital"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
}

#[test]
fn words_in_the_clear_and_disjoint_supports_are_named() {
    let copied = audit("epsilon=1", "cat", &[]);
    assert_eq!(copied.code, 1);
    assert!(line(&copied, "unknown words").contains("FAIL"));
    assert!(line(&copied, "unknown words").contains("random letters (6 of 6)"));
    assert!(line(&copied, "capitals").contains("FAIL"));
    assert!(line(&copied, "loss").contains("FAIL"));
    assert!(line(&copied, "repeats").contains("deterministic"));
    assert!(line(&copied, "repeats").contains("note"));
    assert!(line(&copied, "supports").contains("an observation, not a proof"));
    assert!(line(&copied, "kept words").contains("stop words in 100.0 %"));
    // No claim makes a copy private; where draws cannot tell, nothing is said to pass.
    let huge = audit("epsilon=30", "cat", &[]);
    assert_eq!(huge.code, 1);
    assert!(line(&huge, "loss").contains("not testable"));
    assert!(line(&huge, "unknown words").contains("FAIL"));

    // Known words are drawn, all others pass.
    let (folder, _, kary) = fixture();
    let words = folder.name("words");
    let leaky = format!(
        "while IFS= read -r w; do if grep -qxF -- \"$w\" '{words}'; then echo \"$w\" | {kary} 5; else echo \"$w\"; fi; done"
    );
    let leaky = audit("epsilon=5", &leaky, &["--trials", "100", "--pairs", "1"]);
    assert_eq!(leaky.code, 1);
    assert!(line(&leaky, "unknown words").contains("FAIL"));
    assert!(line(&leaky, "loss").contains("pass") || line(&leaky, "loss").contains("not testable"));
}

#[test]
fn a_fixed_seed_is_found_and_a_shared_draw_is_told() {
    let (_, _, kary) = fixture();
    let fixed = audit("epsilon=5", &format!("{kary} 5 7"), &[]);
    assert_eq!(fixed.code, 1);
    assert!(line(&fixed, "repeats").contains("FAIL"));
    assert!(line(&fixed, "repeats").contains("a fixed seed"));
    // One draw for equal words of a run: no promise is broken, and no loss can be bounded.
    let once = format!(
        "cat > /tmp/brr-audit-$$; sort -u /tmp/brr-audit-$$ > /tmp/brr-audit-$$.in; {kary} 1 < /tmp/brr-audit-$$.in > /tmp/brr-audit-$$.out; \
         awk -v i=/tmp/brr-audit-$$.in -v o=/tmp/brr-audit-$$.out 'BEGIN {{ while ((getline w < i) > 0) {{ getline d < o; m[w] = d }} }} {{ print m[$0] }}' /tmp/brr-audit-$$; \
         rm /tmp/brr-audit-$$ /tmp/brr-audit-$$.in /tmp/brr-audit-$$.out"
    );
    // At this epsilon the draws of two runs seldom agree: what is found does not hang on chance.
    let once = audit("epsilon=1", &once, &[]);
    assert_eq!(once.code, 0, "{}{}", once.stdout, once.stderr);
    assert!(line(&once, "repeats").contains("share a draw"));
}

#[test]
fn a_euclidean_claim_is_judged_by_distance() {
    let (_, _, kary) = fixture();
    // Nothing depends on the word: every claim holds.
    let constant = "while read -r w; do echo waa; done";
    let constant = audit("epsilon=0.01,metric=euclidean", constant, &[]);
    assert_eq!(constant.code, 0, "{}{}", constant.stdout, constant.stderr);
    // k-ary response does not care how near words are.
    let near = audit("epsilon=0.01,metric=euclidean", &format!("{kary} 5"), &[]);
    assert_eq!(near.code, 1, "{}", near.stdout);
    assert!(line(&near, "loss").contains("FAIL"));
    let capital = audit("epsilon=3,metric=euclidean", "cat", &[]);
    assert!(line(&capital, "capitals").contains("note"));
    assert!(line(&capital, "unknown words").contains("the metric promises nothing"));
}

/// A Euclidean claim is about words with vectors. A program that keeps it passes, whatever becomes of the
/// others, and that is said; it fails if the claim covers all tokens.
#[test]
fn words_outside_a_euclidean_claim_break_no_promise() {
    let (folder, _, _) = fixture();
    let words = folder.name("words");
    let constant_for_known = format!(
        "awk 'BEGIN {{ while ((getline w < \"{words}\") > 0) known[w] = 1 }} {{ print ($0 in known) ? \"waa\" : $0 }}'"
    );
    let claim = "epsilon=0.01,metric=euclidean";
    let sound = audit(claim, &constant_for_known, &[]);
    assert_eq!(sound.code, 0, "{}{}", sound.stdout, sound.stderr);
    assert!(line(&sound, "unknown words").contains("OUTSIDE THE CLAIM"));
    assert!(
        sound
            .stdout
            .contains("\nOutside the claim: unknown words pass in clear.")
    );
    let json = audit(claim, &constant_for_known, &["--json"]);
    let report: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(report["checks"][0]["verdict"], "outside the claim");
    let all = audit(&format!("{claim},covers=all"), &constant_for_known, &[]);
    assert_eq!(all.code, 1, "{}", all.stdout);
    assert!(line(&all, "unknown words").contains("FAIL"));
    // The two unknown words that are drawn may not be told apart either.
    assert!(line(&all, "loss").contains("FAIL"));
    let constant = "while read -r w; do echo waa; done";
    let constant = audit(&format!("{claim},covers=all"), constant, &[]);
    assert_eq!(constant.code, 0, "{}", constant.stdout);
}

/// Words of any script and case are asked about, and a copy is no private program in any.
#[test]
fn words_of_every_script_and_case_are_audited() {
    let folder = Folder::new();
    let latin = small_vectors(100);
    let spelled = |letter: fn(char) -> String| -> String {
        let word = |line: &str| {
            let (word, numbers) = line.split_once(' ').unwrap();
            format!(
                "{} {numbers}\n",
                word.chars().map(letter).collect::<String>()
            )
        };
        latin.lines().map(word).collect()
    };
    let cyrillic = spelled(|c| {
        char::from_u32('а' as u32 + c as u32 - 'a' as u32)
            .unwrap()
            .into()
    });
    let capitals = spelled(|c| if c == 'w' { "W".into() } else { c.into() });
    for (name, text) in [("cyrillic", cyrillic), ("capitals", capitals)] {
        let vectors = folder.file(name, text.as_bytes());
        let copied = audit_over(&vectors, "epsilon=1,metric=euclidean", "cat", &["--json"]);
        assert_eq!(copied.code, 1, "{name}: {}", copied.stdout);
        let report: Value = serde_json::from_str(&copied.stdout).unwrap();
        assert!(
            report["epsilon_at_least"].as_f64().unwrap() > 1.0,
            "{report}"
        );
        assert!(report["pairs"].as_array().unwrap().len() > 8, "{report}");
        let constant = "while read -r w; do echo constant; done";
        let constant = audit_over(&vectors, "epsilon=0.01,metric=euclidean", constant, &[]);
        assert_eq!(
            constant.code, 0,
            "{name}: {}{}",
            constant.stdout, constant.stderr
        );
    }
    let numbers = folder.file("numbers", b"word 1 2\n12 3 4\n345 5 7\n67 1 1\n");
    let none = audit_over(&numbers, "epsilon=1,metric=euclidean", "cat", &[]);
    assert_one_line(
        &none,
        1,
        &["too few words", "1 are single tokens", "more words"],
    );
}

/// The bound is the largest of all that the claim covers.
#[test]
fn the_bound_counts_unknown_words_and_capitals() {
    let bound = |claim: &str, command: &str| {
        let ran = audit(claim, command, &["--json"]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        (
            report["epsilon_at_least"].clone(),
            report["shown_by"].as_str().unwrap().to_owned(),
        )
    };
    let (copied, by) = bound("epsilon=1", "cat");
    assert!(copied.as_f64().unwrap() > 30.0, "{copied}");
    assert_eq!(by, "unknown words");
    // Outside the metric, unknown words prove nothing; if the claim covers them, no epsilon is enough.
    let (copied, by) = bound("epsilon=1,metric=euclidean", "cat");
    assert!(copied.as_f64().unwrap() < 30.0, "{copied}");
    assert_eq!(by, "pairs of words");
    assert!(
        bound("epsilon=1,metric=euclidean,covers=all", "cat")
            .0
            .is_null()
    );

    let words = fixture().0.name("words");
    let two_percent = format!(
        "awk 'BEGIN {{ srand(SEED); while ((getline w < \"{words}\") > 0) known[w] = 1 }} \
         {{ print (tolower($0) in known && rand() < 0.02) ? $0 : \"waa\" }}'"
    );
    let two_percent = two_percent.replace("SEED", "'\"$(od -An -N3 -tu4 /dev/urandom)\"'");
    let (capitals, by) = bound("epsilon=1", &two_percent);
    assert!(capitals.as_f64().unwrap() > 1.0, "{capitals}");
    assert_eq!(by, "capital letters");
}

/// A substitution of words is no randomness: its loss is infinite, and a claim too large to refute
/// by draws does not let it pass.
#[test]
fn a_fixed_map_is_an_infinite_loss() {
    let shifted = audit("epsilon=50", "tr a-z b-za", &[]);
    assert_eq!(shifted.code, 1, "{}", shifted.stdout);
    assert!(
        shifted.stderr.contains("could test no pair"),
        "{}",
        shifted.stderr
    );
    let supports = line(&shifted, "supports");
    assert!(supports.contains("INFINITE LOSS OBSERVED"), "{supports}");
    assert!(supports.contains("a fixed map"), "{supports}");
    assert!(shifted.stdout.contains("\nAn infinite loss was observed"));
    assert!(line(&shifted, "loss").contains("not testable"));
    // With one output for all words there is nothing to tell.
    let constant = audit("epsilon=1", "while read -r w; do echo waa; done", &[]);
    assert!(line(&constant, "supports").contains("pass"));
}

#[test]
fn programs_that_do_not_answer_are_errors() {
    let fails = |command: &str, words: &[&str]| {
        let ran = audit("epsilon=1", command, &["--seconds", "2"]);
        assert_one_line(&ran, 1, words);
    };
    fails("true", &["gave 0 lines for", "one for each"]);
    fails("cat; echo done", &["one for each"]);
    fails("echo why >&2; exit 3", &["exit status: 3", "why"]);
    fails("sleep 1000", &["after 2 seconds", "--seconds"]);
    fails("cat; sleep 1000 &", &["after 2 seconds"]);
    fails("yes", &["never stops writing"]);
    fails("no-such-program-at-all", &["exit status: 127"]);
    fails("cat > /dev/null; printf '\\377\\n'", &["not UTF-8"]);
    // What is slow gets fewer draws, and an end.
    let slow = "while read -r w; do echo waa; done";
    let size = ["--seconds", "8", "--trials", "1000000", "--pairs", "1"];
    let slow = audit("epsilon=1", slow, &size);
    assert_eq!(slow.code, 0, "{}{}", slow.stdout, slow.stderr);
    assert!(!slow.stdout.contains("by 1000000 draws"), "{}", slow.stdout);
}

#[test]
fn wrong_claims_are_refused() {
    let refused = |claim: &str, words: &[&str]| {
        let ran = run(&["audit", "--command", "cat", "--claim", claim]);
        assert_one_line(&ran, 2, words);
    };
    refused("1", &["--claim", "epsilon=1"]);
    refused("epsilon=-1", &["--claim", "positive"]);
    refused("epsilon=1,metric=manhattan", &["discrete or euclidean"]);
    refused("epsilon=1,metric=euclidean", &["--vectors"]);
    refused("epsilon=1,covers=some", &["covers=all"]);
    assert_one_line(&run(&["audit", "--claim", "epsilon=1"]), 2, &["missing"]);
    let both = [
        "audit",
        "--claim",
        "epsilon=1",
        "--command",
        "cat",
        "--epsilon",
        "1",
    ];
    assert_one_line(&run(&both), 2, &["cannot be used with"]);
}
