//! Faults in every field of every message of a model.

use crate::wire_tree::{Node, Schema, Tree};

/// What a fault does to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A field has another value.
    Changed,
    /// A field has the value 0, or is empty.
    Cleared,
    /// A field is missing.
    Removed,
    /// A field occurs twice.
    Twice,
    /// Two values of a repeated field are in each other's place.
    Swapped,
    /// A field was added that the message does not have.
    Added,
    /// A field was added that the schema does not have.
    Unknown,
}

/// A fault: the message and the field that it is in, what it does, and the model with it.
pub struct Fault {
    pub place: String,
    pub kind: Kind,
    pub tree: Tree,
}

/// The fault's place and kind: `NodeProto.op_type Changed`.
impl Fault {
    pub fn name(&self) -> String {
        format!("{} {:?}", self.place, self.kind)
    }
}

/// Calls `visit` with each fault that a model can have.
pub fn each(schema: &Schema, model: &Tree, visit: &mut dyn FnMut(Fault)) {
    in_message(
        schema,
        ".onnx.ModelProto",
        model,
        &mut |place, kind, tree| {
            visit(Fault {
                place,
                kind,
                tree: tree.clone(),
            });
        },
    );
}

/// Calls `visit` with each fault that a message can have, and the message with it.
fn in_message(
    schema: &Schema,
    message: &str,
    tree: &Tree,
    visit: &mut dyn FnMut(String, Kind, &Tree),
) {
    let name = message.trim_start_matches(".onnx.");
    let with = |index: usize, nodes: Vec<(u32, Node)>| {
        let mut tree = tree.clone();
        tree.0.splice(index..=index, nodes);
        tree
    };
    for (index, (number, value)) in tree.0.iter().enumerate() {
        let known = schema.named(message, *number);
        let place = || {
            format!(
                "{name}.{}",
                known.map_or_else(|| number.to_string(), |(field, _)| field.to_owned())
            )
        };
        if let (Node::Message(inner), Some((_, Some(of)))) = (value, known) {
            in_message(schema, of, inner, &mut |place, kind, inner| {
                visit(
                    place,
                    kind,
                    &with(index, vec![(*number, Node::Message(inner.clone()))]),
                );
            });
        }
        for other in changed(value) {
            visit(place(), Kind::Changed, &with(index, vec![(*number, other)]));
        }
        let cleared = cleared(value);
        if cleared != *value {
            visit(
                place(),
                Kind::Cleared,
                &with(index, vec![(*number, cleared)]),
            );
        }
        visit(place(), Kind::Removed, &with(index, Vec::new()));
        visit(
            place(),
            Kind::Twice,
            &with(
                index,
                vec![(*number, value.clone()), (*number, value.clone())],
            ),
        );
        let next = tree.0[index + 1..]
            .iter()
            .position(|(other, next)| other == number && next != value);
        if let Some(next) = next.map(|next| index + 1 + next) {
            let mut tree = tree.clone();
            tree.0.swap(index, next);
            visit(place(), Kind::Swapped, &tree);
        }
    }
    let with_more = |field: (u32, Node)| Tree(tree.0.iter().cloned().chain([field]).collect());
    for (number, field, value) in schema.fields(message) {
        if tree.0.iter().all(|(other, _)| *other != number) {
            visit(
                format!("{name}.{field}"),
                Kind::Added,
                &with_more((number, value)),
            );
        }
    }
    visit(
        name.to_owned(),
        Kind::Unknown,
        &with_more((1000, Node::Varint(1))),
    );
}

/// Other values of a field: the next number, the other sign; a text with another letter at its
/// start, and with one more at its end.
fn changed(value: &Node) -> Vec<Node> {
    match value {
        Node::Varint(number) => [number.wrapping_add(1), number ^ 4]
            .map(Node::Varint)
            .into(),
        Node::Fixed32(bytes) => vec![Node::Fixed32([bytes[0] ^ 1, bytes[1], bytes[2], bytes[3]])],
        Node::Fixed64(bytes) => {
            let mut bytes = *bytes;
            bytes[0] ^= 1;
            vec![Node::Fixed64(bytes)]
        }
        Node::Bytes(bytes) => {
            let mut first = bytes.clone();
            first.iter_mut().take(1).for_each(|byte| *byte ^= 1);
            let mut last = bytes.clone();
            last.iter_mut()
                .last()
                .into_iter()
                .for_each(|byte| *byte ^= 2);
            let mut others = vec![first, last, [bytes.as_slice(), b"z"].concat()];
            others.retain(|other| other != bytes);
            others.into_iter().map(Node::Bytes).collect()
        }
        Node::Group(_) | Node::Message(_) => Vec::new(),
    }
}

fn cleared(value: &Node) -> Node {
    match value {
        Node::Varint(_) => Node::Varint(0),
        Node::Fixed32(_) => Node::Fixed32([0; 4]),
        Node::Fixed64(_) => Node::Fixed64([0; 8]),
        Node::Bytes(_) => Node::Bytes(Vec::new()),
        Node::Group(_) => Node::Group(Vec::new()),
        Node::Message(_) => Node::Message(Tree(Vec::new())),
    }
}
