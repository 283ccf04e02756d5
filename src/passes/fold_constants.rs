//! The pass `fold-constants`.

use super::fold;
use super::pass::Pass;
use crate::casts::folding::Extent;

const DOCS: &str = r#"Replaces every bit-exact node whose inputs are constants by its result: nodes that move elements, arithmetic of
integers, comparisons and logic, shapes that are known, and casts.

before: `s = Shape(w)  t = Concat<axis = 0>(s, one)  y = Reshape(x, t)`     w: `FLOAT[2, 3]`
after:  `                                            y = Reshape(x, t)`     t: `INT64[3]`

1. A node is kept if the model would grow by more than 1 KiB: if its input is a large constant that is used elsewhere, or its result
   is much larger than its inputs.
2. Arithmetic of floats is left to runtimes.
3. So are results that ONNX leaves undefined, such as integers that overflow.
"#;

pub(super) const FOLD_CONSTANTS: Pass = Pass {
    ensures: fold::ensures,
    ..Pass::new("fold-constants", DOCS, |model, options| {
        fold::plan(model, options, Extent::All)
    })
};
