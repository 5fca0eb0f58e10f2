//! On-device text privatization with binary randomized response (BRR), after
//! Carvalho, Vasiloudis and Feyisetan, "BRR: Preserving Privacy of Text Data
//! Efficiently on Device".
//!
//! Every word of a text is replaced by a word drawn at random (it may be the
//! word itself), under a metric differential privacy guarantee. The default is
//! an exponential mechanism over the same codes, whose epsilon is certified over
//! all pairs of words. No network, no logging, and no state between calls but in a [`Session`].
//!
//! ```
//! use std::sync::Arc;
//! use brr::{Budget, Model, Options, Privatizer};
//!
//! // The built-in model, by its path in the repository: `brr_english::model()` has it too.
//! let model = Arc::new(Model::open("../brr-english/src/english.brr")?);
//! let options = Options::default().with_budget(Budget::Bound(16.0));
//! let privatizer = Privatizer::new(model, options)?;
//! let private = privatizer.privatize("Good film, good!")?;
//! println!("{} (loss at most {:.0})", private.text, privatizer.total_loss(private.tokens));
//! # assert!(private.tokens == 3 && private.text.ends_with('!'));
//! # Ok::<(), brr::Error>(())
//! ```
//!
//! What is at the root is all that privatizing takes; [`explain`] shows what it does to a
//! word. [`parts`] is for those who build models and mechanisms.
//!
//! The way of a text: `text` cuts it into tokens, by the `orthography` of the model's language; a `mechanism` maps each token's word to
//! another (`response` is the noise, `nearest` the search, both over the `codes` of a
//! `model`); `text` puts the result together. `privatizer` is that composition, `guarantee`
//! what it promises (`text::adjacency` says about which texts). What a model file claims about
//! its codes is checked by `certify`, `distances` and `calibration`. Each of these modules
//! opens with what it is and why it is correct.

mod all_pairs;
mod calibration;
mod certify;
mod choice;
mod context;
mod distances;
mod epsilon;
mod error;
pub mod explain;
mod frame;
mod frequency;
mod guarantee;
mod identity;
mod language;
mod mechanism;
mod model;
mod numbers;
mod parallel;
pub mod parts;
mod policy;
mod privatizer;
mod random;
mod response;
mod session;
mod spans;
mod text;
mod tree;
mod vocabulary;

use brr_search::{codes, nearest};

pub use choice::Choice;
pub use error::{Error, ErrorKind, Result};
pub use frequency::Keep;
pub use guarantee::{Budget, Guarantee, Metric};
pub use language::Language;
pub use mechanism::{MechanismKind, Search};
pub use model::{Model, Standing};
pub use numbers::Numbers;
pub use policy::{Policy, WordList};
pub use privatizer::{KeptWords, Options, Privatized, Privatizer};
pub use session::{Restored, Restorer, Session};
pub use spans::{PrivatizedSpans, Span};
pub use text::{Adjacency, Case, Layout, Orthography, Unknown};
