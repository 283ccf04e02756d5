//! Rewrites ONNX models exactly and losslessly.
pub mod dtype;
pub mod facts;
pub mod wire;
