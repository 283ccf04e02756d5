//! The values of both models as terms, equal ones of which have equal values.
//!
//! A value is a constant, a cast, data movement, or known by its name in the original only. The
//! laws:
//!
//! 1. `Identity`, and a `Transpose` or `Reshape` that changes nothing, is its input
//!    ([`is_own_input`]).
//! 2. A cast to the type of its input is its input; a cast of a lossless cast is one cast
//!    ([`laws`]).
//! 3. Casts and data movement commute.
//! 4. Only if lossy passes were run: a cast to a float of 16 bits and back is its input. Constants
//!    may also be computed without this law.

use std::mem::discriminant;
use std::sync::{Arc, OnceLock};

use super::laws;
use super::matching::Matching;
use super::movement::{is_own_input, moves};
use super::term::{Effect, ModelSide, Move, Term, TermId};
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{Model, NodeId, TypeSource, ValueId};
use crate::ops::inference::{Deferred, Inferred};
use onnx_cast::{DType, RoundMode};
use prost::Message as _;

/// The terms of the values of both models.
pub(super) struct Terms<'m> {
    pub matching: &'m Matching<'m>,
    is_lossy: bool,
    terms: Vec<Term>,
    /// By term: the element type, once it was asked for, if it is known.
    types: Vec<OnceLock<DType>>,
    /// By term: the first value of each side that has it.
    first: Vec<[Option<ValueId>; 2]>,
    /// By term: a node that computes it.
    nodes: Vec<Option<(ModelSide, NodeId)>>,
    /// The terms of casts and of data movement: others are terms of one value of the original, or
    /// of none.
    ids: HashMap<Term, TermId>,
    /// By value, for each side.
    of: [Vec<Option<TermId>>; 2],
    values: OnceLock<HashMap<TermId, Vec<(ModelSide, ValueId)>>>,
    /// The same by term without its casts.
    values_but_for_casts: OnceLock<HashMap<TermId, Vec<(ModelSide, ValueId)>>>,
    /// The types and shapes of each side.
    inferred: [&'m Deferred; 2],
    /// The nodes of the written model that return their input, and the casts that only undo casts
    /// before them.
    returning: HashSet<NodeId>,
}

/// Whether the terms of a model depend on inferred types or shapes: those of a `Reshape`, which may
/// return its input, and of a cast of a value without a declared type.
pub(super) fn need_inference(model: &Model) -> bool {
    let is_inferred = |node: NodeId| {
        let has_type = || {
            let input = model.input(node, 0);
            input.is_none_or(|input| model.element_type(input).is_some())
        };
        model.node(node).op_type() == "Reshape" || model.is_cast(node) && !has_type()
    };
    model
        .topological_order()
        .iter()
        .any(|&node| is_inferred(node))
}

impl<'m> Terms<'m> {
    pub fn new(
        matching: &'m Matching<'m>,
        inferred: [&'m Deferred; 2],
        is_lossy: bool,
    ) -> Terms<'m> {
        let of = [matching.original, matching.written].map(|model| vec![None; model.value_count()]);
        let count = matching.original.value_count();
        let mut terms = Terms {
            matching,
            is_lossy,
            terms: Vec::with_capacity(count),
            types: Vec::with_capacity(count),
            first: Vec::with_capacity(count),
            nodes: Vec::with_capacity(count),
            ids: HashMap::default(),
            of,
            values: OnceLock::new(),
            values_but_for_casts: OnceLock::new(),
            inferred,
            returning: HashSet::default(),
        };
        terms.read(ModelSide::Original);
        terms.read(ModelSide::Written);
        terms
    }

    pub fn model(&self, side: ModelSide) -> &'m Model {
        match side {
            ModelSide::Original => self.matching.original,
            ModelSide::Written => self.matching.written,
        }
    }

    pub fn term(&self, id: TermId) -> &Term {
        &self.terms[id]
    }

    /// The types and shapes inferred for a model.
    pub fn inferred(&self, side: ModelSide) -> &Inferred {
        self.inferred[side as usize].of(self.model(side))
    }

    /// Whether a node of the written model is known by what it computes: a cast, data movement, or
    /// a constant.
    pub fn is_known(&self, node: NodeId) -> bool {
        let written = self.matching.written;
        let is_known = |(_, value): (u32, ValueId)| {
            let term = self.of(ModelSide::Written, value).map(|id| self.term(id));
            !matches!(term, None | Some(Term::Original(_) | Term::New(_)))
        };
        let has_outputs = written.outputs(node).next().is_some();
        has_outputs && (self.returning.contains(&node) || written.outputs(node).all(is_known))
    }

    /// The element type of a term, if it is known. Data movement has that of its first input.
    pub fn dtype(&self, id: TermId) -> Option<DType> {
        if let Some(&known) = self.types[id].get() {
            return Some(known);
        }
        let mut source = id;
        while let Term::Move(moved) = &self.terms[source]
            && let Some(&Some(input)) = moved.inputs.first()
        {
            source = input;
        }
        let dtype = match self.terms[source] {
            Term::Cast { effect, .. } => Some(effect.to),
            _ => self
                .type_of_values(source)
                .or_else(|| self.type_of_values(id)),
        };
        dtype.map(|dtype| *self.types[id].get_or_init(|| dtype))
    }

    /// The type that is known of a value with a term.
    fn type_of_values(&self, id: TermId) -> Option<DType> {
        let [original, written] = self.first[id];
        let original = original.and_then(|value| self.type_of(ModelSide::Original, value));
        original.or_else(|| written.and_then(|value| self.type_of(ModelSide::Written, value)))
    }

    fn type_of(&self, side: ModelSide, value: ValueId) -> Option<DType> {
        self.model(side)
            .element_type(value)
            .or_else(|| self.inferred(side).of(value).dtype())
    }

    /// The determinants of the result of a term that is a cast, besides its input.
    pub fn effect(&self, id: TermId) -> Option<Effect> {
        self.as_cast(id).map(|(_, effect)| effect)
    }

    /// A node that computes a term.
    pub fn node(&self, id: TermId) -> Option<(ModelSide, NodeId)> {
        self.nodes[id]
    }

    /// The term of a value.
    pub fn of(&self, side: ModelSide, value: ValueId) -> Option<TermId> {
        self.of[side as usize][value.index()]
    }

    /// The values that have a term.
    pub fn values(&self, id: TermId) -> &[(ModelSide, ValueId)] {
        let values = self.values.get_or_init(|| self.values_by(|id| id));
        values.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The values that have a term, a cast of it, or the term that it is a cast of.
    pub fn values_but_for_casts(&self, id: TermId) -> &[(ModelSide, ValueId)] {
        let values = self
            .values_but_for_casts
            .get_or_init(|| self.values_by(|id| self.uncast(id)));
        values.get(&self.uncast(id)).map_or(&[], Vec::as_slice)
    }

    fn values_by(
        &self,
        key: impl Fn(TermId) -> TermId,
    ) -> HashMap<TermId, Vec<(ModelSide, ValueId)>> {
        let mut values: HashMap<TermId, Vec<(ModelSide, ValueId)>> = HashMap::default();
        for side in [ModelSide::Original, ModelSide::Written] {
            for value in self.model(side).values() {
                if let Some(id) = self.of(side, value) {
                    values.entry(key(id)).or_default().push((side, value));
                }
            }
        }
        values
    }

    fn read(&mut self, side: ModelSide) {
        let model = self.model(side);
        for value in model
            .values()
            .filter(|&value| model.producer(value).is_none())
        {
            let id = self.leaf(side, value);
            self.set(side, value, id);
        }
        for &node in model.topological_order() {
            self.read_node(side, node);
        }
    }

    fn read_node(&mut self, side: ModelSide, node: NodeId) {
        let model = self.model(side);
        let outputs: Vec<(u32, ValueId)> = model.outputs(node).collect();
        let input = model.input(node, 0).and_then(|value| self.of(side, value));
        if let Some((of, effect)) = input.zip(self.effect_of(side, node)) {
            let id = self.cast(of, effect, (side, node));
            if side == ModelSide::Written && self.as_cast(id).is_none() {
                self.returning.insert(node);
            }
            outputs
                .iter()
                .for_each(|&(_, output)| self.set(side, output, id));
            return;
        }
        let is_own_input = is_own_input(model, node, |value| {
            self.inferred(side).of(value).shape.as_deref()
        });
        if let Some(of) = input.filter(|_| is_own_input) {
            if side == ModelSide::Written {
                self.returning.insert(node);
            }
            outputs
                .iter()
                .for_each(|&(_, output)| self.of[side as usize][output.index()] = Some(of));
            return;
        }
        for &(index, output) in &outputs {
            let id = match self.moved(side, node, index) {
                Some(id) => id,
                None => self.opaque(side, node, index, output),
            };
            self.nodes[id].get_or_insert((side, node));
            self.set(side, output, id);
        }
    }

    /// The effect of a node that is a valid cast to a known type; an attribute without effect has
    /// its default.
    fn effect_of(&self, side: ModelSide, node: NodeId) -> Option<Effect> {
        let model = self.model(side);
        if !model.is_cast(node) {
            return None;
        }
        model.opset(node.scope, "")?;
        let cast = model.cast_node(node).ok()?;
        let to = match cast.to {
            TypeSource::Attribute(to) => to,
            TypeSource::Like(like) => self.type_of(side, like)?,
        };
        Some(Effect {
            to,
            saturate: cast.saturate.unwrap_or(true) || !laws::has_saturate(to),
            round_mode: cast
                .round_mode
                .filter(|_| laws::has_round_mode(to))
                .unwrap_or(RoundMode::Up),
        })
    }

    /// The term of a value that no node produces.
    fn leaf(&mut self, side: ModelSide, value: ValueId) -> TermId {
        let model = self.model(side);
        // Initializers of the same name are compared with the other fields of their graphs.
        let is_same = |other: &ValueId| {
            discriminant(&model.origin(value))
                == discriminant(&self.matching.original.origin(*other))
        };
        let same = match side {
            ModelSide::Original => None,
            ModelSide::Written => self
                .matching
                .value(value)
                .filter(is_same)
                .and_then(|other| self.of(ModelSide::Original, other)),
        };
        same.unwrap_or_else(|| {
            self.add(match (side, model.constant(value).is_ok()) {
                (_, true) => Term::Constant(side, value),
                (ModelSide::Original, false) => Term::Original(value),
                (ModelSide::Written, false) => Term::New(value),
            })
        })
    }

    /// The term of an output of a node of which only the name is known.
    fn opaque(&mut self, side: ModelSide, node: NodeId, index: u32, output: ValueId) -> TermId {
        let model = self.model(side);
        let is_constant = model.constant(output).is_ok();
        if side == ModelSide::Written
            && let Some(counterpart) = self.matching.node(node)
        {
            let original = self.matching.original;
            // The nodes themselves are compared, too. Nodes of different operators are compared
            // only if terms do not describe what they compute.
            let is_same = || original.node(counterpart).op_type == model.node(node).op_type;
            let id = original
                .output(counterpart, index)
                .and_then(|value| self.of(ModelSide::Original, value));
            match id.map(|id| (id, &self.terms[id])) {
                Some((id, Term::Original(_))) if !is_constant => return id,
                Some((id, Term::Constant(..))) if is_constant && is_same() => return id,
                _ => {}
            }
        }
        self.add(match (side, is_constant) {
            (_, true) => Term::Constant(side, output),
            (ModelSide::Original, false) => Term::Original(output),
            (ModelSide::Written, false) => Term::New(output),
        })
    }

    /// The term of an output of a node that moves elements.
    fn moved(&mut self, side: ModelSide, node: NodeId, output: u32) -> Option<TermId> {
        let model = self.model(side);
        let (operator, data) = moves(model, node)?;
        let proto = model.node(node);
        // An attribute may refer to one of the function, which has the same value for both models
        // in each call.
        let mut attributes: Vec<Vec<u8>> = proto
            .attribute
            .iter()
            .map(|attribute| attribute.encode_to_vec())
            .collect();
        attributes.sort_unstable();
        let mut inputs = vec![None; proto.input.len()];
        for (index, value) in model.inputs(node) {
            *inputs.get_mut(index as usize)? = Some(self.of(side, value)?);
        }
        // The last cast comes first.
        let mut effects = Vec::new();
        while let Some(casts) = inputs
            .iter()
            .take(data)
            .map(|input| self.as_cast((*input)?))
            .collect::<Option<Vec<_>>>()
            && let Some(&(_, effect)) = casts.first()
            && is_uniform(&casts, |(of, effect)| (self.dtype(*of), *effect))
        {
            effects.push(effect);
            inputs
                .iter_mut()
                .zip(casts)
                .for_each(|(input, (of, _))| *input = Some(of));
        }
        let outputs = proto.output.len();
        let id = self.id(Term::Move(Arc::new(Move {
            operator,
            attributes,
            inputs,
            data,
            outputs,
            output,
        })));
        self.nodes[id].get_or_insert((side, node));
        Some(
            effects
                .into_iter()
                .rev()
                .fold(id, |id, effect| self.cast(id, effect, (side, node))),
        )
    }

    fn as_cast(&self, id: TermId) -> Option<(TermId, Effect)> {
        match self.terms[id] {
            Term::Cast { of, effect } => Some((of, effect)),
            _ => None,
        }
    }

    /// The term of a cast, and a node in whose scope it is.
    fn cast(&mut self, of: TermId, effect: Effect, node: (ModelSide, NodeId)) -> TermId {
        let (of, left) = self.reduced(of, [effect]);
        left.into_iter().fold(of, |of, effect| {
            let id = self.id(Term::Cast { of, effect });
            self.nodes[id].get_or_insert(node);
            id
        })
    }

    /// A term, and the casts of it that remain of later casts, the first one first, by laws 2 and
    /// 4. The term itself is in this form, so that each later cast meets the last one only. Casts
    /// that are terms already are part of the term, so that equal results are equal.
    pub fn reduced(
        &self,
        mut base: TermId,
        later: impl IntoIterator<Item = Effect>,
    ) -> (TermId, Vec<Effect>) {
        let mut left: Vec<Effect> = Vec::new();
        for effect in later {
            loop {
                let before = left
                    .last()
                    .map_or_else(|| self.dtype(base), |cast| Some(cast.to));
                if before.is_some_and(|from| laws::is_own_input(from, effect.to, effect.saturate)) {
                    break;
                }
                let (first, from) = match left.as_slice() {
                    [.., before, last] => (Some(*last), Some(before.to)),
                    [last] => (Some(*last), self.dtype(base)),
                    [] => match self.as_cast(base) {
                        Some((of, last)) => (Some(last), self.dtype(of)),
                        None => (None, None),
                    },
                };
                let is_one_cast = |first: Effect, from: DType| {
                    laws::are_one_cast(from, first.to, effect.to)
                        || self.is_lossy && laws::is_lossy_detour(from, first.to, effect.to)
                };
                match (first, from) {
                    (Some(first), Some(from)) if is_one_cast(first, from) => {
                        self.take_last_cast(&mut left, &mut base);
                        if from == effect.to {
                            break;
                        }
                    }
                    (Some(first), Some(from))
                        if laws::has_equal_middles(from, first.to, effect.to) =>
                    {
                        self.take_last_cast(&mut left, &mut base);
                        left.extend([
                            Effect {
                                to: DType::Float,
                                ..first
                            },
                            effect,
                        ]);
                        break;
                    }
                    _ => {
                        left.push(effect);
                        break;
                    }
                }
            }
        }
        let known = left.iter().take_while(|&&effect| {
            let id = self.ids.get(&Term::Cast { of: base, effect });
            id.map(|&id| base = id).is_some()
        });
        let known = known.count();
        left.drain(..known);
        (base, left)
    }

    /// Takes the last cast away, which may be part of the term.
    fn take_last_cast(&self, left: &mut Vec<Effect>, base: &mut TermId) {
        if left.pop().is_none() {
            *base = self.as_cast(*base).map_or(*base, |(of, _)| of);
        }
    }

    /// A term without the casts around it.
    pub fn uncast(&self, id: TermId) -> TermId {
        std::iter::successors(Some(id), |&id| self.as_cast(id).map(|(of, _)| of))
            .last()
            .unwrap_or(id)
    }

    fn set(&mut self, side: ModelSide, value: ValueId, id: TermId) {
        self.first[id][side as usize].get_or_insert(value);
        self.of[side as usize][value.index()] = Some(id);
    }

    /// The id of the term of a cast or of data movement.
    fn id(&mut self, term: Term) -> TermId {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        let id = self.add(term.clone());
        self.ids.insert(term, id);
        id
    }

    /// The id of a term that is new.
    fn add(&mut self, term: Term) -> TermId {
        let id = self.terms.len();
        self.terms.push(term);
        self.types.push(OnceLock::new());
        self.first.push([None; 2]);
        self.nodes.push(None);
        id
    }
}

fn is_uniform<T, K: PartialEq>(items: &[T], key: impl Fn(&T) -> K) -> bool {
    items.windows(2).all(|pair| key(&pair[0]) == key(&pair[1]))
}
