//! What values were cast from, through any number of casts.

use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, ValueId};

/// The casts of a model that are followed, as trees: the children of a value are the results of
/// casts of it.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// By value in a tree: the numbers of the first step and of the last step of a walk through the
    /// tree below it.
    spans: HashMap<ValueId, (usize, usize)>,
}

impl Sources {
    /// The trees of the casts that fulfil a condition.
    pub fn of(model: &Model, is_followed: impl Fn(NodeId) -> bool) -> Sources {
        let mut results: HashMap<ValueId, Vec<ValueId>> = HashMap::default();
        let mut roots = Vec::new();
        for &node in model
            .topological_order()
            .iter()
            .filter(|&&node| model.is_op(node, "Cast") && is_followed(node))
        {
            let Ok(cast) = model.cast_node(node) else {
                continue;
            };
            let Some(output) = cast.output else { continue };
            results.entry(cast.input).or_default().push(output);
            roots.push(cast.input);
        }
        let mut sources = Sources::default();
        let mut step = 0;
        // An input that another cast makes comes after the root of its tree.
        for root in roots {
            let mut stack = vec![(root, false)];
            while let Some((value, is_done)) = stack.pop() {
                step += 1;
                match sources.spans.get_mut(&value) {
                    Some((_, last)) if is_done => *last = step,
                    Some(_) => {}
                    None => {
                        sources.spans.insert(value, (step, step));
                        stack.push((value, true));
                        stack.extend(
                            results
                                .get(&value)
                                .into_iter()
                                .flatten()
                                .map(|&result| (result, false)),
                        );
                    }
                }
            }
        }
        sources
    }

    /// Whether `of` is `source`, or was cast from it.
    pub fn is_source(&self, source: ValueId, of: ValueId) -> bool {
        if source == of {
            return true;
        }
        let (Some((first, last)), Some((inner, _))) =
            (self.spans.get(&source), self.spans.get(&of))
        else {
            return false;
        };
        first < inner && inner < last
    }
}
