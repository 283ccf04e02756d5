//! Folders on Unix: handles, beneath which the components of a path are opened one by one, without
//! following links.
//!
//! Linux has `openat2` for this, but some kernels and sandboxes do not permit it. For a path
//! without links, `openat` for each component is sufficient, and all systems have it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Gid, Mode, OFlags, Uid, fchmod, fchown, flock,
    fstat, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::stat::{EntryKind, FileId, Id, Stat};

/// How a folder is opened: on Linux and Android without the permission to list it, which is not
/// required.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// The permissions of a new folder, before the user's umask is applied.
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);

#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

/// A handle of the locked folder; closing it, or the end of the process, releases the lock.
pub(super) type Lock = OwnedFd;

/// Locks a file. False if another process holds the lock; true if the file system does not support
/// locks.
pub(super) fn claim(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
}

/// Whether a file's lock was free; this process holds it now.
pub(super) fn is_unclaimed(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

pub(super) fn take_permissions(file: &File, old: &Stat) -> io::Result<()> {
    let now = Stat::of_file(file)?;
    let mut mode = old.mode;
    if now.owner != old.owner && fchown(file, Some(Uid::from_raw(old.owner)), None).is_err() {
        // Set-user-id and set-group-id must not apply to another owner.
        mode &= 0o1777;
    }
    if now.group != old.group && fchown(file, None, Some(Gid::from_raw(old.group))).is_err() {
        mode = mode & 0o1707 | (mode & (mode << 3) & 0o070);
    }
    if now.mode != mode {
        set_mode(file, mode)
    } else {
        Ok(())
    }
}

/// Whether a new file can get the owner of an older one: only the superuser can change owners.
pub(super) fn can_keep_owner(old: &Stat) -> bool {
    may_own(rustix::process::geteuid(), old.owner)
}

pub(super) fn may_own(user: Uid, owner: u32) -> bool {
    user.is_root() || user.as_raw() == owner
}

/// Whether a user may replace and remove a file of a sticky folder: the superuser, and the owners
/// of the two.
pub(super) fn may_replace(user: Uid, owners: [u32; 2]) -> bool {
    owners.iter().any(|&owner| may_own(user, owner))
}

#[allow(clippy::unnecessary_cast)] // The type of the mode differs between systems.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    Ok(fchmod(file, Mode::from_raw_mode(mode as _))?)
}

impl Folder {
    pub(super) fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder(openat(CWD, path, FOLDER, Mode::empty())?))
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        Ok(Folder(openat(
            &self.0,
            name,
            FOLDER | OFlags::NOFOLLOW,
            Mode::empty(),
        )?))
    }

    pub(super) fn id(&self) -> io::Result<FileId> {
        let stat = fstat(&self.0)?;
        Ok(id(&stat))
    }

    /// Checks the type first, since opening a device or a pipe can have effects. If the file is
    /// replaced by one in the meantime, opening it does not block.
    pub(super) fn read(&self, name: &OsStr) -> io::Result<File> {
        match self.stat(name)?.kind {
            EntryKind::File => {}
            EntryKind::Link => return Err(rustix::io::Errno::LOOP.into()),
            EntryKind::Folder | EntryKind::Other => return Err(super::components::not_regular()),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, Mode::empty())?))
    }

    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)] // The types of the fields differ between systems.
    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Stat {
            kind: match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Folder,
                FileType::Symlink => EntryKind::Link,
                _ => EntryKind::Other,
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

    #[allow(clippy::unnecessary_cast)] // The type of the mode differs between systems.
    pub(super) fn create(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(
            &self.0,
            name,
            flags,
            Mode::from_raw_mode(mode as _),
        )?))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn create_unnamed(&self) -> Option<File> {
        let file = openat(
            &self.0,
            ".",
            OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC,
            Mode::from_raw_mode(super::DEFAULT_MODE),
        )
        .ok()?;
        let file = File::from(file);
        // It gets its name through /proc.
        std::fs::symlink_metadata(path_of(&file))
            .is_ok()
            .then_some(file)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn create_unnamed(&self) -> Option<File> {
        None
    }

    #[cfg(target_os = "linux")]
    pub(super) fn link(&self, file: &File, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(
            CWD,
            path_of(file),
            &self.0,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn link(&self, _file: &File, _name: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    pub(super) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match rustix::fs::renameat_with(
            &self.0,
            from,
            &self.0,
            to,
            rustix::fs::RenameFlags::NOREPLACE,
        ) {
            // Not supported by the file system or the kernel.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => self.check_and_rename(from, to),
            result => Ok(result?),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    pub(super) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.check_and_rename(from, to)
    }

    /// Checks that the new name is unused, and then renames. Both together are not atomic, but
    /// other processes of this program that change names hold the lock of the folder.
    fn check_and_rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match self.stat(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.rename(from, to),
            Err(error) => Err(error),
        }
    }

    pub(super) fn link_again(&self, from: &OsStr, into: &Folder, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(
            &self.0,
            from,
            &into.0,
            to,
            AtFlags::empty(),
        )?)
    }

    /// Systems have no call that waits for a certain time.
    pub(super) fn lock(&self, wait: Duration) -> io::Result<Option<Lock>> {
        const INTERVAL: Duration = Duration::from_millis(2);
        let folder = match self.readable() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
            Err(error) => return Err(error),
        };
        let begin = Instant::now();
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(folder)),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) if begin.elapsed() < wait => std::thread::sleep(INTERVAL),
                Err(Errno::WOULDBLOCK) => {
                    let message = "is locked by another process, which writes files there; run again when it has ended";
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, message));
                }
                Err(Errno::NOLCK | Errno::NOSYS | Errno::NOTSUP | Errno::INVAL | Errno::BADF) => {
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Flushing a folder requires the permission to list it; without it, the system flushes the
    /// folder later.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.readable() {
            Ok(folder) => File::from(folder).sync_all(),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A second handle, for reading.
    fn readable(&self) -> io::Result<OwnedFd> {
        Ok(openat(
            &self.0,
            ".",
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?)
    }

    /// Whether the user may replace and remove a file of this folder, as far as the sticky bit
    /// decides.
    #[allow(clippy::unnecessary_cast)] // The type of the mode differs between systems.
    pub(super) fn lets_replace(&self, file: &Stat) -> io::Result<bool> {
        let folder = fstat(&self.0)?;
        let is_sticky = Mode::from_raw_mode(folder.st_mode as _).contains(Mode::SVTX);
        Ok(!is_sticky || may_replace(rustix::process::geteuid(), [folder.st_uid, file.owner]))
    }
}

/// Copies the access control list and user attributes, but not the attributes that the system sets.
#[cfg(target_os = "linux")]
pub(super) fn take_attributes(file: &File, old: &File) {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr};

    /// Linux's limit for the list of names, and for a value.
    const MOST: usize = 1 << 16;
    let (mut names, mut value) = (vec![0_u8; MOST], vec![0_u8; MOST]);
    let Ok(bytes) = flistxattr(old, &mut names[..]) else {
        return;
    };
    for name in names[..bytes].split(|&byte| byte == 0) {
        let is_taken = name.starts_with(b"user.") || name == b"system.posix_acl_access";
        if let (true, Ok(bytes)) = (is_taken, fgetxattr(old, name, &mut value[..])) {
            // Not every file system supports these attributes.
            fsetxattr(file, name, &value[..bytes], XattrFlags::empty()).ok();
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn take_attributes(_file: &File, _old: &File) {}

pub(super) fn id_of(path: &Path) -> Option<FileId> {
    std::fs::metadata(path)
        .ok()
        .and_then(|found| Stat::of(&found).id)
}

#[allow(clippy::unnecessary_cast)] // The types of the fields differ between systems.
fn id(stat: &rustix::fs::Stat) -> FileId {
    FileId(Id::Numbers(stat.st_dev as u64, stat.st_ino as u64))
}

#[cfg(target_os = "linux")]
fn path_of(file: &File) -> std::path::PathBuf {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)).into()
}
