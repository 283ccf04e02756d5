//! Which nodes of a model a version of a runtime runs. The tables and their lookup are those of
//! [`onnx_operators::kernels`].

mod combination;
mod constants;
mod message;
mod model;

pub use combination::combination;
pub use constants::{numbers, numbers_of};
pub use message::{GUARDED, is_guarded};
pub use model::{Differing, Lacking, Support, is_run, operations, operations_of, support};
pub use onnx_operators::kernels::*;
