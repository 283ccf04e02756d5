//! The pass `merge-initializers`.

use std::hash::{BuildHasher, Hash, Hasher};

use super::bypass::is_far_longer;
use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashMap;
use crate::casts::folding::Options;
use crate::graph::{Edit, Model, Origin, ScopeId, ValueId};
use crate::tensor::{Content, Data, Tensor};
use onnx_cast::DType;

const DOCS: &str = r#"Removes an initializer that is equal to another one of its graph, bit for bit; its consumers use the first one.

1. Initializers are equal if they have the same type, shape and bytes, wherever these are stored.
2. An initializer is kept if it is an output, has a quantization annotation or a training binding, or can be overridden by a caller.
"#;

#[derive(Debug)]
pub(super) struct MergeInitializers;

impl Pass for MergeInitializers {
    fn name(&self) -> &'static str {
        "merge-initializers"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

fn plan(model: &Model) -> Plan {
    let mut by_shape: HashMap<(ScopeId, DType, Vec<i64>), Vec<ValueId>> = HashMap::default();
    for value in model
        .values()
        .filter(|&value| matches!(model.origin(value), Origin::Initializer { .. }))
    {
        let Ok(constant) = model.constant(value) else {
            continue;
        };
        let Ok(tensor) = Tensor::read(&constant.tensor) else {
            continue;
        };
        by_shape
            .entry((
                model.scope_of(value),
                tensor.dtype(),
                tensor.dims().to_vec(),
            ))
            .or_default()
            .push(value);
    }
    #[expect(clippy::disallowed_methods, reason = "they are sorted")]
    let mut groups: Vec<Vec<ValueId>> = by_shape
        .into_values()
        .filter(|group| group.len() > 1)
        .collect();
    groups.sort_unstable();
    let mut plan = Plan::default();
    for group in groups {
        merge(model, &group, &mut plan);
    }
    plan
}

/// Merges the equal ones of initializers of one graph, type and shape.
fn merge(model: &Model, group: &[ValueId], plan: &mut Plan) {
    let hasher = foldhash::fast::RandomState::default();
    let mut kept: HashMap<u64, Vec<(ValueId, Content)>> = HashMap::default();
    for &value in group {
        if model.control().check().is_err() {
            return;
        }
        let Some(content) = content(model, value) else {
            continue;
        };
        let mut hash = hasher.build_hasher();
        hash_values(&content, &mut hash);
        let same = kept.entry(hash.finish()).or_default();
        let first = same.iter().find(|(first, other)| {
            !is_far_longer(model, *first, value) && has_same_values(other, &content)
        });
        let first = first.map(|&(first, _)| first);
        match first
            .filter(|&first| model.is_removable(value) && model.is_visible_to_users(first, value))
        {
            Some(first) => {
                plan.edits.push(Edit::Rewire {
                    from: value,
                    to: first,
                });
                plan.remove_initializer(model, value, removal::merged(model.name(first)));
            }
            None => same.push((value, content)),
        }
    }
}

fn content(model: &Model, value: ValueId) -> Option<Content> {
    let constant = model.constant(value).ok()?;
    model.content(&constant.tensor).ok()
}

fn hash_values(content: &Content, state: &mut impl Hasher) {
    match content.data() {
        Data::Numbers(numbers, _) => numbers.hash(state),
        Data::Strings(strings) => strings.hash(state),
    }
}

fn has_same_values(left: &Content, right: &Content) -> bool {
    match (left.data(), right.data()) {
        (Data::Numbers(left, _), Data::Numbers(right, _)) => left == right,
        (Data::Strings(left), Data::Strings(right)) => left == right,
        _ => false,
    }
}
