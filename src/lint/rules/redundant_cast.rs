//! A value is cast to the type that it has.
//!
//! ## What it checks
//! `Cast` and `CastLike` from a type to the same type, as far as the model states the types. FLOAT8E5M2 to itself counts only with
//! `saturate = 0`: with saturation the text makes the largest number of an infinity.
//!
//! ## Why is this bad?
//! The node copies its input and does nothing else.
//!
//! ## Example
//! ```onnx
//! <ir_version: 8, opset_import: ["": 18]>
//! copy (float[n] x) => (float[n] y) {
//!     same = Cast <to = 1> (x)
//!     y = Relu (same)
//! }
//! ```
//! Use instead:
//! ```onnx
//! <ir_version: 8, opset_import: ["": 18]>
//! copy (float[n] x) => (float[n] y) {
//!     y = Relu (x)
//! }
//! ```
//!
//! ## Fix
//! Unsafe: removes the node and lets those that used its result use its input. It relies on the type that the model declares for the
//! input. There is no fix where the result is an output of a graph.

use super::rewrite::bypass;
use crate::dtype::DType;
use crate::lint::{Finding, ResolvedCast, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC402",
    name: "redundant-cast",
    severity: Severity::Info,
    selected: Selected::OnRequest,
    source: include_str!("redundant_cast.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let copies = |cast: &&ResolvedCast| {
        let saturates = cast.to == DType::Float8E5M2 && cast.saturate != Some(false);
        cast.from == Some(cast.to) && !saturates && !cast.is_generic()
    };
    let findings = subject.casts().filter(copies).map(|cast| {
        let name = subject.model.name(cast.input);
        let finding = Finding::at_node(cast.node, format!("'{name}' already is {}", cast.to));
        match bypass(subject.model, cast.node, cast.output, cast.input) {
            Some(edits) => finding.with_unsafe_fix(format!("use '{name}' in place of the result"), edits),
            None => finding,
        }
    });
    findings.collect()
}
