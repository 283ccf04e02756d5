//! What must not change.

use onnx_recast::Model;
use onnx_recast::convert::{Expand, IrVersion, Options};
use onnx_recast::internals::convert_model;
use onnx_recast::proto::{
    GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorAnnotation, TrainingInfoProto,
    ValueInfoProto, raw,
};
use prost::Message;

use super::convert_text;
use crate::kept::{unknown_fields, written};
use crate::support::{difference, expect_no_failures, model};
use crate::wire_tree::Schema;

/// Nodes that change in opset 18 in every kind of scope, values captured into each, functions of
/// different opsets that call one another, a sparse initializer, an operator of another domain.
const EVERYWHERE: &str = r#"<ir_version: 14, opset_import: ["": 13, "local": 1, "my.domain": 3], producer_name: "p", doc_string: "d", model_version: 7, metadata_props: ["k": "v"]>
    g (float[2,3] x, bool c, int64 n) => (float y, float z) <float[2,3] w = {1, 2, 3, 4, 5, 6}>
    {
        [mean] m = ReduceMean <axes = [1], keepdims = 1> (x)
        [branch] b = If (c) <then_branch = t () => (float p) { [inner] q = ReduceMean <axes = [0]> (m) p = Add (q, w) },
                             else_branch = e () => (float r) { r = Identity (w) }>
        [loop] l = Loop (n, c, b) <body = lb (int64 i, bool k, float s) => (bool k2, float s2)
            { k2 = Identity (k) [in_loop] u = ReduceMean <axes = [1]> (m) s2 = Add (s, u) }>
        [scan] o = Scan <num_scan_inputs = 1, body = sb (float[3] row) => (float[3] out)
            { [in_scan] f = ReduceMax <axes = [0]> (row) g = Add (f, w) out = Identity (row) }> (x)
        [call] y = local.F (l)
        [other] z = my.domain.Op <deep = [1, 2], name = "n"> (o)
    }
    <domain: "local", opset_import: ["": 12, "local": 1]> F (v) => (h) { [in_function] j = ReduceMean <axes = [1]> (v) h = local.G (j) }
    <domain: "local", opset_import: ["": 17, "my.domain": 3]> G (v) => (h) { j = my.domain.Other (v) [deeper] h = ReduceMin <axes = [0]> (j) }"#;

/// Metadata and a doc string on every entity; a statement on the type of every node's output;
/// quantization, devices, training.
fn decorated() -> ModelProto {
    let mut model = model(EVERYWHERE);
    let mut algorithm = model.graph.clone().unwrap();
    algorithm.name = Some("training".to_owned());
    let graph = model.graph.as_mut().unwrap();
    graph
        .quantization_annotation
        .push(TensorAnnotation::from(raw::TensorAnnotation {
            tensor_name: Some("m".to_owned()),
            quant_parameter_tensor_names: vec![entry("SCALE_TENSOR", "w")],
        }));
    let mut sparse = raw::SparseTensorProto {
        dims: vec![4],
        ..Default::default()
    };
    sparse.values = graph.initializer.first().cloned();
    sparse.values.as_mut().unwrap().name = Some("sparse".to_owned());
    graph.sparse_initializer.push(sparse.into());
    let info = raw::TrainingInfoProto {
        algorithm: Some(algorithm),
        update_binding: vec![entry("w", "m")],
        ..Default::default()
    };
    model.training_info.push(TrainingInfoProto::from(info));
    model.configuration.push(Default::default());
    decorate_graph(model.graph.as_mut().unwrap());
    decorate_graph(model.training_info[0].algorithm.as_mut().unwrap());
    for function in &mut model.functions {
        let function: &mut raw::FunctionProto = function;
        function.doc_string = Some(format!("function {:?}", function.name).into());
        function.metadata_props.push(entry("function", "kept"));
        function.value_info = function
            .node
            .iter()
            .map(|node| info_of(&node.output[0]))
            .collect();
        function.node.iter_mut().for_each(decorate_node);
    }
    model
}

fn entry(key: &str, value: &str) -> StringStringEntryProto {
    StringStringEntryProto::from(raw::StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    })
}

fn info_of(name: &str) -> ValueInfoProto {
    let mut info = raw::ValueInfoProto {
        name: Some(name.to_owned()),
        doc_string: Some("value".into()),
        ..Default::default()
    };
    info.metadata_props.push(entry("value", name));
    info.into()
}

fn decorate_graph(graph: &mut GraphProto) {
    let graph: &mut raw::GraphProto = graph;
    graph.doc_string = Some(format!("graph {:?}", graph.name).into());
    graph.metadata_props.push(entry("graph", "kept"));
    for info in graph.input.iter_mut().chain(&mut graph.output) {
        info.doc_string = Some("interface".into());
        info.metadata_props.push(entry("interface", "kept"));
    }
    for tensor in &mut graph.initializer {
        tensor.doc_string = Some("tensor".into());
        tensor.metadata_props.push(entry("tensor", "kept"));
    }
    graph.value_info = graph
        .node
        .iter()
        .map(|node| info_of(&node.output[0]))
        .collect();
    graph.node.iter_mut().for_each(decorate_node);
}

fn decorate_node(node: &mut NodeProto) {
    node.doc_string = Some(format!("node {:?}", node.output).into());
    node.metadata_props.push(entry("node", "kept"));
    node.device_configurations.push(Default::default());
    for attribute in &mut node.attribute {
        attribute.doc_string = Some("attribute".into());
        if let Some(graph) = &mut attribute.g {
            decorate_graph(graph);
        }
    }
}

/// Takes back what opset 18 asks of the reductions.
fn undo(before: &[NodeProto], after: &mut Vec<NodeProto>) {
    after.retain(|node| !node.name().contains("_axes"));
    for (before, after) in before.iter().zip(after) {
        if before.op_type().starts_with("Reduce") {
            after.input.truncate(1);
            after.attribute.insert(0, before.attribute[0].clone());
        }
        for (before, after) in before.attribute.iter().zip(&mut after.attribute) {
            if let (Some(before), Some(after)) = (&before.g, &mut after.g) {
                undo(&before.node, &mut after.node);
            }
        }
    }
}

#[test]
fn what_no_operator_change_touches_stays_in_every_scope() {
    let before = decorated();
    for opset in [13, 14, 17, 18, 21, 28] {
        let options = Options::to(opset).ir_version(IrVersion::Keep);
        let conversion = convert_model(Model::new(before.clone()).unwrap(), &options).unwrap();
        let changed = conversion
            .report
            .changes
            .iter()
            .filter(|change| change.op.starts_with("Reduce"))
            .count();
        assert_eq!(
            changed,
            if opset < 18 { 0 } else { 10 },
            "{:?}",
            conversion.report.changes
        );
        let mut after = conversion.model.into_proto();
        assert_eq!(after.opset_import[0].version(), opset);
        after.opset_import[0].version = Some(13);
        for (before, after) in before.functions.iter().zip(&mut after.functions) {
            assert_eq!(after.opset_import[0].version(), opset);
            after.opset_import[0].version = before.opset_import[0].version;
        }
        if opset >= 18 {
            undo(
                &before.graph.as_ref().unwrap().node,
                &mut after.graph.as_mut().unwrap().node,
            );
            let trained = before.training_info[0].algorithm.as_ref().unwrap();
            undo(
                &trained.node,
                &mut after.training_info[0].algorithm.as_mut().unwrap().node,
            );
            for (before, after) in before.functions.iter().zip(&mut after.functions) {
                undo(&before.node, &mut after.node);
            }
        }
        assert!(
            after == before,
            "{opset}: {}",
            difference("converted", &before, &after).unwrap_or_default()
        );
    }
}

#[test]
fn unknown_fields_stay_in_every_message_that_stays() {
    let schema = Schema::load();
    let mut tree = schema.read(".onnx.ModelProto", &decorated().encode_to_vec());
    let messages = tree.append_everywhere(&unknown_fields());
    let before = ModelProto::from_bytes(tree.write().into()).unwrap();
    for (opset, gone) in [(14, 0), (28, 10)] {
        let converted =
            convert_model(Model::new(before.clone()).unwrap(), &Options::to(opset)).unwrap();
        let after = schema.read(".onnx.ModelProto", &written(converted.model.proto()));
        assert_eq!(
            after.count_with(&unknown_fields()),
            messages - gone,
            "only the attributes `axes` go"
        );
    }
}

/// Every kind of entity whose name a new one must not take.
#[test]
fn new_names_are_those_of_the_result_with_a_word_and_no_one_elses() {
    let cases = [
        ("a value", "y_axes = Identity (x)", "", "y_axes_1"),
        (
            "two values",
            "y_axes = Identity (x) y_axes_1 = Identity (x)",
            "",
            "y_axes_2",
        ),
        ("a node", "[y_axes] h = Identity (x)", "", "y_axes_1"),
        (
            "a value of another scope",
            "h = If (c) <then_branch = a () => (float p) { y_axes = Identity (x) p = Identity (x) }, else_branch = b () => (float q) { q = Identity (x) }>",
            "",
            "y_axes_1",
        ),
        (
            "a value of a function",
            "h = local.F (x)",
            r#"<domain: "local", opset_import: ["": 17]> F (y_axes) => (o) { o = Identity (y_axes) }"#,
            "y_axes_1",
        ),
        ("nobody", "h = Identity (x)", "", "y_axes"),
    ];
    let mut failures = Vec::new();
    for (taken_by, nodes, function, expected) in cases {
        let source = format!(
            r#"<ir_version: 8, opset_import: ["": 17, "local": 1]> g (float[2] x, bool c) => (float y) {{ {nodes} y = ReduceMean <axes = [0]> (x) }} {function}"#
        );
        let proto = convert_text(&source, &Options::to(18))
            .unwrap()
            .model
            .into_proto();
        let node = proto.graph.as_ref().unwrap().node.last().unwrap().clone();
        if node.input[1] != expected {
            failures.push(format!(
                "taken by {taken_by}: {}, not {expected}",
                node.input[1]
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_attribute_that_gets_another_value_keeps_the_rest() {
    let mut before = model(
        r#"<ir_version: 3, opset_import: ["": 5]> g (float[2] x) => (float16[2] y) { y = Cast <to = "FLOAT16"> (x) }"#,
    );
    before.graph.as_mut().unwrap().node[0].attribute[0].doc_string = Some("why".into());
    let schema = Schema::load();
    let mut tree = schema.read(".onnx.ModelProto", &before.encode_to_vec());
    let messages = tree.append_everywhere(&unknown_fields());
    let before = ModelProto::from_bytes(tree.write().into()).unwrap();
    let after = convert_model(Model::new(before).unwrap(), &Options::to(6))
        .unwrap()
        .model
        .into_proto();
    let attribute = &after.graph.as_ref().unwrap().node[0].attribute[0];
    assert_eq!(
        (attribute.i, attribute.doc_string()),
        (Some(10), &b"why"[..])
    );
    assert_eq!(
        schema
            .read(".onnx.ModelProto", &written(&after))
            .count_with(&unknown_fields()),
        messages
    );
}

/// The body of a SequenceMap becomes that of a Loop, and keeps what it states.
#[test]
fn the_body_of_a_map_keeps_everything() {
    let source = r#"<ir_version: 10, opset_import: ["": 17]> g (seq(float[3]) s, float[3] c) => (seq(float[3]) t) {
        t = SequenceMap <body = b (float[3] e, float[3] a) => (float[3] r) <float[3] m> { m = Mul (e, a) r = Neg (m) }> (s, c) }"#;
    let mut before = model(source);
    let body = before.graph.as_mut().unwrap().node[0].attribute[0]
        .g
        .as_mut()
        .unwrap();
    body.doc_string = Some("a comment".into());
    body.metadata_props
        .push(StringStringEntryProto::from(raw::StringStringEntryProto {
            key: Some("key".to_owned()),
            value: Some("value".to_owned()),
        }));
    body.quantization_annotation
        .push(TensorAnnotation::from(raw::TensorAnnotation {
            tensor_name: Some("m".to_owned()),
            ..Default::default()
        }));
    body.input[0].doc_string = Some("an element".into());
    let (doc, metadata, quantization) = (
        body.doc_string.clone(),
        body.metadata_props.clone(),
        body.quantization_annotation.clone(),
    );
    let model = convert_model(Model::new(before).unwrap(), &Options::to(16))
        .unwrap()
        .model
        .into_proto();
    let body = model
        .graph
        .as_ref()
        .unwrap()
        .node
        .iter()
        .flat_map(|node| &node.attribute)
        .find_map(|attribute| attribute.g.as_ref());
    let body = body.unwrap();
    assert_eq!(
        (
            &body.doc_string,
            &body.metadata_props,
            &body.quantization_annotation
        ),
        (&doc, &metadata, &quantization)
    );
    assert_eq!(body.name(), "b");
    let declared: Vec<&str> = body.value_info.iter().map(|info| info.name()).collect();
    assert_eq!(declared, ["m", "e", "a", "r"]);
    // onnxruntime does not load a loop without the shapes of these.
    let scalars: Vec<bool> = body
        .input
        .iter()
        .map(|input| input.r#type.is_some())
        .collect();
    assert_eq!(scalars, [true, true, false]);
    assert!(body.value_info[1].doc_string.is_some());
}

/// A map whose body has constants is a Loop in its place even if expansions become functions.
#[test]
fn the_constants_of_a_map_stay_in_its_body() {
    let source = r#"<ir_version: 8, opset_import: ["": 17]> g (seq(float[3]) s) => (seq(float[3]) t) {
        t = SequenceMap <body = b (float[3] e) => (float[3] r) <float[3] w = {1, 2, 3}> { r = Mul (e, w) }> (s) }"#;
    let options = Options::to(16).expand(Expand::Function);
    let model = convert_text(source, &options).unwrap().model.into_proto();
    assert!(model.functions.is_empty(), "{:?}", model.functions);
    let nodes = &model.graph.as_ref().unwrap().node;
    let body = nodes
        .iter()
        .flat_map(|node| &node.attribute)
        .find_map(|attribute| attribute.g.as_ref())
        .unwrap();
    assert_eq!(body.initializer[0].name(), "w");
}
