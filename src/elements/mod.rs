//! Elements of tensors: their types, formats and packing, and the kernels that cast them.

pub mod cast;
pub mod dtype;
pub mod float_format;
pub mod packed;
