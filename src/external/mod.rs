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
mod name;
mod neighbours;
mod place;
mod sort;
mod unused;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Classified, ErrorKind};
use crate::files::{FileId, Folder, id_of};
use crate::graph::{Edit, Model, Refused, TensorPlace};
use crate::tensor::{BadTensor, Reference, is_external, moved_to_file, moved_to_model};
use crate::wire::schema::TensorProto;
use crate::wire::{DataFolder, LARGEST_MESSAGE, Layout, NewFile, Piece, Progress, Target, at, is_stream, save, save_together};
use arrange::arrange;
use place::Place;
use unused::Unused;
pub use unused::{OldFiles, UnusedFile};

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
    #[error("the model's data files cannot follow it into a pipe; use --external-data inline, or -o FILE")]
    Stream,
    /// A data file is wanted, and the output has no folder.
    #[error("a data file cannot follow a model into a pipe; use -o FILE")]
    FileOfStream,
    /// The model file would be too large.
    #[error("the model file would have {0} bytes, more than protobuf's 2 GiB; use -o FILE --external-data DATA_FILE")]
    TooLarge(u64),
    /// The name of a data file leads out of the folder.
    #[error("--external-data '{0}': is not a path of a data file inside the output's folder")]
    BadName(String),
    /// The name of a data file is that of the model.
    #[error("--external-data '{0}': is the output file; the model and its data are two files, use another name")]
    SameFile(String),
    /// A data file has a name under which no file is created.
    #[error("data file '{location}': {why}; it is not copied to the output's folder, use --external-data inline or FILE")]
    UnsafeCopy {
        /// What the model says.
        location: String,
        /// What is wrong with it.
        why: String,
    },
    /// The output is a link that leads to nothing.
    #[error("{}: is a link to a file that does not exist; remove the link, or give the path of the file", .0.display())]
    Dangling(PathBuf),
    /// The output is a link to a file that is named by a hash of its content.
    #[error("{}: is a link to {}, which is named by the hash of its content and may be shared; use another output", link.display(), target.display())]
    Hashed {
        /// The output.
        link: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
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

    fn place(&self) -> Option<String> {
        match self {
            Unplaceable::Tensor { place, .. } => Some(place.clone()),
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
        let data_ids = place.data_ids(&model);
        let notes = check_output(&place, &data_ids)?;
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
            notes,
        };
        let sorted = sort::sort(&model, &place, options)?;
        // The same tensors at the same places: their files are copied, and the model stays as it is.
        if options.placement == Placement::Keep
            && !sorted.to_file.is_empty()
            && sorted.note.is_none()
            && sorted.to_file.iter().all(|(_, tensor, _)| is_external(tensor))
            && (is_unchanged || model.data_ranges() == **model.original_data_ranges())
            && let Some(copies) = place.copies(&model)?
        {
            (plan.model, plan.copies, plan.data) = (Layout::of(model.proto()), copies.len(), copies);
            return Ok(plan);
        }
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
                plan.data.push(NewFile { path: chosen.path, layout, mode: None });
            }
        }
        plan.unused = place.unused(&model, &sorted.kept, plan.data_file.as_ref().map(|file| file.path.as_path()));
        let edits = tensors.into_iter().map(|(place, with)| Edit::ReplaceTensor { place, with }).collect();
        plan.model = Layout::of(model.apply(edits)?.proto());
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
        match self.target {
            _ if self.is_there => return Ok(OldFiles::default()),
            Target::File(path) if !is_stream(&path) => {
                create_folders(&self.folder, &self.data)?;
                let mut files = self.data;
                files.push(NewFile { path, layout: self.model, mode: None });
                save_together(files, &|| self.sources.expect_unchanged())?;
            }
            target => {
                let path = if let Target::File(path) = &target { path } else { Path::new("-") };
                save(&self.model, &target).map_err(|error| at(path, error))?;
                self.sources.expect_unchanged()?;
            }
        }
        Ok(self.unused.settle(self.prunes, |file| file.remove().map_err(|error| format!("cannot be removed: {error}"))))
    }
}

/// Creates the folders of data files, beneath the output's folder and through no link.
fn create_folders(folder: &Path, data: &[NewFile]) -> io::Result<()> {
    if data.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(folder).map_err(|error| at(folder, error))?;
    let open = Folder::open(folder).map_err(|error| at(folder, error))?;
    for path in data.iter().map(|file| &file.path) {
        // The data file of a model is beside it, with or without a folder in the path.
        let below = path.strip_prefix(folder).unwrap_or(path);
        open.create_folders_to(below).map_err(|error| at(path, error))?;
    }
    Ok(())
}

/// Checks that the output is not a file that must not be replaced. Returns what the user should know of it.
fn check_output(place: &Place, data_ids: &BTreeSet<FileId>) -> Result<Vec<String>, Unplaceable> {
    let Some(output) = &place.output else {
        return Ok(Vec::new());
    };
    if output.is_symlink() {
        let target = fs::canonicalize(output).map_err(|_| Unplaceable::Dangling(output.clone()))?;
        if is_named_by_hash(&target) {
            return Err(Unplaceable::Hashed { link: output.clone(), target });
        }
    }
    if !place.is_in_place && id_of(output).is_some_and(|id| data_ids.contains(&id)) {
        return Err(Unplaceable::OverData(output.clone()));
    }
    let has_other_names = fs::metadata(output).is_ok_and(|found| links(&found) > 1);
    let note = || format!("{} has other names (hard links), which keep the old content", output.display());
    Ok(has_other_names.then(note).into_iter().collect())
}

/// Whether a file belongs to a store that names files by their content: such names hold a long run of hexadecimal digits.
fn is_named_by_hash(path: &Path) -> bool {
    let is_hash = |name: &str| name.split(|c: char| !c.is_ascii_hexdigit()).any(|run| run.len() >= SHORTEST_HASH);
    path.file_name().is_some_and(|name| is_hash(&name.to_string_lossy()))
}

/// Hexadecimal digits of MD5, but for two that may be a folder's name.
const SHORTEST_HASH: usize = 30;

#[cfg(unix)]
fn links(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found).max(1)
}

#[cfg(not(unix))]
fn links(_found: &fs::Metadata) -> u64 {
    1
}
