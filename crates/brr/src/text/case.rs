//! Capital letters in the output.
//!
//! # Guarantee
//!
//! Words come out as the model spells them, and the case of the input is lost. [`Case::Sentence`] puts capital letters
//! back by a rule that looks at four things: the words that come out, the public structure that is written, a
//! public list of proper nouns, and the public table of the language. All four are the same whatever the tokens of the input were, given the output
//! without capitals: the rule is post-processing, and costs nothing. By its types it sees nothing else.
//!
//! **Sentences** start with the text, after a line break, and after a full stop, a question mark or an exclamation mark with
//! white space behind it. A mark within parentheses ends none, but a second one does: such parentheses
//! hold sentences of their own, or were never closed. Nor does a full stop behind a single letter ("e.g.", "J. Smith")
//! or behind an abbreviation of a short list ("dr."): by the word that is written there, whatever stood there before. Titles
//! ("Dr.") and a few names that are letters with full stops ("U.S.") have capital letters too, by the words that are
//! written.

use super::Piece;
use super::orthography::Orthography;
use crate::vocabulary::WordId;

/// How words are written.
///
/// ```
/// # use std::sync::Arc;
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use brr::{Case, Options, Privatizer};
///
/// let privatizer = Privatizer::new(model, Options::default().with_case(Case::Sentence))?;
/// let private = privatizer.privatize("two words. AND TWO MORE")?;
/// assert!(private.text.starts_with(|c: char| c.is_uppercase()));
/// # Ok::<(), brr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// As the model spells them.
    #[default]
    Plain,
    /// With a capital letter at the start of a sentence, in "I", and in proper nouns.
    Sentence,
}

/// Marks after which, with white space between, a sentence starts.
const ENDS: [char; 3] = ['.', '!', '?'];

/// English words after which a full stop seldom ends a sentence.
const ABBREVIATIONS: [&str; 17] = [
    "dr", "mr", "mrs", "ms", "prof", "rev", "hon", "gov", "sen", "gen", "col", "capt", "lt", "sgt",
    "st", "vs", "approx",
];

/// Bytes of the longest of these, and at least those of a letter.
const LONGEST_ABBREVIATION: usize = 6;

/// Those that are titles and nothing else, which have a capital letter.
const TITLES: [&str; 4] = ["dr", "mr", "mrs", "ms"];

/// Names that are letters, each with a full stop behind it.
const INITIALISMS: [&str; 6] = ["us", "usa", "uk", "un", "eu", "dc"];
/// Letters of the longest.
const MOST_LETTERS: usize = 3;

/// Where in a sentence the next word stands, as far as structure tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Inside,
    /// After a mark that ends a sentence.
    Ended,
}

/// Writes capital letters, a text from its start on.
pub struct Capitals<'a> {
    table: &'a Orthography,
    case: Case,
    proper: &'a [WordId],
    place: Place,
    /// Whether a full stop behind the last word is part of that word.
    abbreviated: bool,
    /// Parentheses that are open.
    open: u32,
    /// Whether a mark that ends sentences stood within them.
    ended_inside: bool,
    written: String,
}

impl<'a> Capitals<'a> {
    /// With these proper nouns, in ascending order.
    pub fn new(table: &'a Orthography, case: Case, proper: &'a [WordId]) -> Capitals<'a> {
        Capitals {
            table,
            case,
            proper,
            place: Place::Start,
            abbreviated: false,
            open: 0,
            ended_inside: false,
            written: String::new(),
        }
    }

    /// With other proper nouns from here on.
    pub fn set_proper(&mut self, proper: &'a [WordId]) {
        self.proper = proper;
    }

    /// Text that is written as it stands.
    pub fn pass(&mut self, text: &str) {
        for piece in super::pieces(text) {
            match piece {
                Piece::Token(token) => self.inside(token),
                Piece::Space(_) => self.space(),
                Piece::Mark(mark) => self.mark(mark),
                Piece::Break => self.line_break(),
            }
        }
    }

    /// A word of the model, which comes out as `spelled`.
    pub fn word<'w>(&'w mut self, word: WordId, spelled: &'w str) -> &'w str {
        let starts = self.place == Place::Start;
        self.inside(spelled);
        let proper = || self.proper.binary_search(&word).is_ok();
        let english = !self.table.is_foreign();
        let always = || english && (spelled == "i" || TITLES.contains(&spelled));
        match self.case {
            Case::Sentence if starts || always() || proper() => self.capitalized(spelled),
            _ => spelled,
        }
    }

    /// A letter of a [name that consists of them](is_initial).
    pub fn initial<'w>(&'w mut self, spelled: &'w str) -> &'w str {
        self.inside(spelled);
        match self.case {
            Case::Sentence if !self.table.is_foreign() => self.capitalized(spelled),
            _ => spelled,
        }
    }

    fn capitalized(&mut self, spelled: &str) -> &str {
        let mut rest = spelled.chars();
        self.written.clear();
        let first = rest.next().into_iter();
        self.written
            .extend(first.flat_map(|c| self.table.capital(c)));
        self.written.push_str(rest.as_str());
        &self.written
    }

    fn inside(&mut self, word: &str) {
        self.place = Place::Inside;
        if self.case == Case::Plain {
            // Nothing asks where sentences end.
            return;
        }
        if word.len() > LONGEST_ABBREVIATION {
            self.abbreviated = false;
            return;
        }
        let letter = word.chars().count() == 1 && !word.eq_ignore_ascii_case("i");
        let listed = || ABBREVIATIONS.iter().any(|s| s.eq_ignore_ascii_case(word));
        self.abbreviated = letter || (!self.table.is_foreign() && listed());
    }

    /// Something else that is written in place of a word.
    pub fn other(&mut self) {
        self.place = Place::Inside;
        self.abbreviated = false;
    }

    /// White space.
    pub fn space(&mut self) {
        if self.place == Place::Ended {
            self.place = Place::Start;
        }
    }

    /// A mark.
    pub fn mark(&mut self, mark: char) {
        match mark {
            '(' => self.open += 1,
            ')' => self.close(self.open.saturating_sub(1)),
            _ => {}
        }
        let part_of_a_word = mark == '.' && self.abbreviated;
        let ends = ENDS.contains(&mark) && !part_of_a_word && self.place == Place::Inside;
        if ends && self.open > 0 && !self.ended_inside {
            self.ended_inside = true;
        } else if ends {
            self.close(0);
            self.place = Place::Ended;
        }
    }

    /// So many parentheses are still open.
    fn close(&mut self, open: u32) {
        self.open = open;
        self.ended_inside &= open > 0;
    }

    /// A line break. Parentheses that were not closed before it never will be.
    pub fn line_break(&mut self) {
        self.place = Place::Start;
        self.close(0);
    }
}

/// Whether the token at this place, which is the one of this number, is a letter of a name such as "U.S.": by what is
/// `spelled` for it and its neighbours, and by the full stops between.
pub fn is_initial<'s>(
    pieces: &[Piece<'_>],
    at: usize,
    number: usize,
    spelled: impl Fn(usize) -> Option<&'s str>,
) -> bool {
    let letter = |at: usize, number: usize| {
        let token = matches!(pieces.get(at)?, Piece::Token(_));
        let spelled = token.then(|| spelled(number)).flatten();
        spelled.filter(|word| word.len() == 1)
    };
    let stop = |at: usize| pieces.get(at) == Some(&Piece::Mark('.'));
    if letter(at, number).is_none() {
        return false;
    }
    let before = |back: &usize| {
        let place = at.checked_sub(2 * back).zip(number.checked_sub(*back));
        place.is_some_and(|(at, number)| stop(at + 1) && letter(at, number).is_some())
    };
    let first = (1..=MOST_LETTERS).take_while(before).count();
    let (at, number) = (at - 2 * first, number - first);
    let goes_on = |i: &usize| *i == 0 || stop(at + 2 * i - 1);
    let all = (0..=MOST_LETTERS).take_while(goes_on);
    let all: String = all.map_while(|i| letter(at + 2 * i, number + i)).collect();
    INITIALISMS.contains(&&*all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::pieces;

    fn written(text: &str) -> String {
        let mut capitals = Capitals::new(Orthography::english(), Case::Sentence, &[]);
        let mut out = String::new();
        for piece in pieces(text) {
            match piece {
                Piece::Token(token) => out.push_str(capitals.word(0, token)),
                Piece::Space(c) => {
                    capitals.space();
                    out.push(c);
                }
                Piece::Mark(c) => {
                    capitals.mark(c);
                    out.push(c);
                }
                Piece::Break => {
                    capitals.line_break();
                    out.push('|');
                }
            }
        }
        out
    }

    #[test]
    fn sentences_start_with_a_capital_letter() {
        assert_eq!(
            written("it is. so be it! is it? yes"),
            "It is. So be it! Is it? Yes"
        );
        assert_eq!(written("\"it is.\" so (is) it"), "\"It is.\" So (is) it");
        assert_eq!(written("it.is, so; be: it\nis"), "It.is, so; be: it\nis");
        assert_eq!(written("a<br>b"), "A|B");
        assert_eq!(written("so i am. élan"), "So I am. Élan");
    }

    #[test]
    fn not_every_full_stop_ends_a_sentence() {
        let text = "we met dr. king (who?) and said: e.g. that. so did i. then mr. t. spoke";
        let expected = "We met Dr. king (who?) and said: e.g. that. So did I. Then Mr. t. spoke";
        assert_eq!(written(text), expected);
        assert_eq!(written("(it is. so) it is. so"), "(It is. so) it is. So");
        assert_eq!(written("one (two<br>is it. yes"), "One (two|Is it. Yes");
        assert_eq!(written("is it dr? yes"), "Is it Dr? Yes");
        // Parentheses that nobody closes hold one sentence up.
        assert_eq!(
            written("it is (so. it is. it is. so"),
            "It is (so. it is. It is. So"
        );
        assert_eq!(
            written("(it is. so? yes) it is (so. is) it. so"),
            "(It is. so? Yes) it is (so. is) it. So"
        );
    }
}
