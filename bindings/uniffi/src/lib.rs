//! The core for Kotlin and Swift: its types with UniFFI's attributes, and
//! nothing else. Comments here become the comments of the generated sources.
//!
//! The core's own types are declared again where UniFFI can use them as they
//! are ([`uniffi::remote`]); the compiler checks that they agree.

mod failure;
mod options;

use std::sync::Arc;

pub use brr::Standing;
use brr::explain;
use brr::parts::parallel::cores;
use brr::parts::vocabulary::WordId;
pub use brr::{Layout, Search, Unknown};

pub use failure::BrrError;
use failure::{Result, guard};
pub use options::{Budget, Mechanism, Options};

uniffi::setup_scaffolding!("brr");

/// A model: words and their codes. Read-only; threads may share it.
#[derive(uniffi::Object)]
pub struct Model(Arc<brr::Model>);

impl Model {
    fn share(opened: brr::Result<brr::Model>) -> Result<Arc<Model>> {
        Ok(Arc::new(Model(Arc::new(opened?))))
    }
}

#[uniffi::export]
impl Model {
    /// The English model that is built in.
    #[uniffi::constructor]
    pub fn english() -> Result<Arc<Model>> {
        Model::share(brr_english::model())
    }

    /// Opens a model file.
    #[uniffi::constructor]
    pub fn open(path: String) -> Result<Arc<Model>> {
        Model::share(brr::Model::open(path))
    }

    /// Opens a model from the bytes of its file.
    #[uniffi::constructor]
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Arc<Model>> {
        Model::share(brr::Model::new(bytes))
    }

    /// How many words it has.
    pub fn words(&self) -> u64 {
        self.0.vocabulary().len() as u64
    }

    /// How many bits its codes have.
    pub fn bits(&self) -> u64 {
        self.0.bits().get() as u64
    }

    /// Why what its file says about itself is believed, or is not.
    pub fn standing(&self) -> Standing {
        self.0.standing()
    }

    /// Checks what its file says about itself, unless it is known to hold: looks at
    /// all pairs of words on all cores. Takes seconds for some ten thousand words: not
    /// for the thread that draws the screen. Privatizers made afterwards use the model's
    /// certificates, and can be asked for a share of kept words.
    pub fn check(&self) -> Result<()> {
        Ok(self.0.check(cores(), &|_| {})?)
    }
}

/// A language model: which words follow which, in public text. Read-only; threads may share it.
#[derive(uniffi::Object)]
pub struct Language(Arc<brr::Language>);

impl Language {
    fn share(opened: brr::Result<brr::Language>) -> Result<Arc<Language>> {
        Ok(Arc::new(Language(Arc::new(opened?))))
    }
}

#[uniffi::export]
impl Language {
    /// The English language model that is built in, for the words of the built-in model.
    #[uniffi::constructor]
    pub fn english() -> Result<Arc<Language>> {
        Language::share(brr_english::language())
    }

    /// Opens a language model file.
    #[uniffi::constructor]
    pub fn open(path: String) -> Result<Arc<Language>> {
        Language::share(brr::Language::open(path))
    }

    /// Opens a language model from the bytes of its file.
    #[uniffi::constructor]
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Arc<Language>> {
        Language::share(brr::Language::new(&bytes))
    }
}

/// Why what a model file says about itself is believed, or is not. What is not
/// believed is not used: what holds for any codes stands in for it.
#[uniffi::remote(Enum)]
pub enum Standing {
    /// The file is one that this library was released with.
    Pinned,
    /// `check` has looked at all pairs of words.
    Checked,
    /// Neither.
    Unchecked,
}

/// A privatized text, and what may be said about it.
#[derive(uniffi::Record)]
pub struct Privatized {
    /// The text.
    pub text: String,
    /// How many tokens it had.
    pub tokens: u64,
    /// How many of them had no code. Not private: for the user's own eyes.
    pub unknown: u64,
    /// How many of them are public words, by a list of public or private words.
    pub public: u64,
    /// How many more it had before it was cut to a cap; 0, as nothing here caps.
    pub cut: u64,
}

/// What is promised, per token.
#[derive(uniffi::Record)]
pub struct Guarantee {
    /// Loss per unit of distance, rounded up.
    pub epsilon: f64,
    /// The distance, such as "hamming-256".
    pub metric: String,
    /// The mean loss between a word and its nearest neighbour.
    pub nearest: f64,
    /// The privacy-loss bound: epsilon times the average distance of two words.
    pub bound: f64,
    /// The loss at the two words farthest apart.
    pub worst: f64,
    /// The loss between a token without a code and a word, when such tokens are
    /// replaced at random.
    pub unknown_loss: f64,
    /// The largest loss between any two tokens, words or not.
    pub worst_token: f64,
    /// The loss at each whole distance from 0 on, such as the level in a tree; empty if it is
    /// epsilon times the distance.
    pub losses: Vec<f64>,
    /// The expected share of words that stay as they are, if it is known.
    pub expected_keep: Option<f64>,
}

/// A word, and how likely it is.
#[derive(uniffi::Record)]
pub struct Likely {
    /// The word.
    pub word: String,
    /// How likely.
    pub probability: f64,
    /// Not below this: equal to `probability` if that is exact, else the lower
    /// end of a 95 % interval.
    pub low: f64,
    /// Not above this, likewise.
    pub high: f64,
}

/// Privatizes texts. Read-only; threads may share it.
#[derive(uniffi::Object)]
pub struct Privatizer(brr::Privatizer);

#[uniffi::export]
impl Privatizer {
    /// Solves the budget for the model and sets the mechanism up. With a list of words, the
    /// exponential mechanism is certified on the private words, which takes seconds.
    #[uniffi::constructor(default(options))]
    pub fn new(model: &Model, options: Options) -> Result<Arc<Privatizer>> {
        let options = options.of(&model.0)?;
        let cores = brr::parts::parallel::cores();
        let core = brr::Privatizer::certified(model.0.clone(), options, cores, &|_| {})?;
        Ok(Arc::new(Privatizer(core)))
    }

    /// Privatizes a text. Each call draws anew: releasing two draws of one text
    /// spends the budget twice.
    pub fn privatize(&self, text: &str) -> Result<Privatized> {
        guard(|| {
            let private = self.0.privatize(text)?;
            Ok(Privatized {
                text: private.text,
                tokens: private.tokens,
                unknown: private.unknown,
                public: private.public,
                cut: private.cut,
            })
        })
    }

    /// What is promised.
    pub fn guarantee(&self) -> Guarantee {
        let guarantee = self.0.guarantee();
        Guarantee {
            epsilon: guarantee.epsilon,
            metric: guarantee.metric.to_string(),
            nearest: guarantee.nearest(),
            bound: guarantee.bound(),
            worst: guarantee.worst(),
            unknown_loss: guarantee.unknown_loss,
            worst_token: guarantee.worst_token(),
            losses: guarantee.losses,
            expected_keep: self.0.expected_keep(),
        }
    }

    /// What `expected_keep` and a budget by share are shares of, as the rest of a sentence that begins
    /// "half of": "words stay as they are", or what holds of private words where some are public.
    pub fn kept_words(&self) -> String {
        self.0.kept_words().to_string()
    }

    /// Which texts are neighbours, in a sentence: what the guarantee is about, and
    /// so what is public.
    pub fn adjacency(&self) -> String {
        self.0.adjacency().to_string()
    }

    /// The largest loss between two neighbouring texts of this number of tokens each. Infinite
    /// if the rule for unknown tokens tells neighbours apart.
    pub fn total_loss(&self, tokens: u64) -> f64 {
        self.0.total_loss(tokens)
    }

    /// The `top` most likely outputs when this word goes in (10 if not said): exact for the
    /// exponential mechanism, else estimated from `draws` outputs (10,000). For the user's own
    /// eyes.
    #[uniffi::method(default(top = None, draws = None))]
    pub fn outcomes(
        &self,
        word: &str,
        top: Option<u32>,
        draws: Option<u32>,
    ) -> Result<Vec<Likely>> {
        self.explain(word, top, draws, |p, id, top, draws| {
            Ok(explain::outcomes(p, id, top, draws)?.likely)
        })
    }

    /// The `top` most likely inputs when this word came out, for an observer who holds every
    /// word for equally likely beforehand; none if there were too few draws to tell.
    #[uniffi::method(default(top = None, draws = None))]
    pub fn posterior(
        &self,
        word: &str,
        top: Option<u32>,
        draws: Option<u32>,
    ) -> Result<Vec<Likely>> {
        self.explain(word, top, draws, |p, id, top, draws| {
            Ok(explain::posterior(p, id, top, draws)?.likely)
        })
    }
}

type Explain = fn(&brr::Privatizer, WordId, usize, usize) -> brr::Result<Vec<explain::Likely>>;

impl Privatizer {
    fn explain(
        &self,
        word: &str,
        top: Option<u32>,
        draws: Option<u32>,
        explain: Explain,
    ) -> Result<Vec<Likely>> {
        let vocabulary = self.0.model().vocabulary();
        let likely = |l: &explain::Likely| Likely {
            word: vocabulary.word(l.word).to_owned(),
            probability: l.chance.probability,
            low: l.chance.low,
            high: l.chance.high,
        };
        guard(|| {
            let id = explain::find(&self.0, word)?;
            let top = top.map_or(explain::TOP, |top| top as usize);
            let draws = draws.map_or(explain::DRAWS, |draws| draws as usize);
            Ok(explain(&self.0, id, top, draws)?
                .iter()
                .map(likely)
                .collect())
        })
    }
}
