//! Folders of Unix: handles, beneath which each component of a path is opened by itself and never as a link.
//!
//! Linux has `openat2` for that, but not every kernel and not every sandbox permits it. A path without links needs no more than
//! `openat` for each component, which all systems have.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, mkdirat, openat, renameat, statat, unlinkat};

use super::stat::{FileId, Kind, Stat};

/// How a folder is opened: on Linux and Android without the right to list it, which a run does not need.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The permissions of a new file and of a new folder, from which the user's mask is taken.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);

#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        Ok(Folder(openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    pub(super) fn id(&self) -> io::Result<FileId> {
        let stat = fstat(&self.0)?;
        Ok(id(&stat))
    }

    /// Looks first: to open a device or a pipe may have effects. Should it become one meanwhile, nothing waits for it.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<File> {
        match self.stat(name)?.kind {
            Kind::File => {}
            Kind::Link => return Err(rustix::io::Errno::LOOP.into()),
            Kind::Folder | Kind::Other => return Err(super::not_regular()),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, Mode::empty())?))
    }

    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)] // The types of the fields differ between systems.
    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stat {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Link,
                _ => Kind::Other,
            },
            bytes: stat.st_size as u64,
            links: stat.st_nlink as u64,
            mode: stat.st_mode as u32 & 0o7777,
            owner: stat.st_uid,
            group: stat.st_gid,
            id: Some(id(&stat)),
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        })
    }

    pub(super) fn list(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(self.readable()?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_owned()));
            }
        }
        Ok(names)
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, NEW_FOLDER)?)
    }

    pub(super) fn create(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, NEW_FILE)?))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn create_unnamed(&self) -> Option<File> {
        let file = openat(&self.0, ".", OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC, NEW_FILE).ok()?;
        let file = File::from(file);
        // Only by way of /proc can it get a name.
        std::fs::symlink_metadata(path_of(&file)).is_ok().then_some(file)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn create_unnamed(&self) -> Option<File> {
        None
    }

    #[cfg(target_os = "linux")]
    pub(super) fn link(&self, file: &File, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(CWD, path_of(file), &self.0, name, AtFlags::SYMLINK_FOLLOW)?)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn link(&self, _file: &File, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Who may not list a folder cannot flush it either: that is then left to the system.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.readable() {
            Ok(folder) => File::from(folder).sync_all(),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A second handle that can be read.
    fn readable(&self) -> io::Result<OwnedFd> {
        Ok(openat(&self.0, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

pub(super) fn id_of(path: &Path) -> Option<FileId> {
    std::fs::metadata(path).ok().and_then(|found| Stat::of(&found).id)
}

#[allow(clippy::unnecessary_cast)] // The types of the fields differ between systems.
fn id(stat: &rustix::fs::Stat) -> FileId {
    FileId((stat.st_dev as u64, stat.st_ino as u64))
}

#[cfg(target_os = "linux")]
fn path_of(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)).into()
}
