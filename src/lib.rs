//! Rewrites ONNX models exactly and losslessly: folds casts of constants, converts models between
//! opsets, lints casts.
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
//! The file is memory-mapped, and weights are copied only where they change. The output is written
//! atomically; tensors stay in the model file or in data files, as they were.
//!
//! | to | use |
//! |---|---|
//! | open a model | [`Model::open`], [`Model::from_bytes`], [`OpenOptions`] |
//! | fold casts of constants | [`Model::fold`] |
//! | convert it to another opset, or to what a runtime loads | [`Model::convert`], [`ConvertOptions::for_runtime`] |
//! | find what is wrong around casts, and fix it | [`Model::lint`], [`Model::fix`] |
//! | look at it | [`Model::inspect`], [`diff`](fn@diff) |
//! | save it | [`Model::save`], [`Model::save_with`], [`Model::to_bytes`], [`Model::into_files`] |
//! | verify what is written before it replaces anything | [`Model::save_verified`], [`mod@verify`] |
//! | read the numbers of a constant, cast them as ONNX does | [`Model::read`], [`Array`] |
//! | write a pass, a lint rule or an adapter | [`passes`], [`mod@lint`], [`mod@convert`], [`graph`] |
//! | `recast` with them | [`cli::Command`] |
//!
//! Every operation that fails returns an [`Error`] with a kind and a place, and leaves the model as
//! it was.
//!
//! Features, all enabled by default: `cli`, the command and its reports; `config`, which `cli`
//! includes, `recast.toml`; `parallel`, work on all cores; `mimalloc`, the allocator of the command.
//! Without features, the library also compiles for WebAssembly.

// The command uses parts of the private modules that the library does not.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]
#![deny(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout)]

#[cfg(target_endian = "big")]
compile_error!(
    "onnx-recast reads tensors in place, which are little-endian; it does not work on big-endian machines"
);

mod api;
mod base;
mod casts;
#[cfg(feature = "cli")]
pub mod cli;
pub mod convert;
pub mod diff;
mod files;
pub mod graph;
pub mod inspect;
pub mod lint;
mod onnx_text;
mod ops;
pub mod passes;
pub mod precision;
mod process;
mod protobuf;
#[cfg(feature = "cli")]
mod report;
mod storage;
mod tensor;
mod tensor_files;
pub mod verify;

pub use api::{Comparison, MissingNode, OpenOptions, RunsOn, WrongNode, diff};
pub use base::choice::UnknownName;
pub use base::error::{Classified, Error, ErrorKind, Invalid, ModelPlace, Place};
pub use base::progress::{Cancel, Phase, Progress, Unit};
pub use base::reason::Reason;
pub use base::stored::{ReadAt, Stored};
pub use convert::{Options as ConvertOptions, Report as ConvertReport};
pub use graph::Model;
pub use lint::Options as LintOptions;
/// Casts as ONNX defines them: which pairs of types an opset supports, which results are defined,
/// and the results.
pub use onnx_cast as cast;
pub use onnx_cast::{Contested, DType, RoundMode, Rules, Tally};
pub use ops::kernels::{MissingKernel, MissingOperator, WrongResult};
pub use ops::runtimes::{Runtime, UnknownRuntime, Version};
pub use ops::schemas::LATEST_OPSET;
pub use passes::{Options as FoldOptions, Report as FoldReport};
pub use precision::{Options as PrecisionOptions, Report as PrecisionReport};
pub use storage::{
    Options as SaveOptions, Placement, SavePlan, Saved, UnusedFile, WrittenDataFile,
};
pub use tensor::{Array, CannotCast, CastOptions, Number, Packing};

/// The protobuf messages of ONNX.
///
/// Each is a [`Lossless`](proto::Lossless) struct of the same name in [`proto::raw`], which prost
/// generates: it also holds the fields that this version does not know, and the bytes from which it
/// was decoded until it is borrowed mutably. [`Lossless::from_bytes`](proto::Lossless::from_bytes)
/// and [`Lossless::to_bytes`](proto::Lossless::to_bytes) read and write a message without losses;
/// `decode` of [`prost::Message`] does not have the original bytes.
pub mod proto {
    pub use crate::protobuf::schema::*;
    pub use crate::protobuf::{Field, Lossless, Malformed, PartBox, Piece, Recipe, Value, raw};
}

/// The command as the Python module and the page of this project run it. It changes without notice.
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod front_ends {
    pub use crate::base::error::recorded_panics;
    pub use crate::cli::in_memory::{Ran, run_in_memory};
    pub use crate::cli::run::main_with;
    pub use crate::process::install_signal_handlers;
}

/// What proofs and fuzzing of this crate use besides its public API. It changes without notice.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub use crate::convert::engine::convert as convert_model;
    pub use crate::lint::fix::fix as fix_model;
    pub use crate::lint::registry::all as all_rules;
    pub use crate::lint::run::lint as lint_model;
    pub use crate::passes::run::run as run_passes;
    pub use crate::passes::select::all as all_passes;

    pub mod base {
        pub use crate::base::{printable, threshold};
    }

    pub mod casts {
        pub use crate::casts::{folding, moves};
    }

    pub mod convert {
        pub use crate::convert::engine::Conversion;
        pub use crate::convert::not_converted::NotConverted;
    }

    pub mod diff {
        pub use crate::diff::compare::{ComparedMessage, compare};
    }

    pub mod files {
        pub use crate::files::{
            DataFolder, Input, SaveTarget, folder_of, folders, open, open_with_data, save,
        };
    }

    pub mod graph {
        use std::sync::Arc;

        use crate::base::error::Invalid;
        use crate::files::DataFolder;
        use crate::graph::Model;
        pub use crate::graph::cast_attributes::read_saturate;
        use crate::protobuf::schema::ModelProto;

        /// A model that may have inconsistent tensors.
        pub fn with_unchecked_tensors(proto: ModelProto) -> Result<Model, Invalid> {
            Model::with_unchecked_tensors(proto)
        }

        /// The data files of a model.
        #[must_use]
        pub fn data(model: &Model) -> &Arc<DataFolder> {
            model.data()
        }

        /// The model with other data files.
        #[must_use]
        pub fn with_data(model: Model, data: DataFolder) -> Model {
            model.with_data(data)
        }
    }

    pub mod lint {
        pub use crate::lint::constant::tally;
        pub use crate::lint::file_pattern::FilePattern;
        pub use crate::lint::fix::Fixed;
    }

    pub mod onnx_text {
        pub use crate::onnx_text::{parse, print, print_node};
    }

    pub mod ops {
        pub use crate::ops::{compute, inference, kernels, needs, schemas};
    }

    pub mod passes {
        pub use crate::passes::run::PassError;
    }

    pub mod protobuf {
        pub use crate::protobuf::{Layout, Pieces};
    }

    #[cfg(feature = "cli")]
    pub mod report {
        pub use crate::report::codes::meanings;
        pub use crate::report::{LintFormat, LintRun, Shape};
    }

    pub mod storage {
        pub use crate::storage::plan_of;
    }

    pub mod tensor {
        pub use crate::tensor::{
            BadTensor, Content, Data, RAW_DATA, Reference, Tensor, Values, is_external,
            moved_to_file, moved_to_model, raw_data, without_values,
        };
    }

    pub mod tensor_files {
        pub use crate::tensor_files::{Array, Failure, Form, Remedy, layout, read};
    }
}
