//! The base of all layers: errors and their places, cancellation and progress, threads, names of
//! choices, patterns, text that is safe to print.

pub mod ahead;
pub mod choice;
pub mod codes;
pub mod error;
pub mod hash;
pub mod memory_message;
pub mod options;
pub mod parallel;
pub mod patterns;
pub mod printable;
pub mod progress;
pub mod reason;
pub mod stored;

pub use onnx_cast::threshold;
