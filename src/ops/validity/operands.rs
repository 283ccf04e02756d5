//! Inputs, outputs and attributes that a version of an operator has.

use crate::ops::schemas::{AttributeKind, Occurrence, Schema};
use crate::protobuf::schema::{AttributeProto, NodeProto};

/// The prefixes of attributes that tools add for their own use: onnx.checker and onnxruntime accept
/// them on every node.
const OWN_USE: &str = "__";

/// An operand that a version of an operator lacks or requires.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The subject of the fault.
    pub what: What,
    /// The fault.
    pub text: String,
}

/// The subject of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The inputs or outputs that a node has.
    Operands,
    /// The lack of any output.
    NoOutput,
    /// An attribute that a node has.
    Attribute,
    /// An attribute that a node lacks.
    MissingAttribute,
}

impl What {
    fn fault(self, text: String) -> Fault {
        Fault { what: self, text }
    }
}

/// Whether a node has inputs and outputs as every model of this version has. An output may be left
/// out by an empty name.
///
/// # Errors
/// The first fault.
pub fn arity(node: &NodeProto, version: &'static Schema) -> Result<(), Fault> {
    inputs(node, version)?;
    let (least, most) = version.output_count();
    if node.output.len() < least.min(1) {
        return Err(
            What::NoOutput.fault(format!("{version} needs an output, but the node has none"))
        );
    }
    count("output", &node.output, (0, most), version)
}

/// Whether a node has all outputs that a version always computes. onnx.checker and onnxruntime
/// permit an empty name only for the others.
///
/// # Errors
/// The first fault.
pub fn outputs(node: &NodeProto, version: &'static Schema) -> Result<(), Fault> {
    let is_missing = |index: usize| node.output.get(index).is_none_or(String::is_empty);
    let missing = version
        .outputs
        .iter()
        .enumerate()
        .find(|(index, formal)| formal.occurrence == Occurrence::Single && is_missing(*index));
    match missing {
        Some((_, formal)) => {
            Err(What::Operands.fault(format!("{version} requires the output '{}'", formal.name)))
        }
        None => Ok(()),
    }
}

/// Operators with an input, by index, and an attribute of which a node has one, since a version.
const ONE_OF: &[(&str, i64, usize, &str)] = &[("Split", 18, 1, "num_outputs")];

/// Whether a node has one of an input and an attribute, if its operator requires that.
///
/// # Errors
/// If it has both or none.
pub fn one_of(node: &NodeProto, version: &'static Schema) -> Result<(), Fault> {
    let rows = ONE_OF.iter().filter(|&&(op, since, ..)| {
        version.domain.is_empty() && version.name == op && version.since_version >= since
    });
    for &(_, _, index, attribute) in rows {
        let has_input = node.input.get(index).is_some_and(|name| !name.is_empty());
        let has_attribute = node.attribute.iter().any(|own| own.name() == attribute);
        let input = version.inputs[index].name;
        match (has_input, has_attribute) {
            (false, false) => {
                return Err(What::MissingAttribute.fault(format!(
                    "{version} requires the input '{input}' or the attribute `{attribute}`"
                )));
            }
            (true, true) => {
                return Err(What::Attribute.fault(format!(
                    "{version} does not permit both the input '{input}' and the attribute `{attribute}`"
                )));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether a node has all required inputs of a version, and no others than the version has.
///
/// # Errors
/// The first fault.
pub fn inputs(node: &NodeProto, version: &'static Schema) -> Result<(), Fault> {
    count("input", &node.input, version.input_count(), version)?;
    for (index, name) in node.input.iter().enumerate() {
        let required = version
            .input(index)
            .is_some_and(|formal| formal.occurrence == Occurrence::Single);
        if name.is_empty() && required {
            return Err(What::Operands.fault(format!(
                "{version} requires the input '{}'",
                version.inputs[index].name
            )));
        }
    }
    Ok(())
}

/// Whether the number of names, without empty ones at the end, is between the two.
///
/// # Errors
/// If the number is outside this range.
pub fn count(
    what: &str,
    names: &[String],
    (least, most): (usize, Option<usize>),
    version: &Schema,
) -> Result<(), Fault> {
    let found = names
        .iter()
        .rposition(|name| !name.is_empty())
        .map_or(0, |last| last + 1);
    match most {
        _ if found < least => Err(What::Operands.fault(format!(
            "{version} requires at least {least} {what}s, but the node has {found}"
        ))),
        Some(most) if found > most => Err(What::Operands.fault(format!(
            "{version} has at most {most} {what}s, but the node has {found}"
        ))),
        _ => Ok(()),
    }
}

/// Whether a version has all attributes of a node, with the types that they have, and the node all
/// that the version requires.
///
/// # Errors
/// The first fault.
pub fn attributes(node: &NodeProto, version: &'static Schema) -> Result<(), Fault> {
    for attribute in &node.attribute {
        match version.attribute(attribute.name()) {
            None if attribute.name().starts_with(OWN_USE) => {}
            None => {
                return Err(What::Attribute
                    .fault(format!("{version} has no attribute `{}`", attribute.name())));
            }
            Some(fact) if kind_of(attribute).is_some_and(|kind| kind != fact.kind as i32) => {
                let text = format!(
                    "the attribute `{}` has another type in {version}",
                    attribute.name()
                );
                return Err(What::Attribute.fault(text));
            }
            Some(_) => {}
        }
    }
    let is_missing = |name: &str| {
        node.attribute
            .iter()
            .all(|attribute| attribute.name() != name)
    };
    match version
        .attributes
        .iter()
        .find(|fact| fact.required && is_missing(fact.name))
    {
        Some(missing) => Err(What::MissingAttribute.fault(format!(
            "{version} requires the attribute `{}`",
            missing.name
        ))),
        None => Ok(()),
    }
}

/// The number of an attribute's type. The oldest models do not state it: it is then taken from the
/// field that is set, and unknown for an empty list.
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
    set.iter()
        .find(|(is_set, _)| *is_set)
        .map(|(_, kind)| *kind as i32)
}
