//! Rewrites ONNX models exactly and losslessly.
pub mod cast;
pub mod dtype;
pub mod minifloat;
pub mod packed;
pub mod wire;
