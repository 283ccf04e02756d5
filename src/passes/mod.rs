//! Rewrites that preserve a model's meaning. A pass plans edits and reports events; [`Model::apply`](crate::Model::apply)
//! applies the edits.
//!
//! A new pass of this crate is one file and one line in [`PASSES`]. A pass of another crate is a [`Pass`] too:
//!
//! ```
//! use onnx_recast::graph::Edit;
//! use onnx_recast::passes::{Event, PASSES, Pass, Plan};
//! use onnx_recast::{FoldOptions, Model};
//!
//! /// Removes nodes whose outputs have no use and are not outputs of a graph.
//! const REMOVE_DEAD_NODES: Pass = Pass {
//!     name: "remove-dead-nodes",
//!     summary: "removes nodes whose outputs are not used",
//!     requires: |_| Ok(()),
//!     plan: |model, _| {
//!         let mut plan = Plan::default();
//!         for &node in model.topological_order() {
//!             let is_dead = |(_, value)| model.uses(value).next().is_none() && model.output_of(value).is_empty();
//!             if model.outputs(node).all(is_dead) {
//!                 plan.events.push(Event::RemovedNode { node: model.node_path(node) });
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
//! let passes = [&[REMOVE_DEAD_NODES], PASSES].concat();
//! let report = model.run_passes(&passes, &FoldOptions::default())?;
//! assert_eq!(model.proto().graph.as_ref().unwrap().node.len(), 1);
//! assert_eq!(report.entries[0].event, Event::RemovedNode { node: "graph/dead".to_owned() });
//! # Ok(())
//! # }
//! ```

mod event;
mod fold_casts;
mod pass;
pub(crate) mod run;

pub use crate::folding::Options;
pub use event::{Entry, Event, Folded, Kept, Reason, Removed, Report};
pub use pass::{Pass, Plan, UnknownPass};

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[fold_casts::FOLD_CASTS];

/// The pass of this crate with a name.
///
/// # Errors
/// If there is none; the error lists the names.
pub fn named(name: &str) -> Result<Pass, UnknownPass> {
    let known = PASSES.iter().find(|pass| pass.name == name).copied();
    known.ok_or_else(|| UnknownPass {
        name: name.to_owned(),
        available: PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", "),
    })
}
