//! ONNX's definitions of operators: schemas of all versions, inference of types and shapes,
//! validity of nodes, values of constants, and what runtimes load and run.

pub mod compute;
pub mod inference;
pub mod kernels;
pub mod needs;
pub mod operator_facts;
pub mod readings;
pub mod rounding;
pub mod runtimes;
pub mod schemas;
pub mod validity;
