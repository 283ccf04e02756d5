//! The type variables of a model, and constraints on them.
//!
//! Each value whose type may change has a variable, and each use of it has the variable of the type
//! that is needed there. Operators, bodies of control flow and functions make some of these
//! variables equal, by the type variables of their schemas. A value and a use of it need not be
//! equal: a Cast is between them then. `constraints` collects the constraints.

use std::collections::BTreeMap;

use petgraph::unionfind::UnionFind;

use super::change::TypeChange;
use super::operators::Operators;
use super::reason::KeepReason;
use super::uses::Uses;
pub(super) use super::uses::Variable;
use crate::base::hash::HashMap;
use crate::graph::{Body, Model, NodeId, Origin, ScopeKind, ValueId};
use crate::ops::inference::Inferred;
use crate::ops::schemas::ValueType;
use onnx_cast::DType;

/// The type that a variable gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assignment {
    /// The type that it has before the change.
    Old,
    /// The requested type.
    New,
}

/// A constraint on a variable. In a class of equal variables, the first one of this list applies.
#[derive(Clone, Copy, Debug)]
pub(super) enum Constraint {
    /// It keeps the old type, for the reason with this index in [`Types::reasons`].
    FixedOld(u32),
    /// It gets the new type.
    New,
    /// It keeps the old type if that needs no cast.
    PreferOld,
}

/// How a value gets its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// It is computed, or given.
    Computed,
    /// It is a constant, which is cast when the file is written.
    Constant,
    /// A node states its type in an attribute, and computes it from values of other types.
    Stated,
    /// It is a cast of this value, which has the new type.
    CastOf(ValueId),
}

/// The types of the values of a model, and the constraints on their variables.
pub(super) struct Types<'m> {
    pub model: &'m Model,
    pub change: TypeChange,
    pub operators: Operators<'m>,
    pub inferred: Inferred,
    /// By the value's index; in functions, the type that it has in all calls.
    value_types: Vec<Option<ValueType>>,
    /// By the value's index; none for values of other types. The variable of a value is its index.
    pub kinds: Vec<Option<ValueKind>>,
    pub uses: Uses,
    /// Casts to the new type, with input and result.
    pub casts: BTreeMap<NodeId, (ValueId, ValueId)>,
    /// Casts of a type to itself that are removed, with their results.
    pub noop_casts: BTreeMap<NodeId, ValueId>,
    /// By the result of such a cast: what is cast.
    pub sources: HashMap<ValueId, ValueId>,
    /// Nodes of operators with an attribute that states the type of a result.
    pub stating: Vec<NodeId>,
    pub constraints: Vec<(Variable, Constraint)>,
    /// Why variables keep the old type; each reason is stored once.
    pub reasons: Vec<KeepReason>,
    /// Pairs of variables that are equal.
    pub equal: Vec<(Variable, Variable)>,
    /// The number of variables.
    pub variables: u32,
}

impl<'m> Types<'m> {
    /// The types of a model, without constraints.
    pub fn new(model: &'m Model, change: TypeChange, inferred: Inferred) -> Types<'m> {
        let mut value_types = vec![None; model.value_count()];
        for value in model.values() {
            value_types[value.index()] = value_type(model, &inferred, value);
        }
        Types {
            model,
            change,
            operators: Operators::of_model(model),
            inferred,
            value_types,
            kinds: vec![None; model.value_count()],
            uses: Uses::default(),
            casts: BTreeMap::new(),
            noop_casts: BTreeMap::new(),
            sources: HashMap::default(),
            stating: Vec::new(),
            constraints: Vec::new(),
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

    /// Two variables get the same type.
    pub fn unify(&mut self, left: Variable, right: Variable) {
        self.equal.push((left, right));
    }

    pub fn constrain(&mut self, variable: Variable, constraint: Constraint) {
        self.constraints.push((variable, constraint));
    }

    /// A variable keeps the old type, for a reason.
    pub fn fix_old(&mut self, variable: Variable, reason: impl Into<KeepReason>) {
        let reason = reason.into();
        let known = self.reasons.iter().position(|known| *known == reason);
        let index = known.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        });
        self.constrain(variable, Constraint::FixedOld(index as u32));
    }

    /// A variable keeps the old type if there is a reason.
    pub fn fix_old_if(&mut self, variable: Variable, reason: Option<impl Into<KeepReason>>) {
        if let Some(reason) = reason {
            self.fix_old(variable, reason);
        }
    }

    /// The classes of equal variables.
    pub fn classes(&self) -> Classes {
        let mut sets = UnionFind::<Variable>::new(self.variables as usize);
        for &(left, right) in &self.equal {
            sets.union(left, right);
        }
        let roots = sets.into_labeling();
        let mut constraints: Vec<Option<Constraint>> = vec![None; roots.len()];
        for &(variable, constraint) in &self.constraints {
            let held = &mut constraints[roots[variable as usize] as usize];
            // Of several reasons, the first counts.
            if !matches!(
                (*held, constraint),
                (Some(Constraint::FixedOld(_)), _) | (Some(Constraint::New), Constraint::PreferOld)
            ) {
                *held = Some(constraint);
            }
        }
        Classes { roots, constraints }
    }
}

/// The classes of equal variables, and the constraint that applies to each.
pub(super) struct Classes {
    /// By variable: the variable that represents its class.
    roots: Vec<Variable>,
    /// By representative.
    constraints: Vec<Option<Constraint>>,
}

impl Classes {
    pub fn root(&self, variable: Variable) -> Variable {
        self.roots[variable as usize]
    }

    pub fn constraint(&self, variable: Variable) -> Option<Constraint> {
        self.constraints[self.root(variable) as usize]
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
