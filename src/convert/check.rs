//! Validates a node against a version of its operator: attributes, number of inputs and outputs, types.
//!
//! Types are checked only where the versions differ, so that unknown types block only conversions that depend on them.

use super::context::Context;
use super::reason::Code::{AttributeUnsupported, InputUnsupported, NodeInvalid, OperatorDeprecated, TypeUnknown, TypeUnsupported};
use super::reason::Reason;
use crate::facts::{AttributeKind, Formal, Occurrence, Schema, TypeSet, ValueType};
use crate::wire::schema::{AttributeProto, NodeProto};

/// What the names of attributes begin with that tools add for their own use: onnx.checker and onnxruntime accept them on every node.
const OWN_USE: &str = "__";

/// Validates an adapted node against the version it is converted to.
pub(super) fn fits(cx: &Context, target: &'static Schema) -> Result<(), Reason> {
    if target.deprecated {
        return Err(deprecated(target));
    }
    attributes(&cx.node, target)?;
    inputs(&cx.node, target)?;
    expect_count("output", count(&cx.node.output), target.output_count(), target)?;
    types(cx, target)
}

/// Whether a node has inputs and outputs as every model of this version has. An output may be left out by an empty name.
pub(super) fn arity(node: &NodeProto, version: &'static Schema) -> Result<(), Reason> {
    inputs(node, version)?;
    let (least, most) = version.output_count();
    if node.output.len() < least.min(1) {
        return Err(NodeInvalid.because(format!("{version} needs an output, but the node has none")));
    }
    expect_count("output", count(&node.output), (0, most), version)
}

/// Checks that the known types of a node that an expansion added are supported by the version it is written for.
pub(super) fn supports(cx: &Context) -> Result<(), Reason> {
    let inputs = (0..cx.node.input.len()).filter(|&index| cx.input(index).is_some());
    let inputs = inputs.map(|index| Actual { side: Side::Input(index), old: None, new: cx.schema.input(index) });
    let outputs = (0..cx.node.output.len()).filter(|&index| cx.has_output(index));
    let outputs = outputs.map(|index| Actual { side: Side::Output(index), old: None, new: cx.schema.output(index) });
    for actual in inputs.chain(outputs) {
        let Some(new) = actual.new else { continue };
        if actual.known(cx).is_some() {
            is_admitted(cx, &actual, new, cx.schema)?;
        }
    }
    Ok(())
}

/// Checks what adapters rely on: the node has all required inputs of its present version, and an output if that has any. Versions
/// of the first opsets require outputs that models omit in practice.
pub(super) fn operands(node: &NodeProto, version: &'static Schema) -> Result<(), Reason> {
    inputs(node, version)?;
    let (least, most) = version.output_count();
    expect_count("output", count(&node.output), (least.min(1), most), version)
}

fn inputs(node: &NodeProto, version: &'static Schema) -> Result<(), Reason> {
    expect_count("input", count(&node.input), version.input_count(), version)?;
    for (index, name) in node.input.iter().enumerate() {
        let required = version.input(index).is_some_and(|formal| formal.occurrence == Occurrence::Single);
        if name.is_empty() && required {
            return Err(InputUnsupported.because(format!("{version} requires the input '{}'", version.inputs[index].name)));
        }
    }
    Ok(())
}

/// The number of names without empty ones at the end.
fn count(names: &[String]) -> usize {
    names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1)
}

/// The reason for a version that removes its operator.
pub(super) fn deprecated(version: &Schema) -> Reason {
    OperatorDeprecated.because(format!("{version} is deprecated"))
}

fn expect_count(what: &str, found: usize, (least, most): (usize, Option<usize>), target: &Schema) -> Result<(), Reason> {
    match most {
        _ if found < least => {
            Err(InputUnsupported.because(format!("{target} requires at least {least} {what}s, but the node has {found}")))
        }
        Some(most) if found > most => {
            Err(InputUnsupported.because(format!("{target} has at most {most} {what}s, but the node has {found}")))
        }
        _ => Ok(()),
    }
}

/// Whether a version has all attributes of a node, with the types that they have, and the node all that the version requires.
pub(super) fn attributes(node: &NodeProto, target: &'static Schema) -> Result<(), Reason> {
    for attribute in &node.attribute {
        match target.attribute(attribute.name()) {
            None if attribute.name().starts_with(OWN_USE) => {}
            None => return Err(AttributeUnsupported.because(format!("{target} has no attribute `{}`", attribute.name()))),
            Some(fact) if kind_of(attribute).is_some_and(|kind| kind != fact.kind as i32) => {
                return Err(
                    AttributeUnsupported.because(format!("the attribute `{}` has another type in {target}", attribute.name()))
                );
            }
            Some(_) => {}
        }
    }
    let is_missing = |name: &str| node.attribute.iter().all(|attribute| attribute.name() != name);
    match target.attributes.iter().find(|fact| fact.required && is_missing(fact.name)) {
        Some(missing) => Err(NodeInvalid.because(format!("{target} requires the attribute `{}`", missing.name))),
        None => Ok(()),
    }
}

/// The number of an attribute's type. The oldest models do not state it: it is then taken from the field that is set, and unknown
/// for an empty list.
fn kind_of(attribute: &AttributeProto) -> Option<i32> {
    if let Some(stated) = attribute.r#type.filter(|&stated| stated != 0) {
        return Some(stated);
    }
    let set = [
        (attribute.f.is_some(), AttributeKind::Float),
        (attribute.i.is_some(), AttributeKind::Int),
        (attribute.s.is_some(), AttributeKind::String),
        (attribute.t.is_some(), AttributeKind::Tensor),
        (attribute.g.is_some(), AttributeKind::Graph),
        (!attribute.floats.is_empty(), AttributeKind::Floats),
        (!attribute.ints.is_empty(), AttributeKind::Ints),
        (!attribute.strings.is_empty(), AttributeKind::Strings),
    ];
    set.iter().find(|(is_set, _)| *is_set).map(|(_, kind)| *kind as i32)
}

fn types(cx: &Context, target: &'static Schema) -> Result<(), Reason> {
    let inputs = (0..cx.node.input.len()).filter(|&index| cx.input(index).is_some());
    let inputs = inputs.map(|index| Actual { side: Side::Input(index), old: cx.schema.input(index), new: target.input(index) });
    let outputs = (0..cx.node.output.len()).filter(|&index| cx.has_output(index));
    let outputs =
        outputs.map(|index| Actual { side: Side::Output(index), old: cx.schema.output(index), new: target.output(index) });
    let mut seen: Vec<Actual> = Vec::new();
    for actual in inputs.chain(outputs) {
        let Some(new) = actual.new else { continue };
        is_admitted(cx, &actual, new, target)?;
        if !new.is_homogeneous() {
            continue;
        }
        let same_variable = |other: &&Actual| other.new.is_some_and(|other| other.type_name == new.type_name);
        if let Some(other) = seen.iter().find(same_variable) {
            are_equal(cx, other, &actual, target)?;
        }
        seen.push(actual);
    }
    Ok(())
}

/// An input or output of the node.
struct Actual {
    side: Side,
    /// The formal parameter in the version to convert from.
    old: Option<&'static Formal>,
    /// The formal parameter in the version to convert to.
    new: Option<&'static Formal>,
}

enum Side {
    Input(usize),
    Output(usize),
}

impl Actual {
    fn known(&self, cx: &Context) -> Option<ValueType> {
        match self.side {
            Side::Input(index) => cx.input_type(index),
            Side::Output(index) => cx.output_type(index),
        }
    }

    /// The types in all calls of the function that contains the node.
    fn types_in_calls(&self, cx: &Context) -> Option<TypeSet> {
        let name = match self.side {
            Side::Input(index) => &cx.node.input[index],
            Side::Output(index) => &cx.node.output[index],
        };
        cx.source.types_in_calls(cx.value(name))
    }

    fn describe(&self, cx: &Context) -> String {
        match self.side {
            Side::Input(index) => cx.describe(index),
            Side::Output(index) => format!("output '{}'", cx.node.output[index]),
        }
    }
}

/// Versions that only add types need no check: a model with wrong types stays as wrong as it was.
fn is_admitted(cx: &Context, actual: &Actual, new: &Formal, target: &Schema) -> Result<(), Reason> {
    if actual.old.is_some_and(|old| old.types.is_subset(new.types)) {
        return Ok(());
    }
    let unsupported = |known: ValueType, place: &str| {
        Err(TypeUnsupported.because(format!("{} is {known}{place}, which {target} does not support", actual.describe(cx))))
    };
    if let Some(known) = actual.known(cx) {
        return if new.types.contains(known) { Ok(()) } else { unsupported(known, "") };
    }
    match actual.types_in_calls(cx).map(|types| types.iter().find(|&known| !new.types.contains(known))) {
        Some(None) => Ok(()),
        Some(Some(known)) => unsupported(known, " in a call of the function"),
        None => Err(TypeUnknown.because(format!(
            "the type of {} is unknown, and {target} does not support all types of {}",
            actual.describe(cx),
            cx.schema
        ))),
    }
}

/// Two inputs or outputs that must have the same type in the new version had to before, or are known to.
fn are_equal(cx: &Context, left: &Actual, right: &Actual, target: &Schema) -> Result<(), Reason> {
    if shared_before(left.old, right.old) {
        return Ok(());
    }
    let [what_left, what_right] = [left, right].map(|actual| actual.describe(cx));
    match (left.known(cx), right.known(cx)) {
        (Some(left), Some(right)) if left == right => Ok(()),
        (Some(left), Some(right)) => {
            Err(TypeUnsupported
                .because(format!("{what_left} is {left}, but {what_right} is {right}: {target} requires the same type")))
        }
        // Types may differ between calls, but not if there are none.
        _ if cx.source.types_in_calls(None).is_some() => Ok(()),
        _ => Err(TypeUnknown
            .because(format!("{target} requires the same type for {what_left} and {what_right}, and at least one is unknown"))),
    }
}

/// Whether two parameters share a type variable, or have the same single type, in the version to convert from.
fn shared_before(left: Option<&'static Formal>, right: Option<&'static Formal>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            left.is_homogeneous() && right.is_homogeneous() && left.type_name == right.type_name
                || left.fixed_type().is_some() && left.fixed_type() == right.fixed_type()
        }
        _ => false,
    }
}
