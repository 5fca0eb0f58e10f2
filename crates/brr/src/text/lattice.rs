//! Stretches of letters of scripts without spaces, cut by the model's own words.
//!
//! Japanese, Chinese and Thai put no spaces between words. Without a table that says otherwise such a stretch is one
//! token, which is mostly unknown. A table may ask for the *lattice*: the stretch is cut into words of the model's
//! vocabulary along the path of the smallest cost, where a word costs the more the rarer it is.
//!
//! # Guarantee
//!
//! Everywhere else structure is a function of characters alone. Here it is a public function of characters *and
//! model*: S = S_M(t). The model M is fixed before any text is seen, so S_M is fixed too, and the proof of
//! [`super::adjacency`] goes through as it stands:
//!
//! 1. Cutting t gives a structure S_M(t) and tokens x_1, ..., x_k, where k is a function of S_M(t). Of the words of a
//!    stretch S_M(t) has *their number* and nothing else: neither where in the stretch the cuts fall nor how many
//!    characters a token has.
//! 2. The mechanism draws y_i from x_i alone, independently, and an unknown x_i is one and the same input. What is
//!    written is a function of S_M(t) and of y_1, ..., y_k.
//! 3. Let t and t' be neighbours: S_M(t) = S_M(t'). Then k = k', and the ratio of the probabilities of any output is at
//!    most the product over i of the ratios of y_i given x_i and given x'_i. The loss is at most the sum of k losses. It
//!    does not matter that a cut looked at more than one token: after the cut nothing does.
//!
//! **What is weaker than elsewhere is which texts are neighbours**, and [`crate::Adjacency`] says so for models with
//! such a table. With spaces, any word may stand in the place of any other, known or not, and the two texts are
//! neighbours. Here they are only if the whole stretch is still cut into as many tokens: about texts whose stretches
//! have different numbers of tokens nothing is promised. Those numbers depend on which words the model knows. To give
//! away less, the rule for the unknown is fixed and coarse: **characters that no word of the path covers are one token,
//! whatever their number**, and a stretch that is a word as it stands is one token.
//!
//! # The path
//!
//! All costs are integers, in 1/256 bits, and the same on every machine. A word of rank r (the most frequent has
//! rank 0) costs [`WORD`] + log2(r + 2), Zipf's law; an unknown stretch costs as much as the rarest word, and twice that more
//! for each of its characters. So to begin a word, and another unknown stretch after it, never costs more than to go on
//! without it: as many characters as can be are covered by words, whatever stands beside them. Among paths of one
//! cost the one is taken whose last step is first found, by a fixed order.
//!
//! Time is linear in the length, for no word of more than [`LONGEST`] characters is looked for, and memory is bounded:
//! a stretch is cut in windows of [`WINDOW`] characters, of which the last [`MARGIN`] are cut again with what follows.
//! An unknown stretch goes on through windows as one token. That, too, is a function of characters and model. How long
//! cutting takes depends on the text, as reading and looking up always does; the draws come after it.
//!
//! U+200B, the space without a width that some of these scripts write between words, ends a word.

use unicode_normalization::char::is_combining_mark;
use zeroize::Zeroizing;

use super::chars::is_ignorable;
use super::orthography::Orthography;
use crate::vocabulary::{MAX_WORD_BYTES, Vocabulary, WordId};

/// The longest word that is looked for, in characters with what combines with them.
const LONGEST: usize = 24;
/// Characters that are cut together.
const WINDOW: usize = 2048;
/// Characters at the end of a window that are cut again.
const MARGIN: usize = 256;

/// Costs in 1/256 bits: of any word, whatever its rank.
const BIT: u32 = 256;
const WORD: u32 = 6 * BIT;

/// A separator of words without a width.
const NO_WIDTH: char = '\u{200b}';

/// A vocabulary as a lattice of its words.
#[derive(Clone, Copy)]
pub struct Lattice<'v> {
    vocabulary: &'v Vocabulary,
    table: &'v Orthography,
    lowercase: bool,
}

/// A character with what combines with it.
#[derive(Clone, Copy)]
struct Unit {
    /// Where it ends in the stretch, and in the form.
    end: usize,
    form_end: usize,
}

/// The best way to a place: its cost, and where its last step began.
#[derive(Clone, Copy)]
struct Step {
    cost: u32,
    from: usize,
}

const NOWHERE: Step = Step {
    cost: u32::MAX,
    from: 0,
};

/// Memory that stretches share.
#[derive(Default)]
pub struct Memory {
    units: Vec<Unit>,
    form: Zeroizing<String>,
    /// Whose last step is a word, by places.
    words: Vec<Step>,
    /// Whose last step is an unknown stretch.
    unknown: Vec<Step>,
    /// The last path, from its end: where its parts end, and whether they are words.
    path: Vec<(usize, bool)>,
}

/// log2(x) in 1/256 bits, the mantissa interpolated.
fn log2(x: u32) -> u32 {
    let whole = x.ilog2();
    let fraction = ((u64::from(x) << 8) >> whole) as u32 - BIT;
    whole * BIT + fraction
}

impl<'v> Lattice<'v> {
    pub fn new(vocabulary: &'v Vocabulary, table: &'v Orthography, lowercase: bool) -> Self {
        Lattice {
            vocabulary,
            table,
            lowercase,
        }
    }

    /// Calls `each` with the tokens of a stretch of letters without spaces, in order.
    pub fn cut<'t>(&self, stretch: &'t str, memory: &mut Memory, mut each: impl FnMut(&'t str)) {
        for part in stretch.split(NO_WIDTH) {
            if part.chars().all(is_ignorable) {
                continue;
            }
            match self.is_word(part, memory) {
                true => each(part),
                false => self.cut_part(part, memory, &mut each),
            }
        }
    }

    fn is_word(&self, part: &str, memory: &mut Memory) -> bool {
        if part.len() > 3 * MAX_WORD_BYTES {
            return false;
        }
        memory.form.clear();
        self.table.push_form(part, self.lowercase, &mut memory.form);
        self.vocabulary.id(&memory.form).is_some()
    }

    fn cut_part<'t>(&self, part: &'t str, memory: &mut Memory, each: &mut impl FnMut(&'t str)) {
        // Where the window begins, and an unknown stretch that goes on into it.
        let (mut start, mut open) = (0, None::<usize>);
        while start < part.len() {
            let rest = &part[start..];
            let whole = self.read_units(rest, memory);
            self.find_path(open.is_some(), memory);
            let count = memory.units.len();
            let sure = if whole { count } else { count - MARGIN };
            let mut done = 0;
            for &(end, is_word) in memory.path.iter().rev() {
                if end > sure {
                    break;
                }
                let from = start + memory.units[..done].last().map_or(0, |unit| unit.end);
                let to = start + memory.units[..end].last().map_or(0, |unit| unit.end);
                match is_word {
                    false => open = open.or(Some(from)),
                    true => {
                        open.take()
                            .into_iter()
                            .for_each(|begun| each(&part[begun..from]));
                        each(&part[from..to]);
                    }
                }
                done = end;
            }
            if done == 0 {
                // Nothing but an unknown stretch, longer than the window.
                open = open.or(Some(start));
                done = sure;
            }
            start += memory.units[done - 1].end;
        }
        if let Some(begun) = open {
            each(&part[begun..]);
        }
    }

    /// Reads a window's characters; whether that was all.
    fn read_units(&self, text: &str, memory: &mut Memory) -> bool {
        memory.units.clear();
        memory.form.clear();
        let extends = |c: char| {
            // The half-width marks of Katakana are letters to Unicode.
            is_combining_mark(c) || is_ignorable(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}')
        };
        let mut starts = text.char_indices().skip(1).filter(|(_, c)| !extends(*c));
        let mut start = 0;
        loop {
            let next = starts.next();
            let end = next.map_or(text.len(), |(at, _)| at);
            self.table
                .push_form(&text[start..end], self.lowercase, &mut memory.form);
            memory.units.push(Unit {
                end,
                form_end: memory.form.len(),
            });
            start = end;
            if next.is_none() || memory.units.len() == WINDOW {
                return next.is_none();
            }
        }
    }

    /// Finds the path of the smallest cost through a window. `open` if it begins in an unknown stretch.
    fn find_path(&self, open: bool, memory: &mut Memory) {
        let count = memory.units.len();
        let rarest = self.rarest();
        let character = 2 * rarest;
        let here = Step { cost: 0, from: 0 };
        memory.words.clear();
        memory.words.resize(count + 1, NOWHERE);
        memory.unknown.clear();
        memory.unknown.resize(count + 1, NOWHERE);
        match open {
            false => memory.words[0] = here,
            true => memory.unknown[0] = here,
        }
        for at in 0..count {
            let (word, unknown) = (memory.words[at], memory.unknown[at]);
            let best = word.cost.min(unknown.cost);
            self.words_from(at, memory, |memory, length, id| {
                let cost = best + WORD + log2(id + 2);
                let there = &mut memory.words[at + length];
                if cost < there.cost {
                    *there = Step { cost, from: at };
                }
            });
            let begins = word.cost.saturating_add(rarest);
            let next = &mut memory.unknown[at + 1];
            *next = match begins < unknown.cost {
                true => Step {
                    cost: begins + character,
                    from: at,
                },
                false => Step {
                    cost: unknown.cost + character,
                    from: unknown.from,
                },
            };
        }
        memory.trace();
    }

    /// What a word costs that is rarer than all of the model.
    fn rarest(&self) -> u32 {
        WORD + log2(self.vocabulary.len() as u32 + 2)
    }

    /// Calls `each` with the length in characters and the id of every word that begins here.
    fn words_from(
        &self,
        at: usize,
        memory: &mut Memory,
        mut each: impl FnMut(&mut Memory, usize, WordId),
    ) {
        let mut prefix = self.vocabulary.prefix();
        let last = memory.units.len().min(at + LONGEST);
        let mut start = memory.units[..at].last().map_or(0, |unit| unit.form_end);
        for unit in at..last {
            let end = memory.units[unit].form_end;
            if !prefix.extend(&memory.form.as_bytes()[start..end]) {
                return;
            }
            if let Some(id) = prefix.word() {
                each(memory, unit + 1 - at, id);
            }
            start = end;
        }
    }
}

impl Memory {
    /// Writes the path down, from the end of the window.
    fn trace(&mut self) {
        self.path.clear();
        let mut at = self.units.len();
        while at > 0 {
            let (word, unknown) = (self.words[at], self.unknown[at]);
            let is_word = word.cost <= unknown.cost;
            self.path.push((at, is_word));
            at = if is_word { word.from } else { unknown.from };
        }
    }
}

#[cfg(test)]
mod tests;
