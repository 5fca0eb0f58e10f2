//! How far an unfinished run came: a small JSON file beside the partial output.
//!
//! It is written after the output that it speaks of is on disk, under another name, and takes its
//! name in one step: whatever is found there is true.
//!
//! Whether the input is still the same is judged by its size and its time of modification. A hash
//! of its content would find more, but a hash of private text is a fingerprint of it that anyone
//! can try guesses against, and a keyed one would need a secret beside it. Rows that are not
//! private are in the output anyway; nothing else of the input is kept here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;

use brr::Privatized;
use serde::{Deserialize, Serialize};

use crate::error::{Difference, Error, FileProblem, Result};
use crate::files;
use crate::fingerprint::Fingerprint;
use crate::units::Histogram;

const VERSION: u32 = 2;

/// What was done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Rows read, bad ones included.
    pub rows: u64,
    /// Private cells (in plain text: lines) that were privatized.
    pub documents: u64,
    /// Their tokens.
    pub words: u64,
    /// Tokens without a code.
    pub unknown: u64,
    /// Tokens that are public words, by the policy.
    #[serde(default)]
    pub public: u64,
    /// Rows left out as bad.
    pub skipped: u64,
    /// Bad rows kept without their text.
    pub emptied: u64,
    /// Words cut off because their unit had as many as it may have.
    #[serde(default)]
    pub cut: u64,
    /// Number of documents by their number of words.
    #[serde(default)]
    pub lengths: Histogram,
}

impl Counts {
    /// Of documents that were privatized.
    pub fn of(privatized: &[Privatized]) -> Counts {
        let mut lengths = Histogram::default();
        privatized.iter().for_each(|text| lengths.add(text.tokens));
        Counts {
            documents: privatized.len() as u64,
            words: privatized.iter().map(|text| text.tokens).sum(),
            unknown: privatized.iter().map(|text| text.unknown).sum(),
            public: privatized.iter().map(|text| text.public).sum(),
            cut: privatized.iter().map(|text| text.cut).sum(),
            lengths,
            ..Counts::default()
        }
    }

    /// The share of tokens that are public words.
    pub fn public_share(&self) -> f64 {
        self.public as f64 / self.words.max(1) as f64
    }

    /// Takes in what was done besides.
    pub fn add(&mut self, more: &Counts) {
        self.rows += more.rows;
        self.documents += more.documents;
        self.words += more.words;
        self.unknown += more.unknown;
        self.public += more.public;
        self.skipped += more.skipped;
        self.emptied += more.emptied;
        self.cut += more.cut;
        self.lengths.merge(&more.lengths);
    }
}

/// A point from which a run went on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restart {
    /// Rows before that point.
    pub after_rows: u64,
    /// Output after it, which was cut off: its rows were drawn again.
    pub discarded_bytes: u64,
}

/// What tells a file from another, or from itself after a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputIdentity {
    size: u64,
    modified: Option<(u64, u32)>,
}

impl InputIdentity {
    /// Of an opened file.
    pub fn of(metadata: &Metadata) -> InputIdentity {
        let since = |t: std::time::SystemTime| t.duration_since(std::time::UNIX_EPOCH).ok();
        let modified = metadata.modified().ok().and_then(since);
        InputIdentity {
            size: metadata.len(),
            modified: modified.map(|t| (t.as_secs(), t.subsec_nanos())),
        }
    }
}

/// Settings of which no message tells the value: it may be text in the wrong place, or is long.
const NAMED_ONLY: [&str; 3] = ["columns", "model", "unit"];

/// What must be the same for one output, by name.
pub type Settings = BTreeMap<String, String>;

/// The state of an unfinished run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    /// What the run was asked to do.
    pub settings: Settings,
    /// What it reads.
    pub input: InputIdentity,
    /// How far it has read: bytes of the unpacked input, or row groups.
    pub position: u64,
    /// How much of the output is safe.
    pub output_length: u64,
    /// Whether nothing is left to read.
    pub complete: bool,
    /// What was done.
    pub counts: Counts,
    /// Where it went on before.
    pub restarts: Vec<Restart>,
    /// What a format has to remember besides.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub memory: String,
    /// The complete output, on the record of a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Fingerprint>,
}

impl Checkpoint {
    /// Nothing is done yet.
    pub fn start(settings: Settings, input: InputIdentity) -> Checkpoint {
        Checkpoint {
            version: VERSION,
            settings,
            input,
            position: 0,
            output_length: 0,
            complete: false,
            counts: Counts::default(),
            restarts: Vec::new(),
            memory: String::new(),
            output: None,
        }
    }

    /// Reads one, if it is there.
    pub fn read(path: &Path) -> Result<Option<Checkpoint>> {
        let mut bytes = Vec::new();
        // What another user put there is not believed.
        let read = files::open_own(path).and_then(|mut file| file.read_to_end(&mut bytes));
        match read {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::read(path, e)),
        }
        let found: Result<Checkpoint, _> = serde_json::from_slice(&bytes);
        match found {
            Ok(checkpoint) if checkpoint.version == VERSION => Ok(Some(checkpoint)),
            _ => Err(FileProblem::OtherVersion.of(path)),
        }
    }

    /// Whether another call would do the same work; if not, in what they differ.
    pub fn check(&self, settings: &Settings, input: &InputIdentity) -> Result {
        let keys: BTreeSet<&String> = self.settings.keys().chain(settings.keys()).collect();
        let say = |value: Option<&String>| value.map_or("none".to_owned(), String::clone);
        let difference = |key: &String| {
            let (then, now) = (self.settings.get(key), settings.get(key));
            let told = !NAMED_ONLY.contains(&key.as_str());
            (then != now).then(|| Difference {
                setting: key.clone(),
                values: told.then(|| [say(then), say(now)]),
            })
        };
        let differences: Vec<Difference> = keys.into_iter().filter_map(difference).collect();
        match differences.is_empty() {
            false => Err(Error::Differs { differences }),
            true if self.input != *input => Err(Error::InputChanged),
            true => Ok(()),
        }
    }

    /// Puts it in its place, safely on disk.
    pub fn write(&self, path: &Path) -> Result {
        let text = serde_json::to_vec_pretty(self).map_err(io::Error::from);
        let written = text.and_then(|text| files::replace(path, &text));
        written.map_err(|e| Error::write(path, e))
    }
}
