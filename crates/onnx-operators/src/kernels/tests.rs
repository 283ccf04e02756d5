//! Nodes are matched with the lines of the tables.

use super::*;
use crate::Runtime;
use crate::schemas::ValueType;
use onnx_cast::DType;

/// A node with attributes, and without names.
#[derive(Debug)]
struct TestNode {
    /// The operator, after its domain if that is not ai.onnx.
    operator: &'static str,
    inputs: usize,
    attributes: Vec<(&'static str, AttributeValue<'static>)>,
}

impl Node for TestNode {
    fn domain(&self) -> &str {
        self.operator
            .split_once(':')
            .map_or("", |(domain, _)| domain)
    }

    fn operator(&self) -> &str {
        self.operator
            .split_once(':')
            .map_or(self.operator, |(_, operator)| operator)
    }

    fn inputs(&self) -> Vec<usize> {
        (0..self.inputs).collect()
    }

    fn outputs(&self) -> Vec<usize> {
        vec![0]
    }

    fn attribute(&self, name: &str) -> Option<AttributeValue<'_>> {
        let mut attributes = self.attributes.iter();
        let attribute = attributes.find(|attribute| attribute.0 == name)?;
        Some(attribute.1.clone())
    }
}

/// A runtime, an operator, an opset, the types of inputs, that of the output, attributes, and what
/// the runtime lacks or computes instead.
type Case = (
    &'static str,
    &'static str,
    i64,
    &'static [DType],
    Option<DType>,
    &'static [(&'static str, AttributeValue<'static>)],
    &'static str,
);

#[test]
fn nodes_are_matched_by_version_types_and_attributes() {
    use AttributeValue::{Int, Other};
    use DType::{Bfloat16, Float, Float8E4M3Fn, Float16, Int4, Int16};
    const LACKS_LAYOUT: &str = "onnxruntime 1.31 has no kernel for LSTM-14 of tensor(float)";
    let cases: &[Case] = &[
        (
            "onnxruntime@1.31",
            "Relu",
            6,
            &[Float],
            Some(Float),
            &[],
            "",
        ),
        (
            "onnxruntime@1.31",
            "ai.onnx:Relu",
            6,
            &[Float],
            Some(Float),
            &[],
            "",
        ),
        (
            "onnxruntime@1.31",
            "Relu",
            14,
            &[Int16],
            Some(Int16),
            &[],
            "onnxruntime 1.31 has no kernel for Relu-14 of tensor(int16); no known version has one",
        ),
        // Casts are inserted around FLOAT16 from opset 6 on, and not around BFLOAT16.
        (
            "onnxruntime@1.31",
            "Sqrt",
            6,
            &[Float16],
            Some(Float16),
            &[],
            "",
        ),
        (
            "onnxruntime@1.31",
            "Sqrt",
            5,
            &[Float16],
            Some(Float16),
            &[],
            "no kernel for Sqrt-1 of tensor(float16)",
        ),
        (
            "onnxruntime@1.31",
            "Sqrt",
            13,
            &[Bfloat16],
            Some(Bfloat16),
            &[],
            "no kernel for Sqrt-13 of tensor(bfloat16)",
        ),
        // A function, and a type that its body lacks.
        (
            "onnxruntime@1.31",
            "Mish",
            18,
            &[Float],
            Some(Float),
            &[],
            "",
        ),
        (
            "onnxruntime@1.31",
            "Mish",
            18,
            &[Bfloat16],
            Some(Bfloat16),
            &[],
            "Mish-18",
        ),
        // Limits: an attribute that is 1, 0, or missing.
        (
            "onnxruntime@1.31",
            "LSTM",
            21,
            &[Float; 3],
            Some(Float),
            &[("layout", Int(1))],
            LACKS_LAYOUT,
        ),
        (
            "onnxruntime@1.31",
            "LSTM",
            21,
            &[Float; 3],
            Some(Float),
            &[("layout", Int(0))],
            "",
        ),
        (
            "onnxruntime@1.31",
            "LSTM",
            21,
            &[Float; 3],
            Some(Float),
            &[("layout", Other)],
            "",
        ),
        (
            "onnxruntime@1.31",
            "LSTM",
            21,
            &[Float; 3],
            Some(Float),
            &[],
            "",
        ),
        // Other domains: listed, not listed, and unknown.
        (
            "onnxruntime@1.31",
            "com.microsoft:Gelu",
            1,
            &[Float],
            Some(Float),
            &[],
            "",
        ),
        (
            "onnxruntime@1.31",
            "com.microsoft:NoOperator",
            1,
            &[Float],
            Some(Float),
            &[],
            "com.microsoft:NoOperator",
        ),
        (
            "onnxruntime@1.31",
            "my:Operator",
            1,
            &[Float],
            Some(Float),
            &[],
            "",
        ),
        // Measured results; `saturate` is 1 by default.
        (
            "openvino@2026.4",
            "Cast",
            23,
            &[Float],
            Some(Float8E4M3Fn),
            &[],
            "does not saturate: numbers beyond 448 become NaN",
        ),
        (
            "openvino@2026.4",
            "Cast",
            23,
            &[Float],
            Some(Float16),
            &[],
            "",
        ),
        // Types that no node may have, whatever the operator is.
        (
            "tract@0.23",
            "Flatten",
            25,
            &[Int4],
            Some(Int4),
            &[],
            "tract 0.23 has no kernel for Flatten-25 of tensor(int4); no known version has one",
        ),
        (
            "tract@0.23",
            "my:Operator",
            1,
            &[Float],
            Some(Bfloat16),
            &[],
            "tract 0.23 has no kernel for my:Operator of tensor(float), tensor(bfloat16)",
        ),
        (
            "opencv@5.0",
            "Flatten",
            25,
            &[Bfloat16],
            Some(Bfloat16),
            &[],
            "",
        ),
        // Kernels that are not known.
        ("rknn@2.0", "Relu", 14, &[Int16], Some(Int16), &[], ""),
    ];
    for &(name, operator, opset, inputs, output, attributes, expected) in cases {
        let node = TestNode {
            operator,
            inputs: inputs.len(),
            attributes: attributes.to_vec(),
        };
        let runtime: Runtime = name.parse().unwrap();
        let tensor = |dtype: Option<&DType>| dtype.copied().map(ValueType::Tensor);
        let operation = Operation::new(
            &node,
            opset,
            |index| tensor(inputs.get(index)),
            |_| tensor(output.as_ref()),
        );
        let missing = missing_kernel(&runtime, &operation).map(|missing| missing.to_string());
        let wrong = wrong_result(&runtime, &operation).map(|wrong| wrong.to_string());
        let found = missing.or(wrong).unwrap_or_default();
        assert!(
            found.contains(expected) && found.is_empty() == expected.is_empty(),
            "{name}, {operator}, opset {opset}: {found}"
        );
    }
}

/// Whether the newest version of a runtime may run a node with one input and output of a type, and
/// whether it certainly does.
fn decision(runtime: &str, operator: &'static str, opset: i64, dtype: Option<DType>) -> [bool; 2] {
    let node = TestNode {
        operator,
        inputs: 1,
        attributes: Vec::new(),
    };
    let table = Table::of(runtime).unwrap();
    let version = table.versions().len() - 1;
    let known = |_| dtype.map(ValueType::Tensor);
    let decision = table.support(&Operation::new(&node, opset, known, known));
    [decision.possible, decision.certain].map(|versions| versions.contains(version))
}

/// A type that is not known refuses nothing, and makes the decision uncertain.
#[test]
fn unknown_types_are_undecided() {
    let of = |dtype: Option<DType>| decision("onnxruntime", "Relu", 14, dtype);
    assert_eq!(of(Some(DType::Float)), [true, true]);
    assert_eq!(of(Some(DType::Int16)), [false, false]);
    assert_eq!(of(None), [true, false]);
}

/// An input of a type that could not be given to a runtime may be refused or not.
#[test]
fn inputs_that_were_not_given_are_undecided() {
    let of = |dtype: DType| decision("opencv", "Flatten", 25, Some(dtype));
    assert_eq!(of(DType::Float), [true, true]);
    assert_eq!(of(DType::Bfloat16), [true, false]);
    assert_eq!(of(DType::String), [false, false]);
}
