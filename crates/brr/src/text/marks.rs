//! Runs of punctuation marks.
//!
//! Marks are declared public one at a time. Several in a row could spell something: `:(` and `;)`
//! say what a text feels. So a run is first *reduced*: stops that follow each other become the
//! last of them (`...` is `.`, `?!` is `!`), dashes and slashes likewise, and a mark repeated is
//! one mark. What is left is written only if it is ordinary, as quoting and bracketing around the
//! end of a sentence or word are (`."`, `),`, `("`), two quotes or brackets in a row at most; anything
//! else is a token, like an emoji.

/// What stands directly at the two ends of a run: something that is not white space, or nothing.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    pub left: bool,
    pub right: bool,
    /// Whether `“` and `‘` also close, as they do where `„` opens.
    pub low: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stop,
    /// Colons and semicolons: stops that open most emoticons.
    Colon,
    Dash,
    Open,
    Close,
    /// Quotes that look the same on both sides, and the apostrophe.
    Quote,
}

fn kind(mark: char) -> Kind {
    match mark {
        ':' | ';' | '：' | '；' | '؛' => Kind::Colon,
        '-' | '–' | '—' | '/' | '・' | '･' => Kind::Dash,
        '(' | '“' | '‘' | '«' | '¡' | '¿' => Kind::Open,
        ')' | '”' | '»' => Kind::Close,
        '「' | '｢' | '『' | '（' | '〈' | '《' | '【' | '„' | '‚' | '‹' => Kind::Open,
        '」' | '｣' | '』' | '）' | '〉' | '》' | '】' | '›' => Kind::Close,
        '\'' | '"' | '’' => Kind::Quote,
        _ => Kind::Stop,
    }
}

/// Closing or opening marks in a row that are still ordinary: a quote in a quote, in brackets.
const MOST: usize = 2;

fn is_double_quote(mark: char) -> bool {
    matches!(mark, '"' | '“' | '«')
}

/// Writes the marks of a run without repetition to `reduced`.
pub fn reduce(run: impl Iterator<Item = char>, reduced: &mut Vec<char>) {
    reduced.clear();
    let stops = |k| matches!(k, Kind::Stop | Kind::Colon);
    for mark in run {
        let alike = reduced.last().is_some_and(|&last| {
            let (a, b) = (kind(last), kind(mark));
            last == mark || (a == Kind::Dash && b == Kind::Dash) || (stops(a) && stops(b))
        });
        if alike {
            reduced.pop();
        }
        reduced.push(mark);
    }
}

/// Whether a reduced run is written mark by mark, rather than taken for a token.
///
/// A single mark is, unless it is a bracket that opens nothing or closes nothing and touches
/// a word. A longer run must read, from left to right: closing marks, a stop, closing marks, a
/// dash, opening marks, each of these present or not, and at most two of each. Closing marks and
/// a stop need something directly on their left, opening marks on their right, a dash on both
/// sides. A colon or semicolon ends the run, unless double quotes open behind it.
pub fn is_ordinary(reduced: &[char], sides: Sides) -> bool {
    let (left, right) = (sides.left, sides.right);
    match reduced {
        [] => return true,
        ['('] => return right || !left,
        [')'] => return left || !right,
        [_] => return true,
        _ if !left && !right => return false,
        _ => {}
    }
    let closes = |mark: &char| {
        matches!(kind(*mark), Kind::Close | Kind::Quote) || (sides.low && matches!(mark, '“' | '‘'))
    };
    let opens = |mark: &char| matches!(kind(*mark), Kind::Open | Kind::Quote);
    let skip = |marks: &[char], test: &dyn Fn(&char) -> bool| {
        let marks = marks.iter().take(MOST);
        marks.take_while(|mark| test(mark)).count()
    };
    let mut rest = reduced;
    if sides.left {
        rest = &rest[skip(rest, &closes)..];
        match rest.first().map(|&mark| kind(mark)) {
            Some(Kind::Colon) => {
                let behind = &rest[1..];
                return behind.is_empty()
                    || (sides.right && behind.iter().all(|&mark| is_double_quote(mark)));
            }
            Some(Kind::Stop) => {
                rest = &rest[1..];
                rest = &rest[skip(rest, &closes)..];
            }
            _ => {}
        }
    }
    if sides.left && sides.right && rest.first().is_some_and(|&m| kind(m) == Kind::Dash) {
        rest = &rest[1..];
    }
    if sides.right {
        rest = &rest[skip(rest, &opens)..];
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reduced(run: &str) -> Vec<char> {
        let mut out = Vec::new();
        reduce(run.chars(), &mut out);
        out
    }

    #[test]
    fn repetition_tells_nothing() {
        for (run, expected) in [
            ("...", "."),
            ("?!?!", "!"),
            ("--", "-"),
            ("-/", "/"),
            (")))", ")"),
            ("''", "'"),
            (".,", ","),
            (".:", ":"),
            ("……", "…"),
            ("!!\"", "!\""),
        ] {
            assert_eq!(reduced(run), expected.chars().collect::<Vec<_>>(), "{run}");
        }
    }

    #[test]
    fn quoting_and_bracketing_are_ordinary_and_emoticons_are_not() {
        let ordinary = |run: &str, left, right| {
            let low = false;
            is_ordinary(&reduced(run), Sides { left, right, low })
        };
        for run in [".\"", "),", ").", "!\")", "'.\"", "\";", "):", "。”"] {
            assert!(ordinary(run, true, false), "{run}");
        }
        for run in ["(\"", "“‘", "¿¡"] {
            assert!(ordinary(run, false, true), "{run}");
        }
        for run in [")-(", ".\"(", "：“", ":\"", "...", "--"] {
            assert!(ordinary(run, true, true), "{run}");
        }
        let emoticons = [
            ":(", ":)", ";)", ":-/", ":-)", ":'(", ";-)", "(:", ":/", ":-(",
        ];
        for run in emoticons {
            assert!(!ordinary(run, false, false), "{run} alone");
            assert!(!ordinary(run, true, false), "{run} after a word");
            assert!(!ordinary(run, false, true) || run == "(:", "{run} before");
        }
        assert!(!ordinary(":(", true, true) && !ordinary("):", false, false));
        // Nothing can be spelled in quotes and brackets.
        for run in ["\"'\"'\"", ")\"')", "'\"'.\"'\""] {
            assert!(!ordinary(run, true, false), "{run}");
        }
        assert!(!ordinary("“‘“‘", false, true) && !ordinary("(", true, false));
        assert!(!ordinary(")", false, true) && ordinary("(", false, false));
    }
}
