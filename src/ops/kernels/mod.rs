//! Which nodes of a model a version of a runtime runs. The tables and their lookup are those of
//! [`onnx_operators::kernels`].

mod constants;
mod message;
mod model;

pub use constants::{numbers, numbers_of};
pub use message::GUARDED;
pub use model::{Differing, Lacking, is_run, operations, operations_of, support};
pub use onnx_operators::kernels::*;
