//! The results of inference.

use std::sync::OnceLock;

use super::known::{Fact, Ints, Known, NOTHING};
use super::length::Length;
use super::walk::{Inference, walk};
use crate::base::hash::HashMap;
use crate::graph::{Attribute, Model, NodeId, ScopeId, ScopeKind, ValueId};
use crate::ops::schemas::TypeSet;
use onnx_cast::Contested;

/// The known facts of every value of a model.
#[derive(Debug)]
pub struct Inferred {
    /// By the value's index.
    known: Vec<Known>,
    /// The integers of small tensors that nodes compute.
    ints: HashMap<ValueId, Ints>,
    contradictions: Vec<Contradiction>,
    /// By function that a graph calls: the types of its values.
    called: HashMap<ScopeId, HashMap<ValueId, TypeSet>>,
    /// By `Reshape` with `allowzero`: which integers of its shape are the dimension of its data at
    /// the same place.
    copied: HashMap<NodeId, Vec<bool>>,
}

/// A value that the model declares with another type or shape than the one that is stored or
/// follows from its node.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contradiction {
    /// The value.
    pub value: ValueId,
    /// The type and shape that the model declares.
    pub declared: Known,
    /// The type and shape that are stored, or that follow from the node.
    pub found: Known,
}

/// The names of dimensions, by value.
#[derive(Debug, Default)]
pub struct DimensionNames(HashMap<ValueId, Vec<Option<String>>>);

impl Inferred {
    /// The known facts of a value.
    #[must_use]
    pub fn of(&self, value: ValueId) -> &Known {
        self.known.get(value.index()).unwrap_or(&NOTHING)
    }

    /// The integers of a scalar or a list that a node computes, as far as they are known.
    #[must_use]
    pub fn ints(&self, value: ValueId) -> Option<&Ints> {
        self.ints.get(&value)
    }

    /// Whether a graph calls a function, also through other functions.
    #[must_use]
    pub fn is_called(&self, function: ScopeId) -> bool {
        self.called.contains_key(&function)
    }

    /// The calls of a function in graphs, and in functions that graphs call.
    pub fn calls_of<'m>(
        &self,
        model: &'m Model,
        function: ScopeId,
    ) -> impl Iterator<Item = NodeId> + use<'_, 'm> {
        let counts = |call: &NodeId| {
            let root = model.root(call.scope);
            !matches!(model.scope_kind(root), ScopeKind::Function(_)) || self.is_called(root)
        };
        model.callers(function).iter().copied().filter(counts)
    }

    /// The types that a value of a function has in the calls of graphs, direct or through other
    /// functions; `None` if the type is unknown in one of the calls, or there are no calls.
    #[must_use]
    pub fn types_in_calls(&self, function: ScopeId, value: ValueId) -> Option<TypeSet> {
        self.called.get(&function)?.get(&value).copied()
    }

    /// Whether an integer of the shape of a `Reshape` with `allowzero` is the dimension of its data
    /// at the same place, whatever its length is.
    #[must_use]
    pub fn copies_dimension(&self, reshape: NodeId, place: usize) -> bool {
        self.copied
            .get(&reshape)
            .and_then(|copied| copied.get(place))
            .is_some_and(|&is_copied| is_copied)
    }

    /// The values whose declarations are wrong, in document order; without those of functions,
    /// whose calls may differ.
    #[must_use]
    pub fn contradictions(&self) -> &[Contradiction] {
        &self.contradictions
    }
}

impl DimensionNames {
    /// The names of a value's dimensions, `None` for those without one; nothing if no dimension has
    /// a name.
    #[must_use]
    pub fn of(&self, value: ValueId) -> Option<&[Option<String>]> {
        self.0.get(&value).map(Vec::as_slice)
    }
}

/// Infers the types and shapes of the values of all scopes. Contested shapes are unknown.
#[must_use]
pub fn infer(model: &Model) -> Inferred {
    infer_with(model, None)
}

/// Like [`infer`], with a choice between contested shapes.
#[must_use]
pub fn infer_with(model: &Model, contested: Option<Contested>) -> Inferred {
    without_symbols(model, walk(model, contested))
}

/// Like [`infer`], with the names of dimensions.
#[must_use]
pub fn infer_with_names(model: &Model) -> (Inferred, DimensionNames) {
    let found = walk(model, None);
    let name = |length: &Option<Length>| match length {
        Some(Length::Symbol(symbol)) => found.symbols.name(*symbol).map(str::to_owned),
        _ => None,
    };
    let names_of = |fact: &Fact| -> Option<Vec<Option<String>>> {
        let names: Vec<_> = fact.shape.as_ref()?.iter().map(name).collect();
        names.iter().any(Option::is_some).then_some(names)
    };
    let names = model
        .values()
        .filter_map(|value| Some((value, names_of(found.facts.get(value.index())?)?)))
        .collect();
    (without_symbols(model, found), DimensionNames(names))
}

/// The types and shapes of a model, inferred when they are first needed.
#[derive(Debug, Default)]
pub struct Deferred {
    contested: Option<Contested>,
    inferred: OnceLock<Inferred>,
}

impl Deferred {
    /// With a choice between contested shapes.
    pub fn with(contested: Option<Contested>) -> Deferred {
        Deferred {
            contested,
            inferred: OnceLock::new(),
        }
    }

    /// The types and shapes of the model, which must be the same model in all calls.
    pub fn of(&self, model: &Model) -> &Inferred {
        self.inferred
            .get_or_init(|| infer_with(model, self.contested))
    }
}

fn without_symbols(model: &Model, found: Inference) -> Inferred {
    let copied = model
        .topological_order()
        .iter()
        .filter_map(|&id| Some((id, copied(model, &found, id)?)))
        .collect();
    let sizes = |numbers: Vec<Option<Length>>| {
        numbers
            .into_iter()
            .map(|number| number.and_then(Length::size))
            .collect()
    };
    let contradictions = found
        .contradictions
        .into_iter()
        .map(|(value, (declared, found))| Contradiction {
            value,
            declared: declared.without_symbols(),
            found: found.without_symbols(),
        });
    let mut contradictions: Vec<Contradiction> = contradictions.collect();
    contradictions.sort_by_key(|contradiction| contradiction.value.index());
    Inferred {
        known: found.facts.into_iter().map(Fact::without_symbols).collect(),
        ints: found
            .numbers
            .into_iter()
            .map(|(value, numbers)| (value, sizes(numbers)))
            .collect(),
        contradictions,
        called: found.called,
        copied,
    }
}

/// The places of a shape whose integers are the dimensions of the data there: the same symbol. None
/// for other nodes than `Reshape` with `allowzero`.
fn copied(model: &Model, found: &Inference, id: NodeId) -> Option<Vec<bool>> {
    if model.node(id).op_type() != "Reshape"
        || matches!(model.attribute(id, "allowzero"), Attribute::Absent)
    {
        return None;
    }
    let input = |place: u32| model.inputs(id).find(|&(index, _)| index == place);
    let (_, data) = input(0)?;
    let (_, shape) = input(1)?;
    let dims = found.facts.get(data.index())?.shape.as_ref()?;
    let numbers = found.numbers.get(&shape)?;
    let is_copied =
        |(number, dim): (&Option<Length>, &Option<Length>)| number.is_some() && number == dim;
    Some(numbers.iter().zip(dims).map(is_copied).collect())
}
