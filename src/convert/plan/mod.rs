//! What a conversion does to a model: what each node becomes, innermost scopes first, and what
//! prevents it.

mod convert_node;
pub(super) mod copies;
mod functions;
pub(super) mod ir;
pub(super) mod kernels;
pub(super) mod lowest;
mod model;
mod part;
pub(super) mod target_opset;
pub(super) mod valid;

pub(super) use model::ConversionPlan;
