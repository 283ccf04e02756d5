//! The paths of a rewrite: its input, its output, and the data files of both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::options::Placement;
use super::own_data_names::{self, is_same};
use super::saved::UnusedFile;
use super::unplaceable::Unplaceable;
use super::unused::{left_over, unused_files};
use super::{accepted_name, neighbours};
use crate::base::error::shortened;
use crate::base::stored::Stored;
use crate::files::folders::{self, EntryKind, FileId, Folder};
use crate::files::{
    BadLocation, Before, DataFolder, PendingFile, SaveTarget, folder_of, is_stream,
};
use crate::graph::{Model, TensorPlace};
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{Layout, Piece};
use crate::tensor::{BadTensor, Reference, Tensor, is_external};

/// The data files of a model at the same locations of the output's folder.
#[derive(Default)]
pub(super) struct Copies {
    /// The files to be written.
    pub files: Vec<PendingFile>,
    /// The files that exist already.
    pub there: Vec<Before>,
}

/// The input and the output of a rewrite.
pub(super) struct RewritePaths {
    /// The output; none for a stream.
    pub output: Option<PathBuf>,
    /// The output's folder.
    pub folder: PathBuf,
    /// Whether the output replaces the input.
    pub is_in_place: bool,
    /// Whether a location refers to the same file in the output as in the input.
    pub is_same_folder: bool,
    /// The folder in which locations are looked up.
    pub data: Arc<DataFolder>,
}

impl RewritePaths {
    pub fn of(
        model: &Model,
        input: &Path,
        target: &SaveTarget,
        placement: &Placement,
    ) -> RewritePaths {
        let output = match target {
            SaveTarget::File(path) if !is_stream(path) => Some(path.clone()),
            SaveTarget::File(_) | SaveTarget::Stdout => None,
        };
        let folder = output.as_deref().map(folder_of).unwrap_or_default();
        let (data, is_same_folder) = match (model.data().path(), &output) {
            (Some(from), Some(_)) => (Arc::clone(model.data()), is_same(from, &folder)),
            (Some(_), None) => (Arc::clone(model.data()), false),
            // The data files of a model from a stream must be in the output's folder if they stay
            // in use. Their values are not read: the folder may have other files of these names.
            (None, Some(output)) if *placement == Placement::Keep => {
                (Arc::new(DataFolder::of_model(output)), true)
            }
            (None, _) => (Arc::clone(model.data()), true),
        };
        let is_in_place = model.data().path().is_some()
            && output.as_ref().is_some_and(|output| is_same(input, output));
        RewritePaths {
            output,
            folder,
            is_in_place,
            is_same_folder,
            data,
        }
    }

    /// Whether a path is the output's.
    pub fn is_output(&self, path: &Path) -> bool {
        self.output
            .as_ref()
            .is_some_and(|output| output == path || is_same(output, path))
    }

    /// The path to which the output is a link, if its folder is another one: a data file beside the
    /// link is not beside the model then.
    pub fn linked_output(&self) -> Option<PathBuf> {
        let output = folders::resolve(self.output.as_deref()?).ok()?;
        (folders::resolve(&self.folder).ok()? != folder_of(&output)).then_some(output)
    }

    /// The location of a tensor's values, the path of the data file at this location, and the
    /// values, after a check that the file contains all of them.
    pub fn external(
        &self,
        model: &Model,
        at: TensorPlace,
        proto: &TensorProto,
    ) -> Result<(String, PathBuf, Stored), Unplaceable> {
        let read = || {
            let (tensor, reference) = (Tensor::read(proto)?, Reference::read(proto)?);
            let bytes = reference.bytes(tensor.raw_bytes(), &self.data)?;
            let path = self.data.open(&reference.location)?.path;
            Ok((reference.location, path, bytes))
        };
        read().map_err(|reason: BadTensor| Unplaceable::Tensor {
            place: model.tensor_path(at),
            reason,
        })
    }

    /// The data files of the model at the same locations of the output's folder: to be written, or
    /// existing. None if a location is not a relative path beneath the folder, or is that of
    /// another file.
    ///
    /// # Errors
    /// If a data file cannot be read, or has a name that [`accepted_name`](super::accepted_name)
    /// does not accept.
    pub fn copies(&self, model: &Model) -> Result<Option<Copies>, Unplaceable> {
        let mut locations = BTreeMap::new();
        for (at, proto) in model.tensors().filter(|(_, proto)| is_external(proto)) {
            let (location, _, _) = self.external(model, at, proto)?;
            let Some(below) = own_data_names::path_below(&location) else {
                return Ok(None);
            };
            locations.insert(below, location);
        }
        let there = DataFolder::of_model(&self.folder.join("model"));
        let folder = Folder::open(&self.folder).ok();
        let mut copies = Copies::default();
        for (below, location) in locations {
            let unreadable = |reason: BadLocation| Unplaceable::Tensor {
                place: "model".to_owned(),
                reason: reason.into(),
            };
            let (bytes, from) = (
                self.data.open(&location).map_err(unreadable)?.bytes,
                self.data.locate(&location).map_err(unreadable)?,
            );
            let path = self.folder.join(&below);
            let layout = Layout::of_pieces(vec![Piece::Bytes(bytes)]);
            let before = Before::of(&path).ok();
            let found = folder
                .as_ref()
                .map_or(Ok(None), |folder| folder.stat(&below));
            match found {
                Ok(Some(found))
                    if found.kind == EntryKind::File
                        && there
                            .open(&location)
                            .is_ok_and(|file| layout.is_content_of(&file.bytes)) =>
                {
                    copies.there.extend(before);
                }
                Ok(Some(_)) => return Ok(None),
                Ok(None) if Some(&path) == self.output.as_ref() => return Ok(None),
                Ok(None) => {
                    if let Some(why) = accepted_name::problem(&below) {
                        return Err(Unplaceable::UnsafeCopy {
                            location: shortened(&location).into_owned(),
                            why: why.to_owned(),
                        });
                    }
                    let mode = cfg!(unix).then_some(from.stat.mode & 0o777);
                    copies.files.push(PendingFile {
                        mode,
                        ..PendingFile::new(path, layout)
                    });
                }
                Err(error) => {
                    let why = format!(
                        "the path contains a link or a file of the output's folder ({error})"
                    );
                    return Err(Unplaceable::UnsafeCopy {
                        location: shortened(&location).into_owned(),
                        why,
                    });
                }
            }
        }
        Ok(Some(copies))
    }

    /// The data files to which the output's old model referred and the new one does not: those of
    /// an input that is replaced, or those that this program made for an earlier output; not the
    /// files in `kept`, not the file `made`, and not the output itself, which a model may name as
    /// its own data file.
    pub fn unused(
        &self,
        model: &Model,
        kept: &BTreeSet<PathBuf>,
        made: Option<&Path>,
    ) -> Vec<UnusedFile> {
        let Some(output) = &self.output else {
            return Vec::new();
        };
        let made = made.and_then(|made| folders::resolve(made).ok());
        let is_used = |path: &Path| {
            kept.contains(path) || made.as_deref() == Some(path) || self.is_output(path)
        };
        let own: Vec<PathBuf> = own_data_names::own_files(output)
            .iter()
            .filter_map(|path| folders::resolve(path).ok())
            .collect();
        let mut unused = if self.is_in_place {
            unused_files(model.original_data_ranges(), &self.data, is_used)
        } else {
            // The old model is read only if it may have such files, since it takes as much memory
            // as the new one.
            let old = if own.is_empty() {
                None
            } else {
                neighbours::data_ranges(output)
            };
            let is_kept = |path: &Path| is_used(path) || !own.iter().any(|own| own == path);
            old.map_or_else(Vec::new, |old| {
                unused_files(&old, &DataFolder::of_model(output), is_kept)
            })
        };
        if folders::stat_target(output).is_ok() {
            let is_listed = |path: &Path| unused.iter().any(|file| file.path == path);
            let others: Vec<&PathBuf> = own
                .iter()
                .filter(|path| !is_used(path) && !is_listed(path))
                .collect();
            unused.extend(left_over(&others, output));
        }
        unused
    }

    /// The files in which the model stores tensors.
    pub fn data_ids(&self, model: &Model) -> BTreeSet<FileId> {
        let now = model.data_ranges();
        let locations: BTreeSet<&String> = model
            .original_data_ranges()
            .keys()
            .chain(now.keys())
            .collect();
        locations
            .into_iter()
            .filter_map(|location| self.data.locate(location).ok()?.stat.id)
            .collect()
    }
}
