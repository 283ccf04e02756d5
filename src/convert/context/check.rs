//! Validates a node against a version of its operator: attributes, number of inputs and outputs,
//! types.
//!
//! Types are checked only where the versions differ, so that unknown types block only conversions
//! that depend on them.

use super::Context;
use crate::convert::reason::{
    AttributeUnsupported, InputUnsupported, NodeInvalid, OperatorDeprecated, Reason, TypeUnknown,
    TypeUnsupported,
};
use crate::ops::schemas::{Formal, Schema, TypeSet, ValueType};
use crate::ops::validity::{self, Fault, What};
use crate::protobuf::schema::NodeProto;

/// Validates an adapted node against the version it is converted to.
pub(in crate::convert) fn fits(cx: &Context, target: &'static Schema) -> Result<(), Reason> {
    if target.deprecated {
        return Err(deprecated(target));
    }
    validity::attributes(&cx.node, target)?;
    validity::inputs(&cx.node, target)?;
    validity::count("output", &cx.node.output, target.output_count(), target)?;
    types(cx, target)
}

/// Checks that the known types of a node that an expansion added are supported by the version it is
/// written for.
pub(in crate::convert) fn supports(cx: &Context) -> Result<(), Reason> {
    let mut known = operands_of(cx, None, cx.schema).filter(|operand| operand.known(cx).is_some());
    known.try_for_each(|operand| is_admitted(cx, &operand, cx.schema))
}

/// Checks what adapters rely on: the node has all required inputs of its present version, and an
/// output if that has any. Versions of the first opsets require outputs that models omit in
/// practice.
pub(in crate::convert) fn operands(
    node: &NodeProto,
    version: &'static Schema,
) -> Result<(), Reason> {
    validity::inputs(node, version)?;
    let (least, most) = version.output_count();
    Ok(validity::count(
        "output",
        &node.output,
        (least.min(1), most),
        version,
    )?)
}

/// The reason for a version that removes its operator.
pub(in crate::convert) fn deprecated(version: &Schema) -> Reason {
    Reason::new(OperatorDeprecated, format!("{version} is deprecated"))
}

impl From<Fault> for Reason {
    fn from(Fault { what, text }: Fault) -> Reason {
        let code = match what {
            What::Operands => InputUnsupported,
            What::Attribute => AttributeUnsupported,
            What::NoOutput | What::MissingAttribute => NodeInvalid,
        };
        Reason::new(code, text)
    }
}

fn types(cx: &Context, target: &'static Schema) -> Result<(), Reason> {
    let mut seen: Vec<Operand> = Vec::new();
    for operand in operands_of(cx, Some(cx.schema), target) {
        is_admitted(cx, &operand, target)?;
        if !operand.new.is_homogeneous() {
            continue;
        }
        if let Some(other) = seen
            .iter()
            .find(|other| other.new.type_name == operand.new.type_name)
        {
            are_equal(cx, other, &operand, target)?;
        }
        seen.push(operand);
    }
    Ok(())
}

/// The inputs and outputs of the node that the version to convert to has.
fn operands_of(
    cx: &Context,
    old: Option<&'static Schema>,
    new: &'static Schema,
) -> impl Iterator<Item = Operand> {
    let inputs = (0..cx.node.input.len())
        .filter(|&index| cx.input(index).is_some())
        .filter_map(move |index| {
            Some(Operand {
                side: OperandIndex::Input(index),
                old: old.and_then(|old| old.input(index)),
                new: new.input(index)?,
            })
        });
    let outputs = (0..cx.node.output.len())
        .filter(|&index| cx.has_output(index))
        .filter_map(move |index| {
            Some(Operand {
                side: OperandIndex::Output(index),
                old: old.and_then(|old| old.output(index)),
                new: new.output(index)?,
            })
        });
    inputs.chain(outputs)
}

/// An input or output of the node.
struct Operand {
    side: OperandIndex,
    /// The formal parameter in the version to convert from.
    old: Option<&'static Formal>,
    /// The formal parameter in the version to convert to.
    new: &'static Formal,
}

enum OperandIndex {
    Input(usize),
    Output(usize),
}

impl Operand {
    fn known(&self, cx: &Context) -> Option<ValueType> {
        match self.side {
            OperandIndex::Input(index) => cx.input_type(index),
            OperandIndex::Output(index) => cx.output_type(index),
        }
    }

    /// The types in all calls of the function that contains the node.
    fn types_in_calls(&self, cx: &Context) -> Option<TypeSet> {
        let name = match self.side {
            OperandIndex::Input(index) => &cx.node.input[index],
            OperandIndex::Output(index) => &cx.node.output[index],
        };
        cx.source.types_in_calls(cx.value(name))
    }

    fn describe(&self, cx: &Context) -> String {
        match self.side {
            OperandIndex::Input(index) => cx.describe(index),
            OperandIndex::Output(index) => format!("output '{}'", cx.node.output[index]),
        }
    }
}

/// Versions that only add types need no check: a model with wrong types stays as wrong as it was.
fn is_admitted(cx: &Context, operand: &Operand, target: &Schema) -> Result<(), Reason> {
    if operand
        .old
        .is_some_and(|old| old.types.is_subset(operand.new.types))
    {
        return Ok(());
    }
    let unsupported = |known: ValueType, place: &str| {
        Err(Reason::new(
            TypeUnsupported,
            format!(
                "{} is {known}{place}, which {target} does not support",
                operand.describe(cx)
            ),
        ))
    };
    if let Some(known) = operand.known(cx) {
        return if operand.new.types.contains(known) {
            Ok(())
        } else {
            unsupported(known, "")
        };
    }
    match operand.types_in_calls(cx).map(|types| {
        types
            .iter()
            .find(|&known| !operand.new.types.contains(known))
    }) {
        Some(None) => Ok(()),
        Some(Some(known)) => unsupported(known, " in a call of the function"),
        None => Err(Reason::new(
            TypeUnknown,
            format!(
                "the type of {} is unknown, and {target} does not support all types of {}",
                operand.describe(cx),
                cx.schema
            ),
        )),
    }
}

/// Two inputs or outputs that must have the same type in the new version had to before, or are
/// known to.
fn are_equal(cx: &Context, left: &Operand, right: &Operand, target: &Schema) -> Result<(), Reason> {
    if shared_before(left.old, right.old) {
        return Ok(());
    }
    let [what_left, what_right] = [left, right].map(|operand| operand.describe(cx));
    match (left.known(cx), right.known(cx)) {
        (Some(left), Some(right)) if left == right => Ok(()),
        (Some(left), Some(right)) => Err(Reason::new(
            TypeUnsupported,
            format!(
                "{what_left} is {left}, but {what_right} is {right}: {target} requires the same type"
            ),
        )),
        // Types may differ between calls, but not if there are none.
        _ if cx.source.types_in_calls(None).is_some() => Ok(()),
        _ => Err(Reason::new(
            TypeUnknown,
            format!(
                "{target} requires the same type for {what_left} and {what_right}, and at least one is unknown"
            ),
        )),
    }
}

/// Whether two parameters share a type variable, or have the same single type, in the version to
/// convert from.
fn shared_before(left: Option<&'static Formal>, right: Option<&'static Formal>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            left.shares_variable(right)
                || left.fixed_type().is_some() && left.fixed_type() == right.fixed_type()
        }
        _ => false,
    }
}
