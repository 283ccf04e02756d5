//! The operators of ONNX as static tables: every version of every schema, and which of them
//! runtimes run.
//!
//! | to | use |
//! |---|---|
//! | find the schema of an operator in an opset | [`schema`], [`schemas::versions`], [`schemas::all`] |
//! | read its inputs, outputs, attributes, defaults and types | [`Schema`] |
//! | know which attribute states a type, or whether an operator only moves elements | [`operator_facts`] |
//! | know the newest opset that a version of a runtime loads | [`Runtime`] |
//! | know whether it has a kernel for a node | [`kernels`] |
//!
//! ```
//! use onnx_operators::{DType, ValueType, schema, schemas};
//!
//! let clip = schema("", "Clip", 20).unwrap();
//! assert_eq!((clip.since_version, clip.function), (13, true));
//! assert_eq!(clip.input_count(), (1, Some(3)));
//! assert!(clip.input(0).unwrap().types.contains(ValueType::Tensor(DType::Float16)));
//!
//! let older = schemas::versions("", "Clip").iter().map(|version| version.since_version);
//! assert_eq!(older.collect::<Vec<_>>(), [1, 6, 11, 12, 13]);
//! ```

mod hash;
pub mod kernels;
pub mod operator_facts;
pub mod runtimes;
pub mod schemas;

pub use onnx_cast::DType;
pub use runtimes::{Runtime, UnknownRuntime, Version};
pub use schemas::{LATEST_OPSET, Schema, TypeSet, ValueType, schema};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
