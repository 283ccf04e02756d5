//! What can be known of a model's values without running it: their types, and their shapes as far as that is easy.
//!
//! Sources: what the model declares, initializers, and the operator facts. Nothing is guessed: where the sources are silent, or
//! contradict one another, the answer is "unknown".
//!
//! A function is looked at once for each list of argument types that a call gives it; what holds in all of them is known.

mod element;
mod known;
mod scan;
mod shape;

pub use known::{Dim, Known, Shape};
pub use scan::{Inferred, infer};
pub use shape::tensor_ints;
