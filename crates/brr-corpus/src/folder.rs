//! Several files into a folder: each whole or not at all, all on one record.
//!
//! The record is written before a file takes its name, and again for each file. So a resumed
//! run finds every output that exists on record, with what it was made with.
//!
//! A file is privatized once, by whichever of its names comes first: another name, or a link that leads
//! round in a circle, would give another draw of the same text, and draws add up.

use std::collections::BTreeMap;
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
use crate::walk::Walk;

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
    /// Devices, pipes and the like in folders, which were left alone.
    pub special: usize,
    /// Names of files and folders that were taken already, by another name.
    pub taken_already: usize,
}

/// Each file that is done, by its name in the folder.
type Done = BTreeMap<String, Checkpoint>;

/// A file to read, and its name in the folder that is written.
type Pair = (PathBuf, String);

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
        let pairs = self.pairs(inputs, folder, &mut report)?;
        no_two_in_one_place(&pairs, folder, &record)?;
        self.check_settings_fit_some(&pairs)?;
        let mut done = match self.resume {
            true => read_record(&record)?,
            false => Done::new(),
        };
        for (input, name) in &pairs {
            let checked = self.check_pair(input, &folder.join(name));
            checked.map_err(|e| e.in_file(input))?;
        }
        std::fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        manifest::prepare(&record, self.force || self.resume)?;
        for (input, name) in pairs {
            begin(&input);
            let one = self.one(&input, folder, &name, &record, &mut done);
            match one.map_err(|e| e.in_file(&input))? {
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
        let run = self.fitted(input, &output)?;
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
        report: &mut FolderReport,
    ) -> Result<Vec<Pair>> {
        let mut walk = Walk::beside(folder);
        let mut pairs = Vec::new();
        for input in inputs {
            let found = walk.files(input).map_err(|e| Error::read(input, e))?;
            for path in found {
                let inside = path.strip_prefix(input).ok();
                let inside = inside.filter(|inside| !inside.as_os_str().is_empty());
                let known = self.format.is_some() || Format::of(&path).is_some();
                if inside.is_some() && !known {
                    report.left_alone += 1;
                    continue;
                }
                let metadata = std::fs::metadata(&path).map_err(|e| Error::read(&path, e))?;
                if !metadata.is_file() {
                    if inside.is_none() {
                        return Err(FileProblem::InputIsSpecial.of(&path));
                    }
                    report.special += 1;
                    continue;
                }
                if !walk.is_new(&path).map_err(|e| Error::read(&path, e))? {
                    report.taken_already += 1;
                    continue;
                }
                let name = inside.or(path.file_name().map(Path::new)).unwrap_or(&path);
                let name = name.to_str().ok_or_else(|| not_utf8(&path))?.to_owned();
                pairs.push((path, name));
            }
        }
        report.taken_already += walk.again;
        match pairs.is_empty() {
            true => Err(Error::NoFiles),
            false => Ok(pairs),
        }
    }

    /// As this run, for a file: settings that formats of other files have are not for it.
    fn fitted(&self, input: &Path, output: &Path) -> Result<Self> {
        let mut run = self.clone();
        run.find_format(Some(input), Some(output))?;
        let misfits: Vec<&str> = run.misfits().map(|(setting, _)| setting).collect();
        misfits.into_iter().for_each(|setting| run.unset(setting));
        Ok(run)
    }

    /// Refuses a setting that is for none of the files.
    fn check_settings_fit_some(&self, pairs: &[Pair]) -> Result {
        let mut everywhere: Option<Vec<&str>> = None;
        for (input, _) in pairs {
            let mut run = self.clone();
            run.find_format(Some(input), None)?;
            let misfits: Vec<&str> = run.misfits().map(|(setting, _)| setting).collect();
            everywhere = Some(match everywhere {
                None => misfits,
                Some(before) => before.into_iter().filter(|s| misfits.contains(s)).collect(),
            });
        }
        let (Some(setting), Some((first, _))) = (
            everywhere.and_then(|settings| settings.first().copied()),
            pairs.first(),
        ) else {
            return Ok(());
        };
        let mut run = self.clone();
        run.find_format(Some(first), None)?;
        let misfit = run.misfits().find(|(name, _)| *name == setting);
        misfit.map_or(Ok(()), |(_, error)| Err(error.in_file(first)))
    }

    /// Refuses what cannot work, before hours of work with other files.
    fn check_pair(&self, input: &Path, output: &Path) -> Result {
        let run = self.fitted(input, output)?;
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

/// Refuses inputs of which one would take the other's place, or the record's.
fn no_two_in_one_place(pairs: &[Pair], folder: &Path, record: &Path) -> Result {
    let mut places: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for (path, name) in pairs {
        let place = folder.join(name);
        if place == record {
            return Err(FileProblem::NameOfRecord.of(path));
        }
        if let Some(other) = places.insert(place, path) {
            return Err(Error::SameName {
                files: [other.to_owned(), path.clone()],
            });
        }
    }
    Ok(())
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
