//! Which versions of a runtime run a model.

use std::collections::BTreeMap;

use super::combination::combination;
use super::constants::numbers_of;
use crate::graph::{Model, NodeId, ScopeId, ScopeKind, ValueId};
use crate::ops::inference::Inferred;
use crate::ops::runtimes::Runtime;
use onnx_operators::kernels::{Operation, Table, Versions};

/// Operators without a kernel, or a file that is too new, for some versions of a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacking {
    /// The versions.
    pub versions: Versions,
    /// The newest opset that they load, if that of the model is newer.
    pub newest_opset: Option<i64>,
    /// The newest IR version that they load, if that of the model is newer.
    pub newest_ir_version: Option<i64>,
    /// The operators with their types, in alphabetic order.
    pub operators: Vec<String>,
}

/// Nodes for which versions of a runtime that run the model compute something else than ONNX
/// defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// A node.
    pub node: NodeId,
    /// Its operator with its types.
    pub operation: String,
    /// The versions.
    pub versions: Versions,
    /// What they compute.
    pub instead: &'static str,
}

/// Which versions of a runtime run a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Support {
    /// The versions that load the model and have kernels for all nodes, as far as types are known.
    pub runs: Versions,
    /// The nodes that the runtime computes otherwise, in document order.
    pub differing: Vec<Differing>,
    /// The other versions, with the reasons, oldest first.
    pub lacking: Vec<Lacking>,
    /// The number of nodes for which no version is certain to have a kernel: their types or the
    /// operators of their domain are unknown.
    pub undecided: usize,
    /// The same for each version of a runtime that was run: the nodes that it may compute right.
    pub undecided_in: Vec<usize>,
}

/// The operations of the nodes that a runtime runs: those of the main graph, and of functions that
/// it calls. A node of a function has one for each type that it has in calls.
pub fn operations<'m>(
    model: &'m Model,
    inferred: &'m Inferred,
) -> impl Iterator<Item = (NodeId, Operation<'m>)> {
    let scopes = model
        .scopes()
        .filter(move |&scope| is_run(model, inferred, scope));
    let nodes = scopes.flat_map(|scope| model.nodes(scope));
    nodes.flat_map(|node| {
        of_node(model, inferred, node)
            .into_iter()
            .map(move |operation| (node, operation))
    })
}

/// Whether a runtime runs the nodes of a scope: those of training graphs and of functions that
/// nothing calls are not run.
#[must_use]
pub fn is_run(model: &Model, inferred: &Inferred, scope: ScopeId) -> bool {
    let top = model.top_level(scope);
    match model.scope_kind(top) {
        ScopeKind::Function(_) => inferred.is_called(top),
        ScopeKind::Main => true,
        _ => false,
    }
}

fn of_node<'m>(model: &'m Model, inferred: &Inferred, id: NodeId) -> Vec<Operation<'m>> {
    operations_of(
        model,
        inferred,
        id,
        model.opset(id.scope, model.node(id).domain()).unwrap_or(1),
    )
}

/// The operations of a node in an opset of its domain: one, or one for each type that it has in
/// calls of its function.
#[must_use]
pub fn operations_of<'m>(
    model: &'m Model,
    inferred: &Inferred,
    id: NodeId,
    opset: i64,
) -> Vec<Operation<'m>> {
    let node = model.node(id);
    if model.callee(id).is_some() {
        return vec![Operation::call(node)];
    }
    let known = |value: Option<ValueId>| inferred.of(value?).value_type;
    let operation = Operation::new(
        node,
        opset,
        |index| known(model.input(id, index as u32)),
        |index| known(model.output(id, index as u32)),
    )
    .with_shapes(|index| {
        let input = model.input(id, index as u32)?;
        inferred.of(input).shape.clone()
    })
    .with_constants(|index| numbers_of(model, model.input(id, index as u32)?))
    .with_constant_inputs(|index| {
        let input = model.input(id, index as u32);
        input.is_some_and(|value| model.constant(value).is_ok())
    })
    .with_combination(combination(model, inferred, id, opset).map(|found| found.operator));
    let root = model.root(id.scope);
    if !matches!(model.scope_kind(root), ScopeKind::Function(_)) {
        return vec![operation];
    }
    let inputs = model
        .inputs(id)
        .map(|(index, value)| (false, index as usize, value));
    let outputs = model
        .outputs(id)
        .map(|(index, value)| (true, index as usize, value));
    let mut operations = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (is_output, index, value) in inputs
        .chain(outputs)
        .filter(|&(.., value)| known(Some(value)).is_none())
    {
        let Some(variable) = operation
            .variable(is_output, index)
            .filter(|variable| !seen.contains(variable))
        else {
            continue;
        };
        seen.push(variable);
        let types = inferred.types_in_calls(root, value).into_iter();
        operations.extend(
            types
                .flat_map(|types| types.iter().collect::<Vec<_>>())
                .map(|value_type| operation.with_type(variable, value_type)),
        );
    }
    if operations.is_empty() {
        operations.push(operation);
    }
    operations
}

/// The versions of each runtime that run a model.
#[must_use]
pub fn support(model: &Model, inferred: &Inferred, tables: &[Table]) -> Vec<Support> {
    let mut decided: Vec<Decided> = tables.iter().map(Decided::of).collect();
    for (node, operation) in operations(model, inferred) {
        for (decided, table) in decided.iter_mut().zip(tables) {
            decided.add(table, node, &operation);
        }
    }
    let decided = decided.into_iter().zip(tables);
    decided
        .map(|(decided, table)| support_of(model, table, decided))
        .collect()
}

/// What a table decides of the nodes of a model.
struct Decided {
    /// By operator and types, in alphabetic order. Nodes of equal ones may differ in attributes that
    /// a kernel refuses.
    missing: BTreeMap<String, Versions>,
    undecided: Count,
    /// By version; only of a runtime that was run.
    undecided_in: Vec<Count>,
    differing: Vec<Differing>,
}

/// A number of nodes. The operations of a node follow each other.
#[derive(Clone, Default)]
struct Count {
    nodes: usize,
    last: Option<NodeId>,
}

impl Count {
    fn add(&mut self, node: NodeId) {
        if self.last != Some(node) {
            self.nodes += 1;
            self.last = Some(node);
        }
    }
}

impl Decided {
    fn of(table: &Table) -> Decided {
        Decided {
            missing: BTreeMap::new(),
            undecided: Count::default(),
            undecided_in: vec![Count::default(); table.versions().len()],
            differing: Vec::new(),
        }
    }

    fn add(&mut self, table: &Table, node: NodeId, operation: &Operation) {
        let decision = table.support(operation);
        if decision.certain != decision.possible {
            self.undecided.add(node);
        }
        if table.is_measured() {
            let undecided = decision.possible & !decision.certain;
            let counts = self.undecided_in.iter_mut().enumerate();
            counts
                .filter(|(version, _)| undecided.contains(*version))
                .for_each(|(_, count)| count.add(node));
        }
        let is_new = self.differing.last().is_none_or(|last| last.node != node);
        if is_new && !decision.wrong.is_empty() {
            self.add_differing(table, node, operation);
        }
        if !Versions::between(0, table.versions().len() - 1).is_subset(decision.possible) {
            let missing = self.missing.entry(operation.to_string());
            *missing.or_insert(Versions::ALL) &= decision.possible;
        }
    }

    /// Adds what versions compute for a node: once for those that compute the same.
    fn add_differing(&mut self, table: &Table, node: NodeId, operation: &Operation) {
        let first = self.differing.len();
        for version in 0..table.versions().len() {
            let Some(instead) = table.instead(operation, version) else {
                continue;
            };
            let this = Versions::between(version, version);
            let mut known = self.differing[first..].iter_mut();
            match known.find(|known| known.instead == instead) {
                Some(known) => known.versions |= this,
                None => self.differing.push(Differing {
                    node,
                    operation: operation.to_string(),
                    versions: this,
                    instead,
                }),
            }
        }
    }
}

fn support_of(model: &Model, table: &Table, decided: Decided) -> Support {
    let Decided {
        missing,
        undecided,
        undecided_in,
        differing,
    } = decided;
    let mut lacking: Vec<Lacking> = Vec::new();
    let (opset, ir_version) = (model.opset(ScopeId::MAIN, ""), model.ir_version());
    let mut runs = Versions::NONE;
    for (index, &version) in table.versions().iter().enumerate() {
        let row = Runtime::of_version(table.runtime, version);
        let (newest_opset, newest_ir_version) =
            row.map_or((None, None), |row| row.exceeded(opset, ir_version));
        let operators = missing
            .iter()
            .filter(|(_, versions)| !versions.contains(index))
            .map(|(text, _)| text.clone());
        let operators: Vec<String> = operators.collect();
        let this = Versions::between(index, index);
        if newest_opset.is_none() && newest_ir_version.is_none() && operators.is_empty() {
            runs |= this;
            continue;
        }
        let reasons = |lacking: &Lacking| {
            (lacking.newest_opset, lacking.newest_ir_version) == (newest_opset, newest_ir_version)
                && lacking.operators == operators
        };
        match lacking.iter_mut().find(|lacking| reasons(lacking)) {
            Some(same) => same.versions |= this,
            None => lacking.push(Lacking {
                versions: this,
                newest_opset,
                newest_ir_version,
                operators,
            }),
        }
    }
    Support {
        runs,
        differing,
        lacking,
        undecided: undecided.nodes,
        undecided_in: undecided_in.iter().map(|count| count.nodes).collect(),
    }
}
