//! `fold-casts`, of what ONNX text does not have. `tests/cases/fold/` has models before and after.

use onnx_recast::internals::run_passes;
use onnx_recast::passes::Options;
use onnx_recast::proto::{ModelProto, raw};
use onnx_recast::{Model, passes};

use crate::support::{fold, model};

#[test]
fn annotated_and_trained_constants_stay() {
    let mut before: ModelProto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float16 x) => (float16 y) <float scale = {2}, float weight = {3}, float plain = {4}>
        { a = Cast <to = 10> (scale) b = Cast <to = 10> (weight) c = Cast <to = 10> (plain) s = Add (x, a) t = Add (s, b) y = Add (t, c) }"#,
    );
    let entry = |key: &str, value: &str| raw::StringStringEntryProto {
        key: Some(key.into()),
        value: Some(value.into()),
    };
    let annotation = raw::TensorAnnotation {
        tensor_name: Some("x".into()),
        quant_parameter_tensor_names: vec![entry("SCALE_TENSOR", "scale").into()],
    };
    let training = raw::TrainingInfoProto {
        algorithm: model(r#"g () => (float new) { new = Neg (weight) }"#)
            .into_known()
            .graph,
        update_binding: vec![entry("weight", "new").into()],
        ..Default::default()
    };
    before
        .graph
        .as_mut()
        .unwrap()
        .quantization_annotation
        .push(annotation.into());
    before.training_info.push(training.into());
    let (after, report) = fold(before, &Options::default());
    let names: Vec<&str> = after
        .graph
        .as_ref()
        .unwrap()
        .initializer
        .iter()
        .map(|tensor| tensor.name())
        .collect();
    assert_eq!(names, ["scale", "weight", "a", "c"]);
    assert_eq!(report.kept().len(), 1);
    assert_eq!(
        report.kept()[0].reason.to_string(),
        "training updates the initializer"
    );
}

/// The initializers to which a binding assigns may also be those of the training algorithm.
#[test]
fn trained_constants_of_an_algorithm_stay() {
    let algorithm = r#"alg () => (float next, float16 c, int64 later) <float step = {0}, int64 count = {0}, int64 one = {1}, int64 same = {0}>
        { c = Cast <to = 10> (step) next = Add (step, step) later = Add (count, one) other = Add (same, one) }"#;
    let entry = |key: &str, value: &str| raw::StringStringEntryProto {
        key: Some(key.into()),
        value: Some(value.into()),
    };
    let training = raw::TrainingInfoProto {
        algorithm: model(algorithm).into_known().graph,
        initialization_binding: vec![entry("same", "one").into()],
        update_binding: vec![entry("step", "next").into(), entry("count", "later").into()],
        ..Default::default()
    };
    let mut before: ModelProto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { y = Neg (x) }"#,
    );
    before.training_info.push(training.into());
    for passes in [passes::DEFAULT, passes::EXACT] {
        let (after, _) = run_passes(
            Model::new(before.clone()).unwrap(),
            passes,
            &Options::default(),
        )
        .unwrap();
        let algorithm = after.proto().training_info[0].algorithm.as_ref().unwrap();
        let names: Vec<&str> = algorithm
            .initializer
            .iter()
            .map(|tensor| tensor.name())
            .collect();
        assert_eq!(names, ["step", "count", "one", "same"]);
        assert!(algorithm.node.iter().any(|node| node.op_type() == "Cast"));
    }
}

#[test]
fn what_a_branch_annotates_stays_wherever_it_is_defined() {
    let mut before = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (bool c, float16 x) => (float16 y) <float w = {1}, float v = {2}>
        { y = If (c) <then_branch = t () => (float16 r) { i = Cast <to = 10> (w) r = Add (x, i) }> s = Cast <to = 10> (v) u = Cast <to = 10> (v) z = Add (s, u) }"#,
    );
    let entry = |value: &str| raw::StringStringEntryProto {
        key: Some("SCALE_TENSOR".into()),
        value: Some(value.into()),
    };
    let annotation = raw::TensorAnnotation {
        tensor_name: Some("r".into()),
        quant_parameter_tensor_names: vec![entry("w").into(), entry("u").into()],
    };
    let branch = before.graph.as_mut().unwrap().node[0].attribute[0]
        .g
        .as_mut()
        .unwrap();
    branch.quantization_annotation.push(annotation.into());
    let (after, _) = fold(before, &Options::default());
    let names: Vec<&str> = after
        .graph
        .as_ref()
        .unwrap()
        .initializer
        .iter()
        .map(|tensor| tensor.name())
        .collect();
    assert_eq!(names, ["w", "u"]);
}

#[test]
fn sparse_constants_are_recognised_and_stay() {
    let mut before = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 a, float16 b) { c = Constant () a = Cast <to = 10> (c) b = Cast <to = 10> (s) }"#,
    );
    let parts = model("g () => () <float[1] s = {2}, int64[1] at = {3}> { }")
        .into_known()
        .graph
        .unwrap()
        .initializer
        .clone();
    let sparse = raw::SparseTensorProto {
        values: Some(parts[0].clone()),
        indices: Some(parts[1].clone()),
        dims: vec![5],
    };
    let mut attribute = raw::AttributeProto {
        name: Some("sparse_value".into()),
        r#type: Some(raw::attribute_proto::AttributeType::SparseTensor.into()),
        ..Default::default()
    };
    attribute.tail_mut().sparse_tensor = Some(sparse.clone().into());
    let graph = before.graph.as_mut().unwrap();
    graph.sparse_initializer.push(sparse.into());
    graph.node[0].attribute.push(attribute.into());
    let (after, report) = fold(before.clone(), &Options::default());
    let reasons: Vec<String> = report
        .kept()
        .iter()
        .map(|skipped| skipped.reason.to_string())
        .collect();
    assert_eq!(reasons, ["the constant is sparse"; 2]);
    assert!(after == before);
}

#[test]
fn a_sparse_initializer_may_be_an_input_too() {
    for (ir, opset) in [(10, 21), (3, 8)] {
        let mut before = model(&format!(
            r#"<ir_version: {ir}, opset_import: ["": {opset}]> g (float[5] s) => (float16[5] y, float[5] z) {{ y = Cast <to = 10> (s) z = Neg (s) }}"#
        ));
        let parts = model("g () => () <float[1] s = {2}, int64[1] at = {3}> { }")
            .into_known()
            .graph
            .unwrap()
            .initializer
            .clone();
        let sparse = raw::SparseTensorProto {
            values: Some(parts[0].clone()),
            indices: Some(parts[1].clone()),
            dims: vec![5],
        };
        before
            .graph
            .as_mut()
            .unwrap()
            .sparse_initializer
            .push(sparse.clone().into());
        let (after, report) = fold(before.clone(), &Options::default());
        assert_eq!(
            report.kept()[0].reason.to_string(),
            "the constant is sparse"
        );
        assert!(after == before);
        before
            .graph
            .as_mut()
            .unwrap()
            .sparse_initializer
            .push(sparse.into());
        let error = onnx_recast::Model::new(before).unwrap_err();
        assert!(
            error.to_string().contains("the name 's' is defined twice"),
            "{error}"
        );
    }
}

#[test]
fn the_sharding_of_an_input_takes_its_new_name() {
    let mut before = model(
        r#"<ir_version: 11, opset_import: ["": 23]> g (float16[2] x) => (float16[2] y) <float[2] w = {1, 2}>
        { a = Cast <to = 10> (w) b = Cast <to = 10> (w) s = Add (x, a) y = Mul (s, b) }"#,
    );
    let spec = |name: &str| {
        raw::ShardingSpecProto {
            tensor_name: Some(name.into()),
            device: vec![0, 1],
            ..Default::default()
        }
        .into()
    };
    let configuration = raw::NodeDeviceConfigurationProto {
        sharding_spec: vec![spec("b"), spec("y")],
        ..Default::default()
    };
    before.graph.as_mut().unwrap().node[3]
        .device_configurations
        .push(configuration.into());
    let (after, _) = fold(before, &Options::default());
    let node = &after.graph.as_ref().unwrap().node[1];
    let specs: Vec<&str> = node.device_configurations[0]
        .sharding_spec
        .iter()
        .map(|spec| spec.tensor_name())
        .collect();
    assert_eq!((node.input[1].as_str(), specs), ("a", vec!["a", "y"]));
}

#[test]
fn a_newer_ir_is_no_error_for_what_needs_no_knowledge_of_it() {
    let mut before = model(
        r#"<ir_version: 15, opset_import: ["": 21]> g () => (float16 h, float16 k) <float[1] new = {1}, float w = {2}> { h = Cast <to = 10> (w) k = Neg (h) }"#,
    );
    before.graph.as_mut().unwrap().initializer[0].data_type = Some(99);
    let (after, report) = fold(before.clone(), &Options::default());
    assert_eq!(report.folded().len(), 1);
    assert!(
        after.graph.as_ref().unwrap().initializer[0]
            == before.graph.as_ref().unwrap().initializer[0]
    );
}
