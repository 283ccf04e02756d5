//! A cast of a constant is computed in every run.
//!
//! ## What it checks
//! `Cast` and `CastLike` of an initializer or `Constant` that no caller can override, and of what such casts make, where ONNX defines
//! every resulting value. A constant's values are read for this where the types alone do not settle it.
//!
//! ## Why is this bad?
//! The result is always the same. Computed once, it saves the node, and often half of the weights or more.
//!
//! ## Example
//! ```onnx
//! <ir_version: 8, opset_import: ["": 18]>
//! half (float16[2] x) => (float16[2] y) <float[2] w = {0.5, 2}> {
//!     narrow = Cast <to = 10> (w)
//!     y = Mul (x, narrow)
//! }
//! ```
//! Use instead what `recast fold` makes of it:
//! ```onnx
//! <ir_version: 8, opset_import: ["": 18]>
//! half (float16[2] x, float16[2] narrow) => (float16[2] y) {
//!     y = Mul (x, narrow)
//! }
//! ```

use std::collections::{HashMap, HashSet};

use crate::graph::{NodeId, ValueId};
use crate::lint::{CastSite, Finding, Rule, Selected, Severity, Subject};
use crate::tensor::Content;

pub(super) const RULE: Rule = Rule {
    code: "RC401",
    name: "foldable-cast",
    severity: Severity::Info,
    selected: Selected::OnRequest,
    source: include_str!("foldable_cast.rs"),
    check,
};

fn check(subject: &Subject) -> Vec<Finding> {
    let casts: HashMap<NodeId, &CastSite> = subject.casts().map(|cast| (cast.node, cast)).collect();
    let mut folded: HashMap<ValueId, Content> = HashMap::new();
    let mut foldable = HashSet::new();
    for node in subject.model.nodes_in_order_of_use() {
        if let Some(&cast) = casts.get(node)
            && let Some(content) = fold(subject, cast, &folded)
        {
            foldable.insert(*node);
            folded.extend(cast.output.map(|output| (output, content)));
        }
    }
    let findings = subject.casts().filter(|cast| foldable.contains(&cast.node)).map(|cast| {
        let name = subject.model.name(cast.input);
        Finding::at_node(
            cast.node,
            format!("the constant '{name}' is cast to {} in every run; `recast fold` computes it once", cast.to),
        )
    });
    findings.collect()
}

/// What the cast computes, if it always computes that.
fn fold(subject: &Subject, cast: &CastSite, folded: &HashMap<ValueId, Content>) -> Option<Content> {
    let source = match folded.get(&cast.input) {
        Some(content) => content.clone(),
        None => subject.constant(cast.input)?.content(),
    };
    let (content, summary) = source.cast(cast.kernel()?).ok()?;
    summary.is_defined().then_some(content)
}
