//! The pass `dead-initializers`.

use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::casts::folding::Options;
use crate::graph::{Model, Origin};

const DOCS: &str = r#"Removes initializers that no node uses.

1. An initializer is kept if it is an output, has a quantization annotation or a training binding, or can be overridden by a caller.
"#;

#[derive(Debug)]
pub(super) struct DeadInitializers;

impl Pass for DeadInitializers {
    fn name(&self) -> &'static str {
        "dead-initializers"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

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
            plan.remove_initializer(model, value, removal::unused());
        }
    }
    plan
}
