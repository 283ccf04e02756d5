//! An expansion, and parts of the text of its body.

use std::fmt::Display;

use crate::convert::adapters::adapter::Adapt;
use crate::convert::context::Context;
use crate::convert::expanded::Exactness;
use crate::convert::reason::{Code, NodeInvalid, Reason};
use crate::ops::inference::MOST_DIMENSIONS;
use onnx_cast::DType;

/// Operators in terms of others.
pub(in crate::convert) struct Expansion {
    /// The names of the operators, separated by spaces.
    pub ops: &'static str,
    /// The version that it expands; the opset before that has all operators of the body.
    pub version: i64,
    /// How the results compare with those of the operator.
    pub class: Exactness,
    /// The nodes for a node with these attributes, types and shapes.
    pub body: fn(&Context) -> Result<String, Reason>,
    /// If the operator has an older version: the obstacles to a conversion to it that the expansion
    /// removes. None for all.
    pub obstacles: &'static [Code],
    /// The opset of the body, if it is not the one before the version: that of an operator of
    /// onnxruntime.
    pub opset: Option<i64>,
    /// Whether the nodes of the body stay as its text has them, also those that passes would remove.
    pub is_final: bool,
    /// The runtime for which it is a guard; none for all.
    pub runtime: Option<&'static str>,
    /// Whether the guard is also for nodes that the runtime refuses.
    pub is_for_refused: bool,
    /// The adapter that guards nodes for which there is no body, in the opset that they are
    /// converted to.
    pub adapter: Option<Adapt>,
}

impl Expansion {
    /// Whether the expansion is tried if the node has no equivalent in the older version of its
    /// operator for this reason.
    pub fn helps(&self, reason: &Reason) -> bool {
        self.obstacles.is_empty() || self.obstacles.iter().any(|&code| reason.is(code))
    }

    /// The nodes of the body stay as its text has them.
    pub(super) const fn kept_whole(self) -> Expansion {
        Expansion {
            is_final: true,
            ..self
        }
    }

    /// The guard is for this runtime alone.
    pub(super) const fn for_runtime(self, runtime: &'static str) -> Expansion {
        Expansion {
            runtime: Some(runtime),
            ..self
        }
    }

    /// The guard is also for nodes that the runtime refuses.
    pub(super) const fn for_refused(self) -> Expansion {
        Expansion {
            is_for_refused: true,
            ..self
        }
    }

    /// Where there is no body, an adapter guards the node.
    pub(super) const fn or_by(self, adapter: Adapt) -> Expansion {
        Expansion {
            adapter: Some(adapter),
            ..self
        }
    }

    pub(super) const fn in_opset(self, opset: i64) -> Expansion {
        Expansion {
            opset: Some(opset),
            ..self
        }
    }

    pub(super) const fn against(self, obstacles: &'static [Code]) -> Expansion {
        Expansion { obstacles, ..self }
    }
}

pub(super) const fn exact(
    ops: &'static str,
    version: i64,
    body: fn(&Context) -> Result<String, Reason>,
) -> Expansion {
    Expansion {
        ops,
        version,
        class: Exactness::Exact,
        body,
        obstacles: &[],
        opset: None,
        is_final: false,
        runtime: None,
        is_for_refused: false,
        adapter: None,
    }
}

pub(super) const fn by_definition(
    ops: &'static str,
    version: i64,
    body: fn(&Context) -> Result<String, Reason>,
) -> Expansion {
    Expansion {
        ops,
        version,
        class: Exactness::ByDefinition,
        body,
        obstacles: &[],
        opset: None,
        is_final: false,
        runtime: None,
        is_for_refused: false,
        adapter: None,
    }
}

/// A body with its parameters filled in.
pub(super) fn fill(body: &str, parameters: &[(&str, &dyn Display)]) -> String {
    let mut longest_first = parameters.to_vec();
    longest_first.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    longest_first
        .iter()
        .fold(body.to_owned(), |body, (name, value)| {
            body.replace(&format!("${name}"), &value.to_string())
        })
}

/// An element type as the text writes it.
pub(super) fn type_name(dtype: DType) -> String {
    dtype.name().to_lowercase()
}

/// The element type of an input as the text writes it.
pub(super) fn type_of(cx: &Context, input: usize) -> Result<String, Reason> {
    cx.dtype(input).map(type_name)
}

/// A float as the text writes it.
pub(super) fn number(value: f32) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else {
        format!("{value:?}")
    }
}

/// The number of elements of a shape; none if it is no INT64.
pub(super) fn element_count(dims: &[i64]) -> Option<i64> {
    dims.iter()
        .try_fold(1, |count: i64, &dim| count.checked_mul(dim))
}

/// The axes from `axis` to the last one.
pub(super) fn axes_from(cx: &Context, axis: i64) -> Result<Vec<i64>, Reason> {
    let rank = if axis < 0 {
        cx.rank(0).unwrap_or(MOST_DIMENSIONS)
    } else {
        cx.rank(0)?
    } as i64;
    if (-rank..rank).contains(&axis) {
        Ok((axis..if axis < 0 { 0 } else { rank }).collect())
    } else {
        Err(Reason::new(
            NodeInvalid,
            format!("`axis` = {axis} is out of range for rank {rank}"),
        ))
    }
}

/// Numbers, or other words, as the text lists them.
pub(super) fn list(values: impl IntoIterator<Item: ToString>) -> String {
    values
        .into_iter()
        .map(|value| value.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The name of an input in a body: that of the schema, and a number if the formal input is
/// repeated.
pub(in crate::convert) fn local_name(cx: &Context, index: usize) -> Option<String> {
    numbered(index, |index| Some(cx.schema.input(index)?.name))
}

/// The name of an output in a body, in the same way.
pub(in crate::convert) fn local_output_name(cx: &Context, index: usize) -> Option<String> {
    numbered(index, |index| Some(cx.schema.output(index)?.name))
}

fn numbered(index: usize, formal: impl Fn(usize) -> Option<&'static str>) -> Option<String> {
    let name = formal(index)?;
    let first = (0..index).find(|&other| formal(other) == Some(name));
    Some(first.map_or_else(
        || name.to_owned(),
        |first| format!("{name}_{}", index - first),
    ))
}
