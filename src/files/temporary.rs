//! Temporary files: unnamed, or with hidden names, until they are complete.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::folders::{EntryKind, Folder, OpenNewFile};
use crate::base::parallel;
use crate::process::system::RemovedOnSignal;

const PREFIX: &str = ".recast-";
const SUFFIX: &str = ".tmp";

/// Attempts to find an unused name.
const ATTEMPTS: usize = 1000;

/// A new file in the folder in which it gets its name. If the system supports it, the file has no
/// name at first, so that it disappears if the process is killed; otherwise it has a hidden name
/// that the signal handler removes.
#[derive(Debug)]
pub(super) struct Temporary {
    file: OpenNewFile,
    name: Option<Hidden>,
}

/// A hidden name of a file, which is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Hidden {
    folder: Folder,
    name: OsString,
    is_used: bool,
    _removed: RemovedOnSignal,
}

impl Temporary {
    /// An empty file. `mode` is its permissions as long as it has a hidden name, before the user's
    /// umask is applied.
    pub(super) fn new(folder: &Folder, mode: u32) -> io::Result<Temporary> {
        match folder.create_unnamed() {
            Some(file) => Ok(Temporary { file, name: None }),
            None => Temporary::with_hidden_name(folder, mode),
        }
    }

    fn with_hidden_name(folder: &Folder, mode: u32) -> io::Result<Temporary> {
        let (file, name) = Hidden::with(folder, |name| {
            let file = folder.create(name, mode)?;
            // Another run that removes temporary files may have found the file before it was
            // claimed.
            let is_claimed = file.claim();
            match folder.stat(name.as_ref()) {
                Ok(Some(_)) if is_claimed => Ok(file),
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(error) => {
                    folder.remove(name).ok();
                    Err(error)
                }
            }
        })?;
        Ok(Temporary {
            file,
            name: Some(name),
        })
    }

    pub(super) fn file(&self) -> &OpenNewFile {
        &self.file
    }

    /// Removes the file. Its blocks are freed by another thread, which takes 250 ms for 1 GiB: a
    /// cancelled run does not wait for that.
    pub(super) fn discard(self) {
        drop(self.name);
        parallel::drop_in_background(self.file);
    }

    /// Atomically gives the file its name. Does not replace a file.
    pub(super) fn name_new(self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        match self.name {
            None => folder.link(&self.file, name),
            Some(hidden) => hidden.use_for(|hidden| folder.rename_new(hidden, name)),
        }
    }

    /// Atomically gives the file its name. A file of this name is replaced.
    pub(super) fn name(self, folder: &Folder, name: &OsStr) -> io::Result<()> {
        let hidden = match self.name {
            Some(hidden) => hidden,
            None if folder.link(&self.file, name).is_ok() => return Ok(()),
            None => Hidden::with(folder, |hidden| folder.link(&self.file, hidden))?.1,
        };
        hidden.use_for(|hidden| folder.rename(hidden, name))
    }
}

impl Hidden {
    /// Creates a file under an unused hidden name.
    pub(super) fn with<T>(
        folder: &Folder,
        mut make: impl FnMut(&OsStr) -> io::Result<T>,
    ) -> io::Result<(T, Hidden)> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for _ in 0..ATTEMPTS {
            let name = format!(
                "{PREFIX}{}-{}{SUFFIX}",
                crate::files::folders::process_id(),
                COUNT.fetch_add(1, Ordering::Relaxed)
            );
            let removed = RemovedOnSignal::new(&folder.path().join(&name));
            match make(name.as_ref()) {
                Ok(made) => {
                    let hidden = Hidden {
                        folder: folder.clone(),
                        name: name.into(),
                        is_used: false,
                        _removed: removed,
                    };
                    return Ok((made, hidden));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other(
            "found no unused name for a temporary file",
        ))
    }

    /// Renames the file with the hidden name. If this fails, the file is removed.
    pub(super) fn use_for(
        mut self,
        rename: impl FnOnce(&OsStr) -> io::Result<()>,
    ) -> io::Result<()> {
        rename(&self.name)?;
        self.is_used = true;
        Ok(())
    }

    /// The hidden name, which is not removed any more.
    pub(super) fn keep(mut self) -> OsString {
        self.is_used = true;
        std::mem::take(&mut self.name)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if !self.is_used {
            // If this fails, the next run removes it.
            self.folder.remove(&self.name).ok();
        }
    }
}

/// Removes the temporary files that interrupted runs left in a folder, and returns their paths.
/// `is_used` tells which of the files with names of temporary files are data files of a model: a
/// user may choose such a name.
///
/// A temporary file is not needed: it is a part of a new file, or a second copy of an old one. A
/// running process locks its unfinished files, and the folder while it changes names. Without
/// support for such locks, nothing is removed.
///
/// # Errors
/// Any I/O error.
pub fn tidy(
    folder: &Path,
    is_used: impl FnOnce(&[PathBuf]) -> Vec<bool>,
) -> io::Result<Vec<PathBuf>> {
    let folder = match Folder::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folder => folder?,
    };
    let names = match folder.list() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
        names => names?,
    };
    let names: Vec<_> = names
        .into_iter()
        .filter(|name| is_temporary(name))
        .collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let Some(_lock) = folder.lock()? else {
        return Ok(Vec::new());
    };
    let is_removed = |name: &OsString| {
        let is_file = folder
            .stat(name.as_ref())
            .is_ok_and(|stat| stat.is_some_and(|stat| stat.kind == EntryKind::File));
        is_file
            && folder
                .read(name.as_ref())
                .is_ok_and(|file| file.is_unclaimed() && folder.remove(name).is_ok())
    };
    let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
    let unused = names
        .into_iter()
        .zip(is_used(&paths))
        .filter(|(_, is_used)| !is_used)
        .map(|(name, _)| name);
    Ok(unused
        .filter(is_removed)
        .map(|name| folder.path().join(name))
        .collect())
}

/// Whether a name is one that this program gives to temporary files.
#[must_use]
pub fn is_temporary(name: &OsStr) -> bool {
    let numbers = name.to_str().and_then(|name| {
        name.strip_prefix(PREFIX)?
            .strip_suffix(SUFFIX)?
            .split_once('-')
    });
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    numbers.is_some_and(|(process, count)| is_number(process) && is_number(count))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::files::folders::PRIVATE_MODE;

    #[test]
    fn a_file_with_a_hidden_name_is_private_from_the_beginning() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let file = Temporary::with_hidden_name(&folder, PRIVATE_MODE).unwrap();
        let names = folder.list().unwrap();
        assert_eq!(names.len(), 1);
        assert_eq!(
            folder.stat(names[0].as_ref()).unwrap().unwrap().mode,
            PRIVATE_MODE
        );
        drop(file);
        assert!(folder.list().unwrap().is_empty());
    }

    #[test]
    fn a_folder_that_is_missing_has_no_files_left_and_a_file_is_no_folder() {
        let place = tempfile::tempdir().unwrap();
        let tidied = |name: &str| tidy(&place.path().join(name), |_| Vec::new());
        assert!(tidied("missing").unwrap().is_empty());
        std::fs::write(place.path().join("file"), "").unwrap();
        assert_eq!(
            tidied("file").unwrap_err().kind(),
            io::ErrorKind::NotADirectory
        );
    }
}
