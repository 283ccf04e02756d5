//! A finding as it is reported: all that words can say of it, without the model.

use std::sync::Arc;

use serde::Serialize;

use super::{Finding, Fix, Place, Rule, Severity};
use crate::graph::{Body, Model, NodeId, ScopeId, ValueId};
use crate::hash::HashMap;
use crate::text;
use crate::wire::Kept;

/// A finding, told in full. A model may have one for each of its nodes, so its size counts.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnostic {
    /// The model file, as it was named.
    pub path: Arc<str>,
    /// The rule's code.
    pub code: &'static str,
    /// The rule's name.
    pub name: &'static str,
    /// How bad it is, by the user's word or the rule's.
    pub severity: Severity,
    /// What is wrong.
    pub message: Box<str>,
    /// The path of the scope: `graph/if_1.then_branch`; none for the model as a whole.
    pub scope: Option<Arc<str>>,
    /// The path of the node: `graph/cast_3`; none where the finding is not about a node.
    pub node: Option<Box<str>>,
    /// The node's operator.
    pub op: Option<Arc<str>>,
    /// The path of the value: `graph/weight`; none where the finding is not about a value.
    pub value: Option<Box<str>>,
    /// The node as text, without the graphs in its attributes.
    pub text: Option<Arc<str>>,
    /// A name for the finding that stays the same while the model changes elsewhere: it depends on the path of the file, the rule, and
    /// the name of the node or value, or of what an unnamed node makes.
    pub fingerprint: Box<str>,
    /// Where in the file it stands.
    pub bytes: Option<Region>,
    /// What would set it right.
    pub fix: Option<Box<Fix>>,
    /// The rule.
    #[serde(skip)]
    pub rule: &'static Rule,
    /// What the finding is about, apart from the file, where that is not its place: see [`Diagnostic::identity`].
    #[serde(skip)]
    identity: Option<Box<str>>,
}

/// A run of bytes of the model file: a message without its key and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
}

/// Texts that many findings of a model share.
#[derive(Debug)]
pub(super) struct SharedTexts<'m> {
    path: Arc<str>,
    scopes: HashMap<ScopeId, Arc<str>>,
    ops: HashMap<&'m str, Arc<str>>,
}

impl<'m> SharedTexts<'m> {
    /// Those of the model in this file.
    pub fn new(path: &str) -> SharedTexts<'m> {
        SharedTexts { path: path.into(), scopes: HashMap::default(), ops: HashMap::default() }
    }

    fn scope(&mut self, model: &Model, scope: ScopeId) -> Arc<str> {
        Arc::clone(self.scopes.entry(scope).or_insert_with(|| model.scope_path(scope).into()))
    }

    fn op(&mut self, model: &'m Model, node: NodeId) -> Arc<str> {
        let op = model.node(node).op_type();
        Arc::clone(self.ops.entry(op).or_insert_with(|| op.into()))
    }
}

impl Diagnostic {
    /// `text` is that of the node that the finding is about, by [`node_text`].
    pub(super) fn new<'m>(
        model: &'m Model,
        shared: &mut SharedTexts<'m>,
        (rule, severity): (&'static Rule, Severity),
        finding: Finding,
        text: Option<Arc<str>>,
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
        let mut diagnostic = Diagnostic {
            path: Arc::clone(&shared.path),
            code: rule.code,
            name: rule.name,
            severity,
            message: message.into(),
            scope: scope.map(|scope| shared.scope(model, scope)),
            node: node.map(|node| model.node_path(node).into()),
            op: node.map(|node| shared.op(model, node)),
            value: value.map(|value| format!("{}/{}", model.scope_path(model.scope_of(value)), model.name(value)).into()),
            text,
            fingerprint: Box::default(),
            bytes: node.map_or_else(|| value.and_then(|value| value_region(model, value)), |node| node_region(model, node)),
            fix: fix.map(Box::new),
            rule,
            identity: None,
        };
        let identity = identity(model, at);
        if identity != diagnostic.place() {
            diagnostic.identity = Some(identity.into());
        }
        diagnostic
    }

    /// What the finding is about, apart from the file: see [`Diagnostic::fingerprint`].
    #[must_use]
    pub fn identity(&self) -> &str {
        self.identity.as_deref().unwrap_or_else(|| self.place())
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
    // By fingerprint, which is smaller than what it is made of.
    let mut seen: HashMap<u64, usize> = HashMap::default();
    for one in found {
        let path = one.path.replace('\\', "/");
        let count = seen.entry(hash(&[&path, one.code, one.identity()])).or_default();
        *count += 1;
        if *count > 1 {
            one.identity = Some(format!("{}#{count}", one.identity()).into());
        }
        one.fingerprint = fingerprint(&[&path, one.code, one.identity()]).into();
    }
}

/// A short name for a list of texts that is the same on every machine and in every version: 64 bits of FNV-1a over the texts, each
/// followed by a zero, in hexadecimal.
#[must_use]
pub fn fingerprint(parts: &[&str]) -> String {
    format!("{:016x}", hash(parts))
}

fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3))
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
    match (model.initializer(value), model.body(model.scope_of(value))) {
        (Some(tensor), Body::Graph(_)) => region(tensor),
        _ => model.declared(value).and_then(region),
    }
}

/// The bytes of a message that is as it came.
fn region<M>(message: &Kept<M>) -> Option<Region> {
    message.source().map(|source| Region { offset: message.offset(), length: source.len() as u64 })
}
