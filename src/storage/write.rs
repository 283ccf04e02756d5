//! Writes the files of a plan.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::image::Image;
use super::interim;
use super::neighbours::Neighbours;
use super::own_data_names::is_same;
use super::plan::SavePlan;
use super::saved::Saved;
use crate::base::parallel;
use crate::base::progress::{Counter, Phase, Unit};
use crate::base::stored::Stored;
use crate::files::folders::{self, Folder};
use crate::files::{
    Before, DataFolder, Inspect, PendingFile, SaveTarget, at, folder_of, is_stream, is_temporary,
    open_with_data, save, save_together,
};
use crate::graph::Model;
use crate::protobuf::WriteProgress;
use crate::protobuf::schema::ModelProto;

/// Opens a model that is written, before its files get their names, and judges it. An error leaves
/// all files as they were.
pub(crate) struct WrittenCheck<'j> {
    /// The model before the changes. The written one shares equal nodes with it.
    pub original: ModelProto,
    /// Fails for a model that must not be written.
    pub accept: Box<Accept<'j>>,
}

type Accept<'j> = dyn FnOnce(&Model) -> io::Result<()> + 'j;

impl SavePlan {
    /// Reports the progress of writing to the callback of the model.
    fn count(&mut self) -> Steps {
        let bytes = self
            .files
            .data
            .iter()
            .map(|file| file.layout.bytes())
            .sum::<u64>()
            + self.model.bytes();
        let counter = Arc::new(self.control.counter(Unit::Bytes, bytes));
        self.files
            .data
            .iter_mut()
            .map(|file| &mut file.layout)
            .chain([&mut self.model])
            .for_each(|layout| layout.count_in(&counter));
        Steps {
            counter,
            files: self.progress().collect(),
        }
    }

    /// Writes the files: data first, then the model, each atomically; if there is a check, only if
    /// it accepts the model.
    ///
    /// # Errors
    /// Any I/O error, with the path, and any error of the check; also if an input changed while it
    /// was read. An existing model is then unchanged.
    pub(crate) fn write_if(mut self, verify: Option<WrittenCheck>) -> io::Result<Saved> {
        let steps = self.count();
        // A stream is verified before it is written.
        let after = match &self.target {
            SaveTarget::File(path) if !is_stream(path) => Phase::Flushing,
            _ => Phase::Writing,
        };
        let verify = verify.map(|check| steps.around(check, after));
        match self.target {
            SaveTarget::File(path) if self.exists_already => {
                if let Some(check) = verify {
                    let (input, data) = open_with_data(&path)?;
                    check.open_and_check(&path, input.bytes, data)?;
                }
            }
            SaveTarget::File(path) if !is_stream(&path) => {
                let mut files = in_folders(&self.folder, self.files.data)?;
                if let Some(replaced) = &self.files.replaced {
                    let is_replaced = |file: &&mut PendingFile| file.path == *replaced;
                    let names = 1 + interim::second_names(&path, replaced).len() as u64;
                    files
                        .iter_mut()
                        .filter(is_replaced)
                        .for_each(|file| file.names = names);
                }
                files.push(PendingFile::replacing(path.clone(), self.model));
                let check = || {
                    self.sources.expect_unchanged()?;
                    self.files
                        .before
                        .iter()
                        .try_for_each(Before::expect_unchanged)?;
                    match &self.files.replaced {
                        Some(data) => expect_unused(&self.folder, data, &path, self.is_in_place),
                        None => Ok(()),
                    }
                };
                let (sources, image) = (Arc::clone(&self.sources), self.image);
                let inspect = verify.map(|check| inspection(sources, image, check));
                save_together(files, self.files.interim, inspect, check)?;
            }
            target => {
                if let (Some(check), Some(image)) = (verify, self.image) {
                    let path = self.folder.join("model.onnx");
                    image.check(&path, &self.sources, [], check)?;
                }
                save(self.model, &target)?;
                self.sources.expect_unchanged()?;
            }
        }
        Ok(self.saved)
    }
}

/// The progress of all files of a plan.
struct Steps {
    counter: Arc<Counter>,
    files: Vec<WriteProgress>,
}

impl Steps {
    fn enter(&self, phase: Phase) {
        self.files.iter().for_each(|file| file.enter(phase));
        self.counter.enter(phase);
    }

    /// The check, whose work is a phase, and the phase after it.
    fn around(self, check: WrittenCheck, after: Phase) -> WrittenCheck {
        let WrittenCheck { original, accept } = check;
        let accept = Box::new(move |model: &Model| {
            self.enter(Phase::Verifying);
            let verdict = accept(model);
            self.enter(after);
            verdict
        });
        WrittenCheck { original, accept }
    }
}

/// Opens the model among new files, or its image, for a check.
fn inspection<'j>(
    sources: Arc<DataFolder>,
    image: Option<Image>,
    check: WrittenCheck<'j>,
) -> Inspect<'j> {
    Box::new(move |mut files| {
        let Some((path, bytes)) = files.pop() else {
            return Ok(());
        };
        if let Some(image) = image {
            return image.check(&path, &sources, files, check);
        }
        let data = sources.with_new_files(&path, files);
        check.open_and_check(&path, bytes.try_to_bytes()?, data)
    })
}

impl Image {
    /// Checks the image of the model that gets this path, among the new files of the run.
    fn check(
        self,
        path: &Path,
        sources: &DataFolder,
        files: impl IntoIterator<Item = (PathBuf, Stored)>,
        check: WrittenCheck,
    ) -> io::Result<()> {
        let computed = (folder_of(path).join(&self.location), self.data);
        let data = sources.with_new_files(path, files.into_iter().chain([computed]));
        check.open_and_check(path, self.model, data)
    }
}

impl WrittenCheck<'_> {
    /// Opens a written model and checks it.
    fn open_and_check(self, path: &Path, bytes: Bytes, data: DataFolder) -> io::Result<()> {
        let damaged = |error: String| {
            at(
                path,
                io::Error::other(format!("the written bytes are not the model: {error}")),
            )
        };
        let proto = ModelProto::from_bytes_with(bytes, &self.original)
            .map_err(|error| damaged(error.to_string()))?;
        drop(self.original);
        let model =
            Model::with_unchecked_tensors(proto).map_err(|error| damaged(error.to_string()))?;
        let model = model.with_data(data).with_path(path.to_owned());
        let verdict = (self.accept)(&model);
        parallel::drop_in_background(model);
        verdict
    }
}

/// Checks that only the output uses a data file that is about to be replaced: another run may have
/// written a model.
fn expect_unused(folder: &Path, data: &Path, output: &Path, is_in_place: bool) -> io::Result<()> {
    let neighbours = Neighbours::of(folder, [data]);
    let is_other = |by: &&Path| {
        // The new files of this run do not have their names yet.
        let is_temporary = by.file_name().is_some_and(is_temporary);
        !is_temporary && (is_in_place || !is_same(by, output))
    };
    match neighbours.referring(data).find(is_other) {
        Some(by) => Err(at(
            data,
            io::Error::other(format!(
                "{} stores tensors in this file now; use another name",
                by.display()
            )),
        )),
        None => Ok(()),
    }
}

/// Creates the folders of data files, beneath the output's folder and without following links, in
/// which the files are then created.
fn in_folders(folder: &Path, data: Vec<PendingFile>) -> io::Result<Vec<PendingFile>> {
    if data.is_empty() {
        return Ok(data);
    }
    folders::create_folders(folder).map_err(|error| at(folder, error))?;
    let open = Folder::open(folder).map_err(|error| at(folder, error))?;
    let beneath = |file: PendingFile| {
        // The data file of a model is in its folder, with or without a folder in the path.
        let below = file.path.strip_prefix(folder).unwrap_or(&file.path);
        let created = open
            .create_folders_to(below)
            .map_err(|error| at(&file.path, error))?;
        Ok(PendingFile {
            folder: Some(created),
            ..file
        })
    };
    data.into_iter().map(beneath).collect()
}
