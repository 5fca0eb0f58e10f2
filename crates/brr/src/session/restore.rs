//! The way back: surrogates in an answer become the originals again.
//!
//! An answer is read chunk by chunk, where a chunk ends at white space. What becomes of a chunk depends on the chunk
//! and on what came before it, never on what follows; so a chunk can be restored as soon as its end is seen, and a
//! text that comes in parts, cut anywhere, is restored as if it came whole.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::inflection::{plural, singulars, spelling};
use super::links::Links;
use super::memory::{Meaning, Memory};
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

/// Restores a text that comes in parts. What cannot be decided yet, the last word at most, is held back.
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
    memory: Arc<Memory>,
    /// A chunk whose end was not seen.
    pending: Zeroizing<String>,
    links: Links,
    /// Whether a single quotation mark is open.
    quoted: bool,
    restored: u64,
    ambiguous: u64,
}

impl Restorer {
    pub(super) fn new(privatizer: Arc<Privatizer>, memory: Arc<Memory>) -> Restorer {
        Restorer {
            privatizer,
            memory,
            pending: Zeroizing::default(),
            links: Links::new(),
            quoted: false,
            restored: 0,
            ambiguous: 0,
        }
    }

    /// The next part of a text; what can be told of the text now.
    pub fn push(&mut self, part: &str) -> String {
        let Some((at, last)) = part.char_indices().rfind(|(_, c)| c.is_whitespace()) else {
            self.pending.push_str(part);
            return String::new();
        };
        let (whole, rest) = part.split_at(at + last.len_utf8());
        self.pending.push_str(whole);
        let ready = std::mem::replace(&mut self.pending, Zeroizing::new(rest.to_owned()));
        self.write(&ready)
    }

    /// What is held back, though the text goes on. For texts that a reader gets in blocks, and may put together: an
    /// address that begins in one goes on in the next.
    pub fn flush(&mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        self.write(&rest)
    }

    /// The text has ended: the rest of it.
    pub fn finish(&mut self) -> String {
        let text = self.flush();
        (self.links, self.quoted) = (Links::new(), false);
        text
    }

    /// How many surrogates became originals so far.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// How many were left so far, as it is not certain what they stand for.
    pub fn ambiguous(&self) -> u64 {
        self.ambiguous
    }

    fn write(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        for piece in text.split_inclusive(char::is_whitespace) {
            let chunk = piece.trim_end_matches(char::is_whitespace);
            let mut stretches = Vec::new();
            self.links
                .chunk(chunk, |stretch, plain| stretches.push((stretch, plain)));
            for (stretch, plain) in stretches {
                match plain {
                    true => self.write_stretch(stretch, &mut out),
                    false => out.push_str(stretch),
                }
            }
            let space = &piece[chunk.len()..];
            space.chars().for_each(|c| self.links.space(c));
            out.push_str(space);
        }
        out
    }

    /// Plain text without white space.
    fn write_stretch(&mut self, text: &str, out: &mut String) {
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
            out.push_str(&text[done..at]);
            // The ending of a contraction or possessive belongs to what it touches.
            if cutter.table().is_ending(token) && at > 0 && at == done {
                out.push_str(token);
                done = at + token.len();
                continue;
            }
            let behind = &text[at + token.len()..];
            done = at + token.len();
            match self.find(token) {
                Found::Original(original) => {
                    out.push_str(&original);
                    done += self.possessive(token, &original, behind, out);
                }
                Found::Ambiguous => out.push_str(token),
                Found::Nothing => self.write_runs(token, out),
            }
        }
        out.push_str(&text[done..]);
        if text.ends_with(is_apostrophe) {
            self.quoted = false;
        }
    }

    /// A token that is no surrogate, by its stretches of letters: `kenneth-19`, `kenneth_hill`.
    fn write_runs(&mut self, token: &str, out: &mut String) {
        if token.chars().all(char::is_alphabetic) {
            return out.push_str(token);
        }
        let is_letter = |c: char| c.is_alphabetic() || is_combining(c);
        let mut rest = token;
        while !rest.is_empty() {
            let letters = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
            let (run, behind) = rest.split_at(letters);
            match self.find(run) {
                Found::Original(original) => out.push_str(&original),
                _ => out.push_str(run),
            }
            let others = behind.find(is_letter).unwrap_or(behind.len());
            out.push_str(&behind[..others]);
            rest = &behind[others..];
        }
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
        let found = match self.memory.meaning(form) {
            Meaning::One(spellings) => {
                Found::Original(spelling(spellings, token).to_owned().into())
            }
            Meaning::Ambiguous => Found::Ambiguous,
            Meaning::Nothing => self.find_plural(form, token),
        };
        self.restored += u64::from(matches!(found, Found::Original(_)));
        self.ambiguous += u64::from(matches!(found, Found::Ambiguous));
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

    fn find_plural(&self, form: &str, token: &str) -> Found {
        if self.privatizer.model().orthography().is_foreign() {
            return Found::Nothing;
        }
        for singular in singulars(form) {
            let found = match self.memory.meaning(&singular) {
                Meaning::Nothing => continue,
                Meaning::One(spellings) if !self.memory.is_public(form) => {
                    plural(spelling(spellings, token))
                }
                _ => None,
            };
            return found.map_or(Found::Ambiguous, |plural| Found::Original(plural.into()));
        }
        Found::Nothing
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
