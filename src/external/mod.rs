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
//!   to: new data gets a new name, then the model is replaced.
//! - Nothing is deleted unless [`Options::prune_data`] asks for it, and then only what is shown to be data of the replaced model alone.
//! - A data file is copied along only under a name that means nothing else.

mod arrange;
mod data_name;
mod interim;
mod name;
mod neighbours;
mod place;
mod sort;
mod unused;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{self, Classified, ErrorKind};
use crate::files::{self, FileId, Folder, id_of};
use crate::graph::{Edit, Model, Refused, TensorPlace};
use crate::parallel;
use crate::tensor::{BadTensor, Reference, is_external, moved_to_file, moved_to_model};
use crate::wire::schema::TensorProto;
use crate::wire::{
    Before, DataFolder, Interim, LARGEST_MESSAGE, Layout, NewFile, Piece, Progress, Target, at, check_replaceable, is_stream,
    is_temporary, lost_owner, save, save_together,
};
use arrange::arrange;
use neighbours::Neighbours;
use place::Place;
use unused::Unused;
pub use unused::{OldFiles, UnusedFile};

/// Where the values of tensors go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Whether data files that the model was the only one to use are removed.
    pub prune_data: bool,
}

impl Default for Options {
    /// As onnx's own tools have it.
    fn default() -> Options {
        Options { placement: Placement::Keep, threshold: 1024, prune_data: false }
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
    #[error("external data cannot be written to a stream")]
    Stream,
    /// A data file is wanted, and the output has no folder.
    #[error("a data file cannot be written to a stream")]
    FileOfStream,
    /// The model file would be too large.
    #[error("the model file would have {0} bytes, more than protobuf's 2 GiB")]
    TooLarge(u64),
    /// The name of a data file leads out of the folder.
    #[error("data file '{0}': is not a path of a data file inside the output's folder")]
    BadName(String),
    /// The name of a data file is that of the model.
    #[error("data file '{0}': is the output file; the model and its data are two files")]
    SameFile(String),
    /// A data file has a name under which no file is created.
    #[error("data file '{location}': {why}; it is not copied to the output's folder")]
    UnsafeCopy {
        /// What the model says.
        location: String,
        /// What is wrong with it.
        why: String,
    },
    /// The new data file would take the place of a model.
    #[error("data file '{0}': is a model")]
    OverModel(String),
    /// The new data file would take the place of one that is needed.
    #[error("data file '{name}': {} keeps tensors in this file", .by.display())]
    InUse {
        /// The data file.
        name: String,
        /// A model that refers to it.
        by: PathBuf,
    },
    /// The output would take the place of a data file of the model.
    #[error("{}: the model keeps tensors in this file", .0.display())]
    OverData(PathBuf),
    /// The output cannot be replaced, see [`check_replaceable`], or cannot be looked at.
    #[error("{0}")]
    Output(String),
    /// The model cannot be changed.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Classified for Unplaceable {
    fn kind(&self) -> ErrorKind {
        match self {
            Unplaceable::Tensor { reason, .. } => reason.kind(),
            Unplaceable::Refused(_) => ErrorKind::Internal,
            _ => ErrorKind::BadOutput,
        }
    }

    fn place(&self) -> Option<error::Place> {
        match self {
            Unplaceable::Tensor { place, .. } => Some(error::Place::Path(place.clone())),
            _ => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Unplaceable::Tensor { reason, .. } => reason.to_string(),
            _ => self.to_string(),
        }
    }
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
    data: Vec<NewFile>,
    /// How many of them are copies.
    copies: usize,
    /// The data file that the output's new values are in, whether it has to be written or is there already.
    data_file: Option<DataFile>,
    /// The files that the input keeps tensors in.
    data_ids: BTreeSet<FileId>,
    /// Data files that the model in the target's place refers to, and the new one does not.
    unused: Unused,
    prunes: bool,
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
        let place = Place::of(&model, input, target);
        if let Placement::File(name) = &options.placement {
            name::check(name, &place)?;
        }
        let data_ids = place.data_ids(&model);
        check_output(&place, &data_ids)?;
        let lost_owner = place.output.as_deref().and_then(lost_owner_note);
        let is_unchanged = model.proto().source().is_some();
        let mut plan = Plan {
            target: target.clone(),
            folder: place.folder.clone(),
            sources: Arc::clone(&place.data),
            model: Layout::default(),
            data: Vec::new(),
            copies: 0,
            data_file: None,
            data_ids,
            unused: Unused::default(),
            prunes: options.prune_data,
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
        let sorted = sort::sort(&model, &place, options)?;
        // The same tensors at the same places: their files are copied, and the model stays as it is.
        if options.placement == Placement::Keep
            && !sorted.to_file.is_empty()
            && sorted.note.is_none()
            && sorted.to_file.iter().all(|(_, tensor, _)| is_external(tensor))
            && (is_unchanged || model.data_ranges() == **model.original_data_ranges())
            && let Some(copies) = place.copies(&model)?
        {
            plan.before.extend(copies.there);
            (plan.model, plan.copies, plan.data) = (Layout::of(model.proto()), copies.files.len(), copies.files);
            plan.notes.extend(lost_owner);
            return Ok(plan);
        }
        plan.is_there = is_unchanged && sorted.to_model.is_empty() && sorted.to_file.is_empty() && place.is_in_place;
        plan.notes.extend(lost_owner.filter(|_| !plan.is_there));
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
            let is_there = chosen.there.is_some();
            plan.before.extend(chosen.there);
            if !is_there {
                if let (Some(output), Placement::File(name), true) =
                    (&place.output, &options.placement, files::stat_target(&chosen.path).is_ok())
                {
                    plan.interim = interim::of(output, &chosen.path, name)?;
                    let left = plan.interim.as_ref().filter(|interim| files::stat_target(&interim.second).is_ok());
                    let note =
                        |left: &Interim| format!("{}: a second name that an interrupted run left; removed", left.second.display());
                    plan.notes.extend(left.map(note));
                    plan.notes.extend(lost_owner_note(&chosen.path));
                    plan.replaced = Some(chosen.path.clone());
                    plan.data.push(NewFile::replacing(chosen.path, layout));
                } else {
                    plan.data.push(NewFile::new(chosen.path, layout));
                }
            }
        }
        plan.unused = place.unused(&model, &sorted.kept, plan.data_file.as_ref().map(|file| file.path.as_path()));
        let edits = tensors.into_iter().map(|(place, with)| Edit::ReplaceTensor { place, with }).collect();
        // The index is freed before the model is laid out.
        let proto = model.apply(edits)?.into_proto();
        plan.model = Layout::of(&proto);
        parallel::drop_later(proto);
        if plan.bytes() > LARGEST_MESSAGE {
            return Err(Unplaceable::TooLarge(plan.bytes()));
        }
        Ok(plan)
    }

    /// The paths of all files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let model = match &self.target {
            Target::File(path) => Some(path.as_path()),
            Target::Stdout => None,
        };
        self.data.iter().map(|file| file.path.as_path()).chain(model)
    }

    /// The length of the model file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.model.bytes()
    }

    /// How much of each file is written, from now on.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        let layouts = self.data.iter().map(|file| &file.layout).chain([&self.model]);
        layouts.filter(|_| !self.is_there).map(Layout::progress)
    }

    /// Where the model goes.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The data file that was made for the model.
    #[must_use]
    pub fn data_file(&self) -> Option<&DataFile> {
        self.data_file.as_ref()
    }

    /// The data files that are copied along with the model.
    #[must_use]
    pub fn copied_files(&self) -> Vec<DataFile> {
        self.data[..self.copies].iter().map(|file| DataFile { path: file.path.clone(), bytes: file.layout.bytes() }).collect()
    }

    /// Whether another model keeps tensors in the file that this plan replaces.
    #[must_use]
    pub fn is_over_data_of(&self, other: &Plan) -> bool {
        let Target::File(path) = &self.target else { return false };
        id_of(path).is_some_and(|id| other.data_ids.contains(&id))
    }

    /// What would become of the data files that the model no longer uses, without a change to any file.
    #[must_use]
    pub fn preview(self) -> OldFiles {
        self.unused.settle(self.prunes, |_| Ok(()))
    }

    /// Writes the files: data first, then the model, each in one step. Then what becomes of the data files that the model no longer
    /// uses is settled.
    ///
    /// # Errors
    /// Those of the operating system, with the path; also if an input changed while it was read. The model that was there, if any, is
    /// then as it was.
    pub fn write(self) -> io::Result<OldFiles> {
        let _locks;
        match self.target {
            _ if self.is_there => return Ok(OldFiles::default()),
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
                // No other run may begin to use an old data file while it is removed.
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

/// Says that a file that is replaced belongs to another user, if the new file will not.
fn lost_owner_note(path: &Path) -> Option<String> {
    let owner = lost_owner(path)?;
    Some(format!("{}: belongs to user {owner}; the new file belongs to the user who runs recast", path.display()))
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

/// Creates the folders of data files, beneath the output's folder and through no link, in which the files are then created.
fn in_folders(folder: &Path, data: Vec<NewFile>) -> io::Result<Vec<NewFile>> {
    if data.is_empty() {
        return Ok(data);
    }
    files::create_folders(folder).map_err(|error| at(folder, error))?;
    let open = Folder::open(folder).map_err(|error| at(folder, error))?;
    let beneath = |file: NewFile| {
        // The data file of a model is beside it, with or without a folder in the path.
        let below = file.path.strip_prefix(folder).unwrap_or(&file.path);
        let created = open.create_folders_to(below).map_err(|error| at(&file.path, error))?;
        Ok(NewFile { folder: Some(created), ..file })
    };
    data.into_iter().map(beneath).collect()
}

/// Checks that the output is not a file that must not be replaced.
fn check_output(place: &Place, data_ids: &BTreeSet<FileId>) -> Result<(), Unplaceable> {
    let Some(output) = &place.output else {
        return Ok(());
    };
    if !place.is_in_place && id_of(output).is_some_and(|id| data_ids.contains(&id)) {
        return Err(Unplaceable::OverData(output.clone()));
    }
    check_replaceable(output).map_err(|error| Unplaceable::Output(format!("{}: {error}", output.display())))
}

#[cfg(test)]
mod tests;
