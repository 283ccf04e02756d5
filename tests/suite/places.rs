//! The places of errors: scope, node, value or byte offset, besides the path.

use onnx_recast::internals::tensor::{Reference, moved_to_file};
use onnx_recast::proto::ModelProto;
use onnx_recast::{ConvertOptions, Error, FoldOptions, Model, Place};
use prost::Message;

use crate::support::{self, expect_no_failures};

fn fold(model: &ModelProto) -> Result<(), Error> {
    Model::from_bytes(model.encode_to_vec())?
        .fold(&FoldOptions::default())
        .map(drop)
}

fn convert(model: &ModelProto) -> Result<(), Error> {
    Model::from_bytes(model.encode_to_vec())?
        .convert(&ConvertOptions::to(22))
        .map(drop)
}

#[test]
fn errors_name_the_scope_the_node_and_the_value() {
    type Operation = fn(&ModelProto) -> Result<(), Error>;
    type Expected = (
        &'static str,
        Option<&'static str>,
        Option<&'static str>,
        Option<&'static str>,
    );
    let header = r#"<ir_version: 10, opset_import: ["": 21, "local": 1]>"#;
    let cases: [(Operation, &str, Expected); 7] = [
        (
            fold,
            "g (float x) => (float y) { [a/b] h = Cast (x) y = Add (x, h) }",
            ("graph/a/b", Some("graph"), Some("a/b"), None),
        ),
        (
            fold,
            "g (float x) => (float y) { y = Cast (x) }",
            ("graph/#0:Cast", Some("graph"), Some("#0:Cast"), None),
        ),
        (
            fold,
            "g (float x) => (float y) { y = Neg (x) y = Abs (x) }",
            ("graph", Some("graph"), None, Some("y")),
        ),
        (
            convert,
            "g (float x) => (float y) { [add] y = Add (x, gone) }",
            ("graph/add", Some("graph"), Some("add"), Some("gone")),
        ),
        (
            convert,
            "g (float x) => (float y, float gone) { [neg] y = Neg (x) }",
            ("graph", Some("graph"), None, Some("gone")),
        ),
        (
            fold,
            r#"g (float x) => (float y) { y = local.f (x) }
            <domain: "local", opset_import: ["": 21]> f (a) => (b) { [bad] b = Cast (a) }"#,
            (
                "function/local:f/bad",
                Some("function/local:f"),
                Some("bad"),
                None,
            ),
        ),
        (
            fold,
            "g (float x, bool c) => (float y) { [if] y = If (c) <then_branch = t () => (float z) { [bad] z = Cast (x) }, else_branch = e () => (float z) { z = Neg (x) }> }",
            (
                "graph/if.then_branch/bad",
                Some("graph/if.then_branch"),
                Some("bad"),
                None,
            ),
        ),
    ];
    let mut failures = Vec::new();
    for (operation, text, expected) in cases {
        let error = operation(&support::model(&format!("{header} {text}"))).expect_err(text);
        let place = error.place().expect(text);
        let found = (
            place.to_string(),
            place.scope(),
            place.node(),
            place.value(),
        );
        if found != (expected.0.to_owned(), expected.1, expected.2, expected.3)
            || matches!(place, Place::Byte { .. })
        {
            failures.push(format!("{text}: {found:?}, not {expected:?} ({error})"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn errors_about_tensors_name_the_initializer_and_the_attribute() {
    let mut weight = support::model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[2] y) <float[2] w = {1, 2}> { y = Neg (w) }"#,
    );
    weight.graph.as_mut().unwrap().initializer[0].dims = vec![-1];
    let mut constant = support::model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[2] y) { [c] y = Constant <value = float[2] {1, 2}> () }"#,
    );
    constant.graph.as_mut().unwrap().node[0].attribute[0]
        .t
        .as_mut()
        .unwrap()
        .dims = vec![-1];
    let mut external = support::model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[2] y) <float[2] w = {1, 2}> { [half] y = Cast <to = 10> (w) }"#,
    );
    let tensor = &mut external.graph.as_mut().unwrap().initializer[0];
    *tensor = moved_to_file(
        tensor,
        &Reference {
            location: "gone".to_owned(),
            offset: 0,
            length: None,
        },
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    std::fs::write(&path, external.encode_to_vec()).unwrap();

    let errors = [
        (fold(&weight), ("graph initializer 'w'", None, Some("w"))),
        (fold(&constant), ("graph/c.value", Some("c"), None)),
        (
            Model::open(&path)
                .unwrap()
                .fold(&FoldOptions::default())
                .map(drop),
            ("graph/half", Some("half"), Some("w")),
        ),
    ];
    let mut failures = Vec::new();
    for (result, (path, node, value)) in errors {
        let error = result.unwrap_err();
        let place = error.place().unwrap();
        if (
            place.to_string().as_str(),
            place.scope(),
            place.node(),
            place.value(),
        ) != (path, Some("graph"), node, value)
        {
            failures.push(format!(
                "{place:?}, not {path}, {node:?}, {value:?} ({error})"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_error_in_the_bytes_has_their_offset() {
    let model = support::model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { y = Neg (x) }"#,
    );
    let mut bytes = model.encode_to_vec();
    let operator = bytes.windows(3).position(|name| name == b"Neg").unwrap();
    bytes[operator..operator + 3].fill(0xff);
    let error = Model::from_bytes(bytes).unwrap_err();
    let place = error.place().unwrap();
    assert!(matches!(place, Place::Byte { .. }), "{error}");
    assert_eq!(
        (place.scope(), place.node(), place.value()),
        (None, None, None)
    );
}
