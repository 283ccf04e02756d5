//! The pass `dead-initializers`.

use super::event::{Event, Removal, Removed};
use super::pass::{Pass, Plan};
use crate::graph::{Edit, Origin};

const DOCS: &str = r#"Removes initializers that no node uses.

1. An initializer is kept if it is an output, has a quantization annotation or a training binding, or can be overridden by a caller.
"#;

pub(super) const DEAD_INITIALIZERS: Pass = Pass {
    name: "dead-initializers",
    docs: DOCS,
    requires: |_| Ok(()),
    plan: |model, _| {
        let mut plan = Plan::default();
        for value in model.values().filter(|&value| matches!(model.origin(value), Origin::Initializer { .. })) {
            if model.uses(value).next().is_none() && model.is_removable(value) && model.constant(value).is_ok() {
                let (scope, name) = (model.scope_path(model.scope_of(value)), model.name(value).to_owned());
                plan.events.push(Event::RemovedConstant(Removed { scope, name, reason: Removal::Unused }));
                plan.edits.push(Edit::RemoveInitializer(value));
            }
        }
        Ok(plan)
    },
    ensures: |_, _| Ok(()),
};
