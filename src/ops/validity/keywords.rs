//! Attributes with a fixed list of keywords or numbers, and constants without a value.

use super::operation::Operation;
use crate::protobuf::schema::AttributeProto;

/// Attributes and the keywords that any version of their operators has; an empty operator stands
/// for all. Versions differ in few keywords, and onnxruntime accepts those of later versions.
const KEYWORDS: &[(&str, &str, &str)] = &[
    ("", "auto_pad", "NOTSET SAME_UPPER SAME_LOWER VALID"),
    ("", "padding_mode", "zeros border reflection"),
    (
        "",
        "post_transform",
        "NONE SOFTMAX LOGISTIC SOFTMAX_ZERO PROBIT",
    ),
    ("BitShift", "direction", "LEFT RIGHT"),
    ("CausalConvWithState", "activation", "silu swish none"),
    ("DepthToSpace", "mode", "DCR CRD"),
    // Version 1 misspells its default.
    ("GRU", "direction", "foward forward reverse bidirectional"),
    ("Gelu", "approximate", "none tanh"),
    (
        "GridSample",
        "mode",
        "bilinear bicubic linear nearest cubic",
    ),
    ("LSTM", "direction", "forward reverse bidirectional"),
    (
        "LinearAttention",
        "update_rule",
        "linear gated delta gated_delta",
    ),
    ("NegativeLogLikelihoodLoss", "reduction", "none sum mean"),
    ("Pad", "mode", "constant reflect edge wrap"),
    ("RNN", "direction", "forward reverse bidirectional"),
    (
        "Resize",
        "coordinate_transformation_mode",
        "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric tf_half_pixel_for_nn tf_crop_and_resize",
    ),
    (
        "Resize",
        "keep_aspect_ratio_policy",
        "stretch not_larger not_smaller",
    ),
    ("Resize", "mode", "nearest linear cubic"),
    (
        "Resize",
        "nearest_mode",
        "round_prefer_floor round_prefer_ceil floor ceil",
    ),
    (
        "RoiAlign",
        "coordinate_transformation_mode",
        "half_pixel output_half_pixel",
    ),
    ("RoiAlign", "mode", "avg max"),
    ("ScatterElements", "reduction", "none add mul max min"),
    ("ScatterND", "reduction", "none add mul max min"),
    ("SoftmaxCrossEntropyLoss", "reduction", "none sum mean"),
    ("SpaceToDepth", "mode", "DCR CRD"),
    ("StringNormalizer", "case_change_action", "LOWER UPPER NONE"),
    ("TensorScatter", "mode", "linear circular"),
    ("TfIdfVectorizer", "mode", "TF IDF TFIDF"),
    ("Upsample", "mode", "nearest linear bilinear cubic"),
];

/// Attributes of which the text defines 0 and 1. Runtimes differ on other numbers: some compare
/// with 0, and some with 1.
const FLAGS: &[&str] = &[
    "allowzero",
    "antialias",
    "exclude_outside",
    "exclusive",
    "fmod",
    "is_causal",
    "keepdims",
    "largest",
    "noop_with_empty_axes",
    "reverse",
    "select_last_index",
    "sorted",
];

pub(super) fn fault(operation: &Operation) -> Option<String> {
    if operation.schema.name == "Constant" {
        return without_value(operation);
    }
    number(operation).or_else(|| word(operation))
}

/// A flag that is neither 0 nor 1, or a negative bound of Attention.
fn number(operation: &Operation) -> Option<String> {
    let is_attention = operation.schema.domain.is_empty() && operation.schema.name == "Attention";
    operation.node.attribute.iter().find_map(|attribute| {
        let (name, stated) = (attribute.name(), operation.attribute(attribute.name())??);
        if FLAGS.contains(&name) && !(0..=1).contains(&stated.i()) {
            return Some(format!(
                "`{name}` = {}: {} has 0 and 1",
                stated.i(),
                operation.schema
            ));
        }
        let is_negative = is_attention && name == "softcap" && stated.f() < 0.0;
        is_negative.then(|| {
            format!(
                "`softcap` = {}: {} has 0 and positive numbers",
                stated.f(),
                operation.schema
            )
        })
    })
}

fn word(operation: &Operation) -> Option<String> {
    let unknown = |attribute: &AttributeProto| {
        let (_, name, keywords) = KEYWORDS.iter().find(|(op, name, _)| {
            *name == attribute.name() && (op.is_empty() || *op == operation.schema.name)
        })?;
        let word = operation.attribute(name)??.s.as_deref()?;
        let is_unknown = !keywords.split(' ').any(|known| known.as_bytes() == word);
        is_unknown.then(|| {
            format!(
                "unknown `{name}` = '{}': {} has {}",
                String::from_utf8_lossy(word),
                operation.schema,
                keywords.replace(' ', ", ")
            )
        })
    };
    operation.node.attribute.iter().find_map(unknown)
}

/// A `Constant` has exactly one attribute; in a function it may be a reference.
fn without_value(operation: &Operation) -> Option<String> {
    let values = operation
        .node
        .attribute
        .iter()
        .filter(|attribute| operation.schema.attribute(attribute.name()).is_some());
    match values.count() {
        0 => Some(format!("{} has no value", operation.schema)),
        1 => None,
        several => Some(format!("{} has {several} values", operation.schema)),
    }
}
