//! The pass `fold-constants`.

use super::event::Event;
use super::fold;
use super::pass::{Pass, Plan};
use crate::base::error::Invalid;
use crate::casts::folding::{Extent, Options};
use crate::graph::Model;

const DOCS: &str = r#"Replaces every bit-exact node whose inputs are constants by its result: nodes that move elements, arithmetic of
integers, comparisons and logic, shapes that are known, and casts.

before: `s = Shape(w)  t = Concat<axis = 0>(s, one)  y = Reshape(x, t)`     w: `FLOAT[2, 3]`
after:  `                                            y = Reshape(x, t)`     t: `INT64[3]`

1. A node is kept if the model would grow by more than 1 KiB: if its input is a large constant that is used elsewhere, or its result
   is much larger than its inputs.
2. Arithmetic of floats is left to runtimes.
3. So are results that ONNX leaves undefined, such as integers that overflow.
"#;

#[derive(Debug)]
pub(super) struct FoldConstants;

impl Pass for FoldConstants {
    fn name(&self) -> &'static str {
        "fold-constants"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, options: &Options) -> Result<Plan, Invalid> {
        fold::plan(model, options, Extent::All)
    }

    fn ensures(&self, model: &Model, events: &[Event]) -> Result<(), String> {
        fold::ensures(model, events)
    }
}
