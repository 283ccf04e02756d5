//! Replaces a node whose operator the older opset lacks by nodes of that opset.

use super::expansion_body::{ExpansionBodies, Facts};
use super::{Expansion, local_name, local_output_name};
use crate::base::hash::{HashMap, HashSet};
use crate::convert::bodies::graphs_mut;
use crate::convert::context::check;
use crate::convert::context::{AddedValue, Context};
use crate::convert::expanded::{Exactness, ExpandedOperator};
use crate::convert::reason::{ExpansionDisabled, ExpansionInexact, NodeInvalid, Reason};
use crate::convert::settings::AllowedExpansions;
use crate::ops::schemas;
use crate::protobuf::raw;
use crate::protobuf::schema::{NodeProto, TensorProto};

/// The nodes that compute what the node of the context does, in the opset that it is converted to.
/// Nodes whose results are unused are left out. The nodes of a guard do it in the runtime that it is
/// for.
pub(in crate::convert) fn expand(
    cx: &mut Context,
    expansion: &Expansion,
    bodies: &mut ExpansionBodies,
    guarded_for: Option<&'static str>,
) -> Result<Vec<NodeProto>, Reason> {
    check::operands(&cx.node, cx.schema)?;
    let op = cx.schema.name;
    let (older, newer) = (cx.to, cx.to + 1);
    let is_new = schemas::versions("", op)
        .first()
        .is_some_and(|first| first.since_version == newer);
    let new = |why: &str| {
        if cx.schema.of_onnxruntime {
            format!("{op} is an operator of onnxruntime, and {why}")
        } else if guarded_for.is_some() {
            format!("{op} needs a guard, and {why}")
        } else if is_new {
            format!("{op} is new in opset {newer}, and {why}")
        } else {
            format!("{op} of opset {newer} has no equivalent in opset {older}, and {why}")
        }
    };
    match (cx.source.settings.expansions, expansion.class) {
        (AllowedExpansions::None, _) => {
            return Err(Reason::new(ExpansionDisabled, new("expansion is disabled")));
        }
        (AllowedExpansions::Exact, Exactness::ByDefinition) => {
            return Err(Reason::new(
                ExpansionInexact,
                new("its expansion is not bit-exact"),
            ));
        }
        _ => {}
    }
    if !cx.node.device_configurations.is_empty() {
        cx.warn(&format!("the device configurations of {op} are removed"))?;
    }
    let text = (expansion.body)(cx).map_err(|reason| {
        Reason::new(reason.code(), new(&format!("cannot be expanded: {reason}")))
    })?;
    let body = bodies
        .get(cx, &text, expansion.is_final)
        .map_err(|error| Reason::new(NodeInvalid, new(&format!("cannot be expanded: {error}"))))?;
    let nodes = if expansion.is_final {
        body.nodes
    } else {
        used_nodes(cx, body.nodes)
    };
    let mut nodes = rename(cx, &body.known, nodes);
    let mut used: HashSet<String> = HashSet::default();
    for node in &mut nodes {
        each_used_name(node, &mut |name| {
            used.insert(name.clone());
        });
    }
    let inputs = cx.node.input.clone();
    inputs
        .iter()
        .filter(|name| !name.is_empty() && !used.contains(name.as_str()))
        .for_each(|name| cx.release(name));
    cx.record.expanded.push(ExpandedOperator {
        guarded_for,
        ..ExpandedOperator::new(op, expansion.class, nodes.len())
    });
    let how = match expansion.class {
        Exactness::Exact => "exactly",
        Exactness::ByDefinition => "by definition",
    };
    let what = match guarded_for {
        Some(runtime) => format!("guarded for {runtime} {how} by {} nodes", nodes.len()),
        None => format!("expanded {how} into {} nodes", nodes.len()),
    };
    cx.record.notes.push(what);
    Ok(nodes)
}

/// The formal outputs that the node has, with their names.
fn outputs(cx: &Context) -> HashMap<String, String> {
    let present = (0..cx.node.output.len()).filter(|&index| cx.has_output(index));
    present
        .filter_map(|index| Some((local_output_name(cx, index)?, cx.node.output[index].clone())))
        .collect()
}

/// The nodes on which outputs of the node depend.
fn used_nodes(cx: &Context, nodes: Vec<NodeProto>) -> Vec<NodeProto> {
    #[expect(clippy::disallowed_methods, reason = "from a table into a table")]
    let mut wanted: HashSet<String> = outputs(cx).into_keys().collect();
    let mut used: Vec<NodeProto> = Vec::new();
    for node in without_identities(cx, nodes).into_iter().rev() {
        if node.output.iter().any(|name| wanted.contains(name)) {
            let mut node = node;
            each_used_name(&mut node, &mut |name| {
                wanted.insert(name.clone());
            });
            used.push(node);
        }
    }
    used.reverse();
    used
}

/// Visits the names that a node uses as inputs, at any depth.
fn each_used_name(node: &mut NodeProto, visit: &mut dyn FnMut(&mut String)) {
    let node: &mut raw::NodeProto = node;
    node.input.iter_mut().for_each(&mut *visit);
    for inner in graphs_mut(node) {
        inner
            .node
            .iter_mut()
            .for_each(|node| each_used_name(node, visit));
    }
}

/// The nodes of a body without `Identity`, which bodies use to give a value another name. One that
/// leads from an input, or from one output, to an output stays.
fn without_identities(cx: &Context, mut nodes: Vec<NodeProto>) -> Vec<NodeProto> {
    let outputs = outputs(cx);
    let mut local: HashSet<String> = nodes
        .iter()
        .flat_map(|node| node.output.iter().cloned())
        .collect();
    local.retain(|name| !outputs.contains_key(name.as_str()));
    // The value that each name denotes; sources come before values that are computed from them.
    let mut stands_for: HashMap<String, String> = HashMap::default();
    for node in &mut nodes {
        each_used_name(node, &mut |input| {
            if let Some(source) = stands_for.get(input) {
                input.clone_from(source);
            }
        });
        if node.op_type() == "Identity" && local.contains(&node.output[0]) {
            stands_for.insert(node.output[0].clone(), node.input[0].clone());
        }
    }
    nodes.retain(|node| node.op_type() != "Identity" || !local.contains(&node.output[0]));
    let mut becomes: HashMap<String, String> = HashMap::default();
    nodes.retain(|node| {
        let is_alias = node.op_type() == "Identity"
            && local.contains(&node.input[0])
            && !becomes.contains_key(&node.input[0]);
        if is_alias && outputs.contains_key(node.output[0].as_str()) {
            becomes.insert(node.input[0].clone(), node.output[0].clone());
        }
        !is_alias
    });
    let mut substitute = |name: &mut String| {
        if let Some(output) = becomes.get(name) {
            name.clone_from(output);
        }
    };
    for node in &mut nodes {
        each_used_name(node, &mut substitute);
        node.output.iter_mut().for_each(&mut substitute);
    }
    nodes
}

/// Gives inputs and outputs the names of the node, and everything else names that are new. The node
/// that computes the first output inherits name, doc string and metadata.
fn rename(cx: &mut Context, known: &Facts, nodes: Vec<NodeProto>) -> Vec<NodeProto> {
    let mut names: HashMap<String, String> = outputs(cx);
    for (index, name) in cx.node.input.iter().enumerate() {
        names.extend(local_name(cx, index).map(|local| (local, name.clone())));
    }
    let first = cx.node.output.iter().find(|name| !name.is_empty()).cloned();
    let mut renaming = Renaming { known, names };
    let renamed = nodes.into_iter().map(|mut node| {
        renaming.node(cx, &mut node);
        if first
            .as_ref()
            .is_some_and(|first| node.output.contains(first))
        {
            inherit(&cx.node, node)
        } else {
            node.name = named(cx, &node);
            node
        }
    });
    renamed.collect()
}

/// The names of a body, and what they become.
struct Renaming<'a> {
    /// Names are unique in a body, at any depth.
    known: &'a Facts,
    names: HashMap<String, String>,
}

impl Renaming<'_> {
    fn node(&mut self, cx: &mut Context, node: &mut NodeProto) {
        let node: &mut raw::NodeProto = node;
        for input in node.input.iter_mut().filter(|name| !name.is_empty()) {
            if let Some(name) = self.names.get(input.as_str()) {
                input.clone_from(name);
            }
        }
        let constant = node
            .attribute
            .iter()
            .find_map(|attribute| attribute.t.clone())
            .filter(|_| node.op_type() == "Constant");
        for output in node.output.iter_mut().filter(|name| !name.is_empty()) {
            self.define(cx, output, constant.as_ref());
        }
        for graph in graphs_mut(node) {
            graph.name = Some(cx.fresh("body"));
            graph
                .input
                .iter_mut()
                .for_each(|input| self.define(cx, input.name.get_or_insert_default(), None));
            for inner in &mut graph.node {
                self.node(cx, inner);
                inner.name = inner.output.first().cloned();
            }
            for output in &mut graph.output {
                output.name = output
                    .name
                    .take()
                    .map(|name| self.names.get(&name).cloned().unwrap_or(name));
            }
        }
    }

    /// Gives a value a new name, unless it is an output of the node that is expanded.
    fn define(&mut self, cx: &mut Context, local: &mut String, constant: Option<&TensorProto>) {
        let (mut known, ints) = self.known.get(local.as_str()).cloned().unwrap_or_default();
        let name = if let Some(name) = self.names.get(local.as_str()) {
            known = known.and(cx.known(name));
            name.clone()
        } else {
            let name = cx.fresh(local);
            self.names.insert(local.clone(), name.clone());
            name
        };
        cx.record.added_values.push(AddedValue {
            name: name.clone(),
            known,
            constant: constant.cloned(),
            ints,
            is_unused: false,
        });
        *local = name;
    }
}

/// A name for a new node: that of its first output, unless another node has it.
fn named(cx: &mut Context, node: &NodeProto) -> Option<String> {
    let output = node.output.iter().find(|name| !name.is_empty())?;
    if cx.node.output.contains(output) {
        Some(cx.names.fresh(&format!("{output}_{}", node.op_type())))
    } else {
        Some(output.clone())
    }
}

/// A node in the place of another, of which it keeps everything except the operator.
fn inherit(original: &NodeProto, mut with: NodeProto) -> NodeProto {
    let mut node = original.clone();
    node.op_type = with.op_type.take();
    node.input = std::mem::take(&mut with.input);
    node.output = std::mem::take(&mut with.output);
    node.attribute = std::mem::take(&mut with.attribute);
    // They refer to inputs that the new node may not have.
    node.device_configurations.clear();
    node
}
