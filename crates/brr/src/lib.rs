//! On-device text privatization with binary randomized response (BRR), after
//! Carvalho, Vasiloudis and Feyisetan, "BRR: Preserving Privacy of Text Data
//! Efficiently on Device".
//!
//! Every word of a text is replaced by a word drawn at random (it may be the
//! word itself), under a metric differential privacy guarantee. The default is
//! an exponential mechanism over the same codes, whose epsilon is certified over
//! all pairs of words. No network, no logging, no state between calls.
//!
//! ```
//! use std::sync::Arc;
//! use brr::{Budget, Model, Options, Privatizer};
//! # use brr::{calibration::Calibration, codes::*, distances::CodeDistances, model::ModelParts};
//! # let words = ["good".to_string(), "film".to_string()];
//! # let mut codes = CodeRows::new(CodeBits::new(64).unwrap());
//! # codes.push(&[0]);
//! # codes.push(&[u64::MAX]);
//! # let distances = CodeDistances { sum: 128, maximum: 64, nearest_sum: 128, nearest_min: 64, duplicates: 0 };
//! # let parts = ModelParts { words: &words, codes: &codes, lowercase: true, distances,
//! #     calibration: Calibration::default(), meta: vec![] };
//! # let model_file = parts.write()?.bytes().to_vec();
//! let model = Arc::new(Model::new(model_file)?);
//! let options = Options::default().with_budget(Budget::Bound(16.0));
//! let privatizer = Privatizer::new(model, options)?;
//! let private = privatizer.privatize("Good film, good!")?;
//! println!("{} (loss at most {:.0})", private.text, privatizer.total_loss(private.tokens));
//! # Ok::<(), brr::Error>(())
//! ```
//!
//! The way of a text: [`text`] cuts it into tokens; a [`mechanism`] maps each
//! token's word to another ([`response`] is the noise, [`nearest`] the search,
//! both over the [`codes`] of a [`model`]); [`text`] puts the result together.
//! [`privatizer`] is that composition, [`guarantee`] what it promises
//! ([`text::adjacency`] says about which texts), and [`explain`] shows what it does
//! to a word. What a model file claims about its codes is checked by [`certify`],
//! [`distances`] and [`calibration`].

pub mod all_pairs;
pub mod calibration;
pub mod certify;
pub mod choice;
pub mod codes;
pub mod distances;
pub mod epsilon;
pub mod error;
pub mod explain;
pub mod frequency;
pub mod guarantee;
pub mod identity;
pub mod mechanism;
pub mod model;
pub mod nearest;
pub mod parallel;
pub mod privatizer;
pub mod random;
pub mod response;
pub mod text;
pub mod vocabulary;

pub use choice::Choice;
pub use epsilon::Epsilon;
pub use error::{Error, Result};
pub use guarantee::{Budget, Guarantee, Metric};
pub use model::Model;
pub use privatizer::{MechanismKind, Options, Privatized, Privatizer};
pub use text::{Adjacency, Layout, Unknown};
