//! Tracks which tensors folding stores and which it frees.
//!
//! Results of equal casts of one constant, and of other equal nodes, are stored once: 1. an output
//! of the graph that contains the constant replaces the others, since its name must be kept; 2.
//! otherwise a result whose scope is or encloses the scopes of the others replaces them; 3.
//! otherwise a result with a new name is stored in the scope of the constant. `Constant` nodes are
//! only visible to later nodes, so that results in `Constant` nodes are shared within one scope
//! only. A result that has to keep its name in another scope is also stored there.

use super::decisions::{Fold, FoldDecisions};
use super::stored_bytes::{SharedChain, StoredBytes, StoredBytesChange};
use crate::base::hash::HashMap;
use crate::graph::{Edit, FreshNames, NodeId, ScopeId, ValueId};
use crate::tensor::Tensor;

/// How a result is stored.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Any equal result may replace it.
    Free,
    /// Under its own name; it may replace others.
    Fixed,
    /// Under its own name; it does not replace others.
    Apart,
}

/// The longest name that may replace a shorter one: the model grows by the length of the name for
/// each use.
const LONGEST_SHARED_NAME: usize = 200;

impl FoldDecisions<'_> {
    /// Removes a node's uses of its inputs, and adds its results.
    pub(super) fn change(
        &mut self,
        inputs: impl Iterator<Item = ValueId>,
        folds: &[Fold],
    ) -> StoredBytesChange {
        let mut after = StoredBytes {
            growth: self.stored_bytes.growth,
            ..StoredBytes::default()
        };
        let mut released: Vec<ValueId> = inputs.collect();
        while let Some(input) = released.pop() {
            // The uses are counted once, also if the change is not made: a constant may have as
            // many uses as there are casts.
            let all = self
                .stored_bytes
                .uses_left
                .entry(input)
                .or_insert_with(|| self.model.uses(input).count());
            let uses = after.uses_left.entry(input).or_insert(*all);
            *uses -= 1;
            if *uses > 0 || !self.model.is_removable(input) {
                continue;
            }
            match (self.by_output.get(&input), self.computing_node(input)) {
                (Some(&unneeded), _) => self.count(&mut after, &self.folds[unneeded], input, -1),
                (None, Some(node)) => {
                    let all = self
                        .stored_bytes
                        .outputs_left
                        .get(&node)
                        .copied()
                        .unwrap_or(0);
                    let outputs = after.outputs_left.entry(node).or_insert(all);
                    *outputs = outputs.saturating_sub(1);
                    if *outputs == 0 {
                        released.extend(self.model.inputs(node).map(|(_, value)| value));
                    }
                }
                (None, None) => after.growth -= self.constant_bytes(input),
            }
        }
        let before = after.growth;
        for fold in folds {
            if let Some(output) = fold.output.filter(|&output| self.is_needed(output)) {
                self.count(&mut after, fold, output, 1);
            }
        }
        StoredBytesChange {
            stores: after.growth > before,
            after,
        }
    }

    /// Counts the outputs of a computed node that is not a cast, before any of them loses a use.
    pub(super) fn count_outputs(&mut self, node: NodeId) {
        let needed = self
            .model
            .outputs(node)
            .filter(|&(_, value)| self.is_needed(value))
            .count();
        self.stored_bytes.outputs_left.insert(node, needed);
    }

    pub(super) fn commit(&mut self, StoredBytesChange { after, .. }: StoredBytesChange) {
        self.stored_bytes.uses_left.extend(after.uses_left);
        self.stored_bytes.outputs_left.extend(after.outputs_left);
        self.stored_bytes.copies.extend(after.copies);
        self.stored_bytes.growth = after.growth;
    }

    /// Adds or removes a result.
    fn count(&self, after: &mut StoredBytes, fold: &Fold, value: ValueId, by: i64) {
        let bytes = fold.content.bytes() as i64;
        let role = self.role(fold, value);
        if role == Role::Apart {
            after.growth += by * bytes;
            return;
        }
        let before = || {
            self.stored_bytes
                .copies
                .get(&fold.shared)
                .copied()
                .unwrap_or_default()
        };
        let copies = after.copies.entry(fold.shared).or_insert_with(before);
        let stored = copies.stored();
        match role {
            Role::Free => copies.free += by,
            _ => copies.fixed += by,
        }
        after.growth += (copies.stored() - stored) * bytes;
    }

    /// The name is not shadowed by an inner scope: such casts are not folded.
    fn role(&self, fold: &Fold, value: ValueId) -> Role {
        let (_, shared_in) = fold.shared;
        match self.model.name(value).chars().nth(LONGEST_SHARED_NAME) {
            None if self.model.is_removable(value) => Role::Free,
            None if self.is_node_of_subgraph(value, fold.content.dtype()) => Role::Apart,
            None if fold.node.scope == shared_in && !self.becomes_node(shared_in) => Role::Fixed,
            _ => Role::Apart,
        }
    }

    /// The scope in which equal results of casts of a constant are shared.
    pub(super) fn shared_in(&self, constant: ValueId, cast: NodeId) -> ScopeId {
        let scope = self.model.scope_of(constant);
        if self.becomes_node(scope) {
            cast.scope
        } else {
            scope
        }
    }

    /// Whether anything other than folded and removed nodes uses the value.
    pub(super) fn is_needed(&self, value: ValueId) -> bool {
        self.uses_left(value) > 0 || !self.model.is_removable(value)
    }

    /// Values that were used by folded or removed nodes and are no longer used.
    pub(super) fn unneeded(&self) -> Vec<ValueId> {
        #[expect(clippy::disallowed_methods, reason = "they are sorted")]
        let mut unneeded: Vec<ValueId> = self
            .stored_bytes
            .uses_left
            .keys()
            .copied()
            .filter(|&value| !self.is_needed(value))
            .collect();
        unneeded.sort_unstable();
        unneeded
    }

    fn uses_left(&self, value: ValueId) -> usize {
        self.stored_bytes
            .uses_left
            .get(&value)
            .copied()
            .unwrap_or_else(|| self.model.uses(value).count())
    }

    fn constant_bytes(&self, value: ValueId) -> i64 {
        let constant = self.model.constant(value).ok();
        constant
            .and_then(|constant| Some(Tensor::read(&constant.tensor).ok()?.stored_bytes() as i64))
            .unwrap_or(0)
    }

    /// Rewires the consumers of equal results to one of them, and returns the results that are not
    /// stored.
    pub(super) fn share(&self, edits: &mut Vec<Edit>) -> Vec<ValueId> {
        let mut free: Vec<(&Fold, ValueId)> = Vec::new();
        let mut fixed: HashMap<SharedChain, (NodeId, ValueId)> = HashMap::default();
        #[expect(
            clippy::disallowed_methods,
            reason = "the free ones are sorted, and of the fixed ones the first counts"
        )]
        for (&value, fold) in self
            .by_output
            .iter()
            .map(|(value, &fold)| (value, &self.folds[fold]))
        {
            match self.role(fold, value) {
                Role::Free if self.is_needed(value) => free.push((fold, value)),
                Role::Fixed => {
                    let first = fixed.entry(fold.shared).or_insert((fold.node, value));
                    *first = (*first).min((fold.node, value));
                }
                _ => {}
            }
        }
        free.sort_unstable_by_key(|&(fold, value)| (fold.shared, fold.node, value));
        let mut names = FreshNames::new(self.model);
        let mut replaced = Vec::new();
        for equal in free.chunk_by(|(one, _), (other, _)| one.shared == other.shared) {
            let (first_fold, first) = equal[0];
            let values = equal.iter().map(|&(_, value)| value);
            let first_scope = first_fold.node.scope;
            // An initializer is defined before all nodes, a `Constant` only before the later nodes
            // of its scope.
            let sees = |fold: &Fold| {
                fold.node.scope == first_scope
                    || !self.becomes_node(first_scope)
                        && self.model.is_visible(first, fold.node.scope)
            };
            let (_, shared_in) = first_fold.shared;
            match fixed.get(&first_fold.shared).map(|&(_, value)| value) {
                Some(fixed) => {
                    edits.extend(values.clone().map(|from| Edit::Rewire { from, to: fixed }));
                    replaced.extend(values);
                }
                None if equal.iter().all(|(fold, _)| sees(fold)) => {
                    edits.extend(
                        values
                            .clone()
                            .skip(1)
                            .map(|from| Edit::Rewire { from, to: first }),
                    );
                    replaced.extend(values.skip(1));
                }
                None => {
                    let name = names.fresh(&format!("{}_shared", self.model.name(first)));
                    let tensor = Box::new(first_fold.content.clone().into_tensor(&name));
                    edits.push(Edit::ShareInitializer {
                        scope: shared_in,
                        tensor,
                        with: values.clone().collect(),
                    });
                    replaced.extend(values);
                }
            }
        }
        replaced
    }
}
