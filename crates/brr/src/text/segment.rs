//! Where tokens begin and end.
//!
//! Text is first cut at white space and line-break tags into runs. A run that
//! looks like a web or mail address is one token (less the punctuation around
//! it). Any other run is cut at Unicode word boundaries (UAX #29): a segment
//! with a letter or digit is a token; listed punctuation is structure; anything
//! else between (symbols, emoji, control characters) is, as far as it goes, one
//! token.

use unicode_segmentation::UnicodeSegmentation;

use super::PUNCTUATION;

/// A stretch of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'t> {
    /// To be privatized.
    Token(&'t str),
    /// White space, as it will be written: space, tab, line feed or return.
    Space(char),
    /// Listed punctuation.
    Punctuation(char),
    /// An HTML line break such as `<br />`.
    Break,
}

/// Calls `each` with every segment in order. Together they cover the text.
pub fn segments<'t>(text: &'t str, mut each: impl FnMut(Segment<'t>)) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(tag) = break_tag(rest) {
            each(Segment::Break);
            rest = &rest[tag..];
        } else if c.is_whitespace() {
            each(Segment::Space(plain_space(c)));
            rest = &rest[c.len_utf8()..];
        } else {
            let (run, after) = rest.split_at(run_length(rest));
            split_run(run, &mut each);
            rest = after;
        }
    }
}

/// Rare kinds of white space could carry a message: they become plain spaces.
fn plain_space(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => c,
        _ => ' ',
    }
}

/// Length of a `<br>`, `<br/>` or `<br />` tag, in any case, at the start.
fn break_tag(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if !bytes.get(..3)?.eq_ignore_ascii_case(b"<br") {
        return None;
    }
    let spaces = bytes[3..].iter().take_while(|b| **b == b' ').count();
    let slash = usize::from(bytes.get(3 + spaces) == Some(&b'/'));
    let end = 3 + spaces + slash;
    (bytes.get(end) == Some(&b'>')).then_some(end + 1)
}

fn run_length(text: &str) -> usize {
    let ends = |(at, c): &(usize, char)| {
        c.is_whitespace() || (*c == '<' && break_tag(&text[*at..]).is_some())
    };
    text.char_indices()
        .skip(1)
        .find(ends)
        .map_or(text.len(), |(at, _)| at)
}

fn is_punctuation(c: char) -> bool {
    PUNCTUATION.contains(c)
}

/// `scheme://...`, `www....`, `name@host`.
fn is_address(run: &str) -> bool {
    let at_sign = || {
        run.split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.starts_with(char::is_alphanumeric))
    };
    let www = || {
        run.get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("www."))
    };
    run.contains("://") || www() || at_sign()
}

fn split_run<'t>(run: &'t str, each: &mut impl FnMut(Segment<'t>)) {
    let core = run.trim_matches(is_punctuation);
    if !is_address(core) {
        return split_words(run, each);
    }
    let start = run.len() - run.trim_start_matches(is_punctuation).len();
    run[..start]
        .chars()
        .for_each(|c| each(Segment::Punctuation(c)));
    each(Segment::Token(core));
    run[start + core.len()..]
        .chars()
        .for_each(|c| each(Segment::Punctuation(c)));
}

fn split_words<'t>(run: &'t str, each: &mut impl FnMut(Segment<'t>)) {
    // Start of the symbols not yet handed on.
    let mut symbols: Option<usize> = None;
    for (at, segment) in run.split_word_bound_indices() {
        if segment.contains(char::is_alphanumeric) {
            if let Some(start) = symbols.take() {
                each(Segment::Token(&run[start..at]));
            }
            each(Segment::Token(segment));
            continue;
        }
        // Punctuation with marks on it (an emoji keycap, say) is no longer punctuation.
        let mut chars = segment.chars();
        match (chars.next(), chars.next()) {
            (Some(c), None) if is_punctuation(c) => {
                if let Some(start) = symbols.take() {
                    each(Segment::Token(&run[start..at]));
                }
                each(Segment::Punctuation(c));
            }
            _ => {
                symbols.get_or_insert(at);
            }
        }
    }
    if let Some(start) = symbols {
        each(Segment::Token(&run[start..]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tokens in brackets, structure as it is written.
    fn show(text: &str) -> String {
        let mut out = String::new();
        segments(text, |s| match s {
            Segment::Token(t) => out.push_str(&format!("[{t}]")),
            Segment::Space(c) | Segment::Punctuation(c) => out.push(c),
            Segment::Break => out.push_str("<br />"),
        });
        out
    }

    #[test]
    fn cuts() {
        let cases = [
            ("The film, sadly.", "[The] [film], [sadly]."),
            ("don't well-known it’s", "[don't] [well]-[known] [it’s]"),
            ("3.14 1,000 10/10 B2B", "[3.14] [1,000] [10]/[10] [B2B]"),
            ("$100 50% a&b C++", "[$][100] [50][%] [a][&][b] [C][++]"),
            ("(http://a.b/c?d=e).", "([http://a.b/c?d=e])."),
            (
                "WWW.example.com x.y@z.org, hi",
                "[WWW.example.com] [x.y@z.org], [hi]",
            ),
            ("@me #tag a @ b", "[@][me] [#][tag] [a] [@] [b]"),
            ("so good 😀👍🏽!", "[so] [good] [😀👍🏽]!"),
            (
                "one<br /><BR>two <br/> <brx>",
                "[one]<br /><br />[two] <br /> [<][brx][>]",
            ),
            ("日本 الكتاب، مرحبا", "[日][本] [الكتاب]، [مرحبا]"),
            ("cafe\u{301} na\u{ef}ve", "[cafe\u{301}] [na\u{ef}ve]"),
            ("a\u{a0}b\u{2003}c\u{200b}", "[a] [b] [c][\u{200b}]"),
            (
                "\u{7}\u{0} 1\u{fe0f}\u{20e3} .\u{301}",
                "[\u{7}\u{0}] [1\u{fe0f}\u{20e3}] [.\u{301}]",
            ),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(show(text), expected, "{text:?}");
        }
    }

    proptest! {
        /// Dropping the brackets gives the text back, but for exotic white
        /// space and the spelling of line-break tags.
        #[test]
        fn segments_cover_the_text(text in "(\\PC|[ a-z'.<>/@\\n\\t-]|<br ?/?>|\u{301}|😀){0,60}") {
            let mut covered = String::new();
            segments(&text, |s| match s {
                Segment::Token(t) => {
                    assert!(!t.is_empty());
                    covered.push_str(t);
                }
                Segment::Space(c) | Segment::Punctuation(c) => covered.push(c),
                Segment::Break => covered.push_str("<br />"),
            });
            let plain = |s: &str| {
                let s: String = s.chars().map(|c| if c.is_whitespace() { plain_space(c) } else { c }).collect();
                ["<br/>", "<br >", "<br>"].iter().fold(s, |s, tag| s.replace(tag, "<br />"))
            };
            prop_assert_eq!(plain(&covered), plain(&text));
        }
    }
}
