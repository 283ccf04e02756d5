//! The reasons why a cast, or another node with known inputs, is not folded.

use std::borrow::Cow;
use std::fmt::Display;

use crate::base::reason::{Reason, reasons};
use crate::graph::NotConstant;
use crate::ops::compute::NotComputed;
use crate::ops::schemas::LATEST_OPSET;
use crate::tensor::{BadTensor, CASTS_OF_EACH, Failure};
use onnx_cast::{DType, Tally, Unsupported};

reasons! {
    computed() = "not-constant": "the input is computed at run time"
        => NotConstant::Computed.text();
    overridable() = "overridable": "a caller can override the input"
        => NotConstant::Overridable.text();
    updated_by_training() = "updated-by-training": "training updates the input"
        => NotConstant::Trained.text();
    sparse() = "sparse": "the constant is sparse"
        => NotConstant::Sparse.text();
    attribute_reference() = "attribute-reference": "the value of the constant is an attribute of the function"
        => NotConstant::AttributeReference.text();
    no_value() = "invalid-constant": "the `Constant` node has no value or more than one"
        => NotConstant::NoValue.text();
    callers_disagree(attribute: &str) = "callers-disagree": "an attribute of the function has different values in its calls, or not all of them give it a value"
        => format!("`{attribute}` refers to an attribute of the function, and its calls do not all give it the same value");
    shadowed_name(name: &str) = "shadowed-name": "the name of the input or output is also defined in an enclosing scope"
        => format!("'{name}' shadows a name of an enclosing scope; runtimes differ in which of the two they use");
    type_unknown(like: &str) = "type-unknown": "the type that `CastLike` copies is unknown"
        => format!("the type of '{like}', which CastLike copies, is unknown");
    opset_unknown(opset: Option<i64>) = "opset-unknown": "the model imports an unsupported opset, or none"
        => match opset {
            Some(opset) => format!("the casts of opset {opset} are not known; the known opsets are 1 to {LATEST_OPSET}").into(),
            None => Cow::Borrowed("no opset of ai.onnx is imported"),
        };
    type_unsupported(what: impl Display) = "type-unsupported": "the operator of this opset does not support the types"
        => what.to_string();
    constant_type_unsupported(to: DType) = "constant-type-unsupported": "`Constant` of this opset does not support the type"
        => format!("Constant of this opset does not support {to}");
    undefined_value(results: &Tally, first: u64) = "undefined-value": "ONNX leaves a result undefined"
        => elements("undefined", results, first);
    contested_value(results: &Tally, first: u64) = "contested-value": "ONNX's text and its node tests disagree on a result of a cast"
        => elements("contested", results, first);
    invalid_literal(what: impl Display) = "invalid-literal": "a string is not a number"
        => what.to_string();
    too_large(what: impl Display) = "too-large": "the result is too large for this machine"
        => what.to_string();
    contested_result(why: &'static str) = "contested-result": "ONNX's text and runtimes disagree on the result of a node other than a cast"
        => why;
    undefined_result(why: String) = "undefined-result": "ONNX does not define the result of the node, or the node is not valid"
        => why;
    left_to_runtimes(why: String) = "left-to-runtimes": "arithmetic of floats, or a mode that runtimes compute"
        => why;
    result_too_large(what: impl Display) = "result-too-large": "the result exceeds the constants it is computed from by more than 1 MiB, or by more than the growth limit"
        => what.to_string();
    input_not_computed(node: &str, why: &NotComputed) = "input-not-computed": "the input of the cast is the result of a node that is not computed"
        => format!("its input is the result of {node}, which is not computed: {why}");
    data_unavailable(error: &BadTensor) = "data-unavailable": "the folder of the data file is unknown"
        => error.to_string();
    cast_limit(constant: &str) = "cast-limit": "the limit of casts per constant is reached"
        => format!("the limit of {CASTS_OF_EACH} casts per large constant is reached for '{constant}'");
    growth_limit(growth: i64, limit: u64) = "growth-limit": "the model would grow by more than the growth limit, or by more than 1 KiB to save a node other than a cast"
        => format!("the model would grow by {growth} bytes; the limit is {limit}");
    not_worth_node(growth: i64, limit: u64) = "growth-limit"
        => format!("the model would grow by {growth} bytes to save a node; at most {limit}{ARE_WORTH_IT}");
}

const ARE_WORTH_IT: &str = " are worth it";

/// Whether a node other than a cast is kept since its result is too large; that limit is fixed.
#[must_use]
pub fn is_not_worth_node(reason: &Reason) -> bool {
    reason.is("growth-limit") && reason.text().ends_with(ARE_WORTH_IT)
}

impl From<NotConstant> for Reason {
    fn from(why: NotConstant) -> Reason {
        match why {
            NotConstant::Computed => computed(),
            NotConstant::Overridable => overridable(),
            NotConstant::Trained => updated_by_training(),
            NotConstant::Sparse => sparse(),
            NotConstant::AttributeReference => attribute_reference(),
            NotConstant::NoValue => no_value(),
        }
    }
}

impl From<Unsupported> for Reason {
    fn from(what: Unsupported) -> Reason {
        type_unsupported(what)
    }
}

impl From<Failure> for Reason {
    fn from(failure: Failure) -> Reason {
        match failure {
            Failure::Literal(what) => invalid_literal(what),
            Failure::TooLarge(_) => too_large(failure),
        }
    }
}

impl From<NotComputed> for Reason {
    fn from(why: NotComputed) -> Reason {
        match why {
            NotComputed::Undefined(why) => undefined_result(why),
            NotComputed::Contested(why) => contested_result(why),
            NotComputed::LeftToRuntimes(why) => left_to_runtimes(why),
            NotComputed::TooLarge { .. } => result_too_large(why),
        }
    }
}

fn elements(what: &str, results: &Tally, first: u64) -> String {
    let Tally { count, why, .. } = results;
    let are = if *count == 1 { "is" } else { "are" };
    format!("{count} of its results {are} {what}, the first at element {first}: {why}")
}
