//! Relations between plans that are executed in one run. Each plan is looked up in a table of the
//! others, so that a run of many models does not compare every pair.

use std::path::{Path, PathBuf};

use super::plan::SavePlan;
use crate::base::hash::HashMap;
use crate::base::stored::Stored;
use crate::files::folders::{FileId, id_of};
use crate::files::{PendingFile, identity};
use crate::protobuf::Piece;

/// A file that a plan writes over an input of another one.
#[derive(Debug, PartialEq, Eq)]
pub struct OverInput<'p> {
    /// The file.
    pub path: &'p Path,
    /// The index of the plan that reads it.
    pub reader: usize,
    /// The use that the other model makes of it: "stores tensors in" it, or "is read from" it.
    pub role: &'static str,
}

impl SavePlan {
    /// The first file that a plan replaces and another plan reads.
    pub(crate) fn over_inputs<'p>(
        plans: impl Iterator<Item = &'p SavePlan> + Clone,
    ) -> Option<OverInput<'p>> {
        let mut readers: HashMap<&FileId, Vec<(usize, &'static str)>> = HashMap::default();
        for (index, plan) in plans.clone().enumerate() {
            let data = plan.data_ids.iter().map(|id| (id, "stores tensors in"));
            let model = plan
                .sources
                .model()
                .and_then(|model| model.stat.id.as_ref())
                .map(|id| (id, "is read from"));
            for (id, role) in data.chain(model) {
                readers.entry(id).or_default().push((index, role));
            }
        }
        plans.enumerate().find_map(|(writer, plan)| {
            plan.files().find_map(|path| {
                let mut readers = readers.get(&id_of(path)?)?.iter();
                // A plan is listed at most twice for a file.
                let &(reader, role) = readers.find(|&&(reader, _)| reader != writer)?;
                Some(OverInput { path, reader, role })
            })
        })
    }

    /// Removes the copies that a plan that is executed before makes too: models may share data
    /// files.
    pub(crate) fn share_copies<'p>(plans: impl Iterator<Item = &'p mut SavePlan>) {
        let mut made: HashMap<PathBuf, Vec<Stored>> = HashMap::default();
        for plan in plans {
            let mut own = Vec::new();
            let mut is_new = |copy: &PendingFile| {
                let pieces = copy.layout.pieces();
                let [Piece::Bytes(bytes)] = pieces.as_slice() else {
                    return true;
                };
                let path = identity(&copy.path);
                let is_made = made.get(&path).is_some_and(|made| made.contains(bytes));
                if !is_made {
                    own.push((path, bytes.clone()));
                }
                !is_made
            };
            let files = &mut plan.files;
            let others = files.data.split_off(files.copies);
            files.data.retain(&mut is_new);
            files.copies = files.data.len();
            files.data.extend(others);
            own.into_iter()
                .for_each(|(path, bytes)| made.entry(path).or_default().push(bytes));
        }
    }
}
