//! Opening a file: plain, or packed as gzip, Zstandard or zip.
//!
//! The compression is recognized by the file's first bytes, not by its name. A zip archive is read member by
//! member: the sole file in it, or `archive.zip#member`. Nothing is unpacked to disk.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;
use zip::result::{ZipError, ZipResult};

use super::source::{Decoded, Tapped};
use super::stream::Stream;
use crate::error::{Error, Result};

/// Names that vector files in archives have; others in the same archive are read-me files.
const VECTOR_EXTENSIONS: [&str; 6] = [".txt", ".vec", ".bin", ".npy", ".tsv", ".w2v"];

/// Opens `path` and lets `read` use its content. (A callback, because the stream borrows from the
/// archive that it is in.)
pub(super) fn with_stream<T>(
    path: &Path,
    read: impl FnOnce(&mut Stream<'_>) -> Result<T>,
) -> Result<T> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        offset: 0,
        source,
    };
    let (file_path, member) = split_member(path);
    let mut file = File::open(&file_path).map_err(failed)?;
    // A pipe cannot be rewound: it is read as it is.
    let seekable = file.metadata().is_ok_and(|m| m.is_file());
    let mut magic = Vec::new();
    if seekable {
        file.by_ref()
            .take(4)
            .read_to_end(&mut magic)
            .map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
    }
    if is_zip(&magic) {
        return with_member(path, file, member.as_deref(), read);
    }
    let file = Tapped::new(file);
    let gauge = file.gauge();
    match magic[..] {
        [0x1f, 0x8b, ..] => {
            let decoder = MultiGzDecoder::new(BufReader::new(file));
            read(&mut Stream::new(
                Box::new(Decoded(decoder)),
                path,
                gauge,
                false,
            ))
        }
        // A frame, or a skippable frame before it.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let decoder = zstd::Decoder::new(file).map_err(failed)?;
            read(&mut Stream::new(
                Box::new(Decoded(decoder)),
                path,
                gauge,
                false,
            ))
        }
        _ => read(&mut Stream::new(Box::new(file), path, gauge, true)),
    }
}

/// Lets `read` use the content of `path` as it is.
pub(super) fn with_plain<T>(
    path: &Path,
    read: impl FnOnce(&mut Stream<'_>) -> Result<T>,
) -> Result<T> {
    let file = File::open(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        offset: 0,
        source,
    })?;
    let file = Tapped::new(file);
    let gauge = file.gauge();
    read(&mut Stream::new(Box::new(file), path, gauge, true))
}

/// `archive.zip#member`, unless a file of that very name exists.
pub(super) fn split_member(path: &Path) -> (PathBuf, Option<String>) {
    if !path.exists()
        && let Some((archive, member)) = path.to_str().and_then(|p| p.rsplit_once('#'))
        && Path::new(archive).is_file()
    {
        return (PathBuf::from(archive), Some(member.to_owned()));
    }
    (path.to_owned(), None)
}

fn with_member<T>(
    path: &Path,
    file: File,
    member: Option<&str>,
    read: impl FnOnce(&mut Stream<'_>) -> Result<T>,
) -> Result<T> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        offset: 0,
        source,
    };
    let mut archive = open_zip(file).map_err(failed)?;
    let names = names_of(&mut archive).map_err(failed)?;
    let name = choose(path, names, member)?;
    let decoder = archive.by_name(&name).map_err(|e| failed(zip_error(e)))?;
    read(&mut Stream::unpacked(Box::new(Decoded(decoder)), path))
}

/// The names of the files in a zip archive. `None` if `path` is something else.
pub(super) fn zip_names(path: &Path) -> Result<Option<Vec<String>>> {
    let failed = |source| Error::Read {
        path: path.to_owned(),
        offset: 0,
        source,
    };
    let mut file = File::open(path).map_err(failed)?;
    let mut magic = [0; 4];
    if file.read(&mut magic).map_err(failed)? < magic.len() || !is_zip(&magic) {
        return Ok(None);
    }
    names_of(&mut open_zip(file).map_err(failed)?)
        .map(Some)
        .map_err(failed)
}

fn is_zip(magic: &[u8]) -> bool {
    matches!(magic, [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6])
}

fn open_zip(file: File) -> io::Result<ZipArchive<BufReader<File>>> {
    ZipArchive::new(BufReader::new(file)).map_err(zip_error)
}

fn names_of(archive: &mut ZipArchive<BufReader<File>>) -> io::Result<Vec<String>> {
    let names = archive.file_names().map(|name| name.map(Into::into));
    names.collect::<ZipResult<_>>().map_err(zip_error)
}

/// Tells an archive that is damaged from one that is locked or packed in an unknown way.
fn zip_error(error: ZipError) -> io::Error {
    match error {
        ZipError::Io(e) => e,
        ZipError::InvalidArchive(_) => io::Error::new(io::ErrorKind::InvalidData, error),
        _ => io::Error::new(io::ErrorKind::Unsupported, error),
    }
}

/// The member that is meant: the one named, the only one, or the only one named like vectors.
fn choose(path: &Path, mut names: Vec<String>, wanted: Option<&str>) -> Result<String> {
    if let Some(wanted) = wanted
        && names.iter().any(|name| name == wanted)
    {
        return Ok(wanted.to_owned());
    }
    // Folders and the resource forks that macOS adds are never meant.
    names.retain(|name| !name.ends_with('/') && !name.starts_with("__MACOSX/"));
    names.sort();
    let is_vectors = |name: &&String| VECTOR_EXTENSIONS.iter().any(|end| name.ends_with(end));
    let vectors: Vec<String> = names.iter().filter(is_vectors).cloned().collect();
    match (wanted, &names[..], &vectors[..]) {
        (None, [only], _) | (None, _, [only]) => Ok(only.clone()),
        (None, [], _) => Err(Error::EmptyFile {
            path: path.to_owned(),
        }),
        _ => {
            let (path, _) = split_member(path);
            let members = if vectors.is_empty() { names } else { vectors };
            Err(Error::ChooseMember { path, members })
        }
    }
}
