//! ONNX's operators: every version of every schema, as static tables.
//!
//! The data is `facts/operators.txt`, generated from the `onnx` package by `facts/generate.py` and compiled into tables by the
//! build script; nothing is parsed at run time.
//!
//! ```
//! use onnx_recast::internals::dtype::DType;
//! use onnx_recast::internals::facts::{self, ValueType};
//!
//! let cast = facts::schema("", "Cast", 20).unwrap();
//! assert_eq!(cast.since_version, 19);
//! assert!(cast.attribute("to").unwrap().required);
//! assert!(cast.input(0).unwrap().types.contains(ValueType::Tensor(DType::Float8E5M2)));
//! assert!(!cast.input(0).unwrap().types.contains(ValueType::Tensor(DType::Int4)));
//! ```

pub mod infer;
mod implied;
mod needs;
mod schema;
mod table;
mod targets;
#[cfg(test)]
mod tests;
mod types;

use std::sync::OnceLock;

use crate::graph::is_onnx_domain;
use crate::hash::HashMap;

pub use implied::implied;
pub use needs::{Need, contents};
pub use schema::{Attribute, AttributeKind, Constraint, Default, Formal, Occurrence, Schema};
pub use targets::{Target, target, targets};
pub use types::{TypeSet, ValueType};

/// The latest opset of ai.onnx in the tables.
pub const LATEST_OPSET: i64 = table::IR_OF_OPSET.len() as i64;

/// The schema that `name` refers to in a model that imports `opset` of `domain`: the latest version that is not later than the
/// opset. A deprecated schema is returned too, with its `deprecated` flag. `ai.onnx` and the empty domain are the same.
#[must_use]
pub fn schema(domain: &str, name: &str, opset: i64) -> Option<&'static Schema> {
    let versions = versions(domain, name);
    versions[..versions.partition_point(|schema| schema.since_version <= opset)].last()
}

/// Every version of an operator, oldest first; empty if ONNX does not define the operator.
#[must_use]
pub fn versions(domain: &str, name: &str) -> &'static [Schema] {
    static OPERATORS: OnceLock<HashMap<(&str, &str), &[Schema]>> = OnceLock::new();
    let same_operator = |left: &Schema, right: &Schema| (left.domain, left.name) == (right.domain, right.name);
    let by_name = |versions: &'static [Schema]| ((versions[0].domain, versions[0].name), versions);
    let operators = OPERATORS.get_or_init(|| table::SCHEMAS.chunk_by(same_operator).map(by_name).collect());
    operators.get(&(canonical_domain(domain), name)).copied().unwrap_or_default()
}

/// Every schema, sorted by domain, name, version.
#[must_use]
pub fn all() -> &'static [Schema] {
    &table::SCHEMAS
}

/// The empty string for both spellings of the default domain, and the domain itself otherwise.
#[must_use]
pub fn canonical_domain(domain: &str) -> &str {
    if is_onnx_domain(domain) { "" } else { domain }
}

/// The IR version of the release that introduced an opset of ai.onnx; `None` if the tables do not contain the opset.
#[must_use]
pub fn ir_of_opset(opset: i64) -> Option<i64> {
    let index = usize::try_from(opset).ok()?.checked_sub(1)?;
    table::IR_OF_OPSET.get(index).copied()
}
