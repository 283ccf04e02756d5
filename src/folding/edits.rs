//! Turns the decisions into edits.

use super::decisions::Decisions;
use crate::graph::{Edit, NodeId, ValueId};
use crate::hash::HashSet;
use crate::tensor::Content;
use crate::wire::raw::{AttributeProto, attribute_proto::AttributeType};
use crate::wire::schema::NodeProto;

impl Decisions<'_> {
    /// The constants that are no longer used and are removed.
    #[must_use]
    pub fn removed_constants(&self) -> Vec<ValueId> {
        let is_constant = |&value: &ValueId| !self.by_output.contains_key(&value) && self.model.constant(value).is_ok();
        self.unneeded().into_iter().filter(is_constant).collect()
    }

    /// The nodes that are no casts, do not fold, and are removed because only folded nodes used their results.
    #[must_use]
    pub fn removed_nodes(&self) -> Vec<NodeId> {
        let unneeded = self.unneeded();
        let is_unneeded = |(_, value): (u32, ValueId)| unneeded.binary_search(&value).is_ok();
        let mut nodes: Vec<NodeId> = unneeded.iter().filter_map(|&value| self.computing_node(value)).collect();
        nodes.retain(|&node| self.model.outputs(node).all(is_unneeded));
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The edits that replace the folded nodes by their results and remove what is no longer used.
    #[must_use]
    pub fn into_edits(mut self) -> Vec<Edit> {
        let mut edits = self.removals();
        let replaced: HashSet<ValueId> = self.share(&mut edits).into_iter().collect();
        let is_stored = |output: ValueId| self.is_needed(output) && !replaced.contains(&output);
        let stored: Vec<bool> = self.folds.iter().map(|fold| fold.output.is_some_and(is_stored)).collect();
        let mut folds = std::mem::take(&mut self.folds).into_iter().zip(stored).peekable();
        while let Some((fold, is_stored)) = folds.next() {
            let node = fold.node;
            let mut with = Vec::new();
            let mut next = Some((fold, is_stored));
            while let Some((fold, is_stored)) = next {
                match fold.output.filter(|_| is_stored) {
                    Some(output) if self.becomes_node(node.scope) || self.is_node_of_subgraph(output, fold.content.dtype()) => {
                        with.push(constant_node(self.model.node(node), self.model.name(output), fold.content, with.is_empty()));
                    }
                    Some(output) => {
                        let tensor = Box::new(fold.content.into_tensor(self.model.name(output)));
                        edits.push(Edit::AddInitializer { scope: node.scope, tensor });
                    }
                    None => {}
                }
                next = folds.next_if(|(other, _)| other.node == node);
            }
            edits.push(Edit::replace_node(node, with));
        }
        edits
    }

    fn removals(&self) -> Vec<Edit> {
        let edit = |value: ValueId| match self.model.producer(value) {
            Some(node) => Edit::remove_node(node),
            None => Edit::RemoveInitializer(value),
        };
        let constants = self.removed_constants().into_iter().map(edit);
        constants.chain(self.removed_nodes().into_iter().map(Edit::remove_node)).collect()
    }
}

/// The `Constant` that replaces a node. The first has the node's name; all have its documentation and metadata.
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
