//! The most probable original of text that was released as drawn.
//!
//! Post-processing: it sees released text, the mechanism and a language model, all of them public, and spends no
//! privacy. What comes out is a guess. It reads well where it is wrong.
//!
//! [`TextDecoder::decode`] looks at some five dozen candidates a word, with the decoder of the device
//! ([`Privatizer::decode_released`]); [`TextDecoder::posteriors`] looks at all words
//! ([`posterior`](crate::posterior)), and knows how probable each is. Both have the channel of the *released
//! word*: with BRR that is not what the device decodes from, which has the noisy code, and
//! it is estimated.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use brr::parts::language::{Evidence, Released};
use brr::parts::parallel;
use brr::parts::vocabulary::WordId;
use brr::{Language, Privatizer, Result};

use crate::posterior::{
    Batch, Chain, Estimation, LANES, Lane, STORED, Seen, Stretch, Target, stretches,
};

/// Tokens for each thread that are decoded together.
const TOGETHER: usize = 4096;

/// A word of a decoded text.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The word of the released text; none of a token that the model does not know, which stays.
    pub released: Option<WordId>,
    /// The most probable word; none of the same.
    pub word: Option<WordId>,
    /// Whether it was drawn. Of others the word is certain.
    pub drawn: bool,
    /// The probability of the word given all released words of its sentence.
    pub posterior: f64,
    /// The next most probable words.
    pub others: Vec<(WordId, f64)>,
}

/// A decoded text.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodedText {
    /// The text, in the layout of the released one.
    pub text: String,
    /// Its tokens in order.
    pub tokens: Vec<Guess>,
}

/// Decodes texts that a privatizer, or one like it, released as drawn.
pub struct TextDecoder<'a> {
    privatizer: &'a Privatizer,
    language: &'a Language,
    /// What released words say, once that is wanted.
    seen: Mutex<Option<Seen<'a>>>,
    /// Of the language model, when posteriors are wanted.
    chain: OnceLock<Chain>,
    estimation: Estimation,
}

impl<'a> TextDecoder<'a> {
    /// With a public language model for the words of the privatizer's model.
    ///
    /// # Errors
    /// If the language model is for other words.
    pub fn new(
        privatizer: &'a Privatizer,
        language: &'a Language,
        estimation: &Estimation,
    ) -> Result<TextDecoder<'a>> {
        language.check_vocabulary(privatizer.model().vocabulary())?;
        Ok(TextDecoder {
            privatizer,
            language,
            seen: Mutex::default(),
            chain: OnceLock::new(),
            estimation: estimation.clone(),
        })
    }

    /// The most probable original of each text, word by word.
    ///
    /// # Errors
    /// If there is no noise to estimate a channel with.
    pub fn decode(&self, texts: &[impl AsRef<str>]) -> Result<Vec<String>> {
        self.in_batches(texts, |released| {
            let mut seen = self.seen();
            let emission = self.see(&mut seen, released)?.emission();
            let emission = emission.as_deref();
            let (language, threads) = (self.language, self.estimation.threads);
            let words = self
                .privatizer
                .decode_released(released, language, emission, threads);
            Ok(self.privatizer.write_released(released, &words))
        })
    }

    /// The same over all words of the model, with the posterior of every word that is chosen and of `others` more.
    ///
    /// # Errors
    /// If there is no noise to estimate a channel with.
    pub fn posteriors(&self, texts: &[impl AsRef<str>], others: usize) -> Result<Vec<DecodedText>> {
        let chain = self
            .chain
            .get_or_init(|| Chain::from_language(self.language));
        self.in_batches(texts, |released| {
            let mut seen = self.seen();
            let seen = self.see(&mut seen, released)?;
            let guesses = guesses(chain, seen, released, others, self.estimation.threads);
            let words: Vec<WordId> = guesses.iter().map(|g| g.word.unwrap_or(0)).collect();
            let texts = self.privatizer.write_released(released, &words);
            let mut guesses = guesses.into_iter();
            let mut token = 0;
            let of_text = |(text, end): (String, usize)| {
                let tokens = guesses.by_ref().take(end - token).collect();
                token = end;
                DecodedText { text, tokens }
            };
            let texts = texts.into_iter().zip(released.text_ends());
            Ok(texts.map(of_text).collect())
        })
    }

    /// Calls `each` with texts of about as many tokens as are decoded together.
    fn in_batches<T>(
        &self,
        texts: &[impl AsRef<str>],
        mut each: impl FnMut(&Released<'_>) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let words = self.privatizer.private_model().vocabulary().len();
        let most = (TOGETHER * self.estimation.threads).min(STORED / (2 * words.max(1)));
        let mut done = Vec::with_capacity(texts.len());
        let mut first = 0;
        while first < texts.len() {
            let (mut end, mut bytes) = (first, 0);
            // A word and its space take five bytes or so; what matters is that there is an end.
            while end < texts.len() && (end == first || bytes / 5 < most) {
                bytes += texts[end].as_ref().len();
                end += 1;
            }
            let released = self.privatizer.released(&texts[first..end]);
            done.extend(each(&released)?);
            first = end;
        }
        Ok(done)
    }

    fn seen(&self) -> MutexGuard<'_, Option<Seen<'a>>> {
        // Columns that are there are whole.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the released words.
    fn see<'s>(
        &self,
        seen: &'s mut Option<Seen<'a>>,
        released: &Released<'_>,
    ) -> Result<&'s Seen<'a>> {
        if seen.is_none() {
            let target = Target::of(self.privatizer);
            *seen = Seen::new(&target, Vec::new(), &self.estimation)?;
        }
        let seen = seen
            .as_mut()
            .expect("a privatizer's mechanism has a channel, or estimates one");
        seen.see(released.drawn().to_vec())?;
        Ok(seen)
    }
}

/// A guess for every token.
fn guesses(
    chain: &Chain,
    seen: &Seen<'_>,
    released: &Released<'_>,
    others: usize,
    threads: usize,
) -> Vec<Guess> {
    let known = |token: usize| match released.evidence()[token] {
        Evidence::Known(state) => Some(state),
        Evidence::Observed(_) => None,
    };
    let stretches = stretches(released.sentences(), chain.boundary(), known);
    let mut found = probable(chain, seen, &stretches, others + 1, threads);
    let guess = |(evidence, &released): (&Evidence, &Option<WordId>)| match *evidence {
        Evidence::Known(_) => Guess {
            released,
            word: released,
            drawn: false,
            posterior: 1.0,
            others: Vec::new(),
        },
        Evidence::Observed(i) => {
            let mut words = std::mem::take(&mut found[i]).into_iter();
            let (word, posterior) = words.next().unwrap_or_default();
            Guess {
                released,
                word: Some(word),
                drawn: true,
                posterior,
                others: words.collect(),
            }
        }
    };
    let evidence = released.evidence().iter();
    evidence.zip(released.words()).map(guess).collect()
}

/// The most probable words of every draw, the most probable first.
fn probable(
    chain: &Chain,
    seen: &Seen<'_>,
    stretches: &[Stretch],
    most: usize,
    threads: usize,
) -> Vec<Vec<(WordId, f64)>> {
    let draws = stretches.iter().map(|s| s.tokens.end).max().unwrap_or(0);
    let mut order = stretches.to_vec();
    order.sort_by_key(|stretch| std::cmp::Reverse(stretch.tokens.len()));
    let batches: Vec<&[Stretch]> = order.chunks(LANES).collect();
    let found = parallel::map(threads, batches.len(), |i| {
        let mut found = Vec::new();
        Batch::new(chain, seen, batches[i]).posteriors(|t, posteriors| {
            let lanes = batches[i].iter().enumerate();
            for (lane, stretch) in lanes.filter(|(_, stretch)| stretch.tokens.len() > t) {
                let words = first(posteriors, lane, chain.words(), most);
                found.push((stretch.tokens.start + t, words));
            }
        });
        found
    });
    let mut all = vec![Vec::new(); draws];
    for (draw, words) in found.into_iter().flatten() {
        all[draw] = words;
    }
    all
}

/// The most probable words of a lane with their probabilities, the lowest among equals first. The unknown token, which is no
/// word, has a part in the sum.
fn first(posteriors: &[Lane], lane: usize, words: usize, most: usize) -> Vec<(WordId, f64)> {
    let total: f64 = posteriors.iter().map(|p| f64::from(p[lane])).sum();
    let mut best: Vec<(WordId, f32)> = Vec::with_capacity(most + 1);
    for (word, posterior) in posteriors[..words].iter().enumerate() {
        let p = posterior[lane];
        if best.len() == most && best.last().is_some_and(|last| last.1 >= p) {
            continue;
        }
        let place = best.partition_point(|other| other.1 >= p);
        best.insert(place, (word as WordId, p));
        best.truncate(most);
    }
    let share = |(word, p): (WordId, f32)| (word, f64::from(p) / total.max(f64::MIN_POSITIVE));
    best.into_iter().map(share).collect()
}
