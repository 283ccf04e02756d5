//! The copies of functions that a change of precision reports.

use super::fault::Fault;
use crate::base::error::shortened;
use crate::graph::{Body, Edit, Model};
use crate::precision::AddedFunction;

/// The original with the copies: each copy has the content of its function, and the listed calls
/// call the copy.
pub(super) fn with_copies(
    original: Model,
    functions: &[AddedFunction],
) -> Result<Model, Vec<Fault>> {
    let mut model = original;
    for added in functions {
        let fault = |what: &str| {
            vec![Fault::at(
                format!(
                    "function/{}:{}",
                    shortened(&added.domain),
                    shortened(&added.name)
                ),
                what,
            )]
        };
        let Some(scope) = model
            .scopes()
            .find(|&scope| added.is_original(&model, scope))
        else {
            return Err(fault("is a copy of a function that does not exist"));
        };
        let calls: Vec<_> = model
            .callers(scope)
            .iter()
            .filter(|&&call| added.calls.contains(&model.node_path(call)))
            .collect();
        if calls.len() != added.calls.len() {
            return Err(fault("is not called by the nodes that are reported"));
        }
        let Body::Function(function) = model.body(scope) else {
            continue;
        };
        let mut copy = function.clone();
        copy.name = Some(added.name.clone());
        let mut edits = vec![Edit::AddFunction(Box::new(copy))];
        for &&call in &calls {
            let mut node = model.node(call).clone();
            node.op_type = Some(added.name.clone());
            edits.push(Edit::replace_node(call, vec![node]));
        }
        model
            .apply(edits)
            .map_err(|error| fault(&error.to_string()))?;
    }
    Ok(model)
}
