//! Text in, privatized text out: the one composition of everything else.
//!
//! Command line, Python, browser, C and Spark all call this; none of them
//! re-implements any part of it.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use crate::calibration::Calibration;
use crate::choice::Choice;
use crate::context::{self, Decoder, Sentence};
use crate::epsilon::Epsilon;
use crate::error::{Error, Result};
use crate::guarantee::{Budget, Guarantee};
use crate::language::Language;
use crate::mechanism::{
    Brr, Exponential, Kary, Mechanism, MechanismKind, Observations, Search, TreeResponse,
};
use crate::model::{Model, Standing};
use crate::parallel;
use crate::random::Noise;
use crate::text::{Adjacency, Layout, Lookup, Rendering, Tokens, Unknown};
use crate::vocabulary::WordId;

/// Everything that can be chosen: start from the defaults, and change what should differ.
///
/// ```
/// use brr::{Budget, Layout, MechanismKind, Options, Unknown};
///
/// let options = Options::default()
///     .with_mechanism(MechanismKind::Brr)
///     .with_budget(Budget::Epsilon(1.5))
///     .with_layout(Layout::Words);
/// assert_eq!(options.unknown, Unknown::Random);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The mechanism.
    pub mechanism: MechanismKind,
    /// How much privacy.
    pub budget: Budget,
    /// What of the structure is kept.
    pub layout: Layout,
    /// What becomes of tokens without a code.
    pub unknown: Unknown,
    /// How BRR finds the nearest word.
    pub search: Search,
    /// The language model with which the draws of a text are decoded together, if they are
    /// ([`crate::Language`]): at no cost in privacy, the text reads. It is a plausible text, not
    /// what was written.
    pub context: Option<Arc<Language>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mechanism: MechanismKind::default(),
            budget: Budget::DEFAULT,
            layout: Layout::default(),
            unknown: Unknown::default(),
            search: Search::default(),
            context: None,
        }
    }
}

impl Options {
    /// Another mechanism.
    pub fn with_mechanism(self, mechanism: MechanismKind) -> Options {
        Options { mechanism, ..self }
    }

    /// Another budget.
    pub fn with_budget(self, budget: Budget) -> Options {
        Options { budget, ..self }
    }

    /// Another layout.
    pub fn with_layout(self, layout: Layout) -> Options {
        Options { layout, ..self }
    }

    /// Another rule for tokens without a code.
    pub fn with_unknown(self, unknown: Unknown) -> Options {
        Options { unknown, ..self }
    }

    /// Another search for BRR.
    pub fn with_search(self, search: Search) -> Options {
        Options { search, ..self }
    }

    /// With draws that are decoded together, or without.
    pub fn with_context(self, context: Option<Arc<Language>>) -> Options {
        Options { context, ..self }
    }
}

/// A privatized text, and what may be said about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Privatized {
    /// The text.
    pub text: String,
    /// How many tokens it had.
    pub tokens: u64,
    /// How many of them had no code. (Not private: for the user's own eyes.)
    pub unknown: u64,
    /// How many more it had before it was cut to a cap.
    pub cut: u64,
}

/// Words in a part of what several threads draw: enough for a part's own costs not to show, and
/// few enough to be done in a fraction of a second.
const PART_WORDS: usize = 4096;

/// Texts, and what the noise left of their tokens.
pub(crate) struct Observed<'t> {
    pub tokens: Tokens<'t>,
    /// Where the pieces and the tokens of each text end, and how many tokens were cut off.
    ends: Vec<(usize, usize, u64)>,
    pub observations: Observations,
}

/// Privatizes texts. `Send + Sync`, and cheap to share behind a reference.
///
/// ```
/// # let model = std::sync::Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
/// use std::sync::Arc;
/// use brr::{Budget, Options, Privatizer};
///
/// let options = Options::default().with_budget(Budget::Keep(0.4));
/// let privatizer = Privatizer::new(model, options)?;
/// // Each call draws anew: releasing two draws of one text spends the budget twice.
/// println!("{}", privatizer.privatize("I have a secret")?.text);
/// assert!(privatizer.expected_keep().is_some_and(|keep| keep <= 0.4));
/// # Ok::<(), brr::Error>(())
/// ```
pub struct Privatizer {
    model: Arc<Model>,
    mechanism: Box<dyn Mechanism>,
    options: Options,
    keep: Option<f64>,
    keep_within: RangeInclusive<f64>,
}

impl Privatizer {
    /// Solves the budget for the model and sets the mechanism up.
    pub fn new(model: Arc<Model>, options: Options) -> Result<Privatizer> {
        let budget = options.budget.validate()?;
        if let Some(language) = &options.context {
            language.check_vocabulary(model.vocabulary())?;
        }
        let budget = after_decoding(&model, &options, budget)?;
        let (mechanism, keep, keep_within): (Box<dyn Mechanism>, _, _) = match options.mechanism {
            MechanismKind::Brr => {
                let brr = Brr::new(model.clone(), brr_epsilon(&model, budget)?);
                let brr = brr.with_search(options.search);
                let (table, epsilon) = (model.calibration(), brr.guarantee().epsilon);
                let keep = table.and_then(|t| t.keep_at(epsilon));
                let within = brr_keeps_within(&model, epsilon);
                (Box::new(brr), keep, within)
            }
            MechanismKind::Exponential => {
                let exponential = Exponential::for_budget(model.clone(), budget)?;
                let (keep, within) = (exponential.keep(), exponential.keep_within());
                if options.context.is_some() {
                    // Now: a process that forks later must not find another thread at it.
                    exponential.log_shares();
                }
                (Box::new(exponential), keep, within)
            }
            MechanismKind::Tree => {
                let tree = TreeResponse::for_budget(model.clone(), budget)?;
                let (keep, within) = (tree.keep(), tree.keep_within());
                (Box::new(tree), Some(keep), within)
            }
            MechanismKind::KAry => {
                let kary = Kary::for_budget(model.vocabulary().len(), budget)?;
                let (keep, within) = (kary.expected_keep(), kary.keep_within());
                (Box::new(kary), Some(keep), within)
            }
        };
        let keep = match &options.context {
            None => keep,
            Some(_) => decoded_keep(&model, &options)
                .and_then(|table| table.keep_at(mechanism.guarantee().epsilon)),
        };
        Ok(Privatizer {
            model,
            mechanism,
            options,
            keep: keep.map(|keep| keep.weighted),
            keep_within,
        })
    }

    /// The model in use.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The mechanism in use.
    pub fn mechanism(&self) -> &dyn Mechanism {
        &*self.mechanism
    }

    /// The mechanism alone: the very one that texts would go through.
    pub fn into_mechanism(self) -> Box<dyn Mechanism> {
        self.mechanism
    }

    /// The options in use.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What is promised, per token.
    pub fn guarantee(&self) -> Guarantee {
        self.mechanism.guarantee()
    }

    /// The expected share of words (by use) that stay as they are, if it is known. With
    /// [context](Options::context) it is that of the text that leaves, measured on a public sample.
    pub fn expected_keep(&self) -> Option<f64> {
        self.keep
    }

    /// Between which numbers the expected share of words (by use) that are drawn as they were lies,
    /// where [`expected_keep`](Self::expected_keep) cannot say more; from 0 to 1 if nothing is known.
    pub fn keep_within(&self) -> RangeInclusive<f64> {
        self.keep_within.clone()
    }

    /// Which texts are neighbours: the relation that the guarantee is about.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::new(self.options.layout, self.options.unknown)
    }

    /// The largest loss between two [neighbouring](Self::adjacency) texts of this many tokens;
    /// infinite if the [`Unknown`] rule tells some neighbours apart.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use brr::{Options, Privatizer};
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # let privatizer = Privatizer::new(model, Options::default())?;
    /// let private = privatizer.privatize("a text of five tokens")?;
    /// let loss = privatizer.total_loss(private.tokens);
    /// assert!(loss <= 5.001 * privatizer.guarantee().worst_token());
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn total_loss(&self, tokens: u64) -> f64 {
        match self.adjacency().is_covered() {
            true => self.guarantee().total(tokens),
            false if tokens == 0 => 0.0,
            false => f64::INFINITY,
        }
    }

    /// Privatizes a text.
    pub fn privatize(&self, text: &str) -> Result<Privatized> {
        let mut texts = self.privatize_batch(&[text])?;
        Ok(texts.pop().unwrap_or_default())
    }

    /// Privatizes many texts at once, each word on its own: faster than one by
    /// one, with the same distribution.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use brr::{Options, Privatizer};
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # let privatizer = Privatizer::new(model, Options::default())?;
    /// let private = privatizer.privatize_batch(&["one text", "and another text"])?;
    /// assert_eq!(private[1].tokens, 3);
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn privatize_batch(&self, texts: &[impl AsRef<str>]) -> Result<Vec<Privatized>> {
        self.privatize_capped(texts, |_| u64::MAX)
    }

    /// As [`privatize_batch`](Self::privatize_batch), with at most `cap(i)` tokens of text `i`:
    /// those beyond are deleted, with whatever stands behind the last one that is kept.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use brr::{Options, Privatizer};
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # let privatizer = Privatizer::new(model, Options::default())?;
    /// let private = privatizer.privatize_capped(&["a long text"], |_| 2)?;
    /// assert_eq!((private[0].tokens, private[0].cut), (2, 1));
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn privatize_capped(
        &self,
        texts: &[impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
    ) -> Result<Vec<Privatized>> {
        Ok(self.run(texts, cap, &mut Noise::from_os()?))
    }

    /// As [`privatize_batch`](Self::privatize_batch), the words of one long text too spread over
    /// `threads` threads; nothing if `go_on` says no meanwhile. It is asked before every some
    /// thousand words, from any thread.
    ///
    /// # Guarantee
    ///
    /// That of [`privatize_batch`](Self::privatize_batch): texts are cut as a whole, each word is
    /// drawn on its own, and each part of the words has noise of its own. Where one part ends and
    /// another begins depends on the number of words alone, which is public.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use brr::{Options, Privatizer};
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # let privatizer = Privatizer::new(model, Options::default())?;
    /// let private = privatizer.privatize_parallel(&["a long text"], 2, || true)?;
    /// assert_eq!(private.expect("nobody said no")[0].tokens, 3);
    /// assert!(privatizer.privatize_parallel(&["a long text"], 2, || false)?.is_none());
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn privatize_parallel(
        &self,
        texts: &[impl AsRef<str>],
        threads: usize,
        go_on: impl Fn() -> bool + Sync,
    ) -> Result<Option<Vec<Privatized>>> {
        let (tokens, ends) = self.cut(texts, |_| u64::MAX);
        let parts: Vec<_> = tokens.words.chunks(PART_WORDS).collect();
        let draw = |part: usize| {
            let noise = go_on().then(Noise::from_os).transpose()?;
            Ok(noise.map(|mut noise| self.mechanism.observe(parts[part], &mut noise)))
        };
        let observed: Option<Vec<Observations>> = parallel::map(threads, parts.len(), draw)
            .into_iter()
            .collect::<Result<_>>()?;
        let outputs = match (observed, &self.options.context) {
            (None, _) => None,
            (Some(parts), None) => {
                let words = |part: usize| go_on().then(|| self.mechanism.words(&parts[part]));
                let words = parallel::map(threads, parts.len(), words).into_iter();
                words.collect::<Option<Vec<_>>>()
            }
            (Some(parts), Some(language)) => {
                let observed = Observations::concat(parts);
                let sentences = self.sentences(&tokens, &ends);
                let parts = in_parts(&sentences);
                let decode = |part: usize| {
                    let decoder = self.decoder(language);
                    go_on().then(|| decoder.decode(&observed, &sentences[parts[part].clone()]))
                };
                let words = parallel::map(threads, parts.len(), decode).into_iter();
                words.collect::<Option<Vec<_>>>()
            }
        };
        Ok(outputs.map(|outputs| self.render(&tokens, &ends, &outputs.concat())))
    }

    /// Every mechanism that a privatizer makes can say how likely its observations are.
    fn decoder<'a>(&'a self, language: &'a Language) -> Decoder<'a> {
        let emission = self.mechanism.emission();
        Decoder::new(language, emission.expect("a mechanism with an emission"))
    }

    /// The sentences of all texts, by their tokens' places among all.
    fn sentences(&self, tokens: &Tokens<'_>, ends: &[(usize, usize, u64)]) -> Vec<Sentence> {
        let (mut piece, mut token) = (0, 0);
        let mut all = Vec::new();
        for &(piece_end, token_end, _) in ends {
            let pieces = &tokens.pieces[piece..piece_end];
            let of_text = context::sentences(pieces, self.options.layout).into_iter();
            all.extend(of_text.map(|sentence| Sentence {
                tokens: sentence.tokens.start + token..sentence.tokens.end + token,
                ..sentence
            }));
            (piece, token) = (piece_end, token_end);
        }
        all
    }

    /// As [`privatize_batch`](Self::privatize_batch), with noise that may be
    /// seeded. Only for tests and seeded evaluation.
    #[cfg(feature = "test-seam")]
    pub fn privatize_batch_with(
        &self,
        texts: &[impl AsRef<str>],
        noise: &mut Noise,
    ) -> Vec<Privatized> {
        self.run(texts, |_| u64::MAX, noise)
    }

    fn run(
        &self,
        texts: &[impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
        noise: &mut Noise,
    ) -> Vec<Privatized> {
        let observed = self.observe(texts, cap, noise);
        self.render(&observed.tokens, &observed.ends, &self.outputs(&observed))
    }

    /// Puts the texts together from the words that come out.
    fn render(
        &self,
        tokens: &Tokens<'_>,
        ends: &[(usize, usize, u64)],
        outputs: &[WordId],
    ) -> Vec<Privatized> {
        let (mut piece, mut token) = (0, 0);
        let mut privatized = Vec::with_capacity(ends.len());
        for &(piece_end, token_end, cut) in ends {
            let words = &tokens.words[token..token_end];
            let rendering = self.rendering(words, &outputs[token..token_end]);
            privatized.push(Privatized {
                text: rendering.text(&tokens.pieces[piece..piece_end]),
                tokens: words.len() as u64,
                unknown: words.iter().filter(|w| w.is_none()).count() as u64,
                cut,
            });
            (piece, token) = (piece_end, token_end);
        }
        privatized
    }

    /// Cuts texts, looks their tokens up, and draws the noise for each.
    pub(crate) fn observe<'t>(
        &self,
        texts: &'t [impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
        noise: &mut Noise,
    ) -> Observed<'t> {
        let (tokens, ends) = self.cut(texts, cap);
        let observations = self.mechanism.observe(&tokens.words, noise);
        Observed {
            tokens,
            ends,
            observations,
        }
    }

    /// The word that comes out for each token: a function of what the noise left, of public
    /// structure and of public files.
    pub(crate) fn outputs(&self, observed: &Observed<'_>) -> Vec<WordId> {
        match &self.options.context {
            None => self.mechanism.words(&observed.observations),
            Some(language) => {
                let sentences = self.sentences(&observed.tokens, &observed.ends);
                let decoder = self.decoder(language);
                decoder.decode(&observed.observations, &sentences)
            }
        }
    }

    /// Cuts texts: their tokens, where the pieces and tokens of each text end, and what its
    /// cap took away.
    fn cut<'t>(
        &self,
        texts: &'t [impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
    ) -> (Tokens<'t>, Vec<(usize, usize, u64)>) {
        let mut lookup = Lookup::new(self.model.vocabulary(), self.model.lowercase());
        let mut tokens = Tokens::default();
        let ends = texts.iter().enumerate().map(|(i, text)| {
            let cut = tokens.push(text.as_ref(), &mut lookup, cap(i));
            (tokens.pieces.len(), tokens.words.len(), cut)
        });
        let ends = ends.collect();
        (tokens, ends)
    }

    pub(crate) fn rendering<'a>(
        &'a self,
        words: &'a [Option<WordId>],
        outputs: &'a [WordId],
    ) -> Rendering<'a> {
        Rendering {
            outputs,
            words,
            vocabulary: self.model.vocabulary(),
            layout: self.options.layout,
            unknown: self.options.unknown,
        }
    }
}

/// Ranges of sentences with enough tokens for a thread.
fn in_parts(sentences: &[Sentence]) -> Vec<Range<usize>> {
    let (mut parts, mut first, mut tokens) = (Vec::new(), 0, 0);
    for (i, sentence) in sentences.iter().enumerate() {
        tokens += sentence.tokens.len();
        if tokens >= PART_WORDS || i + 1 == sentences.len() {
            parts.push(first..i + 1);
            (first, tokens) = (i + 1, 0);
        }
    }
    parts
}

/// What stays after decoding, if that is known of this mechanism.
fn decoded_keep<'a>(model: &Model, options: &'a Options) -> Option<&'a Calibration> {
    let language = options.context.as_ref()?;
    language.decoded_keep(model.identity(), options.mechanism.name())
}

/// A share of kept words is one of the text that leaves: with context, the epsilon that gives it after
/// decoding.
fn after_decoding(model: &Model, options: &Options, budget: Budget) -> Result<Budget> {
    let (Budget::Keep(share), Some(_)) = (budget, &options.context) else {
        return Ok(budget);
    };
    let table = decoded_keep(model, options).ok_or(Error::NoDecodedKeep)?;
    Ok(Budget::Epsilon(table.epsilon_for(share)?.get()))
}

fn brr_epsilon(model: &Model, budget: Budget) -> Result<Epsilon> {
    match budget {
        Budget::Epsilon(value) => Epsilon::new(value),
        Budget::Bound(value) => Budget::epsilon_for_bound(value, &model.pair_distances()),
        Budget::Keep(_) if model.standing() == Standing::Unchecked => Err(Error::UncheckedModel),
        Budget::Keep(value) => {
            let none = Error::NoCalibration { mechanism: "brr" };
            model.calibration().ok_or(none)?.epsilon_for(value)
        }
    }
}

/// What the table bounds; and if no two codes are equal, a word stays at least as often as no bit flips.
fn brr_keeps_within(model: &Model, epsilon: f64) -> RangeInclusive<f64> {
    let table = model.calibration();
    let (low, high) = table.map_or((0.0, 1.0), |t| t.keep_within(epsilon).into_inner());
    let unflipped = match model.code_distances().nearest_min > 0 {
        true => libm::exp(-(model.bits().get() as f64) * libm::log1p(libm::exp(-epsilon))),
        false => 0.0,
    };
    low.max(unflipped)..=high
}
