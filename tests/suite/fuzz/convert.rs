//! A conversion of anything ends in a model of the wanted opset that loads, or in blockers, or in
//! an error; and always in the same.

use onnx_cast::DType;
use onnx_recast::LATEST_OPSET;
use onnx_recast::convert::Options;
use onnx_recast::internals::convert::{Conversion, NotConverted};
use onnx_recast::internals::convert_model;
use onnx_recast::internals::ops::schemas::{
    self, AttributeKind, Formal, Occurrence, Schema, ValueType,
};
use onnx_recast::proto::raw::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto, type_proto,
};
use onnx_recast::proto::{self, Field, Value};
use prost::Message;

pub fn run(bytes: &[u8]) {
    let target = target_of(bytes);
    let options = Options::to(target);
    let Some(model) = super::model(bytes) else {
        return;
    };
    let again = convert_model(
        super::model(bytes).expect("it was a model before"),
        &options,
    );
    match (convert_model(model, &options), again) {
        (Ok(Conversion { model, report }), Ok(again)) => {
            let file = super::written(model.proto());
            assert_eq!(report, again.report);
            assert!(
                file == super::written(again.model.proto()),
                "a second conversion gives something else"
            );
            let model = super::model(&file).expect("a converted model loads");
            let Conversion { model, report } =
                convert_model(model, &options).expect("a converted model is in the opset already");
            for opsets in [&report.from, &report.to] {
                assert!(
                    opsets.get("ai.onnx").is_none_or(|&opset| opset == target),
                    "{report:?}"
                );
            }
            assert!(
                super::written(model.proto()) == file,
                "a conversion of a converted model changes it: {report:?}"
            );
        }
        (
            Err(NotConverted::Blocked { blockers, .. }),
            Err(NotConverted::Blocked {
                blockers: again, ..
            }),
        ) => {
            assert!(!blockers.is_empty(), "refused without a reason");
            assert_eq!(blockers, again);
        }
        (
            Err(NotConverted::Invalid(error) | NotConverted::Avoidable { error, .. }),
            Err(NotConverted::Invalid(again) | NotConverted::Avoidable { error: again, .. }),
        ) => assert_eq!(error, again),
        (first, second) => panic!("two conversions end differently: {first:?}, {second:?}"),
    }
}

/// An opset that any change of the input changes.
fn target_of(bytes: &[u8]) -> i64 {
    1 + bytes.iter().map(|&byte| i64::from(byte)).sum::<i64>() % LATEST_OPSET
}

/// The models, and one for each version of each operator, which is converted to the first and to the
/// latest opset: with ordinary and with extreme numbers in attributes and constants; with all inputs,
/// with the required ones, with none.
pub fn seeds(models: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut seeds = models.to_vec();
    for schema in schemas::all()
        .iter()
        .filter(|schema| schema.domain.is_empty())
    {
        for number in [1, -100, i64::MAX] {
            for inputs in [
                schema.inputs.len(),
                schema.input_count().0.min(schema.inputs.len()),
                0,
            ] {
                seeds.extend(
                    [1, LATEST_OPSET].map(|target| model_of(schema, number, inputs, target)),
                );
            }
        }
    }
    seeds
}

/// A model of one node, which has outputs if it has inputs, or needs none.
fn model_of(schema: &Schema, number: i64, inputs: usize, target: i64) -> Vec<u8> {
    let name = |index: usize| format!("i{index}");
    let formals = || schema.inputs[..inputs].iter().enumerate();
    let outputs = if inputs > 0 || schema.inputs.is_empty() {
        schema.outputs.len().max(1)
    } else {
        0
    };
    let node = NodeProto {
        op_type: Some(schema.name.to_owned()),
        input: formals().map(|(index, _)| name(index)).collect(),
        output: (0..outputs).map(|index| format!("o{index}")).collect(),
        attribute: schema
            .attributes
            .iter()
            .map(|fact| attribute(fact, number).into())
            .collect(),
        ..NodeProto::default()
    };
    let constants = formals().filter_map(|(index, formal)| constant(formal, name(index), number));
    let given =
        formals().filter(|(index, formal)| constant(formal, name(*index), number).is_none());
    let graph = GraphProto {
        node: vec![node.into()],
        initializer: constants.collect(),
        input: given
            .map(|(index, formal)| input(formal, name(index), number).into())
            .collect(),
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto {
        version: Some(schema.since_version),
        ..OperatorSetIdProto::default()
    };
    let model = |producer: char| ModelProto {
        ir_version: Some(10),
        producer_name: Some(producer.into()),
        opset_import: vec![opset.clone().into()],
        graph: Some(graph.clone().into()),
        ..ModelProto::default()
    };
    let files = ('A'..).map(|producer| model(producer).encode_to_vec());
    files
        .take(LATEST_OPSET as usize)
        .find(|file| target_of(file) == target)
        .expect("one letter leads to the target")
}

fn attribute(fact: &schemas::Attribute, number: i64) -> AttributeProto {
    let mut made = AttributeProto {
        name: Some(fact.name.to_owned()),
        r#type: Some(fact.kind as i32),
        ..AttributeProto::default()
    };
    let text = match fact.default {
        Some(schemas::DefaultValue::String(text)) => text,
        _ => "linear",
    };
    match fact.kind {
        AttributeKind::Float => made.f = Some(number as f32),
        AttributeKind::Int => made.i = Some(number),
        AttributeKind::String => made.s = Some(text.into()),
        AttributeKind::Tensor => {
            made.t = Some(tensor(DType::Int64, String::new(), &number.to_le_bytes()))
        }
        AttributeKind::Graph => made.g = Some(GraphProto::default().into()),
        AttributeKind::Floats => made.floats = vec![number as f32; 4],
        AttributeKind::Ints => made.ints = vec![number; 2],
        AttributeKind::Strings => made.strings = vec![text.into()],
        _ => {}
    }
    made
}

/// What tells an operator axes, lengths or scales is constant.
fn constant(formal: &Formal, name: String, number: i64) -> Option<proto::TensorProto> {
    let is_data = formal.types.contains(ValueType::Tensor(DType::Double))
        && formal.occurrence == Occurrence::Single;
    let admits = |dtype| !is_data && formal.types.contains(ValueType::Tensor(dtype));
    if admits(DType::Int64) {
        Some(tensor(DType::Int64, name, &number.to_le_bytes()))
    } else if admits(DType::Float) {
        let number = number as f32;
        Some(tensor(DType::Float, name, &number.to_le_bytes()))
    } else {
        None
    }
}

/// A list of one number.
fn tensor(dtype: DType, name: String, bytes: &[u8]) -> proto::TensorProto {
    let known = TensorProto {
        dims: vec![1],
        data_type: Some(dtype.number()),
        name: Some(name),
        ..TensorProto::default()
    };
    let mut tensor = proto::TensorProto::from(known);
    tensor.rest_mut().push(Field {
        tag: 9,
        value: Value::Len(bytes.to_vec().into()),
    });
    tensor
}

/// An input of the graph, with four dimensions.
fn input(formal: &Formal, name: String, number: i64) -> ValueInfoProto {
    let dtype = if formal.types.contains(ValueType::Tensor(DType::Float)) {
        DType::Float
    } else {
        DType::Int64
    };
    let size = |size| tensor_shape_proto::Dimension {
        value: Some(tensor_shape_proto::dimension::Value::DimValue(size)),
        ..tensor_shape_proto::Dimension::default()
    };
    let shape = TensorShapeProto {
        dim: [number, 2, 3, number]
            .map(|number| size(number).into())
            .to_vec(),
    };
    let tensor = type_proto::Tensor {
        elem_type: Some(dtype.number()),
        shape: Some(shape.into()),
    };
    let r#type = TypeProto {
        value: Some(type_proto::Value::TensorType(tensor.into())),
        ..TypeProto::default()
    };
    ValueInfoProto {
        name: Some(name),
        r#type: Some(r#type.into()),
        ..ValueInfoProto::default()
    }
}
