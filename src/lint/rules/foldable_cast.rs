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
use crate::tensor::{Allowance, Content};

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
    let mut folded: HashMap<ValueId, Computed> = HashMap::new();
    let mut foldable = HashSet::new();
    let mut allowance = Allowance::default();
    for node in subject.model.nodes_in_order_of_use() {
        if let Some(&cast) = casts.get(node)
            && let Some(computed) = fold(subject, cast, &folded, &mut allowance)
        {
            foldable.insert(*node);
            folded.extend(cast.output.map(|output| (output, computed)));
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

/// What casts make of a constant, and the constant.
#[derive(Clone)]
struct Computed {
    content: Content,
    constant: ValueId,
}

/// What the cast computes, if it always computes that.
fn fold(
    subject: &Subject,
    cast: &CastSite,
    folded: &HashMap<ValueId, Computed>,
    allowance: &mut Allowance<ValueId>,
) -> Option<Computed> {
    let Computed { content, constant } = match folded.get(&cast.input) {
        Some(computed) => computed.clone(),
        None => Computed { content: subject.constant(cast.input)?.content(), constant: cast.input },
    };
    let kernel = cast.kernel()?;
    if !allowance.take(constant, content.bytes()) {
        return None;
    }
    let (content, summary) = content.cast(kernel).ok()?;
    summary.is_defined().then_some(Computed { content, constant })
}
