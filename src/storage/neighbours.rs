//! The models in the folder of an output and in those of data files, and the data files to which
//! they refer.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::folders::{self, EntryKind};
use crate::files::{self, DataFolder, folder_of};
use crate::graph::{DataRanges, Model};
use crate::protobuf::schema::ModelProto;

/// The models that may refer to some data files.
pub(super) struct Neighbours(Vec<Neighbour>);

struct Neighbour {
    path: PathBuf,
    /// The files to which it refers. None if it has the name of a model, or cannot be read, and is
    /// not known to be none: it may refer to any file.
    data: Option<ReferencedFiles>,
}

/// The files to which a model refers.
#[derive(Default)]
struct ReferencedFiles {
    /// Resolved.
    files: BTreeSet<PathBuf>,
    /// The names of those that cannot be located: outside of the model's folder, for instance.
    names: BTreeSet<OsString>,
}

impl Neighbours {
    /// Reads every file of `folder` and of the folders of the data files. A folder that cannot be
    /// listed completely may contain a model that refers to them.
    pub(super) fn of<'p>(folder: &Path, data: impl IntoIterator<Item = &'p Path>) -> Neighbours {
        let folders: BTreeSet<PathBuf> = data
            .into_iter()
            .map(folder_of)
            .chain([folder.to_owned()])
            .filter_map(|folder| folders::resolve(&folder).ok())
            .collect();
        let (mut found, mut unknown) = (BTreeSet::new(), Vec::new());
        for folder in folders {
            match folders::list(&folder) {
                Ok(entries) => found.extend(entries.into_iter().filter(|path| may_be_file(path))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => unknown.push(Neighbour {
                    path: folder,
                    data: None,
                }),
            }
        }
        Neighbours(
            found
                .into_iter()
                .filter_map(Neighbour::read)
                .chain(unknown)
                .collect(),
        )
    }

    /// The first model that can be read and refers to a data file.
    pub(super) fn user_of(&self, data: &Path) -> Option<&Path> {
        let data = folders::resolve(data).ok()?;
        let refers = |neighbour: &&Neighbour| {
            neighbour
                .data
                .as_ref()
                .is_some_and(|all| all.files.contains(&data))
        };
        self.0
            .iter()
            .find(refers)
            .map(|neighbour| neighbour.path.as_path())
    }

    /// The models that refer to a data file, or may refer to it.
    pub(super) fn referring(&self, data: &Path) -> impl Iterator<Item = &Path> {
        let data = folders::resolve(data).ok();
        let refers =
            move |neighbour: &&Neighbour| data.as_ref().is_some_and(|data| neighbour.refers(data));
        self.0
            .iter()
            .filter(refers)
            .map(|neighbour| neighbour.path.as_path())
    }
}

impl Neighbour {
    fn read(path: PathBuf) -> Option<Neighbour> {
        let data = data_ranges(&path).map(|ranges| {
            let (folder, mut data) = (DataFolder::of_model(&path), ReferencedFiles::default());
            for location in ranges.keys() {
                match folder.locate(location) {
                    Ok(found) => drop(data.files.insert(found.path())),
                    Err(_) => data
                        .names
                        .extend(Path::new(location).file_name().map(ToOwned::to_owned)),
                }
            }
            data
        });
        (data.is_some() || is_called_model(&path) || is_unreadable(&path))
            .then_some(Neighbour { path, data })
    }

    fn refers(&self, file: &PathBuf) -> bool {
        let may_refer = |data: &ReferencedFiles| {
            data.files.contains(file)
                || file
                    .file_name()
                    .is_some_and(|name| data.names.contains(name))
        };
        self.data.as_ref().is_none_or(may_refer)
            && !folders::resolve(&self.path).is_ok_and(|path| path == *file)
    }
}

/// Why a file must not be replaced that is not a model itself: a model beside it stores tensors in
/// it.
pub(super) fn use_as_data(file: &Path) -> Option<String> {
    if folders::is_file(file) && !is_model(file) {
        model_that_uses(file)
    } else {
        None
    }
}

/// Why a file that is not a model must not replace one: that is a model, or data of a model beside
/// it.
#[must_use]
pub fn reason_not_to_replace(file: &Path) -> Option<String> {
    if !folders::is_file(file) {
        None
    } else if is_model(file) {
        Some("is a model".to_owned())
    } else {
        model_that_uses(file)
    }
}

/// The model beside a file that stores tensors in it, as the reason of a refusal.
fn model_that_uses(file: &Path) -> Option<String> {
    let neighbours = Neighbours::of(&folder_of(file), [file]);
    let user = neighbours.user_of(file)?;
    let is_beside = user.parent() == folders::resolve(file).ok()?.parent();
    let user = user
        .file_name()
        .filter(|_| is_beside)
        .map_or(user, Path::new);
    Some(format!("{} stores tensors in this file", user.display()))
}

/// Whether there is a file that cannot be opened.
fn is_unreadable(file: &Path) -> bool {
    folders::read(file).is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
}

/// Whether a path is not known to be that of something else than a file. A link that cannot be
/// followed may be one to a file.
fn may_be_file(path: &Path) -> bool {
    !folders::stat_target(path).is_ok_and(|found| found.kind != EntryKind::File)
}

/// Whether a file is a model, or has the name of one.
pub(super) fn is_model(path: &Path) -> bool {
    is_called_model(path) || data_ranges(path).is_some()
}

fn is_called_model(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
}

/// The data files to which a model refers; none if the file is not a model.
pub(crate) fn data_ranges(file: &Path) -> Option<DataRanges> {
    let proto = ModelProto::from_bytes(files::open(file).ok()?.bytes).ok()?;
    proto.graph.as_ref()?;
    Some(Model::new(proto).ok()?.data_ranges())
}
