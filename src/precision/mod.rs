//! Changes the precision of a model: values of type FLOAT become FLOAT16 or BFLOAT16, or these
//! become FLOAT.
//!
//! 1. `types`, `constraints`, `nodes`: every value whose type may change has a variable. The
//!    schemas of the operators, the bodies of control flow, and functions make variables equal.
//! 2. Constraints: operators get the new type if their schemas support it. Options (`options`), a
//!    policy (`policy`), units of quantization (`units`), rules that schemas do not have (`rules`),
//!    integers in floats (`integers`) and constants that the type cannot represent (`limits`) keep
//!    the old one. `hazards` finds values that leave the range of the type until another operator
//!    brings them back.
//! 3. `cut`: operators that only move elements may have either type. A minimum cut decides, so that
//!    the number of casts is the least.
//! 4. `kernels`: a node for which a given runtime has no kernel in its new types keeps the old
//!    ones.
//! 5. `apply`: edits. Constants become recipes, which are computed while the file is written.
//!    `emulate`: edits that round values instead, by the functions of `rounding`.
//!
//! Before all that, `functions` copies functions: calls that change their types get a copy of a
//! function that other calls use as it is.
//!
//! Scope: the main graph, subgraphs, and functions. Training graphs are not changed.

mod apply;
mod assignment;
mod attributes;
mod casts;
mod change;
mod constraints;
mod cut;
mod emulate;
mod functions;
mod hazards;
mod integers;
mod kernels;
mod limits;
mod masks;
mod nodes;
mod noop_casts;
mod operators;
mod options;
mod plan;
mod policy;
pub(crate) mod reason;
mod refusal;
mod report;
pub(crate) mod rounding;
mod rules;
mod scopes;
mod survey;
mod types;
mod units;
mod unmatched;
mod uses;
mod weights;

pub use options::{
    AssumedOperator, BadAssumption, Io, ObservedRange, OnOverflow, OnUnderflow, Options, Policy,
    Quantized,
};
pub(crate) use plan::{PlannedPrecision, plan};
pub use policy::sensitive_operators;
pub(crate) use refusal::{Refusal, Remedy};
pub use report::{AddedCast, KeptNode, NarrowedTensor, Report};
pub(crate) use report::{AddedFunction, LaterOpset};
