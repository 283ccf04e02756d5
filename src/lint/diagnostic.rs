//! A finding as it is reported: all that can be printed of it, without the model.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{Finding, FindingPlace, Fix, RuleFacts, Severity};
use crate::base::error::shortened;
use crate::base::hash::HashMap;
use crate::base::parallel;
use crate::graph::{Body, Model, NodeId, ScopeId, ValueId};
use crate::onnx_text;
use crate::protobuf::Lossless;

/// A finding that does not refer to the model. A model may have one for each of its nodes, so its
/// size matters: what many findings of a model have in common is shared, and paths are made of a
/// name when they are printed.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The rule.
    pub rule: &'static RuleFacts,
    /// The severity: that of the rule, unless the user overrides it.
    pub severity: Severity,
    /// A description of the problem.
    pub message: Arc<str>,
    /// The fix, if there is one.
    pub fix: Option<Box<Fix>>,
    subject: SubjectKind,
    shared: Arc<Shared>,
    /// The name of a value, of a node as paths show it, or of what an unnamed node produces.
    name: Box<str>,
    /// The text of the node.
    text: Box<str>,
    /// The position of the node in its scope.
    position: u32,
    /// The place in the file, unless it is not as it was in the file.
    bytes: Option<Region>,
    /// The number of the finding among those of the same rule about the same thing, from 1.
    number: u32,
}

/// The subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SubjectKind {
    Model,
    Value,
    NamedNode,
    /// A node without a name whose first output has one.
    UnnamedNode,
    /// A node without any name.
    AnonymousNode,
}

/// The parts that findings about nodes of one operator in one scope share.
#[derive(Debug)]
struct Shared {
    path: Arc<str>,
    scope: Option<Arc<str>>,
    op: Option<Box<str>>,
}

/// A run of bytes of the model file: a message without its key and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Region {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
}

/// The parts that many findings of a model share beside their descriptions.
#[derive(Debug)]
pub(super) struct Places<'m> {
    path: Arc<str>,
    scopes: HashMap<ScopeId, Arc<str>>,
    places: HashMap<(Option<ScopeId>, Option<&'m str>), Arc<Shared>>,
}

impl<'m> Places<'m> {
    /// The places of the model in a file, before any was looked up.
    pub fn new(path: &str) -> Places<'m> {
        Places {
            path: path.into(),
            scopes: HashMap::default(),
            places: HashMap::default(),
        }
    }

    fn scope(&mut self, model: &Model, scope: ScopeId) -> Arc<str> {
        Arc::clone(
            self.scopes
                .entry(scope)
                .or_insert_with(|| model.scope_path(scope).into()),
        )
    }

    fn place(&mut self, model: &'m Model, at: FindingPlace) -> Arc<Shared> {
        let key = match at {
            FindingPlace::Model => (None, None),
            FindingPlace::Value(scope, _) => (Some(scope), None),
            FindingPlace::Node(node) => (Some(node.scope), Some(model.node(node).op_type())),
        };
        if let Some(known) = self.places.get(&key) {
            return Arc::clone(known);
        }
        let scope = key.0.map(|scope| self.scope(model, scope));
        let shared = Arc::new(Shared {
            path: Arc::clone(&self.path),
            scope,
            op: key.1.map(Box::from),
        });
        self.places.insert(key, Arc::clone(&shared));
        shared
    }
}

impl Diagnostic {
    /// `text` is that of the node that the finding is about, by [`node_text`]; empty if it is not
    /// about a node.
    pub(super) fn new<'m>(
        model: &'m Model,
        places: &mut Places<'m>,
        (rule, severity): (&'static RuleFacts, Severity),
        Finding { at, message, fix }: Finding,
        text: &str,
    ) -> Diagnostic {
        let (subject, name, position, bytes) = match at {
            FindingPlace::Model => (SubjectKind::Model, "".into(), 0, None),
            FindingPlace::Value(_, value) => (
                SubjectKind::Value,
                model.name(value).into(),
                0,
                value_region(model, value),
            ),
            FindingPlace::Node(node) => {
                let proto = model.node(node);
                let output = proto.output.iter().find(|output| !output.is_empty());
                let (subject, name) = match (proto.name(), output) {
                    ("", Some(output)) => (SubjectKind::UnnamedNode, output.into()),
                    ("", None) => (SubjectKind::AnonymousNode, "".into()),
                    (name, _) => (SubjectKind::NamedNode, shortened(name)),
                };
                (subject, name, node.position, region(proto))
            }
        };
        Diagnostic {
            rule,
            severity,
            message,
            fix,
            subject,
            shared: places.place(model, at),
            name: name.into(),
            text: text.into(),
            position,
            bytes,
            number: 1,
        }
    }

    /// The model file, as it was named.
    #[must_use]
    pub fn path(&self) -> &Arc<str> {
        &self.shared.path
    }

    /// The rule's code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.rule.code
    }

    /// The rule's name.
    #[must_use]
    pub(crate) fn name(&self) -> &'static str {
        self.rule.name
    }

    /// The path of the scope: `graph/if_1.then_branch`; none for the model as a whole.
    #[must_use]
    pub fn scope(&self) -> Option<&str> {
        self.shared.scope.as_deref()
    }

    /// The path of the node: `graph/cast_3`; none if the finding is not about a node.
    #[must_use]
    pub fn node(&self) -> Option<String> {
        self.is_about_node().then(|| self.place())
    }

    /// The node's operator.
    #[must_use]
    pub fn op(&self) -> Option<&str> {
        self.shared.op.as_deref()
    }

    /// The path of the value: `graph/weight`; none if the finding is not about a value.
    #[must_use]
    pub fn value(&self) -> Option<String> {
        (self.subject == SubjectKind::Value).then(|| self.place())
    }

    /// The node as text, without the graphs in its attributes.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.is_about_node().then_some(&self.text)
    }

    /// The place in the file, if the finding is about a node or value that is as it was in the
    /// file.
    #[must_use]
    pub(crate) fn bytes(&self) -> Option<Region> {
        self.bytes
    }

    /// A name for the finding that stays the same while the model changes elsewhere: it depends on
    /// the path of the file, the rule, and the name of the node or value, or of what an unnamed
    /// node produces.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint(&[
            &self.path().replace('\\', "/"),
            self.code(),
            &self.identity(),
        ])
    }

    /// The subject of the finding, apart from the file: see [`Diagnostic::fingerprint`].
    #[must_use]
    pub(crate) fn identity(&self) -> String {
        let mut identity = match self.subject {
            // The path of an unnamed node has its position, which changes with any node before it:
            // what it produces is better.
            SubjectKind::UnnamedNode => [
                self.scope().unwrap_or_default(),
                "/",
                &self.name,
                ":",
                self.op().unwrap_or_default(),
            ]
            .concat(),
            _ => self.place(),
        };
        if self.number > 1 {
            identity.push_str(&format!("#{}", self.number));
        }
        identity
    }

    /// The path of what the finding is about: `model`, or that of a value or node.
    #[must_use]
    pub fn place(&self) -> String {
        let scope = self.scope().unwrap_or_default();
        match self.subject {
            SubjectKind::Model => "model".to_owned(),
            SubjectKind::Value | SubjectKind::NamedNode => [scope, "/", &self.name].concat(),
            SubjectKind::UnnamedNode | SubjectKind::AnonymousNode => {
                format!(
                    "{scope}/#{}:{}",
                    self.position,
                    shortened(self.op().unwrap_or_default())
                )
            }
        }
    }

    fn is_about_node(&self) -> bool {
        !matches!(self.subject, SubjectKind::Model | SubjectKind::Value)
    }
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = serializer.serialize_struct("Diagnostic", 13)?;
        keys.serialize_field("path", self.path())?;
        keys.serialize_field("code", self.code())?;
        keys.serialize_field("name", self.name())?;
        keys.serialize_field("severity", &self.severity)?;
        keys.serialize_field("message", &self.message)?;
        keys.serialize_field("scope", &self.scope())?;
        keys.serialize_field("node", &self.node())?;
        keys.serialize_field("op", &self.op())?;
        keys.serialize_field("value", &self.value())?;
        keys.serialize_field("text", &self.text())?;
        keys.serialize_field("fingerprint", &self.fingerprint())?;
        keys.serialize_field("bytes", &self.bytes())?;
        keys.serialize_field("fix", &self.fix)?;
        keys.end()
    }
}

/// A node in a line, however large it is.
pub(super) fn node_text(model: &Model, node: NodeId) -> String {
    let text = onnx_text::print_node(model.node(node));
    if text.len() <= LONGEST_TEXT && !text.contains('\n') {
        text
    } else {
        shown(&text)
    }
}

/// Findings of one rule about one thing are told apart by their number.
pub(super) fn count_equals(found: &mut [Diagnostic]) {
    // By hash, which is smaller than the hashed text.
    let hashes = parallel::map(found, |one| hash(&[one.code(), &one.identity()]));
    let hasher = RandomState::default();
    let mut newest: HashTable<usize> = HashTable::with_capacity(found.len());
    for (index, hash) in hashes.iter().enumerate() {
        let slot = newest.entry(
            hasher.hash_one(hash),
            |&other| hashes[other] == *hash,
            |&other| hasher.hash_one(hashes[other]),
        );
        match slot {
            Entry::Occupied(mut before) => {
                found[index].number = found[*before.get()].number + 1;
                *before.get_mut() = index;
            }
            Entry::Vacant(slot) => {
                slot.insert(index);
            }
        }
    }
}

/// A short name for a list of texts that is the same on every machine and in every version: 64 bits
/// of FNV-1a over the texts, each followed by a zero, in hexadecimal.
#[must_use]
pub fn fingerprint(parts: &[&str]) -> String {
    format!("{:016x}", hash(parts))
}

fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
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

fn value_region(model: &Model, value: ValueId) -> Option<Region> {
    match (model.initializer(value), model.body(model.scope_of(value))) {
        (Some(tensor), Body::Graph(_)) => region(tensor),
        _ => model.declared(value).and_then(region),
    }
}

/// The byte range of an unmodified message in the input file.
fn region<M>(message: &Lossless<M>) -> Option<Region> {
    message.as_source().map(|source| Region {
        offset: message.offset(),
        length: source.len() as u64,
    })
}
