//! The values of terms, computed again from the constants of the original.

use super::compare::{Allowed, Difference};
use super::evaluate::{FirstInput, Needs, Node, Value, first_difference, needs, results};
use super::term::{ModelSide, Term, TermId};
use super::terms::Terms;
use crate::base::hash::HashMap;
use crate::base::threshold::Threshold;
use crate::graph::{Model, NodeId, ValueId, is_onnx_domain};
use crate::ops::schemas::{self, LATEST_OPSET, Schema};
use crate::passes::Options;
use crate::tensor::Tensor;
use onnx_cast::{Cast, Contested, DType, Rules};

/// The bytes up to which a constant is read again where it is used.
const SMALL: Threshold =
    Threshold::new("bytes of constants that are read again", 1 << 10).or_zero();

/// The values of terms that are constant, or why a term has none.
pub(super) struct Contents<'m> {
    options: Options,
    known: HashMap<TermId, Result<Value, String>>,
    terms: &'m Terms<'m>,
}

/// Why two constants are not shown to be equal.
pub(super) enum Unequal {
    /// They differ.
    Differ(String),
    /// ONNX does not define an element of one of them.
    Undefined(String),
}

impl<'m> Contents<'m> {
    pub fn new(terms: &'m Terms<'m>, options: Options) -> Contents<'m> {
        Contents {
            options,
            known: HashMap::default(),
            terms,
        }
    }

    /// Adds the values that others know.
    pub fn extend(&mut self, others: Contents<'m>) {
        self.known.extend(others.known);
    }

    /// The values of a term.
    pub fn of(&mut self, id: TermId) -> Result<Value, String> {
        if self.is_small(id) {
            return self.compute(id);
        }
        let mut stack = vec![id];
        while let Some(&next) = stack.last() {
            if self.known.contains_key(&next) {
                stack.pop();
                continue;
            }
            let is_needed = |id: &TermId| !self.known.contains_key(id) && !self.is_small(*id);
            let needed: Vec<TermId> = self.needs(next).into_iter().filter(is_needed).collect();
            if needed.is_empty() {
                let value = self.compute(next);
                self.known.insert(next, value);
            } else {
                stack.extend(needed);
            }
        }
        self.known[&id].clone()
    }

    /// The values of a value of the original.
    pub fn of_original(&mut self, value: ValueId) -> Result<Value, String> {
        let id = self
            .terms
            .of(ModelSide::Original, value)
            .ok_or("it is not defined")?;
        self.of(id)
    }

    /// Whether the values of a term are computed faster than remembered: those of a small
    /// constant, and of a cast of one.
    fn is_small(&self, id: TermId) -> bool {
        match *self.terms.term(id) {
            Term::Cast { of, .. } => self.is_small_constant(of),
            _ => self.is_small_constant(id),
        }
    }

    fn is_small_constant(&self, id: TermId) -> bool {
        let Term::Constant(side, value) = *self.terms.term(id) else {
            return false;
        };
        let tensor = self.terms.model(side).initializer(value);
        tensor.is_some_and(|tensor| {
            Tensor::read(tensor).is_ok_and(|tensor| tensor.stored_bytes() <= SMALL.get() as u64)
        })
    }

    /// The values of a term that is known.
    fn known(&self, id: TermId) -> Result<Value, String> {
        match self.known.get(&id) {
            Some(value) => value.clone(),
            None if self.is_small(id) => self.compute(id),
            None => Err("it is not known".to_owned()),
        }
    }

    /// The terms whose values determine those of a term. A shape may be known without the values.
    fn needs(&self, id: TermId) -> Vec<TermId> {
        match self.terms.term(id) {
            Term::Cast { of, .. } => vec![*of],
            Term::Move(moved) => moved.inputs.iter().flatten().copied().collect(),
            Term::Original(value) => {
                let original = self.terms.matching.original;
                let node = original
                    .producer(*value)
                    .filter(|&node| operator(original, node).is_some());
                let inputs = node.map_or_else(Vec::new, |node| self.inputs(node));
                inputs
                    .into_iter()
                    .flatten()
                    .filter(|&input| input != id)
                    .collect()
            }
            Term::Constant(..) | Term::New(_) => Vec::new(),
        }
    }

    /// The terms of the inputs of a node of the original.
    fn inputs(&self, node: NodeId) -> Vec<Option<TermId>> {
        let original = self.terms.matching.original;
        let mut inputs = vec![None; original.node(node).input.len()];
        for (index, value) in original.inputs(node) {
            inputs[index as usize] = self.terms.of(ModelSide::Original, value);
        }
        inputs
    }

    fn compute(&self, id: TermId) -> Result<Value, String> {
        match self.terms.term(id) {
            Term::Constant(side, value) => self.load(*side, *value),
            Term::New(_) => Err("nothing in the original corresponds to it".to_owned()),
            Term::Cast { of, .. } => self.cast(id, self.known(*of)?),
            Term::Move(moved) => {
                let (side, node) = self.terms.node(id).ok_or("no node computes it")?;
                let node = self.node(side, node, &moved.inputs)?;
                // Casts of the node's inputs may have become casts of the term: it may not support
                // the type.
                nth(results(&node)?, moved.output)
            }
            Term::Original(value) => {
                let original = self.terms.matching.original;
                let id = original.producer(*value).ok_or("it depends on inputs")?;
                let output = original
                    .outputs(id)
                    .find(|(_, other)| other == value)
                    .map_or(0, |(index, _)| index);
                let node = self.node(ModelSide::Original, id, &self.inputs(id))?;
                node.expect_types()?;
                nth(results(&node)?, output)
            }
        }
    }

    fn load(&self, side: ModelSide, value: ValueId) -> Result<Value, String> {
        let model = self.terms.model(side);
        let constant = model.constant(value).map_err(|why| why.to_string())?;
        Value::load(&constant.tensor, model.data())
    }

    /// A node with the values of its inputs.
    fn node(
        &self,
        side: ModelSide,
        id: NodeId,
        inputs: &[Option<TermId>],
    ) -> Result<Node<'m>, String> {
        let model = self.terms.model(side);
        let (schema, needs) = operator(model, id).ok_or("it depends on inputs")?;
        let value = |input: &Option<TermId>| input.map(|input| self.known(input)).transpose();
        let (inputs, first) = match needs {
            Needs::Values => (
                inputs
                    .iter()
                    .map(value)
                    .collect::<Result<Vec<_>, String>>()?,
                None,
            ),
            Needs::Shape => match inputs.first().map(value) {
                Some(Ok(first)) => (vec![first], None),
                _ => (Vec::new(), Some(self.first_input(side, id)?)),
            },
        };
        Ok(Node {
            model,
            id,
            schema,
            inputs,
            first,
            contested: self.options.contested,
        })
    }

    /// The inferred type and shape of the first input of a node. Constants that were computed may
    /// show the shape in the written model first; they are compared where they are used. Another
    /// value with the same term, or with casts of it, has the same shape, which may be declared.
    fn first_input(&self, side: ModelSide, node: NodeId) -> Result<FirstInput, String> {
        let value = self
            .terms
            .model(side)
            .input(node, 0)
            .ok_or("its input is missing")?;
        let in_written = self
            .terms
            .matching
            .in_written(value)
            .filter(|_| side == ModelSide::Original);
        let places = [
            Some((side, value)),
            in_written.map(|value| (ModelSide::Written, value)),
        ];
        for (side, value) in places.into_iter().flatten() {
            let known = self.terms.inferred(side).of(value);
            if let Some(dims) = known.static_shape() {
                return Ok((known.dtype(), dims));
            }
        }
        let unknown = || "the shape of its input is not known".to_owned();
        let id = self.terms.of(side, value).ok_or_else(unknown)?;
        let mut others = self.terms.values_but_for_casts(id).iter();
        let dims =
            others.find_map(|&(side, other)| self.terms.inferred(side).of(other).static_shape());
        Ok((self.terms.dtype(id), dims.ok_or_else(unknown)?))
    }

    /// The cast of a term, applied to some values, by the rules of a node that makes it.
    pub fn cast(&self, id: TermId, source: Value) -> Result<Value, String> {
        let Term::Cast { effect, .. } = self.terms.term(id) else {
            return Err("it is not a cast".to_owned());
        };
        let (side, node) = self.terms.node(id).ok_or("no node computes it")?;
        let opset = match self.terms.model(side).opset(node.scope, "") {
            Some(opset @ 1..=LATEST_OPSET) => opset as u32,
            _ => return Err("the opset of the cast is not known".to_owned()),
        };
        let rules = Rules::default()
            .saturate(effect.saturate)
            .round_mode(effect.round_mode)
            .opset(opset)
            .contested(self.options.contested.unwrap_or(Contested::Text));
        let cast = Cast::new(source.dtype(), effect.to, rules).map_err(|why| why.to_string())?;
        let allowed = Allowed {
            undefined: self.options.undefined,
            contested: self.options.contested.is_some(),
            ..Allowed::ALL
        };
        source.cast(cast, allowed)
    }
}

/// The operator of a node that is evaluated.
fn operator(model: &Model, node: NodeId) -> Option<(&'static Schema, Needs)> {
    let proto = model.node(node);
    let needs = needs(proto.op_type())?;
    if !is_onnx_domain(proto.domain()) || model.callee(node).is_some() {
        return None;
    }
    let schema = schemas::schema("", proto.op_type(), model.opset(node.scope, "")?)?;
    (!schema.deprecated).then_some((schema, needs))
}

fn nth(results: Vec<Value>, output: u32) -> Result<Value, String> {
    results
        .into_iter()
        .nth(output as usize)
        .ok_or_else(|| "its node has no such output".to_owned())
}

/// Values in a type that has all of them, or low bits of integers.
pub(super) fn widened(value: &Value, to: DType) -> Result<Value, String> {
    let cast = Cast::new(value.dtype(), to, Rules::default()).map_err(|why| why.to_string())?;
    value.cast(cast, Allowed::ALL)
}

/// Values as casts to another type and back, or to their own type, write them: NaNs are quiet, and a
/// BOOL byte other than 0 and 1 is 1.
fn as_casts_write_them(value: &Value) -> Result<Value, String> {
    let wider = match value.dtype() {
        DType::Bool => return widened(value, DType::Bool),
        DType::Float16 | DType::Bfloat16 => DType::Float,
        DType::Float => DType::Double,
        _ => return Ok(value.clone()),
    };
    widened(&widened(value, wider)?, value.dtype())
}

/// The number of elements of two equal constants, or what differs.
pub(super) fn same(expected: &Value, found: &Value) -> Result<u64, Unequal> {
    if (expected.dtype(), expected.dims()) != (found.dtype(), found.dims()) {
        let shown = |value: &Value| format!("{}{:?}", value.dtype(), value.dims());
        return Err(Unequal::Differ(format!(
            "is {}; must be {}",
            shown(found),
            shown(expected)
        )));
    }
    let mut difference = first_difference(expected, found);
    if matches!(difference, Some(Difference::At(_))) {
        // Terms drop these casts.
        let expected = as_casts_write_them(expected).map_err(Unequal::Differ)?;
        difference = first_difference(&expected, found);
    }
    match difference {
        None => Ok(found.elements() as u64),
        Some(Difference::At(index)) => Err(Unequal::Differ(format!(
            "has another value at element {index}"
        ))),
        Some(Difference::Undefined(index, why)) => Err(Unequal::Undefined(format!(
            "ONNX does not define element {index}: {why}"
        ))),
    }
}
