//! The files beside a model that hold values of its tensors.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::map::map;
use crate::error::{Classified, ErrorKind, shortened};

/// The folder that a model's data files are looked for in.
///
/// A model may name any path. One that leads out of the model's folder, whether by `..` or over a link, is refused, unless it leads
/// into a folder that was allowed by name; so is whatever is no regular file, since opening a device or a pipe may have effects or
/// never end. Each file is mapped once.
#[derive(Debug, Default)]
pub struct DataFolder {
    /// None for a model that came out of a pipe.
    folder: Option<PathBuf>,
    /// Folders that files may be in, resolved.
    roots: Vec<PathBuf>,
    /// Folders that also an absolute path may lead into.
    allowed: Vec<PathBuf>,
    files: Mutex<Files>,
}

#[derive(Debug, Default)]
struct Files {
    by_location: BTreeMap<String, Result<DataFile, BadLocation>>,
    by_path: BTreeMap<PathBuf, Bytes>,
}

/// A file that holds values of tensors.
#[derive(Clone, Debug)]
pub struct DataFile {
    /// Its path, with all links resolved.
    pub path: PathBuf,
    /// All of it, mapped.
    pub bytes: Bytes,
}

/// A location at which no data can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLocation {
    /// The model has no folder.
    #[error("a model from standard input has no folder to look for its data file '{0}' in; give the model as a file")]
    NoFolder(String),
    /// The path does not begin at the model's folder.
    #[error("data file '{0}': is an absolute path, which may lead anywhere; --allow-data-dir allows a folder")]
    Absolute(String),
    /// The path ends outside the model's folder.
    #[error("data file '{location}': leads to {}, outside the model's folder; --allow-data-dir allows a folder", path.display())]
    Outside {
        /// What the model says.
        location: String,
        /// Where it leads.
        path: PathBuf,
    },
    /// A folder, a device, a pipe, a socket.
    #[error("data file '{0}': is no regular file")]
    NoFile(String),
    /// The operating system says no.
    #[error("data file '{0}': {1}")]
    Unreadable(String, String),
}

impl DataFolder {
    /// The folder of a model file. Where that is a link, the folder of the file it leads to counts as the model's folder too: a
    /// store of files may keep both a model and its data under other names than the links that people see.
    #[must_use]
    pub fn of_model(model: &Path) -> DataFolder {
        let folder = folder_of(model);
        let resolved = [fs::canonicalize(&folder).ok(), fs::canonicalize(model).ok().map(|model| folder_of(&model))];
        DataFolder {
            folder: Some(folder),
            roots: resolved.into_iter().flatten().collect(),
            allowed: Vec::new(),
            files: Mutex::default(),
        }
    }

    /// Allows files in another folder too.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn allow(&mut self, folder: &Path) -> io::Result<()> {
        self.allowed.push(fs::canonicalize(folder)?);
        Ok(())
    }

    /// The folder as it was given; none for a model that came out of a pipe.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Maps the file at a location.
    ///
    /// # Errors
    /// Where the location leads out of the folder, or to nothing that can be mapped.
    pub fn open(&self, location: &str) -> Result<DataFile, BadLocation> {
        let mut files = self.lock();
        if let Some(known) = files.by_location.get(location) {
            return known.clone();
        }
        let opened = self.path_of(location).and_then(|path| {
            let bytes = match files.by_path.get(&path) {
                Some(bytes) => bytes.clone(),
                None => open_regular(&path).map_err(|error| unreadable(location, error))?,
            };
            files.by_path.insert(path.clone(), bytes.clone());
            Ok(DataFile { path, bytes })
        });
        files.by_location.insert(location.to_owned(), opened.clone());
        opened
    }

    /// All of the file that bytes are a part of, if it was opened here.
    #[must_use]
    pub fn file_around(&self, bytes: &[u8]) -> Option<Bytes> {
        let range = bytes.as_ptr_range();
        let is_around = |file: &&Bytes| {
            let file = file.as_ptr_range();
            file.start <= range.start && range.end <= file.end
        };
        self.lock().by_path.values().find(is_around).cloned()
    }

    /// The paths of all files that were opened here.
    #[must_use]
    pub fn opened(&self) -> Vec<PathBuf> {
        self.lock().by_path.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The path of the file at a location, with all links resolved.
    ///
    /// # Errors
    /// Where the location leads out of the folder, or to no regular file.
    pub fn path_of(&self, location: &str) -> Result<PathBuf, BadLocation> {
        let Some(folder) = &self.folder else {
            return Err(BadLocation::NoFolder(told(location)));
        };
        let is_absolute = Path::new(location).has_root() || Path::new(location).is_absolute();
        if is_absolute && self.allowed.is_empty() {
            return Err(BadLocation::Absolute(told(location)));
        }
        let path = fs::canonicalize(folder.join(location)).map_err(|error| unreadable(location, error))?;
        let roots: &[PathBuf] = if is_absolute { &[] } else { &self.roots };
        if !roots.iter().chain(&self.allowed).any(|root| path.starts_with(root)) {
            return Err(BadLocation::Outside { location: told(location), path });
        }
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => Ok(path),
            Ok(_) => Err(BadLocation::NoFile(told(location))),
            Err(error) => Err(unreadable(location, error)),
        }
    }
}

fn unreadable(location: &str, error: io::Error) -> BadLocation {
    BadLocation::Unreadable(told(location), error.to_string())
}

impl Classified for BadLocation {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadExternalData
    }
}

/// A location for a message: the model chose it, of any length.
fn told(location: &str) -> String {
    shortened(location).into_owned()
}

/// The folder that a file stands in.
#[must_use]
pub fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A path by which a file is known however it was spelled: the part of it that exists, with links resolved, and the rest.
#[must_use]
pub fn identity(path: &Path) -> PathBuf {
    let resolved = path.ancestors().find_map(|ancestor| {
        let here = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        Some(fs::canonicalize(here).ok()?.join(path.strip_prefix(ancestor).ok()?))
    });
    resolved.unwrap_or_else(|| path.to_owned())
}

/// Maps a regular file at a resolved path. Should it have become something else by now, that is found out without following a
/// link and without waiting for a pipe.
fn open_regular(path: &Path) -> io::Result<Bytes> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    match (metadata.is_file(), metadata.len()) {
        (false, _) => Err(io::Error::other("is no regular file")),
        (true, 0) => Ok(Bytes::new()),
        (true, _) => map(&file, path),
    }
}
