//! The edits of an emulation: the model stays FLOAT, and every value that would get a narrower type
//! is rounded to the numbers of that type.
//!
//! 1. A constant has the rounded numbers.
//! 2. What a node computes is rounded behind the node, unless the node gives elements of its
//!    inputs, or runs bodies that round.
//! 3. An input of the model that would have the type is rounded before its uses.
//! 4. A value that would be cast is rounded where the cast would be.
//! 5. A cast to FLOAT would change nothing. The casts between types that the model has stay, except
//!    those of FLOAT to itself.

use std::collections::BTreeSet;

use super::apply::Edits;
use super::refusal::{Refusal, Remedy};
use super::report::Emulation;
use super::rounding::{self, DOMAIN, SINCE_OPSET, function_name};
use super::rules::moves;
use super::types::{Assignment, ValueKind};
use super::uses::User;
use crate::base::error::{Error, ErrorKind};
use crate::base::hash::HashSet;
use crate::graph::{Edit, NodeId, Origin, ScopeId, ScopeKind, ValueId, is_onnx_domain};
use crate::ops::schemas::ValueType;
use crate::protobuf::ir_version::FUNCTIONS;
use crate::protobuf::raw;
use crate::protobuf::schema::NodeProto;
use onnx_cast::DType;

/// Operators that select among the elements of their inputs, or change their signs, or give small
/// integers. Those that only move elements are in `rules`.
const SELECTIONS: &[&str] = &[
    "Abs",
    "Ceil",
    "Floor",
    "GlobalMaxPool",
    "Hardmax",
    "Max",
    "MaxPool",
    "Min",
    "Neg",
    "OneHot",
    "ReduceMax",
    "ReduceMin",
    "Relu",
    "Round",
    "Sign",
    "TopK",
];

/// Operators whose results are those of their bodies.
const CONTROL_FLOW: &[&str] = &["If", "Loop", "Scan", "SequenceMap"];

impl Edits<'_, '_, '_> {
    /// Adds the roundings, and the function that they call.
    ///
    /// # Errors
    /// If a value that is not a tensor would have to be rounded, or the opset has no function that
    /// rounds.
    pub fn emulate(&mut self) -> Result<Emulation, Error> {
        let model = self.model;
        let constants: HashSet<ValueId> = self
            .precision
            .weights
            .iter()
            .map(|weight| weight.value)
            .collect();
        for value in model.values() {
            match self.types.kinds[value.index()] {
                None | Some(ValueKind::CastOf(_)) => {}
                Some(_) => match self.precision.assignment(value) {
                    Assignment::New => self.round_at_producer(value, constants.contains(&value))?,
                    Assignment::Old => self.round_for_users(value),
                },
            }
        }
        let to = self.types.change.to;
        if !self.added.is_empty() {
            self.add_function(to)?;
        }
        let function = format!("{DOMAIN}:{}", function_name(to));
        Ok(Emulation {
            function,
            roundings: std::mem::take(&mut self.added),
        })
    }

    fn round_at_producer(&mut self, value: ValueId, is_constant: bool) -> Result<(), Error> {
        let model = self.model;
        match model.origin(value) {
            Origin::Node { node, .. } if is_constant || self.gives_rounded(node) => Ok(()),
            Origin::Node { .. } => {
                self.expect_tensor(value)?;
                self.add_rounding(value, true);
                Ok(())
            }
            Origin::Input(_) | Origin::Initializer { input: Some(_), .. }
                if self.is_given_by_callers(value) =>
            {
                self.expect_tensor(value)?;
                let [_, rounded] = self.add_rounding(value, false);
                self.forms
                    .insert(value, [Some(rounded.clone()), Some(rounded)]);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether callers of the model give a value.
    fn is_given_by_callers(&self, value: ValueId) -> bool {
        let model = self.model;
        let is_fixed = matches!(model.origin(value), Origin::Initializer { .. })
            && !model.is_overridable(value);
        model.scope_of(value) == ScopeId::MAIN && !is_fixed
    }

    /// Whether the results of a node are rounded if its inputs are.
    fn gives_rounded(&self, node: NodeId) -> bool {
        let (model, operator) = (self.model, self.model.node(node).op_type());
        if model.callee(node).is_some() {
            return true;
        }
        let is_selecting =
            moves(operator) || SELECTIONS.contains(&operator) || CONTROL_FLOW.contains(&operator);
        // Pad had its number in an attribute, which is not rounded, before opset 11.
        let has_number = operator == "Pad"
            && model
                .node(node)
                .attribute
                .iter()
                .any(|attribute| attribute.name() == "value");
        is_onnx_domain(model.node(node).domain())
            && is_selecting
            && operator != "Cast"
            && !has_number
    }

    fn expect_tensor(&self, value: ValueId) -> Result<(), Error> {
        let model = self.model;
        if matches!(self.types.value_type(value), Some(ValueType::Tensor(_))) {
            return Ok(());
        }
        let name = model.name(value);
        let what = format!("'{name}' is not a tensor, and cannot be rounded");
        let remedy = Remedy::KeepValue(name.to_owned());
        Err(Error::caused_by(Refusal::new(
            ErrorKind::Usage,
            what,
            remedy,
        )))
    }

    fn round_for_users(&mut self, value: ValueId) {
        let scope = self.model.scope_of(value);
        let mut users = self
            .uses(value)
            .iter()
            .filter(|used| self.assignment(used) == Assignment::New)
            .map(|used| used.user)
            .peekable();
        if users.peek().is_none() {
            return;
        }
        let is_output = users.any(|user| matches!(user, User::Output(of, _) if of == scope));
        let [input, rounded] = self.add_rounding(value, is_output);
        self.forms.insert(
            value,
            if is_output {
                [Some(input), None]
            } else {
                [None, Some(rounded)]
            },
        );
    }

    /// Rounds a value behind the node that makes it, and returns the names before and after. If the
    /// result keeps the name, the node has another one.
    fn add_rounding(&mut self, value: ValueId, keeps_name: bool) -> [String; 2] {
        let model = self.model;
        let (name, to) = (model.name(value), self.types.change.to);
        let node_name = self.names.fresh(&format!("{name}_to_{to}"));
        let [input, output] = if keeps_name {
            [self.names.fresh(&format!("{name}_FLOAT")), name.to_owned()]
        } else {
            [name.to_owned(), node_name.clone()]
        };
        if let (true, Origin::Node { node, output }) = (keeps_name, model.origin(value)) {
            self.list.push(Edit::RenameOutput {
                node,
                output,
                name: input.clone(),
            });
        }
        let node = rounding_node(&node_name, [&input, &output], to);
        self.insert_behind(value, node, [&input, &output], name, [DType::Float, to]);
        [input, output]
    }

    fn add_function(&mut self, to: DType) -> Result<(), Error> {
        let model = self.model;
        if let Some(opset) = rounding::opset(model) {
            if opset < SINCE_OPSET {
                let what = format!("opset {opset} has no Where, by which values are rounded");
                let remedy = Remedy::OpsetOrLater(SINCE_OPSET);
                return Err(Error::caused_by(Refusal::new(
                    ErrorKind::Usage,
                    what,
                    remedy,
                )));
            }
            self.list
                .push(Edit::AddFirstFunction(Box::new(rounding::function(
                    to, opset,
                ))));
        }
        if model.ir_version() < FUNCTIONS {
            self.list.push(Edit::SetIrVersion(FUNCTIONS));
        }
        let roots: BTreeSet<ScopeId> = self
            .list
            .iter()
            .filter_map(inserted_into)
            .map(|scope| model.root(scope))
            .collect();
        let functions = roots
            .into_iter()
            .filter(|&root| matches!(model.scope_kind(root), ScopeKind::Function(_)));
        self.list.extend(functions.map(|function| Edit::Import {
            function,
            domain: DOMAIN.to_owned(),
            version: 1,
        }));
        Ok(())
    }
}

/// The scope of inserted nodes.
fn inserted_into(edit: &Edit) -> Option<ScopeId> {
    match edit {
        Edit::InsertNodes { scope, .. } => Some(*scope),
        _ => None,
    }
}

fn rounding_node(name: &str, [input, output]: [&str; 2], to: DType) -> NodeProto {
    let mut node = NodeProto::from(raw::NodeProto {
        input: vec![input.to_owned()],
        output: vec![output.to_owned()],
        name: Some(name.to_owned()),
        op_type: Some(function_name(to).to_owned()),
        ..Default::default()
    });
    node.domain = Some(DOMAIN.to_owned());
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::schemas;

    #[test]
    fn the_tables_name_operators() {
        assert!(SELECTIONS.is_sorted() && CONTROL_FLOW.is_sorted());
        for operator in SELECTIONS.iter().chain(CONTROL_FLOW) {
            assert!(!schemas::versions("", operator).is_empty(), "{operator}");
        }
    }
}
