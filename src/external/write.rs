//! Writes the files of a plan.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::interim;
use super::neighbours::Neighbours;
use super::place;
use super::plan::Plan;
use super::unused::OldFiles;
use crate::control::Unit;
use crate::files::{self, Folder};
use crate::wire::{Before, NewFile, Target, at, is_stream, is_temporary, save, save_together};

impl Plan {
    /// Reports the progress of writing to the callback of the model.
    fn count(&mut self) {
        let bytes = self.data.iter().map(|file| file.layout.bytes()).sum::<u64>() + self.model.bytes();
        let counter = Arc::new(self.control.counter(Unit::Bytes, bytes));
        self.data.iter_mut().map(|file| &mut file.layout).chain([&mut self.model]).for_each(|layout| layout.count_in(&counter));
    }

    /// The data files that the model no longer uses, kept or removed as if the plan were executed; no file is changed.
    #[must_use]
    pub fn preview(self) -> OldFiles {
        self.unused.settle(self.prunes, |_| Ok(()))
    }

    /// Writes the files: data first, then the model, each atomically. Then data files that the model no longer uses are kept or removed.
    ///
    /// # Errors
    /// Those of the operating system, with the path; also if an input changed while it was read. An existing model is then unchanged.
    pub fn write(mut self) -> io::Result<OldFiles> {
        let _locks;
        self.count();
        match self.target {
            _ if self.exists_already => return Ok(OldFiles::default()),
            Target::File(path) if !is_stream(&path) => {
                let mut files = in_folders(&self.folder, self.data)?;
                if let Some(replaced) = &self.replaced {
                    let is_replaced = |file: &&mut NewFile| file.path == *replaced;
                    let names = 1 + interim::second_names(&path, replaced).len() as u64;
                    files.iter_mut().filter(is_replaced).for_each(|file| file.names = names);
                }
                files.push(NewFile::replacing(path.clone(), self.model));
                let check = || {
                    self.sources.expect_unchanged()?;
                    self.before.iter().try_for_each(Before::expect_unchanged)?;
                    let replaced = self.replaced.as_deref();
                    replaced.map_or(Ok(()), |data| expect_unused(&self.folder, data, &path, self.is_in_place))
                };
                // Other runs must not begin to use an old data file while it is removed.
                _locks = save_together(files, self.interim, check)?;
            }
            target => {
                save(self.model, &target)?;
                self.sources.expect_unchanged()?;
            }
        }
        Ok(self.unused.settle(self.prunes, |file| file.remove().map_err(|error| format!("cannot be removed: {error}"))))
    }
}

/// Checks that only the output uses a data file that is about to be replaced: another run may have written a model.
fn expect_unused(folder: &Path, data: &Path, output: &Path, is_in_place: bool) -> io::Result<()> {
    let neighbours = Neighbours::of(folder, [data]);
    let is_other = |by: &&Path| {
        // The new files of this run do not have their names yet.
        let is_temporary = by.file_name().is_some_and(is_temporary);
        !is_temporary && (is_in_place || !place::is_same(by, output))
    };
    match neighbours.referring(data).find(is_other) {
        Some(by) => Err(at(data, io::Error::other(format!("{} stores tensors in this file now; use another name", by.display())))),
        None => Ok(()),
    }
}

/// Creates the folders of data files, beneath the output's folder and without following links, in which the files are then created.
fn in_folders(folder: &Path, data: Vec<NewFile>) -> io::Result<Vec<NewFile>> {
    if data.is_empty() {
        return Ok(data);
    }
    files::create_folders(folder).map_err(|error| at(folder, error))?;
    let open = Folder::open(folder).map_err(|error| at(folder, error))?;
    let beneath = |file: NewFile| {
        // The data file of a model is in its folder, with or without a folder in the path.
        let below = file.path.strip_prefix(folder).unwrap_or(&file.path);
        let created = open.create_folders_to(below).map_err(|error| at(&file.path, error))?;
        Ok(NewFile { folder: Some(created), ..file })
    };
    data.into_iter().map(beneath).collect()
}
