//! Converts a model from one opset to another: to an equivalent model, or not at all.
//!
//! Every node is converted one version of its operator at a time. An adapter (`adapters`) describes
//! what changes between two versions; the adapted node is validated against the schema of the new
//! version. If a version has no equivalent, or it is unknown whether it has, the node is a blocker,
//! and the model stays unchanged.
//!
//! A model that uses no operator of ai.onnx keeps its nodes: only the import and the IR version are
//! updated.
//!
//! Scope: the main graph, subgraphs, functions (by their own `opset_import`) and training graphs.

mod adapter;
mod adapters;
mod bodies;
mod carried_value;
mod check;
mod consistency;
mod context;
mod convert_node;
mod copies;
mod derived_constants;
pub(crate) mod engine;
mod expand;
mod expanded;
mod expansion_body;
mod expansions;
mod functions;
mod ir;
mod kernels;
mod legalize;
mod lowest;
mod make;
pub(crate) mod not_converted;
mod operator_adapter;
mod options;
mod part;
mod plan;
mod planned;
pub(crate) mod reason;
mod report;
mod settings;
mod simplify;
mod target_opset;
mod valid;
mod value;

pub use crate::passes::NodeChange;
pub(crate) use adapters::differing_operators;
pub use carried_value::{CarriedRole, CarriedValue};
pub(crate) use copies::copy_for_calls;
pub(crate) use engine::{PlannedConversion, convert, expect_valid, plan, plan_valid, read};
pub use expanded::{Exactness, Expanded};
pub(crate) use lowest::{lowest, lowest_that_runs};
pub use not_converted::Blocker;
pub(crate) use not_converted::{NotConverted, Remedy};
pub use operator_adapter::{NodeAdapter, OperatorAdapter};
pub use options::{IrVersion, Options};
pub use report::{IrVersions, Opsets, Report};
pub use settings::{Expand, ExpandInto, Explicit, Legalize};
pub(crate) use valid::expect_defined;
