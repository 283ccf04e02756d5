//! The pass `fold-casts`.

use super::fold;
use super::pass::Pass;
use crate::casts::folding::Extent;

const DOCS: &str = r#"Replaces a `Cast` or `CastLike` of a constant by its result.

A cast that is kept has one of the reasons that `recast explain` lists. Bit-exact nodes that lead from constants to casts that fold are
removed with these, unless something else uses their results.
"#;

pub(super) const FOLD_CASTS: Pass = Pass {
    ensures: fold::ensures,
    ..Pass::new("fold-casts", DOCS, |model, options| {
        fold::plan(model, options, Extent::Casts)
    })
};
