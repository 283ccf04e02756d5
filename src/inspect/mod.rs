//! The summary of a model, and the counts that commands change.

mod counts;
mod runtimes;
mod summary;

#[cfg(feature = "cli")]
pub(crate) use counts::{CastCount, Counts, counts};
pub use runtimes::RuntimeVersions;
#[cfg(feature = "cli")]
pub(crate) use runtimes::{DifferingNode, LackingVersions};
pub use summary::{
    CastFacts, ContradictionFacts, FunctionFacts, Initializers, Inspection, InterfaceFacts,
    TypeAndShape, TypeFacts, ValueFacts,
};
pub(crate) use summary::{all_tensors, inspect, types};
