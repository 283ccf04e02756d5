//! Functions of which some calls change their types and others do not: the calls that change get a
//! copy of the function.

use super::change::TypeChange;
use super::options::{Options, Selection};
use super::report::AddedFunction;
use super::types::value_type;
use crate::base::error::Error;
use crate::convert::copy_for_calls;
use crate::graph::{Body, Edit, Model, NodeId, ScopeId};
use crate::ops::inference::{Inferred, infer};
use onnx_cast::DType;

/// A model with copies of functions.
pub(super) struct Copied {
    pub model: Model,
    pub functions: Vec<AddedFunction>,
}

/// Copies the functions that need it, each once, without those of which copies would change
/// nothing; `None` if there are none.
///
/// # Errors
/// If the edits are refused, which is a bug.
pub(super) fn copied(
    model: &Model,
    options: &Options,
    selection: &Selection,
    useless: &[AddedFunction],
) -> Result<Option<Copied>, Error> {
    if options.weights_only {
        return Ok(None);
    }
    let mut copied: Option<Copied> = None;
    loop {
        let (current, known) = copied.as_ref().map_or((model, &[][..]), |copied| {
            (&copied.model, &copied.functions[..])
        });
        let is_known = |scope: &ScopeId| {
            known
                .iter()
                .chain(useless)
                .any(|known| known.is_copy(current, *scope) || known.is_original(current, *scope))
        };
        let shared: Vec<ScopeId> = current
            .scopes()
            .filter(|&scope| current.callers(scope).len() > 1 && !is_known(&scope))
            .collect();
        if shared.is_empty() {
            return Ok(copied);
        }
        let calls = Calls {
            model: current,
            change: TypeChange {
                from: options.from,
                to: options.dtype,
            },
            inferred: infer(current),
            selection,
        };
        let Some((function, changing)) = shared
            .into_iter()
            .find_map(|scope| Some((scope, calls.changing(scope)?)))
        else {
            return Ok(copied);
        };
        let (edits, added) = copy(current, function, &changing, options.dtype);
        let mut functions = known.to_vec();
        functions.push(added);
        let mut with_copy = current.clone();
        with_copy.apply(edits)?;
        copied = Some(Copied {
            model: with_copy,
            functions,
        });
    }
}

struct Calls<'c> {
    model: &'c Model,
    change: TypeChange,
    inferred: Inferred,
    selection: &'c Selection<'c>,
}

impl Calls<'_> {
    /// The calls of a function that change the same types, if others do not.
    fn changing(&self, function: ScopeId) -> Option<Vec<NodeId>> {
        let calls = self.inferred.calls_of(self.model, function);
        let changes: Vec<_> = calls.map(|call| (call, self.changes(call))).collect();
        let first = changes.iter().find_map(|(_, changes)| changes.as_ref())?;
        let of_first = changes
            .iter()
            .filter(|(_, changes)| changes.as_ref() == Some(first));
        let changing: Vec<NodeId> = of_first.map(|&(call, _)| call).collect();
        (changing.len() < changes.len()).then_some(changing)
    }

    /// The old types of the inputs and outputs of a call that may change; `None` if none does, or
    /// one is not known.
    fn changes(&self, call: NodeId) -> Option<Vec<Option<DType>>> {
        let model = self.model;
        if model.is_training(call.scope) || self.selection.keeps_node(model, call) {
            return None;
        }
        let values = model
            .inputs(call)
            .chain(model.outputs(call))
            .map(|(_, value)| value);
        let old = |value| {
            value_type(model, &self.inferred, value).map(|value_type| self.change.old(value_type))
        };
        let changes = values.map(old).collect::<Option<Vec<_>>>()?;
        changes.iter().any(Option::is_some).then_some(changes)
    }
}

/// The edits that give some calls of a function a copy of it.
fn copy(
    model: &Model,
    function: ScopeId,
    calls: &[NodeId],
    to: DType,
) -> (Vec<Edit>, AddedFunction) {
    let Body::Function(proto) = model.body(function) else {
        unreachable!("only functions have callers")
    };
    let names = (0..).map(|number| match number {
        0 => format!("{}_{to}", proto.name()),
        number => format!("{}_{to}_{number}", proto.name()),
    });
    let (edits, name) = copy_for_calls(model, proto, calls, names);
    let added = AddedFunction {
        domain: proto.domain().to_owned(),
        name,
        overload: proto.overload().to_owned(),
        copy_of: proto.name().to_owned(),
        calls: calls.iter().map(|&call| model.node_path(call)).collect(),
    };
    (edits, added)
}
