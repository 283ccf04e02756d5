//! What models do with ONNX's operators: inference of types and shapes, validity of nodes, values
//! of constants, and what runtimes load and run. The facts are those of [`onnx_operators`].

pub mod compute;
pub mod inference;
pub mod kernels;
pub mod low_bits;
pub mod needs;
pub mod readings;
pub mod rounding;
pub mod validity;

pub use onnx_operators::{operator_facts, runtimes, schemas};
