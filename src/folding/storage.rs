//! What folding stores, and what it frees.
//!
//! Results of equal casts of one constant are stored once, in one of these ways: 1. an output of the graph that has the constant
//! stands for the others, which could not take its name; 2. one whose scope is that of the others or around it stands for them;
//! 3. one of a new name joins the constant. Where results are stored in `Constant` nodes, which only later nodes see, each scope has
//! its own. A result that has to keep its name in another scope is stored there as well.

use std::collections::HashMap;

use super::{Decisions, Fold, Series};
use crate::graph::{CastNode, Edit, Names, NodeId, ScopeId, TypeSource, ValueId};
use crate::tensor::Tensor;

/// Equal results that may share one, and the scope in which they may.
pub(super) type Place = (Series, ScopeId);

/// How many results there are at a place.
#[derive(Debug, Clone, Copy, Default)]
struct Copies {
    /// That keep their names, and stand for others.
    fixed: i64,
    /// That others may stand for.
    free: i64,
}

impl Copies {
    fn stored(self) -> i64 {
        self.fixed.max(i64::from(self.free > 0))
    }
}

/// How a result is stored.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// Any equal one may stand for it.
    Free,
    /// Under its name, and it may stand for others.
    Fixed,
    /// Under its name, for itself.
    Apart,
}

/// Characters of a name that many uses may take for a shorter one: the model would become as long as the name times the uses.
const LONGEST_SHARED_NAME: usize = 200;

/// What is stored after the folds so far.
#[derive(Debug, Default)]
pub(super) struct Storage {
    /// Uses that remain of values that lost one.
    uses_left: HashMap<ValueId, usize>,
    copies: HashMap<Place, Copies>,
    /// The bytes of all results without those of the constants that go.
    growth: i64,
}

/// What is stored after one more fold.
pub(super) struct Change {
    after: Storage,
    /// Whether the result takes bytes beside those of equal ones.
    pub stores: bool,
}

impl Change {
    /// By how many bytes the folded tensors exceed those they replace.
    pub fn growth(&self) -> i64 {
        self.after.growth
    }
}

impl Decisions<'_> {
    /// Takes the cast's uses of its inputs away, and adds its result. What the change does not speak of stays as it is.
    pub(super) fn change(&self, cast: &CastNode, fold: &Fold) -> Change {
        let mut after = Storage { growth: self.storage.growth, ..Storage::default() };
        let like = match cast.to {
            TypeSource::Like(like) => Some(like),
            TypeSource::Attribute(_) => None,
        };
        for input in [Some(cast.input), like].into_iter().flatten() {
            let uses = after.uses_left.entry(input).or_insert_with(|| self.uses_left(input));
            *uses -= 1;
            if *uses == 0 && self.is_free(input) {
                match self.by_output.get(&input) {
                    Some(&unneeded) => self.count(&mut after, &self.folds[unneeded], input, -1),
                    None => after.growth -= self.constant_bytes(input),
                }
            }
        }
        let before = after.growth;
        if let Some(output) = cast.output.filter(|&output| self.is_needed(output)) {
            self.count(&mut after, fold, output, 1);
        }
        Change { stores: after.growth > before, after }
    }

    pub(super) fn commit(&mut self, change: Change) {
        self.storage.uses_left.extend(change.after.uses_left);
        self.storage.copies.extend(change.after.copies);
        self.storage.growth = change.after.growth;
    }

    /// Adds a result, or takes it away.
    fn count(&self, after: &mut Storage, fold: &Fold, value: ValueId, by: i64) {
        let bytes = fold.content.bytes() as i64;
        let role = self.role(fold, value);
        if role == Role::Apart {
            after.growth += by * bytes;
            return;
        }
        let copies =
            after.copies.entry(fold.place).or_insert_with(|| self.storage.copies.get(&fold.place).copied().unwrap_or_default());
        let stored = copies.stored();
        match role {
            Role::Free => copies.free += by,
            _ => copies.fixed += by,
        }
        after.growth += (copies.stored() - stored) * bytes;
    }

    /// No inner scope defines the name again: such casts are not folded.
    fn role(&self, fold: &Fold, value: ValueId) -> Role {
        let (_, shared_in) = fold.place;
        match self.model.name(value).chars().nth(LONGEST_SHARED_NAME) {
            None if self.is_free(value) => Role::Free,
            None if fold.node.scope == shared_in && !self.becomes_node(shared_in) => Role::Fixed,
            _ => Role::Apart,
        }
    }

    /// The scope in which equal results of casts of a constant may share one.
    pub(super) fn shared_in(&self, constant: ValueId, cast: NodeId) -> ScopeId {
        let scope = self.model.scope_of(constant);
        if self.becomes_node(scope) { cast.scope } else { scope }
    }

    /// Whether something but folded casts uses the value.
    pub(super) fn is_needed(&self, value: ValueId) -> bool {
        self.uses_left(value) > 0 || !self.is_free(value)
    }

    /// Values that folded casts used and nothing uses any more.
    pub(super) fn unneeded(&self) -> Vec<ValueId> {
        let mut unneeded: Vec<ValueId> = self.storage.uses_left.keys().copied().filter(|&value| !self.is_needed(value)).collect();
        unneeded.sort_unstable();
        unneeded
    }

    fn uses_left(&self, value: ValueId) -> usize {
        self.storage.uses_left.get(&value).copied().unwrap_or_else(|| self.model.uses(value).count())
    }

    /// Whether a value may go once no node uses it. Without one that shadows another, its name would come to mean the other.
    fn is_free(&self, value: ValueId) -> bool {
        self.model.output_of(value).is_empty() && self.model.pin(value).is_none() && !self.model.shadows(value)
    }

    fn constant_bytes(&self, value: ValueId) -> i64 {
        let constant = self.model.constant(value).ok();
        constant.and_then(|constant| Some(Tensor::read(&constant.tensor).ok()?.stored_bytes() as i64)).unwrap_or(0)
    }

    /// Lets the users of equal results use one, and returns the results that are not stored themselves.
    pub(super) fn share(&self, edits: &mut Vec<Edit>) -> Vec<ValueId> {
        let mut free: Vec<(&Fold, ValueId)> = Vec::new();
        let mut fixed: HashMap<Place, (NodeId, ValueId)> = HashMap::new();
        for (&value, fold) in self.by_output.iter().map(|(value, &fold)| (value, &self.folds[fold])) {
            match self.role(fold, value) {
                Role::Free if self.is_needed(value) => free.push((fold, value)),
                Role::Fixed => {
                    let first = fixed.entry(fold.place).or_insert((fold.node, value));
                    *first = (*first).min((fold.node, value));
                }
                _ => {}
            }
        }
        free.sort_unstable_by_key(|(fold, _)| (fold.place, fold.node));
        let mut names = Names::new(self.model);
        let mut replaced = Vec::new();
        for equal in free.chunk_by(|(one, _), (other, _)| one.place == other.place) {
            let (first_fold, first) = equal[0];
            let values = equal.iter().map(|&(_, value)| value);
            let first_scope = first_fold.node.scope;
            // An initializer is defined before all nodes, a `Constant` only before those that follow it in its scope.
            let sees = |fold: &Fold| {
                fold.node.scope == first_scope || !self.becomes_node(first_scope) && self.model.is_visible(first, fold.node.scope)
            };
            let (_, shared_in) = first_fold.place;
            match fixed.get(&first_fold.place).map(|&(_, value)| value) {
                Some(fixed) => {
                    edits.extend(values.clone().map(|from| Edit::Rewire { from, to: fixed }));
                    replaced.extend(values);
                }
                None if equal.iter().all(|(fold, _)| sees(fold)) => {
                    edits.extend(values.clone().skip(1).map(|from| Edit::Rewire { from, to: first }));
                    replaced.extend(values.skip(1));
                }
                None => {
                    let name = names.fresh(&format!("{}_shared", self.model.name(first)));
                    let tensor = Box::new(first_fold.content.clone().into_tensor(&name));
                    edits.push(Edit::ShareInitializer { scope: shared_in, tensor, with: values.clone().collect() });
                    replaced.extend(values);
                }
            }
        }
        replaced
    }
}
