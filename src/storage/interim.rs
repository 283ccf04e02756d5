//! The interim model that replaces an output's old model while its data file is replaced: it
//! differs only in using that file by a second name.

use std::path::{Path, PathBuf};

use super::own_data_names::{is_same, name_of, own_files, own_names};
use super::unplaceable::Unplaceable;
use crate::files::{self, Before, DataFolder, Interim, folders};
use crate::graph::{Edit, Model};
use crate::protobuf::Layout;
use crate::protobuf::schema::ModelProto;
use crate::tensor::{Reference, is_external, moved_to_file};

/// The second names that an interrupted run gave to a data file of an output. The data file may
/// have such a name itself.
pub(super) fn second_names(output: &Path, data: &Path) -> Vec<PathBuf> {
    let is_second = |path: &PathBuf| !is_same(path, data) && is_one_file(path, data);
    own_files(output).into_iter().filter(is_second).collect()
}

/// The interim model for replacing a data file that the output's old model uses. None if it does
/// not use the file.
pub(super) fn of(output: &Path, data: &Path, name: &str) -> Result<Option<Interim>, Unplaceable> {
    let in_use = || Unplaceable::InUse {
        name: name.to_owned(),
        by: output.to_owned(),
    };
    let Some(proto) = files::open(output)
        .ok()
        .and_then(|input| ModelProto::from_bytes(input.bytes).ok())
    else {
        return Ok(None);
    };
    if proto.graph.is_none() {
        return Ok(None);
    }
    // Other programs may be able to read this model, but it cannot be changed here.
    let model = Model::new(proto).map_err(|_| in_use())?;
    let folder = DataFolder::of_model(output);
    let data = folders::resolve(data).map_err(|_| in_use())?;
    let second = second_names(output, &data).into_iter().next();
    let second = second
        .or_else(|| own_names(output).find(|path| folders::stat(path).is_err()))
        .ok_or_else(in_use)?;
    let location = name_of(&second).ok_or_else(in_use)?;
    let mut edits = Vec::new();
    for (place, tensor) in model.tensors().filter(|(_, tensor)| is_external(tensor)) {
        let Ok(reference) = Reference::read(tensor) else {
            continue;
        };
        if folder
            .locate(&reference.location)
            .is_ok_and(|found| found.path() == data)
        {
            let with = moved_to_file(
                tensor,
                &Reference {
                    location: location.to_owned(),
                    ..reference
                },
            );
            edits.push(Edit::replace_tensor(place, with));
        }
    }
    if edits.is_empty() {
        return Ok(None);
    }
    Ok(Some(Interim {
        model: Layout::of(model.with_edits(edits)?.proto()),
        second,
    }))
}

fn is_one_file(left: &Path, right: &Path) -> bool {
    matches!((Before::of(left), Before::of(right)), (Ok(left), Ok(right)) if left.is_same_file(&right))
}
