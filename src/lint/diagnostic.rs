//! A finding as it is reported: all that words can say of it, without the model.

use std::collections::HashMap;

use serde::Serialize;

use super::{Finding, Fix, Place, Rule, Severity};
use crate::graph::{Body, Model, NodeId, ValueId};
use crate::text;
use crate::wire::Kept;

/// A finding, told in full.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnostic {
    /// The model file, as it was named.
    pub path: String,
    /// The rule's code.
    pub code: &'static str,
    /// The rule's name.
    pub name: &'static str,
    /// How bad it is, by the user's word or the rule's.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The path of the scope: `graph/if_1.then_branch`; none for the model as a whole.
    pub scope: Option<String>,
    /// The path of the node: `graph/cast_3`; none where the finding is not about a node.
    pub node: Option<String>,
    /// The node's operator.
    pub op: Option<String>,
    /// The path of the value: `graph/weight`; none where the finding is not about a value.
    pub value: Option<String>,
    /// The node as text, without the graphs in its attributes.
    pub text: Option<String>,
    /// A name for the finding that stays the same while the model changes elsewhere: it depends on the path of the file, the rule, and
    /// the name of the node or value, or of what an unnamed node makes.
    pub fingerprint: String,
    /// Where in the file it stands.
    pub bytes: Option<Region>,
    /// What would set it right.
    pub fix: Option<Fix>,
    /// The rule.
    #[serde(skip)]
    pub rule: &'static Rule,
    /// What the finding is about, apart from the file: see [`Diagnostic::fingerprint`].
    #[serde(skip)]
    pub identity: String,
}

/// A run of bytes of the model file: a message without its key and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

impl Diagnostic {
    /// `text` is that of the node that the finding is about, by [`node_text`].
    pub(super) fn new(
        model: &Model,
        path: &str,
        (rule, severity): (&'static Rule, Severity),
        finding: Finding,
        text: Option<String>,
    ) -> Diagnostic {
        let Finding { at, message, fix } = finding;
        let scope = match at {
            Place::Model => None,
            Place::Value(scope, _) => Some(scope),
            Place::Node(node) => Some(node.scope),
        };
        let (node, value) = match at {
            Place::Model => (None, None),
            Place::Value(_, value) => (None, Some(value)),
            Place::Node(node) => (Some(node), None),
        };
        Diagnostic {
            path: path.to_owned(),
            code: rule.code,
            name: rule.name,
            severity,
            message,
            scope: scope.map(|scope| model.scope_path(scope)),
            node: node.map(|node| model.node_path(node)),
            op: node.map(|node| model.node(node).op_type().to_owned()),
            value: value.map(|value| format!("{}/{}", model.scope_path(model.home(value)), model.name(value))),
            text,
            fingerprint: String::new(),
            bytes: node.map_or_else(|| value.and_then(|value| value_region(model, value)), |node| node_region(model, node)),
            fix,
            rule,
            identity: identity(model, at),
        }
    }

    /// The path of what the finding is about: `model`, or that of a value or node.
    #[must_use]
    pub fn place(&self) -> &str {
        self.node.as_deref().or(self.value.as_deref()).unwrap_or("model")
    }
}

/// A node in a line, however large it is.
pub(super) fn node_text(model: &Model, node: NodeId) -> String {
    shown(&text::print_node(model.node(node)))
}

/// Findings of one rule about one thing are told apart by their number.
pub(super) fn count_equals(found: &mut [Diagnostic]) {
    let mut seen: HashMap<(&str, String), usize> = HashMap::new();
    for one in found {
        let count = seen.entry((one.code, one.identity.clone())).or_default();
        *count += 1;
        if *count > 1 {
            one.identity = format!("{}#{count}", one.identity);
        }
        one.fingerprint = fingerprint(&[&one.path.replace('\\', "/"), one.code, &one.identity]);
    }
}

/// A short name for a list of texts that is the same on every machine and in every version: 64 bits of FNV-1a over the texts, each
/// followed by a zero, in hexadecimal.
#[must_use]
pub fn fingerprint(parts: &[&str]) -> String {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
    format!("{hash:016x}")
}

/// The path of a node counts unnamed nodes by their position, which changes with any node before them: what they make is better.
fn identity(model: &Model, at: Place) -> String {
    match at {
        Place::Model => "model".to_owned(),
        Place::Value(scope, value) => format!("{}/{}", model.scope_path(scope), model.name(value)),
        Place::Node(node) => {
            let proto = model.node(node);
            match proto.output.iter().find(|output| !output.is_empty()) {
                Some(output) if proto.name().is_empty() => format!("{}/{output}:{}", model.scope_path(node.scope), proto.op_type()),
                _ => model.node_path(node),
            }
        }
    }
}

/// The first line, and not too much of it.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None if text.lines().nth(1).is_some() => format!("{line} ..."),
        None => line.to_owned(),
    }
}

const LONGEST_TEXT: usize = 160;

fn node_region(model: &Model, node: NodeId) -> Option<Region> {
    region(model.node(node))
}

fn value_region(model: &Model, value: ValueId) -> Option<Region> {
    match (model.initializer(value), model.body(model.home(value))) {
        (Some(tensor), Body::Graph(_)) => region(tensor),
        _ => model.declared(value).and_then(region),
    }
}

/// The bytes of a message that is as it came.
fn region<M>(message: &Kept<M>) -> Option<Region> {
    message.source().map(|source| Region { offset: message.offset(), length: source.len() as u64 })
}
