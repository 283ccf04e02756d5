//! Where the values of a model's tensors go when it is written: into the model file, or into a data file beside it.
//!
//! [`Plan::new`] is the one way from a [`Model`] to files. The rules:
//!
//! - [`Placement::Keep`]: every tensor stays where it is. What was computed from a data file goes into a new one; so does every
//!   external tensor if the output stands in another folder. A model that nothing has changed takes its data files along as they are.
//! - [`Placement::Inline`]: all values go into the model file.
//! - [`Placement::File`]: the values of all initializers from a size on go into one new file, all others into the model.
//! - A model that would pass protobuf's 2 GiB gets a data file in any case, unless that is forbidden.
//! - A new data file holds the values of the model it is written for, and nothing else. No file is changed that some model may refer
//!   to: new data gets a new name, then the model is replaced, and only then go the data files that nothing refers to any more.

mod arrange;
mod interim;
mod name;
mod neighbours;
mod place;
mod sort;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::graph::{Edit, Model, Refused, TensorPlace};
use crate::tensor::{BadTensor, Reference, moved_to_file, moved_to_model};
use crate::wire::schema::TensorProto;
use crate::wire::{
    Before, DataFolder, Interim, LARGEST_MESSAGE, Layout, NewFile, Piece, Progress, Target, at, is_stream, is_temporary, save,
    save_together,
};
use arrange::arrange;
use neighbours::Neighbours;
use place::Place;

/// Where the values of tensors go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// Where they are.
    #[default]
    Keep,
    /// Into the model file.
    Inline,
    /// Into the file of this path, relative to the model's folder.
    File(String),
}

/// What the user wants of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where values go.
    pub placement: Placement,
    /// Tensors of fewer bytes than this are not moved to a data file.
    pub threshold: u64,
}

impl Default for Options {
    /// As onnx's own tools have it.
    fn default() -> Options {
        Options { placement: Placement::Keep, threshold: 1024 }
    }
}

/// Why a model cannot be written as it should be.
#[derive(Debug, thiserror::Error)]
pub enum Unplaceable {
    /// The values of an external tensor cannot be read.
    #[error("{place}: {reason}")]
    Tensor {
        /// The tensor's path.
        place: String,
        /// What is wrong.
        reason: BadTensor,
    },
    /// The model has data files, and the output no folder.
    #[error("the model's data files cannot follow it into a pipe; use --external-data inline, or -o FILE")]
    Stream,
    /// A data file is wanted, and the output has no folder.
    #[error("a data file cannot follow a model into a pipe; use -o FILE")]
    FileOfStream,
    /// The model file would be too large.
    #[error("the model file would have {0} bytes, more than protobuf's 2 GiB; use -o FILE --external-data DATA_FILE")]
    TooLarge(u64),
    /// The name of a data file leads out of the folder.
    #[error("--external-data '{0}': is no path of a data file inside the output's folder")]
    BadName(String),
    /// The new data file would take the place of a model.
    #[error("--external-data '{0}': is a model; use another name")]
    OverModel(String),
    /// The new data file would take the place of one that is needed.
    #[error("--external-data '{name}': {} keeps tensors in this file; use another name", .by.display())]
    InUse {
        /// The data file.
        name: String,
        /// A model that refers to it.
        by: PathBuf,
    },
    /// The output would take the place of a data file of the model.
    #[error("{}: the model keeps tensors in this file; use another output", .0.display())]
    OverData(PathBuf),
    /// The output, or the folder that it is in, cannot be looked at.
    #[error("{0}")]
    Output(String),
    /// The model cannot be changed.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// The files that a model will consist of; nothing is written yet.
#[derive(Debug)]
pub struct Plan {
    target: Target,
    folder: PathBuf,
    /// The files that the model was read from.
    sources: Arc<DataFolder>,
    model: Layout,
    /// Data files to be written.
    data: Vec<(PathBuf, Layout)>,
    /// The data file that the output's new values are in, whether it has to be written or is there already.
    data_file: Option<DataFile>,
    /// Data files that the model in the target's place refers to, and the new one does not.
    left: Vec<PathBuf>,
    is_there: bool,
    is_in_place: bool,
    /// What was there when the plan was made, and must be there still when it is carried out.
    before: Vec<Before>,
    /// The data file of a name that the user chose, if there is a file of this name.
    replaced: Option<PathBuf>,
    /// The old model while its data file is replaced.
    interim: Option<Interim>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// A data file that was made for an output.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct DataFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

impl Plan {
    /// Decides where every tensor of `model`, which was read from `input`, goes. `input` is `-` for standard input.
    ///
    /// # Errors
    /// Where a data file cannot be read or may not be written, or the model would be too large for the file it should be in.
    pub fn new(model: Model, input: &Path, target: &Target, options: &Options) -> Result<Plan, Unplaceable> {
        if let Placement::File(name) = &options.placement {
            name::location(name)?;
        }
        let place = Place::of(&model, input, target);
        let is_unchanged = model.proto().source().is_some();
        let mut plan = Plan {
            target: target.clone(),
            folder: place.folder.clone(),
            sources: Arc::clone(&place.data),
            model: Layout::default(),
            data: Vec::new(),
            data_file: None,
            left: Vec::new(),
            is_there: false,
            is_in_place: place.is_in_place,
            before: Vec::new(),
            replaced: None,
            interim: None,
            notes: Vec::new(),
        };
        if let Some(output) = place.output.as_ref().filter(|_| place.is_in_place) {
            plan.before.push(before(output)?);
        }
        if let (Some(output), Placement::File(name)) = (&place.output, &options.placement) {
            let data = before(&place.folder.join(name::location(name)?))?;
            if data.exists() && !place.is_in_place {
                plan.before.push(before(output)?);
            }
            plan.before.push(data);
        }
        if is_unchanged
            && options.placement == Placement::Keep
            && let Some(copies) = place.copies(&model)?
        {
            (plan.model, plan.data) = (Layout::of(model.proto()), copies);
            return Ok(plan);
        }
        let sorted = sort::sort(&model, &place, options)?;
        plan.is_there = is_unchanged && sorted.to_model.is_empty() && sorted.to_file.is_empty() && place.is_in_place;
        let to_model = sorted.to_model.iter().map(|(at, tensor, bytes)| (*at, moved_to_model(tensor, bytes.clone())));
        let mut tensors: Vec<(TensorPlace, TensorProto)> = to_model.collect();
        if !sorted.to_file.is_empty() {
            let pieces: Vec<&Piece> = sorted.to_file.iter().map(|(_, _, piece)| piece).collect();
            let (layout, ranges) = arrange(&pieces, &place.data);
            let chosen = name::choose(&layout, &place, options)?;
            let to_file = sorted.to_file.iter().zip(ranges).map(|((at, tensor, _), range)| {
                let reference =
                    Reference { location: chosen.location.clone(), offset: range.start, length: Some(range.end - range.start) };
                (*at, moved_to_file(tensor, &reference))
            });
            tensors.extend(to_file);
            plan.notes.extend(sorted.note.map(|note| format!("{note}; tensors go to {}", chosen.path.display())));
            plan.data_file = Some(DataFile { path: chosen.path.clone(), bytes: layout.bytes() });
            if !chosen.is_there {
                if let (Some(output), Placement::File(name), true) = (&place.output, &options.placement, chosen.path.exists()) {
                    plan.interim = interim::of(output, &chosen.path, name)?;
                    let left = plan.interim.as_ref().filter(|interim| interim.second.exists());
                    let note =
                        |left: &Interim| format!("{}: a second name that an interrupted run left; removed", left.second.display());
                    plan.notes.extend(left.map(note));
                    plan.replaced = Some(chosen.path.clone());
                }
                plan.data.push((chosen.path, layout));
            }
        }
        plan.left = place.left(&sorted.kept, plan.data_file.as_ref().map(|file| file.path.as_path()));
        let edits = tensors.into_iter().map(|(place, with)| Edit::ReplaceTensor { place, with }).collect();
        plan.model = Layout::of(model.apply(edits)?.proto());
        if plan.bytes() > LARGEST_MESSAGE {
            return Err(Unplaceable::TooLarge(plan.bytes()));
        }
        Ok(plan)
    }

    /// Where the model goes.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The paths of all files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let model = match &self.target {
            Target::File(path) => Some(path.as_path()),
            Target::Stdout => None,
        };
        self.data.iter().map(|(path, _)| path.as_path()).chain(model)
    }

    /// The length of the model file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.model.bytes()
    }

    /// How much of each file is written, from now on.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        let layouts = self.data.iter().map(|(_, layout)| layout).chain([&self.model]);
        layouts.filter(|_| !self.is_there).map(Layout::progress)
    }

    /// The data file that was made for the model.
    #[must_use]
    pub fn data_file(&self) -> Option<&DataFile> {
        self.data_file.as_ref()
    }

    /// Writes the files: data first, then the model, each in one step. Then data files go that the model was the last to refer to;
    /// returns their paths.
    ///
    /// # Errors
    /// Those of the operating system, with the path. The model that was there, if any, is then as it was.
    pub fn write(self) -> io::Result<Vec<PathBuf>> {
        match self.target {
            _ if self.is_there => return Ok(Vec::new()),
            Target::File(path) if !is_stream(&path) => {
                for folder in self.data.iter().filter_map(|(path, _)| path.parent()).filter(|folder| *folder != Path::new("")) {
                    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
                }
                let replaced = self.replaced.as_deref();
                let second_names = |data: &Path| interim::second_names(&path, data).len() as u64;
                let data = self.data.into_iter().map(|(path, layout)| {
                    let (is_new, names) = (replaced != Some(path.as_path()), 1 + second_names(&path));
                    NewFile { path, layout, mode: None, is_new, names }
                });
                let mut files: Vec<NewFile> = data.collect();
                files.push(NewFile::replacing(path.clone(), self.model));
                let check = || {
                    self.sources.expect_unchanged()?;
                    self.before.iter().try_for_each(Before::expect_unchanged)?;
                    replaced.map_or(Ok(()), |data| expect_unused(&self.folder, data, &path, self.is_in_place))
                };
                save_together(files, self.interim, check)?;
            }
            target => {
                save(self.model, &target)?;
                self.sources.expect_unchanged()?;
            }
        }
        if self.left.is_empty() {
            return Ok(self.left);
        }
        let neighbours = Neighbours::of(&self.folder, self.left.iter().map(PathBuf::as_path));
        let is_removed = |path: &PathBuf| neighbours.referring(path).next().is_none() && fs::remove_file(path).is_ok();
        Ok(self.left.into_iter().filter(is_removed).collect())
    }
}

/// What is at a path now.
fn before(path: &Path) -> Result<Before, Unplaceable> {
    Before::of(path).map_err(|error| Unplaceable::Output(format!("{}: {error}", path.display())))
}

/// Checks that no model but the output uses a data file that is about to be replaced: another run may have written one.
fn expect_unused(folder: &Path, data: &Path, output: &Path, is_in_place: bool) -> io::Result<()> {
    let neighbours = Neighbours::of(folder, [data]);
    let is_other = |by: &&Path| {
        // The new files of this run do not have their names yet.
        let is_temporary = by.file_name().is_some_and(is_temporary);
        !is_temporary && (is_in_place || !place::is_same(by, output))
    };
    match neighbours.referring(data).find(is_other) {
        Some(by) => Err(at(data, io::Error::other(format!("{} keeps tensors in this file now; use another name", by.display())))),
        None => Ok(()),
    }
}
