//! Which models refer to a data file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::graph::Model;
use crate::tensor::{Reference, is_external};
use crate::wire::schema::ModelProto;
use crate::wire::{self, DataFolder, folder_of};

/// The models of `folder` and of the data file's own folder that refer to the data file. A file that is called a model and cannot be
/// read counts: it may refer to anything.
pub(super) fn referring(data: &Path, folder: &Path) -> Vec<PathBuf> {
    let folders = BTreeSet::from([folder.to_owned(), folder_of(data)]);
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let files: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.into_iter().filter(|file| refers(file, data)).collect()
}

/// Whether a file is a model that refers to a data file.
pub(super) fn refers(file: &Path, data: &Path) -> bool {
    let Ok(data) = fs::canonicalize(data) else {
        return false;
    };
    if fs::canonicalize(file).is_ok_and(|file| file == data) {
        return false;
    }
    match locations(file) {
        Some(locations) => {
            let folder = DataFolder::of_model(file);
            locations.iter().any(|location| folder.path_of(location).is_ok_and(|path| path == data))
        }
        None => file.extension().is_some_and(|extension| extension == "onnx"),
    }
}

/// The locations that a model names; none if the file is no model.
fn locations(file: &Path) -> Option<BTreeSet<String>> {
    let proto = ModelProto::from_bytes(wire::open(file).ok()?.bytes).ok()?;
    let model = Model::new(proto).ok()?;
    let external = model.tensors().filter(|(_, tensor)| is_external(tensor));
    Some(external.filter_map(|(_, tensor)| Reference::read(tensor).ok()).map(|reference| reference.location).collect())
}
