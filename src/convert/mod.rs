//! Converts a model from one opset to another: to an equivalent model, or not at all.
//!
//! Every node is converted one version of its operator at a time. If a version has no equivalent, or
//! it is unknown whether it has, the node is a blocker, and the model stays unchanged.
//!
//! 1. `plan`: which nodes become which, in all scopes, and what prevents it; an opset in which a
//!    runtime has the kernels.
//! 2. `context`: the node that is converted, as an adapter sees it. The new node is checked against
//!    the schema of its version.
//! 3. `adapters`: what changes between two versions of an operator.
//! 4. `expansions`: operators in terms of older ones, where no adapter has an equivalent.
//! 5. `legalize`: wider types for values whose types the target lacks.
//!
//! A model that uses no operator of ai.onnx keeps its nodes: only the import and the IR version are
//! updated.
//!
//! Scope: the main graph, subgraphs, functions (by their own `opset_import`) and training graphs.

mod adapters;
mod bodies;
mod carried_value;
mod context;
pub(crate) mod engine;
mod expanded;
mod expansions;
mod legalize;
mod make;
pub(crate) mod not_converted;
mod options;
mod plan;
mod planned;
pub(crate) mod reason;
mod report;
mod settings;
mod simplify;
mod value;

pub use crate::passes::NodeChange;
pub(crate) use adapters::differing_operators;
pub use adapters::{NodeAdapter, OperatorAdapter};
pub use carried_value::{CarriedRole, CarriedValue};
pub(crate) use engine::{PlannedConversion, convert, expect_valid, plan, plan_valid, read};
pub use expanded::{Exactness, Expanded};
pub use not_converted::Blocker;
pub(crate) use not_converted::{NotConverted, Remedy};
pub use options::{IrVersion, Options};
pub(crate) use plan::copies::copy_for_calls;
pub(crate) use plan::lowest::{lowest, lowest_that_runs};
pub(crate) use plan::valid::expect_defined;
pub use report::{IrVersions, Opsets, Report};
pub use settings::{Expand, Explicit};
