//! The summary of a model, and the counts that commands change.

mod counts;
mod runtimes;
mod summary;

pub(crate) use counts::counts;
pub use counts::{CastCount, Counts};
pub use runtimes::{DifferingNode, LackingVersions, RuntimeVersions};
pub use summary::{
    CastFacts, ContradictionFacts, FunctionFacts, Initializers, Inspection, InterfaceFacts,
    TypeAndShape, TypeFacts, ValueFacts, types,
};
pub(crate) use summary::{all_tensors, inspect};
