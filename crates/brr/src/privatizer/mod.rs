//! Text in, privatized text out: the one composition of everything else.
//!
//! Command line, Python, browser, C and Spark all call this; none of them
//! re-implements any part of it.

mod kept_words;
mod list_words;
mod options;
mod released;
mod setup;

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

pub use kept_words::KeptWords;
pub(crate) use list_words::ListWords;
pub use options::Options;
pub use released::Released;
use setup::Setup;

use crate::all_pairs::OnShare;
use crate::context::{self, Decoder, Evidence, Sentence};
use crate::error::{Error, Result};
use crate::guarantee::Guarantee;
use crate::language::Language;
use crate::mechanism::{Emission, Mechanism, MechanismKind, Observations};
use crate::model::Model;
use crate::numbers::Numbers;
use crate::parallel;
use crate::policy::{Among, Policy, Restriction, Split, WordList};
use crate::random::Noise;
use crate::text::{Adjacency, PublicWords, Rendering, Tokens};
use crate::vocabulary::WordId;

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
    /// How many of them are public words, by the [policy](Options::policy).
    pub public: u64,
    /// How many more it had before it was cut to a cap.
    pub cut: u64,
}

impl Privatized {
    /// How many tokens were drawn: each adds to the loss.
    pub fn private(&self) -> u64 {
        self.tokens - self.public
    }
}

/// Words in a part of what several threads draw: enough for a part's own costs not to show, and
/// few enough to be done in a fraction of a second.
const PART_WORDS: usize = 4096;

/// Where the pieces and the tokens of each text end, and how many tokens were cut off.
type Ends = Vec<(usize, usize, u64)>;

/// Texts, and what the noise left of their tokens.
pub(crate) struct Observed<'t> {
    pub tokens: Tokens<'t>,
    ends: Ends,
    pub observations: Observations,
    /// What is known of each token, where some are public.
    evidence: Option<Vec<Evidence>>,
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
    /// The private words, if not all are.
    restriction: Option<Restriction>,
    mechanism: Box<dyn Mechanism>,
    options: Options,
    keep: Option<f64>,
    kept_words: KeptWords,
    keep_within: RangeInclusive<f64>,
    /// Lists that spans may name.
    lists: Vec<ListWords>,
    /// What becomes of numbers in spans and sessions.
    numbers: Option<Numbers>,
}

impl Privatizer {
    /// Solves the budget for the model and sets the mechanism up.
    ///
    /// Under a [policy](Options::policy) the mechanism is one over the private words alone, of whose pairs
    /// nothing was measured: the exponential mechanism then has textbook weights and solves no budget
    /// by share of kept words. [`certified`](Self::certified) measures. BRR solves one with
    /// [context](Options::context) and a policy of a built-in list.
    pub fn new(model: Arc<Model>, options: Options) -> Result<Privatizer> {
        let restriction = Restriction::new(&model, &options.policy)?;
        Privatizer::over(model, options, restriction)
    }

    /// As [`new`](Self::new), with the exponential mechanism certified on the private words if
    /// the policy makes some words public: a look at all their pairs, which takes seconds for some ten
    /// thousand words. `progress` gets the share of the work done.
    pub fn certified(
        model: Arc<Model>,
        options: Options,
        threads: usize,
        progress: OnShare<'_>,
    ) -> Result<Privatizer> {
        let mut restriction = Restriction::new(&model, &options.policy)?;
        if let (Some(restriction), MechanismKind::Exponential) =
            (&mut restriction, options.mechanism)
        {
            let budget = setup::to_certify(&restriction.model, &options)?;
            let certified = restriction.model.certified(budget, threads, progress)?;
            restriction.model = Arc::new(certified);
        }
        Privatizer::over(model, options, restriction)
    }

    fn over(
        model: Arc<Model>,
        options: Options,
        restriction: Option<Restriction>,
    ) -> Result<Privatizer> {
        // A span may draw from one word on purpose; a text in which it could be nothing else is not private.
        if restriction.as_ref().is_some_and(|r| r.words().len() == 1) {
            return Err(Error::OnePrivateWord);
        }
        if let Some(language) = &options.context {
            language.check_vocabulary(model.vocabulary())?;
        }
        if let Some(list) = &options.proper_nouns {
            list.check_model(&model)?;
        }
        let private = restriction.as_ref().map_or(&model, |r| &r.model);
        let setup = Setup::new(private, &options)?;
        Ok(Privatizer {
            model,
            restriction,
            mechanism: setup.mechanism,
            options,
            keep: setup.keep.map(|keep| keep.weighted),
            kept_words: setup.kept_words,
            keep_within: setup.keep_within,
            lists: Vec::new(),
            numbers: None,
        })
    }

    /// With numbers that become numbers, in [spans](Self::privatize_spans) without a list and in
    /// [sessions](crate::Session); elsewhere they become words as ever.
    pub fn with_numbers(self, numbers: Numbers) -> Privatizer {
        let numbers = Some(numbers);
        Privatizer { numbers, ..self }
    }

    /// What becomes of numbers in spans and sessions, if not words.
    pub fn numbers(&self) -> Option<&Numbers> {
        self.numbers.as_ref()
    }

    pub(crate) fn restriction(&self) -> Option<&Restriction> {
        self.restriction.as_ref()
    }

    /// The model in use.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The model over which the mechanism works: under a [policy](Options::policy), that of
    /// the private words alone, with ids of its own.
    pub fn private_model(&self) -> &Arc<Model> {
        self.restriction.as_ref().map_or(&self.model, |r| &r.model)
    }

    /// The id of a word of the [model](Self::model) in the [private model](Self::private_model),
    /// if it is private.
    pub fn private_id(&self, word: WordId) -> Option<WordId> {
        match &self.restriction {
            None => Some(word),
            Some(restriction) => restriction.place(word),
        }
    }

    /// The id in the [model](Self::model) of a word of the [private model](Self::private_model).
    pub fn whole_id(&self, private: WordId) -> WordId {
        let restriction = self.restriction.as_ref();
        restriction.map_or(private, |r| r.words()[private as usize])
    }

    /// The mechanism in use, over the words of the [private model](Self::private_model).
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
    /// [`kept_words`](Self::kept_words) says which words it is a share of.
    pub fn expected_keep(&self) -> Option<f64> {
        self.keep
    }

    /// What [`expected_keep`](Self::expected_keep) and a budget by [share](crate::Budget::Keep) are shares of:
    /// under a [policy](Options::policy), of the private words.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use brr::{Options, Privatizer};
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// let privatizer = Privatizer::new(model, Options::default())?;
    /// let share = privatizer.expected_keep().expect("known of the built-in model");
    /// println!("about {:.0} % of {}", 100.0 * share, privatizer.kept_words());
    /// # assert_eq!(privatizer.kept_words().to_string(), "words stay as they are");
    /// # Ok::<(), brr::Error>(())
    /// ```
    pub fn kept_words(&self) -> KeptWords {
        self.kept_words
    }

    /// Between which numbers the expected share of words (by use) that are drawn as they were lies,
    /// where [`expected_keep`](Self::expected_keep) cannot say more; from 0 to 1 if nothing is known.
    pub fn keep_within(&self) -> RangeInclusive<f64> {
        self.keep_within.clone()
    }

    /// Which texts are neighbours: the relation that the guarantee is about.
    pub fn adjacency(&self) -> Adjacency {
        let name = |list: &WordList| list.name().to_owned();
        let public = match &self.options.policy {
            Policy::All => PublicWords::None,
            Policy::AllBut(list) => PublicWords::Of(name(list)),
            Policy::Only(list) => PublicWords::Outside(name(list)),
        };
        let words = self.model.orthography().words();
        Adjacency::new(self.options.layout, self.options.unknown, public, words)
    }

    /// The largest loss between two [neighbouring](Self::adjacency) texts of this many *private*
    /// tokens ([`Privatized::private`]); infinite if the [`Unknown`](crate::Unknown) rule tells some neighbours apart.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use brr::{Options, Privatizer};
    /// # let model = Arc::new(brr::Model::open("../brr-english/src/english.brr")?);
    /// # let privatizer = Privatizer::new(model, Options::default())?;
    /// let private = privatizer.privatize("a text of five tokens")?;
    /// let loss = privatizer.total_loss(private.private());
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
        let split = self.split(&tokens);
        let inputs = split.as_ref().map_or(&tokens.words, |split| &split.private);
        let evidence = split.as_ref().map(|split| &split.evidence[..]);
        let parts: Vec<_> = inputs.chunks(PART_WORDS).collect();
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
                let words = words.collect::<Option<Vec<_>>>();
                words.map(|words| self.join(evidence, words.concat()))
            }
            (Some(parts), Some(language)) => {
                let observed = Observations::concat(parts);
                let sentences = self.sentences(&tokens, &ends);
                let parts = in_parts(&sentences);
                let decode = |part: usize| {
                    let sentences = &sentences[parts[part].clone()];
                    go_on().then(|| {
                        self.decode(self.emission(), language, &observed, evidence, sentences)
                    })
                };
                let words = parallel::map(threads, parts.len(), decode).into_iter();
                words
                    .collect::<Option<Vec<_>>>()
                    .map(|words| words.concat())
            }
        };
        Ok(outputs.map(|outputs| self.render(&tokens, &ends, &outputs)))
    }

    /// Every mechanism that a privatizer makes can say how likely its observations are.
    fn emission(&self) -> &dyn Emission {
        let emission = self.mechanism.emission();
        emission.expect("a mechanism with an emission")
    }

    /// `emission` is over the private words.
    fn decode(
        &self,
        emission: &dyn Emission,
        language: &Language,
        observations: &Observations,
        evidence: Option<&[Evidence]>,
        sentences: &[Sentence],
    ) -> Vec<WordId> {
        let all = self.model.vocabulary().len();
        let restriction = self.restriction.as_ref();
        let among = restriction.map(|r| Among::new(emission, r.words(), all));
        let emission = among.as_ref().map_or(emission, |among| among);
        let decoder = Decoder::new(language, emission).with_evidence(evidence.unwrap_or(&[]));
        decoder.decode(observations, sentences)
    }

    /// Tokens, divided by the policy, if it makes some public.
    fn split(&self, tokens: &Tokens<'_>) -> Option<Split> {
        let restriction = self.restriction.as_ref();
        restriction.map(|restriction| restriction.split(&tokens.words))
    }

    /// The model's word of every token, from the words that the mechanism drew.
    fn join(&self, evidence: Option<&[Evidence]>, drawn: Vec<WordId>) -> Vec<WordId> {
        match (&self.restriction, evidence) {
            (Some(restriction), Some(evidence)) => restriction.join(evidence, &drawn),
            _ => drawn,
        }
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

    /// The words that come out for a text's tokens, with noise that may be seeded. Only for tests and
    /// seeded evaluation.
    #[cfg(feature = "test-seam")]
    pub fn words_with(&self, text: &str, noise: &mut Noise) -> Vec<WordId> {
        self.outputs(&self.observe(&[text], |_| u64::MAX, noise))
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
                public: self.public(words),
                cut,
            });
            (piece, token) = (piece_end, token_end);
        }
        privatized
    }

    /// How many of these are public words.
    pub(crate) fn public(&self, words: &[Option<WordId>]) -> u64 {
        let is_public = |word: &&Option<WordId>| word.is_some_and(|w| self.private_id(w).is_none());
        match &self.restriction {
            None => 0,
            Some(_) => words.iter().filter(is_public).count() as u64,
        }
    }

    /// Cuts texts, looks their tokens up, and draws the noise for each that is private.
    pub(crate) fn observe<'t>(
        &self,
        texts: &'t [impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
        noise: &mut Noise,
    ) -> Observed<'t> {
        let (tokens, ends) = self.cut(texts, cap);
        let split = self.split(&tokens);
        let inputs = split.as_ref().map_or(&tokens.words, |split| &split.private);
        let observations = self.mechanism.observe(inputs, noise);
        Observed {
            tokens,
            ends,
            observations,
            evidence: split.map(|split| split.evidence),
        }
    }

    /// The word that comes out for each token: a function of what the noise left, of public
    /// structure and of public files.
    pub(crate) fn outputs(&self, observed: &Observed<'_>) -> Vec<WordId> {
        match &self.options.context {
            None => self.drawn(observed),
            Some(language) => {
                let sentences = self.sentences(&observed.tokens, &observed.ends);
                let evidence = observed.evidence.as_deref();
                let emission = self.emission();
                self.decode(
                    emission,
                    language,
                    &observed.observations,
                    evidence,
                    &sentences,
                )
            }
        }
    }

    /// The words as drawn, public ones as they are.
    pub(crate) fn drawn(&self, observed: &Observed<'_>) -> Vec<WordId> {
        let drawn = self.mechanism.words(&observed.observations);
        self.join(observed.evidence.as_deref(), drawn)
    }

    /// Cuts texts: their tokens, where the pieces and tokens of each text end, and what its
    /// cap took away.
    fn cut<'t>(
        &self,
        texts: &'t [impl AsRef<str>],
        cap: impl Fn(usize) -> u64,
    ) -> (Tokens<'t>, Ends) {
        let mut lookup = self.model.lookup();
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
            texts: &[],
            words,
            public: self.restriction.as_ref().map_or(&[], |r| r.public()),
            vocabulary: self.model.vocabulary(),
            table: self.model.orthography(),
            layout: self.options.layout,
            unknown: self.options.unknown,
            case: self.options.case,
            proper: self
                .options
                .proper_nouns
                .as_ref()
                .map_or(&[], |list| list.words()),
            joined: false,
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
