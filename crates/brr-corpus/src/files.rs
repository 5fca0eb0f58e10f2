//! Who may read the files that brr writes, and how they come to be.
//!
//! An unfinished output, its checkpoint and a manifest belong to the user who runs brr: an
//! unfinished output may hold draws that are drawn again later, and the others count what is not
//! for release. They are made with mode 0600, whatever the umask, and stay so. A data file is
//! made the same way; it gets the permissions of an ordinary new file (0666 less the umask) only
//! after it has taken its final name, when all of it is meant to be seen.
//!
//! In a folder that others may write to, somebody may have put a symbolic link, or a file of
//! their own, where brr is about to write. So a new file is always one that was not there before
//! ([`create`] never opens what exists, be it a link to nothing), and an old one is continued or
//! believed only if it is a plain file of the same user ([`open_own`]). Final names are taken by
//! renaming. A link that the user made is followed first, so that it stays and the file that it
//! leads to is replaced; another user's link is refused. A device, a pipe or a descriptor that is
//! open already (`/dev/stdout`, a shell's `>(...)`) is never replaced: it is written through ([`place`]).
//!
//! On systems other than Unix there are no modes: files get the access rules of their folder. The
//! rules about existing files and links hold there too, except that the owner is not checked.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a name for an output leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A plain file, or nothing yet: a new file can take its name.
    Plain(PathBuf),
    /// A device, a pipe or the like, which is written through.
    Special(PathBuf),
}

/// Where an output goes, links followed.
pub fn place(path: &Path) -> io::Result<Place> {
    let mut path = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        // What such a link says is no name, or the name of a file that others are writing to as well.
        if descriptor(&path).is_some() {
            return Ok(Place::Special(path));
        }
        let found = match std::fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Place::Plain(path)),
            Err(e) => return Err(e),
        };
        let kind = found.file_type();
        if kind.is_file() || kind.is_dir() {
            return Ok(Place::Plain(path));
        }
        if !kind.is_symlink() {
            return Ok(Place::Special(path));
        }
        if !system::is_trusted(&found) {
            return Err(io::Error::other(UNFIT));
        }
        let target = std::fs::read_link(&path)?;
        path = path
            .parent()
            .map_or(target.clone(), |folder| folder.join(&target));
    }
    Err(io::Error::other("too many links"))
}

/// Opens a device, a pipe or a descriptor that is open already to write to it.
pub fn write_through(path: &Path) -> io::Result<File> {
    match descriptor(path) {
        None => OpenOptions::new().write(true).open(path),
        Some(number) => system::write_to_descriptor(number, path),
    }
}

/// The number of a descriptor of this process that a path names: `/dev/fd/63`, to which a shell's `>(...)`
/// leads, or `/proc/self/fd/1`, to which `/dev/stdout` leads.
fn descriptor(path: &Path) -> Option<u32> {
    let number = path.file_name()?.to_str()?.parse().ok()?;
    // Both are the folder of this very process, which differs from one path to the other by name alone.
    let folder = path.parent()?.canonicalize().ok()?;
    let own = Path::new("/proc/self/fd").canonicalize().ok()?;
    (folder == own).then_some(number)
}

/// A new file for this user alone; an error if anything has that name.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    system::owner_only(&mut options);
    let file = options.open(path)?;
    // The umask may have taken the owner's own permissions away.
    system::close_to_others(&file)?;
    Ok(file)
}

/// A new file for this user alone, in the place of whatever has that name.
pub fn create_anew(path: &Path) -> io::Result<File> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    create(path)
}

/// Whether a file can be [replaced](replace): makes the temporary file beside it, and removes it.
pub fn try_beside(path: &Path) -> io::Result<()> {
    let Place::Plain(path) = place(path)? else {
        return Ok(());
    };
    let new = with_suffix(&path, ".new");
    create_anew(&new)?;
    std::fs::remove_file(&new)
}

/// Puts a file for this user alone in its place, all of it or nothing, and safely on disk.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = match place(path)? {
        Place::Plain(path) => path,
        Place::Special(path) => return write_through(&path)?.write_all(content),
    };
    let new = with_suffix(&path, ".new");
    let written = create_anew(&new).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| std::fs::rename(&new, &path));
    if placed.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    placed?;
    sync_folder(&path);
    Ok(())
}

/// A name with something after it.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes names in a file's folder durable, where folders can be synchronized.
pub(crate) fn sync_folder(path: &Path) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

/// A file that is there already, to read and write, if it is a plain file of this user's. From
/// now on nobody else may open it.
pub fn open_own(path: &Path) -> io::Result<File> {
    let unfit = || io::Error::other(UNFIT);
    if !std::fs::symlink_metadata(path)?.is_file() {
        return Err(unfit());
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // Somebody may have put a link in its place just now.
    system::no_links(&mut options);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !system::is_own(&metadata) {
        return Err(unfit());
    }
    system::close_to_others(&file)?;
    Ok(file)
}

const UNFIT: &str =
    "it is a link, a special file or another user's; remove it, or choose another output";

/// Gives a data file that has its final name the permissions of an ordinary new file.
pub fn open_to_others(file: &File) -> io::Result<()> {
    system::open_to_others(file)
}

/// Whether anything has this name, be it a link to nothing.
pub fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

#[cfg(unix)]
mod system {
    use std::fs::{File, Metadata, OpenOptions, Permissions};
    use std::io;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;
    use std::sync::Mutex;

    use rustix::fs::{Mode, OFlags};
    use rustix::process::{geteuid, umask};

    const OWNER_ONLY: u32 = 0o600;

    pub fn owner_only(options: &mut OpenOptions) {
        options.mode(OWNER_ONLY);
    }

    pub fn no_links(options: &mut OpenOptions) {
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    }

    pub fn is_own(metadata: &Metadata) -> bool {
        metadata.uid() == geteuid().as_raw()
    }

    /// The system's own links, such as /dev/stdout, are root's.
    pub fn is_trusted(metadata: &Metadata) -> bool {
        is_own(metadata) || metadata.uid() == 0
    }

    /// The standard streams are shared, so that what is written comes after what was; another is
    /// opened again, at its end if it is a file.
    pub fn write_to_descriptor(number: u32, path: &Path) -> io::Result<File> {
        let own = match number {
            1 => io::stdout().as_fd().try_clone_to_owned()?,
            2 => io::stderr().as_fd().try_clone_to_owned()?,
            _ => return OpenOptions::new().append(true).open(path),
        };
        Ok(own.into())
    }

    pub fn close_to_others(file: &File) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(OWNER_ONLY))
    }

    pub fn open_to_others(file: &File) -> io::Result<()> {
        file.set_permissions(Permissions::from_mode(0o666 & !current_umask()))
    }

    /// The umask can only be read by setting it. Whatever another thread makes in that moment
    /// has fewer permissions than it should have, never more.
    fn current_umask() -> u32 {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _held = ONE_AT_A_TIME.lock();
        let mask = umask(Mode::RWXG | Mode::RWXO | Mode::RWXU);
        umask(mask);
        mask.bits()
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::path::Path;

    pub fn write_to_descriptor(_: u32, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).open(path)
    }

    pub fn owner_only(_: &mut OpenOptions) {}

    pub fn no_links(_: &mut OpenOptions) {}

    pub fn is_own(_: &Metadata) -> bool {
        true
    }

    pub fn is_trusted(_: &Metadata) -> bool {
        true
    }

    pub fn close_to_others(_: &File) -> io::Result<()> {
        Ok(())
    }

    pub fn open_to_others(_: &File) -> io::Result<()> {
        Ok(())
    }
}
