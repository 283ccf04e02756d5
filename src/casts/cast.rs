//! A cast with its types.

use crate::casts::folding;
use crate::graph::{NodeId, ScopeId, ValueId};
use crate::ops::schemas::{self, ValueType};
use crate::protobuf::schema::NodeProto;
use onnx_cast::{Cast, DType, RoundMode, Rules};

/// A valid `Cast` or `CastLike` whose resulting type is known.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
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

/// A cast of the result of another cast.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CastPair<'s, 'm> {
    /// The type of the first cast's input.
    pub from: DType,
    /// The first cast.
    pub first: &'s ResolvedCast<'m>,
    /// The cast of its result.
    pub second: &'s ResolvedCast<'m>,
}

impl ResolvedCast<'_> {
    /// Whether an attribute of the cast refers to an attribute of the function, so that the cast
    /// may differ per call.
    #[must_use]
    pub(crate) fn is_generic(&self) -> bool {
        self.proto
            .attribute
            .iter()
            .any(|attribute| !attribute.tail().ref_attr_name().is_empty())
    }

    /// The rules that determine the result beside the types. A missing attribute has the schema's
    /// default.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let defaults = Rules::default();
        defaults
            .saturate(self.saturate.unwrap_or(defaults.saturate))
            .round_mode(self.round_mode.unwrap_or(defaults.round_mode))
            .opset(u32::try_from(self.opset).unwrap_or(defaults.opset))
    }

    /// The kernel of the opset's cast; `None` if the opset does not support the types, or the type
    /// of the input is unknown.
    #[must_use]
    pub fn kernel(&self) -> Option<Cast> {
        folding::known_opset(Some(self.opset)).ok()?;
        folding::kernel(self.proto.op_type(), self.from?, self.to, self.rules()).ok()
    }

    /// Whether the opset's operator supports an input of this type: `CastLike` supports fewer types
    /// than `Cast`.
    #[must_use]
    pub(crate) fn admits(&self, from: DType) -> bool {
        supports(self.proto.op_type(), self.opset, from)
    }

    /// Whether casts of equal values by this cast and by another have equal results.
    #[must_use]
    pub(crate) fn has_effect_of(&self, other: &ResolvedCast) -> bool {
        let ((_, _, to, saturate, round_mode), other) = (self.effect(), other.effect());
        (to, saturate, round_mode) == (other.2, other.3, other.4)
    }

    /// The properties that determine the result; casts of one scope that are equal in them have the
    /// same result.
    #[must_use]
    pub(crate) fn effect(&self) -> (ScopeId, ValueId, DType, bool, RoundMode) {
        let (rules, defaults) = (self.rules(), Rules::default());
        let saturate = if self.to.obeys_saturate() {
            rules.saturate
        } else {
            defaults.saturate
        };
        let round_mode = if self.to == DType::Float8E8M0 {
            rules.round_mode
        } else {
            defaults.round_mode
        };
        (self.node.scope, self.input, self.to, saturate, round_mode)
    }
}

/// Whether an operator of an opset supports an element type as that of its first input.
pub(super) fn supports(operator: &str, opset: i64, dtype: DType) -> bool {
    let schema = schemas::schema("", operator, opset);
    schema
        .and_then(|schema| schema.input(0))
        .is_some_and(|formal| formal.types.contains(ValueType::Tensor(dtype)))
}
