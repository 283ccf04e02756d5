//! The function that an emulation adds, in the original: where the written model has it, imported
//! where the written model calls it.

use super::fault::Fault;
use crate::base::hash::HashSet;
use crate::graph::{Body, Edit, Model, ScopeId, ScopeKind};
use crate::precision::Report;
use crate::precision::rounding::{DOMAIN, function, function_name, opset};
use crate::protobuf::ir_version::FUNCTIONS;

/// The original with the function that rounds, if the report lists roundings.
pub(super) fn with_rounding(
    original: Model,
    written: &Model,
    report: &Report,
) -> Result<Model, Vec<Fault>> {
    let is_added = report
        .emulation
        .as_ref()
        .is_some_and(|emulation| !emulation.roundings.is_empty());
    let Some(opset) = opset(&original).filter(|_| is_added) else {
        return Ok(original);
    };
    let mut edits = vec![Edit::AddFirstFunction(Box::new(function(report.to, opset)))];
    if original.ir_version() < FUNCTIONS {
        edits.push(Edit::SetIrVersion(FUNCTIONS));
    }
    let calling: HashSet<String> = written
        .scopes()
        .filter(|&scope| {
            written
                .nodes(scope)
                .any(|node| written.node(node).domain() == DOMAIN)
        })
        .filter_map(|scope| key(written, written.root(scope)))
        .collect();
    let functions = original
        .scopes()
        .filter(|&scope| key(&original, scope).is_some_and(|key| calling.contains(&key)));
    edits.extend(functions.map(|function| Edit::Import {
        function,
        domain: DOMAIN.to_owned(),
        version: 1,
    }));
    let path = format!("function/{DOMAIN}:{}", function_name(report.to));
    original
        .with_edits(edits)
        .map_err(|error| vec![Fault::at(path, error.to_string())])
}

/// The domain, name and overload of a function, which identify it.
fn key(model: &Model, scope: ScopeId) -> Option<String> {
    match (model.scope_kind(scope), model.body(scope)) {
        (ScopeKind::Function(_), Body::Function(function)) => {
            Some([function.domain(), function.name(), function.overload()].join("\0"))
        }
        _ => None,
    }
}
