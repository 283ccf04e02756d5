//! The pass `dead-initializers`.

use super::event::Removal;
use super::pass::{Pass, Plan};
use crate::graph::{Model, Origin};

const DOCS: &str = r#"Removes initializers that no node uses.

1. An initializer is kept if it is an output, has a quantization annotation or a training binding, or can be overridden by a caller.
"#;

pub(super) const DEAD_INITIALIZERS: Pass =
    Pass::new("dead-initializers", DOCS, |model, _| Ok(plan(model)));

fn plan(model: &Model) -> Plan {
    let mut plan = Plan::default();
    for value in model
        .values()
        .filter(|&value| matches!(model.origin(value), Origin::Initializer { .. }))
    {
        if model.uses(value).next().is_none()
            && model.is_removable(value)
            && model.constant(value).is_ok()
        {
            plan.remove_initializer(model, value, Removal::Unused);
        }
    }
    plan
}
