//! Passes, a lint rule and an adapter for onnx-recast, defined in another crate.
//!
//! They are for a runtime that has no `Identity`, does not accept nodes without a name, and has an
//! exact `Gelu` in its own domain.

mod adapters;
mod passes;
mod rules;

pub use adapters::gelu_of_runtime;
pub use passes::{RemoveIdentities, RequireKnownDomains, UnknownDomain};
pub use rules::UNNAMED_NODE;
