//! What can be known of a model's values without running it: their types, and their shapes as far as that is easy.
//!
//! Sources: what the model declares, initializers, and the operator facts. Nothing is guessed: where the sources are silent, or
//! contradict one another, the answer is "unknown".
//!
//! A function is looked at once for each list of argument types that a call gives it; what holds in all of them is known.

mod element;
mod known;
mod shape;
mod view;
mod walk;

pub use known::{Dim, Known, MOST_DIMENSIONS, NOTHING, Shape};
pub use shape::tensor_ints;
pub use walk::{Inferred, infer};
