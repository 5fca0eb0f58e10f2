//! Vectors that come as several files side by side: those of spaCy and of navec.
//!
//! The files are in a folder, in a zip archive (which a Python wheel is), in a tar archive, plain or packed, or in
//! a tar archive inside a zip archive. They are told by their names. Nothing is unpacked to disk and nothing is kept:
//! each file is read in a pass of its own over the archive, so that the order of the files does not matter.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::VectorFormat;
use super::archive::{split_member, with_plain, with_stream, zip_names};
use super::stream::Stream;
use super::tar;
use crate::error::{Error, Result};

/// A format of several files.
struct Kind {
    format: VectorFormat,
    /// The names of its files.
    parts: [&'static str; 3],
    /// The names, or ends of paths, of which one is enough to see what is meant.
    signs: &'static [&'static str],
}

const KINDS: [Kind; 2] = [
    Kind {
        format: VectorFormat::Spacy,
        parts: ["key2row", "strings.json", "vectors"],
        signs: &["key2row", "vocab/vectors"],
    },
    Kind {
        format: VectorFormat::Navec,
        parts: ["meta.json", "vocab.bin", "pq.bin"],
        signs: &["pq.bin"],
    },
];

/// Where files are.
enum Place {
    Folder(PathBuf),
    Zip(PathBuf),
    Tar(PathBuf),
}

/// Files that make vectors together.
pub(super) struct Package {
    pub(super) format: VectorFormat,
    place: Place,
    /// What their paths begin with inside of the place: nothing, or a folder and a slash.
    folder: String,
    parts: [&'static str; 3],
}

/// Files of a place that may be parts.
struct Listing {
    place: Place,
    names: Vec<String>,
    /// The folder that is meant, if the path names one.
    within: String,
}

/// The package at `path`. `None` if there is something else, or another format was asked for.
pub(super) fn find(path: &Path, asked: Option<VectorFormat>) -> Result<Option<Package>> {
    let kinds: Vec<&Kind> = KINDS
        .iter()
        .filter(|kind| asked.is_none_or(|format| format == kind.format))
        .collect();
    if kinds.is_empty() {
        return Ok(None);
    }
    let listing = list(path)?;
    let found = match &listing {
        Some(listing) => listing.packages(&kinds),
        None => BTreeSet::new(),
    };
    let found: Vec<(usize, String)> = found.into_iter().collect();
    match (listing, &found[..]) {
        (Some(listing), [(kind, folder)]) => listing.open(kinds[*kind], folder).map(Some),
        (Some(listing), []) => match (listing.navec_archives().as_slice(), &listing.place) {
            ([only], Place::Zip(base)) => find(&inside(base, only), asked),
            ([_, ..], _) => Err(listing.choose(listing.navec_archives())),
            _ => nothing(path, Some(&listing.place)),
        },
        (Some(listing), _) => {
            let folders = found.iter().map(|(_, folder)| folder);
            let folders = folders.map(|f| f.trim_end_matches('/').to_owned());
            Err(listing.choose(folders.collect()))
        }
        (None, _) => nothing(path, None),
    }
}

/// Without a package another reader may have the file, unless none can.
fn nothing(path: &Path, place: Option<&Place>) -> Result<Option<Package>> {
    let found = match place {
        Some(Place::Folder(_)) => "a folder without those of spaCy (vocab/key2row) or navec",
        Some(Place::Tar(_)) => "a tar archive without those of spaCy or navec (unpack it)",
        Some(Place::Zip(_)) | None => return Ok(None),
    };
    let path = path.to_owned();
    Err(Error::NotVectors { path, found })
}

/// The files at `path`, if there are several or may be.
fn list(path: &Path) -> Result<Option<Listing>> {
    if path.is_dir() {
        let place = Place::Folder(path.to_owned());
        let parts = KINDS.iter().flat_map(|kind| kind.parts);
        let names = parts.flat_map(|part| [part.to_owned(), format!("vocab/{part}")]);
        let names = names.filter(|name| path.join(name).is_file()).collect();
        return Ok(Some(Listing::new(place, names)));
    }
    let (base, member) = split_member(path);
    // A pipe can be read but once.
    if base.exists() && !base.is_file() {
        return Ok(None);
    }
    if let Some(names) = zip_names(&base)? {
        return match member {
            Some(member) if names.contains(&member) => list_tar(path),
            member => Ok(Some(Listing {
                within: member.unwrap_or_default(),
                ..Listing::new(Place::Zip(base), names)
            })),
        };
    }
    let listing = list_tar(&base)?;
    Ok(listing.map(|listing| Listing {
        within: member.unwrap_or_default(),
        ..listing
    }))
}

fn list_tar(path: &Path) -> Result<Option<Listing>> {
    let names = with_stream(path, |stream| match tar::is_tar(stream.peek()?) {
        true => tar::names(stream, is_part).map(Some),
        false => Ok(None),
    })?;
    Ok(names.map(|names| Listing::new(Place::Tar(path.to_owned()), names)))
}

fn is_part(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    KINDS.iter().any(|kind| kind.parts.contains(&last))
}

/// `archive#name`.
fn inside(archive: &Path, name: &str) -> PathBuf {
    let mut path = archive.as_os_str().to_owned();
    path.push("#");
    path.push(name);
    path.into()
}

impl Listing {
    fn new(place: Place, names: Vec<String>) -> Self {
        Listing {
            place,
            names,
            within: String::new(),
        }
    }

    /// The packages by kind and folder.
    fn packages(&self, kinds: &[&Kind]) -> BTreeSet<(usize, String)> {
        let mut found = BTreeSet::new();
        let within = self.within.trim_end_matches('/');
        for name in &self.names {
            let rest = name.strip_prefix(within);
            let inside = within.is_empty() || rest.is_some_and(|rest| rest.starts_with('/'));
            if !inside || name.starts_with("__MACOSX/") {
                continue;
            }
            for (nth, kind) in kinds.iter().enumerate() {
                if kind.signs.iter().any(|sign| ends_with_path(name, sign)) {
                    let folder = name.rfind('/').map_or("", |slash| &name[..=slash]);
                    found.insert((nth, folder.to_owned()));
                }
            }
        }
        found
    }

    /// Archives inside of this one that are named as navec's are.
    fn navec_archives(&self) -> Vec<String> {
        let is_navec = |name: &&String| {
            let last = name.rsplit('/').next().unwrap_or(name);
            last.starts_with("navec") && last.ends_with(".tar")
        };
        let wanted = self.within.is_empty() && matches!(self.place, Place::Zip(_));
        let names = self.names.iter().filter(is_navec);
        names.filter(|_| wanted).cloned().collect()
    }

    fn choose(&self, members: Vec<String>) -> Error {
        let (Place::Folder(path) | Place::Zip(path) | Place::Tar(path)) = &self.place;
        Error::ChooseMember {
            path: path.clone(),
            members,
        }
    }

    fn open(self, kind: &Kind, folder: &str) -> Result<Package> {
        let is_there = |part: &&str| self.names.iter().any(|n| *n == format!("{folder}{part}"));
        let missing: Vec<&str> = kind.parts.into_iter().filter(|p| !is_there(p)).collect();
        let package = Package {
            format: kind.format,
            place: self.place,
            folder: folder.to_owned(),
            parts: kind.parts,
        };
        match missing[..] {
            [] => Ok(package),
            [first, ..] => Err(Error::PartMissing {
                path: package.path_of(first),
                format: kind.format,
                parts: kind.parts.join(", "),
            }),
        }
    }
}

fn ends_with_path(name: &str, end: &str) -> bool {
    let rest = name.strip_suffix(end);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

impl Package {
    /// Lets `read` use the file `part` from its beginning.
    pub(super) fn part<T>(
        &self,
        part: &str,
        read: impl FnOnce(&mut Stream<'_>) -> Result<T>,
    ) -> Result<T> {
        let path = self.path_of(part);
        match &self.place {
            // Which of the files are packed is known: their first bytes are not asked.
            Place::Folder(_) => with_plain(&path, read),
            Place::Zip(_) => with_stream(&path, read),
            Place::Tar(archive) => {
                let name = format!("{}{part}", self.folder);
                with_stream(archive, |stream| tar::with_file(stream, &name, &path, read))
            }
        }
    }

    /// The files, if they are no archive.
    pub(super) fn loose_files(&self) -> Option<Vec<PathBuf>> {
        let paths = self.parts.iter().map(|part| self.path_of(part));
        matches!(self.place, Place::Folder(_)).then(|| paths.collect())
    }

    fn path_of(&self, part: &str) -> PathBuf {
        let name = format!("{}{part}", self.folder);
        match &self.place {
            Place::Folder(folder) => folder.join(name),
            Place::Zip(archive) | Place::Tar(archive) => inside(archive, &name),
        }
    }
}
