//! The pass `merge-casts`.

use super::bypass::Bypasses;
use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashMap;
use crate::casts::Casts;
use crate::casts::folding::Options;
use crate::graph::Model;

const DOCS: &str = r#"Removes a cast that another cast of the same scope makes equally; its consumers use the result of the first one.

before: `a = Cast<to = FLOAT16>(x)  b = Cast<to = FLOAT16>(x)  y = Mul(a, b)`
after:  `a = Cast<to = FLOAT16>(x)                             y = Mul(a, a)`

1. Casts are equal if they have the same input and type, and the same `saturate` and `round_mode` where these have an effect.
2. A cast whose result is an output of a graph is kept.
"#;

#[derive(Debug)]
pub(super) struct MergeCasts;

impl Pass for MergeCasts {
    fn name(&self) -> &'static str {
        "merge-casts"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

fn plan(model: &Model) -> Plan {
    let casts = Casts::of(model);
    let mut bypasses = Bypasses::new(model);
    let mut first = HashMap::default();
    for cast in casts
        .in_topological_order()
        .into_iter()
        .filter(|cast| !cast.is_generic())
    {
        let (scope, input, to, saturate, round_mode) = cast.effect();
        let effect = (scope, bypasses.current(input), to, saturate, round_mode);
        if let Some(&same) = first.get(&effect) {
            bypasses.bypass(cast.node, cast.output, same, removal::merged);
        } else if let Some(output) = cast.output {
            first.insert(effect, output);
        }
    }
    bypasses.plan()
}
