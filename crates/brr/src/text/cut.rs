//! A text to tokens and public structure.
//!
//! # Guarantee
//!
//! The cut sees characters and the public table of the language ([`crate::Orthography`]), and nothing else:
//! no vocabulary, no model. What it calls structure is therefore a function of the characters alone, and two
//! texts with equal structure can differ in their tokens only. (That is the adjacency of
//! [`super::adjacency`]; a structure that depended on which words a model knows would tell known words from
//! unknown ones for certain.) There is one exception, which is declared: a table may say that stretches of
//! letters of scripts without spaces are cut by the model's own words ([`super::lattice`]).
//!
//! Text falls into *chunks* at white space and HTML line breaks, which are structure. A chunk is
//!
//! - one token if it is a web or mail address (less the marks around it), if it has no letter
//!   or digit and is not a single mark (`:-)`, `>.<`, emoji), or if it starts with a colon or
//!   semicolon and goes on (`:D`);
//! - otherwise letters, digits, symbols and marks in turn. A stretch of letters is a token, with
//!   apostrophes inside; contractions are a stem and an ending, elisions a beginning and a stem. A stretch of
//!   letters of a script without spaces is one token, whatever its length, unless the table says otherwise. Numbers take in whatever touches
//!   them: `12/05/2020`, `$1,000`, `covid-19`, `(555)` and `-5` are one token each. Other symbols
//!   are a token as far as they go, with the marks between them (`>.<`). Marks between tokens are
//!   structure if they are ordinary, else a symbol like any other ([`super::marks`]).

use std::ops::Range;

use super::Piece;
use super::chars::{Class, is_apostrophe, is_ignorable, joins_letters};
use super::lattice::{self, Lattice};
use super::marks::{Sides, is_ordinary, reduce};
use super::orthography::Orthography;

/// A part of a text, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'t> {
    /// To be privatized.
    Token(Token<'t>),
    /// White space, as it will be written: space, tab, line feed or return.
    Space(char),
    /// A punctuation mark.
    Mark(char),
    /// An HTML line break such as `<br />`.
    Break,
}

/// A token as it stands in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its characters.
    pub text: &'t str,
    /// What part of a word it is.
    pub role: Role,
}

/// What part of a word a token is: decides how it is looked up, not how it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A word of its own, or anything else.
    Whole,
    /// What stood before an ending that begins with a letter, as `n't` does.
    ChangedStem,
    /// The beginning of an elision.
    Beginning,
    /// The ending of a contraction.
    Ending,
}

/// Cuts texts of a language.
#[derive(Clone, Copy)]
pub struct Cutter<'v> {
    table: &'v Orthography,
    lattice: Option<Lattice<'v>>,
}

impl<'v> Cutter<'v> {
    /// By the table of a language, and the lattice that it may ask for.
    pub fn new(table: &'v Orthography, lattice: Option<Lattice<'v>>) -> Cutter<'v> {
        Cutter { table, lattice }
    }

    /// The table of the language.
    pub fn table(&self) -> &'v Orthography {
        self.table
    }

    /// Calls `each` with every segment of a text, in order.
    pub fn cut<'t>(&self, text: &'t str, mut each: impl FnMut(Segment<'t>)) {
        let mut scratch = Scratch::new(*self);
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let length = if let Some(tag) = break_tag(rest) {
                each(Segment::Break);
                tag
            } else if c.is_whitespace() {
                each(Segment::Space(plain_space(c)));
                c.len_utf8()
            } else {
                let length = chunk_length(rest);
                cut_chunk(&rest[..length], &mut scratch, &mut each);
                length
            };
            rest = &rest[length..];
        }
    }

    /// A text's pieces in order.
    pub fn pieces<'t>(&self, text: &'t str) -> Vec<Piece<'t>> {
        let mut pieces = Vec::new();
        self.cut(text, |segment| pieces.push(segment.into()));
        pieces
    }

    /// Calls `each` with every token of a text and the place of its first byte.
    pub fn each_token<'t>(&self, text: &'t str, mut each: impl FnMut(usize, &'t str)) {
        self.cut(text, |segment| {
            if let Segment::Token(token) = segment {
                // Tokens are parts of the text.
                each(
                    token.text.as_ptr().addr() - text.as_ptr().addr(),
                    token.text,
                );
            }
        });
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

fn chunk_length(text: &str) -> usize {
    let plain = |b: &u8| b.is_ascii_graphic() && *b != b'<';
    let start = text.bytes().take_while(plain).count();
    if matches!(text.as_bytes().get(start), None | Some(b' ' | b'\n')) {
        return start;
    }
    let ends = |(at, c): &(usize, char)| {
        c.is_whitespace() || (*c == '<' && break_tag(&text[*at..]).is_some())
    };
    let end = text.char_indices().find(ends);
    end.map_or(text.len(), |(at, _)| at)
}

/// `scheme://...`, `www....`, `name@host`.
fn is_address(core: &str) -> bool {
    let at_sign = || {
        core.split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.starts_with(char::is_alphanumeric))
    };
    let www = || {
        core.get(..4)
            .is_some_and(|start| start.eq_ignore_ascii_case("www."))
    };
    core.contains("://") || www() || at_sign()
}

/// What a chunk consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Letters, or letters and digits.
    Word {
        digit: bool,
    },
    Spaceless,
    Symbols,
    Marks,
}

#[derive(Clone, Debug)]
struct Atom {
    kind: Kind,
    range: Range<usize>,
}

impl Atom {
    fn has_digit(&self) -> bool {
        self.kind == Kind::Word { digit: true }
    }
}

/// How a text is cut, and memory that its chunks share.
struct Scratch<'v> {
    table: &'v Orthography,
    lattice: Option<(Lattice<'v>, lattice::Memory)>,
    atoms: Vec<Atom>,
    reduced: Vec<char>,
}

impl<'v> Scratch<'v> {
    fn new(cutter: Cutter<'v>) -> Scratch<'v> {
        Scratch {
            table: cutter.table,
            lattice: cutter
                .lattice
                .map(|lattice| (lattice, lattice::Memory::default())),
            atoms: Vec::new(),
            reduced: Vec::new(),
        }
    }
}

fn cut_chunk<'t>(chunk: &'t str, scratch: &mut Scratch<'_>, each: &mut impl FnMut(Segment<'t>)) {
    if chunk.bytes().all(|b| b.is_ascii_alphabetic()) {
        return each(whole(chunk));
    }
    let first = chunk.chars().find(|&c| !is_ignorable(c));
    let Some(first) = first else { return };
    let table = scratch.table;
    let is_mark = |c| table.is_mark(c);
    let sides = |left, right| Sides {
        left,
        right,
        low: table.quotes_low(),
    };
    let core = chunk.trim_matches(is_mark);
    if is_address(core) {
        let start = chunk.len() - chunk.trim_start_matches(is_mark).len();
        let end = start + core.len();
        let reduced = &mut scratch.reduced;
        marks(&chunk[..start], sides(false, true), reduced, each);
        each(whole(core));
        return marks(&chunk[end..], sides(true, false), reduced, each);
    }
    if is_wordless(table, chunk) {
        return match chunk.chars().all(|c| is_mark(c) || is_ignorable(c)) {
            true => marks(chunk, sides(false, false), &mut scratch.reduced, each),
            false => each(whole(chunk)),
        };
    }
    if matches!(first, ':' | ';' | '：' | '；') {
        return each(whole(chunk));
    }
    read_atoms(table, chunk, &mut scratch.atoms);
    fuse_symbols(chunk, scratch);
    write_atoms(chunk, scratch, each);
}

/// Whether there is neither a letter nor a digit. (Underscores join letters, and are none.)
fn is_wordless(table: &Orthography, text: &str) -> bool {
    let is_word = |c| {
        matches!(
            table.class(c),
            Class::Letter | Class::Spaceless | Class::Digit
        )
    };
    !text.chars().any(|c| is_word(c) && c != '_')
}

fn whole(text: &str) -> Segment<'_> {
    Segment::Token(Token {
        text,
        role: Role::Whole,
    })
}

/// A run of marks: structure if it is ordinary, else a token.
fn marks<'t>(
    run: &'t str,
    sides: Sides,
    reduced: &mut Vec<char>,
    each: &mut impl FnMut(Segment<'t>),
) {
    if is_ordinary_run(run, sides, reduced) {
        reduced.iter().for_each(|&mark| each(Segment::Mark(mark)));
    } else {
        each(whole(run));
    }
}

/// Takes a chunk apart into stretches of one kind.
fn read_atoms(table: &Orthography, chunk: &str, atoms: &mut Vec<Atom>) {
    atoms.clear();
    let mut at = 0;
    while let Some(c) = chunk[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        let kind = match table.class(c) {
            Class::Ignorable => match atoms.last_mut() {
                // It belongs to what it stands in, or to nothing.
                Some(last) if last.range.end == start => {
                    last.range.end = at;
                    continue;
                }
                _ => continue,
            },
            Class::Combining => {
                combine(chunk, atoms, start..at);
                continue;
            }
            Class::Letter => Kind::Word { digit: false },
            Class::Digit => Kind::Word { digit: true },
            Class::Spaceless => Kind::Spaceless,
            Class::Mark => match lone_ending(table, chunk, atoms, start) {
                Some(end) => {
                    at = end;
                    Kind::Word { digit: false }
                }
                None if joins(table, chunk, atoms, start..at) => Kind::Word { digit: false },
                None if ends_elision(table, chunk, atoms, start..at) => Kind::Word { digit: false },
                None => Kind::Marks,
            },
            Class::Symbol if joins(table, chunk, atoms, start..at) => Kind::Word { digit: false },
            Class::Symbol => Kind::Symbols,
        };
        push(atoms, kind, start..at);
    }
}

/// Appends a stretch, to the last atom if that is of its kind and touches it.
fn push(atoms: &mut Vec<Atom>, kind: Kind, range: Range<usize>) {
    if let Some(last) = atoms
        .last_mut()
        .filter(|last| last.range.end == range.start)
    {
        match (&mut last.kind, kind) {
            (Kind::Word { digit: has }, Kind::Word { digit }) => {
                *has |= digit;
                last.range.end = range.end;
                return;
            }
            (same, kind) if *same == kind => {
                last.range.end = range.end;
                return;
            }
            _ => {}
        }
    }
    atoms.push(Atom { kind, range });
}

/// Makes symbols of runs of marks that are not ordinary, stand between symbols or end an emoticon,
/// and one atom of symbols that touch.
fn fuse_symbols(chunk: &str, scratch: &mut Scratch<'_>) {
    let table = scratch.table;
    let Scratch { atoms, reduced, .. } = scratch;
    for atom in &mut *atoms {
        let word = matches!(atom.kind, Kind::Word { .. });
        if word && is_wordless(table, &chunk[atom.range.clone()]) {
            atom.kind = Kind::Symbols;
        }
    }
    let symbols = |atom: Option<&Atom>| atom.is_some_and(|a| a.kind == Kind::Symbols);
    for i in 0..atoms.len() {
        if atoms[i].kind == Kind::Marks {
            let sides = Sides {
                left: i > 0,
                right: i + 1 < atoms.len(),
                low: table.quotes_low(),
            };
            let run = &chunk[atoms[i].range.clone()];
            let touches = [
                i > 0 && symbols(atoms.get(i - 1)),
                symbols(atoms.get(i + 1)),
            ];
            // Half of an emoticon: `=)` and `=(` must look the same.
            let mouth =
                touches.contains(&true) && run.contains(['(', ')', '/', ':', ';', '（', '）']);
            if mouth || touches == [true; 2] || !is_ordinary_run(run, sides, reduced) {
                atoms[i].kind = Kind::Symbols;
            }
        }
    }
    atoms.dedup_by(|next, last| {
        let both = next.kind == Kind::Symbols && last.kind == Kind::Symbols;
        if both && last.range.end == next.range.start {
            last.range.end = next.range.end;
            return true;
        }
        false
    });
}

fn is_ordinary_run(run: &str, sides: Sides, reduced: &mut Vec<char>) -> bool {
    reduce(run.chars().filter(|&c| !is_ignorable(c)), reduced);
    is_ordinary(reduced, sides)
}

/// Gives a combining mark to the character before it. A punctuation mark that carries one is
/// no longer punctuation.
fn combine(chunk: &str, atoms: &mut Vec<Atom>, range: Range<usize>) {
    match atoms.last_mut() {
        Some(last) if last.kind != Kind::Marks && last.range.end == range.start => {
            last.range.end = range.end;
        }
        Some(last) if last.range.end == range.start => {
            let run = &chunk[last.range.clone()];
            let mark = run.chars().next_back().map_or(0, char::len_utf8);
            last.range.end -= mark;
            let start = last.range.end;
            if last.range.is_empty() {
                atoms.pop();
            }
            push(atoms, Kind::Symbols, start..range.end);
        }
        _ => push(atoms, Kind::Symbols, range),
    }
}

/// Whether the character in `range` joins the letters or digits on its two sides.
fn joins(table: &Orthography, chunk: &str, atoms: &[Atom], range: Range<usize>) -> bool {
    let joiner = chunk[range.clone()].chars().next();
    let before = atoms
        .last()
        .is_some_and(|a| matches!(a.kind, Kind::Word { .. }) && a.range.end == range.start);
    before && joiner.is_some_and(joins_letters) && starts_word(table, &chunk[range.end..])
}

fn starts_word(table: &Orthography, text: &str) -> bool {
    let first = text.chars().find(|&c| !is_ignorable(c));
    first.is_some_and(|c| matches!(table.class(c), Class::Letter | Class::Digit))
}

/// Whether the apostrophe in `range` makes the word before it an elision, behind which no letter has to follow:
/// `l'«homme»`, `un po'`.
fn ends_elision(table: &Orthography, chunk: &str, atoms: &[Atom], range: Range<usize>) -> bool {
    let touches = |a: &&Atom| a.kind == Kind::Word { digit: false } && a.range.end == range.start;
    let word = atoms.last().filter(touches);
    word.is_some_and(|word| table.is_elision(&chunk[word.range.start..range.end]))
}

/// Where an ending that opens a chunk ends, as the usual vector files write it (`he 's`), if an
/// apostrophe at `start` begins one.
fn lone_ending(table: &Orthography, chunk: &str, atoms: &[Atom], start: usize) -> Option<usize> {
    let rest = &chunk[start..];
    if !atoms.is_empty() || !rest.starts_with(is_apostrophe) {
        return None;
    }
    let letters = rest.char_indices().skip(1);
    let mut after = letters.skip_while(|(_, c)| table.class(*c) == Class::Letter);
    let (length, next) = after
        .next()
        .map_or((rest.len(), None), |(at, c)| (at, Some(c)));
    let goes_on = next.is_some_and(|c| table.class(c) != Class::Mark || is_apostrophe(c));
    (!goes_on && table.is_ending(&rest[..length])).then_some(start + length)
}

/// Writes a chunk's atoms as tokens and marks.
fn write_atoms<'t>(chunk: &'t str, scratch: &mut Scratch<'_>, each: &mut impl FnMut(Segment<'t>)) {
    let Scratch {
        table,
        lattice,
        atoms,
        reduced,
    } = scratch;
    let sides = |left, right| Sides {
        left,
        right,
        low: table.quotes_low(),
    };
    // The marks that wait for what follows them.
    let mut waiting = 0..0;
    let mut left = false;
    let mut next = 0;
    while next < atoms.len() {
        if atoms[next].kind == Kind::Marks {
            waiting = atoms[next].range.clone();
            next += 1;
            continue;
        }
        let cluster = cluster_from(chunk, atoms, next, reduced);
        let mut range = atoms[next].range.start..atoms[cluster.end - 1].range.end;
        if cluster.number {
            absorb(
                chunk,
                &mut range,
                &mut waiting,
                atoms.get_mut(cluster.end),
                left,
            );
        }
        marks(&chunk[waiting], sides(left, true), reduced, each);
        let text = &chunk[range];
        match (lattice.as_mut(), atoms[next].kind) {
            (Some((lattice, memory)), Kind::Spaceless) => {
                lattice.cut(text, memory, |word| each(whole(word)));
            }
            (_, kind) => token(table, text, kind, each),
        }
        (waiting, left, next) = (0..0, true, cluster.end);
    }
    marks(&chunk[waiting], sides(left, false), reduced, each);
}

/// Atoms that are one token.
struct Cluster {
    /// The first atom after it.
    end: usize,
    number: bool,
}

/// The atoms from `first` on that are one token: numbers take in what touches them, directly or
/// through a single mark.
fn cluster_from(chunk: &str, atoms: &[Atom], first: usize, reduced: &mut Vec<char>) -> Cluster {
    let mut last = first;
    loop {
        let mut other = last + 1;
        let mut single = true;
        if let Some(run) = atoms.get(other).filter(|a| a.kind == Kind::Marks) {
            let run = &chunk[run.range.clone()];
            reduce(run.chars().filter(|&c| !is_ignorable(c)), reduced);
            single = reduced.len() == 1 && run.is_ascii();
            other += 1;
        }
        let joined = atoms.get(other).is_some_and(|b| {
            let a = &atoms[last];
            let spaceless = a.kind == Kind::Spaceless || b.kind == Kind::Spaceless;
            single && !spaceless && (a.has_digit() || b.has_digit())
        });
        if !joined {
            let number = atoms[first..=last].iter().any(Atom::has_digit);
            return Cluster {
                end: last + 1,
                number,
            };
        }
        last = other;
    }
}

/// Takes brackets directly around a number, and a minus or point directly before it, into it.
fn absorb(
    chunk: &str,
    range: &mut Range<usize>,
    waiting: &mut Range<usize>,
    after: Option<&mut Atom>,
    left: bool,
) {
    let before = &chunk[waiting.clone()];
    let touches = waiting.end == range.start;
    if touches && !left && matches!(before, "-" | "." | "–") {
        range.start = waiting.start;
        *waiting = 0..0;
        return;
    }
    if !touches || !before.ends_with('(') {
        return;
    }
    let closes = |a: &&mut Atom| a.kind == Kind::Marks && chunk[a.range.clone()].starts_with(')');
    let closed_inside = chunk[range.clone()].contains(')');
    let after = after.filter(closes);
    if closed_inside || after.is_some() {
        waiting.end -= 1;
        range.start -= 1;
    }
    if let Some(after) = after.filter(|_| !closed_inside) {
        range.end += 1;
        after.range.start += 1;
    }
}

/// A token, or the parts of a contraction.
fn token<'t>(table: &Orthography, text: &'t str, kind: Kind, each: &mut impl FnMut(Segment<'t>)) {
    let role = |text| match text {
        text if table.is_ending(text) => Role::Ending,
        text if table.is_elision(text) => Role::Beginning,
        _ => Role::Whole,
    };
    if kind != (Kind::Word { digit: false }) || text.contains(char::is_numeric) {
        let role = role(text);
        return each(Segment::Token(Token { text, role }));
    }
    let mut rest = text;
    while let Some(end) = table.elision_end(rest) {
        let (text, behind) = rest.split_at(end);
        let role = Role::Beginning;
        each(Segment::Token(Token { text, role }));
        rest = behind;
    }
    match table.ending_at(rest) {
        Some(at) => {
            let (stem, ending) = rest.split_at(at);
            stem_of(table, stem, ending, each);
        }
        None => {
            let role = role(rest);
            each(Segment::Token(Token { text: rest, role }));
        }
    }
}

fn stem_of<'t>(
    table: &Orthography,
    stem: &'t str,
    ending: &'t str,
    each: &mut impl FnMut(Segment<'t>),
) {
    match table.ending_at(stem) {
        Some(at) => {
            let (stem, ending) = stem.split_at(at);
            stem_of(table, stem, ending, each);
        }
        None => {
            let role = match ending.starts_with(is_apostrophe) {
                true => Role::Whole,
                false => Role::ChangedStem,
            };
            each(Segment::Token(Token { text: stem, role }));
        }
    }
    each(Segment::Token(Token {
        text: ending,
        role: Role::Ending,
    }));
}

#[cfg(test)]
mod tests;
