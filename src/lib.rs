//! Rewrites ONNX models exactly and losslessly: folds casts of constants, converts models between opsets, lints casts.
//!
//! ```
//! use onnx_recast::{ConvertOptions, FoldOptions, Model};
//!
//! # fn main() -> Result<(), onnx_recast::Error> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let output = folder.path().join("folded.onnx");
//! let mut model = Model::open("models/fp8_qdq.onnx")?;
//! let report = model.fold(&FoldOptions::default())?;
//! model.convert(&ConvertOptions::to(21))?;
//! model.save(&output)?;
//! assert_eq!(report.folded().len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! The file is memory-mapped, and weights are copied only where they change. The output is written atomically; tensors stay in the
//! model file or in data files, as they were.
//!
//! | to | use |
//! |---|---|
//! | open a model | [`Model::open`], [`Model::from_bytes`], [`OpenOptions`] |
//! | fold casts of constants | [`Model::fold`] |
//! | convert it to another opset | [`Model::convert`] |
//! | find what is wrong around casts, and fix it | [`Model::lint`], [`Model::fix`] |
//! | look at it | [`Model::inspect`], [`diff`](fn@diff) |
//! | save it | [`Model::save`], [`Model::save_with`], [`Model::to_bytes`] |
//! | cast an array as ONNX does | [`Array::cast`] |
//! | write a pass, a lint rule or an adapter | [`passes`], [`mod@lint`], [`mod@convert`], [`graph`] |
//!
//! Every operation that fails returns an [`Error`] with a kind and a place, and leaves the model as it was.

#![deny(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

pub mod dtype;
pub mod error;
pub mod files;
mod hash;
pub mod ir_version;
pub mod minifloat;
pub mod packed;
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
pub mod report;
pub mod api;
pub mod cli;

pub use api::{Array, CannotCast, CastOptions, Comparison, LintOptions, OpenOptions, Packing, Saved, diff};
pub use convert::{Options as ConvertOptions, Report as ConvertReport};
pub use dtype::DType;
pub use error::{Error, ErrorKind, Place};
pub use external::{Options as SaveOptions, Placement, Plan as SavePlan};
pub use graph::Model;
pub use passes::{Options as FoldOptions, Report as FoldReport};
pub use wire::Target;
