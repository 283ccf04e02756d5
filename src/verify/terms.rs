//! The values of both models as terms, equal ones of which have equal values.
//!
//! A value is a constant, a cast, data movement, or known by its name in the original only. The laws:
//!
//! 1. `Identity`, and a `Transpose` or `Reshape` that changes nothing, is its input.
//! 2. A cast to the type of its input that copies is its input; a cast of a lossless cast is one cast ([`copies`], [`collapses`]).
//! 3. Casts and data movement commute.
//! 4. Only if lossy passes were run: a cast to a float of 16 bits and back is its input.

use std::cell::OnceCell;
use std::mem::discriminant;

use super::pairs::Pairs;
use crate::base::hash::HashMap;
use crate::casts::{Casts, ResolvedCast, moves};
use crate::elements::cast::{RoundMode, collapses, copies};
use crate::elements::dtype::DType;
use crate::graph::{Model, NodeId, ValueId};
use crate::passes::{is_round_trip, returns_input};
use prost::Message as _;

/// A term, by its index.
pub(super) type TermId = usize;

/// One of the two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Original,
    Written,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// A value of the original; in the written model, the value of the same name that is made in the same way.
    Original(ValueId),
    /// A value of the written model to which nothing in the original corresponds.
    New(ValueId),
    /// A constant.
    Constant(Side, ValueId),
    /// A cast.
    Cast { of: TermId, effect: Effect },
    /// An output of a node that moves elements of its first `data` inputs.
    Move { operator: &'static str, attributes: Vec<Vec<u8>>, inputs: Vec<Option<TermId>>, data: usize, outputs: usize, output: u32 },
}

impl Term {
    /// Whether this is a `Reshape` to the same shape as one with other inputs.
    pub fn has_shape(&self, others: &[Option<TermId>]) -> bool {
        matches!(self, Term::Move { operator: "Reshape", inputs, .. } if inputs.get(1) == others.get(1))
    }
}

/// The determinants of the result of a cast, besides its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    pub to: DType,
    pub saturate: bool,
    pub round_mode: RoundMode,
}

/// The terms of the values of both models.
pub(super) struct Terms<'m> {
    pub pairs: Pairs<'m>,
    is_lossy: bool,
    terms: Vec<Term>,
    /// By term: the element type, if it is known.
    types: Vec<Option<DType>>,
    /// By term: a node that computes it.
    nodes: Vec<Option<(Side, NodeId)>>,
    ids: HashMap<Term, TermId>,
    /// By value, for each side.
    of: [Vec<Option<TermId>>; 2],
    values: OnceCell<HashMap<TermId, Vec<(Side, ValueId)>>>,
}

impl<'m> Terms<'m> {
    pub fn new(pairs: Pairs<'m>, is_lossy: bool) -> Terms<'m> {
        let of = [pairs.original, pairs.written].map(|model| vec![None; model.value_bound()]);
        let (terms, types, nodes, ids) = (Vec::new(), Vec::new(), Vec::new(), HashMap::default());
        let mut terms = Terms { pairs, is_lossy, terms, types, nodes, ids, of, values: OnceCell::new() };
        terms.read(Side::Original);
        terms.read(Side::Written);
        terms
    }

    pub fn model(&self, side: Side) -> &'m Model {
        match side {
            Side::Original => self.pairs.original,
            Side::Written => self.pairs.written,
        }
    }

    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[id]
    }

    /// The element type of a term, if it is known.
    pub fn dtype(&self, id: TermId) -> Option<DType> {
        self.types[id]
    }

    /// The determinants of the result of a term that is a cast, besides its input.
    pub fn effect(&self, id: TermId) -> Option<Effect> {
        self.as_cast(id).map(|(_, effect)| effect)
    }

    /// A node that computes a term.
    pub fn node(&self, id: TermId) -> Option<(Side, NodeId)> {
        self.nodes[id]
    }

    /// The term of a value.
    pub fn of(&self, side: Side, value: ValueId) -> Option<TermId> {
        self.of[side as usize][value.index()]
    }

    /// The values that have a term.
    pub fn values(&self, id: TermId) -> &[(Side, ValueId)] {
        let values = self.values.get_or_init(|| {
            let mut values: HashMap<TermId, Vec<(Side, ValueId)>> = HashMap::default();
            for side in [Side::Original, Side::Written] {
                for value in self.model(side).values() {
                    if let Some(id) = self.of(side, value) {
                        values.entry(id).or_default().push((side, value));
                    }
                }
            }
            values
        });
        values.get(&id).map_or(&[], Vec::as_slice)
    }

    fn read(&mut self, side: Side) {
        let model = self.model(side);
        let casts = Casts::of(model);
        for value in model.values().filter(|&value| model.producer(value).is_none()) {
            let term = self.leaf(side, value);
            self.set(side, value, term, casts.dtype(value));
        }
        for &node in model.topological_order() {
            self.read_node(side, &casts, node);
        }
    }

    fn read_node(&mut self, side: Side, casts: &Casts<'m>, node: NodeId) {
        let model = self.model(side);
        let input = |terms: &Terms, index| model.input(node, index).and_then(|value| terms.of(side, value));
        let outputs: Vec<(u32, ValueId)> = model.outputs(node).collect();
        let cast = outputs.first().and_then(|&(_, output)| casts.producing(output));
        if let (Some(cast), Some(of)) = (cast, input(self, 0)) {
            let id = self.cast(of, effect(cast), (side, node));
            outputs.iter().for_each(|&(_, output)| self.of[side as usize][output.index()] = Some(id));
            return;
        }
        if let (true, Some(of)) = (returns_input(model, node, |shape| shape, || casts.inferred()), input(self, 0)) {
            outputs.iter().for_each(|&(_, output)| self.of[side as usize][output.index()] = Some(of));
            return;
        }
        for &(index, output) in &outputs {
            let id = match self.moved(side, node, index) {
                Some(id) => id,
                None => {
                    let term = self.opaque(side, node, index, output);
                    self.id(term)
                }
            };
            self.types[id] = self.types[id].or_else(|| casts.dtype(output));
            self.nodes[id].get_or_insert((side, node));
            self.of[side as usize][output.index()] = Some(id);
        }
    }

    /// The term of a value that no node produces.
    fn leaf(&self, side: Side, value: ValueId) -> Term {
        let model = self.model(side);
        let is_constant = |model: &Model, value| model.constant(value).is_ok();
        if side == Side::Original {
            return if is_constant(model, value) { Term::Constant(side, value) } else { Term::Original(value) };
        }
        // Initializers of the same name are compared with the other fields of their graphs.
        let is_same = |other: &ValueId| discriminant(&model.origin(value)) == discriminant(&self.pairs.original.origin(*other));
        match self.pairs.value(value).filter(is_same).and_then(|other| self.of(Side::Original, other)) {
            Some(id) => self.terms[id].clone(),
            None if is_constant(model, value) => Term::Constant(side, value),
            None => Term::New(value),
        }
    }

    /// The term of an output of a node of which only the name is known.
    fn opaque(&self, side: Side, node: NodeId, index: u32, output: ValueId) -> Term {
        let model = self.model(side);
        let is_constant = model.constant(output).is_ok();
        match side {
            Side::Original if is_constant => Term::Constant(side, output),
            Side::Original => Term::Original(output),
            Side::Written => {
                // The nodes themselves are compared, too: those of another operator only if they are not known by what they compute.
                let counterpart = self.pairs.node(node);
                let is_same = counterpart.is_some_and(|other| self.pairs.original.node(other).op_type == model.node(node).op_type);
                let term = counterpart.and_then(|node| self.pairs.original.output(node, index));
                let term = term.and_then(|value| self.of(Side::Original, value)).map(|id| &self.terms[id]);
                match term {
                    Some(Term::Original(value)) if !is_constant => Term::Original(*value),
                    Some(Term::Constant(side, value)) if is_constant && is_same => Term::Constant(*side, *value),
                    _ if is_constant => Term::Constant(side, output),
                    _ => Term::New(output),
                }
            }
        }
    }

    /// The term of an output of a node that moves elements.
    fn moved(&mut self, side: Side, node: NodeId, output: u32) -> Option<TermId> {
        let model = self.model(side);
        let (operator, data) = moves(model, node)?;
        let proto = model.node(node);
        // An attribute may refer to one of the function, which has the same value for both models in each call.
        let mut attributes: Vec<Vec<u8>> = proto.attribute.iter().map(|attribute| attribute.encode_to_vec()).collect();
        attributes.sort_unstable();
        let mut inputs = vec![None; proto.input.len()];
        for (index, value) in model.inputs(node) {
            *inputs.get_mut(index as usize)? = Some(self.of(side, value)?);
        }
        // The last cast comes first.
        let mut effects = Vec::new();
        while let Some(casts) = inputs.iter().take(data).map(|input| self.as_cast((*input)?)).collect::<Option<Vec<_>>>()
            && let Some(&(_, effect)) = casts.first()
            && is_uniform(&casts, |(of, effect)| (self.types[*of], *effect))
        {
            effects.push(effect);
            inputs.iter_mut().zip(casts).for_each(|(input, (of, _))| *input = Some(of));
        }
        let dtype = inputs.first().copied().flatten().and_then(|input| self.types[input]);
        let id = self.id(Term::Move { operator, attributes, inputs, data, outputs: proto.output.len(), output });
        self.types[id] = self.types[id].or(dtype);
        self.nodes[id].get_or_insert((side, node));
        Some(effects.into_iter().rev().fold(id, |id, effect| self.cast(id, effect, (side, node))))
    }

    fn as_cast(&self, id: TermId) -> Option<(TermId, Effect)> {
        match self.terms[id] {
            Term::Cast { of, effect } => Some((of, effect)),
            _ => None,
        }
    }

    /// The term of a cast, and a node in whose scope it is.
    fn cast(&mut self, of: TermId, effect: Effect, node: (Side, NodeId)) -> TermId {
        let (of, left) = self.reduced(of, [effect]);
        left.into_iter().fold(of, |of, effect| {
            let id = self.id(Term::Cast { of, effect });
            self.types[id] = Some(effect.to);
            self.nodes[id].get_or_insert(node);
            id
        })
    }

    /// A term, and the casts of it that remain of later casts, the first one first, by laws 2 and 4. The term itself is in this form, so
    /// that each later cast meets the last one only. Casts that are terms already are part of the term, so that equal results are equal.
    pub fn reduced(&self, mut base: TermId, later: impl IntoIterator<Item = Effect>) -> (TermId, Vec<Effect>) {
        let mut left: Vec<Effect> = Vec::new();
        for effect in later {
            loop {
                let before = left.last().map_or(self.types[base], |cast| Some(cast.to));
                if before.is_some_and(|from| copies(from, effect.to, effect.saturate)) {
                    break;
                }
                let (first, from) = match left.as_slice() {
                    [.., before, last] => (Some(*last), Some(before.to)),
                    [last] => (Some(*last), self.types[base]),
                    [] => match self.as_cast(base) {
                        Some((of, last)) => (Some(last), self.types[of]),
                        None => (None, None),
                    },
                };
                let is_one_cast = |first: Effect, from: DType| {
                    collapses(from, first.to, effect.to) || self.is_lossy && is_round_trip(from, first.to, effect.to)
                };
                match (first, from) {
                    (Some(first), Some(from)) if is_one_cast(first, from) => {
                        if left.pop().is_none()
                            && let Some((of, _)) = self.as_cast(base)
                        {
                            base = of;
                        }
                        if from == effect.to {
                            break;
                        }
                    }
                    _ => {
                        left.push(effect);
                        break;
                    }
                }
            }
        }
        let known = left.iter().take_while(|&&effect| match self.ids.get(&Term::Cast { of: base, effect }) {
            Some(&id) => {
                base = id;
                true
            }
            None => false,
        });
        let known = known.count();
        left.drain(..known);
        (base, left)
    }

    /// A term without the casts around it.
    pub fn uncast(&self, id: TermId) -> TermId {
        std::iter::successors(Some(id), |&id| self.as_cast(id).map(|(of, _)| of)).last().unwrap_or(id)
    }

    fn set(&mut self, side: Side, value: ValueId, term: Term, dtype: Option<DType>) {
        let id = self.id(term);
        self.types[id] = self.types[id].or(dtype);
        self.of[side as usize][value.index()] = Some(id);
    }

    fn id(&mut self, term: Term) -> TermId {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        let id = self.terms.len();
        self.terms.push(term.clone());
        self.types.push(None);
        self.nodes.push(None);
        self.ids.insert(term, id);
        id
    }
}

/// The determinants of the result of a cast; an attribute without effect has its default.
fn effect(cast: &ResolvedCast) -> Effect {
    let (_, _, to, saturate, round_mode) = cast.effect();
    Effect { to, saturate, round_mode }
}

fn is_uniform<T, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> bool {
    items.windows(2).all(|pair| key(&pair[0]) == key(&pair[1]))
}
