//! Lossless protobuf messages, and what a file of them consists of before it is written.
//!
//! [`raw`] contains the structs that prost-build generates from `proto/onnx.proto`; [`schema`]
//! contains the same names, each wrapped in [`Lossless`], for the rest of the crate. This module
//! does not interpret models.

mod ahead;
mod attribute;
mod context;
mod field;
pub mod ir_version;
mod layout;
mod locate;
mod lossless;
pub mod outline;
mod part;
mod piece;
mod pieces;
mod recipe;
mod sealed;
mod spans;
mod write_progress;

/// protobuf's limit for the length of a message: 31 bits.
pub const LARGEST_MESSAGE: u64 = i32::MAX as u64;

pub use field::{Field, Value};
pub use layout::Layout;
pub use lossless::{Known, Lossless, Malformed, MalformedReason};
pub use part::PartBox;
pub use piece::Piece;
pub use pieces::Pieces;
pub use recipe::Recipe;
pub use sealed::Sealed;
pub use spans::{Spans, values_of};
pub use write_progress::WriteProgress;

/// prost's structs for `proto/onnx.proto`, without the fields of a tensor's values, which stay
/// encoded, see [`Lossless::rest`].
#[allow(clippy::all, clippy::pedantic, missing_docs)]
pub mod raw {
    include!(concat!(env!("OUT_DIR"), "/onnx.rs"));
}

/// Every message of `proto/onnx.proto` with its unknown fields: `schema::X` is `Lossless<raw::X>`.
pub mod schema {
    include!(concat!(env!("OUT_DIR"), "/schema.rs"));
}

include!(concat!(env!("OUT_DIR"), "/known.rs"));
