//! Access to the data files of a model.
//!
//! Data files are opened beneath the folder of the model. Before an output gets its name,
//! [`DataFolder::expect_unchanged`] compares length, times and inode of the inputs with those at
//! the start.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::folders::{self, EntryKind, Folder, OpenFile, Stat, id_of};
use super::mapped::mapped;
use super::paths::{at, folder_of, identity, identity_by};
use crate::base::error::{Classified, ErrorKind, shortened};
use crate::base::stored::Stored;

/// The folders in which a model's data files are looked up.
///
/// A model may name any path. A path out of the model's folder, by `..` or by a link, is refused,
/// unless it is in a folder that was explicitly allowed. Only regular files are opened, since
/// opening a device or a pipe can have effects or block. Each file is mapped once.
///
/// The folders are open as long as this value exists. A path is resolved, and its target is opened
/// beneath the folder that must contain it, without following links: if a folder is replaced by a
/// link between the two steps, the result is an error.
#[derive(Debug, Default)]
pub struct DataFolder {
    /// None for a model from a pipe.
    folder: Option<PathBuf>,
    /// Folders that may contain data files.
    roots: Vec<Folder>,
    /// Explicitly allowed folders, which absolute paths may name too.
    allowed: Vec<Folder>,
    /// The model itself, if it is a regular file.
    model: Option<Located>,
    /// Files that do not have their names yet, by their resolved paths.
    unnamed: BTreeMap<PathBuf, Stored>,
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    by_location: BTreeMap<String, Result<ReadDataFile, BadLocation>>,
    by_path: BTreeMap<PathBuf, Opened>,
}

#[derive(Debug)]
struct Opened {
    bytes: Stored,
    at: Located,
}

/// A regular file beneath an open folder.
#[derive(Clone, Debug)]
pub struct Located {
    folder: Folder,
    /// The path beneath the folder: no links, no `..`.
    below: PathBuf,
    /// Its metadata.
    pub(crate) stat: Stat,
}

impl Located {
    /// Its path, with links resolved.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.below)
    }

    fn expect_unchanged(&self) -> io::Result<()> {
        self.folder
            .expect_unchanged(&self.below, &self.stat)
            .map_err(|error| at(&self.path(), error))
    }
}

/// A file with values of tensors.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadDataFile {
    /// Its path, with all links resolved.
    pub path: PathBuf,
    /// All of it: mapped, or read in ranges.
    pub bytes: Stored,
}

/// Why no data can be read at a location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadLocation {
    /// The model has no folder.
    #[error("data file '{0}': a model from a stream has no folder; give the model as a file")]
    NoFolder(String),
    /// The path is absolute, and no folder was explicitly allowed.
    #[error(
        "data file '{0}': is an absolute path, and no folder outside the model's folder is allowed"
    )]
    Absolute(String),
    /// The path is outside of the model's folder and the allowed folders.
    #[error("data file '{location}': resolves to {}, outside the model's folder and the allowed folders", path.display())]
    Outside {
        /// The location in the model.
        location: String,
        /// The resolved path.
        path: PathBuf,
    },
    /// A folder, device, pipe or socket.
    #[error("data file '{0}': is not a regular file")]
    NoFile(String),
    /// An error of the operating system.
    #[error("data file '{0}': {1}")]
    Unreadable(String, String),
}

impl BadLocation {
    /// Whether the location is outside of the model's folder and the allowed folders.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        matches!(self, BadLocation::Absolute(_) | BadLocation::Outside { .. })
    }
}

impl DataFolder {
    /// The folder of a model file. If the file is a link, the folder of its target is a model's
    /// folder too: a cache may store a model and its data under other names than the links that
    /// users see.
    #[must_use]
    pub fn of_model(model: &Path) -> DataFolder {
        let folder = folder_of(model);
        let target = folders::resolve(model).ok().map(|model| folder_of(&model));
        let mut roots: Vec<Folder> = [&folder]
            .into_iter()
            .chain(&target)
            .filter_map(|root| Folder::open(root).ok())
            .collect();
        roots.dedup_by(|second, first| second.path() == first.path());
        DataFolder {
            folder: Some(folder),
            roots,
            ..DataFolder::default()
        }
    }

    /// The folder of a model file, and the model file, opened beneath it.
    pub(super) fn and_model(model: &Path) -> io::Result<(DataFolder, OpenFile)> {
        let changed = || io::Error::other("changed while it was opened");
        let folder = folder_of(model);
        let mut roots = vec![Folder::open(&folder)?];
        let resolved =
            folders::resolve(&roots[0].path().join(model.file_name().ok_or_else(changed)?))?;
        if folder_of(&resolved) != roots[0].path() {
            roots.push(Folder::open(&folder_of(&resolved))?);
        }
        let (root, name) = (
            &roots[roots.len() - 1],
            Path::new(resolved.file_name().ok_or_else(changed)?),
        );
        if root.path() != folder_of(&resolved) {
            return Err(changed());
        }
        let file = root.read(name)?;
        let located = Located {
            folder: root.clone(),
            below: name.to_owned(),
            stat: file.stat().clone(),
        };
        Ok((
            DataFolder {
                folder: Some(folder),
                roots,
                model: Some(located),
                ..DataFolder::default()
            },
            file,
        ))
    }

    /// Allows data files in another folder.
    ///
    /// # Errors
    /// If the folder does not exist; also any I/O error.
    pub fn allow(&mut self, folder: &Path) -> io::Result<()> {
        self.allowed.push(Folder::open(folder)?);
        Ok(())
    }

    /// The folder as it was given; none for a model from a pipe.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The folder of a model that is written from data of this one, with new files that do not have
    /// their names yet.
    #[must_use]
    pub(crate) fn with_new_files(
        &self,
        model: &Path,
        files: impl IntoIterator<Item = (PathBuf, Stored)>,
    ) -> DataFolder {
        let unnamed = files
            .into_iter()
            .map(|(path, bytes)| (identity(&path), bytes))
            .collect();
        DataFolder {
            allowed: self.allowed.clone(),
            unnamed,
            ..DataFolder::of_model(model)
        }
    }

    /// Whether a location refers to the same file in both folders.
    #[must_use]
    pub fn is_same(&self, other: &DataFolder) -> bool {
        self.folder == other.folder && self.unnamed.is_empty() && other.unnamed.is_empty()
    }

    /// Whether a location is that of the same file for both, which has its name.
    #[must_use]
    pub(crate) fn has_same_file(&self, other: &DataFolder, location: &str) -> bool {
        let named = |folder: &DataFolder| {
            let file = folder.open(location).ok()?;
            (!folder.unnamed.contains_key(&file.path)).then_some(file.path)
        };
        named(self).is_some_and(|path| named(other) == Some(path))
    }

    /// Opens the file at a location, by mapping it if that is possible.
    ///
    /// # Errors
    /// If the location is outside of the folder, or the file cannot be mapped.
    pub fn open(&self, location: &str) -> Result<ReadDataFile, BadLocation> {
        let mut files = self.lock();
        if let Some(known) = files.by_location.get(location) {
            return known.clone();
        }
        let unnamed = || {
            let path = self.base()?.join(location);
            self.unnamed
                .get_key_value(&identity_by(|path| self.resolve(path), &path))
        };
        if let Some((path, bytes)) = (!self.unnamed.is_empty()).then(unnamed).flatten() {
            return Ok(ReadDataFile {
                path: path.clone(),
                bytes: bytes.clone(),
            });
        }
        let opened = self.locate(location).and_then(|located| {
            let path = located.path();
            let bytes = if let Some(opened) = files.by_path.get(&path) {
                opened.bytes.clone()
            } else {
                let file = located
                    .folder
                    .read(&located.below)
                    .map_err(|error| unreadable(location, error))?;
                let bytes = mapped(&file, &path).map_err(|error| unreadable(location, error))?;
                let at = Located {
                    stat: file.stat().clone(),
                    ..located
                };
                files.by_path.insert(
                    path.clone(),
                    Opened {
                        bytes: bytes.clone(),
                        at,
                    },
                );
                bytes
            };
            Ok(ReadDataFile { path, bytes })
        });
        files
            .by_location
            .insert(location.to_owned(), opened.clone());
        opened
    }

    /// The complete file that contains some bytes, if it was opened through this value.
    #[must_use]
    pub(crate) fn file_around(&self, bytes: &Stored) -> Option<Stored> {
        self.lock()
            .by_path
            .values()
            .find(|file| file.bytes.surrounds(bytes))
            .map(|file| file.bytes.clone())
    }

    /// The paths of all open files.
    #[cfg(feature = "internals")]
    #[must_use]
    pub fn opened(&self) -> Vec<PathBuf> {
        self.lock().by_path.keys().cloned().collect()
    }

    /// Whether a path is that of an open file, under any of its names.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        let id = id_of(path);
        id.is_some()
            && self
                .lock()
                .by_path
                .values()
                .any(|file| file.at.stat.id == id)
    }

    /// Checks that the model and all data files are unchanged since they were opened. To be called
    /// after the last read, and before a file that was computed from them gets its name.
    ///
    /// # Errors
    /// If a file has changed, with its path; also any I/O error, including those of files that are
    /// read in ranges.
    pub fn expect_unchanged(&self) -> io::Result<()> {
        self.model.iter().try_for_each(Located::expect_unchanged)?;
        self.lock()
            .by_path
            .values()
            .try_for_each(|file| match file.bytes.failure() {
                Some(error) => Err(at(&file.at.path(), error)),
                None => file.at.expect_unchanged(),
            })
    }

    /// The model file, if it was opened with this folder and is a regular file.
    #[must_use]
    pub fn model(&self) -> Option<&Located> {
        self.model.as_ref()
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The folder at which locations begin; none for a model from a pipe.
    fn base(&self) -> Option<&Path> {
        let folder = self.folder.as_deref()?;
        Some(self.roots.first().map_or(folder, Folder::path))
    }

    /// A path without links, in the file system of the model's folder.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        match self.roots.first() {
            Some(root) => folders::resolve_in(root, path),
            None => folders::resolve(path),
        }
    }

    /// Finds the file at a location without opening it.
    ///
    /// # Errors
    /// If the location is outside of the folder, or not that of a regular file.
    pub fn locate(&self, location: &str) -> Result<Located, BadLocation> {
        let Some(base) = self.base() else {
            return Err(BadLocation::NoFolder(for_message(location)));
        };
        let is_absolute = Path::new(location).has_root() || Path::new(location).is_absolute();
        if is_absolute && self.allowed.is_empty() {
            return Err(BadLocation::Absolute(for_message(location)));
        }
        let path = self
            .resolve(&base.join(location))
            .map_err(|error| unreadable(location, error))?;
        let roots: &[Folder] = if is_absolute { &[] } else { &self.roots };
        let beneath = |root: &Folder| {
            Some((
                root.clone(),
                path.strip_prefix(root.path()).ok()?.to_owned(),
            ))
        };
        let Some((folder, below)) = roots.iter().chain(&self.allowed).find_map(beneath) else {
            return Err(BadLocation::Outside {
                location: for_message(location),
                path,
            });
        };
        if below == Path::new("") {
            return Err(BadLocation::NoFile(for_message(location)));
        }
        match folder
            .stat(&below)
            .map_err(|error| unreadable(location, error))?
        {
            Some(stat) if stat.kind == EntryKind::File => Ok(Located {
                folder,
                below,
                stat,
            }),
            Some(stat) if stat.kind != EntryKind::Link => {
                Err(BadLocation::NoFile(for_message(location)))
            }
            _ => Err(unreadable(
                location,
                io::Error::other("changed while it was opened"),
            )),
        }
    }
}

fn unreadable(location: &str, error: io::Error) -> BadLocation {
    BadLocation::Unreadable(for_message(location), error.to_string())
}

impl Classified for BadLocation {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadExternalData
    }
}

/// A location, shortened for messages: the model may choose a location of any length.
fn for_message(location: &str) -> String {
    shortened(location).into_owned()
}
