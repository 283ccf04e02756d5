//! Infers the types of a model's values without running it, and shapes if the rule is simple.
//!
//! The sources are the model's declarations, its initializers, and the operator schemas. Nothing is
//! guessed: if the sources have no answer or contradict each other, the result is "unknown".
//!
//! A function is inferred once per list of argument types of its calls. Only facts that hold in all
//! calls are known.

mod bodies;
mod element;
mod inferred;
mod ints;
mod known;
mod length;
mod microsoft;
mod ml;
mod nearby;
mod shape;
mod view;
mod walk;

pub use inferred::{
    Contradiction, Deferred, DimensionNames, Inferred, infer, infer_with, infer_with_names,
};
pub use ints::tensor_ints;
pub use known::{Ints, Known, MOST_DIMENSIONS, NOTHING, Shape};
pub(crate) use nearby::nearby_element_type;
pub(crate) use shape::broadcasts;
pub(super) use shape::from_front;
pub(super) use view::Call;
