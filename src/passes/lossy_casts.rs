//! The pass `lossy-casts`.

use super::bypass::Bypasses;
use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::casts::folding::Options;
use crate::casts::{CastPair, Casts};
use crate::graph::Model;
use onnx_cast::{Class, DType};

const DOCS: &str = r#"Removes a cast of a float to a narrower type and directly back: the results keep the digits that the casts would round.

before: `a = Cast<to = FLOAT16>(x)  b = Cast<to = FLOAT>(a)  y = Relu(b)`     x: `FLOAT[n]`
after:  `a = Cast<to = FLOAT16>(x)                           y = Relu(x)`

1. The results of the model change: run it by name only.
2. Casts to float8 and narrower types, which quantize, are kept.
"#;

#[derive(Debug)]
pub(super) struct LossyCasts;

impl Pass for LossyCasts {
    fn name(&self) -> &'static str {
        "lossy-casts"
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
    let is_round_trip =
        |chain: &CastPair| is_round_trip(chain.from, chain.first.to, chain.second.to);
    for CastPair { first, second, .. } in casts.cast_pairs().filter(is_round_trip) {
        if !first.is_generic() && !second.is_generic() {
            bypasses.bypass(second.node, second.output, first.input, removal::round_trip);
        }
    }
    bypasses.plan()
}

/// Whether two casts are from a float to one of 16 bits and back.
fn is_round_trip(from: DType, middle: DType, to: DType) -> bool {
    let are_floats = [from, middle, to]
        .iter()
        .all(|dtype| dtype.class() == Class::Float);
    are_floats && from == to && middle.bits() == 16 && middle.bits() < from.bits()
}
