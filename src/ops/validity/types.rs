//! Types that a version of an operator supports.

use super::operation::Operation;
use crate::graph::{Model, NodeId, ValueId, read_type};
use crate::ops::inference::Inferred;
use crate::ops::operator_facts::type_attribute;
use crate::ops::schemas::{Formal, Schema, TypeSet, ValueType, versions};
use onnx_cast::DType;

/// An input or output: whether it is an output, its index, its formal parameter and its type.
type Operand = (bool, usize, &'static Formal, ValueType);

/// The inputs and outputs of known type.
fn operands<'a>(operation: &'a Operation) -> impl Iterator<Item = Operand> + 'a {
    let schema = operation.schema;
    let inputs = (0..)
        .zip(&operation.inputs)
        .map(move |(index, known)| (false, index, schema.input(index), known));
    let outputs = (0..)
        .zip(&operation.outputs)
        .map(move |(index, known)| (true, index, schema.output(index), known));
    inputs
        .chain(outputs)
        .filter_map(|(is_output, index, formal, known)| {
            Some((is_output, index, formal?, known.value_type?))
        })
}

fn name<'a>(operation: &Operation<'a>, is_output: bool, index: usize) -> &'a str {
    if is_output {
        &operation.node.output[index]
    } else {
        &operation.node.input[index]
    }
}

/// Whether all types are supported, and equal where they share a type variable: true of most nodes,
/// and found without allocating.
fn are_right(operation: &Operation) -> bool {
    const MOST_VARIABLES: usize = 4;
    let mut bound = [("", ValueType::Tensor(DType::Float)); MOST_VARIABLES];
    let mut count = 0;
    for (_, _, formal, found) in operands(operation) {
        if !formal.types.contains(found) {
            return false;
        }
        if !formal.is_homogeneous() {
            continue;
        }
        match bound[..count]
            .iter()
            .find(|(variable, _)| *variable == formal.type_name)
        {
            Some(&(_, other)) if other != found => return false,
            Some(_) => {}
            None if count == MOST_VARIABLES => return false,
            None => {
                bound[count] = (formal.type_name, found);
                count += 1;
            }
        }
    }
    true
}

/// An input or output of a type that the operator does not support, or two that share a type
/// variable and have different types.
pub(super) fn fault(operation: &Operation) -> Option<String> {
    if are_right(operation) {
        return unknown_type(operation);
    }
    unsupported_type(operation)
        .or_else(|| unknown_type(operation))
        .or_else(|| different(operation))
}

/// An input or output of a type that the operator does not support.
fn unsupported_type(operation: &Operation) -> Option<String> {
    // Before opset 9, Constant has floats only, but Reshape-5 needs integers: exporters write them,
    // and onnx and onnxruntime load them.
    let is_used_anyway = |found: ValueType| {
        operation.schema.name == "Constant" && matches!(found, ValueType::Tensor(_))
    };
    operands(operation)
        .filter(|&(.., found)| !is_used_anyway(found))
        .find_map(|(is_output, index, formal, found)| {
            let side = if is_output { "output" } else { "input" };
            let what = || format!("{side} '{}' is {found}", name(operation, is_output, index));
            (!formal.types.contains(found))
                .then(|| unsupported(operation.schema, &what(), (is_output, index), found))
        })
}

/// Two inputs or outputs that share a type variable and have different types.
pub(super) fn different(operation: &Operation) -> Option<String> {
    let mut bound: Vec<(&str, ValueType, &str)> = Vec::new();
    for (is_output, index, formal, found) in
        operands(operation).filter(|(_, _, formal, _)| formal.is_homogeneous())
    {
        let name = name(operation, is_output, index);
        match bound
            .iter()
            .find(|(variable, ..)| *variable == formal.type_name)
        {
            Some(&(_, other, first)) if other != found => {
                let version = operation.schema;
                return Some(format!(
                    "{version} requires the same type for '{first}' and '{name}', which are {other} and {found}"
                ));
            }
            Some(_) => {}
            None => bound.push((formal.type_name, found, name)),
        }
    }
    None
}

fn unsupported(
    version: &'static Schema,
    what: &str,
    (is_output, index): (bool, usize),
    found: ValueType,
) -> String {
    let supports = |other: &&Schema| {
        let formal = if is_output {
            other.output(index)
        } else {
            other.input(index)
        };
        !other.deprecated && formal.is_some_and(|formal| formal.types.contains(found))
    };
    let hint = match versions(version.domain, version.name).iter().find(supports) {
        Some(first) if first.since_version > version.since_version => {
            format!("; opset {} is the first that does", first.since_version)
        }
        _ => String::new(),
    };
    format!("{what}, which {version} does not support{hint}")
}

/// An attribute that does not name an element type. 0 names none, but nothing refuses it in a Cast,
/// and elsewhere it means that the type follows from an input.
fn unknown_type(operation: &Operation) -> Option<String> {
    let name = type_attribute(operation.schema.name)?.name;
    operation.schema.attribute(name)?;
    let attribute = operation
        .attribute(name)
        .flatten()
        .filter(|attribute| attribute.i.is_some_and(|number| number != 0))?;
    read_type(attribute).err().map(|error| error.to_string())
}

/// The types of a node of a function in all calls of graphs.
pub(super) fn fault_in_calls(
    model: &Model,
    inferred: &Inferred,
    id: NodeId,
    version: &'static Schema,
) -> Option<String> {
    let root = model.root(id.scope);
    let rejected = |formal: Option<&'static Formal>, value: ValueId| {
        let types: TypeSet = inferred.types_in_calls(root, value)?;
        types
            .iter()
            .find(|&found| formal.is_some_and(|formal| !formal.types.contains(found)))
    };
    let inputs = model
        .inputs(id)
        .map(|(index, value)| (false, index as usize, value));
    let outputs = model
        .outputs(id)
        .map(|(index, value)| (true, index as usize, value));
    inputs.chain(outputs).find_map(|(is_output, index, value)| {
        let (side, formal) = if is_output {
            ("output", version.output(index))
        } else {
            ("input", version.input(index))
        };
        let found = rejected(formal, value)?;
        let what = format!(
            "{side} '{}' is {found} in a call of the function",
            model.name(value)
        );
        Some(unsupported(version, &what, (is_output, index), found))
    })
}

/// An output that the model declares with another type than the operator gives it.
pub(super) fn declared_otherwise(
    model: &Model,
    inferred: &Inferred,
    id: NodeId,
    version: &'static Schema,
) -> Option<String> {
    let contradictions = inferred.contradictions();
    if contradictions.is_empty() {
        return None;
    }
    model.outputs(id).find_map(|(_, value)| {
        let at = contradictions
            .binary_search_by_key(&value.index(), |contradiction| contradiction.value.index())
            .ok()?;
        let (declared, given) = (
            contradictions[at].declared.value_type?,
            contradictions[at].found.value_type?,
        );
        let name = model.name(value);
        (declared != given)
            .then(|| format!("output '{name}' is declared {declared}, but {version} gives {given}"))
    })
}
