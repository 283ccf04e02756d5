//! Nothing of a file is lost: unknown fields at every level, in messages that stay and in messages
//! that are edited.

use std::collections::BTreeSet;

use onnx_recast::internals::protobuf::Layout;
use onnx_recast::passes::Options;
use onnx_recast::proto::{Field, ModelProto, Value};
use prost::Message;

use crate::support::{fold, model};
use crate::wire_tree::{Made, Node, Schema, Tree};

/// One field of each wire type, of numbers that no message of the schema has.
pub fn unknown_fields() -> Vec<(u32, Node)> {
    vec![
        (200, Node::Varint(u64::MAX)),
        (201, Node::Fixed64(*b"eight by")),
        (202, Node::Bytes(vec![7; 5000])),
        (203, Node::Group(vec![0x08, 0x2a, 0x12, 0x01, 0x78])),
        (204, Node::Fixed32(*b"four")),
        (200, Node::Varint(0)),
    ]
}

/// A model in which every message of the schema occurs, with every field and with unknown ones.
fn full_model(schema: &Schema) -> (Tree, usize) {
    let mut made = Made::default();
    let mut tree = schema.full(".onnx.ModelProto", 7, &mut made);
    let seen: BTreeSet<&str> = made.messages.keys().map(String::as_str).collect();
    assert_eq!(
        seen,
        schema.names().collect(),
        "the model has every message"
    );
    let messages = tree.append_everywhere(&unknown_fields());
    (tree, messages)
}

pub fn written(model: &ModelProto) -> Vec<u8> {
    let mut out = Vec::new();
    for piece in Layout::of(model).pieces() {
        let mut bytes = vec![0; piece.bytes() as usize];
        piece.fill(0, &mut bytes);
        out.extend(bytes);
    }
    out
}

#[test]
fn a_clone_shares_the_messages_that_are_not_changed() {
    let bytes = model(
        r#"<ir_version: 8, opset_import: ["": 17]> g (float[n] x) => (float[n] y) {
            a = Relu (x) y = Clip <max: float = 6.0> (a)
        }"#,
    )
    .encode_to_vec();
    let original = ModelProto::from_bytes(bytes.clone().into()).unwrap();
    let mut changed = original.clone();
    changed.graph.as_mut().unwrap().node[1].attribute[0].f = Some(1.0);
    let nodes = |model: &ModelProto| model.graph.as_ref().unwrap().node.clone();
    let [before, after] = [nodes(&original), nodes(&changed)];
    assert_eq!(original.source().as_deref(), Some(bytes.as_slice()));
    assert_eq!((changed.source(), after[1].source()), (None, None));
    assert_eq!(before[1].attribute[0].f, Some(6.0));
    assert_eq!(after[1].attribute[0].f, Some(1.0));
    assert!(std::ptr::eq(&*before[0], &*after[0]));
    assert!(!std::ptr::eq(&*before[1], &*after[1]));
    // Undecoded fields are shared, too.
    let mut extended = original.clone();
    extended.rest_mut().push(Field {
        tag: 200,
        value: Value::Varint(1),
    });
    assert!(original.rest().is_empty() && extended.source().is_none());
    assert_eq!(written(&original), bytes);
}

#[test]
fn an_unchanged_model_is_written_with_its_own_bytes() {
    let schema = Schema::load();
    let (tree, _) = full_model(&schema);
    let fields = tree.write();
    // Also with its fields in an order that no encoder would choose.
    for tree in [tree.clone(), Tree(tree.0.into_iter().rev().collect())] {
        let bytes = tree.write();
        let model = ModelProto::from_bytes(bytes.clone().into()).unwrap();
        assert!(written(&model) == bytes);
    }
    // And with a key that has more bytes than it needs, before and after other fields.
    let with_long_key = |bytes: &[u8]| {
        [
            bytes,
            &[0x88, 0x80, 0x00, 7],
            &fields,
            &[0x88, 0x80, 0x00, 14],
        ]
        .concat()
    };
    for bytes in [with_long_key(&[]), with_long_key(&[0x08, 7])] {
        let model = ModelProto::from_bytes(bytes.clone().into()).unwrap();
        assert!(written(&model) == bytes);
    }
}

#[test]
fn messages_are_equal_if_their_unknown_fields_are() {
    let schema = Schema::load();
    let decoded = |fields: &[(u32, Node)]| {
        let mut tree = schema.full(".onnx.ModelProto", 7, &mut Made::default());
        tree.append_everywhere(fields);
        ModelProto::decode(tree.write().as_slice()).unwrap()
    };
    let fields = unknown_fields();
    assert!(decoded(&fields) == decoded(&fields));
    for changed in 0..fields.len() {
        let mut other = fields.clone();
        other[changed].1 = match &other[changed].1 {
            Node::Varint(number) => Node::Varint(number ^ 1),
            Node::Fixed64(_) => Node::Fixed64(*b"eight BY"),
            Node::Fixed32(_) => Node::Fixed32(*b"FOUR"),
            Node::Group(_) => Node::Group(vec![0x08, 0x2b]),
            Node::Bytes(_) | Node::Message(_) => Node::Bytes(vec![8; 5000]),
        };
        assert!(decoded(&fields) != decoded(&other), "field {changed}");
    }
}

#[test]
fn every_message_that_is_encoded_anew_keeps_all_fields() {
    let schema = Schema::load();
    let (tree, messages) = full_model(&schema);
    // Decoded without its source, no message can be copied from it.
    let model = ModelProto::decode(tree.write().as_slice()).unwrap();
    let again = schema.read(".onnx.ModelProto", &model.encode_to_vec());
    assert_eq!(again.count_with(&unknown_fields()), messages);
    assert!(again.sorted() == tree.sorted());
}

#[test]
fn an_edited_model_keeps_unknown_fields_everywhere() {
    let schema = Schema::load();
    let (tree, _) = full_model(&schema);
    let mut before = ModelProto::from_bytes(tree.write().into()).unwrap();
    before.opset_import[0].domain = None;
    before.opset_import[0].version = Some(21);
    let with_casts = model(
        r#"<ir_version: 14, opset_import: ["": 21]> g () => (float16 kept_output) <float w = {2}> { kept_output = Cast <to = 10> (w) }
           <domain: "", opset_import: ["": 21]> Fn () => (y) { [kept_node] c = Constant <value_float = 1.5> () y = Cast <to = 10> (c) }"#,
    );
    let tagged = |mut tree: Tree| {
        tree.append_everywhere(&unknown_fields());
        tree
    };
    let graph = with_casts.graph.clone().unwrap();
    let main = before.graph.as_mut().unwrap();
    main.initializer.extend(graph.initializer.iter().cloned());
    main.node.extend(graph.node.iter().cloned());
    // The function comes with unknown fields of its own, which its edited nodes must keep.
    let function = tagged(schema.read(
        ".onnx.FunctionProto",
        &with_casts.functions[0].encode_to_vec(),
    ))
    .write();
    before
        .functions
        .push(Message::decode(function.as_slice()).unwrap());
    let messages = |model: &ModelProto| {
        schema
            .read(".onnx.ModelProto", &written(model))
            .count_with(&unknown_fields())
    };
    let count_before = messages(&before);
    let (after, report) = fold(before, &Options::default());
    assert_eq!(report.folded().len(), 2);
    // Gone are, with the Constant in the function, its node and attribute; with the cast there, its
    // attribute.
    assert_eq!(messages(&after), count_before - 3);
}

#[test]
fn a_description_in_another_encoding_than_utf8_is_none_of_our_business() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("m.onnx"), folder.path().join("out.onnx"));
    let mut latin = crate::support::model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
    );
    let described = bytes::Bytes::from_static(b"d\xe9crit");
    latin.doc_string = Some(described.clone());
    latin.graph.as_mut().unwrap().doc_string = Some(described.clone());
    std::fs::write(&input, latin.encode_to_vec()).unwrap();
    for arguments in [
        &[
            "fold",
            input.to_str().unwrap(),
            "-o",
            output.to_str().unwrap(),
        ][..],
        &["inspect", input.to_str().unwrap()],
    ] {
        let done = crate::command::recast(arguments);
        assert_eq!(
            done.status.code(),
            Some(0),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }
    let folded =
        onnx_recast::proto::ModelProto::decode(std::fs::read(&output).unwrap().as_slice()).unwrap();
    assert_eq!(
        [
            &folded.doc_string,
            &folded.graph.as_ref().unwrap().doc_string
        ],
        [&Some(described.clone()), &Some(described)]
    );
}

/// Fields that few messages have are allocated separately, which neither equality nor the order on
/// the wire shows.
#[test]
fn rare_fields_are_encoded_in_the_order_of_their_numbers_and_compared_by_content() {
    let text = "<ir_version: 10, opset_import: [\"\": 21]> g (float x) => (float y) { [n] y = Relu <axis = 1> (x) }";
    let plain = model(text).graph.as_ref().unwrap().node[0].clone();
    let mut touched = plain.clone();
    touched.metadata_props.clear();
    touched.attribute[0].strings.clear();
    assert!(touched == plain && touched.encode_to_vec() == plain.encode_to_vec());
    let mut full = plain.clone();
    full.overload = Some("o".to_owned());
    full.domain = Some("d".to_owned());
    full.doc_string = Some("s".into());
    full.attribute[0].strings.push("t".into());
    full.attribute[0].doc_string = Some("u".into());
    full.attribute[0].tail_mut().ref_attr_name = Some("r".to_owned());
    assert!(full != plain);
    let numbers = |bytes: Vec<u8>| {
        Field::all(bytes.into())
            .map(|field| field.unwrap().tag)
            .collect::<Vec<u32>>()
    };
    assert_eq!(numbers(full.encode_to_vec()), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        numbers(full.attribute[0].encode_to_vec()),
        [1, 3, 9, 13, 20, 21]
    );
}
