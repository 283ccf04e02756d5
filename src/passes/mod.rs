//! Rewrites that preserve a model's meaning. A pass plans edits and reports events; [`Model::apply`] applies the edits.
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
//!                 plan.edits.push(Edit::ReplaceNode { node, with: Vec::new() });
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

mod fold_casts;
pub(crate) mod run;

use std::fmt;

use crate::dtype::DType;
use crate::error::Invalid;
use crate::folding;
use crate::graph::{Edit, Model};

pub use crate::folding::Options;

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[fold_casts::FOLD_CASTS];

/// A rewrite of a model.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// The name that selects it.
    pub name: &'static str,
    /// Its effect, in one line.
    pub summary: &'static str,
    /// Precondition of the pass, in addition to the invariants of [`Model::new`]; checked in debug builds.
    pub requires: fn(&Model) -> Result<(), String>,
    /// Plans the changes and the events.
    pub plan: fn(&Model, &Options) -> Result<Plan, Invalid>,
    /// Postcondition of a pass that reported these events; checked in debug builds.
    pub ensures: fn(&Model, &[Event]) -> Result<(), String>,
}

/// The changes and the events of a pass.
#[derive(Debug, Default)]
pub struct Plan {
    /// The changes, applied as one batch.
    pub edits: Vec<Edit>,
    /// The events, reported after the changes are applied.
    pub events: Vec<Event>,
}

/// The events of all passes that ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// In the order in which the passes ran and reported.
    pub entries: Vec<Entry>,
}

/// One event of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The pass.
    pub pass: &'static str,
    /// The event.
    pub event: Event,
}

/// A change that a pass made, or a node that it kept for a reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A node was replaced by a constant. A model may have more of the other events, which are smaller.
    Folded(Box<Folded>),
    /// A node was kept.
    Kept(Kept),
    /// A node was removed.
    RemovedNode {
        /// Its path.
        node: String,
    },
    /// A constant was removed because it is no longer used.
    RemovedConstant(Removed),
}

/// A node that was replaced by a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// The node's path.
    pub node: String,
    /// The path of its scope.
    pub scope: String,
    /// The name of the value that was cast.
    pub input: String,
    /// The name of the value that it produced; equal results may share another value.
    pub output: String,
    /// The type of the input.
    pub from: DType,
    /// The type of the constant.
    pub to: DType,
    /// How many elements the constant has.
    pub elements: u64,
}

/// A node that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The node's path.
    pub node: String,
    /// The reason.
    pub reason: Reason,
}

/// Why a pass kept a node. Its [`Display`](fmt::Display) is a clause without a full stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Why a cast is not folded.
    Cast(folding::Reason),
    /// A reason from a pass of another crate.
    Other {
        /// A stable name, in kebab case.
        code: &'static str,
        /// The reason in words.
        text: String,
    },
}

/// A constant that was removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Removed {
    /// The path of its scope.
    pub scope: String,
    /// Its name.
    pub name: String,
}

impl Reason {
    /// A stable name, in kebab case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Reason::Cast(reason) => reason.code(),
            Reason::Other { code, .. } => code,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Cast(reason) => reason.fmt(f),
            Reason::Other { text, .. } => text.fmt(f),
        }
    }
}

impl Removed {
    /// The constant's path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.scope, self.name)
    }
}

impl Report {
    /// The events of all passes.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().map(|entry| &entry.event)
    }

    /// The nodes that were replaced by constants.
    #[must_use]
    pub fn folded(&self) -> Vec<&Folded> {
        self.events().filter_map(|event| if let Event::Folded(folded) = event { Some(&**folded) } else { None }).collect()
    }

    /// The nodes that were kept.
    #[must_use]
    pub fn kept(&self) -> Vec<&Kept> {
        self.events().filter_map(|event| if let Event::Kept(kept) = event { Some(kept) } else { None }).collect()
    }

    /// The constants that were removed.
    #[must_use]
    pub fn removed_constants(&self) -> Vec<&Removed> {
        self.events().filter_map(|event| if let Event::RemovedConstant(removed) = event { Some(removed) } else { None }).collect()
    }
}
