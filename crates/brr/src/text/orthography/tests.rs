use super::*;
use proptest::prelude::*;

const FRENCH: &str = "orthography 1\nlanguage fr French\nscript Latn\nwords spaces\nfold plain\nform canonical\n\
    elision l' le\nelision d' de\nelision qu' que\nelision jusqu' jusque\nfunction-words le la\n";
const TURKISH: &str = "orthography 1\nlanguage tr Turkish\nscript Latn\nwords spaces\nfold dotless\n\
    form canonical\nending 'ın ın\nending 'in in\nending 'ün ün\n";
const GREEK: &str = "orthography 1\nlanguage el Greek\nscript Grek\nwords spaces\nfold final-sigma\n\
    form canonical\nelision σ' σε\n";
const JAPANESE: &str = "orthography 1\nlanguage ja Japanese\nscript Jpan\nwords lattice\nfold plain\n\
    form compatible\nmarks 「」・\n";

fn table(lines: &str) -> Orthography {
    Orthography::parse(lines).unwrap()
}

fn show(lines: &str, text: &str) -> String {
    let mut out = String::new();
    for piece in table(lines).pieces(text) {
        match piece {
            Piece::Token(token) => out.push_str(&format!("[{token}]")),
            Piece::Space(c) | Piece::Mark(c) => out.push(c),
            Piece::Break => out.push_str("<br />"),
        }
    }
    out
}

#[test]
fn endings_are_found_whatever_stands_before_them() {
    let english = Orthography::english();
    for (word, stem) in [
        ("don't", Some("do")),
        ("DON’T", Some("DO")),
        ("zzyzx'll", Some("zzyzx")),
        ("Ünal's", Some("Ünal")),
        ("shouldn't've", Some("shouldn't")),
        ("n't", None),
        ("'s", None),
        ("o'clock", None),
        ("cant", None),
        ("t", None),
        ("", None),
    ] {
        let found = english.ending_at(word).map(|at| &word[..at]);
        assert_eq!(found, stem, "{word}");
    }
    assert!(english.is_ending("’LL") && english.is_ending("N't"));
    assert!(!english.is_ending("ll") && !english.is_ending("x'll"));
}

#[test]
fn elisions_are_cut_whatever_follows() {
    for (text, expected) in [
        ("l'homme d’un L’ÉTÉ", "[l'][homme] [d’][un] [L’][ÉTÉ]"),
        (
            "Qu'il jusqu'à aujourd'hui",
            "[Qu'][il] [jusqu'][à] [aujourd'hui]",
        ),
        (
            "d'Ormesson, d'zzqx; O'Brien",
            "[d'][Ormesson], [d'][zzqx]; [O'Brien]",
        ),
        ("l' homme l'«homme»", "[l'] [homme] [l']«[homme]»"),
        ("qu'l'on d'1", "[qu'][l'][on] [d'1]"),
        ("don't it's", "[don't] [it's]"),
    ] {
        assert_eq!(show(FRENCH, text), expected, "{text}");
    }
}

#[test]
fn endings_of_any_normal_form_and_case_are_cut() {
    for text in ["Ali'nin", "Ali"] {
        assert_eq!(show(TURKISH, text), format!("[{text}]"));
    }
    assert_eq!(
        show(TURKISH, "İzmir'in ÜSTÜN'ÜN"),
        "[İzmir]['in] [ÜSTÜN]['ÜN]"
    );
    assert_eq!(
        show(TURKISH, "x'u\u{308}n X'İN Y'IN"),
        "[x]['u\u{308}n] [X]['İN] [Y]['IN]"
    );
}

#[test]
fn words_are_folded_as_their_language_does() {
    let (turkish, greek) = (table(TURKISH), table(GREEK));
    for (written, form) in [
        ("IŞIK", "ışık"),
        ("İZMİR", "izmir"),
        ("I\u{307}Z", "iz"),
        ("ok", "ok"),
    ] {
        assert_eq!(turkish.form(written, true), form);
    }
    assert_eq!(turkish.form("IŞIK", false), "IŞIK");
    for (written, form) in [
        ("ΟΔΟΣ", "οδος"),
        ("οδοσ", "οδος"),
        ("ΣΟΦΌΣ", "σοφός"),
        ("σ'", "σ'"),
    ] {
        assert_eq!(greek.form(written, true), form);
    }
    let french = table(FRENCH);
    for written in ["É\u{ad}te\u{200f}\u{301}", "E\u{feff}\u{301}te\u{301}"] {
        assert_eq!(french.form(written, true), "été");
    }
    assert_eq!(turkish.form("I\u{ad}\u{307}Z", true), "iz");
    let japanese = table(JAPANESE);
    for (written, form) in [("ＡＢＣ", "abc"), ("ｶﾞﾗｽ", "ガラス"), ("か\u{3099}", "が")]
    {
        assert_eq!(japanese.form(written, true), form);
    }
}

#[test]
fn further_marks_are_structure() {
    assert_eq!(
        show(JAPANESE, "「ジョン・スミス」"),
        "「[ジョン]・[スミス]」"
    );
    let half = JAPANESE.replace("「」・", "｢｣､｡･．");
    assert_eq!(
        show(&half, "｢ｼﾞｮﾝ･ｽﾐｽ｣､ﾊｲ｡ ＰＣ．"),
        "｢[ｼﾞｮﾝ]･[ｽﾐｽ]｣､[ﾊｲ]｡ [ＰＣ]．"
    );
    let german = FRENCH.replace("form canonical\n", "form canonical\nmarks „‚\n");
    assert_eq!(
        show(&german, "„Ja.“ „Nein“, „was?“"),
        "„[Ja].“ „[Nein]“, „[was]?“"
    );
    assert_eq!(show(FRENCH, "„Ja“"), "[„][Ja]“");
}

#[test]
fn lines_come_back_as_they_were() {
    for lines in [FRENCH, TURKISH, GREEK, JAPANESE] {
        assert_eq!(table(lines).to_lines(), lines);
        assert_eq!(Orthography::read(lines.as_bytes()).unwrap(), table(lines));
    }
    let commented = format!("# mine\n{}", FRENCH.replace("script", "\n  script"));
    assert_eq!(table(&commented), table(FRENCH));
    assert!(Orthography::read(commented.as_bytes()).is_err());
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let missing = "orthography 1\nlanguage fr French\n";
    assert_eq!(Orthography::parse(missing).unwrap_err().line, 0);
    let first = FRENCH.lines().count();
    for line in [
        "words both",
        "words",
        "script Latin",
        "script Latn",
        "language f F",
        "language xx \u{202e}F",
        "marks a",
        "marks ««",
        "elision l le",
        "elision l'' le",
        "elision L' le",
        "elision l' la",
        "elision l'",
        "elision 1' un",
        "ending ' is",
        "ending s' is",
        "stem c'a can",
        "function-words \u{7}",
        "colour red",
    ] {
        let error = Orthography::parse(&format!("{FRENCH}{line}\n")).unwrap_err();
        // What concerns the whole is found at the end.
        assert!([0, first + 1].contains(&error.line), "{line}: {error}");
    }
    let old = FRENCH.replace("orthography 1", "orthography 2");
    assert!(
        Orthography::parse(&old)
            .unwrap_err()
            .to_string()
            .contains("line 1")
    );
    assert!(Orthography::read(&[b'\n'; lines::MOST_BYTES + 1]).is_err());
    assert!(Orthography::read(b"orthography 1\n\xff").is_err());
    let words: String = (0..3000)
        .map(|i| format!("function-words w{i}\n"))
        .collect();
    assert!(Orthography::parse(&format!("{FRENCH}{words}")).is_err());
}

proptest! {
    /// Any text that is a table at all is one that can be written and read again.
    #[test]
    fn hostile_lines_are_an_error_or_a_table(
        lines in prop::collection::vec("(elision|ending|stem|marks|function-words|fold|\\PC{0,9})( \\PC{0,6}){0,3}", 0..6)
    ) {
        let text = format!("{FRENCH}{}\n", lines.join("\n"));
        if let Ok(table) = Orthography::parse(&text) {
            prop_assert_eq!(Orthography::read(table.to_lines().as_bytes()).unwrap(), table);
        }
    }
}
