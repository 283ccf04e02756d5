//! The type variables of a model, as equations between values.
//!
//! Each value whose type may change has a variable, and each use of it has the variable of the type
//! that is needed there. Operators, bodies of control flow and functions make some of these
//! variables equal, by the type variables of their schemas. A value and a use of it need not be
//! equal: a Cast is between them then. `equations` makes the equations.

use std::collections::BTreeMap;

use petgraph::unionfind::UnionFind;

use super::change::Change;
use super::reason::Reason;
use super::uses::Uses;
pub(super) use super::uses::Variable;
use crate::base::hash::HashMap;
use crate::elements::dtype::DType;
use crate::graph::{Body, Model, NodeId, Origin, ScopeKind, ValueId};
use crate::ops::inference::Inferred;
use crate::ops::schemas::ValueType;

/// Which type a variable has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The one that it has before.
    Old,
    /// The requested one.
    New,
}

/// A wish for a variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wish {
    /// It cannot change. The index is that of the reason.
    Old(u32),
    /// It changes if it can.
    New,
    /// It does not change if that needs no cast.
    StayIfFree,
}

/// How a value gets its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is computed, or given.
    Computed,
    /// It is a constant, which is cast when the file is written.
    Constant,
    /// A node states its type in an attribute, and computes it from values of other types.
    Stated,
    /// It is a cast of this value, which has the new type.
    CastOf(ValueId),
}

/// The equations of a model.
pub(super) struct Types<'m> {
    pub model: &'m Model,
    pub change: Change,
    pub inferred: Inferred,
    /// By the value's index; in functions, the type that it has in all calls.
    value_types: Vec<Option<ValueType>>,
    /// By the value's index; none for values of other types. The variable of a value is its index.
    pub kinds: Vec<Option<Kind>>,
    pub uses: Uses,
    /// Casts to the new type, with input and result.
    pub casts: BTreeMap<NodeId, (ValueId, ValueId)>,
    /// Casts of a type to itself that are removed, with their results.
    pub noop_casts: BTreeMap<NodeId, ValueId>,
    /// By the result of such a cast: what is cast.
    pub sources: HashMap<ValueId, ValueId>,
    /// Nodes of operators with an attribute that states the type of a result.
    pub stating: Vec<NodeId>,
    pub wishes: Vec<(Variable, Wish)>,
    /// Why variables cannot change. Few of them differ.
    pub reasons: Vec<Reason>,
    /// Variables that are equal.
    pub equal: Vec<(Variable, Variable)>,
    /// The number of variables.
    pub variables: u32,
}

impl<'m> Types<'m> {
    /// The types of a model, without equations.
    pub fn new(model: &'m Model, change: Change, inferred: Inferred) -> Types<'m> {
        let mut value_types = vec![None; model.value_count()];
        for value in model.values() {
            value_types[value.index()] = value_type(model, &inferred, value);
        }
        Types {
            model,
            change,
            inferred,
            value_types,
            kinds: vec![None; model.value_count()],
            uses: Uses::default(),
            casts: BTreeMap::new(),
            noop_casts: BTreeMap::new(),
            sources: HashMap::default(),
            stating: Vec::new(),
            wishes: Vec::new(),
            reasons: Vec::new(),
            equal: Vec::new(),
            variables: model.value_count() as u32,
        }
    }

    /// The type of a value; in functions, the one that it has in all calls.
    pub fn value_type(&self, value: ValueId) -> Option<ValueType> {
        self.value_types[value.index()]
    }

    /// The element type of a value, if it may change.
    pub fn old(&self, value: ValueId) -> Option<DType> {
        self.kinds[value.index()]
            .and_then(|_| self.value_type(value))
            .and_then(|value_type| self.change.old(value_type))
    }

    /// The value that the users of a value use: what is cast, if it is the result of a cast of a
    /// type to itself that is removed.
    pub fn source(&self, value: ValueId) -> ValueId {
        self.sources.get(&value).copied().unwrap_or(value)
    }

    /// A new variable.
    pub fn variable(&mut self) -> Variable {
        self.variables += 1;
        self.variables - 1
    }

    pub fn wish(&mut self, variable: Variable, wish: Wish) {
        self.wishes.push((variable, wish));
    }

    /// A variable cannot change.
    pub fn old_because(&mut self, variable: Variable, reason: impl Into<Reason>) {
        let reason = reason.into();
        let known = self.reasons.iter().position(|known| *known == reason);
        let index = known.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        });
        self.wish(variable, Wish::Old(index as u32));
    }

    /// A variable cannot change if there is a reason.
    pub fn old_if(&mut self, variable: Variable, reason: Option<impl Into<Reason>>) {
        if let Some(reason) = reason {
            self.old_because(variable, reason);
        }
    }

    /// The classes of equal variables.
    pub fn classes(&self) -> Classes {
        let mut sets = UnionFind::<Variable>::new(self.variables as usize);
        for &(left, right) in &self.equal {
            sets.union(left, right);
        }
        let roots = sets.into_labeling();
        let mut wishes: Vec<Option<Wish>> = vec![None; roots.len()];
        for &(variable, wish) in &self.wishes {
            let held = &mut wishes[roots[variable as usize] as usize];
            // Of several reasons, the first counts.
            if !matches!(
                (*held, wish),
                (Some(Wish::Old(_)), _) | (Some(Wish::New), Wish::StayIfFree)
            ) {
                *held = Some(wish);
            }
        }
        Classes { roots, wishes }
    }
}

/// The classes of equal variables, and the strongest wish for each.
pub(super) struct Classes {
    /// By variable: the variable that represents its class.
    roots: Vec<Variable>,
    /// By representative.
    wishes: Vec<Option<Wish>>,
}

impl Classes {
    pub fn root(&self, variable: Variable) -> Variable {
        self.roots[variable as usize]
    }

    pub fn wish(&self, variable: Variable) -> Option<Wish> {
        self.wishes[self.root(variable) as usize]
    }

    /// The number of variables.
    pub fn len(&self) -> usize {
        self.roots.len()
    }
}

/// The type of a value; in functions, the one that it has in all calls.
pub(super) fn value_type(model: &Model, inferred: &Inferred, value: ValueId) -> Option<ValueType> {
    let scope = model.scope_of(value);
    if let (Origin::SparseInitializer(index), Body::Graph(graph)) =
        (model.origin(value), model.body(scope))
    {
        let values = graph.sparse_initializer[index as usize].values.as_ref();
        return values
            .and_then(|values| DType::from_number(values.data_type()))
            .map(ValueType::Tensor);
    }
    let root = model.root(scope);
    match model.scope_kind(root) {
        ScopeKind::Function(_) => inferred
            .types_in_calls(root, value)
            .and_then(|types| types.only()),
        _ => inferred.of(value).value_type,
    }
}
