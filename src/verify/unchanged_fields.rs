//! Everything around the nodes that change: other fields, other nodes, metadata.

use bytes::Bytes;
use prost::Message as _;

use super::fault::Fault;
use super::left_out::{leave_equal_values_out, without_nodes};
use super::matching::{Matching, are_same};
use crate::base::error::ModelPlace;
use crate::base::parallel;
use crate::diff::Difference;
use crate::diff::DifferenceKind::{self, Added, Removed, Reordered};
use crate::diff::compare::{ComparedMessage, IsExpected, compare_messages};
use crate::graph::{Model, NodeId, ScopeId, ScopeKind};
use crate::protobuf::outline::{MODEL_PROTO, Message, NODE_PROTO};
use crate::protobuf::schema::NodeProto;
use crate::protobuf::{Known, Lossless};

/// Whether passes may change a field. Nodes and declared types are compared one by one, and inputs
/// of nodes by the terms of their values.
pub(super) fn of_passes(message: &str, field: &str, kind: Option<DifferenceKind>) -> bool {
    match (message, field) {
        ("GraphProto" | "FunctionProto", "node" | "value_info")
        | ("NodeProto", "input" | "output") => true,
        // Before IR 4, initializers are listed as inputs. New ones, and inputs that are missing,
        // are judged elsewhere.
        ("GraphProto", "initializer" | "input") => matches!(kind, Some(Added | Removed)),
        _ => false,
    }
}

/// The fields that a conversion may change, except in the nodes that it reports.
pub(super) fn of_conversion(message: &str, field: &str, kind: Option<DifferenceKind>) -> bool {
    match (message, field) {
        ("GraphProto" | "FunctionProto", "node") | ("ModelProto", "ir_version") => true,
        ("ModelProto" | "FunctionProto", "opset_import") => true,
        ("GraphProto", "initializer" | "value_info") | ("FunctionProto", "value_info") => {
            matches!(kind, Some(Added | Removed | Reordered))
        }
        ("ModelProto", "functions") => kind == Some(Added),
        _ => false,
    }
}

/// The differences of the models except expected ones. Tensors are compared by value, wherever they
/// are stored.
pub(super) fn compare_models(
    original: &Model,
    written: &Model,
    is_expected: IsExpected,
) -> Vec<Fault> {
    let (models, protos) = ([original, written], [original.proto(), written.proto()]);
    if protos.iter().all(|proto| proto.as_source().is_some()) {
        return compare("", &MODEL_PROTO, models, protos, is_expected);
    }
    // At least one of the models has no original bytes and must be encoded. Its nodes are encoded
    // one by one, so that they are not in memory twice, and initializers that were not read from
    // the same bytes.
    let initializers = protos.map(|proto| match &proto.graph {
        Some(graph) => graph.initializer.as_slice(),
        None => &[],
    });
    let is_unchanged = |index: usize| {
        let [before, after] = initializers.map(|tensors| tensors.get(index));
        before
            .zip(after)
            .is_some_and(|(before, after)| are_same([before, after]))
    };
    let [mut before, mut after] = protos.map(|proto| without_nodes(proto, is_unchanged));
    if let (Some(before), Some(after)) = (before.graph.as_mut(), after.graph.as_mut()) {
        for (before, after) in before.initializer.iter_mut().zip(&mut after.initializer) {
            leave_equal_values_out([before, after], models);
        }
    }
    let mut faults = compare("", &MODEL_PROTO, models, [&before, &after], is_expected);
    if !is_expected("GraphProto", "node", None) {
        faults.extend(compare_all_nodes(models, is_expected));
    }
    faults
}

/// The differences of the nodes of the main graph and of functions.
fn compare_all_nodes(models: [&Model; 2], is_expected: IsExpected) -> Vec<Fault> {
    let mut faults = Vec::new();
    let bodies = |model: &Model| -> Vec<ScopeId> {
        let is_body = |scope: &ScopeId| {
            matches!(
                model.scope_kind(*scope),
                ScopeKind::Main | ScopeKind::Function(_)
            )
        };
        model.scopes().filter(is_body).collect()
    };
    for (left, right) in bodies(models[0]).into_iter().zip(bodies(models[1])) {
        let [expected, found] = [models[0].nodes(left), models[1].nodes(right)];
        if expected.len() != found.len() {
            let what = format!("has {} nodes; must have {}", found.len(), expected.len());
            faults.push(Fault::at(models[1].scope_path(right), what));
        }
        let differing = |(expected, found): (NodeId, NodeId)| {
            let nodes = [models[0].node(expected), models[1].node(found)];
            if are_same(nodes) {
                return Vec::new();
            }
            let path = models[0].node_path(expected);
            compare(&path, &NODE_PROTO, models, nodes, is_expected)
        };
        let mut of_nodes = Vec::new();
        parallel::extend_each(&mut of_nodes, expected.zip(found).collect(), differing);
        faults.extend(of_nodes.into_iter().flatten());
    }
    faults
}

/// The differences of a node and its counterpart, except expected ones.
pub(super) fn compare_nodes(
    matching: &Matching,
    path: impl Fn() -> String,
    nodes: [&NodeProto; 2],
    is_expected: IsExpected,
) -> Vec<Fault> {
    if are_same(nodes) {
        return Vec::new();
    }
    let named = with_names_of(nodes[0], nodes[1]);
    compare(
        &path(),
        &NODE_PROTO,
        [matching.original, matching.written],
        [nodes[0], named.as_ref().unwrap_or(nodes[1])],
        is_expected,
    )
}

/// A node whose device configurations name its inputs and outputs as those of its counterpart do,
/// if the names of these changed.
pub(super) fn with_names_of(original: &NodeProto, written: &NodeProto) -> Option<NodeProto> {
    let is_renamed = written.input != original.input || written.output != original.output;
    if written.device_configurations.is_empty() || !is_renamed {
        return None;
    }
    let operands = |node: &NodeProto| {
        node.input
            .iter()
            .chain(&node.output)
            .cloned()
            .collect::<Vec<String>>()
    };
    let (expected, found) = (operands(original), operands(written));
    let mut named = written.clone();
    for (devices, before) in named
        .device_configurations
        .iter_mut()
        .zip(&original.device_configurations)
    {
        for (spec, before) in devices.sharding_spec.iter_mut().zip(&before.sharding_spec) {
            let is_same = |(expected, found): (&String, &String)| {
                expected == before.tensor_name() && found == spec.tensor_name()
            };
            if expected.iter().zip(&found).any(is_same) {
                spec.tensor_name = before.tensor_name.clone();
            } else if expected.iter().any(|name| name == before.tensor_name()) {
                // The operand has another name now, and the configuration does not have it.
                spec.tensor_name = Some(format!("{} (not an operand)", spec.tensor_name()));
            }
        }
    }
    Some(named)
}

/// The differences of two messages at the same path of two models.
pub(super) fn compare<M: Known>(
    path: &str,
    message: &'static Message,
    models: [&Model; 2],
    messages: [&Lossless<M>; 2],
    is_expected: IsExpected,
) -> Vec<Fault> {
    if are_same(messages) {
        return Vec::new();
    }
    let bytes: [Bytes; 2] =
        messages.map(|kept| kept.source().unwrap_or_else(|| kept.encode_to_vec().into()));
    let side = |index: usize| {
        let model = models[index];
        ComparedMessage {
            message: &bytes[index],
            data: model.data(),
            cancel: &model.control().cancel,
        }
    };
    let compared = compare_messages(path, message, [side(0), side(1)], is_expected);
    let is_fault = |difference: &&Difference| difference.kind != DifferenceKind::Stored;
    let differences = compared
        .differences
        .iter()
        .filter(is_fault)
        .cloned()
        .map(|difference| {
            let what = match (difference.kind, difference.left, difference.right) {
                (Removed, Some(left), _) => format!("was removed; it was {left}"),
                (Added, _, Some(right)) => format!("was added: {right}"),
                (Reordered, ..) => "was put in another order".to_owned(),
                (_, left, right) => format!(
                    "is {}; must be {}",
                    right.unwrap_or_default(),
                    left.unwrap_or_default()
                ),
            };
            Fault::at(difference.path, what)
        });
    // A tensor that cannot be read in the original either is not one of them.
    let is_old = |place: &ModelPlace| {
        compared
            .faults
            .iter()
            .any(|(side, fault)| *side == 0 && fault.place == *place)
    };
    let unread = compared
        .faults
        .iter()
        .filter(|(side, fault)| *side == 1 && !is_old(&fault.place));
    differences
        .chain(unread.map(|(_, fault)| Fault::from(fault)))
        .collect()
}
