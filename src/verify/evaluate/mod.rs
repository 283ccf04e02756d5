//! The results of bit-exact operators for constants, one element at a time, from the text of ONNX.
//!
//! The passes compute the same in `ops::compute`, with other code. A value here is a type, a shape,
//! and a function from places to elements, so that a large constant that is moved and cast needs no
//! copy. `tests/suite/verify/evaluate.rs` compares both for all operators.

mod arithmetic;
mod axes;
mod comparison;
mod grid;
mod making;
mod node;
mod operators;
mod selection;
mod value;

pub use comparison::first_difference;
pub use node::{FirstInput, Node};
pub use operators::{Needs, needs, results};
pub use value::Value;
