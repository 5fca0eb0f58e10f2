//! Finished trials, a line each, safe on disk before the next one counts.
//!
//! A run that dies can only lose the line it was writing: that one is cut off
//! when the journal is opened again. Anything else that does not read is an
//! error, and nothing is removed.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ExperimentStage, OnExperimentStage, Trial};
use crate::error::{Error, Result};

#[derive(Serialize, Deserialize)]
struct Header {
    /// Version of this format.
    journal: u32,
    /// The experiment's fingerprint.
    experiment: String,
}

/// The trials of an experiment.
pub struct Journal {
    file: File,
    path: PathBuf,
    trials: HashMap<(String, usize), Trial>,
}

impl Journal {
    /// Opens or begins the journal of the experiment with this fingerprint.
    pub fn open(path: &Path, experiment: &str, progress: OnExperimentStage<'_>) -> Result<Journal> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::file("make the folder", folder))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(Error::file("write", path))?;
        match file.try_lock() {
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::data(
                    path,
                    "another run is writing to it: wait for that one, or give another --output",
                ));
            }
        }
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(Error::file("read", path))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            progress(ExperimentStage::Note(&format!(
                "{}: the last line is unfinished; that trial is run again",
                path.display()
            )));
            file.set_len(whole as u64)
                .map_err(Error::file("write", path))?;
        }
        let mut journal = Journal {
            file,
            path: path.to_owned(),
            trials: HashMap::new(),
        };
        let mut lines = text[..whole].lines();
        match lines.next() {
            None => journal.put(&Header {
                journal: 1,
                experiment: experiment.to_owned(),
            })?,
            Some(line) => check(line, experiment, path)?,
        }
        for (i, line) in lines.enumerate() {
            let trial: Trial = serde_json::from_str(line).map_err(|_| {
                Error::data(path, format!("line {} is not a trial: repair or remove that line; the others are not lost", i + 2))
            })?;
            journal
                .trials
                .insert((trial.key.clone(), trial.number), trial);
        }
        Ok(journal)
    }

    /// Whether a trial is done, its attacks too if they are wanted: on membership, and with context.
    pub fn has(&self, key: &str, number: usize, attacked: bool, read: bool) -> bool {
        let trial = self.trials.get(&(key.to_owned(), number));
        trial.is_some_and(|t| {
            (t.membership.is_some() || !attacked) && (t.context.is_some() || !read)
        })
    }

    /// Adds a trial.
    pub fn append(&mut self, trial: Trial) -> Result<()> {
        self.put(&trial)?;
        self.trials.insert((trial.key.clone(), trial.number), trial);
        Ok(())
    }

    /// All trials, by key and number.
    pub fn trials(&self) -> &HashMap<(String, usize), Trial> {
        &self.trials
    }

    fn put(&mut self, line: &impl Serialize) -> Result<()> {
        let mut bytes =
            serde_json::to_vec(line).map_err(|e| Error::data(&self.path, e.to_string()))?;
        bytes.push(b'\n');
        let written = self
            .file
            .write_all(&bytes)
            .and_then(|()| self.file.sync_data());
        written.map_err(Error::file("write", &self.path))
    }
}

fn check(line: &str, experiment: &str, path: &Path) -> Result<()> {
    let header: Header = serde_json::from_str(line)
        .map_err(|_| Error::data(path, "is not a journal of trials: give another --output"))?;
    if header.experiment != experiment {
        return Err(Error::data(
            path,
            "holds trials of another experiment (texts, words, seed or classifier differ): give another --output, or remove the file",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(key: &str, number: usize) -> Trial {
        Trial {
            key: key.into(),
            number,
            words: 3,
            accuracy: 0.5,
            accuracy_privatized: None,
            membership: None,
            recovered: None,
            context: None,
            seconds: 0.1,
        }
    }

    #[test]
    fn keeps_whole_lines_whatever_happened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/trials.jsonl");
        let open = |experiment: &str| Journal::open(&path, experiment, &|_| {});
        let mut journal = open("x").unwrap();
        journal.append(trial("k", 0)).unwrap();
        journal.append(trial("k", 1)).unwrap();
        assert!(open("x").is_err(), "two runs at once");
        drop(journal);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 5]).unwrap();
        let mut journal = open("x").unwrap();
        assert!(journal.has("k", 0, false, false) && !journal.has("k", 1, false, false));
        assert!(!journal.has("k", 0, true, false), "it was not attacked");
        assert!(!journal.has("k", 0, false, true), "nobody read it");
        journal.append(trial("k", 1)).unwrap();
        drop(journal);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let other = open("y").err().unwrap().to_string();
        assert!(other.contains("another experiment"), "{other}");
        std::fs::write(&path, text.replacen("\"number\":0", "\"number\":", 1)).unwrap();
        let broken = open("x").err().unwrap().to_string();
        assert!(broken.contains("line 2"), "{broken}");
    }
}
