//! Applying what findings propose, until nothing more is proposed.

use std::collections::HashSet;

use super::{Baseline, Diagnostic, Job, Overlapping, Safety, lint};
use crate::error::{Classified, ErrorKind};
use crate::graph::{Edit, Model, NodeId, Refused, ScopeKind, TensorPlace, ValueId};

/// A model with its findings set right, as far as they can be.
#[derive(Debug)]
pub struct Fixed {
    /// The model.
    pub model: Model,
    /// The findings that were set right.
    pub fixed: Vec<Diagnostic>,
}

/// Why fixing came to no end.
#[derive(Debug, thiserror::Error)]
pub enum FixError {
    /// A rule proposed what would break the model: an error of the rule.
    #[error("the fix of {code} failed: {reason}; this is a bug, please report it")]
    Refused {
        /// The rule, or several.
        code: String,
        /// What it proposed.
        reason: Refused,
    },
    /// Rules undo each other's work: an error of the rules.
    #[error("the fixes of {0} undo each other; this is a bug, please report it")]
    Endless(String),
}

impl Classified for FixError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Internal
    }
}

/// Sets findings right whose fix is safe, or unsafe too if that is allowed, and which the baseline does not hide.
///
/// Each round sets right all findings that do not touch; what is left is judged again. A finding that a more specific one hides in
/// reports is set right too.
///
/// # Errors
/// Where a rule is wrong.
pub fn fix(mut model: Model, job: &Job, allowed: Safety, known: &Baseline) -> Result<Fixed, FixError> {
    let job = &Job { overlapping: Overlapping::Shown, ..*job };
    let mut fixed = Vec::new();
    // The model of the last round whose number is a power of two: a circle, wherever it begins and however long it is, leads to a
    // model that was there before, while work that takes many rounds does not.
    let mut earlier = None;
    for number in 1_u64.. {
        let (found, _) = known.filter(lint(&model, job));
        let round = compatible(&model, found, allowed);
        if round.is_empty() {
            break;
        }
        let edits = round.iter().flat_map(|found| found.fix.iter().flat_map(|fix| fix.edits.clone())).collect();
        model = model.apply(edits).map_err(|reason| FixError::Refused { code: codes(&round), reason })?;
        fixed.extend(round);
        if earlier.as_ref() == Some(model.proto()) {
            return Err(FixError::Endless(codes(&fixed)));
        }
        if number.is_power_of_two() {
            earlier = Some(model.proto().clone());
        }
    }
    Ok(Fixed { model, fixed })
}

/// Findings whose fixes can be applied together: of those that touch the same nodes, the first.
fn compatible(model: &Model, found: Vec<Diagnostic>, allowed: Safety) -> Vec<Diagnostic> {
    let mut taken = Claims::default();
    let mut chosen = Vec::new();
    for one in found {
        let Some(fix) = one.fix.as_ref().filter(|fix| fix.safety <= allowed) else {
            continue;
        };
        let claims = Claims::of(model, &fix.edits);
        if !taken.conflict(&claims) {
            taken.add(claims);
            chosen.push(one);
        }
    }
    chosen
}

/// What a fix touches.
#[derive(Default)]
struct Claims {
    /// Nodes that it writes anew.
    changed: HashSet<NodeId>,
    /// Nodes one of whose inputs it rewires.
    rewired: HashSet<NodeId>,
    /// The inputs that it rewires, by node and index.
    inputs: HashSet<(NodeId, u32)>,
    /// Nodes that hold a changed or rewired one in a graph: writing these anew too would lose one of the changes.
    around: HashSet<NodeId>,
    /// Nodes that it removes.
    removed: HashSet<NodeId>,
    /// Nodes whose results it begins to use.
    needed: HashSet<NodeId>,
    /// Values whose declaration it changes.
    values: HashSet<ValueId>,
    /// Tensors that it changes.
    tensors: HashSet<TensorPlace>,
    /// Whether it changes something else.
    header: bool,
}

impl Claims {
    fn of(model: &Model, edits: &[Edit]) -> Claims {
        let mut claims = Claims::default();
        for edit in edits {
            match edit {
                Edit::ReplaceNode { node, with } => {
                    claims.changed.insert(*node);
                    if with.is_empty() {
                        claims.removed.insert(*node);
                    }
                    let old: HashSet<&str> = model.node(*node).input.iter().map(String::as_str).collect();
                    let new = with.iter().flat_map(|new| &new.input).filter(|name| !old.contains(name.as_str()));
                    claims.needed.extend(new.filter_map(|name| model.producer(model.lookup(node.scope, name)?)));
                }
                Edit::Rewire { from, to } => {
                    claims.rewired.extend(model.uses(*from).map(|(user, _)| user));
                    claims.inputs.extend(model.uses(*from));
                    claims.needed.extend(model.producer(*to));
                }
                Edit::Declare { value, .. } => {
                    claims.values.insert(*value);
                }
                Edit::ReplaceTensor { place, .. } => {
                    claims.tensors.insert(*place);
                }
                Edit::AddInitializer { .. }
                | Edit::ShareInitializer { .. }
                | Edit::RemoveInitializer(_)
                | Edit::SetOpset { .. }
                | Edit::SetIrVersion(_)
                | Edit::FreezeInitializers
                | Edit::DropMetadata(_) => {
                    claims.header = true;
                }
            }
        }
        let owners = claims.changed.union(&claims.rewired).flat_map(|node| owners(model, *node)).collect::<Vec<_>>();
        claims.around.extend(owners);
        claims
    }

    fn conflict(&self, other: &Claims) -> bool {
        let meet = |left: &HashSet<NodeId>, right: &HashSet<NodeId>| !left.is_disjoint(right);
        meet(&self.changed, &other.changed)
            || meet(&self.changed, &other.rewired)
            || meet(&self.rewired, &other.changed)
            || !self.inputs.is_disjoint(&other.inputs)
            || meet(&self.changed, &other.around)
            || meet(&self.around, &other.changed)
            || meet(&self.removed, &other.needed)
            || meet(&self.needed, &other.removed)
            || !self.values.is_disjoint(&other.values)
            || !self.tensors.is_disjoint(&other.tensors)
            || (self.header && other.header)
    }

    fn add(&mut self, other: Claims) {
        self.changed.extend(other.changed);
        self.rewired.extend(other.rewired);
        self.inputs.extend(other.inputs);
        self.around.extend(other.around);
        self.removed.extend(other.removed);
        self.needed.extend(other.needed);
        self.values.extend(other.values);
        self.tensors.extend(other.tensors);
        self.header |= other.header;
    }
}

/// The nodes in whose graphs a node stands, the innermost first.
fn owners(model: &Model, node: NodeId) -> impl Iterator<Item = NodeId> {
    let owner = |scope| match model.scope_kind(scope) {
        ScopeKind::Subgraph { owner, .. } => Some(owner),
        _ => None,
    };
    std::iter::successors(owner(node.scope), move |outer| owner(outer.scope))
}

fn codes(found: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = found.iter().map(|one| one.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.join(", ")
}
