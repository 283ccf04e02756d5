//! Checks of a batch of edits before it is applied.
//!
//! The index is rebuilt after a batch, which validates the model again, unless the batch changes
//! only versions, tensors, and nodes whose inputs and outputs stay the same. Debug builds compare
//! that index with a new one.

use std::cell::OnceCell;

use super::Model;
use super::edit::{Edit, Refused};
use super::index::{NonNodeUse, ValueId};
use super::scope::{NodeId, ScopeId};
use super::tensors::TensorPlace;
use crate::base::error::Invalid;
use crate::base::hash::{HashMap, HashSet};
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::protobuf::ir_version;
use crate::protobuf::schema::TensorProto;
use crate::tensor::Tensor;
use onnx_cast::DType;

/// The number of edits per job of a thread.
const PART: Threshold = Threshold::new("part of edits", 4096);

impl Model {
    /// A definition that is removed must be restored under its name, or have no remaining use.
    pub(super) fn check_removals(&self, edits: &[Edit]) -> Result<(), Refused> {
        let mut removed_values = Vec::new();
        for edit in edits {
            match edit {
                Edit::ReplaceNode { node, with } => {
                    // Most nodes are replaced by nodes that define the same names.
                    let (old, new) = (self.outputs(*node).map(|(_, value)| value), with.outputs());
                    removed_values
                        .extend(old.filter(|&value| !new.contains(&self.name(value).as_bytes())));
                }
                Edit::RenameOutput { node, output, .. } => {
                    removed_values.extend(self.output(*node, *output))
                }
                Edit::RemoveInitializer(value) => removed_values.push(*value),
                _ => {}
            }
        }
        if removed_values.is_empty() {
            return Ok(());
        }
        let mut removed_nodes = HashSet::default();
        // Those that no other node replaces.
        let mut dropped = HashSet::default();
        let mut rewired = HashSet::default();
        let mut renamed: HashSet<(NodeId, u32)> = HashSet::default();
        let mut defined = HashSet::default();
        for edit in edits {
            match edit {
                Edit::ReplaceNode { node, with } => {
                    removed_nodes.insert(*node);
                    if with.is_empty() {
                        dropped.insert(*node);
                    }
                    defined.extend(with.outputs().into_iter().map(|name| (node.scope, name)));
                }
                Edit::AddInitializer { scope, tensor } => {
                    defined.insert((*scope, tensor.name().as_bytes()));
                }
                Edit::RemoveInitializer(_) => {}
                Edit::Rewire { from, .. } => {
                    rewired.insert(*from);
                }
                Edit::ShareInitializer { with, .. } => rewired.extend(with),
                Edit::RenameInput { node, input, .. } => {
                    renamed.insert((*node, *input));
                }
                Edit::InsertNodes { scope, nodes, .. } => {
                    defined.extend(
                        nodes
                            .iter()
                            .flat_map(|node| &node.output)
                            .map(|name| (*scope, name.as_bytes())),
                    );
                }
                Edit::ReplaceTensor { .. } | Edit::SetType { .. } => {}
                Edit::RenameOutput { node, name, .. } => {
                    defined.insert((node.scope, name.as_bytes()));
                }
                Edit::SetAttribute { .. } => {}
                Edit::SetOpset { .. }
                | Edit::SetIrVersion(_)
                | Edit::FreezeInitializers
                | Edit::AddFunction(_)
                | Edit::AddFirstFunction(_)
                | Edit::Import { .. }
                | Edit::DropMetadata(_)
                | Edit::SetMetadata { .. } => {}
            }
        }
        removed_values.retain(|&value| {
            !defined.contains(&(self.scope_of(value), self.name(value).as_bytes()))
        });
        // Scopes of removed nodes go with them.
        let is_dropped = |scope: ScopeId| self.owners(scope).any(|owner| dropped.contains(&owner));
        let still_shadowed = OnceCell::new();
        let has_non_node_use = |value: ValueId| match self.non_node_use(value) {
            Some(NonNodeUse::Shadowed) => still_shadowed
                .get_or_init(|| self.shadowed_after(&removed_values, is_dropped))
                .contains(&value),
            non_node_use => non_node_use.is_some(),
        };
        for &value in &removed_values {
            let is_removed = |&(node, _): &(NodeId, u32)| {
                self.with_owners(node)
                    .any(|node| removed_nodes.contains(&node))
            };
            let in_use = self.uses(value).find(|user| {
                !rewired.contains(&value) && !renamed.contains(user) && !is_removed(user)
            });
            let reason = match in_use {
                Some((node, _)) => format!("is still used by {}", self.node_path(node)),
                None if self
                    .scopes_that_output(value)
                    .iter()
                    .any(|&scope| !is_dropped(scope)) =>
                {
                    "is an output of its graph".to_owned()
                }
                None if has_non_node_use(value) => {
                    "is named by an annotation, a training binding or in an inner scope".to_owned()
                }
                None => continue,
            };
            return Err(self.refuse(value, &reason));
        }
        Ok(())
    }

    /// The values whose names inner scopes define again after some values and scopes are removed.
    fn shadowed_after(
        &self,
        removed: &[ValueId],
        is_dropped: impl Fn(ScopeId) -> bool,
    ) -> HashSet<ValueId> {
        let removed: HashSet<ValueId> = removed.iter().copied().collect();
        let stays =
            |&value: &ValueId| !removed.contains(&value) && !is_dropped(self.scope_of(value));
        self.values()
            .filter(stays)
            .filter_map(|value| self.shadowed_by(value))
            .collect()
    }

    /// A replacement tensor must keep the properties that the graph depends on.
    pub(super) fn check_replaced_tensors(&self, edits: &[Edit]) -> Result<(), Refused> {
        let replacements = || {
            edits.iter().filter_map(|edit| match edit {
                Edit::ReplaceTensor {
                    place,
                    with,
                    check_width,
                } => Some((*place, (with, *check_width))),
                _ => None,
            })
        };
        let mut replaced: HashMap<TensorPlace, (&TensorProto, bool)> = replacements().collect();
        if replaced.is_empty() {
            return Ok(());
        }
        for (place, old) in self.tensors() {
            if let Some((new, check_width)) = replaced.remove(&place)
                && ((&old.name, &old.dims) != (&new.name, &new.dims)
                    || (check_width && width(old) != width(new)))
            {
                return Err(Invalid::at(
                    self.tensor_path(place),
                    "the replacement has another name, width or shape",
                )
                .into());
            }
        }
        // The first one that is not there, in the order of the edits.
        match replacements().find(|(place, _)| replaced.contains_key(place)) {
            Some((place, _)) => {
                Err(Invalid::at("model", format!("there is no tensor at {place:?}")).into())
            }
            None => Ok(()),
        }
    }

    /// Whether the index stays valid: the edits change versions, tensors, and nodes that use and
    /// define the same values as before. In models of later IR versions than the latest, unknown
    /// types are tolerated. In models with functions, a node may call another one than before.
    pub(super) fn keeps_index(&self, edits: &[Edit]) -> bool {
        let (is_good, has_functions) = (
            self.bad_tensors().is_empty(),
            !self.index.functions.is_empty(),
        );
        let keeps = |edit: &Edit| match edit {
            Edit::SetOpset { .. } | Edit::SetIrVersion(_) | Edit::SetMetadata { .. } => true,
            Edit::ReplaceNode { node, with } => {
                is_good && !has_functions && with.keeps_values_of(self.node(*node))
            }
            Edit::ReplaceTensor {
                with,
                check_width: true,
                ..
            } => is_good && Tensor::read(with).is_ok(),
            _ => false,
        };
        let parts: Vec<&[Edit]> = edits.chunks(PART.get()).collect();
        self.ir_version() <= ir_version::LATEST
            && parallel::all(parts, |part| part.iter().all(keeps))
    }
}

/// Bits of an element.
fn width(tensor: &TensorProto) -> Option<usize> {
    DType::from_number(tensor.data_type()).map(DType::bits)
}
