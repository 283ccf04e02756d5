//! The models near data files, and the data files to which they refer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::files;
use crate::graph::{DataRanges, Model};
use crate::wire::schema::ModelProto;
use crate::wire::{self, DataFolder, folder_of};

/// The models that may refer to some data files.
pub(super) struct Neighbours(Vec<Neighbour>);

struct Neighbour {
    path: PathBuf,
    /// The resolved files to which it refers. None if it has the name of a model and cannot be read: it may refer to any file.
    data: Option<BTreeSet<PathBuf>>,
}

impl Neighbours {
    /// Reads every file of `folder` and of the folders of the data files, and every `.onnx` file of their parent folders, whose locations
    /// can be in these folders.
    pub(super) fn of<'p>(folder: &Path, data: impl IntoIterator<Item = &'p Path>) -> Neighbours {
        let near: BTreeSet<PathBuf> =
            data.into_iter().map(folder_of).chain([folder.to_owned()]).filter_map(|folder| files::resolve(&folder).ok()).collect();
        let around: BTreeSet<&Path> = near.iter().flat_map(|folder| folder.ancestors().skip(1)).collect();
        let around =
            around.into_iter().filter(|&folder| !near.contains(folder)).flat_map(entries).filter(|path| is_called_model(path));
        let files: BTreeSet<PathBuf> =
            near.iter().flat_map(|folder| files(folder)).chain(around.filter(|path| files::is_file(path))).collect();
        Neighbours(files.into_iter().filter_map(Neighbour::read).collect())
    }

    /// The models that refer to a data file.
    pub(super) fn referring(&self, data: &Path) -> impl Iterator<Item = &Path> {
        let data = files::resolve(data).ok();
        let refers = move |neighbour: &&Neighbour| data.as_ref().is_some_and(|data| neighbour.refers(data));
        self.0.iter().filter(refers).map(|neighbour| neighbour.path.as_path())
    }
}

impl Neighbour {
    fn read(path: PathBuf) -> Option<Neighbour> {
        let data = data_ranges(&path).map(|ranges| {
            let folder = DataFolder::of_model(&path);
            ranges.keys().filter_map(|location| Some(folder.locate(location).ok()?.path())).collect()
        });
        (data.is_some() || is_called_model(&path)).then_some(Neighbour { path, data })
    }

    fn refers(&self, data: &PathBuf) -> bool {
        self.data.as_ref().is_none_or(|all| all.contains(data)) && files::resolve(&self.path).is_ok_and(|path| path != *data)
    }
}

/// Whether a file is a model, or has the name of one.
pub(super) fn is_model(path: &Path) -> bool {
    is_called_model(path) || data_ranges(path).is_some()
}

fn is_called_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "onnx")
}

fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    entries(folder).filter(|path| files::is_file(path))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    files::list(folder).unwrap_or_default().into_iter()
}

/// The data files to which a model refers; none if the file is not a model.
pub(super) fn data_ranges(file: &Path) -> Option<DataRanges> {
    let proto = ModelProto::from_bytes(wire::open(file).ok()?.bytes).ok()?;
    proto.graph.as_ref()?;
    Some(Model::new(proto).ok()?.data_ranges())
}
