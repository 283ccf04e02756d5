//! The pass `fold-casts`.

use super::event::Event;
use super::fold;
use super::pass::{Pass, Plan};
use crate::base::error::Invalid;
use crate::casts::folding::{Extent, Options};
use crate::graph::Model;

const DOCS: &str = r#"Replaces a `Cast` or `CastLike` of a constant by its result.

A cast that is kept has one of the reasons that `recast explain` lists. Bit-exact nodes that lead from constants to casts that fold are
removed with these, unless something else uses their results.
"#;

#[derive(Debug)]
pub(super) struct FoldCasts;

impl Pass for FoldCasts {
    fn name(&self) -> &'static str {
        "fold-casts"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, options: &Options) -> Result<Plan, Invalid> {
        fold::plan(model, options, Extent::Casts)
    }

    fn ensures(&self, model: &Model, events: &[Event]) -> Result<(), String> {
        fold::ensures(model, events)
    }
}
