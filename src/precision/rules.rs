//! Rules for the types of operators that the schemas do not state.

use crate::graph::{Model, NodeId, is_onnx_domain};
use crate::ops::operator_facts::{self, Stated, movement};

/// Operators whose sequences and optional values have the element type of their tensors, although
/// their type variables differ.
const CONTAINERS: &[&str] = &[
    "ConcatFromSequence",
    "Optional",
    "OptionalGetElement",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceInsert",
    "SplitToSequence",
];

/// Inputs and outputs with a type variable of their own in some versions: they keep their type
/// where this needs no cast.
const OWN: &[(&str, &[usize], &[usize])] = &[
    ("BatchNormalization", &[3, 4], &[1, 2]),
    ("Bernoulli", &[0], &[]),
    ("CastLike", &[0], &[]),
    ("Dropout", &[1], &[]),
    ("EyeLike", &[0], &[]),
    ("GridSample", &[1], &[]),
    ("OneHot", &[0, 1], &[]),
    ("RandomNormalLike", &[0], &[]),
    ("RandomUniformLike", &[0], &[]),
    ("Resize", &[1], &[]),
];

/// The scales of quantization. A rounded scale moves the whole grid of quantized values.
const SCALES: &[(&str, &[usize])] = &[
    ("DequantizeLinear", &[1]),
    ("QLinearMatMul", &[1, 4, 6]),
    ("QuantizeLinear", &[1]),
];

/// Operators that work in FLOAT alone, whatever their schemas say: the function that defines
/// MeanVarianceNormalization has constants of FLOAT, and onnxruntime to 1.32 has no kernels of
/// FLOAT16 or BFLOAT16 for the others.
const FLOAT_ALONE: &[&str] = &[
    "BlackmanWindow",
    "HammingWindow",
    "HannWindow",
    "MeanVarianceNormalization",
    "MelWeightMatrix",
];

/// The operator of ai.onnx, if it works in FLOAT alone, whatever its schema says.
pub(super) fn float_alone(operator: &str) -> Option<&'static str> {
    FLOAT_ALONE.iter().copied().find(|name| *name == operator)
}

/// Type variables of operators of com.microsoft that FLOAT belongs to and FLOAT16 does not, by the
/// schemas of onnxruntime 1.31.1.
const WITHOUT_FLOAT16: &[(&str, &str)] = &[
    ("AttnLSTM", "T"),
    ("CDist", "T"),
    ("MurmurHash3", "T1"),
    ("QGemm", "TY"),
    ("QLinearConcat", "TV"),
    ("Range", "T"),
    ("Snpe", "T"),
    ("SparseToDenseMatMul", "T1"),
];

/// The operator of com.microsoft, if a type variable of it does not range over FLOAT16.
pub(super) fn without_float16(operator: &str, variable: &str) -> Option<&'static str> {
    WITHOUT_FLOAT16
        .iter()
        .find(|row| **row == (operator, variable))
        .map(|row| row.0)
}

/// The operator of a node of ai.onnx; empty for others.
pub(super) fn operator(model: &Model, node: NodeId) -> &str {
    let proto = model.node(node);
    if is_onnx_domain(proto.domain()) && model.callee(node).is_none() {
        proto.op_type()
    } else {
        ""
    }
}

/// The input of an operator of ai.onnx for which it matters that it is not zero.
pub(super) fn nonzero_input(operator: &str) -> Option<u32> {
    match operator {
        "Div" => Some(1),
        "Sqrt" | "Log" | "Reciprocal" | "Pow" => Some(0),
        _ => None,
    }
}

/// Whether it matters for an operator of ai.onnx that an input is not zero.
pub(super) fn needs_nonzero(operator: &str, index: u32) -> bool {
    nonzero_input(operator) == Some(index)
}

/// Whether an operator of ai.onnx only moves elements: either type is right for it.
pub(super) fn moves(operator: &str) -> bool {
    movement(operator).is_some()
}

/// Whether all inputs and outputs of a node have one element type, although their type variables
/// differ: a Cast from the old type to itself stays one of a type to itself, unless its type is
/// unknown, LinearAttention without a past state has the present one in the type of its inputs, and
/// onnxruntime to 1.32 runs QuantizeLinear and DequantizeLinear with a scale of the type of the
/// value alone.
pub(super) fn shares_types(model: &Model, node: NodeId, operator: &str) -> bool {
    match operator {
        "Cast" => model.cast_node(node).is_ok(),
        "QuantizeLinear" | "DequantizeLinear" => true,
        "LinearAttention" => model.input(node, 3).is_none(),
        _ => CONTAINERS.contains(&operator),
    }
}

/// The inputs, and the outputs, that keep their types where their type variables are their own.
pub(super) fn own(operator: &str) -> [&'static [usize]; 2] {
    let row = OWN.binary_search_by_key(&operator, |row| row.0);
    row.map_or([&[], &[]], |row| [OWN[row].1, OWN[row].2])
}

/// Whether an input is a scale of quantization.
pub(super) fn is_scale(operator: &str, index: usize) -> bool {
    SCALES
        .iter()
        .any(|(name, inputs)| *name == operator && inputs.contains(&index))
}

/// Whether an attribute fixes the type of an input or output: `stash_type` the outputs of
/// LayerNormalization and SimplifiedLayerNormalization after the first, and `to` of BitCast all.
pub(super) fn is_fixed(operator: &str, is_output: bool, index: usize) -> bool {
    match operator {
        "BitCast" => true,
        "LayerNormalization" | "SimplifiedLayerNormalization" => is_output && index > 0,
        _ => false,
    }
}

/// Whether a node dequantizes blocks. onnxruntime to 1.32 fuses it with a MatMul, and refuses the
/// model if its scale, which stays as it is, and its result have different types.
pub(super) fn has_blocks(model: &Model, node: NodeId, operator: &str) -> bool {
    let has_size = || {
        model
            .node(node)
            .attribute
            .iter()
            .any(|attribute| attribute.name() == "block_size" && attribute.i() != 0)
    };
    operator == "DequantizeLinear" && has_size()
}

/// The attribute that states the element type of an operator's result, if a change of precision
/// changes this type.
pub(super) fn type_attribute(operator: &str) -> Option<&'static str> {
    let stated = operator_facts::type_attribute(operator)?;
    (stated.of == Stated::Result).then_some(stated.name)
}

/// Whether an attribute of a node refers to an attribute of the function that contains the node.
pub(super) fn refers_to_function(model: &Model, node: NodeId) -> bool {
    model
        .node(node)
        .attribute
        .iter()
        .any(|attribute| !attribute.tail().ref_attr_name().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::schemas;

    #[test]
    fn operators_of_microsoft_without_float16_have_signatures() {
        for (operator, _) in WITHOUT_FLOAT16 {
            assert!(
                schemas::microsoft::signature(operator).is_some(),
                "{operator}"
            );
        }
    }

    #[test]
    fn the_tables_are_sorted_and_name_operators() {
        assert!(OWN.is_sorted() && SCALES.is_sorted());
        let others = OWN
            .iter()
            .map(|row| row.0)
            .chain(SCALES.iter().map(|row| row.0));
        for operator in CONTAINERS.iter().chain(FLOAT_ALONE).copied().chain(others) {
            assert!(!schemas::versions("", operator).is_empty(), "{operator}");
        }
    }
}
