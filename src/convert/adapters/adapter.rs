//! The differences between two versions of an operator, as data.

use crate::convert::context::Context;
use crate::convert::reason::{AttributeUnsupported, NodeInvalid, Reason, TooLarge};
pub(super) use crate::convert::value::Value;
use crate::ops::inference::MOST_DIMENSIONS;
use crate::protobuf::schema::AttributeProto;
pub(super) use Action::*;

/// Converts operators that change in the same way between the version `to` and the one before it,
/// in both directions.
pub(in crate::convert) struct Adapter {
    /// The names of the operators, separated by spaces.
    pub ops: &'static str,
    /// The newer of the two versions; the older one is the version before it in the facts.
    pub to: i64,
    /// The action of an upgrade.
    pub up: &'static [Action],
    /// The action of a downgrade.
    pub down: &'static [Action],
}

/// An adapter without actions: every converted node is validated against the schema of its new
/// version in any case.
pub(super) const fn adapter(ops: &'static str, to: i64) -> Adapter {
    Adapter {
        ops,
        to,
        up: &[],
        down: &[],
    }
}

impl Adapter {
    /// The action of an upgrade.
    pub const fn up(self, up: &'static [Action]) -> Adapter {
        Adapter { up, ..self }
    }

    /// The action of a downgrade.
    pub const fn down(self, down: &'static [Action]) -> Adapter {
        Adapter { down, ..self }
    }
}

/// Changes a node; if that is not possible, it states why.
pub(in crate::convert) type Adapt = fn(&mut Context) -> Result<(), Reason>;

/// One change of a node.
pub(in crate::convert) enum Action {
    /// Removes an attribute without effect.
    Drop(&'static str),
    /// Removes an attribute with this value, which is the behaviour of the other version; blocks on
    /// other values.
    DropIf(&'static str, Value),
    /// Writes out a default that differs between the versions.
    Write(&'static str, Value),
    /// Renames an attribute.
    Rename(&'static str, &'static str),
    /// Renames a value of a string attribute: the attribute, the old and the new name.
    RenameValue(&'static str, &'static str, &'static str),
    /// Turns an attribute into the input at this index.
    ToInput(&'static str, usize, ReplacementKind),
    /// Turns the constant input at this index into an attribute.
    ToAttribute(usize, &'static str, ReplacementKind),
    /// Makes negative axes in an attribute non-negative.
    CountFromFront(&'static str),
    /// Renames the operator.
    Becomes(&'static str),
    /// Anything else.
    Run(Adapt),
}

/// The types of an attribute and of the input that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::convert) enum ReplacementKind {
    /// `INT` and a scalar of int64.
    Int,
    /// `INT` and a list of one int64.
    IntInList,
    /// `INTS` and a list of int64.
    Ints,
    /// `FLOATS` and a list of float.
    Floats,
}

impl Action {
    /// Applies the change.
    pub fn apply(&self, cx: &mut Context) -> Result<(), Reason> {
        match *self {
            Action::Drop(name) => cx.remove_attribute(name),
            Action::DropIf(name, value) => match cx.attribute(name)? {
                Some(attribute) if value.is(&attribute) => cx.remove_attribute(name),
                Some(_) => return Err(Reason::new(AttributeUnsupported, unsupported(cx, name))),
                None => {}
            },
            Action::Write(name, value) => {
                if cx.attribute(name)?.is_none() {
                    cx.write(name, value);
                }
            }
            Action::Rename(old, new) => cx.rename_attribute(old, new),
            Action::RenameValue(name, old, new) => {
                if cx.string(name)?.as_deref() == Some(old) {
                    cx.set_string(name, new);
                }
            }
            Action::ToInput(name, index, kind) => to_input(cx, name, index, kind)?,
            Action::ToAttribute(index, name, kind) => to_attribute(cx, index, name, kind)?,
            Action::CountFromFront(name) => count_from_front(cx, name)?,
            Action::Becomes(name) => cx.rename_operator(name),
            Action::Run(run) => run(cx)?,
        }
        Ok(())
    }
}

/// The message for an attribute that the version to convert to does not support.
fn unsupported(cx: &Context, name: &str) -> String {
    let op = cx.node.op_type();
    if cx.to < cx.schema.since_version {
        format!(
            "`{name}` is not supported by {op} before opset {}",
            cx.to + 1
        )
    } else {
        format!("`{name}` is not supported by {op} since opset {}", cx.to)
    }
}

fn to_input(
    cx: &mut Context,
    name: &'static str,
    index: usize,
    kind: ReplacementKind,
) -> Result<(), Reason> {
    let Some(attribute) = cx.attribute(name)? else {
        return Ok(());
    };
    if cx.input(index).is_some() {
        return Err(Reason::new(
            NodeInvalid,
            format!(
                "the node has both the attribute `{name}` and input {index}, which replaces it"
            ),
        ));
    }
    let value = match kind {
        ReplacementKind::Int => cx.constant_ints(name, &[], &[attribute.i()]),
        ReplacementKind::IntInList => cx.constant_ints(name, &[1], &[attribute.i()]),
        ReplacementKind::Ints => cx.constant_int_list(name, &attribute.ints),
        ReplacementKind::Floats => cx.constant_float_list(name, &attribute.floats),
    };
    cx.remove_attribute(name);
    cx.set_input(index, &value);
    Ok(())
}

fn to_attribute(
    cx: &mut Context,
    index: usize,
    name: &'static str,
    kind: ReplacementKind,
) -> Result<(), Reason> {
    if cx.input(index).is_none() {
        return Ok(());
    }
    // Many nodes may share a constant, and each gets a copy as its attribute.
    let most = cx.node.output.len().max(2 * MOST_DIMENSIONS);
    if let Some([length]) = cx.known_input(index).static_shape().as_deref()
        && usize::try_from(*length).is_ok_and(|length| length > most)
    {
        return Err(Reason::new(
            TooLarge,
            format!(
                "input {index} has {length} elements, which exceeds the number of dimensions and outputs"
            ),
        ));
    }
    match kind {
        ReplacementKind::Int | ReplacementKind::IntInList => {
            match cx.read_ints(index)?.as_slice() {
                [only] => cx.set_int(name, *only),
                other => {
                    return Err(Reason::new(
                        NodeInvalid,
                        format!(
                            "input {index} has {} elements, but the attribute `{name}` holds one",
                            other.len()
                        ),
                    ));
                }
            }
        }
        ReplacementKind::Ints => cx.set_attribute(AttributeProto::ints(name, cx.read_ints(index)?)),
        ReplacementKind::Floats => {
            cx.set_attribute(AttributeProto::floats(name, cx.read_floats(index)?))
        }
    }
    cx.take_input(index);
    Ok(())
}

fn count_from_front(cx: &mut Context, name: &'static str) -> Result<(), Reason> {
    let Some(attribute) = cx.attribute(name)? else {
        return Ok(());
    };
    let is_list = attribute.i.is_none();
    let counted = if is_list {
        attribute.ints.clone()
    } else {
        vec![attribute.i()]
    };
    if counted.iter().all(|&axis| axis >= 0) {
        return Ok(());
    }
    let counted = cx.axes_from_front(counted)?;
    if is_list {
        cx.set_ints(name, counted)
    } else {
        cx.set_int(name, counted[0])
    }
    Ok(())
}
