//! The values of terms, computed again from the constants of the original.

use super::compare::first_difference_of_contents as first_difference;
use super::terms::{Side, Term, TermId, Terms};
use crate::base::hash::HashMap;
use crate::casts::folding;
use crate::elements::cast::{Cast, Contested, Rules};
use crate::elements::dtype::DType;
use crate::graph::{NodeId, ValueId};
use crate::ops::compute::{self, Call, Computed, Needs, Operator, TypeAndShape};
use crate::ops::inference::{Inferred, infer};
use crate::passes::Options;
use crate::tensor::{Content, Tensor};

/// The values of terms that are constant, or why a term has none.
pub(super) struct Contents<'m> {
    options: Options,
    inferred: [Option<Inferred>; 2],
    known: HashMap<TermId, Result<Content, String>>,
    terms: &'m Terms<'m>,
}

impl<'m> Contents<'m> {
    pub fn new(terms: &'m Terms<'m>, options: Options) -> Contents<'m> {
        Contents { options, inferred: [None, None], known: HashMap::default(), terms }
    }

    /// The values of a term.
    pub fn of(&mut self, id: TermId) -> Result<Content, String> {
        let mut stack = vec![id];
        while let Some(&next) = stack.last() {
            if self.known.contains_key(&next) {
                stack.pop();
                continue;
            }
            let needed: Vec<TermId> = self.needs(next).into_iter().filter(|id| !self.known.contains_key(id)).collect();
            if needed.is_empty() {
                let content = self.compute(next);
                self.known.insert(next, content);
            } else {
                stack.extend(needed);
            }
        }
        self.known[&id].clone()
    }

    /// The types and shapes inferred for a model.
    pub fn inferred(&mut self, side: Side) -> &Inferred {
        self.inferred[side as usize].get_or_insert_with(|| infer(self.terms.model(side)))
    }

    /// The type and the shape of a value. Constants that were computed may show the shape in the written model first; they are compared
    /// where they are used.
    fn shape(&mut self, side: Side, value: ValueId) -> Option<TypeAndShape> {
        let of = |inferred: &Inferred, value| Some((inferred.of(value).dtype(), inferred.of(value).static_shape()?));
        of(self.inferred(side), value).or_else(|| {
            let same = self.terms.pairs.in_written(value).filter(|_| side == Side::Original)?;
            of(self.inferred(Side::Written), same)
        })
    }

    /// The terms whose values determine those of a term.
    fn needs(&self, id: TermId) -> Vec<TermId> {
        match self.terms.term(id) {
            Term::Cast { of, .. } => vec![*of],
            Term::Move { inputs, .. } => inputs.iter().flatten().copied().collect(),
            Term::Original(value) => match self.terms.pairs.original.producer(*value) {
                Some(node) if self.needs_values(node) => self.inputs(node).into_iter().flatten().collect(),
                _ => Vec::new(),
            },
            Term::Constant(..) | Term::New(_) => Vec::new(),
        }
    }

    fn needs_values(&self, node: NodeId) -> bool {
        compute::operator(self.terms.pairs.original, node).is_some_and(|(operator, _)| operator.needs == Needs::Values)
    }

    /// The terms of the inputs of a node of the original.
    fn inputs(&self, node: NodeId) -> Vec<Option<TermId>> {
        let original = self.terms.pairs.original;
        let mut inputs = vec![None; original.node(node).input.len()];
        for (index, value) in original.inputs(node) {
            inputs[index as usize] = self.terms.of(Side::Original, value);
        }
        inputs
    }

    fn compute(&mut self, id: TermId) -> Result<Content, String> {
        match self.terms.term(id).clone() {
            Term::Constant(side, value) => self.load(side, value),
            Term::New(_) => Err("nothing in the original corresponds to it".to_owned()),
            Term::Cast { of, .. } => self.cast(id, self.known[&of].clone()?),
            Term::Move { inputs, output, .. } => {
                let (side, node) = self.terms.node(id).ok_or("no node computes it")?;
                // Casts of the node's inputs may have become casts of the term.
                self.results(side, node, &inputs, output, Operator::compute_in_any_type)
            }
            Term::Original(value) => {
                let original = self.terms.pairs.original;
                let node = original.producer(value).ok_or("it depends on inputs")?;
                let output = original.outputs(node).find(|(_, other)| *other == value).map_or(0, |(index, _)| index);
                self.results(Side::Original, node, &self.inputs(node), output, Operator::compute)
            }
        }
    }

    fn load(&self, side: Side, value: ValueId) -> Result<Content, String> {
        let model = self.terms.model(side);
        let constant = model.constant(value).map_err(|why| why.to_string())?;
        let tensor = Tensor::read(&constant.tensor).map_err(|why| why.to_string())?;
        tensor.load(model.data()).map_err(|why| why.to_string())
    }

    /// The cast of a term, applied to some values, by the rules of a node that makes it.
    pub fn cast(&self, id: TermId, source: Content) -> Result<Content, String> {
        let Term::Cast { effect, .. } = self.terms.term(id) else { return Err("it is not a cast".to_owned()) };
        let (side, node) = self.terms.node(id).ok_or("no node computes it")?;
        let model = self.terms.model(side);
        let opset = folding::known_opset(model.opset(node.scope, "")).map_err(|why| why.to_string())?;
        let rules = Rules {
            saturate: effect.saturate,
            round_mode: effect.round_mode,
            opset,
            contested: self.options.contested.unwrap_or(Contested::Text),
        };
        let cast = Cast::new(source.dtype(), effect.to, rules).map_err(|why| why.to_string())?;
        let (content, summary) = source.cast(cast).map_err(|why| why.to_string())?;
        if summary.undefined.count > 0 && !self.options.undefined {
            return Err(format!("ONNX does not define it: {}", summary.undefined.why));
        }
        if summary.contested.count > 0 && self.options.contested.is_none() {
            return Err(format!("ONNX contradicts itself about it: {}", summary.contested.why));
        }
        Ok(content)
    }

    /// An output of a node other than a cast.
    fn results(
        &mut self,
        side: Side,
        node: NodeId,
        inputs: &[Option<TermId>],
        output: u32,
        compute: fn(&Operator, &Call) -> Computed,
    ) -> Result<Content, String> {
        let model = self.terms.model(side);
        let (operator, schema) = compute::operator(model, node).ok_or("it depends on inputs")?;
        let (contents, first) = match operator.needs {
            Needs::Values => {
                let content = |id: &Option<TermId>| id.map(|id| self.known[&id].clone()).transpose();
                (inputs.iter().map(content).collect::<Result<Vec<_>, String>>()?, None)
            }
            Needs::Shape => {
                let value = model.input(node, 0).ok_or("its input is missing")?;
                (Vec::new(), Some(self.shape(side, value).ok_or("the shape of its input is not known")?))
            }
        };
        let call = Call { model, node, schema, inputs: contents, first, limit: u64::MAX, contested: self.options.contested };
        let results = compute(operator, &call).map_err(|why| why.to_string())?;
        results.into_iter().nth(output as usize).ok_or_else(|| "its node has no such output".to_owned())
    }
}

/// Values in a type that has all of them, or low bits of integers.
pub(super) fn widened(content: &Content, to: DType) -> Result<Content, String> {
    let cast = Cast::new(content.dtype(), to, Rules::default()).map_err(|why| why.to_string())?;
    content.cast(cast).map(|(content, _)| content).map_err(|why| why.to_string())
}

/// Values whose NaNs are quiet, as casts make them.
pub(super) fn quieted(content: &Content) -> Result<Content, String> {
    let wider = match content.dtype() {
        DType::Float16 | DType::Bfloat16 => DType::Float,
        DType::Float => DType::Double,
        _ => return Ok(content.clone()),
    };
    widened(&widened(content, wider)?, content.dtype())
}

/// The number of elements of two equal constants, or what differs.
pub(super) fn same(expected: &Content, found: &Content) -> Result<u64, String> {
    if (expected.dtype(), expected.dims()) != (found.dtype(), found.dims()) {
        let shown = |content: &Content| format!("{}{:?}", content.dtype(), content.dims());
        return Err(format!("is {}; must be {}", shown(found), shown(expected)));
    }
    let index = match first_difference(expected, found) {
        // Terms drop casts to another type and back, which make NaNs quiet.
        Some(_) => first_difference(&quieted(expected)?, found),
        None => None,
    };
    index.map_or(Ok(found.elements() as u64), |index| Err(format!("has another value at element {index}")))
}
