//! Whether a node is what a version of its operator admits: attributes, number of inputs and outputs, types.
//!
//! The types are asked for only where the versions differ, so that a node of unknown types passes wherever it makes no difference.

use super::hop::Reason;
use super::site::Site;
use crate::facts::{AttributeKind, Formal, Occurrence, Schema, ValueType};
use crate::wire::schema::{AttributeProto, NodeProto};

/// Compares a node, after what its hop did to it, with the version it moves to.
pub(super) fn fits(site: &Site, target: &'static Schema) -> Result<(), Reason> {
    if target.deprecated {
        return Err(deprecated(target));
    }
    attributes(site, target)?;
    inputs(&site.node, target)?;
    expect_count("output", count(&site.node.output), target.output_count(), target)?;
    types(site, target)
}

/// Whether a node has inputs and outputs as every model of this version has. An output may be left out by an empty name.
pub(super) fn arity(node: &NodeProto, version: &'static Schema) -> Result<(), Reason> {
    inputs(node, version)?;
    let (least, most) = version.output_count();
    if node.output.len() < least.min(1) {
        return Err(format!("{version} needs an output, but the node has none"));
    }
    expect_count("output", count(&node.output), (0, most), version)
}

/// Whether a node has what actions rely on: all inputs that the version it comes from demands, and an output, if that demands any.
/// The versions of the first opsets demand outputs that nobody gives them.
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
            return Err(format!("{version} demands the input '{}'", version.inputs[index].name));
        }
    }
    Ok(())
}

/// How many there are: empty names at the end mean the same as none.
fn count(names: &[String]) -> usize {
    names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1)
}

/// A version that only says that its operator is gone.
pub(super) fn deprecated(version: &Schema) -> Reason {
    format!("{version} is deprecated: no valid model has it")
}

fn expect_count(what: &str, found: usize, (least, most): (usize, Option<usize>), target: &Schema) -> Result<(), Reason> {
    match most {
        _ if found < least => Err(format!("{target} needs at least {least} {what}s, but the node has {found}")),
        Some(most) if found > most => Err(format!("{target} has at most {most} {what}s, but the node has {found}")),
        _ => Ok(()),
    }
}

fn attributes(site: &Site, target: &'static Schema) -> Result<(), Reason> {
    for attribute in &site.node.attribute {
        match target.attribute(attribute.name()) {
            None => return Err(format!("{target} has no attribute `{}`", attribute.name())),
            Some(fact) if kind_of(attribute).is_some_and(|kind| kind != fact.kind as i32) => {
                return Err(format!("the attribute `{}` is of another kind in {target}", attribute.name()));
            }
            Some(_) => {}
        }
    }
    match target.attributes.iter().find(|fact| fact.required && !site.has_attribute(fact.name)) {
        Some(missing) => Err(format!("{target} demands the attribute `{}`", missing.name)),
        None => Ok(()),
    }
}

/// The number of an attribute's kind. The oldest models do not state it: then it is that of the field which is set, and not known
/// of an empty list.
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

fn types(site: &Site, target: &'static Schema) -> Result<(), Reason> {
    let inputs = (0..site.node.input.len()).filter(|&index| site.input(index).is_some());
    let inputs = inputs.map(|index| Actual { side: Side::Input(index), old: site.schema.input(index), new: target.input(index) });
    let outputs = (0..site.node.output.len()).filter(|&index| site.has_output(index));
    let outputs =
        outputs.map(|index| Actual { side: Side::Output(index), old: site.schema.output(index), new: target.output(index) });
    let mut seen: Vec<Actual> = Vec::new();
    for actual in inputs.chain(outputs) {
        let Some(new) = actual.new else { continue };
        is_admitted(site, &actual, new, target)?;
        if !new.is_homogeneous() {
            continue;
        }
        let same_variable = |other: &&Actual| other.new.is_some_and(|other| other.type_name == new.type_name);
        if let Some(other) = seen.iter().find(same_variable) {
            are_equal(site, other, &actual, target)?;
        }
        seen.push(actual);
    }
    Ok(())
}

/// An input or output of the node.
struct Actual {
    side: Side,
    /// What it stands for in the version that the node comes from.
    old: Option<&'static Formal>,
    /// What it stands for in the version that the node moves to.
    new: Option<&'static Formal>,
}

enum Side {
    Input(usize),
    Output(usize),
}

impl Actual {
    fn known(&self, site: &Site) -> Option<ValueType> {
        match self.side {
            Side::Input(index) => site.input_type(index),
            Side::Output(index) => site.output_type(index),
        }
    }

    fn describe(&self, site: &Site) -> String {
        match self.side {
            Side::Input(index) => site.describe(index),
            Side::Output(index) => format!("output '{}'", site.node.output[index]),
        }
    }
}

/// What only widens is not asked for its type: a model whose types were wrong before stays as wrong as it was.
fn is_admitted(site: &Site, actual: &Actual, new: &Formal, target: &Schema) -> Result<(), Reason> {
    if actual.old.is_some_and(|old| old.types.is_subset(new.types)) {
        return Ok(());
    }
    match actual.known(site) {
        Some(known) if new.types.contains(known) => Ok(()),
        Some(known) => Err(format!("{} is {known}, which {target} does not admit", actual.describe(site))),
        None => Err(format!("the type of {} is not known, and {target} does not admit all that it may be", actual.describe(site))),
    }
}

/// Two inputs or outputs that the version wants to be of one type were so before, or are known to be.
fn are_equal(site: &Site, left: &Actual, right: &Actual, target: &Schema) -> Result<(), Reason> {
    if shared_before(left.old, right.old) {
        return Ok(());
    }
    let [what_left, what_right] = [left, right].map(|actual| actual.describe(site));
    match (left.known(site), right.known(site)) {
        (Some(left), Some(right)) if left == right => Ok(()),
        (Some(left), Some(right)) => {
            Err(format!("{what_left} is {left}, but {what_right} is {right}: {target} wants the same type"))
        }
        _ => Err(format!("{target} wants the same type for {what_left} and {what_right}, and it is not known of both")),
    }
}

/// Whether two formals had one type variable, or one only type, in the version that the node comes from.
fn shared_before(left: Option<&'static Formal>, right: Option<&'static Formal>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            left.is_homogeneous() && right.is_homogeneous() && left.type_name == right.type_name
                || left.fixed_type().is_some() && left.fixed_type() == right.fixed_type()
        }
        _ => false,
    }
}
