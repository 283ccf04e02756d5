//! Local functions that take the place of expanded nodes.
//!
//! Nodes that are expanded into the same nodes call the same function. The function is named like
//! the operator; further ones of the same operator are numbered.

use prost::Message as _;

use crate::base::hash::{HashMap, HashSet};
use crate::convert::bodies::{graphs, graphs_mut};
use crate::graph::Model;
use crate::protobuf::raw;
use crate::protobuf::schema::{FunctionProto, NodeProto, OperatorSetIdProto};

/// The domain of the functions.
pub(super) const DOMAIN: &str = "recast.expanded";

/// The first IR version with local functions.
pub(super) const SINCE_IR: i64 = 8;

/// The functions of a conversion.
pub(super) struct Functions {
    opset: i64,
    /// The names of functions in the domain.
    names: HashSet<String>,
    /// By encoded function without its name: the name.
    by_body: HashMap<Vec<u8>, String>,
    added: Vec<FunctionProto>,
}

impl Functions {
    pub fn new(model: &Model, opset: i64) -> Functions {
        let functions = model
            .proto()
            .functions
            .iter()
            .filter(|function| function.domain() == DOMAIN);
        let names = functions
            .map(|function| function.name().to_owned())
            .collect();
        Functions {
            opset,
            names,
            by_body: HashMap::default(),
            added: Vec::new(),
        }
    }

    /// The functions that the conversion adds.
    pub fn into_added(self) -> Vec<FunctionProto> {
        self.added
    }

    /// The call of a function with these nodes, which replace a node.
    pub fn call(&mut self, replaced: &NodeProto, nodes: &[NodeProto]) -> NodeProto {
        let locals = Locals::new(replaced, nodes);
        let op = replaced.op_type();
        let mut function = FunctionProto::from(raw::FunctionProto {
            domain: Some(DOMAIN.to_owned()),
            input: locals.inputs.iter().map(|name| locals.of(name)).collect(),
            output: locals.outputs.iter().map(|name| locals.of(name)).collect(),
            node: nodes.iter().map(|node| locals.renamed(node)).collect(),
            opset_import: vec![OperatorSetIdProto::from(raw::OperatorSetIdProto {
                domain: Some(String::new()),
                version: Some(self.opset),
            })],
            ..Default::default()
        });
        let mut body = function.encode_to_vec();
        body.extend(op.as_bytes());
        let name = self.by_body.get(&body).cloned().unwrap_or_else(|| {
            let name = numbered(op, &mut self.names);
            self.by_body.insert(body, name.clone());
            function.name = Some(name.clone());
            self.added.push(function);
            name
        });
        let mut call = replaced.clone();
        call.domain = Some(DOMAIN.to_owned());
        call.op_type = Some(name);
        call.input = locals.inputs;
        call.output = locals.outputs;
        call.attribute.clear();
        call.device_configurations.clear();
        call
    }
}

/// A name that is not taken, and is from now on: the given one, or that with a number.
fn numbered(name: &str, taken: &mut HashSet<String>) -> String {
    let others = (2..).map(|number: u64| format!("{name}_{number}"));
    let free = std::iter::once(name.to_owned())
        .chain(others)
        .find(|name| !taken.contains(name))
        .unwrap_or_default();
    taken.insert(free.clone());
    free
}

/// The names inside of a function.
struct Locals {
    /// The names of values that the nodes use and do not define.
    inputs: Vec<String>,
    /// The names of the outputs of the replaced node that the nodes define.
    outputs: Vec<String>,
    names: HashMap<String, String>,
}

impl Locals {
    fn new(replaced: &NodeProto, nodes: &[NodeProto]) -> Locals {
        let mut defined = Vec::new();
        let mut used = Vec::new();
        nodes
            .iter()
            .for_each(|node| collect(node, &mut defined, &mut used));
        let is_defined: HashSet<&String> = defined.iter().collect();
        let mut inputs: Vec<String> = Vec::new();
        let given = replaced.input.iter().filter(|name| used.contains(name));
        for name in given.chain(used.iter().filter(|name| !is_defined.contains(name))) {
            if !name.is_empty() && !inputs.contains(name) {
                inputs.push(name.clone());
            }
        }
        let outputs: Vec<String> = replaced
            .output
            .iter()
            .filter(|name| is_defined.contains(name))
            .cloned()
            .collect();
        // The names of added values begin with that of the first output.
        let prefix = replaced
            .output
            .iter()
            .find(|name| !name.is_empty())
            .map_or(String::new(), |name| format!("{name}_"));
        let mut names: HashMap<String, String> = HashMap::default();
        names.extend(
            inputs
                .iter()
                .enumerate()
                .map(|(index, name)| (name.clone(), format!("input{index}"))),
        );
        names.extend(
            outputs
                .iter()
                .enumerate()
                .map(|(index, name)| (name.clone(), format!("output{index}"))),
        );
        #[expect(clippy::disallowed_methods, reason = "from a table into a table")]
        let mut taken: HashSet<String> = names.values().cloned().collect();
        for name in &defined {
            if !names.contains_key(name) {
                let short = name
                    .strip_prefix(&prefix)
                    .filter(|short| !short.is_empty())
                    .unwrap_or(name);
                names.insert(name.clone(), numbered(short, &mut taken));
            }
        }
        Locals {
            inputs,
            outputs,
            names,
        }
    }

    fn of(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_default()
    }

    /// A node with local names, also in its graphs.
    fn renamed(&self, node: &NodeProto) -> NodeProto {
        let mut node = node.clone();
        node.name = node
            .output
            .iter()
            .find(|name| !name.is_empty())
            .map(|name| self.of(name));
        node.doc_string = None;
        node.metadata_props.clear();
        let raw: &mut raw::NodeProto = &mut node;
        raw.input
            .iter_mut()
            .chain(&mut raw.output)
            .for_each(|name| *name = self.of(name));
        for graph in graphs_mut(raw) {
            let graph: &mut raw::GraphProto = graph;
            graph.name = Some("body".to_owned());
            for value in graph.input.iter_mut().chain(&mut graph.output) {
                value.name = value.name.as_deref().map(|name| self.of(name));
            }
            graph.node = graph.node.iter().map(|inner| self.renamed(inner)).collect();
        }
        node
    }
}

/// The names that a node and its graphs define and use, without those that are missing.
fn collect(node: &NodeProto, defined: &mut Vec<String>, used: &mut Vec<String>) {
    used.extend(node.input.iter().filter(|name| !name.is_empty()).cloned());
    for graph in graphs(node) {
        defined.extend(graph.input.iter().map(|input| input.name().to_owned()));
        graph
            .node
            .iter()
            .for_each(|inner| collect(inner, defined, used));
        used.extend(graph.output.iter().map(|output| output.name().to_owned()));
    }
    defined.extend(node.output.iter().filter(|name| !name.is_empty()).cloned());
}
