//! Whatever is fed in, the answer is a message that names the place, exit code 2, and no output
//! file.

use std::fs;

use onnx_recast::proto::ModelProto;
use prost::Message;

use crate::command::recast;
use crate::support::{expect_no_failures, model};
use crate::wire_tree::{Node, Tree};

fn bytes(text: &str) -> Vec<u8> {
    model(text).encode_to_vec()
}

/// A model whose initializer `w` is this tensor.
fn with_initializer(fields: Vec<(u32, Node)>) -> Vec<u8> {
    let name = (8, Node::Bytes(b"w".to_vec()));
    let tensor = Node::Message(Tree(fields.into_iter().chain([name]).collect()));
    let graph = Node::Message(Tree(vec![(5, tensor)]));
    Tree(vec![(1, Node::Varint(10)), (7, graph)]).write()
}

/// `If` in `If` in `If`.
fn nested(levels: usize) -> Vec<u8> {
    let mut graph = Tree(vec![]);
    for _ in 0..levels {
        let attribute = Tree(vec![
            (1, Node::Bytes(b"then_branch".to_vec())),
            (6, Node::Message(graph)),
            (20, Node::Varint(5)),
        ]);
        let node = Tree(vec![
            (4, Node::Bytes(b"If".to_vec())),
            (5, Node::Message(attribute)),
        ]);
        graph = Tree(vec![(1, Node::Message(node))]);
    }
    Tree(vec![(1, Node::Varint(10)), (7, Node::Message(graph))]).write()
}

#[test]
fn bad_files_are_refused_with_the_place() {
    let sound = bytes(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float[2] w = {1, 2}> { h = Cast <to = 10> (w) }"#,
    );
    let header = r#"<ir_version: 10, opset_import: ["": 21]> g"#;
    let graph = |rest: &str| bytes(&format!("{header} {rest}"));
    let many = |text: &str, times: usize| vec![text; times].join(" ");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("an empty file", vec![], "is empty, not an ONNX model"),
        (
            "not protobuf",
            b"hello, \xffworld".to_vec(),
            ": is not an ONNX model: ",
        ),
        (
            "a text that protobuf can read",
            vec![0x08, 0x01],
            "is not an ONNX model: it has no graph",
        ),
        (
            "cut off",
            sound[..sound.len() - 3].to_vec(),
            "is cut off within `opset_import`: at least 3 bytes are missing",
        ),
        (
            "raw_data of the wrong length",
            with_initializer(vec![
                (1, Node::Varint(2)),
                (2, Node::Varint(1)),
                (9, Node::Bytes(vec![0; 7])),
            ]),
            "graph initializer 'w': raw_data holds 7 bytes, but FLOAT[2] needs 8",
        ),
        (
            "an unknown type",
            with_initializer(vec![(2, Node::Varint(77))]),
            "graph initializer 'w': unknown data_type 77; IR 14 has no such element type",
        ),
        (
            "dimensions that overflow",
            with_initializer(vec![
                (1, Node::Varint(1 << 40)),
                (1, Node::Varint(1 << 40)),
                (2, Node::Varint(1)),
            ]),
            "graph initializer 'w': invalid dims [1099511627776, 1099511627776]",
        ),
        (
            "too few values, which a cast reads",
            bytes(&format!("{header} () => () {{ }}"))
                .iter()
                .copied()
                .chain(
                    Tree(vec![(
                        7,
                        Node::Message(Tree(vec![
                            (
                                1,
                                Node::Message(Tree(vec![
                                    (1, Node::Bytes(b"w".to_vec())),
                                    (2, Node::Bytes(b"h".to_vec())),
                                    (4, Node::Bytes(b"Cast".to_vec())),
                                    (
                                        5,
                                        Node::Message(Tree(vec![
                                            (1, Node::Bytes(b"to".to_vec())),
                                            (3, Node::Varint(10)),
                                            (20, Node::Varint(2)),
                                        ])),
                                    ),
                                ])),
                            ),
                            (
                                5,
                                Node::Message(Tree(vec![
                                    (1, Node::Varint(3)),
                                    (2, Node::Varint(1)),
                                    (4, Node::Bytes(vec![0; 8])),
                                    (8, Node::Bytes(b"w".to_vec())),
                                ])),
                            ),
                            (
                                12,
                                Node::Message(Tree(vec![(1, Node::Bytes(b"h".to_vec()))])),
                            ),
                        ])),
                    )])
                    .write(),
                )
                .collect(),
            "graph/#0:Cast: input 'w': float_data holds 2 entries, but FLOAT[3] needs 3",
        ),
        (
            "a cycle",
            graph("() => (float a) { a = Neg (b) b = Neg (a) }"),
            "depends on its",
        ),
        (
            "a node that uses its own output",
            graph("() => (float a) { a = Neg (a) }"),
            "depends on its",
        ),
        (
            "a name defined twice by nodes",
            graph("(float x) => (float a) { a = Neg (x) a = Abs (x) }"),
            "graph: the name 'a' is defined twice",
        ),
        (
            "an initializer and a node of one name",
            graph("(float x) => (float a) <float a = {1}> { a = Neg (x) }"),
            "graph: the name 'a' is defined twice",
        ),
        (
            "two initializers of one name",
            graph("() => (float a) <float a = {1}, float a = {2}> { }"),
            "graph: the name 'a' is defined twice",
        ),
        (
            "a duplicate in a branch",
            graph(
                "(bool c) => (float y) { [if_1] y = If (c) <then_branch = t () => (float r) { r = Foo () r = Foo () }> }",
            ),
            "graph/if_1.then_branch: the name 'r' is defined twice",
        ),
        (
            "a cast without `to`",
            graph("() => (float16 h) <float w = {1}> { [cast_3] h = Cast (w) }"),
            "graph/cast_3: the attribute `to` is missing",
        ),
        (
            "a cast to no type",
            graph("() => (float16 h) <float w = {1}> { h = Cast <to = 99> (w) }"),
            "graph/#0:Cast: `to` = 99 is not the number of an element type",
        ),
        (
            "a cast to no type, by name",
            graph(r#"() => (float16 h) <float w = {1}> { h = Cast <to = "HALF"> (w) }"#),
            "graph/#0:Cast: `to`: 'HALF' is not an ONNX element type",
        ),
        (
            "a round_mode that is none",
            graph(
                r#"() => (float16 h) <float w = {1}> { h = Cast <to = 24, round_mode = "odd"> (w) }"#,
            ),
            "graph/#0:Cast: `round_mode` must be up, down or nearest, not 'odd'",
        ),
        (
            "a cast without an input",
            graph("() => (float16 h) { h = Cast <to = 10> () }"),
            "graph/#0:Cast: the cast has no input",
        ),
        (
            "200 levels of nesting",
            nested(200),
            "messages are nested more than 100 deep, the limit of protobuf",
        ),
        (
            "groups nested without end",
            [0xc3, 0x3e].repeat(100_000),
            ": is not an ONNX model: ",
        ),
        (
            "a length beyond the end",
            vec![0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x00],
            "`graph` at byte 0: is not an ONNX model: the field is longer than the message around it",
        ),
        (
            "a length near 2^64",
            [
                [0x12, 120].as_slice(),
                &[b'p'; 120],
                &[0x3a, 11, 0x2a, 0x9c],
                &[0xff; 8],
                &[1],
            ]
            .concat(),
            "`graph.initializer[0]` at byte 124: is not an ONNX model: the field is longer than the message around it",
        ),
        (
            "a name that is no UTF-8",
            Tree(vec![(
                7,
                Node::Message(Tree(vec![(2, Node::Bytes(vec![0xff, 0xfe]))])),
            )])
            .write(),
            "`graph.name` at byte 2: is not an ONNX model: the text is not UTF-8",
        ),
        (
            "a cast with two outputs",
            graph("() => (float16 h, k) <float w = {1}> { h, k = Cast <to = 10> (w) }"),
            "graph/#0:Cast: the cast has 2 outputs; Cast defines one",
        ),
        (
            "many names defined twice",
            graph(&format!(
                "() => (float a) {{ {} }}",
                many("a = Foo ()", 2000)
            )),
            "graph: the name 'a' is defined twice",
        ),
    ];
    let mut failures = Vec::new();
    for (name, bytes, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let (input, out) = (
            folder.path().join("bad.onnx"),
            folder.path().join("out.onnx"),
        );
        fs::write(&input, bytes).unwrap();
        let output = recast(&["fold", input.to_str().unwrap(), "-o", out.to_str().unwrap()]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(2)
            || !message.contains(expected)
            || !message.contains("bad.onnx: ")
            || message.lines().count() > 1
        {
            failures.push(format!(
                "{name}: expected '{expected}', found {:?} {message}",
                output.status
            ));
        }
        if fs::read_dir(folder.path()).unwrap().count() != 1 {
            failures.push(format!("{name}: a file was written"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(
        path("m.onnx"),
        bytes(r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#),
    )
    .unwrap();
    let cases = [
        (
            path("none.onnx"),
            path("out.onnx"),
            "none.onnx: does not exist",
        ),
        (
            path(""),
            path("out.onnx"),
            "is a folder, not a file; pass a model in it, such as ",
        ),
        (
            path("m.onnx"),
            path("none/out.onnx"),
            "none does not exist; create it first",
        ),
    ];
    for (input, out, expected) in cases {
        let output = recast(&["fold", &input, "-o", &out]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn thirty_levels_of_nesting_are_fine() {
    let model = ModelProto::from_bytes(nested(30).into()).unwrap();
    assert!(onnx_recast::Model::new(model).is_ok());
}
