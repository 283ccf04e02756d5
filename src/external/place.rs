//! Where a model comes from and goes to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::neighbours::Neighbours;
use super::{Unplaceable, name};
use crate::graph::Model;
use crate::tensor::{BadTensor, Reference, Tensor, is_external};
use crate::wire::{DataFolder, Layout, Piece, Target, folder_of, is_stream};

/// The input and the output of a rewrite.
pub(super) struct Place {
    /// The output; none for a stream.
    pub output: Option<PathBuf>,
    /// The output's folder.
    pub folder: PathBuf,
    /// Whether the output takes the input's place.
    pub is_in_place: bool,
    /// Whether a location means the same file for the output as for the input.
    pub is_same_folder: bool,
    /// Where the locations are looked up.
    pub data: Arc<DataFolder>,
}

impl Place {
    pub fn of(model: &Model, input: &Path, target: &Target) -> Place {
        let output = match target {
            Target::File(path) if !is_stream(path) => Some(path.clone()),
            Target::File(_) | Target::Stdout => None,
        };
        let folder = output.as_deref().map(folder_of).unwrap_or_default();
        let (data, is_same_folder) = match (model.data().path(), &output) {
            (Some(from), Some(_)) => (Arc::clone(model.data()), is_same(from, &folder)),
            (Some(_), None) => (Arc::clone(model.data()), false),
            // The data files of a model out of a pipe have to be where it will stand.
            (None, Some(output)) => (Arc::new(DataFolder::of_model(output)), true),
            (None, None) => (Arc::clone(model.data()), true),
        };
        let is_in_place = model.data().path().is_some() && output.as_ref().is_some_and(|output| is_same(input, output));
        Place { output, folder, is_in_place, is_same_folder, data }
    }

    /// Whether a path is the output's.
    pub fn is_output(&self, path: &Path) -> bool {
        self.output.as_ref().is_some_and(|output| output == path || is_same(output, path))
    }

    /// The file that a tensor's values are in, after a look at whether they are all there.
    pub fn file_of(&self, tensor: &Tensor, reference: &Reference) -> Result<(PathBuf, Bytes), BadTensor> {
        let bytes = reference.bytes(tensor.raw_bytes(), &self.data)?;
        Ok((self.data.open(&reference.location)?.path, bytes))
    }

    /// The data files of the model, to be written at the same locations of the output's folder. None if there are none, or they
    /// need not be written, or something else is there.
    pub fn copies(&self, model: &Model) -> Result<Option<Vec<(PathBuf, Layout)>>, Unplaceable> {
        if self.output.is_none() || self.is_same_folder {
            return Ok(None);
        }
        let mut files = BTreeMap::new();
        for (at, proto) in model.tensors().filter(|(_, proto)| is_external(proto)) {
            let read = || {
                let (tensor, reference) = (Tensor::read(proto)?, Reference::read(proto)?);
                self.file_of(&tensor, &reference)?;
                Ok((self.data.open(&reference.location)?, reference.location))
            };
            let (file, location) = read().map_err(|reason| Unplaceable::Tensor { place: model.tensor_path(at), reason })?;
            let Some(location) = name::normal(&location) else {
                return Ok(None);
            };
            files.insert(location, file.bytes);
        }
        let there = DataFolder::of_model(&self.folder.join("model"));
        let mut copies = Vec::new();
        for (location, bytes) in &files {
            let path = self.folder.join(location);
            let layout = Layout::of_pieces(vec![Piece::Bytes(bytes.clone())]);
            match there.open(&location.to_string_lossy()) {
                Ok(found) if layout.is_content_of(&found.bytes) => {}
                _ if path.symlink_metadata().is_ok() || Some(&path) == self.output.as_ref() => return Ok(None),
                _ => copies.push((path, layout)),
            }
        }
        Ok((!files.is_empty()).then_some(copies))
    }

    /// Data files that only the model in the output's place needs: none of `kept` and not the one that was `made`. Those of an
    /// input that is replaced, and those that this program gave to an earlier output. Never the output, which a model may name as
    /// a data file of its own.
    pub fn left(&self, kept: &BTreeSet<PathBuf>, made: Option<&Path>) -> Vec<PathBuf> {
        let (Some(output), Ok(folder)) = (&self.output, fs::canonicalize(&self.folder)) else {
            return Vec::new();
        };
        let candidates = match self.is_in_place {
            true => self.data.opened(),
            false => {
                let own = name::own_files(output);
                if own.is_empty() {
                    return own;
                }
                let old = Neighbours::only(output);
                let files = own.into_iter().filter(|path| old.referring(path).next().is_some());
                files.filter_map(|path| fs::canonicalize(path).ok()).collect()
            }
        };
        let made = made.and_then(|made| fs::canonicalize(made).ok());
        let is_left = |path: &PathBuf| {
            path.starts_with(&folder) && !kept.contains(path) && made.as_ref() != Some(path) && !self.is_output(path)
        };
        candidates.into_iter().filter(is_left).collect()
    }
}

pub(super) fn is_same(left: &Path, right: &Path) -> bool {
    matches!((fs::canonicalize(left), fs::canonicalize(right)), (Ok(left), Ok(right)) if left == right)
}
