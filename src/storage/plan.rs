//! The plan for the files of a model.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arrange::arrange;
use super::options::{Options, Placement};
use super::place::Place;
use super::unplaceable::Unplaceable;
use super::unused::Unused;
use super::{interim, name, neighbours, sort};
use crate::base::parallel;
use crate::base::progress::Control;
use crate::files::folders::{self, FileId, id_of};
use crate::files::{Before, DataFolder, Interim, NewFile, Target, check_replaceable, lost_owner};
use crate::graph::{Edit, Model, TensorPlace};
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{LARGEST_MESSAGE, Layout, Piece, Progress};
use crate::tensor::{Reference, is_external, moved_to_file, moved_to_model};

/// The files of a model that will be written.
#[derive(Debug)]
pub struct Plan {
    pub(super) target: Target,
    pub(super) folder: PathBuf,
    /// The files from which the model was read.
    pub(super) sources: Arc<DataFolder>,
    pub(super) model: Layout,
    /// The data files to be written.
    pub(super) data: Vec<NewFile>,
    /// The bytes of the data files of the output, each up to the last value in it.
    pub(super) data_bytes: u64,
    /// The number of copies among them.
    pub(super) copies: usize,
    /// The data file that contains the output's new values; to be written, or existing.
    pub(super) data_file: Option<DataFile>,
    /// The files in which the input stores tensors.
    pub(super) data_ids: BTreeSet<FileId>,
    /// Data files to which the target's old model refers and the new one does not.
    pub(super) unused: Unused,
    pub(super) prunes: bool,
    pub(super) exists_already: bool,
    pub(super) is_in_place: bool,
    /// The files that existed when the plan was made, and must be unchanged when it is executed.
    pub(super) before: Vec<Before>,
    /// The existing file of a requested data file name.
    pub(super) replaced: Option<PathBuf>,
    /// The interim model while the old data file is replaced.
    pub(super) interim: Option<Interim>,
    /// Notes for the user.
    pub notes: Vec<String>,
    pub(super) control: Control,
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
    /// Decides where each tensor of `model`, which was read from `input`, is stored. `input` is `-` for standard input.
    ///
    /// # Errors
    /// If a data file cannot be read or must not be written, or the model file would be too large.
    pub fn new(model: Model, input: &Path, target: &Target, options: &Options) -> Result<Plan, Unplaceable> {
        let place = Place::of(&model, input, target, &options.placement);
        if let Placement::File(name) = &options.placement {
            name::check(name, &place)?;
        }
        let data_ids = place.data_ids(&model);
        check_output(&place, &data_ids)?;
        let lost_owner = place.output.as_deref().and_then(lost_owner_note);
        let is_unchanged = model.proto().source().is_some();
        let mut plan = Plan {
            target: target.clone(),
            folder: place.folder.clone(),
            sources: Arc::clone(&place.data),
            model: Layout::default(),
            data: Vec::new(),
            data_bytes: 0,
            copies: 0,
            data_file: None,
            data_ids,
            unused: Unused::default(),
            prunes: options.prune_data,
            exists_already: false,
            is_in_place: place.is_in_place,
            before: Vec::new(),
            replaced: None,
            interim: None,
            notes: Vec::new(),
            control: model.control().clone(),
        };
        if let Some(output) = place.output.as_ref().filter(|_| place.is_in_place) {
            plan.before.push(before(output)?);
        }
        if let (Some(output), Placement::File(name)) = (&place.output, &options.placement) {
            let data = before(&place.folder.join(name::location(name)?))?;
            if data.exists() && !place.is_in_place {
                plan.before.push(before(output)?);
            }
            plan.before.push(data);
        }
        let sorted = sort::sort(&model, &place, options)?;
        if model.data().path().is_none() {
            let note = "taken for the data file that the model refers to; a model from a stream has no folder";
            plan.notes.extend(sorted.kept.iter().map(|file| format!("{}: {note}", file.display())));
        }
        // No tensor has moved: the data files are copied, and the model refers to them as before.
        if options.placement == Placement::Keep
            && !sorted.to_file.is_empty()
            && sorted.note.is_none()
            && sorted.to_file.iter().all(|(_, tensor, _)| is_external(tensor))
            && (is_unchanged || model.data_ranges() == **model.original_data_ranges())
            && let Some(copies) = place.copies(&model)?
        {
            check_link(&place)?;
            plan.unused = place.unused(&model, &sorted.kept, None);
            plan.data_bytes = model.data_bytes();
            plan.before.extend(copies.there);
            (plan.model, plan.copies, plan.data) = (Layout::of(model.proto()), copies.files.len(), copies.files);
            plan.notes.extend(lost_owner);
            return Ok(plan);
        }
        plan.exists_already = is_unchanged && sorted.to_model.is_empty() && sorted.to_file.is_empty() && place.is_in_place;
        plan.notes.extend(lost_owner.filter(|_| !plan.exists_already));
        let to_model = sorted.to_model.iter().map(|(at, tensor, bytes)| (*at, moved_to_model(tensor, bytes.clone())));
        let mut tensors: Vec<(TensorPlace, TensorProto)> = to_model.collect();
        if !sorted.to_file.is_empty() {
            let pieces: Vec<&Piece> = sorted.to_file.iter().map(|(_, _, piece)| piece).collect();
            let (layout, ranges) = arrange(&pieces, &place.data);
            let chosen = name::choose(&layout, &place, options, input, &plan.data_ids)?;
            let to_file = sorted.to_file.iter().zip(ranges).map(|((at, tensor, _), range)| {
                let reference =
                    Reference { location: chosen.location.clone(), offset: range.start, length: Some(range.end - range.start) };
                (*at, moved_to_file(tensor, &reference))
            });
            tensors.extend(to_file);
            plan.notes.extend(sorted.note.map(|note| format!("{note}; tensors go to {}", chosen.path.display())));
            plan.data_file = Some(DataFile { path: chosen.path.clone(), bytes: layout.bytes() });
            let exists_already = chosen.there.is_some();
            plan.before.extend(chosen.there);
            if !exists_already {
                check_link(&place)?;
                if let (Some(output), Placement::File(name), true) =
                    (&place.output, &options.placement, folders::stat_target(&chosen.path).is_ok())
                {
                    plan.interim = interim::of(output, &chosen.path, name)?;
                    let left = plan.interim.as_ref().filter(|interim| folders::stat_target(&interim.second).is_ok());
                    let note =
                        |left: &Interim| format!("{}: a second name that an interrupted run left; removed", left.second.display());
                    plan.notes.extend(left.map(note));
                    plan.notes.extend(lost_owner_note(&chosen.path));
                    plan.replaced = Some(chosen.path.clone());
                    plan.data.push(NewFile::replacing(chosen.path, layout));
                } else {
                    // The values were in the old model, or belong to its owner alone as it did.
                    let like = place.output.as_deref().and_then(|output| folders::stat_target(output).ok());
                    plan.data.push(NewFile { like, ..NewFile::new(chosen.path, layout) });
                }
            }
        }
        plan.unused = place.unused(&model, &sorted.kept, plan.data_file.as_ref().map(|file| file.path.as_path()));
        let edits = tensors.into_iter().map(|(place, with)| Edit::ReplaceTensor { place, with }).collect();
        // The index is freed before the layout is made.
        let model = model.apply(edits)?;
        plan.data_bytes = model.data_bytes();
        let proto = model.into_proto();
        plan.model = Layout::of(&proto);
        parallel::drop_later(proto);
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

    /// The bytes of the model file and of its data files, new ones and those that exist, each up to the last value of the model.
    #[must_use]
    pub fn bytes_with_data(&self) -> u64 {
        self.bytes().saturating_add(self.data_bytes)
    }

    /// The progress of each file.
    pub fn progress(&self) -> impl Iterator<Item = Progress> {
        let layouts = self.data.iter().map(|file| &file.layout).chain([&self.model]);
        layouts.filter(|_| !self.exists_already).map(Layout::progress)
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The target of the model.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The data file that was made for the model.
    #[must_use]
    pub fn data_file(&self) -> Option<&DataFile> {
        self.data_file.as_ref()
    }

    /// The data files that are copied.
    #[must_use]
    pub fn copied_files(&self) -> Vec<DataFile> {
        self.data[..self.copies].iter().map(|file| DataFile { path: file.path.clone(), bytes: file.layout.bytes() }).collect()
    }
}

/// A note that a replaced file belongs to another user, if the new file will not.
fn lost_owner_note(path: &Path) -> Option<String> {
    let owner = lost_owner(path)?;
    Some(format!("{}: belongs to user {owner}; the new file belongs to the user who runs recast", path.display()))
}

/// The current state of a path.
fn before(path: &Path) -> Result<Before, Unplaceable> {
    Before::of(path).map_err(|error| Unplaceable::Output(format!("{}: {error}", path.display())))
}

/// Checks that a new data file would be in the folder of the model, and not in that of a link to it.
fn check_link(place: &Place) -> Result<(), Unplaceable> {
    match (&place.output, place.linked_output()) {
        (Some(link), Some(file)) => Err(Unplaceable::Linked { link: link.clone(), file }),
        _ => Ok(()),
    }
}

/// Checks that the output is not a file that must not be replaced.
fn check_output(place: &Place, data_ids: &BTreeSet<FileId>) -> Result<(), Unplaceable> {
    let Some(output) = &place.output else {
        return Ok(());
    };
    if !place.is_in_place && id_of(output).is_some_and(|id| data_ids.contains(&id)) {
        return Err(Unplaceable::OverData(output.clone()));
    }
    // Models are replaced as asked, also by others; any other file only if no model beside it needs it.
    if !place.is_in_place
        && let Some(why) = neighbours::use_as_data(output)
    {
        return Err(Unplaceable::Output(format!("{}: {why}; use another output", output.display())));
    }
    check_replaceable(output).map_err(|error| Unplaceable::Output(format!("{}: {error}", output.display())))
}
