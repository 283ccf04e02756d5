//! Rewrites ONNX models exactly and losslessly.
pub mod cast;
pub mod cli;
pub mod convert;
pub mod dtype;
pub mod error;
pub mod facts;
pub mod graph;
pub mod inspect;
pub mod minifloat;
pub mod packed;
pub mod passes;
pub mod report;
pub mod tensor;
pub mod wire;
