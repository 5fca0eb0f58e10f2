//! Does the structure of the output tell more than the structure of the input?
//!
//! Texts that differ in their tokens alone must come out with the same white space and
//! punctuation in the same places, whichever tokens: words that the model knows and words that it
//! does not, short and long, as stems of contractions, numbers, emoticons, addresses. A program
//! that cuts or writes a text by what its vocabulary holds shows here, and so does one that lets
//! an emoticon or the shape of a number through. Nothing is left to chance: structure is not
//! random, so a sound program never fails.

use brr::Model;
use brr::parts::text::Piece;
use brr::parts::vocabulary::WordId;

use super::pairs::unknown;
use super::program::run;
use super::space::is_plain;
use super::{AuditError, Check, Program, Verdict};

/// Where words stand in texts: `_` is replaced by a word.
const TEMPLATES: [&str; 12] = [
    "_ _",
    "_'ll _ _.",
    "the _n't _",
    "_'s _, _'d _",
    "(_), _.",
    "\"_,\" _ _!",
    "_-_ _/_",
    "_... _ -- _?!",
    "“_” – ‘_’",
    "_’re _ (\"_\").",
    "_ _, _; _: _",
    "_<br />_",
];

/// Where anything may stand: `_` is replaced by a token between white space.
const ALONE: [&str; 2] = ["_ the _", "the (first) _ , _ ."];

/// Tokens that are no words, each as one token. What one of them is must not show.
const OTHERS: [(&str, &str); 14] = [
    ("an emoticon", ":("),
    ("an emoticon", ":)"),
    ("an emoticon", ";-)"),
    ("an emoticon", ":-/"),
    ("an emoticon", ":D"),
    ("an emoji", "\u{1f9ff}"),
    ("a number", "7"),
    ("a number", "-3.50"),
    ("a date", "12/05/2020"),
    ("a telephone number", "(555)123-4567"),
    ("a social-security number", "123-45-6789"),
    ("an e-mail address", "someone@mail.example"),
    ("a link", "https://www.example/x?y=z"),
    ("a run of Han characters", "東京都渋谷区"),
];

/// Texts of one structure, each with the kind of token that it is made of.
struct Family {
    texts: Vec<(&'static str, String)>,
}

/// Compares the structure of outputs of texts with equal structure.
pub fn check(model: &Model, program: &mut Program<'_>) -> Result<Check, AuditError> {
    let table = model.orthography();
    if !model
        .vocabulary()
        .iter()
        .all(|word| table.is_one_token(word))
    {
        return Ok(Check {
            name: "structure",
            verdict: Verdict::Note,
            finding: "the model has words with punctuation in them: not judged".into(),
        });
    }
    let families = families(model);
    let texts: Vec<String> = families
        .iter()
        .flat_map(|family| family.texts.iter().map(|(_, text)| text.clone()))
        .collect();
    let mut outputs = run(program, &texts)?.into_iter();
    let mut differing: Vec<&str> = Vec::new();
    for family in &families {
        let mut first: Option<Vec<Slot>> = None;
        for ((kind, _), output) in family.texts.iter().zip(&mut outputs) {
            let structure = slots(model, &output);
            let expected = first.get_or_insert_with(|| structure.clone());
            if structure != *expected {
                differing.push(kind);
            }
        }
    }
    let count = differing.len();
    differing.sort_unstable();
    differing.dedup();
    let finding = match count {
        0 => format!(
            "{} texts came out with the structure of texts like them",
            texts.len()
        ),
        _ => format!(
            "{count} of {} texts came out with another structure than texts like them, by {}",
            texts.len(),
            differing.join(", ")
        ),
    };
    Ok(Check::new("structure", count > 0, finding))
}

fn families(model: &Model) -> Vec<Family> {
    let words = words(model);
    let fill = |template: &str, word: &dyn Fn(usize) -> String| {
        let mut parts = template.split('_');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for (place, part) in parts.enumerate() {
            text += &word(place);
            text += part;
        }
        text
    };
    let with_words = |template: &&'static str| {
        let text = |(kind, list): &(&'static str, Vec<String>)| {
            let word = |place: usize| list[place % list.len()].clone();
            (*kind, fill(template, &word))
        };
        words.iter().map(text).collect::<Vec<_>>()
    };
    let with_others = |template: &&'static str| {
        let others = OTHERS.iter();
        let others = others.map(|(kind, token)| (*kind, fill(template, &|_| (*token).to_owned())));
        let mut texts = with_words(template);
        texts.extend(others);
        Family { texts }
    };
    let templates = TEMPLATES.iter().map(|template| Family {
        texts: with_words(template),
    });
    let mut families: Vec<Family> = templates.chain(ALONE.iter().map(with_others)).collect();
    if model.has_orthography() {
        // Whether tokens that touch come out with a space between goes by the words that come out.
        for family in &mut families {
            family.texts.retain(|(_, text)| !touches(model, text));
        }
    }
    families
}

fn touches(model: &Model, text: &str) -> bool {
    let pieces = model.pieces(text);
    let both = |pair: &[Piece<'_>]| matches!(pair, [Piece::Token(_), Piece::Token(_)]);
    pieces.windows(2).any(both)
}

/// Words to write into the places of a template, by kind.
fn words(model: &Model) -> Vec<(&'static str, Vec<String>)> {
    let vocabulary = model.vocabulary();
    let mut known: Vec<String> = (0..vocabulary.len() as WordId)
        .filter(|&w| is_plain(vocabulary.word(w)))
        .take(2000)
        .map(|w| vocabulary.word(w).to_owned())
        .collect();
    known.sort_by_key(String::len);
    let few = |words: &mut dyn Iterator<Item = &String>| words.take(5).cloned().collect::<Vec<_>>();
    let (short, long) = (few(&mut known.iter()), few(&mut known.iter().rev()));
    let strange = unknown(model);
    let capital = |word: &String| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    };
    let mut kinds = vec![
        ("a known short word", short.clone()),
        ("a known long word", long),
        ("a capital", short.iter().map(capital).collect()),
    ];
    kinds.retain(|(_, list)| !list.is_empty());
    kinds.push(("an unknown word", vec![strange.clone()]));
    kinds.push(("an unknown long word", vec![strange.repeat(4)]));
    kinds
}

/// A piece of output without its word.
type Slot = Option<char>;

fn slots(model: &Model, text: &str) -> Vec<Slot> {
    let slot = |piece| match piece {
        Piece::Token(_) => None,
        Piece::Space(c) | Piece::Mark(c) => Some(c),
        Piece::Break => Some('\u{0}'),
    };
    model.pieces(text).into_iter().map(slot).collect()
}
