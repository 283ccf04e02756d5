//! The input of the rules: a model, with its casts read once for all of them.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::Finding;
use crate::cast::{Cast, RoundMode, Rules};
use crate::dtype::DType;
use crate::facts::Runtime;
use crate::facts::infer::{Contradiction, Inferred, infer};
use crate::folding;
use crate::graph::{Attribute, Model, NodeId, TypeSource, ValueId, is_onnx_domain, read_saturate, read_type};
use crate::tensor::Allowance;
use crate::wire::schema::{NodeProto, StringStringEntryProto};

/// A model to lint.
#[derive(Debug)]
pub struct Subject<'m> {
    /// The model.
    pub model: &'m Model,
    inferred: OnceCell<Inferred>,
    /// The runtimes that have to load the model.
    pub(super) targets: &'m [Runtime],
    casts: Vec<ResolvedCast<'m>>,
    /// By result: the index of the cast.
    casts_by_output: HashMap<ValueId, usize>,
    /// The remaining allowance for computing the results of casts of constants.
    pub(super) allowance: RefCell<Allowance<ValueId>>,
    quantizers: Vec<ResolvedQuantize>,
    /// The words of `recast.noqa` entries that name no rule. A function, since rules do not depend on the table of rules.
    pub(super) unknown_rules: UnknownRules,
}

/// The words of `recast.noqa` entries that name no rule.
pub(super) type UnknownRules = fn(&[StringStringEntryProto]) -> Vec<&str>;

/// A valid `Cast` or `CastLike` whose resulting type is known.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedCast<'m> {
    /// The node.
    pub node: NodeId,
    /// Its protobuf message.
    pub proto: &'m NodeProto,
    /// The opset of ai.onnx that the node is written in.
    pub opset: i64,
    /// The input of the cast.
    pub input: ValueId,
    /// The result; `None` if the output has no name.
    pub output: Option<ValueId>,
    /// The type of the input, if it is known.
    pub from: Option<DType>,
    /// The type of the result.
    pub to: DType,
    /// `saturate` as stated.
    pub saturate: Option<bool>,
    /// `round_mode` as stated.
    pub round_mode: Option<RoundMode>,
}

/// A `QuantizeLinear` whose resulting type is known.
#[derive(Clone, Copy, Debug)]
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

/// A cast of the result of another cast.
#[derive(Clone, Copy, Debug)]
pub struct Chain<'s, 'm> {
    /// The type of the first cast's input.
    pub from: DType,
    /// The first cast.
    pub first: &'s ResolvedCast<'m>,
    /// The cast of its result.
    pub second: &'s ResolvedCast<'m>,
}

impl<'m> Subject<'m> {
    /// Reads the casts of a model.
    pub(super) fn new(model: &'m Model, targets: &'m [Runtime], unknown_rules: UnknownRules) -> Subject<'m> {
        let mut subject = Subject {
            model,
            inferred: OnceCell::new(),
            targets,
            casts: Vec::new(),
            casts_by_output: HashMap::new(),
            allowance: RefCell::default(),
            quantizers: Vec::new(),
            unknown_rules,
        };
        subject.casts = subject.cast_nodes().filter_map(|node| read_cast(&subject, node)).collect();
        subject.casts_by_output = subject.casts().enumerate().filter_map(|(index, cast)| Some((cast.output?, index))).collect();
        subject.quantizers = subject.nodes().filter_map(|node| read_quantizer(&subject, node)).collect();
        subject
    }

    /// The element type of a value, if the model declares it or it can be inferred.
    #[must_use]
    pub fn dtype(&self, value: ValueId) -> Option<DType> {
        let inferred = || self.inferred.get_or_init(|| infer(self.model)).of(value).dtype();
        self.model.element_type(value).or_else(inferred)
    }

    /// The values that are declared with another type or shape than the one that they have.
    #[must_use]
    pub fn contradictions(&self) -> &[Contradiction] {
        self.inferred.get_or_init(|| infer(self.model)).contradictions()
    }

    /// The valid casts, in document order.
    pub fn casts(&self) -> impl Iterator<Item = &ResolvedCast<'m>> {
        self.casts.iter()
    }

    /// The cast that produces a value.
    #[must_use]
    pub fn producing_cast(&self, value: ValueId) -> Option<&ResolvedCast<'m>> {
        self.casts_by_output.get(&value).map(|&index| &self.casts[index])
    }

    /// The `QuantizeLinear` nodes whose resulting type is known, in document order.
    pub fn quantizers(&self) -> impl Iterator<Item = &ResolvedQuantize> {
        self.quantizers.iter()
    }

    /// The casts of the results of other casts, in document order.
    pub fn chains(&self) -> impl Iterator<Item = Chain<'_, 'm>> {
        self.casts().filter_map(|second| {
            let first = self.producing_cast(second.input)?;
            Some(Chain { from: first.from?, first, second })
        })
    }

    /// A finding at each of the casts for which `describe` returns a message. It is called once for casts of one value with the
    /// same result, so that each constant is read once.
    pub fn check_casts<'s>(
        &self,
        casts: impl Iterator<Item = &'s ResolvedCast<'m>>,
        describe: impl Fn(&ResolvedCast<'m>) -> Option<String>,
    ) -> Vec<Finding>
    where
        'm: 's,
    {
        let mut messages: HashMap<_, Option<String>> = HashMap::new();
        let findings = casts.filter_map(|cast| {
            let same = (cast.input, cast.from, cast.to, cast.saturate, cast.round_mode, cast.opset);
            let message = messages.entry(same).or_insert_with(|| describe(cast)).clone()?;
            Some(Finding::at_node(cast.node, message))
        });
        findings.collect()
    }

    /// Every `Cast` and `CastLike`, valid or not.
    pub fn cast_nodes(&self) -> impl Iterator<Item = NodeId> + use<'m> {
        let model = self.model;
        self.nodes().filter(|&node| model.is_cast(node))
    }

    /// The nodes of all scopes, in document order.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<'m> {
        let model = self.model;
        model.scopes().flat_map(|scope| model.nodes(scope))
    }
}

impl ResolvedCast<'_> {
    /// Whether an attribute of the cast refers to an attribute of the function, so that the cast may differ per call.
    #[must_use]
    pub fn is_generic(&self) -> bool {
        self.proto.attribute.iter().any(|attribute| !attribute.tail().ref_attr_name().is_empty())
    }

    /// The rules that determine the result beside the types. A missing attribute has the schema's default.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let defaults = Rules::default();
        Rules {
            saturate: self.saturate.unwrap_or(defaults.saturate),
            round_mode: self.round_mode.unwrap_or(defaults.round_mode),
            opset: u32::try_from(self.opset).unwrap_or(defaults.opset),
            ..defaults
        }
    }

    /// The kernel of the opset's cast; `None` if the opset does not support the types, or the type of the input is unknown.
    #[must_use]
    pub fn kernel(&self) -> Option<Cast> {
        folding::known_opset(Some(self.opset)).ok()?;
        folding::kernel(self.proto.op_type(), self.from?, self.to, self.rules()).ok()
    }
}

fn read_cast<'m>(subject: &Subject<'m>, node: NodeId) -> Option<ResolvedCast<'m>> {
    let model = subject.model;
    let cast = model.cast_node(node).ok()?;
    let to = match cast.to {
        TypeSource::Attribute(to) => to,
        TypeSource::Like(like) => subject.dtype(like)?,
    };
    Some(ResolvedCast {
        node,
        proto: model.node(node),
        opset: model.opset(node.scope, "")?,
        input: cast.input,
        output: cast.output,
        from: subject.dtype(cast.input),
        to,
        saturate: cast.saturate,
        round_mode: cast.round_mode,
    })
}

/// The type of the result is that of the zero point, or `output_dtype`, or UINT8.
fn read_quantizer(subject: &Subject, node: NodeId) -> Option<ResolvedQuantize> {
    let model = subject.model;
    let proto = model.node(node);
    if proto.op_type() != "QuantizeLinear" || !is_onnx_domain(proto.domain()) || model.callee(node).is_some() {
        return None;
    }
    let stated = match model.attribute(node, "output_dtype") {
        Attribute::Is(attribute) => read_type(attribute).ok(),
        Attribute::Absent | Attribute::Unclear => None,
    };
    let of_zero_point = || model.input(node, 2).and_then(|zero_point| subject.dtype(zero_point));
    let of_result = || model.output(node, 0).and_then(|output| subject.dtype(output));
    let saturate = match model.attribute(node, "saturate") {
        Attribute::Absent => None,
        Attribute::Is(attribute) => Some(read_saturate(attribute).ok()?),
        Attribute::Unclear => return None,
    };
    let to = stated.or_else(of_zero_point).or_else(of_result)?;
    Some(ResolvedQuantize { node, opset: model.opset(node.scope, "")?, to, saturate })
}
