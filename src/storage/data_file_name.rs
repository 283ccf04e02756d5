//! The name of a new data file.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::neighbours::{self, Neighbours};
use super::options::{Options, Placement};
use super::own_data_names::{is_same, name_of, own_files, own_names, path_below};
use super::rewrite_paths::RewritePaths;
use super::unplaceable::Unplaceable;
use crate::base::error::shortened;
use crate::files::folders::{self, EntryKind, FileId};
use crate::files::{Before, DataFolder, identity};
use crate::protobuf::Layout;

/// A path for a new data file.
pub(super) struct Chosen {
    pub path: PathBuf,
    /// The path as the model states it.
    pub location: String,
    /// The existing file of this path, if its content is the same.
    pub there: Option<Before>,
}

/// The requested name, or by default the output's name with `.data`. A file with other content is
/// not replaced if a model may refer to it: a default name then gets a number, and a requested name
/// is refused. A requested name is also refused if it is that of a model, or of another file from
/// which this model was read: `input`, or one of `data_ids`.
pub(super) fn choose(
    layout: &Layout,
    paths: &RewritePaths,
    options: &Options,
    input: &Path,
    data_ids: &BTreeSet<FileId>,
) -> Result<Chosen, Unplaceable> {
    let output = paths.output.as_deref().ok_or(Unplaceable::FileOfStream)?;
    let found = DataFolder::of_model(output);
    let there = |path: &Path, location: &str| {
        // Before the comparison, so that a later change is detected.
        let before = Before::of(path).ok()?;
        found
            .open(location)
            .is_ok_and(|file| layout.is_content_of(&file.bytes))
            .then_some(before)
    };
    if let Placement::File(name) = &options.placement {
        let location = location(name)?;
        let path = paths.folder.join(&location);
        match folders::stat(&path) {
            // Folders of any depth could be created one by one, and the file could not be opened by
            // its path.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                return Err(Unplaceable::Output(format!(
                    "data file '{}': {error}",
                    shortened(name)
                )));
            }
            Ok(found) if found.kind != EntryKind::File => {
                return Err(Unplaceable::BadName(name.clone()));
            }
            _ if !stays_inside(&paths.folder, &path) => {
                return Err(Unplaceable::BadName(name.clone()));
            }
            _ => {}
        }
        let there = there(&path, &location);
        if there.is_none() && folders::stat_target(&path).is_ok() {
            if neighbours::is_model(&path) || is_same(&path, input) {
                return Err(Unplaceable::OverModel(name.clone()));
            }
            // The input may be one that its neighbours do not show to be a model, such as ONNX
            // text.
            if !paths.is_in_place && folders::id_of(&path).is_some_and(|id| data_ids.contains(&id))
            {
                return Err(Unplaceable::InUse {
                    name: name.clone(),
                    by: input.to_owned(),
                });
            }
            let neighbours = Neighbours::of(&paths.folder, [path.as_path()]);
            if let Some(by) = neighbours
                .referring(&path)
                .find(|by| paths.is_in_place || !paths.is_output(by))
            {
                return Err(Unplaceable::InUse {
                    name: name.clone(),
                    by: by.to_owned(),
                });
            }
        }
        return Ok(Chosen {
            path,
            location,
            there,
        });
    }
    // A file of an earlier run is reused if it has the same content.
    let same = own_files(output)
        .into_iter()
        .find_map(|path| Some((there(&path, name_of(&path)?)?, path)));
    let (there, path) = same.map_or_else(
        || {
            (
                None,
                own_names(output).find(|path| folders::stat(path).is_err()),
            )
        },
        |(there, path)| (Some(there), Some(path)),
    );
    path.and_then(|path| {
        Some(Chosen {
            location: name_of(&path)?.to_owned(),
            path,
            there,
        })
    })
    .ok_or_else(|| Unplaceable::BadName(output.display().to_string()))
}

/// Checks that a name is the name of a data file in the folder of the output, and not the output
/// itself.
pub(super) fn check(name: &str, paths: &RewritePaths) -> Result<(), Unplaceable> {
    let path = paths.folder.join(location(name)?);
    match &paths.output {
        Some(output) if paths.is_output(&path) || identity(&path) == identity(output) => {
            Err(Unplaceable::SameFile(name.to_owned()))
        }
        _ => Ok(()),
    }
}

/// The path that a user gave, as a model states it.
pub(super) fn location(name: &str) -> Result<String, Unplaceable> {
    let location = path_below(name).and_then(|path| path.to_str().map(str::to_owned));
    location.ok_or_else(|| Unplaceable::BadName(name.to_owned()))
}

/// Whether the existing folders of a path are inside a folder.
fn stays_inside(folder: &Path, path: &Path) -> bool {
    let existing = path
        .ancestors()
        .skip(1)
        .find_map(|ancestor| folders::resolve(ancestor_or_here(ancestor)).ok());
    matches!((existing, folders::resolve(folder)), (Some(existing), Ok(folder)) if existing.starts_with(&folder))
}

fn ancestor_or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}
