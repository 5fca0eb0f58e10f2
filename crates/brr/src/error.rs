//! What can go wrong. Messages say what happened and the way out; they never
//! contain the user's text.

use std::fmt;
use std::path::PathBuf;

/// Every error of this crate.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An epsilon that is not a positive finite number.
    InvalidEpsilon {
        /// The value given.
        value: f64,
    },
    /// A privacy-loss bound that is not a positive finite number.
    InvalidBound {
        /// The value given.
        value: f64,
    },
    /// A share of kept words outside 0 to 1.
    InvalidKeep {
        /// The value given.
        value: f64,
    },
    /// No epsilon is known that keeps as few words as wanted.
    KeepOutOfReach {
        /// The share asked for.
        asked: f64,
        /// The smallest share for which one is known.
        lowest: f64,
        /// The largest.
        highest: f64,
    },
    /// A share of kept words was asked for, and the claims of the model that would tell what
    /// keeps it have not been checked.
    UncheckedModel,
    /// The model has no calibration table for this mechanism.
    NoCalibration {
        /// Name of the mechanism.
        mechanism: &'static str,
    },
    /// Tree response was asked of a model that has no tree.
    NoTree,
    /// Nobody has measured what share of words stays after decoding with this language model.
    NoDecodedKeep,
    /// A name that stands for none of the choices.
    UnknownChoice {
        /// What was to be chosen.
        what: &'static str,
        /// The names there are.
        names: String,
    },
    /// A word of a list that the model does not have.
    ListWord {
        /// Its line, or its number, from 1.
        line: usize,
    },
    /// A list without a word.
    ListEmpty,
    /// A list made for another model.
    ListMismatch,
    /// A list of words for a model that tells upper from lower case.
    ListNeedsFolding,
    /// Both a public list and a private one.
    TwoLists,
    /// A public list that has every word.
    NothingPrivate,
    /// Lists that leave a single word private.
    OnePrivateWord,
    /// A share of kept words was asked for under a policy, and the mechanism has no table for its
    /// private words.
    NoPolicyKeep,
    /// A word to be explained that is public.
    PublicWord,
    /// An estimate or audit under a policy, which would have to know what is public.
    PolicyNotSupported,
    /// A span that does not lie in the text, or that cuts a character.
    SpanOutside {
        /// Its number among those given, from 1.
        number: usize,
    },
    /// Two spans that have a part of the text in common.
    SpanOverlap {
        /// The number of one of them among those given, from 1.
        number: usize,
    },
    /// Spans or a session with a privatizer that decodes with context.
    SpansWithContext,
    /// Spans or a session with a privatizer that shows which tokens are unknown.
    SpansWithUnknown,
    /// Two lists of one name for spans.
    ListTwice,
    /// A range or a scale for integers that makes no sense.
    InvalidNumbers,
    /// Bytes that are no exported session, or a damaged one.
    SessionInvalid,
    /// A session that was exported from another privatizer.
    SessionMismatch,
    /// An estimate from no draws at all.
    NoDraws,
    /// A word to be explained that the model does not have.
    UnknownWord,
    /// The bytes are not a brr model.
    NotAModel,
    /// The bytes are not a language model of brr.
    NotALanguageModel,
    /// A language model for other words than the model's.
    LanguageMismatch,
    /// A model of another format version.
    ModelVersion {
        /// Version in the file.
        found: u32,
        /// The newest version this build reads.
        newest: u32,
    },
    /// The model ends early.
    ModelTruncated {
        /// Bytes needed.
        expected: u64,
        /// Bytes there.
        got: u64,
    },
    /// The model's bytes do not match their checksum.
    ModelChecksum,
    /// The model is well framed, but its content makes no sense.
    ModelInvalid {
        /// The section at fault.
        section: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A certificate made for other codes than this model's.
    CertificateMismatch,
    /// The operating system gave no randomness.
    NoEntropy(getrandom::Error),
    /// A file could not be read.
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// What kind of thing went wrong: every binding has one class, status or code for each, and takes
/// it from here. A new kind does not compile before all of them have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// An argument that makes no sense, such as a choice that does not exist.
    Argument,
    /// What was handed over cannot be used: not text, or a word that the model does not know.
    Input,
    /// A budget that is out of range, or that the model cannot solve.
    Budget,
    /// Not a model, a damaged one, or one whose claims do not hold.
    Model,
    /// A share of kept words was asked of a model whose file was not checked.
    UncheckedModel,
    /// A file that cannot be read or written.
    File,
    /// The operating system gave no randomness; nothing was privatized.
    Entropy,
    /// A bug in brr; nothing was privatized.
    Internal,
}

impl ErrorKind {
    /// All there are.
    pub const ALL: [ErrorKind; 8] = [
        ErrorKind::Argument,
        ErrorKind::Input,
        ErrorKind::Budget,
        ErrorKind::Model,
        ErrorKind::UncheckedModel,
        ErrorKind::File,
        ErrorKind::Entropy,
        ErrorKind::Internal,
    ];

    /// What a user sees of a bug. The message of a panic could quote a text.
    pub const INTERNAL: &'static str = "an internal error in brr; please report it";

    /// Its name in programs, which does not change.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Argument => "argument",
            ErrorKind::Input => "input",
            ErrorKind::Budget => "budget",
            ErrorKind::Model => "model",
            ErrorKind::UncheckedModel => "unchecked-model",
            ErrorKind::File => "file",
            ErrorKind::Entropy => "entropy",
            ErrorKind::Internal => "internal",
        }
    }
}

impl Error {
    /// What kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::InvalidEpsilon { .. }
            | Error::InvalidBound { .. }
            | Error::InvalidKeep { .. }
            | Error::KeepOutOfReach { .. }
            | Error::NoCalibration { .. }
            | Error::NoPolicyKeep
            | Error::NoDecodedKeep => ErrorKind::Budget,
            Error::UncheckedModel => ErrorKind::UncheckedModel,
            Error::UnknownChoice { .. }
            | Error::ListMismatch
            | Error::ListNeedsFolding
            | Error::NothingPrivate
            | Error::OnePrivateWord
            | Error::TwoLists
            | Error::PolicyNotSupported
            | Error::SpansWithContext
            | Error::SpansWithUnknown
            | Error::ListTwice
            | Error::InvalidNumbers
            | Error::SessionMismatch
            | Error::NoDraws => ErrorKind::Argument,
            Error::UnknownWord
            | Error::PublicWord
            | Error::ListWord { .. }
            | Error::ListEmpty
            | Error::SpanOutside { .. }
            | Error::SpanOverlap { .. }
            | Error::SessionInvalid => ErrorKind::Input,
            Error::NotAModel
            | Error::NotALanguageModel
            | Error::LanguageMismatch
            | Error::ModelVersion { .. }
            | Error::ModelTruncated { .. }
            | Error::ModelChecksum
            | Error::NoTree
            | Error::ModelInvalid { .. }
            | Error::CertificateMismatch => ErrorKind::Model,
            Error::NoEntropy(_) => ErrorKind::Entropy,
            Error::Io { .. } => ErrorKind::File,
        }
    }
}

/// A share with four digits after the point, or with as many as tell it from 0.
fn share(value: f64) -> String {
    let digits = match value < 0.001 {
        true => 7,
        false => 4,
    };
    format!("{value:.digits$}")
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::InvalidEpsilon { value } => {
                write!(f, "epsilon must be a positive finite number, got {value}")
            }
            Error::InvalidBound { value } => write!(
                f,
                "the privacy-loss bound must be a positive finite number, got {value}"
            ),
            Error::InvalidKeep { value } => write!(
                f,
                "the share of kept words must lie between 0 and 1, got {value}"
            ),
            Error::KeepOutOfReach {
                lowest, highest, ..
            } => write!(
                f,
                "no known epsilon keeps so small a share of the words: with this model and \
                 mechanism, shares from {} to {} can be asked for; give an epsilon instead",
                share(*lowest),
                share(*highest)
            ),
            Error::UncheckedModel => f.write_str(
                "what this model's file says about the share of kept words has not been checked on \
                 this machine: check the model first, or give an epsilon or a bound",
            ),
            Error::NoCalibration { mechanism } => write!(
                f,
                "the model has no calibration table for the {mechanism} mechanism: \
                 give an epsilon or a bound, or rebuild the model with `brr build`"
            ),
            Error::NoTree => f.write_str(
                "the model has no tree of words, which the tree mechanism needs: choose the mechanism \
                 exponential, brr or k-ary, or rebuild the model with `brr build`",
            ),
            Error::NoDecodedKeep => f.write_str(
                "what share of words stays after decoding is known for the built-in model and language \
                 model alone: give an epsilon or a bound",
            ),
            Error::UnknownChoice { what, names } => {
                write!(f, "there is no such {what}: choose one of {names}")
            }
            Error::ListWord { line } => write!(
                f,
                "line {line} of the list of words is not a word of the model: a list may hold words \
                 of the model alone"
            ),
            Error::ListEmpty => f.write_str("the list of words has no word of the model"),
            Error::ListMismatch => f.write_str(
                "the list of words was made for another model: make it again from its words",
            ),
            Error::ListNeedsFolding => f.write_str(
                "this model tells upper from lower case, and a list of words does not: build the \
                 model in lower case",
            ),
            Error::TwoLists => {
                f.write_str("give a list of public words or one of private words, not both")
            }
            Error::NothingPrivate => {
                f.write_str("the public list has every word of the model: nothing would be private")
            }
            Error::OnePrivateWord => f.write_str(
                "a single word would be private, which could become nothing but itself: that is no privacy; \
                 make two words private or more",
            ),
            Error::NoPolicyKeep => f.write_str(
                "what share of the private words stays under this mechanism is not known: give an \
                 epsilon or a bound, or choose the mechanism tree or k-ary",
            ),
            Error::PublicWord => {
                f.write_str("that word is public under this policy: it is written as it is")
            }
            Error::PolicyNotSupported => f.write_str(
                "this is not available where some words are public: use a privatizer without a policy",
            ),
            Error::SpanOutside { number } => write!(
                f,
                "span {number} does not lie within the text, or begins or ends inside a character: \
                 give offsets into this very text"
            ),
            Error::SpanOverlap { number } => write!(
                f,
                "span {number} overlaps another: join overlapping spans, or keep one of them"
            ),
            Error::SpansWithContext => f.write_str(
                "spans and sessions are written as drawn, which excludes decoding with context: use a \
                 privatizer without context",
            ),
            Error::SpansWithUnknown => f.write_str(
                "spans and sessions never show which tokens are unknown: use a privatizer with the \
                 rule `random` for unknown tokens",
            ),
            Error::ListTwice => f.write_str(
                "the privatizer already has a list of this name for spans: give each list a name of its own",
            ),
            Error::InvalidNumbers => f.write_str(
                "integers need a range from a lower to a higher number, at most 1,000,000 apart, and a \
                 scale from 1 to 1,000,000",
            ),
            Error::SessionInvalid => f.write_str(
                "these bytes are not an exported session, or they are damaged: export it again, or \
                 begin a new session",
            ),
            Error::SessionMismatch => f.write_str(
                "the session was exported from a privatizer with another model, mechanism, budget, \
                 policy, list or range of numbers: make the privatizer as it was, or begin a new session",
            ),
            Error::NoDraws => f.write_str("the number of draws must be at least 1"),
            Error::UnknownWord => f.write_str(
                "the model does not have that word: it would become a uniformly random one",
            ),
            Error::NotAModel => f.write_str(
                "not a brr model (wrong first bytes): make one from word vectors with `brr build`",
            ),
            Error::NotALanguageModel => f.write_str(
                "not a language model of brr (wrong first bytes): make one from public text with \
                 `brr language build`",
            ),
            Error::LanguageMismatch => f.write_str(
                "the language model was made for another vocabulary than the model's: make one for \
                 this model with `brr language build --model`",
            ),
            Error::ModelVersion { found, newest } => write!(
                f,
                "found model version {found}, this build reads 1 to {newest}: \
                 update brr, or build the model again"
            ),
            Error::ModelTruncated { expected, got } => write!(
                f,
                "the model is cut short: {expected} bytes expected, {got} found; copy or build it again"
            ),
            Error::ModelChecksum => f.write_str(
                "the model's checksum does not match its content: the file is damaged; copy or build it again",
            ),
            Error::ModelInvalid { section, reason } => write!(
                f,
                "the model's {section} section is invalid ({reason}): build it again"
            ),
            Error::CertificateMismatch => f.write_str(
                "the certificate was made for other codes than this model's: run `brr certify` on this model",
            ),
            Error::NoEntropy(e) => write!(
                f,
                "the operating system gave no randomness ({e}); nothing was privatized"
            ),
            Error::Io { path, source } => write!(f, "cannot read {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::NoEntropy(e) => Some(e),
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// This crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
