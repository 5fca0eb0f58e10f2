//! A text to tokens and public structure.
//!
//! # Guarantee
//!
//! [`cut`] sees characters and nothing else: no vocabulary, no model. What it calls structure is
//! therefore a function of the characters alone, and two texts with equal structure can differ
//! in their tokens only. (That is the adjacency of [`super::adjacency`]; a structure that
//! depended on which words a model knows would tell known words from unknown ones for certain.)
//!
//! Text falls into *chunks* at white space and HTML line breaks, which are structure. A chunk is
//!
//! - one token if it is a web or mail address (less the marks around it), if it has no letter
//!   or digit and is not a single mark (`:-)`, `>.<`, emoji), or if it starts with a colon or
//!   semicolon and goes on (`:D`);
//! - otherwise letters, digits, symbols and marks in turn. A stretch of letters is a token, with
//!   apostrophes inside; contractions are a stem and an ending. A stretch of letters of a
//!   script without spaces is one token, whatever its length. Numbers take in whatever touches
//!   them: `12/05/2020`, `$1,000`, `covid-19`, `(555)` and `-5` are one token each. Other symbols
//!   are a token as far as they go, with the marks between them (`>.<`). Marks between tokens are
//!   structure if they are ordinary, else a symbol like any other ([`super::marks`]).

use std::ops::Range;

use super::chars::{Class, class, is_apostrophe, is_ignorable, is_mark, joins_letters};
use super::contraction::{ending_at, is_ending};
use super::marks::{Sides, is_ordinary, reduce};

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
    /// What stood before `n't`.
    NegatedStem,
    /// The ending of a contraction.
    Ending,
}

/// Calls `each` with every segment of a text, in order.
pub fn cut<'t>(text: &'t str, mut each: impl FnMut(Segment<'t>)) {
    let mut scratch = Scratch::default();
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

/// Memory that chunks share.
#[derive(Default)]
struct Scratch {
    atoms: Vec<Atom>,
    reduced: Vec<char>,
}

fn cut_chunk<'t>(chunk: &'t str, scratch: &mut Scratch, each: &mut impl FnMut(Segment<'t>)) {
    if chunk.bytes().all(|b| b.is_ascii_alphabetic()) {
        return each(whole(chunk));
    }
    let first = chunk.chars().find(|&c| !is_ignorable(c));
    let Some(first) = first else { return };
    let core = chunk.trim_matches(is_mark);
    if is_address(core) {
        let start = chunk.len() - chunk.trim_start_matches(is_mark).len();
        let end = start + core.len();
        let reduced = &mut scratch.reduced;
        marks(
            &chunk[..start],
            Sides {
                left: false,
                right: true,
            },
            reduced,
            each,
        );
        each(whole(core));
        return marks(
            &chunk[end..],
            Sides {
                left: true,
                right: false,
            },
            reduced,
            each,
        );
    }
    if is_wordless(chunk) {
        let alone = Sides {
            left: false,
            right: false,
        };
        return match chunk.chars().all(|c| is_mark(c) || is_ignorable(c)) {
            true => marks(chunk, alone, &mut scratch.reduced, each),
            false => each(whole(chunk)),
        };
    }
    if matches!(first, ':' | ';' | '：' | '；') {
        return each(whole(chunk));
    }
    read_atoms(chunk, &mut scratch.atoms);
    fuse_symbols(chunk, scratch);
    write_atoms(chunk, scratch, each);
}

/// Whether there is neither a letter nor a digit. (Underscores join letters, and are none.)
fn is_wordless(text: &str) -> bool {
    let is_word = |c| matches!(class(c), Class::Letter | Class::Spaceless | Class::Digit);
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
fn read_atoms(chunk: &str, atoms: &mut Vec<Atom>) {
    atoms.clear();
    let mut at = 0;
    while let Some(c) = chunk[at..].chars().next() {
        let start = at;
        at += c.len_utf8();
        let kind = match class(c) {
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
            Class::Mark => match lone_ending(chunk, atoms, start) {
                Some(end) => {
                    at = end;
                    Kind::Word { digit: false }
                }
                None if joins(chunk, atoms, start..at) => Kind::Word { digit: false },
                None => Kind::Marks,
            },
            Class::Symbol if joins(chunk, atoms, start..at) => Kind::Word { digit: false },
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
fn fuse_symbols(chunk: &str, scratch: &mut Scratch) {
    let Scratch { atoms, reduced } = scratch;
    for atom in &mut *atoms {
        let word = matches!(atom.kind, Kind::Word { .. });
        if word && is_wordless(&chunk[atom.range.clone()]) {
            atom.kind = Kind::Symbols;
        }
    }
    let symbols = |atom: Option<&Atom>| atom.is_some_and(|a| a.kind == Kind::Symbols);
    for i in 0..atoms.len() {
        if atoms[i].kind == Kind::Marks {
            let sides = Sides {
                left: i > 0,
                right: i + 1 < atoms.len(),
            };
            let run = &chunk[atoms[i].range.clone()];
            let touches = [
                i > 0 && symbols(atoms.get(i - 1)),
                symbols(atoms.get(i + 1)),
            ];
            // Half of an emoticon: `=)` and `=(` must look the same.
            let mouth = touches.contains(&true) && run.contains(['(', ')', '/', ':', ';']);
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
fn joins(chunk: &str, atoms: &[Atom], range: Range<usize>) -> bool {
    let joiner = chunk[range.clone()].chars().next();
    let before = atoms
        .last()
        .is_some_and(|a| matches!(a.kind, Kind::Word { .. }) && a.range.end == range.start);
    before && joiner.is_some_and(joins_letters) && starts_word(&chunk[range.end..])
}

fn starts_word(text: &str) -> bool {
    let first = text.chars().find(|&c| !is_ignorable(c));
    first.is_some_and(|c| matches!(class(c), Class::Letter | Class::Digit))
}

/// Where an ending that opens a chunk ends, as the usual vector files write it (`he 's`), if an
/// apostrophe at `start` begins one.
fn lone_ending(chunk: &str, atoms: &[Atom], start: usize) -> Option<usize> {
    let rest = &chunk[start..];
    if !atoms.is_empty() || !rest.starts_with(is_apostrophe) {
        return None;
    }
    let letters = rest.char_indices().skip(1);
    let mut after = letters.skip_while(|(_, c)| class(*c) == Class::Letter);
    let (length, next) = after
        .next()
        .map_or((rest.len(), None), |(at, c)| (at, Some(c)));
    let goes_on = next.is_some_and(|c| !matches!(class(c), Class::Mark) || is_apostrophe(c));
    (!goes_on && is_ending(&rest[..length])).then_some(start + length)
}

/// Writes a chunk's atoms as tokens and marks.
fn write_atoms<'t>(chunk: &'t str, scratch: &mut Scratch, each: &mut impl FnMut(Segment<'t>)) {
    let Scratch { atoms, reduced } = scratch;
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
        marks(&chunk[waiting], Sides { left, right: true }, reduced, each);
        token(&chunk[range], atoms[next].kind, each);
        (waiting, left, next) = (0..0, true, cluster.end);
    }
    marks(&chunk[waiting], Sides { left, right: false }, reduced, each);
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
fn token<'t>(text: &'t str, kind: Kind, each: &mut impl FnMut(Segment<'t>)) {
    let plain_word = kind == Kind::Word { digit: false };
    match ending_at(text).filter(|_| plain_word && text.chars().all(|c| !c.is_numeric())) {
        Some(at) => {
            let (stem, ending) = text.split_at(at);
            stem_of(stem, ending, each);
        }
        None => {
            let role = if is_ending(text) {
                Role::Ending
            } else {
                Role::Whole
            };
            each(Segment::Token(Token { text, role }));
        }
    }
}

fn stem_of<'t>(stem: &'t str, ending: &'t str, each: &mut impl FnMut(Segment<'t>)) {
    match ending_at(stem) {
        Some(at) => {
            let (stem, ending) = stem.split_at(at);
            stem_of(stem, ending, each);
        }
        None => {
            let negated = ending.starts_with(['n', 'N']);
            let role = if negated {
                Role::NegatedStem
            } else {
                Role::Whole
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
