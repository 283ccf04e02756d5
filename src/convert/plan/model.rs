//! The conversion plan: converts every node of every scope, innermost scopes first, into edits.
//!
//! Large scopes are planned in parts, on all cores. Parts that want the same fresh name are planned
//! again, in order.

use std::collections::BTreeSet;

use super::functions::Functions;
use super::ir;
use super::kernels::{Kernels, Wanted};
use super::part::{Part, Shared};
use crate::base::error::Invalid;
use crate::base::hash::HashSet;
use crate::base::parallel;
use crate::base::progress::{Counter, Unit};
use crate::base::threshold::Threshold;
use crate::convert::bodies::{Bodies, uses};
use crate::convert::context::derived_constants::constant_inputs;
use crate::convert::legalize::{Legalized, Places, legalized};
use crate::convert::simplify::CheckOfPasses;
use crate::convert::{Blocker, Expand, Expanded, NodeChange, Options};
use crate::graph::{Edit, FreshNames, Model, NodeId, Origin, ScopeId, ScopeKind, ValueId};
use crate::ops::inference::Deferred;

/// The conversion plan of a model: edits and their report, or blockers.
pub(in crate::convert) struct ConversionPlan {
    pub edits: Vec<Edit>,
    /// Whether a graph gets an initializer, perhaps as part of a replaced node.
    pub adds_initializers: bool,
    pub changes: Vec<NodeChange>,
    pub expansions: Vec<Expanded>,
    pub warnings: Vec<NodeChange>,
    pub blockers: Vec<Blocker>,
    /// The functions with blockers that depend on types.
    pub blocked_by_types: BTreeSet<ScopeId>,
    pub kernels: Kernels,
    /// The model that is converted, if values of it are carried by wider types.
    pub legalized: Option<Legalized>,
}

/// The number of nodes per job of a thread.
const PART: Threshold = Threshold::new("part of planned nodes", 1024);

impl ConversionPlan {
    /// Plans the conversion of every node; those that none of the wanted versions of a runtime runs
    /// are blockers. A scope that does not import ai.onnx has no nodes of it.
    ///
    /// # Errors
    /// If the operation is cancelled.
    pub fn new(
        model: &Model,
        inferred: &Deferred,
        options: &Options,
        wanted: Option<Wanted>,
        check: Option<CheckOfPasses>,
    ) -> Result<ConversionPlan, Invalid> {
        let adds_functions = options.expand == Expand::Function
            && ir::allows_functions(model, options)
            && !wanted.is_some_and(|wanted| wanted.refuses_calls());
        let functions = adds_functions.then(|| Functions::new(model, options.opset));
        let mut planner = ScopePlanner {
            model,
            options,
            inferred,
            wanted,
            check,
            functions,
            bodies: Bodies::new(model),
            adds_initializers: false,
            all: Part::default(),
        };
        let mut names = FreshNames::new(model);
        let nodes = model
            .scopes()
            .map(|scope| model.nodes(scope).len() as u64)
            .sum();
        let counter = model.control().counter(Unit::Nodes, nodes);
        for scope in model.scopes().rev() {
            let Some(from) = model.opset(scope, "") else {
                planner.kept(scope);
                continue;
            };
            if model.enclosing(scope).is_none() {
                planner.root(scope, from);
            }
            planner.scope(scope, from, &mut names, &counter)?;
        }
        // Nodes of scopes that do not import ai.onnx are not looked at.
        counter.finish();
        Ok(planner.finish())
    }

    /// Like [`ConversionPlan::new`]. If that has blockers, values of types that the target lacks are
    /// carried by wider types.
    ///
    /// # Errors
    /// If the operation is cancelled.
    pub fn with_legal_types(
        model: &Model,
        inferred: &Deferred,
        options: &Options,
        wanted: Option<Wanted>,
        check: Option<CheckOfPasses>,
    ) -> Result<ConversionPlan, Invalid> {
        let plan = ConversionPlan::new(model, inferred, options, wanted, check)?;
        if plan.blockers.is_empty() || options.no_legalize {
            return Ok(plan);
        }
        let Some(legalized) = legalized(model, inferred.of(model), options) else {
            return Ok(plan);
        };
        let inferred = Deferred::with(options.contested);
        let mut plan = ConversionPlan::new(&legalized.model, &inferred, options, wanted, check)?;
        plan.place_at_original_nodes(&legalized.places);
        plan.legalized = Some(legalized);
        Ok(plan)
    }

    /// The report names the nodes of the model before legalization.
    pub fn place_at_original_nodes(&mut self, places: &Places) {
        for blocker in &mut self.blockers {
            if let Some(place) = places.of(&blocker.node) {
                blocker.node.clone_from(&place.path);
                blocker.op.clone_from(&place.op);
            }
        }
        let changes = self.changes.iter_mut().chain(&mut self.warnings);
        let expansions = self.expansions.iter_mut().map(|each| &mut each.node);
        for node in changes.map(|each| &mut each.node).chain(expansions) {
            if let Some(place) = places.of(node) {
                *node = place.path.as_str().into();
            }
        }
    }

    /// The opset closest to the target without blockers; none if that is not between the two.
    /// Functions may import opsets that are not between them either. There is none if a node is
    /// blocked in every opset.
    pub fn nearest(&self, from: i64, target: i64) -> Option<i64> {
        let is_step = |blocker: &Blocker| {
            blocker.reason.is_about_runtime() || blocker.opset_step.0 != blocker.opset_step.1
        };
        if !self.blockers.iter().all(is_step) {
            return None;
        }
        let conversions = self
            .blockers
            .iter()
            .filter(|blocker| !blocker.reason.is_about_runtime());
        let possible = conversions.map(|blocker| blocker.opset_step.0);
        if target > from {
            possible.min().filter(|&opset| opset > from)
        } else {
            possible.max().filter(|&opset| opset < from)
        }
    }
}

struct ScopePlanner<'m> {
    model: &'m Model,
    options: &'m Options,
    inferred: &'m Deferred,
    wanted: Option<Wanted>,
    check: Option<CheckOfPasses>,
    /// The functions that operators are expanded into, if that is requested.
    functions: Option<Functions>,
    bodies: Bodies<'m>,
    adds_initializers: bool,
    /// The plan, except for the nodes, which are in `bodies`.
    all: Part,
}

impl<'m> ScopePlanner<'m> {
    /// Sets the opset even if it is the same: a model of an old IR version may import none.
    fn root(&mut self, root: ScopeId, from: i64) {
        if from != self.options.opset || root == ScopeId::MAIN {
            self.all.edits.push(Edit::SetOpset {
                root,
                version: self.options.opset,
            });
        }
    }

    /// Checks the nodes of a scope that does not import ai.onnx.
    fn kept(&mut self, scope: ScopeId) {
        let Some(wanted) = self.wanted else { return };
        for id in self.model.nodes(scope) {
            let checked = wanted.check_kept(self.model, self.inferred, id, self.options.opset);
            self.all.check(self.model, id, self.options.opset, checked);
        }
    }

    /// Plans the nodes of a scope, as if one after the other.
    fn scope(
        &mut self,
        scope: ScopeId,
        from: i64,
        names: &mut FreshNames<'m>,
        counter: &Counter,
    ) -> Result<(), Invalid> {
        let ScopePlanner {
            model,
            options,
            inferred,
            wanted,
            check,
            ..
        } = *self;
        let shared = Shared {
            model,
            options,
            inferred,
            wanted,
            check,
            from,
            counter,
        };
        let (nodes, of_part) = (model.nodes(scope), PART.get());
        if nodes.len() < 2 * of_part || !cfg!(feature = "parallel") {
            self.add(shared.plan(&nodes.collect::<Vec<_>>(), &self.bodies, names)?);
            return Ok(());
        }
        let plan = |(planner, names): &(&mut Self, &mut FreshNames<'m>), nodes: Vec<NodeId>| {
            let mut names = names.for_part();
            Ok((
                shared.plan(&nodes, &planner.bodies, &mut names)?,
                names,
                nodes,
            ))
        };
        parallel::try_map_in_batches(
            &mut (self, names),
            nodes,
            of_part,
            plan,
            |(planner, names), planned| {
                let (mut part, names_of_part, nodes) = planned?;
                if !names.join(names_of_part) {
                    part = shared.plan(&nodes, &planner.bodies, names)?;
                }
                planner.add(part);
                Ok(())
            },
        )
    }

    fn add(&mut self, part: Part) {
        let mut callable = part.callable.into_iter().peekable();
        for (id, mut nodes) in part.nodes {
            let is_callable = callable.next_if_eq(&id).is_some();
            // In functions, the calls would be nested.
            if let Some(functions) = self.functions.as_mut().filter(|_| is_callable)
                && !matches!(
                    self.model.scope_kind(self.model.root(id.scope)),
                    ScopeKind::Function(_)
                )
            {
                nodes = functions.call(self.model.node(id), &nodes.get()).into();
            }
            self.bodies.forget(id);
            self.bodies.nodes.push(id, nodes);
        }
        self.adds_initializers |= !part.initializers.is_empty();
        for (scope, tensor) in part.initializers {
            self.bodies.add_initializer(scope, tensor);
        }
        let Part {
            nodes: _,
            callable: _,
            initializers: _,
            released,
            edits,
            changes,
            expansions,
            warnings,
            blockers,
            kernels,
        } = &mut self.all;
        released.extend(part.released);
        edits.extend(part.edits);
        changes.extend(part.changes);
        expansions.extend(part.expansions);
        warnings.extend(part.warnings);
        blockers.extend(part.blockers);
        kernels.add(part.kernels);
    }

    fn finish(mut self) -> ConversionPlan {
        let (mut edits, removed) = self.remove_released();
        let Part {
            edits: others,
            changes,
            expansions,
            warnings,
            blockers,
            kernels,
            ..
        } = self.all;
        edits.extend(others);
        let initializers = self.bodies.take_initializers().into_iter();
        edits.extend(initializers.map(|(scope, tensor)| Edit::AddInitializer {
            scope,
            tensor: Box::new(tensor),
        }));
        let functions = self
            .functions
            .take()
            .map(Functions::into_added)
            .unwrap_or_default();
        edits.extend(
            functions
                .into_iter()
                .map(|function| Edit::AddFunction(Box::new(function))),
        );
        let by_types = blockers
            .iter()
            .filter(|(id, blocker)| blocker.reason.is_about_type() && !removed.contains(id))
            .map(|(id, _)| self.model.root(id.scope));
        let blocked_by_types = by_types
            .filter(|&root| matches!(self.model.scope_kind(root), ScopeKind::Function(_)))
            .collect();
        // One more is the IR version.
        edits.reserve_exact(self.bodies.nodes.len() + 1);
        edits.extend(self.bodies.nodes.into_edits());
        ConversionPlan {
            edits,
            adds_initializers: self.adds_initializers,
            changes: in_order(changes, &removed),
            expansions: in_order(expansions, &removed),
            warnings: in_order(warnings, &removed),
            blockers: in_order(blockers, &removed),
            blocked_by_types,
            kernels,
            legalized: None,
        }
    }

    /// Removes constants that lost their last use, and the nodes that computed them, unless their
    /// name must stay. Returns the edits that remove initializers, and the nodes.
    fn remove_released(&mut self) -> (Vec<Edit>, HashSet<NodeId>) {
        let model = self.model;
        let (mut edits, mut removed) = (Vec::new(), HashSet::default());
        let mut seen = HashSet::default();
        let mut released = std::mem::take(&mut self.all.released);
        released.reverse();
        while let Some(value) = released.pop() {
            if self.is_needed(value, &removed) {
                continue;
            }
            match model.origin(value) {
                Origin::Initializer { input: None, .. } if seen.insert(value) => {
                    edits.push(Edit::RemoveInitializer(value));
                }
                Origin::Node { node, .. } => {
                    let mut outputs = model.outputs(node);
                    if outputs.all(|(_, output)| !self.is_needed(output, &removed))
                        && removed.insert(node)
                    {
                        released.extend(constant_inputs(model, node));
                        self.bodies.remove(node);
                    }
                }
                _ => {}
            }
        }
        (edits, removed)
    }

    /// Whether a value is used by nodes of the plan, or its name must stay.
    fn is_needed(&self, value: ValueId, removed: &HashSet<NodeId>) -> bool {
        let model = self.model;
        let name = model.name(value);
        let mut users = model.uses(value).map(|(user, _)| user);
        !model.scopes_that_output(value).is_empty()
            || model.non_node_use(value).is_some()
            || users.any(|user| match self.bodies.nodes.get(user) {
                Some(nodes) => nodes.get().iter().any(|node| uses(node, name)),
                None => !removed.contains(&user),
            })
    }
}

fn in_order<T>(mut items: Vec<(NodeId, T)>, removed: &HashSet<NodeId>) -> Vec<T> {
    items.retain(|(id, _)| !removed.contains(id));
    items.sort_by_key(|(id, _)| *id);
    let mut items: Vec<T> = items.into_iter().map(|(_, item)| item).collect();
    // The list reuses the memory of the pairs.
    items.shrink_to_fit();
    items
}
