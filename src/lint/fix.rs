//! Applies the fixes of findings until none is left.

use std::collections::HashSet;

use super::{Baseline, Diagnostic, Job, Overlapping, Safety, lint};
use crate::base::error::{Classified, ErrorKind};
use crate::graph::{Edit, Model, NodeId, Refused, TensorPlace, ValueId};

/// A model after its fixable findings are fixed.
#[derive(Debug)]
pub struct Fixed {
    /// The model.
    pub model: Model,
    /// The findings that were fixed.
    pub fixed: Vec<Diagnostic>,
}

/// Why fixing did not converge.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// A rule proposed edits that would break the model: a bug in the rule.
    #[error("the fix of {code} failed: {reason}; this is a bug, please report it")]
    Refused {
        /// The rule, or several.
        code: String,
        /// The error of the edits.
        reason: Refused,
    },
    /// The fixes of two rules undo each other: a bug in the rules.
    #[error("the fixes of {0} undo each other; this is a bug, please report it")]
    NotConverged(String),
}

impl Classified for FixError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Internal
    }
}

/// Applies the safe fixes of findings that are not in the baseline, and the unsafe fixes if they are allowed.
///
/// Each round applies all fixes that do not conflict, and then lints the model again. The fix of a finding that a more specific
/// one hides in reports is applied too.
///
/// # Errors
/// If a rule has a bug.
pub fn fix(mut model: Model, job: &Job, allowed: Safety, known: &Baseline) -> Result<Fixed, FixError> {
    let job = &Job { overlapping: Overlapping::Shown, ..*job };
    let mut fixed = Vec::new();
    // Detects cycles by Brent's algorithm: the model is compared with that of the last round whose number is a power of two. A
    // cycle of any start and length repeats that model; many rounds without a cycle do not.
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
            return Err(FixError::NotConverged(codes(&fixed)));
        }
        if number.is_power_of_two() {
            earlier = Some(model.proto().clone());
        }
    }
    Ok(Fixed { model, fixed })
}

/// The findings whose fixes can be applied together: of conflicting ones, the first.
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

/// The nodes, values and tensors that a fix touches.
#[derive(Default)]
struct Claims {
    /// Nodes that it replaces.
    changed: HashSet<NodeId>,
    /// Nodes whose inputs it rewires.
    rewired: HashSet<NodeId>,
    /// The inputs that it rewires, by node and index.
    inputs: HashSet<(NodeId, u32)>,
    /// Nodes with a changed or rewired node in a subgraph: replacing these too would lose one of the changes.
    owners: HashSet<NodeId>,
    /// Nodes that it removes.
    removed: HashSet<NodeId>,
    /// Nodes whose results it starts to use.
    needed: HashSet<NodeId>,
    /// Values whose declarations it changes.
    values: HashSet<ValueId>,
    /// Tensors that it changes.
    tensors: HashSet<TensorPlace>,
    /// Whether it changes anything else.
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
                    let with = with.get();
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
                Edit::ReplaceTensor { place, .. } | Edit::CastTensor { place, .. } => {
                    claims.tensors.insert(*place);
                }
                Edit::RenameInput { node, input, .. } => {
                    claims.rewired.insert(*node);
                    claims.inputs.insert((*node, *input));
                }
                Edit::RenameOutput { node, .. } | Edit::SetAttribute { node, .. } => {
                    claims.changed.insert(*node);
                }
                Edit::AddInitializer { .. }
                | Edit::InsertNodes { .. }
                | Edit::DeclareNew { .. }
                | Edit::Retype { .. }
                | Edit::ShareInitializer { .. }
                | Edit::RemoveInitializer(_)
                | Edit::SetOpset { .. }
                | Edit::SetIrVersion(_)
                | Edit::FreezeInitializers
                | Edit::AddFunction(_)
                | Edit::DropMetadata(_) => {
                    claims.header = true;
                }
            }
        }
        #[expect(clippy::disallowed_methods, reason = "from tables into a table")]
        let owners = claims.changed.union(&claims.rewired).flat_map(|node| model.owners(node.scope)).collect::<Vec<_>>();
        claims.owners.extend(owners);
        claims
    }

    fn conflict(&self, other: &Claims) -> bool {
        let meet = |left: &HashSet<NodeId>, right: &HashSet<NodeId>| !left.is_disjoint(right);
        meet(&self.changed, &other.changed)
            || meet(&self.changed, &other.rewired)
            || meet(&self.rewired, &other.changed)
            || !self.inputs.is_disjoint(&other.inputs)
            || meet(&self.changed, &other.owners)
            || meet(&self.owners, &other.changed)
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
        self.owners.extend(other.owners);
        self.removed.extend(other.removed);
        self.needed.extend(other.needed);
        self.values.extend(other.values);
        self.tensors.extend(other.tensors);
        self.header |= other.header;
    }
}

fn codes(found: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = found.iter().map(|one| one.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.join(", ")
}
