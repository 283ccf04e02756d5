//! Turns the decisions into edits.

use super::decisions::Decisions;
use crate::graph::{Edit, ValueId};
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

    /// The edits that replace the folded casts by their results and remove the constants that are no longer used.
    #[must_use]
    pub fn into_edits(mut self) -> Vec<Edit> {
        let mut edits = self.removals();
        let replaced: HashSet<ValueId> = self.share(&mut edits).into_iter().collect();
        let is_stored = |output: ValueId| self.is_needed(output) && !replaced.contains(&output);
        let mut outputs = vec![None; self.folds.len()];
        for (&value, &fold) in self.by_output.iter().filter(|&(&value, _)| is_stored(value)) {
            outputs[fold] = Some(value);
        }
        for (fold, output) in std::mem::take(&mut self.folds).into_iter().zip(outputs) {
            let mut with = Vec::new();
            match output {
                Some(_) if self.becomes_node(fold.node.scope) => {
                    with.push(constant_node(self.model.node(fold.node), fold.content));
                }
                Some(output) => {
                    let tensor = Box::new(fold.content.into_tensor(self.model.name(output)));
                    edits.push(Edit::AddInitializer { scope: fold.node.scope, tensor });
                }
                None => {}
            }
            edits.push(Edit::replace_node(fold.node, with));
        }
        edits
    }

    fn removals(&self) -> Vec<Edit> {
        let edit = |value: ValueId| match self.model.producer(value) {
            Some(node) => Edit::remove_node(node),
            None => Edit::RemoveInitializer(value),
        };
        self.removed_constants().into_iter().map(edit).collect()
    }
}

/// The `Constant` that replaces a cast, with the cast's name, documentation and metadata.
fn constant_node(cast: &NodeProto, content: Content) -> NodeProto {
    let mut node = cast.clone();
    node.op_type = Some("Constant".to_owned());
    node.input.clear();
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
