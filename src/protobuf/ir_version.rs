//! The IR version that introduced each feature. Element types are listed in `elements::dtype`,
//! opsets in `ops::schemas`.
//!
//! Source: the comments on `Version` in `onnx.proto`.

/// `opset_import`. Models of older IR versions use opset 1.
pub const OPSET_IMPORT: i64 = 3;

/// Initializers that are not graph inputs. Before, every initializer was also listed as an input,
/// but constant; since then, a listed initializer can be overridden by a caller.
pub const OWN_INITIALIZERS: i64 = 4;

/// Quantization annotations.
pub const QUANTIZATION_ANNOTATIONS: i64 = 5;

/// Sparse tensors.
pub const SPARSE_TENSORS: i64 = 6;

/// `training_info`.
pub const TRAINING_INFO: i64 = 7;

/// Model-local functions.
pub const FUNCTIONS: i64 = 8;

/// Optional and sparse types, and types in attributes.
pub const OPTIONAL_TYPES: i64 = 8;

/// Default values of function attributes.
pub const FUNCTION_DEFAULTS: i64 = 9;

/// `metadata_props` of entities other than models, overloads, `value_info` of functions.
pub const METADATA: i64 = 10;

/// Device configurations.
pub const DEVICE_CONFIGURATIONS: i64 = 11;

/// The newest supported version.
pub const LATEST: i64 = 14;
