//! Several files into a folder: each whole or not at all, all on one record.
//!
//! The record is written before a file takes its name, and again for each file. So a resumed
//! run finds every output that exists on record, with what it was made with.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::checkpoint::{Checkpoint, Counts};
use crate::error::{Error, FileProblem, Result};
use crate::files;
use crate::format::Format;
use crate::input::Input;
use crate::manifest;
use crate::output::Output;
use crate::privatize::Report;
use crate::run::Run;

/// Name of the record, if the run does not say where it is to be.
pub const RECORD: &str = "brr-manifest.json";

/// What was done with several files.
#[derive(Debug, Default)]
pub struct FolderReport {
    /// Files that were privatized now.
    pub done: Vec<(PathBuf, Report)>,
    /// Files that were complete already.
    pub complete: usize,
    /// Files in folders whose name does not tell a format, and which were left alone.
    pub left_alone: usize,
}

/// Each file that is done, by its name in the folder.
type Done = BTreeMap<String, Checkpoint>;

impl Run<'_> {
    /// Privatizes files, and those in folders, each into a file of the same name in `folder`.
    /// `begin` is called with the next one.
    pub fn run_all(
        mut self,
        inputs: &[PathBuf],
        folder: &Path,
        begin: &dyn Fn(&Path),
    ) -> Result<FolderReport> {
        if self.unit.is_some() {
            return Err(Error::UnitAcrossFiles);
        }
        let record = self.manifest.take().unwrap_or_else(|| folder.join(RECORD));
        let mut report = FolderReport::default();
        let pairs = self.pairs(inputs, folder, &mut report.left_alone)?;
        let mut done = match self.resume {
            true => read_record(&record)?,
            false => Done::new(),
        };
        for (input, name) in &pairs {
            self.check_pair(input, &folder.join(name))?;
        }
        std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        manifest::prepare(&record, self.force || self.resume)?;
        for (input, name) in pairs {
            begin(&input);
            match self.one(&input, folder, &name, &record, &mut done)? {
                Some(one) => report.done.push((input, one)),
                None => report.complete += 1,
            }
        }
        Ok(report)
    }

    /// One file; `None` if it was complete.
    fn one(
        &self,
        input: &Path,
        folder: &Path,
        name: &str,
        record: &Path,
        done: &mut Done,
    ) -> Result<Option<Report>> {
        let output = folder.join(name);
        let mut run = self.clone();
        run.find_format(Some(input), Some(&output))?;
        let source = Input::File(input.to_owned());
        let identity = source.identity()?.ok_or(Error::NotRestartable)?;
        let mut entry = Checkpoint::start(run.settings(), identity);
        if let Some(before) = done.get(name) {
            before.check(&entry.settings, &entry.input)?;
            if files::is_there(&output) {
                return Ok(None);
            }
        }
        if let Some(parent) = output.parent() {
            std::fs::create_dir_all(parent).map_err(|e| Error::write(parent, e))?;
        }
        let privatizer = run.privatizer;
        let report = run.run_recorded(source, Output::File(output), |report| {
            entry.complete = true;
            entry.counts = report.counts.clone();
            entry.restarts = report.restarts.clone();
            entry.output = report.output.clone();
            done.insert(name.to_owned(), entry);
            let mut counts = Counts::default();
            done.values().for_each(|one| counts.add(&one.counts));
            let mut all = manifest::of_texts(privatizer, &counts, self.max_words);
            all["files"] = json!(done);
            manifest::write(record, &all)
        })?;
        Ok(Some(report))
    }

    /// What goes where. Nothing is opened yet.
    fn pairs(
        &self,
        inputs: &[PathBuf],
        folder: &Path,
        left_alone: &mut usize,
    ) -> Result<Vec<(PathBuf, String)>> {
        let out = std::fs::canonicalize(folder).ok();
        let mut pairs = Vec::new();
        for input in inputs {
            let mut found = Vec::new();
            walk(input, out.as_deref(), &mut found).map_err(|e| Error::read(input, e))?;
            for path in found {
                let inside = path.strip_prefix(input).ok();
                let inside = inside.filter(|inside| !inside.as_os_str().is_empty());
                let known = self.format.is_some() || Format::of(&path).is_some();
                if inside.is_some() && !known {
                    *left_alone += 1;
                    continue;
                }
                let name = inside.or(path.file_name().map(Path::new)).unwrap_or(&path);
                let name = name.to_str().ok_or_else(|| not_utf8(&path))?.to_owned();
                pairs.push((path, name));
            }
        }
        let names: BTreeSet<&String> = pairs.iter().map(|(_, name)| name).collect();
        match names.len() {
            0 => Err(Error::NoFiles),
            n if n < pairs.len() => Err(Error::SameName),
            _ => Ok(pairs),
        }
    }

    /// Refuses what cannot work, before hours of work with other files.
    fn check_pair(&self, input: &Path, output: &Path) -> Result {
        let mut run = self.clone();
        run.find_format(Some(input), Some(output))?;
        run.check(crate::format::Compression::of(output))?;
        std::fs::File::open(input).map_err(|e| Error::read(input, e))?;
        match files::is_there(output) && !self.force && !self.resume {
            true => Err(FileProblem::OutputExists.of(output)),
            false => Ok(()),
        }
    }
}

fn not_utf8(path: &Path) -> Error {
    Error::read(path, io::Error::other("its name is not UTF-8"))
}

/// The files of a folder and those below it, in order; hidden ones and the output aside.
fn walk(path: &Path, out: Option<&Path>, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    if std::fs::canonicalize(path).ok().as_deref() == out {
        return Ok(());
    }
    let entries = std::fs::read_dir(path)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    let hidden = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.as_encoded_bytes().starts_with(b".")
    };
    paths.retain(|path| !hidden(path));
    paths.iter().try_for_each(|path| walk(path, out, found))
}

/// What is on record, if there is one.
fn read_record(path: &Path) -> Result<Done> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Done::new()),
        Err(e) => return Err(Error::read(path, e)),
    };
    let record: Option<Value> = serde_json::from_slice(&bytes).ok();
    let files = record.and_then(|mut record| record.get_mut("files").map(Value::take));
    let done = files.and_then(|files| serde_json::from_value(files).ok());
    done.ok_or_else(|| FileProblem::OtherVersion.of(path))
}
