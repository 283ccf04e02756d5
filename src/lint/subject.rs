//! The input of the rules: a model, with its casts read once for all of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::Finding;
use crate::casts::{CastPair, Casts, ResolvedCast, cast_nodes};
use crate::graph::{Attribute, Body, Model, NodeId, ScopeId, ValueId, read_saturate, read_type};
use crate::ops::inference::{Contradiction, Inferred};
use crate::ops::kernels::{Operation, operations};
use crate::ops::runtimes::Runtime;
use crate::protobuf::schema::StringStringEntryProto;
use crate::tensor::CastBudget;
use onnx_cast::DType;

/// A model to lint.
#[derive(Debug)]
pub struct Subject<'m> {
    /// The model.
    pub model: &'m Model,
    /// The runtimes that have to load the model.
    pub(super) targets: &'m [Runtime],
    casts: Casts<'m>,
    cast_nodes: Vec<NodeId>,
    /// The remaining budget for casts of constants.
    pub(super) budget: RefCell<CastBudget<ValueId>>,
    quantizers: Vec<ResolvedQuantize>,
    /// The words of `recast.noqa` entries that name no rule. A function, since rules do not depend
    /// on the table of rules.
    pub(super) unknown_rules: UnknownRules,
}

/// The words of `recast.noqa` entries that name no rule.
pub(super) type UnknownRules = fn(&[StringStringEntryProto]) -> Vec<&str>;

/// A `QuantizeLinear` whose resulting type is known.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ResolvedQuantize {
    /// The node.
    pub node: NodeId,
    /// The opset of ai.onnx that the node is written in.
    pub opset: i64,
    /// The type of the result.
    pub to: DType,
    /// `saturate` as stated.
    pub saturate: Option<bool>,
}

impl<'m> Subject<'m> {
    /// Reads the casts of a model.
    pub(super) fn new(
        model: &'m Model,
        targets: &'m [Runtime],
        unknown_rules: UnknownRules,
    ) -> Subject<'m> {
        let mut subject = Subject {
            model,
            targets,
            casts: Casts::of(model),
            cast_nodes: cast_nodes(model).collect(),
            budget: RefCell::default(),
            quantizers: Vec::new(),
            unknown_rules,
        };
        subject.quantizers = subject
            .nodes()
            .filter_map(|node| read_quantizer(&subject, node))
            .collect();
        subject
    }

    /// The element type of a value, if the model declares it or it can be inferred.
    #[must_use]
    pub fn dtype(&self, value: ValueId) -> Option<DType> {
        self.casts.dtype(value)
    }

    /// The types and shapes inferred for the values of the model.
    pub(super) fn inferred(&self) -> &Inferred {
        self.casts.inferred()
    }

    /// The values that are declared with another type or shape than the one that they have.
    #[must_use]
    pub(crate) fn contradictions(&self) -> &[Contradiction] {
        self.casts.inferred().contradictions()
    }

    /// The valid casts, in document order.
    pub fn casts(&self) -> impl Iterator<Item = &ResolvedCast<'m>> {
        self.casts.iter()
    }

    /// The cast that produces a value.
    #[must_use]
    pub fn producing_cast(&self, value: ValueId) -> Option<&ResolvedCast<'m>> {
        self.casts.producing(value)
    }

    /// The `QuantizeLinear` nodes whose resulting type is known, in document order.
    pub fn quantizers(&self) -> impl Iterator<Item = &ResolvedQuantize> {
        self.quantizers.iter()
    }

    /// The casts of the results of other casts, in document order.
    pub fn cast_pairs(&self) -> impl Iterator<Item = CastPair<'_, 'm>> {
        self.casts.cast_pairs()
    }

    /// A finding at each of the casts for which `describe` returns a message. It is called once for
    /// casts of one value with the same result, so that each constant is read once.
    pub fn check_casts<'s>(
        &self,
        casts: impl Iterator<Item = &'s ResolvedCast<'m>>,
        describe: impl Fn(&ResolvedCast<'m>) -> Option<String>,
    ) -> Vec<Finding>
    where
        'm: 's,
    {
        let mut messages: HashMap<_, Option<Arc<str>>> = HashMap::new();
        let findings = casts.filter_map(|cast| {
            let same = (
                cast.input,
                cast.from,
                cast.to,
                cast.saturate,
                cast.round_mode,
                cast.opset,
            );
            let message = messages
                .entry(same)
                .or_insert_with(|| describe(cast).map(Arc::from))
                .clone()?;
            Some(Finding::at_node(cast.node, message))
        });
        findings.collect()
    }

    /// A finding at each node for which `describe` returns a message about a target that loads the
    /// model.
    pub(super) fn check_in_targets(
        &self,
        describe: impl Fn(&Runtime, &Operation) -> Option<String>,
    ) -> Vec<Finding> {
        let model = self.model;
        let (opset, ir_version) = (model.opset(ScopeId::MAIN, ""), model.ir_version());
        let targets = self
            .targets
            .iter()
            .filter(|target| target.loads(opset, ir_version));
        let findings = targets.flat_map(|target| {
            operations(model, self.inferred()).filter_map(|(node, operation)| {
                Some(Finding::at_node(node, describe(target, &operation)?))
            })
        });
        findings.collect()
    }

    /// Every `Cast` and `CastLike`, valid or not.
    pub fn cast_nodes(&self) -> impl Iterator<Item = NodeId> {
        self.cast_nodes.iter().copied()
    }

    /// The nodes of all scopes, in document order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<'m> {
        let model = self.model;
        model.scopes().flat_map(|scope| model.nodes(scope))
    }
}

/// The metadata of a graph or function.
pub(super) fn body_metadata(model: &Model, scope: ScopeId) -> &[StringStringEntryProto] {
    match model.body(scope) {
        Body::Graph(graph) => &graph.metadata_props,
        Body::Function(function) => &function.metadata_props,
    }
}

/// The type of the result is that of the zero point, or `output_dtype`, or UINT8.
fn read_quantizer(subject: &Subject, node: NodeId) -> Option<ResolvedQuantize> {
    let model = subject.model;
    if !model.is_op(node, "QuantizeLinear") {
        return None;
    }
    let stated = model
        .attribute(node, "output_dtype")
        .value()
        .and_then(|attribute| read_type(attribute).ok());
    let of_zero_point = || {
        model
            .input(node, 2)
            .and_then(|zero_point| subject.dtype(zero_point))
    };
    let of_result = || {
        model
            .output(node, 0)
            .and_then(|output| subject.dtype(output))
    };
    let saturate = match model.attribute(node, "saturate") {
        Attribute::Absent => None,
        Attribute::Is(attribute) => Some(read_saturate(attribute).ok()?),
        Attribute::Unclear => return None,
    };
    let to = stated.or_else(of_zero_point).or_else(of_result)?;
    Some(ResolvedQuantize {
        node,
        opset: model.opset(node.scope, "")?,
        to,
        saturate,
    })
}
