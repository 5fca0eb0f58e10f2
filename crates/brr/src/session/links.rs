//! Where an answer holds addresses, so that nothing private is put into one.
//!
//! Who fetches an address tells its server what is in it: a client that shows pictures does so unasked. An answer may be
//! written to make use of that, so originals never go into addresses, targets of Markdown links and HTML tags. Where
//! it is in doubt whether something is one, nothing is put there: the surrogate that stays does no harm.

/// What a stretch of an answer is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Text,
    /// The target of a link, up to the closing bracket.
    Target,
    /// A tag, up to its closing bracket.
    Tag,
    /// What follows `[name]:`.
    Definition,
}

/// Reads an answer chunk by chunk; white space divides chunks.
pub struct Links {
    region: Region,
    /// Line feeds since the last chunk.
    lines: u32,
}

impl Links {
    pub fn new() -> Links {
        Links {
            region: Region::Text,
            lines: 0,
        }
    }

    /// White space. No link or tag goes on behind an empty line.
    pub fn space(&mut self, c: char) {
        self.lines += u32::from(c == '\n');
        if self.lines >= 2 {
            self.region = Region::Text;
        }
    }

    /// Divides a chunk: `each` gets its stretches in order, and whether one is plain text.
    pub fn chunk<'t>(&mut self, chunk: &'t str, mut each: impl FnMut(&'t str, bool)) {
        if chunk.is_empty() {
            return;
        }
        self.lines = 0;
        let mut rest = chunk;
        while !rest.is_empty() {
            let (length, next) = match self.region {
                Region::Text => opening(rest),
                Region::Target => closing(rest, ')', Region::Target),
                Region::Tag => closing(rest, '>', Region::Tag),
                Region::Definition => (rest.len(), Region::Text),
            };
            let (stretch, behind) = rest.split_at(length);
            each(stretch, self.region == Region::Text && !is_address(stretch));
            (self.region, rest) = (next, behind);
        }
        if self.region == Region::Text && chunk.starts_with('[') && chunk.ends_with("]:") {
            self.region = Region::Definition;
        }
    }
}

/// Up to where text goes, and what comes next.
fn opening(text: &str) -> (usize, Region) {
    let target = text.find("](").map(|at| (at + 2, Region::Target));
    let bracket = |(at, _): &(usize, &str)| {
        let next = text[at + 1..].chars().next();
        next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
    };
    let tag = text.match_indices('<').find(bracket);
    let tag = tag.map(|(at, _)| (at + 1, Region::Tag));
    let first = target.into_iter().chain(tag).min_by_key(|(at, _)| *at);
    first.unwrap_or((text.len(), Region::Text))
}

/// Up to where a region goes, its closing bracket included.
fn closing(text: &str, bracket: char, region: Region) -> (usize, Region) {
    let found = text.find(bracket).map(|at| (at + 1, Region::Text));
    found.unwrap_or((text.len(), region))
}

/// Whether a stretch without white space has an address in it, or looks like it.
fn is_address(stretch: &str) -> bool {
    let lower = stretch.to_ascii_lowercase();
    let begins = ["//", "www.", "mailto:", "tel:", "data:", "javascript:"];
    begins.iter().any(|begin| lower.contains(begin)) || has_at_sign(&lower) || has_host(&lower)
}

fn has_at_sign(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        name.ends_with(char::is_alphanumeric) && host.starts_with(char::is_alphanumeric)
    })
}

/// `host.example/path`, `host.example?query`.
fn has_host(text: &str) -> bool {
    let mut dots = text.match_indices('.').map(|(at, _)| text.split_at(at));
    dots.any(|(before, after)| {
        let path = after[1..].split_once(['/', '?', '#']);
        before.ends_with(char::is_alphanumeric)
            && path.is_some_and(|(host, path)| {
                host.starts_with(char::is_alphanumeric) && path.contains(char::is_alphanumeric)
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with everything but plain text blotted out.
    fn plain(text: &str) -> String {
        let mut links = Links::new();
        let mut out = String::new();
        for chunk in text.split_inclusive(char::is_whitespace) {
            let end = chunk.trim_end();
            links.chunk(end, |stretch, plain| match plain {
                true => out.push_str(stretch),
                false => out.extend(stretch.chars().map(|_| '.')),
            });
            chunk[end.len()..].chars().for_each(|c| {
                links.space(c);
                out.push(c);
            });
        }
        out
    }

    #[test]
    fn nothing_in_an_address_is_plain() {
        for (text, expected) in [
            ("see http://a.b/ken now", "see .............. now"),
            (
                "![ken](//a.b/?q=ken ken) ken",
                "![ken](............ .... ken",
            ),
            ("[ken](a\nken) ken", "[ken](.\n.... ken"),
            ("<img src='ken' alt=ken> ken", "<... ......... ........ ken"),
            ("x <y and\n\nken", "x <. ...\n\nken"),
            ("ken@a.org, ken", ".......... ken"),
            ("a.org/ken a.org?ken ken", "......... ......... ken"),
            ("and/or ken. Really? 3 < ken", "and/or ken. Really? 3 < ken"),
            ("[1]: a/ken ken", "[1]: ..... ken"),
            ("(ken)[1] ken:ken", "(ken)[1] ken:ken"),
            ("mailto:ken ken", ".......... ken"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
