//! The scopes that keep their types, and those in which values cannot be cast.

use std::collections::BTreeSet;

use super::constraints::Builder;
use super::kernels::runs_casts;
use super::reason::Code;
use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, ScopeId, ScopeKind};
use crate::ops::schemas::{self, Formal, Schema, ValueType};
use onnx_cast::DType;

/// The first opset after that of a scope in which Cast supports a type.
pub(super) fn casts_since(model: &Model, scope: ScopeId, dtype: DType) -> Option<i64> {
    let opset = model.opset(scope, "")?;
    let later = schemas::versions("", "Cast")
        .iter()
        .filter(|schema| schema.since_version > opset);
    later
        .filter(|schema| supports(schema, dtype))
        .map(|schema| schema.since_version)
        .min()
}

/// Whether a version of Cast casts from and to a type.
fn supports(cast: &Schema, dtype: DType) -> bool {
    let supports = |formal: Option<&Formal>| {
        formal.is_some_and(|formal| formal.types.contains(ValueType::Tensor(dtype)))
    };
    supports(cast.input(0)) && supports(cast.output(0))
}

impl Builder<'_, '_, '_> {
    pub fn read_scopes(&mut self) {
        let model = self.model;
        let used = self
            .options
            .target
            .map(|_| self.old_types())
            .unwrap_or_default();
        for scope in model.scopes() {
            let names = model.body(scope).input_names();
            self.inputs.insert(
                scope,
                names.map(|name| model.defined(scope, name)).collect(),
            );
            let foreign = match model.scope_kind(scope) {
                ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => Some(Code::Training),
                ScopeKind::Function(_) if !self.types.inferred.is_called(scope) => {
                    Some(Code::Function)
                }
                _ => None,
            };
            self.foreign.extend(foreign.map(|code| (scope, code)));
            if model.root(scope) == scope {
                self.uncastable.extend(
                    self.uncastable_because(scope, used.get(&scope))
                        .map(|code| (scope, code)),
                );
            }
        }
        if !model
            .scopes()
            .any(|scope| matches!(model.scope_kind(scope), ScopeKind::Function(_)))
        {
            return;
        }
        self.keep_functions();
        for value in model.values() {
            let root = model.root(model.scope_of(value));
            if let ScopeKind::Function(_) = model.scope_kind(root)
                && let Some(types) = self.types.inferred.types_in_calls(root, value)
                && types.only().is_none()
                && types
                    .iter()
                    .any(|value_type| self.types.change.old(value_type).is_some())
            {
                self.foreign.insert(root, Code::Function);
            }
        }
    }

    /// A function keeps its types if all nodes that call it keep their types: nodes that an option
    /// names, nodes of training graphs, and nodes of functions that keep their types.
    fn keep_functions(&mut self) {
        let model = self.model;
        let functions: Vec<ScopeId> = model
            .scopes()
            .filter(|&scope| !model.callers(scope).is_empty())
            .collect();
        let mut known = None;
        // A function that is kept may keep those that it calls.
        while known.replace(self.kept_functions.len()) != Some(self.kept_functions.len()) {
            for &function in &functions {
                let because = |call: &NodeId| {
                    let top = model.top_level(call.scope);
                    let foreign = self
                        .foreign
                        .get(&top)
                        .copied()
                        .filter(|&code| code == Code::Training);
                    let is_named = self.selection.names_kept_node(model, *call);
                    foreign
                        .or_else(|| is_named.then_some(Code::Option))
                        .or_else(|| self.kept_functions.get(&top).copied())
                };
                let codes: Option<Vec<Code>> =
                    model.callers(function).iter().map(because).collect();
                if let Some(code) = codes.and_then(|codes| codes.first().copied()) {
                    self.kept_functions.insert(function, code);
                }
            }
        }
    }

    /// The old types of the values in each outermost scope.
    fn old_types(&self) -> HashMap<ScopeId, BTreeSet<DType>> {
        let mut used: HashMap<ScopeId, BTreeSet<DType>> = HashMap::default();
        for value in self.model.values() {
            if let Some(old) = self
                .types
                .value_type(value)
                .and_then(|value_type| self.types.change.old(value_type))
            {
                used.entry(self.model.root(self.model.scope_of(value)))
                    .or_default()
                    .insert(old);
            }
        }
        used
    }

    /// Why values of a scope, of these old types, cannot be cast.
    fn uncastable_because(&self, scope: ScopeId, used: Option<&BTreeSet<DType>>) -> Option<Code> {
        if !self.casts_exist(scope) {
            return Some(Code::Cast);
        }
        let (runtime, used) = (self.options.target?, used?);
        let runs = |&old: &DType| runs_casts(&runtime, self.model, scope, old, self.types.change);
        (!used.iter().all(runs)).then_some(Code::NoKernel)
    }

    /// Whether Cast of a scope supports the new type.
    fn casts_exist(&self, scope: ScopeId) -> bool {
        let schema = self
            .model
            .opset(scope, "")
            .and_then(|opset| schemas::schema("", "Cast", opset));
        schema.is_some_and(|schema| supports(schema, self.types.change.to))
    }
}
