//! A way through folders that comes to every file once, by whatever names and links: another draw of the
//! same text would cost its loss again.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

/// What of a file is the same by all its names.
type Identity = (u64, u64, PathBuf);

/// A way through folders that comes to no place twice.
pub struct Walk {
    /// Where the output goes: no input, even if it lies in one.
    out: Option<PathBuf>,
    folders: HashSet<PathBuf>,
    files: HashSet<Identity>,
    /// Names of folders that were entered already.
    pub again: usize,
}

impl Walk {
    /// Before the first step.
    pub fn beside(out: &Path) -> Walk {
        Walk {
            out: std::fs::canonicalize(out).ok(),
            folders: HashSet::new(),
            files: HashSet::new(),
            again: 0,
        }
    }

    /// A file, or those of a folder and those below it, in order; hidden ones and the output aside.
    pub fn files(&mut self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        self.enter(path, &mut found)?;
        Ok(found)
    }

    fn enter(&mut self, path: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
        if !path.is_dir() {
            found.push(path.to_owned());
            return Ok(());
        }
        let real = std::fs::canonicalize(path)?;
        if self.out.as_ref() == Some(&real) {
            return Ok(());
        }
        if !self.folders.insert(real) {
            self.again += 1;
            return Ok(());
        }
        let entries = std::fs::read_dir(path)?;
        let mut paths = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<Vec<_>>>()?;
        // Links come last: a file is called by its own name, if that is among the inputs.
        paths.sort_by_cached_key(|path| (path.is_symlink(), path.clone()));
        let hidden = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(b".")
        };
        paths.retain(|path| !hidden(path));
        paths.iter().try_for_each(|path| self.enter(path, found))
    }

    /// Whether this file was not met before, by this name or another.
    pub fn is_new(&mut self, path: &Path) -> io::Result<bool> {
        let identity = identity(path)?;
        Ok(self.files.insert(identity))
    }
}

/// Hard links have one number on their device, symbolic links one path when they are followed.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path)?;
    Ok((metadata.dev(), metadata.ino(), PathBuf::new()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Identity> {
    Ok((0, 0, std::fs::canonicalize(path)?))
}
