//! Folders in memory: tables of names and bytes, for systems without files, and for data that was
//! not read from files.
//!
//! Each table has its own path, `<memory-NUMBER>`. As long as the table exists, every function of
//! [`super`] that takes a path finds it there, so that models and data files are named by paths in
//! either case. A thread can also have a table in place of the files of the operating system, see
//! [`Folder::with_virtual_file_system`]. There are no links and no permissions.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::stat::{EntryKind, FileId, Id, Stat, Time};
use crate::base::stored::Stored;
use crate::protobuf::{Layout, Pieces};

/// A folder of a table.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    table: Arc<Table>,
    /// The path beneath the root of the table.
    below: PathBuf,
}

/// A file, independent of its names.
#[derive(Debug)]
pub(super) struct Inode {
    number: u64,
    /// Whether the bytes of a written file must not be shared with other files.
    copies: bool,
    content: Mutex<InodeContent>,
}

#[derive(Debug)]
enum InodeContent {
    /// Complete: the bytes are shared with readers.
    Shared(Stored),
    /// Being written.
    Growing(Vec<u8>),
}

#[derive(Debug)]
struct Table {
    number: u64,
    /// The path of its root.
    root: PathBuf,
    entries: Mutex<Entries>,
    /// Whether a file whose bytes are in use cannot be replaced or removed, as on Windows.
    keeps_files_in_use: bool,
}

#[derive(Debug, Default)]
struct Entries {
    files: BTreeMap<PathBuf, Arc<Inode>>,
    folders: BTreeSet<PathBuf>,
}

/// All existing tables, by number.
static TABLES: Mutex<BTreeMap<u64, Weak<Table>>> = Mutex::new(BTreeMap::new());

/// The last number that was assigned to a table or file.
static LAST: AtomicU64 = AtomicU64::new(0);

fn next_number() -> u64 {
    LAST.fetch_add(1, Ordering::Relaxed)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Table {
    fn drop(&mut self) {
        lock(&TABLES).remove(&self.number);
    }
}

thread_local! {
    /// The table that this thread has in place of the files of the operating system.
    static IN_PLACE_OF_SYSTEM: RefCell<Option<Arc<Table>>> = const { RefCell::new(None) };
}

/// The root of the table with whose path a path begins, and the components after it. None for a
/// path of the operating system.
pub(super) fn root_of(path: &Path) -> Option<(Folder, PathBuf)> {
    let (table, below) = named(path).or_else(|| {
        let table = IN_PLACE_OF_SYSTEM.with_borrow(Clone::clone)?;
        Some((table, path.strip_prefix("/").unwrap_or(path)))
    })?;
    // A path out of the table does not exist.
    Some((
        Folder {
            table,
            below: PathBuf::new(),
        },
        normal(below).unwrap_or_else(|| below.to_owned()),
    ))
}

/// The table with whose path a path begins, and the rest of the path.
fn named(path: &Path) -> Option<(Arc<Table>, &Path)> {
    let Some(Component::Normal(first)) = path.components().next() else {
        return None;
    };
    let number = first
        .to_str()?
        .strip_prefix("<memory-")?
        .strip_suffix('>')?
        .parse()
        .ok()?;
    let table = lock(&TABLES).get(&number)?.upgrade()?;
    Some((table, path.strip_prefix(first).ok()?))
}

/// The path without `.` and `..`. None if it is outside of the table.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            _ => return None,
        }
    }
    Some(normal)
}

fn not_found() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "does not exist")
}

impl Entries {
    fn is_folder(&self, path: &Path) -> bool {
        let mut at_or_beneath = self
            .files
            .range(path.to_owned()..)
            .take_while(|(file, _)| file.starts_with(path));
        path == Path::new("")
            || self.folders.contains(path)
            || at_or_beneath.any(|(file, _)| file != path)
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        match self.files.get(path) {
            Some(inode) => Ok(Stat {
                links: self
                    .files
                    .values()
                    .filter(|other| Arc::ptr_eq(other, inode))
                    .count() as u64,
                ..inode.stat()
            }),
            None if self.is_folder(path) => Ok(stat(EntryKind::Folder, 0, None)),
            None => Err(not_found()),
        }
    }

    /// Adds a file under an unused name.
    fn add(&mut self, path: PathBuf, inode: Arc<Inode>) -> io::Result<()> {
        self.expect_unused(&path)?;
        self.files.insert(path, inode);
        Ok(())
    }

    fn expect_unused(&self, path: &Path) -> io::Result<()> {
        let is_used = self.files.contains_key(path) || self.is_folder(path);
        if is_used {
            Err(io::ErrorKind::AlreadyExists.into())
        } else {
            Ok(())
        }
    }
}

/// Without permissions and times: a changed file is another file.
fn stat(kind: EntryKind, bytes: u64, number: Option<u64>) -> Stat {
    let id = number.map(|number| FileId(Id::Numbers(u64::MAX, number)));
    Stat {
        kind,
        bytes,
        links: 1,
        mode: 0,
        owner: 0,
        group: 0,
        id,
        modified: Time::default(),
        changed: Time::default(),
    }
}

impl Inode {
    fn of(bytes: Stored, copies: bool) -> Arc<Inode> {
        Arc::new(Inode {
            number: next_number(),
            copies,
            content: Mutex::new(InodeContent::Shared(bytes)),
        })
    }

    /// Writes a complete file, of which the pieces are kept. False if they have to be copied.
    pub(super) fn keep(&self, layout: &Layout) -> bool {
        if !self.copies {
            *lock(&self.content) = InodeContent::Shared(Pieces::stored(layout));
        }
        !self.copies
    }

    pub(super) fn bytes(&self) -> Stored {
        let mut content = lock(&self.content);
        let bytes = match &mut *content {
            InodeContent::Shared(bytes) => bytes.clone(),
            InodeContent::Growing(bytes) => std::mem::take(bytes).into(),
        };
        *content = InodeContent::Shared(bytes.clone());
        bytes
    }

    pub(super) fn append(&self, more: &[u8]) {
        let mut content = lock(&self.content);
        if let InodeContent::Shared(bytes) = &*content {
            *content = InodeContent::Growing(bytes.to_bytes().to_vec());
        }
        if let InodeContent::Growing(bytes) = &mut *content {
            bytes.extend_from_slice(more);
        }
    }

    pub(super) fn stat(&self) -> Stat {
        let bytes = match &*lock(&self.content) {
            InodeContent::Shared(bytes) => bytes.len(),
            InodeContent::Growing(bytes) => bytes.len() as u64,
        };
        stat(EntryKind::File, bytes, Some(self.number))
    }

    fn is_in_use(&self) -> bool {
        let content = lock(&self.content);
        let InodeContent::Shared(bytes) = &*content else {
            return false;
        };
        bytes
            .in_memory()
            .is_some_and(|bytes| !bytes.is_empty() && !bytes.is_unique())
    }
}

impl Folder {
    /// The root of a new table.
    pub(super) fn new(keeps_files_in_use: bool) -> Folder {
        let number = next_number();
        let root = format!("<memory-{number}>").into();
        let table = Arc::new(Table {
            number,
            root,
            entries: Mutex::default(),
            keeps_files_in_use,
        });
        lock(&TABLES).insert(number, Arc::downgrade(&table));
        Folder {
            table,
            below: PathBuf::new(),
        }
    }

    /// Runs `work` with a new table in place of the files of the operating system: relative paths
    /// and those that begin with `/` are paths of this table. Other threads still find the files of
    /// the operating system.
    pub(super) fn with_virtual_file_system<T>(work: impl FnOnce(&Folder) -> T) -> T {
        /// Gives the thread its files back, even after a panic.
        struct Back(Option<Arc<Table>>);
        impl Drop for Back {
            fn drop(&mut self) {
                IN_PLACE_OF_SYSTEM.set(self.0.take());
            }
        }

        let table = Arc::new(Table {
            number: next_number(),
            root: "/".into(),
            entries: Mutex::default(),
            keeps_files_in_use: false,
        });
        let _back = Back(IN_PLACE_OF_SYSTEM.replace(Some(Arc::clone(&table))));
        work(&Folder {
            table,
            below: PathBuf::new(),
        })
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        lock(&self.table.entries)
    }

    fn at(&self, name: &OsStr) -> PathBuf {
        self.below.join(name)
    }

    pub(super) fn path(&self) -> PathBuf {
        // Joining an empty path would add a slash.
        self.table
            .root
            .components()
            .chain(self.below.components())
            .collect()
    }

    /// The components of a path after that of the table, if the path begins with it.
    pub(super) fn below_root<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.table.root).ok()
    }

    /// The path of an existing entry, given from the root of the table, without `.` and `..`.
    pub(super) fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        let below = normal(path).ok_or_else(not_found)?;
        self.entries().stat(&below)?;
        Ok(Folder {
            below,
            ..self.clone()
        }
        .path())
    }

    /// The folder at a path.
    pub(super) fn open(&self, path: &Path) -> io::Result<Folder> {
        let below = normal(path).ok_or_else(not_found)?;
        let kind = self.entries().stat(&below)?.kind;
        if kind == EntryKind::Folder {
            Ok(Folder {
                below,
                ..self.clone()
            })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Folder> {
        Folder {
            below: PathBuf::new(),
            ..self.clone()
        }
        .open(&self.at(name))
    }

    pub(super) fn id(&self) -> FileId {
        // A folder has the id of its table; the id is used for locks only.
        FileId(Id::Numbers(u64::MAX, self.table.number))
    }

    pub(super) fn read(&self, name: &OsStr) -> io::Result<Arc<Inode>> {
        let (entries, path) = (self.entries(), self.at(name));
        match entries.files.get(&path) {
            Some(inode) => Ok(Arc::clone(inode)),
            None if entries.is_folder(&path) => Err(super::components::not_regular()),
            None => Err(not_found()),
        }
    }

    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        self.entries().stat(&self.at(name))
    }

    pub(super) fn list(&self) -> Vec<OsString> {
        let entries = self.entries();
        let first = |path: &PathBuf| {
            Some(
                path.strip_prefix(&self.below)
                    .ok()?
                    .components()
                    .next()?
                    .as_os_str()
                    .to_owned(),
            )
        };
        let names: BTreeSet<OsString> = entries
            .files
            .keys()
            .chain(&entries.folders)
            .filter_map(first)
            .collect();
        names.into_iter().collect()
    }

    /// The paths and bytes of all files of the table.
    pub(super) fn files(&self) -> Vec<(PathBuf, Stored)> {
        self.entries()
            .files
            .iter()
            .map(|(path, inode)| (path.clone(), inode.bytes()))
            .collect()
    }

    pub(super) fn insert(&self, path: &Path, bytes: Stored) -> io::Result<()> {
        let below = normal(path)
            .filter(|below| below != Path::new(""))
            .ok_or_else(super::components::not_beneath)?;
        let mut entries = self.entries();
        let path = self.below.join(below);
        if entries.is_folder(&path)
            || path
                .ancestors()
                .skip(1)
                .any(|folder| entries.files.contains_key(folder))
        {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        entries
            .files
            .insert(path, Inode::of(bytes, self.table.keeps_files_in_use));
        Ok(())
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        let (mut entries, path) = (self.entries(), self.at(name));
        entries.expect_unused(&path)?;
        entries.folders.insert(path);
        Ok(())
    }

    /// A new file that has no name yet.
    pub(super) fn create(&self) -> Arc<Inode> {
        Inode::of(Vec::new().into(), self.table.keeps_files_in_use)
    }

    /// Gives a file a name; it may have other names.
    pub(super) fn link(&self, inode: &Arc<Inode>, name: &OsStr) -> io::Result<()> {
        self.entries().add(self.at(name), Arc::clone(inode))
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (mut entries, from, to) = (self.entries(), self.at(from), self.at(to));
        if entries.is_folder(&to) {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if let Some(old) = entries.files.get(&to) {
            self.expect_free(old)?;
        }
        let inode = entries.files.remove(&from).ok_or_else(not_found)?;
        entries.files.insert(to, inode);
        Ok(())
    }

    pub(super) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (mut entries, from) = (self.entries(), self.at(from));
        let inode = entries.files.get(&from).cloned().ok_or_else(not_found)?;
        entries.add(self.at(to), inode)?;
        entries.files.remove(&from);
        Ok(())
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        let (mut entries, path) = (self.entries(), self.at(name));
        self.expect_free(entries.files.get(&path).ok_or_else(not_found)?)?;
        entries.files.remove(&path);
        Ok(())
    }

    fn expect_free(&self, inode: &Inode) -> io::Result<()> {
        if self.table.keeps_files_in_use && inode.is_in_use() {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "is mapped"))
        } else {
            Ok(())
        }
    }
}
