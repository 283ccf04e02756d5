//! A node with what is known of its inputs and outputs.

use std::ops::Deref;

use crate::graph::{Model, NodeId};
use crate::ops::inference::{Call, Inferred, Ints, Known, MOST_DIMENSIONS, NOTHING, tensor_ints};
use crate::ops::schemas::Schema;

pub(super) struct Operation<'a> {
    call: Call<'a, i64>,
    pub schema: &'static Schema,
    /// By index; the integers of small tensors, as far as they are known.
    ints: Vec<Option<&'a Ints>>,
    pub outputs: Vec<&'a Known>,
}

impl<'a> Deref for Operation<'a> {
    type Target = Call<'a, i64>;

    fn deref(&self) -> &Call<'a, i64> {
        &self.call
    }
}

impl<'a> Operation<'a> {
    pub fn of(
        model: &'a Model,
        inferred: &'a Inferred,
        id: NodeId,
        schema: &'static Schema,
    ) -> Operation<'a> {
        let node = model.node(id);
        let mut inputs = vec![&NOTHING; node.input.len()];
        let mut ints = vec![None; node.input.len()];
        for (index, value) in model.inputs(id) {
            inputs[index as usize] = inferred.of(value);
            ints[index as usize] = inferred.ints(value);
        }
        let mut outputs = vec![&NOTHING; node.output.len()];
        for (index, value) in model.outputs(id) {
            outputs[index as usize] = inferred.of(value);
        }
        Operation {
            call: Call {
                model,
                id,
                node,
                inputs,
            },
            schema,
            ints,
            outputs,
        }
    }

    /// The integers of an input, if all are known.
    pub fn values(&self, index: usize) -> Option<Vec<i64>> {
        match self.ints.get(index).copied().flatten() {
            Some(ints) => ints.iter().copied().collect(),
            None => self.flattened(index),
        }
    }

    /// The integers of a constant of rank 2 or more in place of a list: both tools take them as a
    /// list, too.
    fn flattened(&self, index: usize) -> Option<Vec<i64>> {
        let elements = self
            .shape(index)?
            .iter()
            .try_fold(1i64, |product, dim| product.checked_mul((*dim)?))?;
        let is_small = usize::try_from(elements).is_ok_and(|elements| elements <= MOST_DIMENSIONS);
        let value = self
            .model
            .input(self.id, index as u32)
            .filter(|_| is_small)?;
        tensor_ints(&self.model.constant(value).ok()?.tensor)
    }

    /// Operands that are attributes in some versions of an operator, and inputs in others.
    pub fn attribute_or_values(&self, name: &str, index: usize) -> Option<Vec<i64>> {
        match self.schema.attribute(name) {
            Some(_) => self.call.ints(name).map(<[_]>::to_vec),
            None => self.values(index),
        }
    }

    /// The name of an input.
    pub fn name(&self, index: usize) -> &'a str {
        self.node.input.get(index).map_or("", String::as_str)
    }
}
