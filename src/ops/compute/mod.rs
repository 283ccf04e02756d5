//! The results of bit-exact operators: what moves elements, and arithmetic of integers and truth
//! values.
//!
//! Arithmetic of floats is left to runtimes, which differ in the last digits. Where ONNX leaves a
//! result undefined, nothing is computed.
//!
//! A new operator is one line in the table of its file.

mod call;
mod elementwise;
mod layout;
mod make;
mod numbers;
mod operator;
mod result;
mod select;
mod table;

pub use call::{Call, TypeAndShape};
pub(crate) use numbers::floats;
pub use operator::{Needs, Operator};
pub use result::NotComputed;
pub use table::operator;
