//! The recorded state of a path, for comparison with a later state.

use std::io;
use std::path::{Path, PathBuf};

use super::folders::{self, Folder, Stat};
use super::paths::{at, folder_of};

/// The state of a path at some time.
#[derive(Clone, Debug)]
pub struct Before {
    path: PathBuf,
    stat: Option<Stat>,
}

impl Before {
    /// The current state of a path.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn of(path: &Path) -> io::Result<Before> {
        Ok(Before {
            path: path.to_owned(),
            stat: stat(path)?,
        })
    }

    /// Whether the path existed.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.stat.is_some()
    }

    /// Whether both were the same file, under any names.
    #[must_use]
    pub fn is_same_file(&self, other: &Before) -> bool {
        let id = |before: &Before| before.stat.as_ref().and_then(|stat| stat.id.clone());
        id(self).is_some() && id(self) == id(other)
    }

    /// Checks that the state is unchanged.
    ///
    /// # Errors
    /// If the state has changed; also any I/O error.
    pub fn expect_unchanged(&self) -> io::Result<()> {
        let is_same = match (&stat(&self.path)?, &self.stat) {
            (Some(now), Some(before)) => now.has_content_of(before),
            (now, before) => now.is_none() && before.is_none(),
        };
        if is_same {
            Ok(())
        } else {
            Err(at(
                &self.path,
                io::Error::other("was changed by another program; run again"),
            ))
        }
    }
}

fn stat(path: &Path) -> io::Result<Option<Stat>> {
    let path = folders::resolve(path).unwrap_or_else(|_| path.to_owned());
    match (Folder::open(&folder_of(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.stat(name.as_ref()),
        (Err(error), _) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(None),
    }
}
