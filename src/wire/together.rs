//! Files that belong together, of which the last refers to the others: all get their names, or none does.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::data_folder::folder_of;
use super::layout::Layout;
use super::save::Written;
use super::signals;
use super::temporary::{free_name, sync_folder};

/// A file to be written.
#[derive(Debug)]
pub struct NewFile {
    /// Where it will be.
    pub path: PathBuf,
    /// What it will consist of.
    pub layout: Layout,
    /// Its permissions as in Unix; none for those of the file that it replaces, or of a new file.
    pub mode: Option<u32>,
}

/// Writes files that belong together. All are complete and flushed before the first gets its name, and the last gets its name last.
/// Should another than the last take an old file's place, then the old version of the last, which may refer to it, goes before: there
/// is no moment at which a file refers to what was not meant for it. A signal waits while names change.
///
/// `before_naming` is called after the last byte is written and before the first file gets its name: the last moment to find out that
/// a file that the bytes came from has changed meanwhile.
///
/// # Errors
/// That of `before_naming`; those of the operating system, with the path. Every file is then as it was, and nothing new is left; only if it is the folder that
/// cannot be flushed, the new files stand.
pub fn save_together(files: Vec<NewFile>, before_naming: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    let write = |NewFile { path, layout, mode }: NewFile| {
        Written::beside(&layout, &path).and_then(|file| file.with_mode(mode)).map_err(|error| at(&path, error))
    };
    let mut written = files.into_iter().map(write).collect::<io::Result<Vec<Written>>>()?;
    let Some(last) = written.pop() else {
        return Ok(());
    };
    before_naming()?;
    let _held = signals::hold();
    let folder = folder_of(last.path());
    let mut steps = Steps::default();
    match steps.rename(written, last) {
        Ok(()) => steps.keep(),
        Err(error) => {
            steps.undo();
            return Err(error);
        }
    }
    sync_folder(&folder).map_err(|error| at(&folder, error))
}

/// An error that says where it happened.
pub fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What was done to names, so that it can be undone.
#[derive(Default)]
struct Steps(Vec<Step>);

enum Step {
    /// A file got this name.
    Named(PathBuf),
    /// The file of this name waits under another one.
    SetAside(PathBuf, PathBuf),
}

impl Steps {
    fn rename(&mut self, others: Vec<Written>, last: Written) -> io::Result<()> {
        if others.iter().any(|file| file.path().exists()) {
            self.set_aside(last.path())?;
        }
        for file in others {
            let path = file.path().to_owned();
            self.set_aside(&path)?;
            file.name().map_err(|error| at(&path, error))?;
            let folder = folder_of(&path);
            self.0.push(Step::Named(path));
            sync_folder(&folder).map_err(|error| at(&folder, error))?;
        }
        let path = last.path().to_owned();
        last.name().map_err(|error| at(&path, error))
    }

    fn set_aside(&mut self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_ok() {
            let aside = free_name(&folder_of(path)).map_err(|error| at(path, error))?;
            fs::rename(path, &aside).map_err(|error| at(path, error))?;
            self.0.push(Step::SetAside(path.to_owned(), aside));
        }
        Ok(())
    }

    /// Removes the old files.
    fn keep(self) {
        for step in self.0 {
            if let Step::SetAside(_, aside) = step {
                // Should it stay, then as a hidden file that nobody refers to: not worth an error once the new files stand.
                fs::remove_file(aside).ok();
            }
        }
    }

    /// Goes back, as far as the system lets it: what it refuses here, it has just allowed in the other direction.
    fn undo(self) {
        for step in self.0.into_iter().rev() {
            match step {
                Step::Named(path) => fs::remove_file(path).ok(),
                Step::SetAside(path, aside) => fs::rename(aside, path).ok(),
            };
        }
    }
}
