//! The parts that models and mechanisms are made of, for those who build their own.
//!
//! Users who only privatize text need none of them. A mechanism implements
//! [`Mechanism`](mechanism::Mechanism) and draws from [`Noise`](random::Noise); `own_mechanism`
//! among the examples of `brr-eval` is one from proof to audit. A model is written by
//! [`ModelParts`](model::ModelParts), most easily through the crate `brr-build`.

/// The mechanisms, and the trait that they share.
pub mod mechanism {
    pub use crate::mechanism::{
        Brr, Channel, Emission, Exponential, Kary, Likelihoods, Mechanism, Observations,
        TreeResponse,
    };
}

/// The sealed source of noise.
pub mod random {
    pub use crate::random::Noise;
}

/// Randomized response on bits.
pub mod response {
    pub use crate::response::FlipThreshold;
}

/// A validated epsilon, and outward rounding.
pub mod epsilon {
    pub use crate::epsilon::{Epsilon, round_up};
}

/// Codes of words, and the layout in which they are stored and searched.
pub mod codes {
    pub use crate::codes::{CodeBits, CodeBlocks, CodeRows, hamming, to_blocks};
}

/// The exact nearest code.
pub mod nearest {
    pub use crate::nearest::{
        Backend, MultiIndex, Neighbor, Scan, Sieve, WeightTable, distances_of,
    };
}

/// Words and their ids.
pub mod vocabulary {
    pub use crate::vocabulary::{MAX_WORD_BYTES, Vocabulary, WordId};
}

/// What a language model is written from, and decoding with one.
pub mod language {
    pub use crate::context::{Decoder, Evidence, Sentence, sentences};
    pub use crate::language::{DecodedKeep, LanguageParts, State};
    pub use crate::privatizer::Released;
}

/// How a text is cut into tokens and public structure, and what tables of languages say about it.
pub mod text {
    pub use crate::text::orthography::{Fold, Form, LineError, MARKS, Words};
    pub use crate::text::{PUNCTUATION, Piece, is_one_token, is_spaceless, pieces};
}

/// What a model file is written from, and the hashes that name it.
pub mod model {
    pub use crate::identity::{CodesIdentity, FileIdentity, ListIdentity};
    pub use crate::model::ModelParts;
}

/// A balanced tree over the words.
pub mod tree {
    pub use crate::tree::WordTree;
}

/// How far the words of a vocabulary lie apart.
pub mod distances {
    pub use crate::distances::{Balance, ClosePair, CodeDistances, CodeStats, code_distances};
    pub use crate::guarantee::PairDistances;
}

/// Weights of the exponential mechanism, and certificates for them.
pub mod certify {
    pub use crate::certify::{Certificate, Certifier, Measure, Weights, WorstPair, certify_ladder};
}

/// The table behind [`Budget::Keep`](crate::Budget::Keep).
pub mod calibration {
    pub use crate::calibration::{Calibration, CalibrationPoint, simulate};
}

/// How often words are used, by Zipf's law.
pub mod frequency {
    pub use crate::frequency::{Sampler, shares};
}

/// A look at all pairs of codes.
pub mod all_pairs {
    pub use crate::all_pairs::{OnShare, Visitor, for_near, visit, visit_some};
}

/// Work split so that the number of threads never shows.
pub mod parallel {
    pub use crate::parallel::{chunks, cores, map};
}
