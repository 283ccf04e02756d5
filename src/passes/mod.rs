//! Rewrites that preserve a model's meaning. A pass plans edits and reports events;
//! [`Model::apply`](crate::Model::apply) applies the edits.
//!
//! A new pass of this crate is one file and one line in [`DEFAULT`], [`EXACT`] or [`LOSSY`]; its
//! `docs` are what `recast passes` prints. A pass of another crate is a [`Pass`] too:
//!
//! ```
//! use onnx_recast::graph::Edit;
//! use onnx_recast::passes::{self, Event, Pass, Plan, Removal};
//! use onnx_recast::{FoldOptions, Model};
//!
//! /// Removes nodes whose outputs have no use and are not outputs of a graph.
//! const REMOVE_DEAD_NODES: Pass = Pass {
//!     name: "remove-dead-nodes",
//!     docs: "Removes nodes whose outputs are not used.\n",
//!     requires: |_| Ok(()),
//!     plan: |model, _| {
//!         let mut plan = Plan::default();
//!         for &node in model.topological_order() {
//!             let is_dead = |(_, value)| model.uses(value).next().is_none() && model.scopes_that_output(value).is_empty();
//!             if model.outputs(node).all(is_dead) {
//!                 plan.events.push(Event::RemovedNode { node: model.node_path(node), reason: Removal::Unused });
//!                 plan.edits.push(Edit::remove_node(node));
//!             }
//!         }
//!         Ok(plan)
//!     },
//!     // Checked in debug builds.
//!     ensures: |_, _| Ok(()),
//! };
//!
//! # fn main() -> Result<(), onnx_recast::Error> {
//! let mut model = Model::from_text(
//!     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { [dead] z = Neg (x) y = Relu (x) }"#,
//! )?;
//! let passes = [&[REMOVE_DEAD_NODES], passes::DEFAULT].concat();
//! let report = model.run_passes(&passes, &FoldOptions::default())?;
//! assert_eq!(model.proto().graph.as_ref().unwrap().node.len(), 1);
//! let dead = Event::RemovedNode { node: "graph/dead".to_owned(), reason: Removal::Unused };
//! assert_eq!(report.entries[0].event, dead);
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
mod redundant_casts;
mod report;
pub(crate) mod run;
mod select;
mod sink_casts;

pub use crate::casts::folding::{NotFolded, NotFoldedCode, Options};
pub use crate::ops::compute::NotComputed;
pub use crate::tensor::BadTensor;
pub use event::{
    ComputedNode, Event, Folded, KeptNode, KeptReason, NodeChange, Removal, RemovalCode, Removed,
};
pub use pass::{Pass, Plan};
pub use report::{Entry, Report};
pub(crate) use report::{OfPass, RemovalOf};
pub use select::{Tier, UnknownPass, all, named, selected};

/// The passes that `recast fold` runs by default.
pub const DEFAULT: &[Pass] = &[fold_casts::FOLD_CASTS];

/// All passes after which every output is the same, bit for bit, in the order in which they run.
/// Casts without effect are removed before constants are folded, so that these keep their names.
pub const EXACT: &[Pass] = &[
    identity::IDENTITY,
    redundant_casts::REDUNDANT_CASTS,
    fold_constants::FOLD_CONSTANTS,
    hoist_casts::HOIST_CASTS,
    sink_casts::SINK_CASTS,
    merge_casts::MERGE_CASTS,
    direct_outputs::DIRECT_OUTPUTS,
    dead_nodes::DEAD_NODES,
    merge_initializers::MERGE_INITIALIZERS,
    dead_initializers::DEAD_INITIALIZERS,
];

/// Passes that change results. They run only if they are named.
pub const LOSSY: &[Pass] = &[lossy_casts::LOSSY_CASTS];
