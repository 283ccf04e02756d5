//! Applies the fixes of findings until none is left.

use std::collections::HashSet;

use super::run::lint;
use super::{Baseline, Diagnostic, Options, Safety};
use crate::base::error::{Classified, ErrorKind};
use crate::graph::{Edit, Model, NodeId, Refused, TensorPlace, TypePlace, ValueId};

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

/// Applies the safe fixes of findings that are not in the baseline, and the unsafe fixes if they
/// are allowed.
///
/// Each round applies all fixes that do not conflict, and then lints the model again. The fix of a
/// finding that a more specific one hides in reports is applied too.
///
/// # Errors
/// If a rule has a bug.
pub fn fix(
    mut model: Model,
    path: &str,
    options: &Options,
    allowed: Safety,
    known: &Baseline,
) -> Result<Fixed, FixError> {
    let options = &options.clone().show_overlapping(true);
    let mut fixed = Vec::new();
    // Detects cycles by Brent's algorithm: the model is compared with that of the last round whose
    // number is a power of two. A cycle of any start and length repeats that model; many rounds
    // without a cycle do not.
    let mut earlier = None;
    for number in 1_u64.. {
        let found = known.filter(lint(&model, path, options));
        let round = compatible(&model, found, allowed);
        if round.is_empty() {
            break;
        }
        let edits = round
            .iter()
            .flat_map(|found| found.fix.iter().flat_map(|fix| fix.edits.clone()))
            .collect();
        model = model
            .with_edits(edits)
            .map_err(|reason| FixError::Refused {
                code: codes(&round),
                reason,
            })?;
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
    let mut taken = HashSet::new();
    let mut chosen = Vec::new();
    for one in found {
        let Some(fix) = one.fix.as_ref().filter(|fix| fix.safety <= allowed) else {
            continue;
        };
        let claims = claims(model, &fix.edits);
        if !claims.iter().any(|claim| claim.conflicts(&taken)) {
            taken.extend(claims);
            chosen.push(one);
        }
    }
    chosen
}

/// An object that a fix touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Claim {
    /// A node that it replaces.
    Changed(NodeId),
    /// A node whose inputs it rewires.
    Rewired(NodeId),
    /// An input that it rewires, by node and index.
    Input(NodeId, u32),
    /// A node with a changed or rewired node in a subgraph: replacing this too would lose one of
    /// the changes.
    Owner(NodeId),
    /// A node that it removes.
    Removed(NodeId),
    /// A node whose results it starts to use.
    Needed(NodeId),
    /// A value whose declaration it changes.
    Value(ValueId),
    /// A tensor that it changes.
    Tensor(TensorPlace),
    /// Anything else.
    Header,
}

impl Claim {
    /// Whether one of the claims of other fixes excludes this one.
    fn conflicts(self, taken: &HashSet<Claim>) -> bool {
        let is_taken = |claim| taken.contains(&claim);
        match self {
            Claim::Changed(node) => [
                Claim::Changed(node),
                Claim::Rewired(node),
                Claim::Owner(node),
            ]
            .into_iter()
            .any(is_taken),
            Claim::Rewired(node) | Claim::Owner(node) => is_taken(Claim::Changed(node)),
            Claim::Removed(node) => is_taken(Claim::Needed(node)),
            Claim::Needed(node) => is_taken(Claim::Removed(node)),
            Claim::Input(..) | Claim::Value(_) | Claim::Tensor(_) | Claim::Header => is_taken(self),
        }
    }
}

fn claims(model: &Model, edits: &[Edit]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for edit in edits {
        match edit {
            Edit::ReplaceNode { node, with } => {
                claims.push(Claim::Changed(*node));
                if with.is_empty() {
                    claims.push(Claim::Removed(*node));
                }
                let old: HashSet<&str> =
                    model.node(*node).input.iter().map(String::as_str).collect();
                let with = with.get();
                let new = with
                    .iter()
                    .flat_map(|new| &new.input)
                    .filter(|name| !old.contains(name.as_str()));
                let producers =
                    new.filter_map(|name| model.producer(model.lookup(node.scope, name)?));
                claims.extend(producers.map(Claim::Needed));
            }
            Edit::Rewire { from, to } => {
                claims.extend(
                    model.uses(*from).flat_map(|(user, input)| {
                        [Claim::Rewired(user), Claim::Input(user, input)]
                    }),
                );
                claims.extend(model.producer(*to).map(Claim::Needed));
            }
            Edit::SetType {
                at: TypePlace::Value(value),
                ..
            } => claims.push(Claim::Value(*value)),
            Edit::ReplaceTensor { place, .. } => claims.push(Claim::Tensor(*place)),
            Edit::RenameInput { node, input, .. } => {
                claims.extend([Claim::Rewired(*node), Claim::Input(*node, *input)])
            }
            Edit::RenameOutput { node, .. } | Edit::SetAttribute { node, .. } => {
                claims.push(Claim::Changed(*node))
            }
            Edit::AddInitializer { .. }
            | Edit::InsertNodes { .. }
            | Edit::SetType {
                at: TypePlace::Name { .. },
                ..
            }
            | Edit::ShareInitializer { .. }
            | Edit::RemoveInitializer(_)
            | Edit::SetOpset { .. }
            | Edit::SetIrVersion(_)
            | Edit::FreezeInitializers
            | Edit::AddFunction(_)
            | Edit::AddFirstFunction(_)
            | Edit::Import { .. }
            | Edit::DropMetadata(_)
            | Edit::SetMetadata { .. } => claims.push(Claim::Header),
        }
    }
    let owners = claims.iter().filter_map(|claim| match claim {
        Claim::Changed(node) | Claim::Rewired(node) => Some(*node),
        _ => None,
    });
    let owners: Vec<Claim> = owners
        .flat_map(|node| model.owners(node.scope))
        .map(Claim::Owner)
        .collect();
    claims.extend(owners);
    claims
}

fn codes(found: &[Diagnostic]) -> String {
    let mut codes: Vec<&str> = found.iter().map(|one| one.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.join(", ")
}
