//! Turns the decisions into edits.

use super::decisions::FoldDecisions;
use crate::base::hash::HashSet;
use crate::graph::{Edit, NodeId, ValueId};
use crate::protobuf::raw::AttributeProto;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::NodeProto;
use crate::tensor::Content;

/// Nodes and constants that are removed because only folded nodes used them.
#[derive(Debug)]
pub struct Unneeded {
    /// Constants.
    pub constants: Vec<ValueId>,
    /// Nodes other than casts that do not fold, in document order.
    pub nodes: Vec<NodeId>,
}

impl FoldDecisions<'_> {
    /// Nodes and constants that are removed because only folded nodes used them.
    #[must_use]
    pub fn removed(&self) -> Unneeded {
        let unneeded = self.unneeded();
        let mut nodes: Vec<NodeId> = unneeded
            .iter()
            .filter_map(|&value| self.computing_node(value))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        // An output that nothing ever used has not lost a use.
        nodes.retain(|&node| {
            self.model
                .outputs(node)
                .all(|(_, value)| !self.is_needed(value))
        });
        let is_constant = |value: &ValueId| {
            !self.by_output.contains_key(value) && self.model.constant(*value).is_ok()
        };
        let constants = unneeded.iter().copied().filter(is_constant).collect();
        Unneeded { constants, nodes }
    }

    /// The edits that replace the folded nodes by their results and remove what is no longer used.
    #[must_use]
    pub fn into_edits(mut self, removed: &Unneeded) -> Vec<Edit> {
        let mut edits = self.removals(removed);
        let replaced: HashSet<ValueId> = self.share(&mut edits).into_iter().collect();
        let is_stored = |output: &ValueId| self.is_needed(*output) && !replaced.contains(output);
        let stored: Vec<Option<ValueId>> = self
            .folds
            .iter()
            .map(|fold| fold.output.filter(is_stored))
            .collect();
        // The outputs of a node follow each other.
        let mut nodes: Vec<(NodeId, Vec<NodeProto>)> = Vec::new();
        for (fold, output) in std::mem::take(&mut self.folds).into_iter().zip(stored) {
            let node = fold.node;
            if nodes.last().is_none_or(|(last, _)| *last != node) {
                nodes.push((node, Vec::new()));
            }
            let (Some(output), Some((_, with))) = (output, nodes.last_mut()) else {
                continue;
            };
            if self.becomes_node(node.scope)
                || self.is_node_of_subgraph(output, fold.content.dtype())
            {
                with.push(constant_node(
                    self.model.node(node),
                    self.model.name(output),
                    fold.content,
                    with.is_empty(),
                ));
            } else {
                let tensor = Box::new(fold.content.into_tensor(self.model.name(output)));
                edits.push(Edit::AddInitializer {
                    scope: node.scope,
                    tensor,
                });
            }
        }
        edits.extend(
            nodes
                .into_iter()
                .map(|(node, with)| Edit::replace_node(node, with)),
        );
        edits
    }

    fn removals(&self, removed: &Unneeded) -> Vec<Edit> {
        let edit = |&value: &ValueId| match self.model.producer(value) {
            Some(node) => Edit::remove_node(node),
            None => Edit::RemoveInitializer(value),
        };
        let nodes = removed.nodes.iter().copied().map(Edit::remove_node);
        removed.constants.iter().map(edit).chain(nodes).collect()
    }
}

/// The `Constant` that replaces a node. The first has the node's name; all have its documentation
/// and metadata.
fn constant_node(node: &NodeProto, output: &str, content: Content, is_first: bool) -> NodeProto {
    let mut node = node.clone();
    node.op_type = Some("Constant".to_owned());
    if !is_first {
        node.name = None;
    }
    node.input.clear();
    node.output = vec![output.to_owned()];
    node.attribute = vec![
        AttributeProto {
            name: Some("value".to_owned()),
            r#type: Some(AttributeType::Tensor.into()),
            t: Some(content.into_tensor("")),
            ..AttributeProto::default()
        }
        .into(),
    ];
    node
}
