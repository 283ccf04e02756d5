//! ONNX's operators: every version of every schema, as static tables.
//!
//! The data is `facts/operators.txt`, generated from the `onnx` package by `facts/generate.py` and
//! compiled into tables by the build script; nothing is parsed at run time. `facts/onnxruntime.txt`
//! adds the operators that onnxruntime has in the domain ai.onnx beside those of ONNX.
//!
//! ```
//! use onnx_cast::DType;
//! use onnx_operators::schemas::{self, ValueType};
//!
//! let cast = schemas::schema("", "Cast", 20).unwrap();
//! assert_eq!(cast.since_version, 19);
//! assert!(cast.attribute("to").unwrap().required);
//! assert!(cast.input(0).unwrap().types.contains(ValueType::Tensor(DType::Float8E5M2)));
//! assert!(!cast.input(0).unwrap().types.contains(ValueType::Tensor(DType::Int4)));
//! ```

mod implied;
pub mod microsoft;
mod schema;
mod table;
#[cfg(test)]
mod tests;
mod types;

use std::sync::LazyLock;

use crate::hash::HashMap;

pub use implied::implied;
pub use schema::{Attribute, AttributeKind, Constraint, DefaultValue, Formal, Occurrence, Schema};
pub use types::{TypeSet, ValueType};

/// The latest opset of ai.onnx in the tables.
pub const LATEST_OPSET: i64 = table::IR_OF_OPSET.len() as i64;

/// Whether a domain is that of ONNX's own operators, which is spelled in two ways.
#[must_use]
pub fn is_onnx_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The schema that `name` refers to in a model that imports `opset` of `domain`: the latest version
/// that is not later than the opset. A deprecated schema is returned too, with its `deprecated`
/// flag. `ai.onnx` and the empty domain are the same.
///
/// If ONNX has no such operator in this opset, but onnxruntime has, the schema is that of
/// onnxruntime.
#[must_use]
pub fn schema(domain: &str, name: &str, opset: i64) -> Option<&'static Schema> {
    let newest = |versions: &'static [Schema]| {
        versions[..versions.partition_point(|schema| schema.since_version <= opset)].last()
    };
    newest(versions(domain, name)).or_else(|| newest(versions_of_onnxruntime(domain, name)))
}

/// The versions of an operator that onnxruntime has in the domain ai.onnx beside those of ONNX,
/// oldest first; they are older than those of ONNX.
#[must_use]
pub fn versions_of_onnxruntime(domain: &str, name: &str) -> &'static [Schema] {
    let all: &'static [Schema] = if is_onnx_domain(domain) {
        &table::SCHEMAS_OF_ONNXRUNTIME
    } else {
        &[]
    };
    let start = all.partition_point(|schema| schema.name < name);
    let length = all[start..].partition_point(|schema| schema.name == name);
    &all[start..start + length]
}

/// All versions of an operator, oldest first: those of onnxruntime, then those of ONNX.
pub fn all_versions(domain: &str, name: &str) -> impl Iterator<Item = &'static Schema> {
    versions_of_onnxruntime(domain, name)
        .iter()
        .chain(versions(domain, name))
}

/// Every schema of an operator that onnxruntime has in the domain ai.onnx beside those of ONNX,
/// sorted by name and version.
#[must_use]
pub fn all_of_onnxruntime() -> &'static [Schema] {
    &table::SCHEMAS_OF_ONNXRUNTIME
}

/// Every version of an operator, oldest first; empty if ONNX does not define the operator.
#[must_use]
pub fn versions(domain: &str, name: &str) -> &'static [Schema] {
    type Versions = &'static [Schema];
    // The operators of ai.onnx are found by their names alone: on some processors, glibc takes a
    // hundred times as long to compare two empty strings as two short ones, because Rust's empty
    // strings point to no memory.
    static ONNX: LazyLock<HashMap<&str, Versions>> = LazyLock::new(|| {
        operators()
            .filter(|all| is_onnx_domain(all[0].domain))
            .map(|all| (all[0].name, all))
            .collect()
    });
    static OTHERS: LazyLock<HashMap<(&str, &str), Versions>> = LazyLock::new(|| {
        operators()
            .map(|all| ((all[0].name, all[0].domain), all))
            .collect()
    });
    if is_onnx_domain(domain) {
        ONNX.get(name).copied().unwrap_or_default()
    } else {
        OTHERS.get(&(name, domain)).copied().unwrap_or_default()
    }
}

/// The versions of each operator, oldest first.
pub fn operators() -> impl Iterator<Item = &'static [Schema]> {
    table::SCHEMAS.chunk_by(|left, right| (left.domain, left.name) == (right.domain, right.name))
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

/// The IR version of the release that introduced an opset of ai.onnx; `None` if the tables do not
/// contain the opset.
#[must_use]
pub fn ir_of_opset(opset: i64) -> Option<i64> {
    let index = usize::try_from(opset).ok()?.checked_sub(1)?;
    table::IR_OF_OPSET.get(index).copied()
}
