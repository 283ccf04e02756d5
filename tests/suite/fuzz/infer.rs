//! Nodes of every operator, with extreme attributes, shapes and constants, are inferred, computed,
//! linted and converted without a panic: the input chooses them.
//!
//! The other targets change models that exist. Their attributes are rarely both extreme and of the
//! type that the operator has.

use onnx_cast::{Class, DType};
use onnx_recast::internals::ops::schemas::{self, AttributeKind, Formal, Schema, ValueType};
use onnx_recast::internals::passes::PassError;
use onnx_recast::internals::{convert_model, lint_model, run_passes};
use onnx_recast::lint::{Layer, Options, Selection};
use onnx_recast::proto::raw::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto, type_proto,
};
use onnx_recast::proto::{self, Field, Value};
use onnx_recast::{LATEST_OPSET, Model, convert, passes};
use prost::Message;

pub fn run(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let file = model_of(&mut choices).encode_to_vec();
    let opset = [
        1,
        LATEST_OPSET,
        1 + choices.below(LATEST_OPSET as usize) as i64,
    ][choices.below(3)];
    let Some(model) = super::model(&file) else {
        return;
    };
    let _ = (model.inspect(), model.types());
    let selection = Selection::of([&Layer {
        select: Some(vec!["ALL".parse().expect("a name of all rules")]),
        ..Layer::default()
    }]);
    let options = Options::default()
        .selection(selection)
        .show_overlapping(true);
    let _ = lint_model(&model, "model.onnx", &options);
    let everything = passes::Options::default().undefined(true);
    if let Err(fault @ (PassError::Refused { .. } | PassError::Contract { .. })) =
        run_passes(model, passes::EXACT, &everything)
    {
        panic!("{fault}");
    }
    let again = |file: &[u8]| -> Model { super::model(file).expect("it was a model before") };
    let _ = convert_model(again(&file), &convert::Options::to(opset));
}

/// Numbers at which arithmetic of axes, lengths and steps ends.
const NUMBERS: [i64; 20] = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    4,
    -5,
    64,
    65,
    1 << 16,
    i32::MAX as i64,
    i32::MIN as i64,
    1 << 40,
    (1 << 53) + 1,
    1 << 62,
    -(1 << 62),
    i64::MAX,
    -i64::MAX,
    i64::MIN,
];

/// Shapes of constants that hold few values or none.
const SHAPES: [&[i64]; 16] = [
    &[],
    &[1],
    &[0],
    &[2],
    &[3],
    &[4],
    &[8],
    &[1, 1],
    &[2, 2],
    &[2, 0],
    &[1, 1, 2, 2],
    &[0, i64::MAX],
    &[i64::MAX, 0],
    &[1 << 40, 1 << 40, 0],
    &[0, 1 << 40, 1 << 40],
    &[1; 70],
];

/// Values of string attributes; equations and modes of several operators, and what breaks parsers
/// of them.
const TEXTS: [&str; 24] = [
    "",
    "linear",
    "cubic",
    "nearest",
    "constant",
    "edge",
    "reflect",
    "wrap",
    "SAME_UPPER",
    "VALID",
    "bidirectional",
    "none",
    "LEFT",
    "RIGHT",
    "not_larger",
    "ij,jk->ik",
    "...ij->...ji",
    "é...,...->...é",
    ".a...,..b->...",
    "ii->i",
    "->",
    ",,,->,",
    "align_corners",
    "tf_crop_and_resize",
];

/// Operators that the schemas do not contain, but inference knows.
const MICROSOFT: [&str; 12] = [
    "MatMulNBits",
    "FusedMatMul",
    "FusedGemm",
    "Attention",
    "QAttention",
    "MultiHeadAttention",
    "GroupQueryAttention",
    "EmbedLayerNormalization",
    "QLinearAdd",
    "SkipLayerNormalization",
    "QuantizeLinear",
    "DynamicQuantizeMatMul",
];
const MICROSOFT_ATTRIBUTES: [&str; 10] = [
    "N",
    "K",
    "num_heads",
    "kv_num_heads",
    "qkv_hidden_sizes",
    "transA",
    "transB",
    "transBatchA",
    "transBatchB",
    "axis",
];

/// Bytes that choose; when they end, the first of all choices.
struct Choices<'b>(&'b [u8]);

impl Choices<'_> {
    fn below(&mut self, end: usize) -> usize {
        let (chosen, rest) = self.0.split_at(self.0.len().min(2));
        self.0 = rest;
        chosen
            .iter()
            .fold(0, |number, &byte| number << 8 | usize::from(byte))
            % end
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) + 1 == times
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn numbers(&mut self) -> Vec<i64> {
        let length = self.of(&[0, 1, 1, 2, 2, 3, 4, 8, 70]);
        (0..length).map(|_| self.of(&NUMBERS)).collect()
    }
}

/// A node and one that uses its first output, so that inferred shapes are used too.
fn model_of(choices: &mut Choices) -> ModelProto {
    let mut graph = GraphProto {
        name: Some("g".to_owned()),
        ..GraphProto::default()
    };
    let mut opset = LATEST_OPSET;
    for place in 0..2 {
        let schema = &schemas::all()[choices.below(schemas::all().len())];
        if schema.domain.is_empty() && place == 0 {
            opset = schema.since_version;
        }
        let node = if choices.one_in(12) {
            microsoft(choices, &mut graph, place)
        } else {
            node_of(choices, &mut graph, schema, place)
        };
        graph.node.push(node.into());
    }
    for output in graph
        .node
        .iter()
        .flat_map(|node| node.output.clone())
        .collect::<Vec<_>>()
    {
        if !output.is_empty() {
            let r#type = choices
                .one_in(3)
                .then(|| tensor_type(choices, DType::Float).into());
            graph.output.push(
                ValueInfoProto {
                    name: Some(output),
                    r#type,
                    ..ValueInfoProto::default()
                }
                .into(),
            );
        }
    }
    let import = |domain: &str, version| OperatorSetIdProto {
        domain: Some(domain.to_owned()),
        version: Some(version),
    };
    let imports = [
        ("", opset),
        ("ai.onnx.ml", 5),
        ("ai.onnx.preview.training", 1),
        ("com.microsoft", 1),
    ];
    ModelProto {
        ir_version: Some(10),
        opset_import: imports
            .map(|(domain, version)| import(domain, version).into())
            .to_vec(),
        graph: Some(graph.into()),
        ..ModelProto::default()
    }
}

fn node_of(
    choices: &mut Choices,
    graph: &mut GraphProto,
    schema: &Schema,
    place: usize,
) -> NodeProto {
    let (least, most) = schema.input_count();
    let inputs = match choices.below(4) {
        0 => least,
        1 => most.unwrap_or(least + 2),
        2 => choices.below(most.unwrap_or(least + 2) + 1),
        _ => most.unwrap_or(least + 2) + usize::from(choices.one_in(8)),
    };
    let outputs = schema.outputs.len().max(1) + choices.of(&[0, 0, 1]);
    let input = (0..inputs)
        .map(|index| input(choices, graph, schema.input(index), (place, index)))
        .collect();
    let attribute = schema
        .attributes
        .iter()
        .filter_map(|fact| Some(attribute(choices, fact.name, fact.kind)?.into()))
        .collect();
    let mut node = NodeProto {
        name: Some(format!("n{place}")),
        op_type: Some(schema.name.to_owned()),
        input,
        output: (0..outputs)
            .map(|index| format!("o{place}_{index}"))
            .collect(),
        attribute,
        ..NodeProto::default()
    };
    node.domain = Some(schema.domain.to_owned());
    node
}

fn microsoft(choices: &mut Choices, graph: &mut GraphProto, place: usize) -> NodeProto {
    let inputs = choices.below(8);
    let kinds = [AttributeKind::Int, AttributeKind::Ints];
    let attribute = |choices: &mut Choices, name| {
        Some(attribute(choices, name, kinds[usize::from(name.ends_with("sizes"))])?.into())
    };
    let mut node = NodeProto {
        op_type: Some(choices.of(&MICROSOFT).to_owned()),
        input: (0..inputs)
            .map(|index| input(choices, graph, None, (place, index)))
            .collect(),
        output: (0..1 + choices.below(3))
            .map(|index| format!("o{place}_{index}"))
            .collect(),
        attribute: MICROSOFT_ATTRIBUTES
            .iter()
            .filter_map(|name| attribute(choices, name))
            .collect(),
        ..NodeProto::default()
    };
    node.domain = Some("com.microsoft".to_owned());
    node
}

/// The name of an input: of a result, a constant, an input of the graph, or none.
fn input(
    choices: &mut Choices,
    graph: &mut GraphProto,
    formal: Option<&Formal>,
    (place, index): (usize, usize),
) -> String {
    let name = format!("i{place}_{index}");
    let types: Vec<DType> = formal.map_or_else(Vec::new, |formal| {
        formal
            .types
            .iter()
            .filter_map(|one| {
                if let ValueType::Tensor(dtype) = one {
                    Some(dtype)
                } else {
                    None
                }
            })
            .collect()
    });
    let dtype = match types.as_slice() {
        [] => choices.of(&[DType::Float, DType::Int64]),
        types if types.contains(&DType::Int64) && choices.one_in(2) => DType::Int64,
        types => choices.of(types),
    };
    match choices.below(8) {
        0 if place > 0 => return "o0_0".to_owned(),
        0 => return String::new(),
        1..5 => graph.initializer.push(tensor(choices, dtype, &name)),
        5 => {
            graph.initializer.push(tensor(choices, dtype, &name));
            graph.input.push(
                ValueInfoProto {
                    name: Some(name.clone()),
                    ..ValueInfoProto::default()
                }
                .into(),
            );
        }
        _ => {
            let r#type = (!choices.one_in(8)).then(|| tensor_type(choices, dtype).into());
            graph.input.push(
                ValueInfoProto {
                    name: Some(name.clone()),
                    r#type,
                    ..ValueInfoProto::default()
                }
                .into(),
            );
        }
    }
    name
}

fn tensor_type(choices: &mut Choices, dtype: DType) -> TypeProto {
    let rank = choices.of(&[0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 65]);
    let mut dim = || {
        let value = match choices.below(4) {
            0 => Some(tensor_shape_proto::dimension::Value::DimParam(
                "n".to_owned(),
            )),
            1 => None,
            _ => Some(tensor_shape_proto::dimension::Value::DimValue(
                choices.of(&NUMBERS),
            )),
        };
        tensor_shape_proto::Dimension {
            value,
            ..tensor_shape_proto::Dimension::default()
        }
        .into()
    };
    let shape = TensorShapeProto {
        dim: (0..rank).map(|_| dim()).collect(),
    };
    let tensor = type_proto::Tensor {
        elem_type: Some(dtype.number()),
        shape: (!choices.one_in(8)).then(|| shape.into()),
    };
    TypeProto {
        value: Some(type_proto::Value::TensorType(tensor.into())),
        ..TypeProto::default()
    }
}

/// A constant: integers are extreme, the bits of other numbers are theirs.
fn tensor(choices: &mut Choices, dtype: DType, name: &str) -> proto::TensorProto {
    let dims = choices.of(&SHAPES).to_vec();
    let elements: i64 = if dims.contains(&0) {
        0
    } else {
        dims.iter().product()
    };
    let known = TensorProto {
        dims,
        data_type: Some(dtype.number()),
        name: Some(name.to_owned()),
        ..TensorProto::default()
    };
    let mut tensor = proto::TensorProto::from(known);
    if dtype.class() == Class::String {
        let strings = (0..elements).map(|_| Field {
            tag: 6,
            value: Value::Len(choices.of(&TEXTS).as_bytes().to_vec().into()),
        });
        tensor.rest_mut().extend(strings);
        return tensor;
    }
    let bytes = dtype.raw_bytes(elements as u64).expect("few elements") as usize;
    let width = dtype.bits().div_ceil(8).min(8);
    let mut raw = Vec::with_capacity(bytes);
    while raw.len() < bytes {
        let number = choices.of(&NUMBERS);
        match dtype {
            DType::Float => raw.extend((number as f32).to_le_bytes()),
            DType::Double => raw.extend((number as f64).to_le_bytes()),
            DType::Bool => raw.push(number as u8 & 1),
            _ => raw.extend(&number.to_le_bytes()[..width]),
        }
    }
    raw.truncate(bytes);
    tensor.rest_mut().push(Field {
        tag: 9,
        value: Value::Len(raw.into()),
    });
    tensor
}

fn attribute(choices: &mut Choices, name: &str, kind: AttributeKind) -> Option<AttributeProto> {
    if choices.one_in(3) {
        return None;
    }
    let mut made = AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind as i32),
        ..AttributeProto::default()
    };
    match kind {
        AttributeKind::Float => made.f = Some(float(choices)),
        // Small numbers are types, flags and modes.
        AttributeKind::Int => {
            made.i = Some(if choices.one_in(2) {
                choices.below(30) as i64
            } else {
                choices.of(&NUMBERS)
            })
        }
        AttributeKind::String => made.s = Some(choices.of(&TEXTS).as_bytes().to_vec().into()),
        AttributeKind::Tensor => {
            let dtype = choices.of(DType::ALL);
            made.t = Some(tensor(choices, dtype, ""));
        }
        AttributeKind::Floats => {
            made.floats = choices
                .numbers()
                .into_iter()
                .map(|number| number as f32)
                .collect()
        }
        AttributeKind::Ints => made.ints = choices.numbers(),
        AttributeKind::Strings => {
            made.strings = (0..choices.below(4))
                .map(|_| choices.of(&TEXTS).into())
                .collect()
        }
        AttributeKind::Graph => made.g = Some(body(choices, name).into()),
        AttributeKind::TypeProto => made.tp = Some(tensor_type(choices, DType::Float).into()),
        _ => {}
    }
    Some(made)
}

fn float(choices: &mut Choices) -> f32 {
    choices.of(&[
        0.0,
        1.0,
        -1.0,
        0.5,
        1e-45,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ])
}

/// A body that returns its inputs.
fn body(choices: &mut Choices, name: &str) -> GraphProto {
    let values: Vec<String> = (0..choices.below(5))
        .map(|index| format!("{name}_{index}"))
        .collect();
    let info = |name: &String| {
        ValueInfoProto {
            name: Some(name.clone()),
            ..ValueInfoProto::default()
        }
        .into()
    };
    GraphProto {
        name: Some(name.to_owned()),
        input: values.iter().map(info).collect(),
        output: values[choices.below(values.len() + 1)..]
            .iter()
            .map(info)
            .collect(),
        ..GraphProto::default()
    }
}

/// Some choices for every version of every operator.
pub fn seeds(_models: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let seed = |operator: usize, turn: u64| {
        let mut random = super::mutate::Random::new(operator as u64 * 64 + turn);
        let length = random.below(400);
        let bytes = (0..length).map(|_| random.below(256) as u8);
        (operator as u16)
            .to_be_bytes()
            .into_iter()
            .chain(bytes)
            .collect()
    };
    (0..schemas::all().len())
        .flat_map(|operator| (0..SEEDS_OF_EACH).map(move |turn| seed(operator, turn)))
        .collect()
}

const SEEDS_OF_EACH: u64 = 8;
