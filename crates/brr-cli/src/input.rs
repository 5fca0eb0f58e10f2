//! Where inputs come from: `-` is standard input wherever a file can be named, and it can be read once.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use brr_corpus::Input;

use crate::failure::{Failure, Result};
use crate::output::is_standard;

/// Whether standard input was handed out already.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// How standard input is called where files are called by their paths.
pub const STANDARD: &str = "standard input";

/// Standard input, for whoever comes first.
fn standard() -> Result<io::Stdin> {
    match TAKEN.swap(true, Ordering::Relaxed) {
        false => Ok(io::stdin()),
        true => Err(Failure::Usage(
            "standard input can be read once, and two inputs are to come from it: name files instead of `-`".into(),
        )),
    }
}

/// Documents from a file, or from standard input if none is named.
pub fn open(path: Option<&Path>) -> Result<Input> {
    match path {
        Some(path) if !is_standard(path) => Ok(Input::File(path.to_owned())),
        _ => {
            let stdin = standard()?;
            if stdin.is_terminal() {
                tell!("brr: reading from the keyboard, a document per line; end with Ctrl-D");
            }
            Ok(Input::Stream(Box::new(stdin)))
        }
    }
}

/// All bytes of a file, or of standard input.
pub fn bytes(path: &Path) -> Result<Vec<u8>> {
    if !is_standard(path) {
        return std::fs::read(path).map_err(|e| Failure::file("read", path, &e));
    }
    let mut bytes = Vec::new();
    let read = standard()?.read_to_end(&mut bytes);
    read.map_err(|e| Failure::stream(STANDARD, &e))?;
    Ok(bytes)
}

/// How to call an input.
pub fn called(path: &Path) -> String {
    match is_standard(path) {
        true => STANDARD.to_owned(),
        false => path.display().to_string(),
    }
}

#[cfg(feature = "workstation")]
pub use on_disk::{on_disk, with_names};

/// Standard input as a file, for readers that want a path, and go back and forth in it.
#[cfg(feature = "workstation")]
mod on_disk {
    use std::ops::Deref;
    use std::path::{Path, PathBuf};
    use std::sync::OnceLock;

    use tempfile::TempDir;

    use super::{STANDARD, standard};
    use crate::failure::{Failure, Result};
    use crate::output::{is_standard, remove_at_signal};

    /// Where the copy of standard input lies; nobody knows it by that name.
    static COPY: OnceLock<PathBuf> = OnceLock::new();

    /// The path of a file. A copy of standard input goes when this does.
    pub struct OnDisk {
        path: PathBuf,
        _copy: Option<TempDir>,
    }

    impl Deref for OnDisk {
        type Target = Path;

        fn deref(&self) -> &Path {
            &self.path
        }
    }

    /// A file as it is, or a copy of standard input.
    pub fn on_disk(path: &Path) -> Result<OnDisk> {
        if !is_standard(path) {
            let path = path.to_owned();
            return Ok(OnDisk { path, _copy: None });
        }
        let mut stdin = standard()?;
        let failed = |e: &std::io::Error| Failure::file("write in", &std::env::temp_dir(), e);
        let folder = tempfile::tempdir().map_err(|e| failed(&e))?;
        remove_at_signal(folder.path());
        let path = COPY.get_or_init(|| folder.path().join(STANDARD)).clone();
        let mut file = std::fs::File::create_new(&path).map_err(|e| failed(&e))?;
        std::io::copy(&mut stdin, &mut file).map_err(|e| failed(&e))?;
        Ok(OnDisk {
            path,
            _copy: Some(folder),
        })
    }

    /// A message in which the copy is called what it is a copy of.
    pub fn with_names(message: String) -> String {
        match COPY.get() {
            Some(copy) => message.replace(&*copy.to_string_lossy(), STANDARD),
            None => message,
        }
    }
}
