//! Kernels: which nodes a version of a runtime runs, and which of these it computes otherwise than
//! ONNX defines. The tables are `facts/kernels/` and `facts/runs/`, read on first use.
//!
//! A runtime that loads an opset may still lack kernels for operators or types of it. [`Operation`]
//! is a node as runtimes see it: the version of its operator, and the types of its inputs and
//! outputs. [`Table::support`] is the only place that decides which versions of a runtime have a
//! kernel for it.
//!
//! Nothing is guessed: a type that cannot be inferred is no reason against a kernel, and neither is
//! an operator of a domain that the table does not cover. Such nodes are undecided.

mod closest;
mod missing;
mod node;
mod operation;
mod outcomes;
mod ranges;
mod table;
mod versions;
mod wrong;

pub use missing::{MissingKernel, MissingOperator, missing_kernel, unknown_kernels};
pub use node::{AttributeValue, Node};
pub use operation::Operation;
pub use table::{Decision, Table};
pub use versions::Versions;
pub use wrong::{WrongResult, wrong_result};
