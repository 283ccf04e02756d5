//! Whether a node is what a version of its operator admits: attributes, number of inputs and outputs, types.
//!
//! The types are asked for only where the versions differ, so that a node of unknown types passes wherever it makes no difference.

use super::hop::Reason;
use super::site::Site;
use crate::facts::{AttributeKind, Formal, Schema};
use crate::wire::schema::AttributeProto;

/// Compares a node, after what its hop did to it, with the version it moves to.
pub(super) fn fits(site: &Site, target: &'static Schema) -> Result<(), Reason> {
    if target.deprecated {
        return Err(format!("{}-{} is deprecated: no valid model has it", target.name, target.since_version));
    }
    attributes(site, target)?;
    let count = |names: &[String]| names.iter().rposition(|name| !name.is_empty()).map_or(0, |last| last + 1);
    let version = format!("{}-{}", target.name, target.since_version);
    expect_count("input", count(&site.node.input), target.input_count(), &version)?;
    expect_count("output", count(&site.node.output), target.output_count(), &version)?;
    for (index, name) in site.node.input.iter().enumerate() {
        let required = target.input(index).is_some_and(|formal| formal.occurrence == crate::facts::Occurrence::Single);
        if name.is_empty() && required {
            return Err(format!("{version} demands the input '{}'", target.inputs[index].name));
        }
    }
    types(site, target, &version)
}

fn expect_count(what: &str, found: usize, (least, most): (usize, Option<usize>), version: &str) -> Result<(), Reason> {
    match most {
        _ if found < least => Err(format!("{version} needs at least {least} {what}s, but the node has {found}")),
        Some(most) if found > most => Err(format!("{version} has at most {most} {what}s, but the node has {found}")),
        _ => Ok(()),
    }
}

fn attributes(site: &Site, target: &'static Schema) -> Result<(), Reason> {
    let version = format!("{}-{}", target.name, target.since_version);
    for attribute in &site.node.attribute {
        match target.attribute(attribute.name()) {
            None => return Err(format!("{version} has no attribute `{}`", attribute.name())),
            Some(fact) if kind_of(attribute).is_some_and(|kind| kind != fact.kind as i32) => {
                return Err(format!("the attribute `{}` is of another kind in {version}", attribute.name()));
            }
            Some(_) => {}
        }
    }
    match target.attributes.iter().find(|fact| fact.required && !site.has_attribute(fact.name)) {
        Some(missing) => Err(format!("{version} demands the attribute `{}`", missing.name)),
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

fn types(site: &Site, target: &'static Schema, version: &str) -> Result<(), Reason> {
    let inputs: Vec<_> = (0..site.node.input.len()).filter(|&index| site.input(index).is_some()).collect();
    let outputs: Vec<_> = (0..site.node.output.len()).filter(|&index| site.has_output(index)).collect();
    let actual_inputs = inputs
        .into_iter()
        .map(|index| (site.schema.input(index), target.input(index), site.known_input(index), site.describe(index)));
    let actual_outputs = outputs.into_iter().map(|index| {
        let what = format!("output '{}'", site.node.output[index]);
        (site.schema.output(index), target.output(index), site.known_output(index), what)
    });
    let mut bound: Vec<Bound> = Vec::new();
    for (old, new, known, what) in actual_inputs.chain(actual_outputs) {
        let Some(new) = new else { continue };
        let known = known.value_type;
        let widens = old.is_some_and(|old| old.types.is_subset(new.types));
        match known {
            // A model whose types were wrong before stays as wrong as it was.
            Some(known) if !new.types.contains(known) && (!widens || old.is_none_or(|old| old.types.contains(known))) => {
                return Err(format!("{what} is {known}, which {version} does not admit"));
            }
            None if !widens => {
                return Err(format!("the type of {what} is not known, and {version} does not admit all that it may be"));
            }
            _ => {}
        }
        if !new.is_homogeneous() {
            continue;
        }
        let same_variable = bound.iter().find(|other| other.formal.type_name == new.type_name);
        if let Some(other) = same_variable
            && !shared_before(other.old, old)
            && (known.is_none() || other.known != known)
        {
            return Err(match (other.known, known) {
                (Some(left), Some(right)) => {
                    format!("{} is {left}, but {what} is {right}: {version} wants the same type", other.what)
                }
                _ => format!("{version} wants the same type for {} and {what}, and it is not known of both", other.what),
            });
        }
        bound.push(Bound { formal: new, old, known, what });
    }
    Ok(())
}

/// An actual input or output whose type variable was seen.
struct Bound {
    formal: &'static Formal,
    old: Option<&'static Formal>,
    known: Option<crate::facts::ValueType>,
    what: String,
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
