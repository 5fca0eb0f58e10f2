//! What comes out for the words of a text.

use super::outcomes::counted;
use super::{Chance, Likely, most_likely};
use crate::error::{Error, Result};
use crate::privatizer::Privatizer;
use crate::random::Noise;
use crate::vocabulary::WordId;

/// What comes out for a word at its place in a text: estimated from draws.
#[derive(Clone, Debug, PartialEq)]
pub struct InText {
    /// The word.
    pub word: WordId,
    /// How often it is drawn as it was.
    pub drawn: Chance,
    /// How often it leaves as it was: less or more, if the text is decoded with
    /// [context](crate::Options::context).
    pub stays: Chance,
    /// What leaves most often in its place.
    pub likely: Vec<Likely>,
}

/// What comes out for each known word of a text, in order, if the text is privatized `draws` times.
///
/// This is the answer for text that is decoded with [context](crate::Options::context): what leaves
/// depends on the words around.
///
/// ```
/// # use std::sync::Arc;
/// # use brr::{Language, Options, Privatizer};
/// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// # let language = Language::open("../brr-english/src/english.lm")?;
/// let options = Options::default().with_context(Some(Arc::new(language)));
/// let privatizer = Privatizer::new(model, options)?;
/// let found = brr::explain::in_text(&privatizer, "my doctor told me", 3, 100)?;
/// assert_eq!(found.len(), 4);
/// # Ok::<(), brr::Error>(())
/// ```
pub fn in_text(
    privatizer: &Privatizer,
    text: &str,
    top: usize,
    draws: usize,
) -> Result<Vec<InText>> {
    if draws == 0 {
        return Err(Error::NoDraws);
    }
    let texts = vec![text; draws];
    let observed = privatizer.observe(&texts, |_| u64::MAX, &mut Noise::from_os()?);
    let drawn = privatizer.drawn(&observed);
    let outputs = privatizer.outputs(&observed);
    let words = &observed.tokens.words[..observed.tokens.words.len() / draws];
    let each = words.iter().enumerate();
    let each = each.filter_map(|(at, word)| word.map(|word| (at, word)));
    Ok(each
        .map(|(at, word)| {
            let of = |all: &[WordId]| -> Vec<WordId> {
                all.iter().skip(at).step_by(words.len()).copied().collect()
            };
            let kept = |all: &[WordId]| all.iter().filter(|&&w| w == word).count();
            let outputs = of(&outputs);
            InText {
                word,
                drawn: Chance::drawn(kept(&of(&drawn)), draws),
                stays: Chance::drawn(kept(&outputs), draws),
                likely: most_likely(counted(outputs), top),
            }
        })
        .collect())
}
