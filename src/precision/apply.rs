//! Turns the types of the values into edits.
//!
//! A value with uses of both types gets one Cast, directly behind its producer. A value that the
//! model already casts to the other type gets none, if the cast is before all uses. An output keeps
//! its name: if it is cast, its producer gets another one.

use std::collections::{BTreeMap, BTreeSet};

use super::assignment::PrecisionAssignment;
use super::attributes;
use super::casts::{cast_node, needs_declaration};
use super::reason::Code;
use super::report::{AddedCast, KeptNode, LaterOpset, NarrowedTensor, Report};
use super::rules::refers_to_function;
use super::scopes::casts_since;
use super::types::{Assignment, Constraint, Types, ValueKind, Variable};
use super::uses::{Use, User};
use super::weights::{self, Weight};
use crate::base::error::{Error, shortened};
use crate::base::hash::HashMap;
use crate::base::reason::Reason;
use crate::casts::admits;
use crate::graph::{Edit, FreshNames, Model, NodeId, Origin, ScopeId, TypePlace, ValueId};
use crate::ops::schemas::ValueType;
use crate::protobuf::schema::NodeProto;
use onnx_cast::{DType, collapses};

impl PrecisionAssignment<'_, '_> {
    /// The edits that apply the assignment, and their report.
    ///
    /// # Errors
    /// If a data file cannot be read.
    pub fn edits(&self) -> Result<(Vec<Edit>, Report), Error> {
        let types = self.types;
        let mut edits = Edits::new(self);
        edits.removed.extend(types.noop_casts.keys());
        let emulation = if self.emulates {
            Some(edits.emulate()?)
        } else {
            None
        };
        if emulation.is_none() {
            edits.remove_casts();
            edits.name_values();
            edits.name_results_of_casts();
            edits.retype();
            edits.list.extend(attributes::edits(self));
        }
        edits.rename_uses();
        let casts_removed = edits
            .removed
            .iter()
            .map(|&node| types.model.node_path(node))
            .collect();
        let mut list = edits.list;
        list.extend(edits.removed.into_iter().map(Edit::remove_node));
        list.reserve(self.weights.len());
        let mut tensors = Vec::with_capacity(self.weights.len());
        let changes = |weight: &&Weight| {
            self.assignment(weight.value) == Assignment::New
                && (!self.emulates || weight.survey.changes())
        };
        for weight in self.weights.iter().filter(changes) {
            let dtypes: &[DType] = if self.emulates {
                &[types.change.to, DType::Float]
            } else {
                &[types.change.to]
            };
            list.push(weights::edit(types.model, weight, dtypes)?);
            tensors.push(NarrowedTensor {
                tensor: weight.path(types.model),
                elements: weight.elements(),
                from: self.dtype(weight.value, Assignment::Old),
                to: types.change.to,
                overflowed: weight.survey.overflowed,
                largest: weight.survey.largest(),
                bound: weight.bound,
                became_zero: weight.survey.became_zero,
                became_subnormal: weight.survey.became_subnormal,
                largest_relative_error: weight.survey.largest_relative_error,
            });
        }
        let is_changed = |value: &ValueId| match types.kinds[value.index()] {
            Some(ValueKind::CastOf(_)) | None => false,
            Some(_) => self.assignment(*value) == Assignment::New,
        };
        let (kept, later_opset) = self.kept();
        let report = Report {
            from: types.change.from,
            to: types.change.to,
            changed_values: types.model.values().filter(is_changed).count(),
            emulation,
            functions_added: Vec::new(),
            casts_added: edits.added,
            casts_removed,
            tensors,
            kept,
            later_opset,
            unmatched: Vec::new(),
            notes: Vec::new(),
        };
        Ok((list, report))
    }

    /// The nodes that compute values of the old type, and the opset in which some of them would
    /// not.
    fn kept(&self) -> (Vec<KeptNode>, Option<LaterOpset>) {
        let model = self.types.model;
        let (mut kept, mut later, mut admitted) = (Vec::new(), 0, 0);
        for node in model.scopes().flat_map(|scope| model.nodes(scope)) {
            let is_kept = |&(_, value): &(u32, ValueId)| {
                matches!(
                    self.types.kinds[value.index()],
                    Some(ValueKind::Computed | ValueKind::Stated)
                ) && self.assignment(value) == Assignment::Old
            };
            let Some((_, value)) = model
                .outputs(node)
                .filter(is_kept)
                .min_by_key(|(index, _)| *index)
            else {
                continue;
            };
            let reason = match self.classes.constraint(value.index() as Variable) {
                Some(Constraint::FixedOld(reason)) => self.types.reasons[reason as usize],
                _ => Code::Casts.into(),
            };
            let since = match reason.code {
                Code::Cast => casts_since(model, node.scope, self.types.change.to),
                _ => reason.operator.and_then(|operator| operator.since),
            };
            if let Some(since) =
                since.filter(|&since| self.kernels.runs_in(self.types, node, since))
            {
                (later, admitted) = (later.max(since), admitted + 1);
            }
            kept.push(KeptNode {
                node: model.node_path(node),
                op: model.node(node).op_type().to_owned(),
                reason: Reason::new(
                    reason.code,
                    self.kernels
                        .reason(node)
                        .unwrap_or_else(|| reason.to_string()),
                ),
            });
        }
        (
            kept,
            (admitted > 0).then_some(LaterOpset {
                opset: later,
                nodes: admitted,
            }),
        )
    }
}

pub(super) struct Edits<'d, 'p, 'm> {
    pub precision: &'d PrecisionAssignment<'p, 'm>,
    pub types: &'p Types<'m>,
    pub model: &'m Model,
    pub names: FreshNames<'m>,
    /// The names of a value by assignment, where they are not that of the model.
    pub forms: HashMap<ValueId, [Option<String>; 2]>,
    /// Results of casts that are removed, and what was cast.
    replaced: BTreeMap<ValueId, ValueId>,
    removed: BTreeSet<NodeId>,
    pub added: Vec<AddedCast>,
    pub list: Vec<Edit>,
}

impl<'d, 'p, 'm> Edits<'d, 'p, 'm> {
    fn new(precision: &'d PrecisionAssignment<'p, 'm>) -> Edits<'d, 'p, 'm> {
        let (types, model) = (precision.types, precision.types.model);
        Edits {
            precision,
            types,
            model,
            names: FreshNames::new(model),
            forms: HashMap::default(),
            replaced: BTreeMap::new(),
            removed: BTreeSet::new(),
            added: Vec::new(),
            list: Vec::new(),
        }
    }

    pub fn uses(&self, value: ValueId) -> &'p [Use] {
        self.types.uses.of(value)
    }

    /// The name of a value with an assignment.
    fn name(&self, value: ValueId, assignment: Assignment) -> &str {
        let name = self
            .forms
            .get(&value)
            .and_then(|forms| forms[assignment as usize].as_deref());
        name.unwrap_or_else(|| self.model.name(value))
    }

    /// The assignment of a use: a cast to the new type that stays uses the value as it is.
    pub fn assignment(&self, used: &Use) -> Assignment {
        match used.user {
            User::Input(node, _)
                if self.types.casts.contains_key(&node) && !self.removed.contains(&node) =>
            {
                self.precision.assignment(used.value)
            }
            _ => self.precision.assignment_of(used.variable),
        }
    }

    /// Removes casts to the new type of values that have it now.
    fn remove_casts(&mut self) {
        for (&node, &(input, output)) in &self.types.casts {
            if self.precision.assignment(input) == Assignment::New {
                self.replace_cast(node, input, output);
            }
        }
    }

    /// Removes a cast of a value to the new type, if the users of its result can use the value in
    /// that type.
    fn replace_cast(&mut self, node: NodeId, input: ValueId, output: ValueId) {
        let (model, is_used) = (self.model, self.model.uses(output).next().is_some());
        if is_used && model.is_removable(output) && model.can_replace(input, output) {
            self.replaced.insert(output, input);
            self.removed.insert(node);
        }
    }

    /// Whether a value has no type that may change, or is the result of a cast that is removed.
    fn is_untouched(&self, value: ValueId, assignment: Assignment) -> bool {
        match self.types.kinds[value.index()] {
            Some(ValueKind::CastOf(_)) => assignment == Assignment::New,
            kind => kind.is_none(),
        }
    }

    /// Adds the casts of values that are used with both types.
    fn name_values(&mut self) {
        let model = self.model;
        for value in model.values() {
            let assignment = self.precision.assignment(value);
            if self.is_untouched(value, assignment) {
                continue;
            }
            let scope = model.scope_of(value);
            let others: Vec<User> = self
                .uses(value)
                .iter()
                .filter(|used| self.assignment(used) != assignment)
                .map(|used| used.user)
                .collect();
            if others.is_empty() {
                continue;
            }
            let is_output = others
                .iter()
                .any(|user| matches!(user, User::Output(of, _) if *of == scope));
            if !is_output
                && assignment == Assignment::Old
                && let Some(existing) = self.existing_cast(value, &others)
            {
                self.forms.entry(value).or_default()[Assignment::New as usize] =
                    Some(model.name(existing).to_owned());
                continue;
            }
            self.add_cast(value, assignment, is_output);
            if assignment == Assignment::Old && !is_output {
                // Those behind the one that was added.
                for (node, output) in self.casts_of(value).collect::<Vec<_>>() {
                    self.replace_cast(node, value, output);
                }
            }
        }
    }

    /// The casts of a value to the new type that the model has in the scope of the value, with
    /// their results, except those that are removed.
    fn casts_of(&self, value: ValueId) -> impl Iterator<Item = (NodeId, ValueId)> {
        let scope = self.model.scope_of(value);
        self.uses(value)
            .iter()
            .filter_map(move |used| match used.user {
                User::Input(node, _) if node.scope == scope && !self.removed.contains(&node) => {
                    self.types
                        .casts
                        .get(&node)
                        .map(|&(_, output)| (node, output))
                }
                _ => None,
            })
    }

    fn add_cast(&mut self, value: ValueId, assignment: Assignment, is_output: bool) {
        let model = self.model;
        let (scope, name) = (model.scope_of(value), model.name(value));
        let other = if assignment == Assignment::Old {
            Assignment::New
        } else {
            Assignment::Old
        };
        let (from, to) = (
            self.precision.dtype(value, assignment),
            self.precision.dtype(value, other),
        );
        let cast_name = self.names.fresh(&format!("{name}_to_{to}"));
        let (input, output) = if is_output {
            (self.names.fresh(&format!("{name}_{from}")), name.to_owned())
        } else {
            (name.to_owned(), cast_name.clone())
        };
        let forms = self.forms.entry(value).or_default();
        forms[assignment as usize] = Some(input.clone());
        forms[other as usize] = Some(output.clone());
        if is_output && let Origin::Node { node, output } = model.origin(value) {
            self.list.push(Edit::RenameOutput {
                node,
                output,
                name: input.clone(),
            });
        }
        if needs_declaration(model, scope) {
            let (name, to) = if is_output {
                (input.clone(), from)
            } else {
                (output.clone(), to)
            };
            self.list.push(Edit::SetType {
                at: TypePlace::Name { scope, name },
                from: None,
                to,
            });
        }
        // Of a cast that is exact, the new one starts where that does.
        let source = if is_output {
            None
        } else {
            self.cast_before(value, to)
        };
        let (input, value_name, from) = match source {
            Some((source, from)) => (model.name(source).to_owned(), model.name(source), from),
            None => (input, name, from),
        };
        let node = cast_node(model, scope, &cast_name, [&input, &output], to);
        self.insert_behind(value, node, [&input, &output], value_name, [from, to]);
    }

    /// Inserts a node behind that which makes a value, and reports it as a change of a value of the
    /// model between two types.
    pub fn insert_behind(
        &mut self,
        value: ValueId,
        node: NodeProto,
        [input, output]: [&str; 2],
        of: &str,
        [from, to]: [DType; 2],
    ) {
        let (model, scope) = (self.model, self.model.scope_of(value));
        let position = model
            .producer(value)
            .filter(|node| node.scope == scope)
            .map_or(0, |node| node.position + 1);
        self.added.push(AddedCast {
            node: format!("{}/{}", model.scope_path(scope), shortened(node.name())),
            input: input.to_owned(),
            output: output.to_owned(),
            value: of.to_owned(),
            from,
            to,
        });
        self.list.push(Edit::InsertNodes {
            scope,
            position,
            nodes: vec![node],
        });
    }

    /// The value of which one cast has the result of the casts that make a value and of one more to
    /// a type, and its type: that for which `redundant-casts` would change the input of the cast.
    fn cast_before(&self, value: ValueId, to: DType) -> Option<(ValueId, DType)> {
        let (model, scope) = (self.model, self.model.scope_of(value));
        let step = |&(value, from): &(ValueId, DType)| {
            let node = model
                .producer(value)
                .filter(|&node| model.is_op(node, "Cast") && !refers_to_function(model, node))?;
            let input = model.cast_node(node).ok()?.input;
            let Some(ValueType::Tensor(before)) = self.types.value_type(input) else {
                return None;
            };
            let is_one_cast = self.types.kinds[input.index()].is_none()
                && collapses(before, from, to)
                && admits(model, node, before);
            (is_one_cast && model.is_visible(input, scope)).then_some((input, before))
        };
        let start = (value, self.types.old(value)?);
        std::iter::successors(Some(start), step).skip(1).last()
    }

    /// The result of an existing cast of a value to the new type, if the cast precedes all of the
    /// users, and the result is visible to them.
    fn existing_cast(&self, value: ValueId, users: &[User]) -> Option<ValueId> {
        let (model, scope) = (self.model, self.model.scope_of(value));
        let first = users.iter().map(|user| self.position(*user, scope)).min()?;
        let is_seen = |output: ValueId| {
            users.iter().all(|user| match user {
                User::Input(node, _) => model.is_visible(output, node.scope),
                User::Output(..) => false,
            })
        };
        let fitting = self
            .casts_of(value)
            .filter(|(node, output)| node.position < first && is_seen(*output));
        fitting
            .min_by_key(|(node, _)| *node)
            .map(|(_, output)| output)
    }

    /// The position in a scope of the node that is, or contains, a user.
    fn position(&self, user: User, scope: ScopeId) -> u32 {
        let at = match user {
            User::Input(node, _) => node,
            User::Output(of, _) => NodeId {
                scope: of,
                position: u32::MAX,
            },
        };
        self.model
            .with_owners(at)
            .find(|at| at.scope == scope)
            .map_or(0, |at| at.position)
    }

    /// Consumers of a cast from the new type use what is cast.
    fn name_results_of_casts(&mut self) {
        let model = self.model;
        let is_cast_of = |kind: &Option<ValueKind>| matches!(kind, Some(ValueKind::CastOf(_)));
        if !self.types.kinds.iter().any(is_cast_of) {
            return;
        }
        for &node in model.topological_order() {
            for (_, value) in model.outputs(node) {
                let Some(ValueKind::CastOf(source)) = self.types.kinds[value.index()] else {
                    continue;
                };
                if self.precision.assignment(value) == Assignment::Old {
                    continue;
                }
                let name = match self.replaced.get(&source) {
                    Some(&cast) => self.name(cast, Assignment::New).to_owned(),
                    None => model.name(source).to_owned(),
                };
                self.forms.entry(value).or_default()[Assignment::New as usize] = Some(name);
                let is_needed = self
                    .uses(value)
                    .iter()
                    .any(|used| self.assignment(used) == Assignment::Old);
                if !is_needed && !self.uses(value).is_empty() && model.is_removable(value) {
                    self.removed.insert(node);
                }
            }
        }
    }

    fn rename_uses(&mut self) {
        let model = self.model;
        for used in self.types.uses.iter() {
            // Where no cast of a type to itself is removed, the name is the one that is used already.
            if self.types.sources.is_empty() && !self.forms.contains_key(&used.value) {
                continue;
            }
            let name = self.name(used.value, self.assignment(used));
            if let User::Input(node, input) = used.user
                && model
                    .input(node, input)
                    .is_none_or(|given| name != model.name(given))
            {
                self.list.push(Edit::RenameInput {
                    node,
                    input,
                    name: name.to_owned(),
                });
            }
        }
        for (&output, &input) in &self.replaced {
            for (node, index) in model.uses(output) {
                let name = self.name(input, Assignment::New).to_owned();
                self.list.push(Edit::RenameInput {
                    node,
                    input: index,
                    name,
                });
            }
        }
    }

    /// Changes the declared types of the names that have the new type now.
    fn retype(&mut self) {
        let (model, dtype) = (self.model, self.types.change.to);
        for value in model.values() {
            let assignment = self.precision.assignment(value);
            if self.is_untouched(value, assignment) {
                continue;
            }
            // A body may return a value of an enclosing scope.
            let scope = model.scope_of(value);
            let returned = model.scopes_that_output(value).iter().copied();
            let declared = model.declared(value).map(|_| scope);
            let mut scopes = declared
                .into_iter()
                .chain(returned.filter(|&other| other != scope))
                .peekable();
            if scopes.peek().is_none() {
                continue;
            }
            let name = model.name(value);
            if self.name(value, Assignment::New) == name
                && (assignment == Assignment::New || self.name(value, Assignment::Old) != name)
            {
                let from = self.precision.dtype(value, Assignment::Old);
                self.list.extend(scopes.map(|scope| Edit::SetType {
                    at: TypePlace::Name {
                        scope,
                        name: name.to_owned(),
                    },
                    from: Some(from),
                    to: dtype,
                }));
            }
        }
    }
}
