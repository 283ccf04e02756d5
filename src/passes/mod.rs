//! Rewrites that preserve a model's meaning. A pass plans edits and reports events;
//! [`Model::apply`](crate::Model::apply) applies the edits.
//!
//! A pass reads the numbers of a constant with [`Model::read`](crate::Model::read), and makes a
//! constant with [`Array::into_tensor`](crate::Array::into_tensor).
//!
//! A new pass of this crate is one file and one line in [`DEFAULT`], [`EXACT`] or [`LOSSY`]; its
//! `docs` are what `recast passes` prints. A pass of another crate is a [`Pass`] too:
//!
//! ```
//! use onnx_recast::passes::{self, Event, Pass, Plan};
//! use onnx_recast::{FoldOptions, Invalid, Model, Reason};
//!
//! /// Removes nodes of one operator whose outputs have no use and are not outputs of a graph.
//! #[derive(Debug)]
//! struct RemoveDead {
//!     operator: &'static str,
//! }
//!
//! impl Pass for RemoveDead {
//!     fn name(&self) -> &'static str {
//!         "remove-dead"
//!     }
//!
//!     fn docs(&self) -> &'static str {
//!         "Removes nodes of an operator whose outputs are not used.\n"
//!     }
//!
//!     fn plan(&self, model: &Model, _: &FoldOptions) -> Result<Plan, Invalid> {
//!         let mut plan = Plan::default();
//!         for &node in model.topological_order() {
//!             let is_dead = |(_, value)| model.uses(value).next().is_none() && model.scopes_that_output(value).is_empty();
//!             if model.is_op(node, self.operator) && model.outputs(node).all(is_dead) {
//!                 plan.remove_node(model, node, Reason::new("unused", "nothing uses it"));
//!             }
//!         }
//!         Ok(plan)
//!     }
//! }
//!
//! # fn main() -> Result<(), onnx_recast::Error> {
//! let mut model = Model::from_text(
//!     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { [dead] z = Neg (x) y = Relu (x) }"#,
//! )?;
//! let mut passes: Vec<&dyn Pass> = passes::DEFAULT.to_vec();
//! passes.push(&RemoveDead { operator: "Neg" });
//! let report = model.run_passes(&passes, &FoldOptions::default())?;
//! assert_eq!(model.proto().graph.as_ref().unwrap().node.len(), 1);
//! let dead = Event::RemovedNode { node: "graph/dead".to_owned(), reason: Reason::new("unused", "nothing uses it") };
//! assert_eq!(report.passes[0].events, [dead]);
//! # Ok(())
//! # }
//! ```

mod bypass;
mod dead_initializers;
mod dead_nodes;
mod direct_outputs;
mod event;
mod fold;
mod fold_casts;
mod fold_constants;
mod hoist_casts;
mod identity;
mod lossy_casts;
mod merge_casts;
mod merge_initializers;
mod pass;
pub(crate) mod redundant_casts;
pub(crate) mod removal;
mod report;
pub(crate) mod run;
pub(crate) mod select;
mod sink_casts;

pub use crate::casts::folding::Options;
pub use event::{ComputedNode, Event, Folded, KeptNode, NodeChange, Removed};
pub use pass::{Pass, Plan};
pub(crate) use report::{OfPass, RemovalOf};
pub use report::{PassEvents, Report};
#[cfg(feature = "cli")]
pub(crate) use select::{Tier, all};
pub use select::{UnknownPass, selected};

/// The passes that `recast fold` runs by default.
pub const DEFAULT: &[&dyn Pass] = &[&fold_casts::FoldCasts];

/// All passes after which every output is the same, bit for bit, in the order in which they run.
/// Casts without effect are removed before constants are folded, so that these keep their names.
pub const EXACT: &[&dyn Pass] = &[
    &identity::Identity,
    &redundant_casts::RedundantCasts,
    &fold_constants::FoldConstants,
    &hoist_casts::HoistCasts,
    &sink_casts::SinkCasts,
    &merge_casts::MergeCasts,
    &direct_outputs::DirectOutputs,
    &dead_nodes::DeadNodes,
    &merge_initializers::MergeInitializers,
    &dead_initializers::DeadInitializers,
];

/// Passes that change results. They run only if they are named.
pub const LOSSY: &[&dyn Pass] = &[&lossy_casts::LossyCasts];
