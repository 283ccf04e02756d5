//! Which version of ONNX's IR brought what. Element types say it in their own rows, opsets in `facts`.
//!
//! Source: the comments on `Version` in `onnx.proto`.

/// `opset_import`. A model of an older IR is written in opset 1.
pub const OPSET_IMPORT: i64 = 3;

/// Initializers that are no inputs. Before, every initializer was listed as an input, and yet constant; since, one that is listed
/// may be overridden.
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

/// Defaults of a function's attributes.
pub const FUNCTION_DEFAULTS: i64 = 9;

/// `metadata_props` of more than models, overloads, `value_info` of functions.
pub const METADATA: i64 = 10;

/// Device configurations.
pub const DEVICE_CONFIGURATIONS: i64 = 11;

/// The newest whose element types and messages are known.
pub const LATEST: i64 = 14;
