//! Data files to which the output's old model referred and the new one does not.
//!
//! They are kept and reported. On request, those are removed that are data of the old model alone:
//!
//! 1. it is a regular file beneath the output's folder, whose path contains no link, and has one
//!    name only;
//! 2. it has the name of a data file, see [`super::accepted_name`];
//! 3. every byte of it belongs to a tensor of the old model, except for runs of zeros shorter than
//!    [`LONGEST_PADDING`];
//! 4. it is not a model, and no other model in the folder of the output or in its own refers to it,
//!    see [`super::neighbours`].

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::accepted_name;
use super::neighbours::{Decoded, Neighbours};
use super::own_data_names::is_same;
use super::saved::{Saved, UnusedFile};
use crate::base::hash::{HashMap, HashSet};
use crate::base::stored::Stored;
use crate::files::folders::{self, Folder};
use crate::files::{DataFolder, Located};
use crate::graph::DataRanges;

/// Zeros between tensors: exporters align tensors to pages, or to 64 KiB, which Windows requires
/// for mapping.
const LONGEST_PADDING: u64 = 1 << 16;

/// The data files that are no longer used.
#[derive(Debug, Default)]
pub(super) struct Unused {
    files: Vec<UnusedDataFile>,
    /// The folder in which the files are looked up.
    data: Arc<DataFolder>,
    /// The path of the replaced model, which refers to the files.
    output: PathBuf,
}

/// Maps a data file to the models that use it and that earlier plans of this run replace. Existing
/// paths are resolved.
#[derive(Debug, Default)]
pub(crate) struct Released(HashMap<PathBuf, HashSet<PathBuf>>);

impl Released {
    fn has(&self, file: &Path, model: &Path) -> bool {
        self.0.get(file).is_some_and(|models| {
            folders::resolve(model).is_ok_and(|model| models.contains(&model))
        })
    }
}

#[derive(Debug)]
struct UnusedDataFile {
    at: Located,
    location: String,
    ranges: Vec<Range<u64>>,
}

impl Unused {
    /// The data files of `old`, except those for which `is_used` holds.
    pub(super) fn of(
        old: &DataRanges,
        data: &Arc<DataFolder>,
        output: &Path,
        is_used: impl Fn(&Path) -> bool,
    ) -> Unused {
        let mut files: Vec<UnusedDataFile> = Vec::new();
        for (location, ranges) in old {
            let Ok(at) = data.locate(location) else {
                continue;
            };
            match files.iter_mut().find(|file| file.at.path() == at.path()) {
                Some(file) => file.ranges.extend(ranges.iter().cloned()),
                None if is_used(&at.path()) => {}
                None => files.push(UnusedDataFile {
                    at,
                    location: location.clone(),
                    ranges: ranges.clone(),
                }),
            }
        }
        Unused {
            files,
            data: Arc::clone(data),
            output: output.to_owned(),
        }
    }

    /// These, and data files with the output's names that neither the old model nor another model
    /// uses: a run that is killed after the last rename of a pair leaves such a file.
    pub(super) fn with_left_over(mut self, own: &[&PathBuf], output: &Path) -> Unused {
        let is_listed = |path: &Path| self.files.iter().any(|file| file.at.path() == path);
        let others: Vec<&Path> = own
            .iter()
            .map(|path| path.as_path())
            .filter(|path| !is_listed(path))
            .collect();
        if others.is_empty() {
            return self;
        }
        let folder = crate::files::folder_of(output);
        let neighbours = Neighbours::of(&folder, others.iter().copied());
        let data = DataFolder::of_model(output);
        for path in others
            .into_iter()
            .filter(|path| neighbours.referring(path).next().is_none())
        {
            let location = path.file_name().and_then(|name| name.to_str());
            let located = location
                .and_then(|location| Some((location.to_owned(), data.locate(location).ok()?)));
            if let Some((location, at)) = located {
                self.files.push(UnusedDataFile {
                    at,
                    location,
                    ranges: Vec::new(),
                });
            }
        }
        self.output = output.to_owned();
        self
    }

    /// Adds the model and its files to those that are replaced.
    pub(super) fn release(&self, released: &mut Released) {
        let output = folders::resolve(&self.output).unwrap_or_else(|_| self.output.clone());
        for file in &self.files {
            released
                .0
                .entry(file.at.path())
                .or_default()
                .insert(output.clone());
        }
    }

    /// Keeps all files or, with `prune`, decides which may be removed, after others are replaced.
    /// Reads the models near them; changes nothing.
    pub(super) fn decide(&self, prune: bool, released: &Released) -> Decided {
        let mut decoded = Decoded::default();
        let mut decided = Decided::default();
        for file in &self.files {
            let may_be_removed = if file.ranges.is_empty() {
                Err(Some(
                    "no model uses it; an interrupted run may have left it".to_owned(),
                ))
            } else if prune {
                self.check_removable(file, released, &mut decoded)
                    .map_err(Some)
            } else {
                Err(None)
            };
            match may_be_removed {
                Ok(()) => decided.removable.push(file.at.clone()),
                Err(reason) => decided.kept.push(unused_file(&file.at, reason)),
            }
        }
        if !decided.removable.is_empty() {
            // They were opened for the checks.
            self.data.release();
        }
        decided
    }

    fn check_removable(
        &self,
        file: &UnusedDataFile,
        released: &Released,
        decoded: &mut Decoded,
    ) -> Result<(), String> {
        let path = file.at.path();
        let folder = Folder::open(&crate::files::folder_of(&self.output))
            .map_err(|error| error.to_string())?;
        let Some(below) = file.at.beneath(&folder) else {
            return Err("is outside the output's folder".to_owned());
        };
        if super::own_data_names::normal(&file.location).as_ref() != Some(&below) {
            return Err("has a link in its path".to_owned());
        }
        if let Some(problem) = accepted_name::problem(&below) {
            return Err(problem.to_owned());
        }
        // Its current metadata: the number of names may have changed since the plan was made.
        let now = self
            .data
            .locate(&file.location)
            .map_err(|error| error.to_string())?;
        if now.stat.links > 1 {
            return Err("has other names (hard links)".to_owned());
        }
        let content = self
            .data
            .open(&file.location)
            .map_err(|error| error.to_string())?;
        if !is_all_claimed(&content.bytes, file.ranges.clone()) {
            return Err("contains bytes that belong to no tensor of the model".to_owned());
        }
        if decoded.is_model(&path) {
            return Err("is a model".to_owned());
        }
        let neighbours = decoded.near(folder.path(), &path);
        let is_replaced = |by: &Path| is_same(by, &self.output) || released.has(&path, by);
        match neighbours.referring(&path).find(|by| !is_replaced(by)) {
            Some(by) => Err(format!("{} may refer to it", by.display())),
            None => Ok(()),
        }
    }
}

/// Which of the files may be removed.
#[derive(Debug, Default)]
pub(super) struct Decided {
    removable: Vec<Located>,
    kept: Vec<UnusedFile>,
}

impl Decided {
    /// The report if the files are removed; no file is changed.
    pub(super) fn preview(self, saved: Saved) -> Saved {
        Saved {
            removed_files: self.removable.iter().map(Located::path).collect(),
            unused_files: self.kept,
            ..saved
        }
    }

    /// Removes the files that may be removed, except for those that have changed.
    pub(super) fn execute(self, saved: Saved) -> Saved {
        let mut saved = Saved {
            unused_files: self.kept,
            ..saved
        };
        for file in self.removable {
            match file.remove() {
                Ok(()) => saved.removed_files.push(file.path()),
                Err(error) => saved.unused_files.push(unused_file(
                    &file,
                    Some(format!("cannot be removed: {error}")),
                )),
            }
        }
        saved
    }
}

fn unused_file(file: &Located, reason: Option<String>) -> UnusedFile {
    UnusedFile {
        path: file.path(),
        bytes: file.stat.bytes,
        reason,
    }
}

/// Whether the ranges cover all bytes, except for short runs of zeros.
fn is_all_claimed(bytes: &Stored, mut ranges: Vec<Range<u64>>) -> bool {
    let length = bytes.len();
    ranges.push(length..length);
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    ranges.into_iter().all(|range| {
        let gap = end.min(length)..range.start.clamp(end, length.max(end)).min(length);
        end = end.max(range.end);
        gap.end - gap.start < LONGEST_PADDING && bytes.part(gap).iter().all(|&byte| byte == 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::single_range_in_vec_init)] // A single tensor is a case, too.
    fn a_file_is_claimed_if_only_short_runs_of_zeros_are_not() {
        let bytes = Stored::from([[1; 40].as_slice(), &[0; 10], &[1; 50]].concat());
        let cases: [(&[Range<u64>], bool); 8] = [
            (&[0..100], true),
            (&[0..40, 50..100], true),
            (&[50..100, 0..45], true),
            (&[0..40, 51..100], false),
            (&[0..99], false),
            (&[1..100], false),
            (&[], false),
            (&[0..u64::MAX, u64::MAX..u64::MAX], true),
        ];
        for (ranges, expected) in cases {
            assert_eq!(
                is_all_claimed(&bytes, ranges.to_vec()),
                expected,
                "{ranges:?}"
            );
        }
        assert!(!is_all_claimed(
            &vec![0; LONGEST_PADDING as usize].into(),
            Vec::new()
        ));
        assert!(is_all_claimed(&Vec::new().into(), Vec::new()));
    }
}
