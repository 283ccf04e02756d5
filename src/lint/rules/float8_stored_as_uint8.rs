//! The rule `float8-stored-as-uint8`.

use std::collections::HashMap;

use crate::graph::{Edit, NodeId, Origin, ValueId, tensor_type};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::ops::schemas;
use onnx_cast::DType;

const DOCS: &str = r#"An initializer of type UINT8 is declared or used as float8.

## What it checks
Initializers of type UINT8 that `value_info` or a graph input declares as float8, or that a node uses with a float8 value
for which ONNX requires the same type: the tensor and the zero point of a `DequantizeLinear`, for example.

## Why is this bad?
Some tools leave this behind when they fold a cast to float8: they compute the right bytes and store them under the type of
the array in memory. The checker may accept the model and a runtime may run it, but it reads 0x38 as 56 instead of 1.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19]>
weights (float scale, float8e4m3fn zero) => (float[2] y) <uint8[2] w = {56, 64}> {
    y = DequantizeLinear (w, scale, zero)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 19]>
weights (float scale, float8e4m3fn zero) => (float[2] y) <float8e4m3fn[2] w = {56, 64}> {
    y = DequantizeLinear (w, scale, zero)
}
```

## Fix
Unsafe: changes the initializer's type to the float8 type and keeps its bytes. If the bytes are integers, the other type is
the error.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC108", "float8-stored-as-uint8", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let is_uint8 = |value: &ValueId| {
        model
            .initializer(*value)
            .is_some_and(|tensor| tensor.data_type() == DType::Uint8.number())
    };
    let mut demanded = Demanded {
        subject,
        by_variable: HashMap::new(),
    };
    model
        .values()
        .filter(is_uint8)
        .filter_map(|value| check_initializer(&mut demanded, value))
        .collect()
}

fn check_initializer(demanded: &mut Demanded, value: ValueId) -> Option<Finding> {
    let subject = demanded.subject;
    let model = subject.model;
    let name = model.name(value);
    let declared = model
        .declared(value)
        .and_then(|info| info.r#type.as_ref())
        .and_then(tensor_type)
        .filter(is_eight_bit_float);
    let (dtype, evidence) = if let Some(dtype) = declared {
        (dtype, format!("declared as {dtype}"))
    } else {
        let mut uses: Vec<(NodeId, u32)> = model.uses(value).collect();
        uses.sort_unstable();
        let (dtype, node) = uses
            .iter()
            .find_map(|&(node, input)| Some((demanded.at_input(node, input)?, node)))?;
        (
            dtype,
            format!("used as {dtype} by {}", model.node_path(node)),
        )
    };
    let finding = Finding::at_value(
        model,
        value,
        format!("'{name}' is {evidence} but stored as UINT8"),
    );
    if !matches!(model.origin(value), Origin::Initializer { .. }) {
        return Some(finding);
    }
    let (place, tensor) = model.stated_tensor(value)?;
    let mut with = tensor.clone();
    with.data_type = Some(dtype.number());
    Some(finding.with_unsafe_fix(
        format!("store it as {dtype} with the same bytes"),
        vec![Edit::replace_tensor(place, with)],
    ))
}

/// The float8 types that inputs are required to have, because another input or output of the node
/// has the type and both have one type variable.
struct Demanded<'s, 'm> {
    subject: &'s Subject<'m>,
    /// By node and type variable: computed once, regardless of the number of inputs.
    by_variable: HashMap<(NodeId, &'static str), Option<DType>>,
}

impl Demanded<'_, '_> {
    /// The type required of an input that is itself UINT8.
    fn at_input(&mut self, node: NodeId, input: u32) -> Option<DType> {
        let model = self.subject.model;
        let proto = model.node(node);
        if model.callee(node).is_some() {
            return None;
        }
        let schema = schemas::schema(
            proto.domain(),
            proto.op_type(),
            model.opset(node.scope, proto.domain())?,
        )?;
        let variable = schema
            .input(input as usize)
            .filter(|formal| formal.is_homogeneous())?
            .type_name;
        *self.by_variable.entry((node, variable)).or_insert_with(|| {
            let is_same = |formal: Option<&schemas::Formal>| {
                formal.is_some_and(|formal| formal.type_name == variable && formal.is_homogeneous())
            };
            let inputs = model
                .inputs(node)
                .filter(|&(index, _)| is_same(schema.input(index as usize)));
            let outputs = model
                .outputs(node)
                .filter(|&(index, _)| is_same(schema.output(index as usize)));
            // Two different types are an error of the model; the lower number makes the report
            // deterministic.
            let types = inputs
                .chain(outputs)
                .filter_map(|(_, value)| self.subject.dtype(value))
                .filter(is_eight_bit_float);
            types.min_by_key(|dtype| dtype.number())
        })
    }
}

fn is_eight_bit_float(dtype: &DType) -> bool {
    dtype.is_float8() || *dtype == DType::Float8E8M0
}
