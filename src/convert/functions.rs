//! Local functions that take the place of expanded nodes.
//!
//! Nodes that are expanded into the same nodes call the same function. The function is named like the operator; further ones of the
//! same operator are numbered.

use prost::Message as _;

use crate::base::hash::{HashMap, HashSet};
use crate::graph::{Model, ScopeKind};
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
    made: Vec<FunctionProto>,
}

impl Functions {
    pub fn new(model: &Model, opset: i64) -> Functions {
        let functions = model.proto().functions.iter().filter(|function| function.domain() == DOMAIN);
        let names = functions.map(|function| function.name().to_owned()).collect();
        Functions { opset, names, by_body: HashMap::default(), made: Vec::new() }
    }

    /// The functions that were made.
    pub fn into_made(self) -> Vec<FunctionProto> {
        self.made
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
            let numbered = (2..).map(|number: u64| format!("{op}_{number}"));
            let name = std::iter::once(op.to_owned()).chain(numbered).find(|name| !self.names.contains(name));
            let name = name.unwrap_or_default();
            self.names.insert(name.clone());
            self.by_body.insert(body, name.clone());
            function.name = Some(name.clone());
            self.made.push(function);
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
        nodes.iter().for_each(|node| collect(node, &mut defined, &mut used));
        let is_defined: HashSet<&String> = defined.iter().collect();
        let mut inputs: Vec<String> = Vec::new();
        let given = replaced.input.iter().filter(|name| used.contains(name));
        for name in given.chain(used.iter().filter(|name| !is_defined.contains(name))) {
            if !name.is_empty() && !inputs.contains(name) {
                inputs.push(name.clone());
            }
        }
        let outputs: Vec<String> = replaced.output.iter().filter(|name| is_defined.contains(name)).cloned().collect();
        // The names of added values begin with that of the first output.
        let prefix = replaced.output.iter().find(|name| !name.is_empty()).map_or(String::new(), |name| format!("{name}_"));
        let mut names: HashMap<String, String> = HashMap::default();
        let numbered = |kind: &str, list: &[String]| -> Vec<(String, String)> {
            list.iter().enumerate().map(|(index, name)| (name.clone(), format!("{kind}{index}"))).collect()
        };
        names.extend(numbered("input", &inputs));
        names.extend(numbered("output", &outputs));
        #[expect(clippy::disallowed_methods, reason = "from a table into a table")]
        let mut taken: HashSet<String> = names.values().cloned().collect();
        for name in &defined {
            if !names.contains_key(name) {
                let short = name.strip_prefix(&prefix).filter(|short| !short.is_empty()).unwrap_or(name);
                let others = (2..).map(|number: u64| format!("{short}_{number}"));
                let local =
                    std::iter::once(short.to_owned()).chain(others).find(|local| !taken.contains(local)).unwrap_or_default();
                taken.insert(local.clone());
                names.insert(name.clone(), local);
            }
        }
        Locals { inputs, outputs, names }
    }

    fn of(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_default()
    }

    /// A node with local names, also in its graphs.
    fn renamed(&self, node: &NodeProto) -> NodeProto {
        let mut node = node.clone();
        let first = node.output.iter().find(|name| !name.is_empty()).map(|name| self.of(name));
        node.name = first;
        node.doc_string = None;
        node.metadata_props.clear();
        let raw: &mut raw::NodeProto = &mut node;
        raw.input.iter_mut().chain(&mut raw.output).for_each(|name| *name = self.of(name));
        for graph in raw.attribute.iter_mut().filter(|attribute| attribute.g.is_some()).filter_map(|attribute| attribute.g.as_mut())
        {
            graph.name = Some("body".to_owned());
            let graph: &mut raw::GraphProto = graph;
            graph
                .input
                .iter_mut()
                .chain(&mut graph.output)
                .for_each(|value| value.name = value.name.as_deref().map(|name| self.of(name)));
            graph.node = graph.node.iter().map(|inner| self.renamed(inner)).collect();
        }
        node
    }
}

/// The names that a node and its graphs define and use, without those that are missing.
fn collect(node: &NodeProto, defined: &mut Vec<String>, used: &mut Vec<String>) {
    used.extend(node.input.iter().filter(|name| !name.is_empty()).cloned());
    for graph in node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()) {
        defined.extend(graph.input.iter().map(|input| input.name().to_owned()));
        graph.node.iter().for_each(|inner| collect(inner, defined, used));
        used.extend(graph.output.iter().map(|output| output.name().to_owned()));
    }
    defined.extend(node.output.iter().filter(|name| !name.is_empty()).cloned());
}

/// Whether nodes of a scope may call functions that are added: in functions, the calls would be nested.
pub(super) fn may_call(root: ScopeKind) -> bool {
    !matches!(root, ScopeKind::Function(_))
}
