//! The values of a tensor, in any storage that a `TensorProto` allows, and tensors computed from
//! them.

mod array;
mod bad_tensor;
mod cast_budget;
mod content;
mod element_map;
mod elements;
mod external;
mod number;
mod recipe;
mod strings;
mod typed;
mod view;

pub use array::{Array, CannotCast, CastOptions};
pub use bad_tensor::BadTensor;
pub use cast_budget::{CASTS_OF_EACH, CastBudget};
pub use content::{Content, Data, Failure};
pub(crate) use element_map::ElementMap;
pub use elements::element_count;
pub use external::{Reference, is_external, moved_to_file, moved_to_model, without_values};
pub use number::Number;
pub use recipe::Packing;
pub use typed::{RAW_DATA, raw_data};
pub use view::{Tensor, Values};
