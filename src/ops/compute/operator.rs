//! A bit-exact operator.

use super::call::Call;
use super::result::{Computed, NotComputed, undefined};
use crate::ops::inference::MOST_DIMENSIONS;
use crate::ops::schemas::{Formal, ValueType};

/// The inputs on which an operator's results depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The values of all inputs.
    Values,
    /// The shape of the first input.
    Shape,
}

/// A bit-exact operator.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    pub(super) name: &'static str,
    /// The inputs on which its results depend.
    pub needs: Needs,
    compute: fn(&Call) -> Computed,
}

impl Operator {
    pub(super) const fn new(name: &'static str, compute: fn(&Call) -> Computed) -> Operator {
        Operator {
            name,
            needs: Needs::Values,
            compute,
        }
    }

    pub(super) const fn of_shape(name: &'static str, compute: fn(&Call) -> Computed) -> Operator {
        Operator {
            name,
            needs: Needs::Shape,
            compute,
        }
    }

    /// The results of a node.
    ///
    /// # Errors
    /// If ONNX does not define the results, or leaves them to runtimes.
    pub fn compute(&self, call: &Call) -> Computed {
        for (index, content) in call.contents() {
            let is_supported =
                |formal: &Formal| formal.types.contains(ValueType::Tensor(content.dtype()));
            if !call.schema.input(index).is_none_or(is_supported) {
                return Err(undefined(format!(
                    "{} does not support {}",
                    call.schema,
                    content.dtype()
                )));
            }
        }
        self.compute_in_any_type(call)
    }

    /// The results of a node that moves elements, also for types that the operator does not
    /// support.
    ///
    /// # Errors
    /// If ONNX does not define the results, or leaves them to runtimes.
    pub fn compute_in_any_type(&self, call: &Call) -> Computed {
        for (index, content) in call.contents() {
            let rank = content.dims().len();
            if rank > MOST_DIMENSIONS {
                return Err(NotComputed::LeftToRuntimes(format!(
                    "tensors of {rank} dimensions are left to the runtime"
                )));
            }
            call.schema
                .input(index)
                .ok_or_else(|| undefined("the node has too many inputs"))?;
        }
        let results = (self.compute)(call)?;
        let outputs = call.proto().output.len();
        if results.len() < outputs {
            return Err(undefined(format!(
                "the node has {outputs} outputs, and {} results",
                results.len()
            )));
        }
        Ok(results)
    }
}
