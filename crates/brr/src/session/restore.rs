//! The way back: surrogates in an answer become the originals again.
//!
//! An answer is read chunk by chunk, where a chunk ends at white space. What becomes of a chunk depends on the chunk
//! and on what came before it, never on what follows; so a chunk can be restored as soon as its end is seen, and a
//! text that comes in parts, cut anywhere, is restored as if it came whole.
//!
//! # Why no original gets into an address
//!
//! [`Readings`] says which stretches of a text are plain, in every way in which its blocks may be put together. An
//! original is written only where
//!
//! 1. the answer is plain: an address, a link's target or label or a tag that the answer itself holds takes no original; and
//! 2. the answer is plain with the originals in it, and what follows is read in the same state as without them: an
//!    original that looks like a part of an address or of markup begins nothing, and takes no other original along. Only an
//!    original with nothing but punctuation around it may be an address, which is then the one that was in the input.
//!
//! If the second does not hold, the chunk keeps its surrogates. So the text that is written is always in the state that
//! the answer is in, chunk after chunk.
//!
//! Blocks do not divide chunks: what touches a surrogate may stand in the next block. So the end of a block is
//! held back if there is a surrogate in its last chunk.

use std::ops::Range;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::Shared;
use super::inflection::{plural, singulars, spelling};
use super::links::Readings;
use super::memory::{Extent, Meaning, Memory, Spellings};
use super::quoting::Quoting;
use crate::numbers::value;
use crate::privatizer::Privatizer;
use crate::text::is_apostrophe;

/// A text with the originals in it: **private**.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restored {
    /// The text.
    pub text: String,
    /// How many surrogates became originals.
    pub restored: u64,
    /// How many were left, as it is not certain what they stand for.
    pub ambiguous: u64,
}

/// The text is not shown.
impl std::fmt::Debug for Restored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restored")
            .field("restored", &self.restored)
            .field("ambiguous", &self.ambiguous)
            .finish_non_exhaustive()
    }
}

/// Restores a text that comes in parts. What cannot be decided yet is held back: what follows the last white space.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # use brr::{Options, Privatizer, Session};
/// # let privatizer = Arc::new(Privatizer::new(model, Options::default())?);
/// # let mut session = Session::new(privatizer)?;
/// let name = session.privatize("Ludmilla")?.text;
/// let (begin, end) = name.split_at(1);
/// let mut restorer = session.restorer();
/// let parts = [restorer.push(begin), restorer.push(end), restorer.finish()];
/// assert_eq!(parts.concat(), "Ludmilla");
/// # Ok::<(), brr::Error>(())
/// ```
pub struct Restorer {
    privatizer: Arc<Privatizer>,
    memory: Shared,
    /// What the session knew when this began.
    known: Extent,
    /// A chunk whose end was not seen.
    pending: Zeroizing<String>,
    /// How many bytes of it were told all the same, as nothing in them is restored whatever follows.
    told: usize,
    /// The block that the pending chunk begins in.
    block: u64,
    /// Where in it other blocks begin.
    blocks: Vec<(usize, u64)>,
    readings: Readings,
    /// Whether a single quotation mark is open.
    quoted: bool,
    /// Whether what is pending begins within a string of JSON.
    quoting: Quoting,
    restored: u64,
    ambiguous: u64,
}

impl Restorer {
    pub(super) fn new(privatizer: Arc<Privatizer>, memory: Shared) -> Restorer {
        let known = memory.read().extent();
        Restorer {
            privatizer,
            memory,
            known,
            pending: Zeroizing::default(),
            told: 0,
            block: 0,
            blocks: Vec::new(),
            readings: Readings::new(),
            quoted: false,
            quoting: Quoting::new(),
            restored: 0,
            ambiguous: 0,
        }
    }

    /// The next part of a text; what can be told of the text now.
    pub fn push(&mut self, part: &str) -> String {
        joined(self.push_block(self.last_block(), part))
    }

    /// The text has ended: the rest of it.
    pub fn finish(&mut self) -> String {
        joined(self.finish_blocks())
    }

    /// The same for a text that a reader gets in blocks and may put together: a part of this block, and what can be
    /// told now of this block and of those before it. An address that begins in one block goes on in the next.
    pub fn push_block(&mut self, block: u64, part: &str) -> Vec<(u64, String)> {
        if block != self.last_block() {
            self.blocks.push((self.pending.len(), block));
        }
        let Some((at, last)) = part.char_indices().rfind(|(_, c)| c.is_whitespace()) else {
            self.pending.push_str(part);
            return Vec::new();
        };
        let (whole, rest) = part.split_at(at + last.len_utf8());
        self.pending.push_str(whole);
        let ready = std::mem::replace(&mut self.pending, Zeroizing::new(rest.to_owned()));
        self.write(&ready)
    }

    /// Tells what can be told now that a block has ended: all of it, unless there is a surrogate in its last chunk.
    pub fn end_block(&mut self) -> Vec<(u64, String)> {
        let before = (self.restored, self.ambiguous, self.quoted);
        let cuts: Vec<usize> = self.blocks.iter().map(|(at, _)| *at).collect();
        let pending = std::mem::take(&mut self.pending);
        let plain = self.readings.clone().chunk(&pending, &cuts);
        let restored = self.write_chunk(&pending, &cuts, &plain).originals;
        (self.restored, self.ambiguous, self.quoted) = before;
        self.pending = pending;
        if !restored.is_empty() {
            return Vec::new();
        }
        let told = std::mem::replace(&mut self.told, self.pending.len());
        let mut out = Blocks::default();
        let mut block = self.block;
        let ends = self.blocks.iter().copied();
        let mut start = 0;
        for (end, next) in ends.chain([(self.pending.len(), 0)]) {
            out.push(block, &self.pending[start.max(told).min(end)..end]);
            (start, block) = (end, next);
        }
        out.0
    }

    /// The first block of which something is held back.
    pub fn held(&self) -> Option<u64> {
        let untold = self.told < self.pending.len();
        let begun = self.blocks.iter().rfind(|(at, _)| *at <= self.told);
        untold.then(|| begun.map_or(self.block, |(_, block)| *block))
    }

    /// The text has ended: the rest of its blocks.
    pub fn finish_blocks(&mut self) -> Vec<(u64, String)> {
        let rest = std::mem::take(&mut self.pending);
        let told = self.write(&rest);
        (self.readings, self.quoted, self.block) = (Readings::new(), false, 0);
        self.quoting = Quoting::new();
        told
    }

    /// How many surrogates became originals so far.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// How many were left so far, as it is not certain what they stand for.
    pub fn ambiguous(&self) -> u64 {
        self.ambiguous
    }

    fn last_block(&self) -> u64 {
        self.blocks.last().map_or(self.block, |(_, block)| *block)
    }

    /// Whole chunks.
    fn write(&mut self, text: &str) -> Vec<(u64, String)> {
        let mut out = Blocks::default();
        let blocks = std::mem::take(&mut self.blocks);
        let mut blocks = blocks.into_iter().peekable();
        let mut at = 0;
        for piece in text.split_inclusive(char::is_whitespace) {
            let chunk = piece.trim_end_matches(char::is_whitespace);
            let (mut cuts, mut numbers) = (Vec::new(), vec![self.block]);
            while let Some((cut, block)) = blocks.next_if(|(cut, _)| *cut <= at + chunk.len()) {
                cuts.push(cut - at);
                numbers.push(block);
            }
            let space = &piece[chunk.len()..];
            let written = self.restore_chunk(chunk, &cuts, space);
            let told = std::mem::take(&mut self.told);
            let mut start = 0;
            for (&block, end) in numbers.iter().zip(written.ends()) {
                out.push(block, &written.text[start.max(told).min(end)..end]);
                start = end;
            }
            self.block = *numbers.last().unwrap_or(&self.block);
            out.push(self.block, space);
            at += piece.len();
        }
        for (_, block) in blocks {
            self.readings.chunk("", &[0]);
            self.block = block;
        }
        out.0
    }

    /// A chunk with its originals, if they are safe there.
    fn restore_chunk(&mut self, chunk: &str, cuts: &[usize], space: &str) -> Written {
        // What ends without white space is followed by nothing.
        let space = if space.is_empty() { " " } else { space };
        let mut with = self.readings.clone();
        let plain = self.readings.chunk(chunk, cuts);
        space.chars().for_each(|c| self.readings.space(c));
        let restored = self.restored;
        let written = self.write_chunk(chunk, cuts, &plain);
        self.quoting.read(chunk);
        if written.originals.is_empty() {
            return written;
        }
        let plain = with.chunk(&written.text, &written.cuts);
        space.chars().for_each(|c| with.space(c));
        let is_plain = |original: &Range<usize>| {
            let covers =
                |plain: &Range<usize>| plain.start <= original.start && original.end <= plain.end;
            plain.iter().any(covers)
        };
        let safe = written.originals.iter().all(is_plain) || written.stands_alone();
        if with == self.readings && safe && !written.text.contains(char::is_whitespace) {
            return written;
        }
        self.restored = restored;
        Written {
            text: Zeroizing::new(chunk.to_owned()),
            cuts: cuts.to_vec(),
            ..Written::new(self.quoting)
        }
    }

    /// A chunk with originals wherever it is plain.
    fn write_chunk(&mut self, chunk: &str, cuts: &[usize], plain: &[Range<usize>]) -> Written {
        let mut out = Written::new(self.quoting);
        let mut plain = plain.iter().peekable();
        let mut at = 0;
        for &end in cuts.iter().chain([&chunk.len()]) {
            while let Some(range) = plain.next_if(|range| range.end <= end) {
                out.text.push_str(&chunk[at..range.start]);
                self.write_stretch(chunk, range.clone(), &mut out);
                at = range.end;
            }
            out.text.push_str(&chunk[at..end]);
            at = end;
            out.cuts.push(out.text.len());
        }
        out.cuts.pop();
        out
    }

    /// A stretch of a chunk that is plain text.
    fn write_stretch(&mut self, chunk: &str, stretch: Range<usize>, out: &mut Written) {
        let text = &chunk[stretch.clone()];
        let opens = text.trim_start_matches(['(', '"', '[', '*']);
        let mut opens = opens.chars();
        if matches!(opens.next(), Some('\'' | '‘'))
            && opens.next().is_some_and(char::is_alphanumeric)
        {
            self.quoted = true;
        }
        let mut tokens = Vec::new();
        let privatizer = self.privatizer.clone();
        let cutter = privatizer.model().lookup().cutter();
        cutter.each_token(text, |at, token| tokens.push((at, token)));
        let mut done = 0;
        for (at, token) in tokens {
            out.text.push_str(&text[done..at]);
            // The ending of a contraction or possessive belongs to what it touches.
            let is_ending = cutter.table().is_ending(token) && at > 0 && at == done;
            done = at + token.len();
            if is_ending || stretch.start + at < self.told {
                out.text.push_str(token);
                continue;
            }
            let behind = &text[done..];
            out.read(chunk, stretch.start + at);
            match self.find(token) {
                Found::Original(original) => {
                    out.push_original(&original);
                    done += self.possessive(token, &original, behind, &mut out.text);
                }
                Found::Ambiguous => out.text.push_str(token),
                Found::Nothing => self.write_runs(token, out),
            }
        }
        out.text.push_str(&text[done..]);
        if text.ends_with(is_apostrophe) {
            self.quoted = false;
        }
    }

    /// A token that is no surrogate, by its stretches of letters (`kenneth-19`, `kenneth_hill`) and its number.
    fn write_runs(&mut self, token: &str, out: &mut Written) {
        if token.chars().all(char::is_alphabetic) {
            return out.text.push_str(token);
        }
        let Some(number) = numeral(token) else {
            return self.write_letters(token, out);
        };
        let (before, behind) = (&token[..number.start], &token[number.end..]);
        self.write_letters(before, out);
        // The ending of `52nd` would not fit the original.
        let ordinal = ["st", "nd", "rd", "th"]
            .iter()
            .any(|end| end.eq_ignore_ascii_case(behind));
        match self.find_number(&token[number.clone()], ordinal) {
            Found::Original(original) => out.push_original(&original),
            _ => out.text.push_str(&token[number]),
        }
        self.write_letters(behind, out);
    }

    fn write_letters(&mut self, text: &str, out: &mut Written) {
        let is_letter = |c: char| c.is_alphabetic() || is_combining(c);
        let mut rest = text;
        while !rest.is_empty() {
            let letters = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
            let (run, behind) = rest.split_at(letters);
            match self.find(run) {
                Found::Original(original) => out.push_original(&original),
                _ => out.text.push_str(run),
            }
            let others = behind.find(is_letter).unwrap_or(behind.len());
            out.text.push_str(&behind[..others]);
            rest = &behind[others..];
        }
    }

    /// A number within a token, by its value.
    fn find_number(&mut self, number: &str, leave: bool) -> Found {
        let canonical = value(number).map(|value| value.to_string());
        let memory = self.memory.read();
        let meaning = canonical.map(|form| memory.meaning(&form, self.known));
        let found = match meaning {
            None | Some(Meaning::Nothing) => return Found::Nothing,
            Some(Meaning::One(spellings)) if !leave => {
                let first = spellings.iter().next().unwrap_or_default();
                Found::Original(first.to_owned().into())
            }
            Some(_) => Found::Ambiguous,
        };
        drop(memory);
        self.count(&found);
        found
    }

    fn count(&mut self, found: &Found) {
        self.restored += u64::from(matches!(found, Found::Original(_)));
        self.ambiguous += u64::from(matches!(found, Found::Ambiguous));
    }

    /// A name that ends in s takes an apostrophe alone: if the original does not, it takes `'s`. How much of what
    /// stands behind is written with that.
    fn possessive(
        &mut self,
        surrogate: &str,
        original: &str,
        behind: &str,
        out: &mut String,
    ) -> usize {
        let ends_in_s = |word: &str| word.ends_with(['s', 'S']);
        let mut marks = behind.chars();
        let Some(apostrophe) = marks.next().filter(|&c| is_apostrophe(c)) else {
            return 0;
        };
        let goes_on = marks.next().is_some_and(char::is_alphanumeric);
        let foreign = self.privatizer.model().orthography().is_foreign();
        if foreign || self.quoted || goes_on || !ends_in_s(surrogate) || ends_in_s(original) {
            return 0;
        }
        out.push(apostrophe);
        out.push('s');
        apostrophe.len_utf8()
    }

    fn find(&mut self, token: &str) -> Found {
        let model = self.privatizer.model();
        let mut lookup = model.lookup();
        let form = lookup.form(token);
        let memory = self.memory.read();
        let found = match memory.meaning(form, self.known) {
            Meaning::One(spellings) => {
                Found::Original(spelling(spellings, token).to_owned().into())
            }
            Meaning::Ambiguous => Found::Ambiguous,
            Meaning::Nothing => self.find_plural(&memory, form, token),
        };
        drop(memory);
        self.count(&found);
        match found {
            // Underscores around a word are no part of it.
            Found::Original(original) => {
                let start = token.len() - token.trim_start_matches('_').len();
                let end = token.trim_end_matches('_').len();
                let around = (&token[..start], &token[end.max(start)..]);
                Found::Original([around.0, original.as_str(), around.1].concat().into())
            }
            other => other,
        }
    }

    fn find_plural(&self, memory: &Memory, form: &str, token: &str) -> Found {
        if self.privatizer.model().orthography().is_foreign() {
            return Found::Nothing;
        }
        for singular in singulars(form) {
            let found = match memory.meaning(&singular, self.known) {
                Meaning::Nothing => continue,
                // The plural of a name is a name: `news` is not that of `new`, if `new` stands for one.
                Meaning::One(spellings) if are_names(spellings) && !is_name(token) => continue,
                Meaning::One(spellings) if !memory.is_public(form, self.known) => {
                    plural(spelling(spellings, token))
                }
                _ => None,
            };
            return found.map_or(Found::Ambiguous, |plural| Found::Original(plural.into()));
        }
        Found::Nothing
    }
}

/// Where the number of a token is: there is one, without a leading zero, and no letter before it.
fn numeral(token: &str) -> Option<Range<usize>> {
    let first = token.find(|c: char| c.is_ascii_digit())?;
    let last = token.rfind(|c: char| c.is_ascii_digit())?;
    let minus = usize::from(token[..first].ends_with('-'));
    let number = first - minus..last + 1;
    let before = &token[..number.start];
    let fits = !before.contains(char::is_alphanumeric) && value(&token[number.clone()]).is_some();
    fits.then_some(number)
}

fn is_name(word: &str) -> bool {
    word.starts_with(char::is_uppercase)
}

fn are_names(spellings: Spellings<'_>) -> bool {
    spellings.iter().all(is_name)
}

fn joined(blocks: Vec<(u64, String)>) -> String {
    blocks.into_iter().map(|(_, text)| text).collect()
}

/// What is told of blocks, in their order.
#[derive(Default)]
struct Blocks(Vec<(u64, String)>);

impl Blocks {
    fn push(&mut self, block: u64, text: &str) {
        match self.0.last_mut() {
            Some((last, told)) if *last == block => told.push_str(text),
            _ if text.is_empty() => {}
            _ => self.0.push((block, text.to_owned())),
        }
    }
}

/// Marks that may stand around an address without being part of it.
const BEFORE: [char; 12] = ['(', '"', '\'', '“', '‘', '„', '‚', '«', '‹', '¿', '¡', '*'];
const BEHIND: [char; 14] = [
    '.', ',', ';', ':', '!', '?', '…', ')', '"', '\'', '”', '’', '»', '*',
];

/// A chunk as it is written.
struct Written {
    text: Zeroizing<String>,
    /// Whether a string of JSON is open, and up to where in the answer that was read.
    quoting: Quoting,
    read: usize,
    /// Where blocks begin in it.
    cuts: Vec<usize>,
    /// Where originals stand.
    originals: Vec<Range<usize>>,
}

impl Written {
    fn new(quoting: Quoting) -> Written {
        Written {
            text: Zeroizing::default(),
            quoting,
            read: 0,
            cuts: Vec::new(),
            originals: Vec::new(),
        }
    }

    /// Reads the answer up to a token.
    fn read(&mut self, chunk: &str, token: usize) {
        self.quoting.read(&chunk[self.read..token]);
        self.read = token;
    }

    fn push_original(&mut self, original: &str) {
        let start = self.text.len();
        self.quoting.write(original, &mut self.text);
        self.originals.push(start..self.text.len());
    }

    /// The ends of its parts, of which each is of another block.
    fn ends(&self) -> impl Iterator<Item = usize> {
        self.cuts.iter().copied().chain([self.text.len()])
    }

    /// Whether there is one original without brackets, and at most punctuation around it.
    fn stands_alone(&self) -> bool {
        let [original] = &self.originals[..] else {
            return false;
        };
        if self.text[original.clone()].contains(['[', ']']) {
            return false;
        }
        let mut before = self.text[..original.start].chars();
        let mut behind = self.text[original.end..].chars();
        before.all(|c| BEFORE.contains(&c)) && behind.all(|c| BEHIND.contains(&c))
    }
}

fn is_combining(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// What stands for a token of an answer.
enum Found {
    Nothing,
    Ambiguous,
    Original(Zeroizing<String>),
}
