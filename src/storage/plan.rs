//! The plan for the files of a model.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arrange::arrange;
use super::data_file_name::{self, Chosen};
use super::image::{self, Image};
use super::options::{Options, Placement};
use super::rewrite_paths::{Copies, RewritePaths};
use super::saved::{Saved, WrittenDataFile};
use super::sort::Sorted;
use super::unplaceable::Unplaceable;
use super::{interim, neighbours, sort};
use crate::base::parallel;
use crate::base::progress::Control;
use crate::files::folders::{self, FileId, id_of};
use crate::files::{
    Before, DataFolder, Interim, PendingFile, SaveTarget, check_replaceable, is_stream,
    owner_if_it_would_change,
};
use crate::graph::{Edit, Model, TensorPlace};
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{LARGEST_MESSAGE, Layout, Piece, WriteProgress};
use crate::tensor::{Reference, is_external, moved_to_file, moved_to_model};

/// The files of a model that will be written.
#[derive(Debug)]
pub struct SavePlan {
    pub(super) target: SaveTarget,
    pub(super) folder: PathBuf,
    /// The files from which the model was read.
    pub(super) sources: Arc<DataFolder>,
    pub(super) model: Layout,
    /// Whether the model file has the bytes that the model was read from.
    is_copy: bool,
    pub(super) files: Files,
    /// The bytes of the data files of the output, each up to the last value in it.
    data_bytes: u64,
    /// The files in which the input stores tensors.
    pub(super) data_ids: BTreeSet<FileId>,
    pub(super) exists_already: bool,
    pub(super) is_in_place: bool,
    /// The report.
    pub(super) saved: Saved,
    pub(super) control: Control,
    /// The image of the file that a verification reads, if the file is not stored, or is computed
    /// whenever it is read.
    pub(super) image: Option<Image>,
}

/// The data files that are written, and those that must not change before.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The data files to be written.
    pub data: Vec<PendingFile>,
    /// The number of copies among them, which are the first.
    pub copies: usize,
    /// The files that existed when the plan was made, and must be unchanged when it is executed.
    pub before: Vec<Before>,
    /// The existing file of a requested data file name.
    pub replaced: Option<PathBuf>,
    /// The interim model while the old data file is replaced.
    pub interim: Option<Interim>,
    /// The data file that contains the output's new values; to be written, or existing.
    made: Option<WrittenDataFile>,
}

/// The tensors whose values move, and the data file for the values.
struct Placed {
    tensors: Vec<(TensorPlace, TensorProto)>,
    data: DataSources,
}

/// The sources of the data files of an output.
enum DataSources {
    /// No data file is written.
    None,
    /// The data files of the input are copied, and the model refers to them as before.
    Copied(Copies),
    /// Values go into one data file.
    Made(Layout, Chosen),
}

/// Decides where each tensor of `model`, which was read from `input`, is stored. `input` is `-`
/// for standard input.
///
/// # Errors
/// If a data file cannot be read or must not be written, or the model file would be too large.
pub fn plan_of(
    model: Model,
    input: &Path,
    target: &SaveTarget,
    options: &Options,
) -> Result<SavePlan, Unplaceable> {
    let paths = RewritePaths::of(&model, input, target, &options.placement);
    if let Placement::File(name) = &options.placement {
        data_file_name::check(name, &paths)?;
    }
    let data_ids = paths.data_ids(&model);
    check_output(&paths, &data_ids)?;
    // Before the files are read, so that later changes are detected.
    let before = states_before(&paths, options)?;
    let sorted = sort::sort(&model, &paths, options)?;
    let moves_nothing = sorted.to_model.is_empty() && sorted.to_file.is_empty();
    let exists_already = model.proto().as_source().is_some() && moves_nothing && paths.is_in_place;
    let Placed { tensors, data } =
        place_tensors(&model, &sorted, &paths, options, (input, &data_ids))?;
    let files = files(data, before, &paths, options)?;
    let notes = notes(&model, &sorted, &files, &paths, exists_already);
    let unused_files = paths.unused(
        &model,
        &sorted.kept,
        files.made.as_ref().map(|file| file.path.as_path()),
    );

    let control = model.control().clone();
    let edits = tensors
        .into_iter()
        .map(|(place, with)| Edit::replace_tensor(place, with))
        .collect();
    // The index is freed before the layout is made.
    let model = model.with_edits(edits)?;
    let data_bytes = model.data_bytes();
    let (model, image) = match target {
        SaveTarget::File(path) if !is_stream(path) && !folders::is_in_memory(path) => (model, None),
        _ => {
            let (model, image) = image::sealed(model)?;
            (model, Some(image))
        }
    };
    let proto = model.into_proto();
    let is_copy = proto.as_source().is_some();
    let layout = Layout::of(&proto);
    parallel::drop_in_background(proto);
    if layout.bytes() > LARGEST_MESSAGE {
        return Err(Unplaceable::TooLarge(layout.bytes()));
    }
    let copied = files.data[..files.copies].iter();
    let saved = Saved {
        bytes: layout.bytes(),
        data_file: files.made.clone(),
        copied_files: copied
            .map(|file| WrittenDataFile {
                path: file.path.clone(),
                bytes: file.layout.bytes(),
            })
            .collect(),
        notes,
        unused_files,
    };
    Ok(SavePlan {
        target: target.clone(),
        folder: paths.folder,
        sources: paths.data,
        model: layout,
        is_copy,
        files,
        data_bytes,
        data_ids,
        exists_already,
        is_in_place: paths.is_in_place,
        saved,
        control,
        image,
    })
}

impl SavePlan {
    /// The paths of all files that are written.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let model = match &self.target {
            SaveTarget::File(path) => Some(path.as_path()),
            SaveTarget::Stdout => None,
        };
        self.files
            .data
            .iter()
            .map(|file| file.path.as_path())
            .chain(model)
    }

    /// The length of the model file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.model.bytes()
    }

    /// The bytes of the model file and of its data files, new ones and those that exist, each up to
    /// the last value of the model.
    #[must_use]
    pub(crate) fn bytes_with_data(&self) -> u64 {
        self.bytes().saturating_add(self.data_bytes)
    }

    /// The progress of each file.
    pub(crate) fn progress(&self) -> impl Iterator<Item = WriteProgress> {
        let layouts = self
            .files
            .data
            .iter()
            .map(|file| &file.layout)
            .chain([&self.model]);
        layouts
            .filter(|_| !self.exists_already)
            .map(Layout::progress)
    }

    /// Whether the model file has the bytes that the model was read from.
    pub(crate) fn is_copy(&self) -> bool {
        self.is_copy
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The target of the model.
    #[must_use]
    pub(crate) fn target(&self) -> &SaveTarget {
        &self.target
    }

    /// The files that the plan writes, and those that become unused.
    #[must_use]
    pub(crate) fn saved(&self) -> &Saved {
        &self.saved
    }
}

/// The state of the files that a plan replaces.
fn states_before(paths: &RewritePaths, options: &Options) -> Result<Vec<Before>, Unplaceable> {
    let Some(output) = &paths.output else {
        return Ok(Vec::new());
    };
    let mut states = Vec::new();
    if paths.is_in_place {
        states.push(before(output)?);
    }
    if let Placement::File(name) = &options.placement {
        let data = before(&paths.folder.join(data_file_name::location(name)?))?;
        if data.exists() && !paths.is_in_place {
            states.push(before(output)?);
        }
        states.push(data);
    }
    Ok(states)
}

/// Places the tensors that are moved: in the model, or in a data file.
fn place_tensors(
    model: &Model,
    sorted: &Sorted,
    paths: &RewritePaths,
    options: &Options,
    (input, data_ids): (&Path, &BTreeSet<FileId>),
) -> Result<Placed, Unplaceable> {
    // No tensor has moved: the data files are copied, and the model refers to them as before.
    if options.placement == Placement::Keep
        && !sorted.to_file.is_empty()
        && sorted.note.is_none()
        && sorted
            .to_file
            .iter()
            .all(|(_, tensor, _)| is_external(tensor))
        && (model.proto().as_source().is_some()
            || model.data_ranges() == **model.original_data_ranges())
        && let Some(copies) = paths.copies(model)?
    {
        return Ok(Placed {
            tensors: Vec::new(),
            data: DataSources::Copied(copies),
        });
    }
    let to_model = sorted
        .to_model
        .iter()
        .map(|(at, tensor, bytes)| (*at, moved_to_model(tensor, bytes.clone())));
    let mut tensors: Vec<(TensorPlace, TensorProto)> = to_model.collect();
    if sorted.to_file.is_empty() {
        return Ok(Placed {
            tensors,
            data: DataSources::None,
        });
    }
    let pieces: Vec<&Piece> = sorted.to_file.iter().map(|(_, _, piece)| piece).collect();
    let (layout, ranges) = arrange(&pieces, &paths.data);
    let chosen = data_file_name::choose(&layout, paths, options, input, data_ids)?;
    tensors.extend(
        sorted
            .to_file
            .iter()
            .zip(ranges)
            .map(|((at, tensor, _), range)| {
                let length = Some(range.end - range.start);
                (
                    *at,
                    moved_to_file(
                        tensor,
                        &Reference {
                            location: chosen.location.clone(),
                            offset: range.start,
                            length,
                        },
                    ),
                )
            }),
    );
    Ok(Placed {
        tensors,
        data: DataSources::Made(layout, chosen),
    })
}

/// The files that are written for the data of an output.
fn files(
    data: DataSources,
    mut before: Vec<Before>,
    paths: &RewritePaths,
    options: &Options,
) -> Result<Files, Unplaceable> {
    let (layout, chosen) = match data {
        DataSources::None => {
            return Ok(Files {
                before,
                ..Files::default()
            });
        }
        DataSources::Copied(copies) => {
            check_link(paths)?;
            before.extend(copies.there);
            return Ok(Files {
                copies: copies.files.len(),
                data: copies.files,
                before,
                ..Files::default()
            });
        }
        DataSources::Made(layout, chosen) => (layout, chosen),
    };
    let made = Some(WrittenDataFile {
        path: chosen.path.clone(),
        bytes: layout.bytes(),
    });
    let mut files = Files {
        made,
        before,
        ..Files::default()
    };
    if let Some(there) = chosen.there {
        files.before.push(there);
        return Ok(files);
    }
    check_link(paths)?;
    match (&paths.output, &options.placement) {
        (Some(output), Placement::File(name)) if folders::stat_target(&chosen.path).is_ok() => {
            Ok(Files {
                interim: interim::of(output, &chosen.path, name)?,
                replaced: Some(chosen.path.clone()),
                data: vec![PendingFile::replacing(chosen.path, layout)],
                ..files
            })
        }
        _ => {
            // The values were in the old model, or belong to its owner alone as it did.
            let like = paths
                .output
                .as_deref()
                .and_then(|output| folders::stat_target(output).ok());
            Ok(Files {
                data: vec![PendingFile {
                    like,
                    ..PendingFile::new(chosen.path, layout)
                }],
                ..files
            })
        }
    }
}

/// Side effects that were not requested.
fn notes(
    model: &Model,
    sorted: &Sorted,
    files: &Files,
    paths: &RewritePaths,
    exists_already: bool,
) -> Vec<String> {
    let mut notes = Vec::new();
    if model.data().path().is_none() {
        let note =
            "taken for the data file that the model refers to; a model from a stream has no folder";
        notes.extend(
            sorted
                .kept
                .iter()
                .map(|file| format!("{}: {note}", file.display())),
        );
    }
    notes.extend(
        paths
            .output
            .as_deref()
            .filter(|_| !exists_already)
            .and_then(lost_owner_note),
    );
    let moved = sorted.note.as_ref().zip(files.made.as_ref());
    notes
        .extend(moved.map(|(note, made)| format!("{note}; tensors go to {}", made.path.display())));
    let left = files
        .interim
        .iter()
        .filter(|interim| folders::stat_target(&interim.second).is_ok());
    notes.extend(left.map(|left| {
        format!(
            "{}: a second name that an interrupted run left; removed",
            left.second.display()
        )
    }));
    notes.extend(files.replaced.as_deref().and_then(lost_owner_note));
    notes
}

/// A note that a replaced file belongs to another user, if the new file will not.
fn lost_owner_note(path: &Path) -> Option<String> {
    let owner = owner_if_it_would_change(path)?;
    Some(format!(
        "{}: belongs to user {owner}; the new file belongs to the user who runs recast",
        path.display()
    ))
}

/// The current state of a path.
fn before(path: &Path) -> Result<Before, Unplaceable> {
    Before::of(path).map_err(|error| Unplaceable::Output(format!("{}: {error}", path.display())))
}

/// Checks that a new data file would be in the folder of the model, and not in that of a link to
/// it.
fn check_link(paths: &RewritePaths) -> Result<(), Unplaceable> {
    match (&paths.output, paths.linked_output()) {
        (Some(link), Some(file)) => Err(Unplaceable::Linked {
            link: link.clone(),
            file,
        }),
        _ => Ok(()),
    }
}

/// Checks that the output is not a file that must not be replaced.
fn check_output(paths: &RewritePaths, data_ids: &BTreeSet<FileId>) -> Result<(), Unplaceable> {
    let Some(output) = &paths.output else {
        return Ok(());
    };
    if !paths.is_in_place && id_of(output).is_some_and(|id| data_ids.contains(&id)) {
        return Err(Unplaceable::OverData(output.clone()));
    }
    // Models are replaced as asked, also by others; any other file only if no model beside it needs
    // it.
    if !paths.is_in_place
        && let Some(why) = neighbours::use_as_data(output)
    {
        return Err(Unplaceable::Output(format!(
            "{}: {why}; use another output",
            output.display()
        )));
    }
    check_replaceable(output)
        .map_err(|error| Unplaceable::Output(format!("{}: {error}", output.display())))
}
