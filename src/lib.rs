//! Rewrites ONNX models exactly and losslessly.
//!
//! A model is read without copying its weights, changed by plans of edits, and replaced atomically when it is written. `recast fold`
//! does the following:
//!
//! ```
//! use onnx_recast::graph::Model;
//! use onnx_recast::passes::{self, Options, PASSES};
//! use onnx_recast::wire::schema::ModelProto;
//! use onnx_recast::wire::{self, Layout, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let input = wire::open("models/fp8_qdq.onnx".as_ref())?;
//! let model = Model::new(ModelProto::from_bytes(input.bytes)?)?;
//! let (model, report) = passes::run(model, PASSES, &Options::default())?;
//! assert_eq!(report.folded().len(), 3);
//!
//! let folder = tempfile::tempdir()?;
//! wire::save(Layout::of(&model.into_proto()), &Target::File(folder.path().join("folded.onnx")))?;
//! # Ok(())
//! # }
//! ```
//!
//! Features, all enabled by default: `cli`, the command and its reports; `parallel`, work on all cores; `mimalloc`, the allocator of the
//! command. Without features, the library also compiles for WebAssembly.
//!
//! The modules are listed from the lowest layer up; each uses only modules of lower layers. `ARCHITECTURE.md` states their invariants.

#![deny(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

#[cfg(target_endian = "big")]
compile_error!("onnx-recast reads tensors in place, which are little-endian; it does not work on big-endian machines");

pub mod dtype;
pub mod error;
pub mod files;
mod hash;
pub mod ir_version;
pub mod minifloat;
pub mod packed;
mod parallel;
pub mod shown;
pub mod wire;
pub mod cast;
pub mod formats;
pub mod tensor;
pub mod text;
pub mod graph;
pub mod external;
pub mod facts;
pub mod folding;
pub mod cast_file;
pub mod convert;
pub mod diff;
pub mod inspect;
pub mod lint;
pub mod passes;
#[cfg(feature = "cli")]
pub mod report;
#[cfg(feature = "cli")]
pub mod cli;
