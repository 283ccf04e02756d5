//! The models whose results the fault table plants faults in: each kind of message occurs in one of
//! them.

use onnx_recast::proto::{GraphProto, ModelProto, StringStringEntryProto, raw};
use prost::Message as _;

use crate::support::model;

/// A model, and the opset that it is converted to.
pub struct Case {
    pub name: &'static str,
    pub opset: i64,
    pub model: ModelProto,
}

pub fn all() -> Vec<Case> {
    let case = |&(name, opset, text, decorate): &Row| {
        let mut model = model(text);
        decorate(&mut model);
        Case { name, opset, model }
    };
    let file = |&(name, opset, bytes): &(&'static str, i64, &[u8])| Case {
        name,
        opset,
        model: ModelProto::decode(bytes).unwrap(),
    };
    TEXTS
        .iter()
        .map(case)
        .chain(FILES.iter().map(file))
        .collect()
}

const FILES: &[(&str, i64, &[u8])] = &[
    (
        "annotated",
        24,
        include_bytes!("../../../models/annotated.onnx"),
    ),
    (
        "control_flow",
        21,
        include_bytes!("../../../models/control_flow.onnx"),
    ),
    (
        "opset1_string_to",
        9,
        include_bytes!("../../../models/opset1_string_to.onnx"),
    ),
];

/// The name of a model, the opset that it is converted to, its text, and what the text cannot say.
type Row = (&'static str, i64, &'static str, fn(&mut ModelProto));

const TEXTS: &[Row] = &[
    (
        "constants of functions, attributes that refer to those of functions",
        18,
        r#"<ir_version: 10, opset_import: ["": 17, "local": 1]> g (float16[2] x) => (float16[2] y, float[2] z, float16[2] v)
        {
            y = local.Scale (x)
            [call] z = local.To <to = 1> (y)
            v = local.Twice (x)
        }
        <domain: "local", opset_import: ["": 17], doc_string: "scales"> Scale (x) => (y) <float[2] d> {
            c = Constant <value = float[2] {1, 2}> ()
            [weight] d = Cast <to = 10> (c)
            [other] e = Cast <to = 10> (c)
            m = Mul (x, d)
            f = Constant <value_floats = [0.5, 0.25]> ()
            h = Cast <to = 10> (f)
            r = ReduceMean <axes = [0], keepdims = 0> (m)
            n = Add (r, h)
            y = Add (n, e)
        }
        <domain: "local", opset_import: ["": 17]> To <to, axis: int = 0> (x) => (y) {
            a = Cast <to: int = @to> (x)
            s = Softmax <axis: int = @axis> (a)
            y = Identity (s)
        }
        <domain: "local", opset_import: ["": 17, "local": 1]> Twice (x) => (y) { z = local.Scale (x) y = local.Scale (z) }"#,
        |_| {},
    ),
    (
        "branches and loops around constants",
        18,
        r#"<ir_version: 8, opset_import: ["": 17]> g (bool c, float16[2] x, int64 n) => (float16[2] y, float16[2] l, float16[k, 2] o)
        <float[2] w = {1, 2}, int64[1] axes = {0}> {
            y = If (c) <
                then_branch = yes () => (float16[2] p) <float[2] v = {3, 4}> { h = Cast <to = 10> (w) i = Cast <to = 10> (v) a = Add (h, i) p = Mul (a, x) },
                else_branch = no () => (float16[2] q) { h = Cast <to = 10> (w) k = Constant <value = float16[2] {1, 1}> () e = Sub (h, k) q = Mul (e, x) }>
            l = Loop (n, c, x) <body = step (int64 i, bool go, float16[2] s) => (bool on, float16[2] t)
                { on = Identity (go) h = Cast <to = 10> (w) r = ReduceMean <axes = [0]> (h) u = Add (s, r) t = Identity (u) }>
            b = Unsqueeze (l, axes)
            [scan] o = Scan <num_scan_inputs = 1, body = row (float16[2] i) => (float16[2] j) { h = Cast <to = 10> (w) j = Add (i, h) }> (b)
        }"#,
        |_| {},
    ),
    (
        "casts that move",
        22,
        r#"<ir_version: 9, opset_import: ["": 19]> g (float16[4] x, float[n] f, float16[n, 2] u) => (float16[2, 2] y, float[8] z, float16[2] s, float16[4] d, float[n] e)
        <int64[2] shape = {2, 2}, int64[2] parts = {2, 2}, float16[2] w = {1, 2}, float16[2] same = {1, 2}, float[4] wide = {1, 2, 3, 4}> {
            a = Cast <to = 1> (x)
            [move] r = Reshape (a, shape)
            t = Transpose <perm = [1, 0]> (r)
            y = Cast <to = 10> (t)
            b = Cast <to = 1> (x)
            z = Concat <axis = 0> (a, b)
            p, q = Split (wide, parts)
            ph = Cast <to = 10> (p)
            qh = Cast <to = 10> (q)
            v = Add (ph, qh)
            k, m = Split (a, parts)
            kh = Cast <to = 11> (k)
            mh = Cast <to = 11> (m)
            km = Add (kh, mh)
            [back] ks = Cast <to = 10> (km)
            vs = Mul (v, w)
            vt = Sub (vs, same)
            s = Add (vt, ks)
            i = Relu (x)
            d = Identity (i)
            unused = Neg (x)
            unused_cast = Cast <to = 1> (u)
            low = Cast <to = 10> (f)
            e = Cast <to = 1> (low)
        }"#,
        |_| {},
    ),
    (
        "tensors in every storage",
        25,
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float16[2] a, float8e4m3fn[2] b, int4[3] c, int4[3] c2, double[2] d, string[2] e, int32[2] f, uint64[2] i, bool[2] k, float[2] n)
        <float[2] w = {1, 2}, int4[3] q = {1, -2, 3}, int8[3] q8 = {1, -2, 3}, double[2] v = {1, 2}, string[2] s = {"a", "b"},
         int64[2] l = {1, 2}, uint64[2] u = {1, 2}, bool[2] t = {1, 0}, bfloat16[2] bf = {1, 2}, string[2] num = {"1", "2.5"}> {
            a = Cast <to = 10> (w)
            b = Cast <to = 17> (w)
            c0 = Cast <to = 22> (q8)
            three = Constant <value_ints = [3]> ()
            c = Reshape (c0, three)
            c2 = Identity (q)
            d0 = Cast <to = 11> (num)
            d = Mul (d0, v)
            e = Identity (s)
            f = Cast <to = 6> (l)
            i = Identity (u)
            k = Identity (t)
            n0 = Cast <to = 1> (bf)
            n = Add (n0, x)
        }"#,
        |_| {},
    ),
    (
        "types other than tensors",
        21,
        r#"<ir_version: 9, opset_import: ["": 19, "other": 1]> g (seq(float[n, 2]) s, optional(float[2]) o, float[n, 2] x, seq(float) p) => (float[n, 2] y, bool b, seq(float16[n, 2]) t, seq(float) r)
        <int64 i = {0}, float[2] w = {1, 2}> {
            a = SequenceAt (s, i)
            h = Cast <to = 10> (w)
            xh = Cast <to = 10> (x)
            c = Add (xh, h)
            t = SequenceConstruct (c, xh)
            y = Relu (a)
            b = OptionalHasElement (o)
            r = other.Op (p)
        }"#,
        |model| {
            let graph = model.graph.as_mut().unwrap();
            let text = raw::type_proto::Tensor {
                elem_type: Some(8),
                shape: None,
            };
            let text = raw::TypeProto {
                value: Some(raw::type_proto::Value::TensorType(text.into())),
                ..Default::default()
            };
            let map = raw::type_proto::Map {
                key_type: Some(7),
                value_type: Some(Box::new(text.into())),
            };
            let map = raw::TypeProto {
                value: Some(raw::type_proto::Value::MapType(map.into())),
                ..Default::default()
            };
            graph.input[3].r#type = Some(map.clone().into());
            graph.output[3].r#type = Some(map.into());
            let typed = graph.input[2].r#type.as_mut().unwrap();
            typed.denotation = Some("IMAGE".to_owned());
            if let Some(raw::type_proto::Value::TensorType(tensor)) = &mut typed.value {
                tensor.shape.as_mut().unwrap().dim[0].denotation = Some("DATA_BATCH".to_owned());
            }
        },
    ),
    (
        "metadata at every level, annotations, devices, training",
        22,
        r#"<ir_version: 11, opset_import: ["": 20, "other": 3], producer_name: "p", producer_version: "1", domain: "d", model_version: 7, doc_string: "doc", metadata_props: ["k": "v", "l": "w"]>
        g (float16[2, 2] x) => (float16[2, 2] y, float16[2, 2] o)
        <float[2, 2] w = {1, 2, 3, 4}, float scale = {0.5}, uint8 zero = {3}, float16[2, 2] trained = {1, 2, 3, 4}, float16[2, 2] h, float[2, 2] unused = {1, 1, 1, 1}> {
            [first] h = Cast <to = 10> (w)
            [second] m = MatMul (x, h)
            [third] y = Add (m, trained)
            [fourth] o = other.Op <ints = [1, 2], floats = [0.5, 1.5], text = "t", texts = ["a", "b"], number = 1.5> (y)
        }"#,
        decorate,
    ),
    (
        "initializers that are inputs",
        8,
        r#"<ir_version: 3, opset_import: ["": 7]> g (float[2] x, float16[2] w, float16[2] v, float[2] b) => (float[2] y, float[2] z)
        <float16[2] w = {1, 2}, float16[2] v = {1, 2}, float[2] b = {1, 2}> {
            h = Cast <to = 1> (w)
            i = Cast <to = 1> (v)
            a = Add (x, h)
            c = Add (a, i)
            y = Add (c, b)
            [norm] z = BatchNormalization <epsilon = 0.5> (y, b, b, b, b)
        }"#,
        |model| {
            let graph = model.graph.as_mut().unwrap();
            graph.node.truncate(5);
            graph.output.truncate(1);
        },
    ),
];

fn entry(key: &str, value: &str) -> StringStringEntryProto {
    raw::StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    }
    .into()
}

/// Adds to a model what its text cannot say.
fn decorate(model: &mut ModelProto) {
    let mut algorithm = GraphProto::default();
    algorithm.name = Some("step".to_owned());
    let mut gradient = model.graph.as_ref().unwrap().node[1].clone();
    gradient.name = None;
    gradient.input = vec!["trained".to_owned(), "trained".to_owned()];
    gradient.output = vec!["stepped".to_owned()];
    algorithm.node = vec![gradient];
    algorithm.output = vec![
        raw::ValueInfoProto {
            name: Some("stepped".to_owned()),
            ..Default::default()
        }
        .into(),
    ];
    let initialization = algorithm.clone();
    let training = raw::TrainingInfoProto {
        initialization: Some(initialization),
        algorithm: Some(algorithm),
        initialization_binding: vec![entry("trained", "stepped")],
        update_binding: vec![entry("trained", "stepped")],
    };
    model.training_info.push(training.into());
    let devices = raw::DeviceConfigurationProto {
        name: Some("two".into()),
        num_devices: Some(2),
        device: vec!["a".into(), "b".into()],
    };
    model.configuration.push(devices.into());
    let graph = model.graph.as_mut().unwrap();
    graph.doc_string = Some("graph".into());
    graph.metadata_props.push(entry("graph", "kept"));
    let annotation = raw::TensorAnnotation {
        tensor_name: Some("m".into()),
        quant_parameter_tensor_names: vec![
            entry("SCALE_TENSOR", "scale"),
            entry("ZERO_POINT_TENSOR", "zero"),
        ],
    };
    graph.quantization_annotation.push(annotation.into());
    let spec = |name: &str| {
        let sharded = raw::ShardedDimProto {
            axis: Some(1),
            simple_sharding: vec![
                raw::SimpleShardedDimProto {
                    num_shards: Some(2),
                    dim: Some(raw::simple_sharded_dim_proto::Dim::DimValue(2)),
                }
                .into(),
            ],
        };
        let groups = raw::IntIntListEntryProto {
            key: Some(1),
            value: vec![0, 1],
        };
        raw::ShardingSpecProto {
            tensor_name: Some(name.into()),
            device: vec![0, 1],
            index_to_device_group_map: vec![groups.into()],
            sharded_dim: vec![sharded.into()],
        }
    };
    let configuration = raw::NodeDeviceConfigurationProto {
        configuration_id: Some("two".into()),
        sharding_spec: vec![spec("x").into(), spec("h").into()],
        pipeline_stage: Some(1),
    };
    graph.node[1]
        .device_configurations
        .push(configuration.into());
    for node in &mut graph.node {
        node.doc_string = Some("node".into());
        node.metadata_props.push(entry("node", "kept"));
    }
    graph.input[0].doc_string = Some("input".into());
    graph.input[0].metadata_props.push(entry("input", "kept"));
    graph.initializer[1].doc_string = Some("scale".into());
    graph.initializer[1]
        .metadata_props
        .push(entry("tensor", "kept"));
    let name = |name: &str, mut tensor: raw::TensorProto| {
        tensor.name = Some(name.to_owned());
        tensor
    };
    let values = name(
        "sparse",
        raw::TensorProto {
            dims: vec![1],
            data_type: Some(6),
            ..Default::default()
        },
    );
    let indices = name(
        "",
        raw::TensorProto {
            dims: vec![1],
            data_type: Some(7),
            ..Default::default()
        },
    );
    let numbers = |tensor: raw::TensorProto, bytes: &'static [u8]| {
        let mut tensor: onnx_recast::proto::TensorProto = tensor.into();
        tensor
            .rest_mut()
            .push(onnx_recast::internals::tensor::raw_data(
                onnx_recast::proto::Piece::Bytes(bytes.to_vec().into()),
            ));
        tensor
    };
    let sparse = raw::SparseTensorProto {
        values: Some(numbers(values, &[5, 0, 0, 0])),
        indices: Some(numbers(indices, &[2, 0, 0, 0, 0, 0, 0, 0])),
        dims: vec![5],
    };
    graph.sparse_initializer.push(sparse.into());
}
