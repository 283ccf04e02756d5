//! Data files to which the output's old model referred and the new one does not. They are reported,
//! never removed: models in other folders may use them.

use std::path::{Path, PathBuf};

use super::neighbours::Neighbours;
use super::saved::UnusedFile;
use crate::files::{DataFolder, Located};
use crate::graph::DataRanges;

/// The data files of `old`, except those for which `is_used` holds.
pub(super) fn unused_files(
    old: &DataRanges,
    data: &DataFolder,
    is_used: impl Fn(&Path) -> bool,
) -> Vec<UnusedFile> {
    let mut files: Vec<UnusedFile> = Vec::new();
    for location in old.keys() {
        let Ok(at) = data.locate(location) else {
            continue;
        };
        let path = at.path();
        // Several locations can name one file.
        if !is_used(&path) && files.iter().all(|file| file.path != path) {
            files.push(unused_file(&at, None));
        }
    }
    files
}

/// The files with names of the output's data files that no model uses: a run that is killed after
/// the last rename of a pair leaves such a file.
pub(super) fn left_over(own: &[&PathBuf], output: &Path) -> Vec<UnusedFile> {
    if own.is_empty() {
        return Vec::new();
    }
    let neighbours = Neighbours::of(
        &crate::files::folder_of(output),
        own.iter().map(|path| path.as_path()),
    );
    let data = DataFolder::of_model(output);
    let is_left = |path: &&&PathBuf| neighbours.referring(path).next().is_none();
    own.iter()
        .filter(is_left)
        .filter_map(|path| data.locate(path.file_name()?.to_str()?).ok())
        .map(|at| {
            let reason = "no model uses it; an interrupted run may have left it";
            unused_file(&at, Some(reason.to_owned()))
        })
        .collect()
}

fn unused_file(file: &Located, reason: Option<String>) -> UnusedFile {
    UnusedFile {
        path: file.path(),
        bytes: file.stat.bytes,
        reason,
    }
}
