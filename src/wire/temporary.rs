//! A file that nobody sees until it is complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::data_folder::folder_of;
use super::signals::RemovedOnSignal;

/// A file in the folder where it will stand. Where the system can do so it has no name, so that nothing is left of it should the
/// process be killed; else it has one that a signal handler knows.
#[derive(Debug)]
pub(super) struct Temporary {
    file: File,
    folder: PathBuf,
    name: Option<Named>,
}

#[derive(Debug)]
struct Named {
    path: NamedTempFile<()>,
    _removed: RemovedOnSignal,
}

impl Temporary {
    /// An empty file in the folder of `path`.
    pub(super) fn beside(path: &Path) -> io::Result<Temporary> {
        let folder = folder_of(path);
        if let Some(file) = unnamed(&folder) {
            return Ok(Temporary { file, folder, name: None });
        }
        let (file, name) = named(&folder, |path| {
            let removed = RemovedOnSignal::new(path);
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            Ok((options.open(path)?, removed))
        })?;
        let ((file, removed), path) = (file, name);
        Ok(Temporary { file, folder, name: Some(Named { path, _removed: removed }) })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, in one step, over what may be there.
    pub(super) fn name(self, path: &Path) -> io::Result<()> {
        let name = match self.name {
            Some(named) => named.path,
            None if link(&self.file, path).is_ok() => return Ok(()),
            None => named(&self.folder, |path| link(&self.file, path))?.1,
        };
        name.persist(path).map_err(|error| error.error)
    }
}

/// A name in a folder that no file has.
pub(super) fn free_name(folder: &Path) -> io::Result<PathBuf> {
    let is_free = |path: &Path| match path.symlink_metadata() {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(_) => Ok(()),
    };
    Ok(named(folder, is_free)?.1.keep().map_err(|error| error.error)?.1)
}

/// Makes something under a name that is free.
fn named<T>(folder: &Path, mut make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(T, NamedTempFile<()>)> {
    let mut made = None;
    let name = tempfile::Builder::new().prefix(".recast-").suffix(".tmp").make_in(folder, |path| {
        made = Some(make(path)?);
        Ok(())
    })?;
    made.map(|made| (made, name)).ok_or_else(|| io::Error::other("no temporary file was made"))
}

/// A file without a name, if it can get one later.
#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let file = File::options().read(true).write(true).mode(0o666).custom_flags(libc::O_TMPFILE).open(folder).ok()?;
    fs::symlink_metadata(path_of(&file)).is_ok().then_some(file)
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    Ok(linkat(CWD, path_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(target_os = "linux")]
fn path_of(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)).into()
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_folder: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Makes new names in a folder last through a power failure, if this user may read it.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
