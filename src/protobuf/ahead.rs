//! Nodes of large graphs, decoded on all cores before the model that contains them.
//!
//! [`crate::protobuf::Lossless::from_bytes`] decodes one field after the other. Before that,
//! [`decode`] finds the runs of nodes in the main graph and decodes parts of them at the same time;
//! when the decoder comes to the beginning of a run, it takes the nodes and skips their bytes. If a
//! part is malformed, or needs too much memory, there is no such run, and the decoder finds the
//! fault in the order of the file. Nodes of a model that is known already are shared with it.

use std::cell::RefCell;
use std::ops::Range;

use bytes::{Buf, BufMut, Bytes};
use prost::encoding::{DecodeContext, WireType, decode_key, message, skip_field};
use prost::{DecodeError, Message};

use super::schema::{ModelProto, NodeProto};
use super::spans::Spans;
use super::{context, outline};
use crate::base::hash::HashMap;
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::process::expect_large_graph;

/// The approximate number of encoded bytes per part. Models of less than two parts are decoded by
/// one thread.
const PART: Threshold = Threshold::new("part of encoded nodes", 1 << 18);

/// The nodes of a model that is known, by their bytes. A written model has most of the nodes of its
/// original: they are not decoded again, and both models have one message in memory.
type KnownNodes<'m> = HashMap<&'m [u8], &'m NodeProto>;

/// Consecutive fields of the file that are nodes.
struct NodeRun {
    range: Range<usize>,
    /// The nodes of each part, and the memory that decoding has counted.
    parts: Vec<(Vec<NodeProto>, usize)>,
}

thread_local! {
    /// The runs of the model that this thread decodes.
    static RUNS: RefCell<Vec<NodeRun>> = const { RefCell::new(Vec::new()) };
}

/// Decodes the nodes of a model's main graph, and keeps them for [`take`]. Other messages have no
/// nodes. Nodes with the bytes of a node of `known` are shared with it.
pub(super) fn decode(message: &outline::Message, bytes: &Bytes, known: Option<&ModelProto>) {
    let is_worth_it = cfg!(feature = "parallel")
        && bytes.len() >= 2 * PART.get()
        && message.name == outline::MODEL_PROTO.name;
    RUNS.set(if is_worth_it {
        decode_runs(bytes, known)
    } else {
        Vec::new()
    });
}

/// Frees what has not been taken.
pub(super) fn forget() {
    RUNS.take();
}

/// If a run begins at an offset of the input: appends its nodes to a list, and returns the offset
/// of its end.
pub(super) fn take(start: usize, list: &mut Vec<NodeProto>) -> Option<usize> {
    let run = RUNS.with_borrow_mut(|runs| {
        Some(runs.remove(runs.iter().position(|run| run.range.start == start)?))
    })?;
    list.reserve_exact(run.parts.iter().map(|(nodes, _)| nodes.len()).sum());
    for (nodes, room) in run.parts {
        context::count_allocation(room + size_of_val(nodes.as_slice()));
        list.extend(nodes);
    }
    Some(run.range.end)
}

fn decode_runs(bytes: &Bytes, known: Option<&ModelProto>) -> Vec<NodeRun> {
    let known = known.map(unchanged_nodes).unwrap_or_default();
    let graph = number(&outline::MODEL_PROTO, "graph");
    let graphs = Spans::of(bytes)
        .filter(|span| span.tag == graph && span.has_length && span.value.end <= bytes.len());
    let Some(context) = context_in_graph() else {
        return Vec::new();
    };
    let runs = graphs.flat_map(|span| runs_in(bytes, span.value));
    runs.filter_map(|parts| {
        expect_large_graph();
        let range = parts.first()?.start..parts.last()?.end;
        let parts = parallel::map_owned(parts, |part| nodes_in(bytes, part, &context, &known));
        Some(NodeRun {
            range,
            parts: parts.into_iter().collect::<Option<_>>()?,
        })
    })
    .collect()
}

/// The nodes of a model's main graph that have not changed since it was read.
fn unchanged_nodes(model: &ModelProto) -> KnownNodes<'_> {
    let nodes = model.graph.as_ref().map_or(&[][..], |graph| &graph.node);
    let mut known = KnownNodes::default();
    known.reserve(nodes.len());
    known.extend(
        nodes
            .iter()
            .filter_map(|node| Some((node.as_source()?, node))),
    );
    known
}

/// The long runs of nodes in a graph, each in parts.
fn runs_in(bytes: &Bytes, graph: Range<usize>) -> Vec<Vec<Range<usize>>> {
    let key =
        [(number(&outline::GRAPH_PROTO, "node") << 3 | WireType::LengthDelimited as u32) as u8];
    let mut runs: Vec<Vec<Range<usize>>> = Vec::new();
    let mut is_in_run = false;
    let of_part = PART.get();
    for span in Spans::of(&bytes[graph.clone()]) {
        let field = graph.start + span.start..graph.start + span.value.end;
        let is_node = field.end <= graph.end && bytes[field.clone()].starts_with(&key);
        match runs.last_mut().filter(|_| is_in_run && is_node) {
            None if is_node => runs.push(vec![field]),
            None => {}
            Some(parts) => match parts.last_mut() {
                Some(part) if part.len() < of_part => part.end = field.end,
                _ => parts.push(field),
            },
        }
        is_in_run = is_node;
    }
    runs.retain(|parts| parts.len() > 1);
    runs
}

/// The nodes of a part and the memory that they take, unless something is wrong with it.
fn nodes_in(
    bytes: &Bytes,
    part: Range<usize>,
    context: &DecodeContext,
    known: &KnownNodes,
) -> Option<(Vec<NodeProto>, usize)> {
    let mut rest = bytes.slice(part.clone());
    let room = context::memory_budget_of_part(part.len(), bytes.len());
    // Offsets are counted from the end of the input.
    context::begin(bytes.slice(..part.end), room);
    let mut nodes = Vec::new();
    let mut result = Ok(());
    while rest.has_remaining() && result.is_ok() && !context::is_full() {
        if let Some((node, end)) = known_node(&rest, known) {
            nodes.push(node);
            rest.advance(end);
            continue;
        }
        let key = decode_key(&mut rest);
        result = key.and_then(|(_, wire_type)| {
            message::merge_repeated(wire_type, &mut nodes, &mut rest, context.clone())
        });
    }
    let left = context::end();
    (result.is_ok() && left > 0).then(|| (nodes, room - left))
}

/// The node at the beginning of these bytes, if it is known, and the end of its field.
fn known_node(bytes: &Bytes, known: &KnownNodes) -> Option<(NodeProto, usize)> {
    let field = Spans::of(bytes).next()?.value;
    let node = *known.get(bytes.get(field.clone())?)?;
    Some((node.clone(), field.end))
}

fn number(message: &outline::Message, field: &str) -> u32 {
    message.named(field).map_or(0, |field| field.number)
}

/// The context in which prost decodes the fields of a graph of a model: it counts how deep messages
/// are nested, and makes such a context only for the fields of a message.
fn context_in_graph() -> Option<DecodeContext> {
    #[derive(Debug, Default)]
    struct Probe(Option<DecodeContext>);

    impl Message for Probe {
        fn merge_field(
            &mut self,
            tag: u32,
            wire_type: WireType,
            buf: &mut impl Buf,
            ctx: DecodeContext,
        ) -> Result<(), DecodeError> {
            self.0 = Some(ctx.clone());
            skip_field(wire_type, tag, buf, ctx)
        }

        fn encode_raw(&self, _buf: &mut impl BufMut) {}

        fn encoded_len(&self) -> usize {
            0
        }

        fn clear(&mut self) {}
    }

    let mut probe = Probe::default();
    // A message of two bytes: field 1 is the number 0.
    let message: &[u8] = &[2, 1 << 3, 0];
    message::merge(
        WireType::LengthDelimited,
        &mut probe,
        &mut &*message,
        DecodeContext::default(),
    )
    .ok()?;
    probe.0
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use prost::encoding::encode_varint;

    use super::*;
    use crate::protobuf::schema::ModelProto;

    /// A field whose value has a length.
    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        let mut bytes = vec![number << 3 | WireType::LengthDelimited as u8];
        encode_varint(value.len() as u64, &mut bytes);
        bytes.extend(value);
        bytes
    }

    fn node(index: usize) -> Vec<u8> {
        field(
            1,
            &[
                field(1, format!("v{index}").as_bytes()),
                field(2, format!("v{}", index + 1).as_bytes()),
                field(4, b"Relu"),
            ]
            .concat(),
        )
    }

    /// A model whose graph has nodes, a name and one more node.
    fn model(nodes: &[Vec<u8>]) -> Bytes {
        field(7, &[nodes.concat(), field(2, b"name"), node(0)].concat()).into()
    }

    #[test]
    fn long_runs_of_nodes_are_decoded_as_short_ones_are() {
        let nodes: Vec<Vec<u8>> = (0..50_000).map(node).collect();
        let bytes = model(&nodes);
        assert_eq!(
            decode_runs(&bytes, None)
                .iter()
                .map(|run| run.parts.iter().map(|(nodes, _)| nodes.len()).sum())
                .collect::<Vec<usize>>(),
            [50_000]
        );

        let decoded = ModelProto::from_bytes(bytes.clone()).unwrap();
        let graph = decoded.graph.as_ref().unwrap();
        assert_eq!((graph.node.len(), graph.name()), (50_001, "name"));
        let mut place = graph.offset() as usize;
        for (decoded, encoded) in graph.node.iter().zip(&nodes) {
            assert_eq!(
                decoded.offset() as usize,
                place + encoded.len() - decoded.source().unwrap().len()
            );
            assert!(encoded.ends_with(&decoded.source().unwrap()));
            place += encoded.len();
        }
        assert_eq!(decoded.encode_to_vec(), bytes);
    }

    #[test]
    fn known_nodes_are_shared_and_others_are_decoded() {
        let nodes: Vec<Vec<u8>> = (0..50_000).map(node).collect();
        let mut known = ModelProto::from_bytes(model(&nodes)).unwrap();
        // A node that was changed is not known by its bytes.
        known.graph.as_mut().unwrap().node[7].name = Some("seven".to_owned());
        let written: Vec<Vec<u8>> = (0..50_000)
            .filter(|index| index % 1_000 != 3)
            .map(|index| match index % 1_000 {
                4 => node(index + 100_000),
                5 => node(5),
                _ => node(index),
            })
            .collect();
        let bytes = model(&written);
        let shared = ModelProto::from_bytes_with(bytes.clone(), &known).unwrap();
        let decoded = ModelProto::from_bytes(bytes.clone()).unwrap();
        assert_eq!(shared, decoded);
        assert_eq!(shared.encode_to_vec(), bytes);
        let list = |model: &ModelProto| model.graph.as_ref().unwrap().node.clone();
        let address = |node: &NodeProto| std::ptr::from_ref(&**node);
        let of_known: std::collections::HashSet<_> = list(&known).iter().map(address).collect();
        let all = list(&shared);
        let own: Vec<&str> = all
            .iter()
            .filter(|node| !of_known.contains(&address(node)))
            .map(|node| node.output[0].as_str())
            .collect();
        // Each node(4) is another one, node(7) is changed in the known model, and the last node is
        // not in a run.
        let mut expected: Vec<String> = (0..50)
            .map(|thousand| format!("v{}", thousand * 1_000 + 100_005))
            .collect();
        expected.insert(1, "v8".to_owned());
        expected.push("v1".to_owned());
        assert_eq!(own, expected);
    }

    #[test]
    fn errors_in_long_runs_are_those_of_short_ones() {
        let nested =
            |depth| (0..depth).fold(node(0), |inner, _| field(1, &field(5, &field(6, &inner))));
        let mut cases = vec![(
            "a name that is not UTF-8".to_owned(),
            field(1, &field(1, b"\xff")),
        )];
        cases.extend((30..35).map(|depth| (format!("graphs nested {depth} deep"), nested(depth))));
        let mut errors = 0;
        for (name, bad) in cases {
            let [short, long] = [10, 50_000].map(|before: usize| {
                let nodes: Vec<Vec<u8>> = (0..before).map(node).collect();
                let bytes = model(&[nodes.concat(), bad.clone(), nodes.concat()]);
                let start = bytes
                    .windows(bad.len())
                    .position(|window| window == bad)
                    .unwrap();
                let error = ModelProto::from_bytes(bytes).err()?;
                let field = error
                    .field
                    .replace(&format!("graph.node[{before}]"), "node");
                Some((
                    error.offset as usize - start,
                    field,
                    error.reason.to_string(),
                ))
            });
            assert_eq!(short, long, "{name}");
            errors += usize::from(short.is_some());
        }
        assert!((2..6).contains(&errors), "{errors}");
    }
}
