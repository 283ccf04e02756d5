//! Decisions that several parts of the crate share: they must not answer one question in two ways.

use onnx_recast::internals::convert::NotConverted;
use onnx_recast::internals::{convert_model, run_passes};
use std::collections::BTreeSet;

use onnx_cast::{Cast, Contested, DType, Rules};
use onnx_recast::convert::{Explicit, Options as ConvertOptions};
use onnx_recast::graph::Edit;
use onnx_recast::internals::casts::folding;
use onnx_recast::internals::graph::read_saturate;
use onnx_recast::internals::ops::inference::infer;
use onnx_recast::internals::ops::needs;
use onnx_recast::internals::ops::schemas::{self, DefaultValue};
use onnx_recast::internals::passes::PassError;
use onnx_recast::passes::{self, Event, Options, Pass, Plan};
use onnx_recast::proto::{ModelProto, TensorProto, raw};
use onnx_recast::{Invalid, Model, Reason};

use crate::lint::{find, options};
use crate::support::{expect_no_failures, fold, model};

fn graph(text: &str) -> Model {
    Model::new(model(text)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A name, a model, and the code of the reason why its cast is not folded; none where it is.
type FoldCase = (&'static str, &'static str, Option<&'static str>);

const FOLD_CASES: &[FoldCase] = &[
    (
        "a cast",
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
        None,
    ),
    (
        "a chain",
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float h) <float w = {1}> { m = Cast <to = 10> (w) h = Cast <to = 1> (m) }"#,
        None,
    ),
    (
        "an input",
        r#"<ir_version: 10, opset_import: ["": 21]> g (float w) => (float16 h) { h = Cast <to = 10> (w) }"#,
        Some("not-constant"),
    ),
    (
        "an initializer that is an input",
        r#"<ir_version: 10, opset_import: ["": 21]> g (float w) => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
        Some("overridable"),
    ),
    (
        "CastLike does not support what Cast does since opset 28",
        r#"<ir_version: 14, opset_import: ["": 28]> g (float6e2m3 x) => (float6e2m3 h) <float w = {1}> { h = CastLike (w, x) }"#,
        Some("type-unsupported"),
    ),
    (
        "Cast does not support float8 before opset 19",
        r#"<ir_version: 10, opset_import: ["": 18]> g () => (float8e4m3fn h) <float w = {1}> { h = Cast <to = 17> (w) }"#,
        Some("type-unsupported"),
    ),
    (
        "a name that a branch shadows",
        r#"<ir_version: 10, opset_import: ["": 21]> g (bool c) => (float16 y) <float w = {1}>
        { y = If (c) <then_branch = t () => (float16 r) <float w = {2}> { r = Cast <to = 10> (w) }, else_branch = e () => (float16 q) { q = Cast <to = 10> (w) }> }"#,
        Some("shadowed-name"),
    ),
    (
        "an undefined value",
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (int8 h) <float w = {300}> { h = Cast <to = 3> (w) }"#,
        Some("undefined-value"),
    ),
    (
        "a contested value",
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (int4 h) <float w = {1.5}> { h = Cast <to = 22> (w) }"#,
        Some("contested-value"),
    ),
    (
        "an opset that is not known",
        r#"<ir_version: 10, opset_import: ["": 29]> g () => (float16 h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
        Some("opset-unknown"),
    ),
    (
        "a CastLike whose type is not stated",
        r#"<ir_version: 10, opset_import: ["": 21]> g (x) => (h) <float w = {1}> { h = CastLike (w, x) }"#,
        Some("type-unknown"),
    ),
    (
        "a string that is not a number",
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float h) <string w = {"1_000"}> { h = Cast <to = 1> (w) }"#,
        Some("invalid-literal"),
    ),
    (
        "a Constant of opset 8 in a branch cannot be an integer",
        r#"<ir_version: 3, opset_import: ["": 8]> g (bool c) => (int32 y) { y = If (c) <then_branch = t (float w) => (int32 r) <float w = {1}> { r = Cast <to = 6> (w) }, else_branch = e () => (int32 r) { r = Foo () }> }"#,
        Some("constant-type-unsupported"),
    ),
    (
        "calls that disagree",
        r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (float16 y, bfloat16 z) { y = my.Fn <kind = 10> () z = my.Fn <kind = 16> () }
        <domain: "my", opset_import: ["": 21]> Fn <kind> () => (y) { c = Constant <value_float = 1.5> () y = Cast <to: int = @kind> (c) }"#,
        Some("callers-disagree"),
    ),
    (
        "a Constant whose value is the caller's",
        r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g () => (float16 y) { y = my.Fn <v = 1.5> () }
        <domain: "my", opset_import: ["": 21]> Fn <v> () => (y) { c = Constant <value_float: float = @v> () y = Cast <to = 10> (c) }"#,
        Some("attribute-reference"),
    ),
];

#[test]
fn the_rule_promises_exactly_the_folds_of_the_pass() {
    let mut failures = Vec::new();
    for (name, text, _) in FOLD_CASES {
        let (_, report) = fold(model(text), &Options::default());
        let folded: BTreeSet<String> = report
            .folded()
            .iter()
            .map(|folded| folded.node.clone())
            .collect();
        let promised: BTreeSet<String> = find(text, "RC401")
            .iter()
            .map(|found| found.place().to_owned())
            .collect();
        if folded != promised {
            failures.push(format!(
                "{name}: folded {folded:?}, but RC401 promises {promised:?}"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn every_reason_has_a_stable_code_and_no_word_of_the_command_line() {
    let mut failures = Vec::new();
    for (name, text, code) in FOLD_CASES {
        let (_, report) = fold(model(text), &Options::default());
        let found: Vec<&str> = report
            .kept()
            .iter()
            .map(|kept| kept.reason.code())
            .collect();
        if found.first() != code.as_ref() {
            failures.push(format!("{name}: found {found:?}, not {code:?}"));
        }
        let reasons = report
            .kept()
            .into_iter()
            .map(|kept| kept.reason.to_string());
        failures.extend(
            reasons
                .filter(|reason| reason.contains("--"))
                .map(|reason| format!("{name}: {reason}")),
        );
    }
    let limit = Options::default().max_growth(Some(1));
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g () => (double h, float w) <float w = {1}> { h = Cast <to = 11> (w) }"#;
    let (_, report) = fold(model(text), &limit);
    assert_eq!(report.kept()[0].reason.code(), "growth-limit");
    assert_eq!(
        report.kept()[0].reason.to_string(),
        "the model would grow by 8 bytes; the limit is 1"
    );
    expect_no_failures(failures);
}

#[test]
fn the_reason_of_a_kept_cast_has_its_data() {
    let model = graph(FOLD_CASES[7].1);
    let options = Options::default();
    let decisions = folding::decide(&model, &options, folding::Extent::Casts);
    let (_, reason) = &decisions.kept()[0];
    assert_eq!(reason.code(), "undefined-value");
    assert!(
        reason
            .to_string()
            .starts_with("1 of its results is undefined, the first at element 0: "),
        "{reason}"
    );
}

/// `Cast-19` says of `saturate`: "It is true by default", and gives no meaning to integers other
/// than 0 and 1.
#[test]
fn a_saturate_beyond_0_and_1_has_no_meaning() {
    let wrong = "`saturate` must be 0 or 1, not 2";
    let to_float8 = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float8e5m2 h) <float w = {1}> { [c] h = Cast <to = 19, saturate = 2> (w) }"#;
    let to_float16 = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float w = {1}> { [c] h = Cast <to = 10, saturate = 2> (w) }"#;
    let folded = run_passes(graph(to_float8), passes::DEFAULT, &Options::default());
    let error = folded.err().map(|error| error.to_string());
    assert!(
        error.as_ref().is_some_and(|text| text.contains(wrong)),
        "fold: {error:?}"
    );

    // Opset 18 has no `saturate`, so a conversion would have to know its meaning.
    let Err(NotConverted::Blocked { blockers, .. }) =
        convert_model(graph(to_float16), &ConvertOptions::to(18))
    else {
        panic!("the conversion to opset 18 is not refused")
    };
    let blockers: Vec<String> = blockers.iter().map(ToString::to_string).collect();
    assert!(
        matches!(&blockers[..], [only] if only.contains(wrong)),
        "convert to 18: {blockers:?}"
    );

    // Nothing about `saturate` changes up to opset 24: the attribute stays as it is.
    let converted = convert_model(graph(to_float16), &ConvertOptions::to(24));
    let proto = converted.unwrap_or_else(|error| panic!("convert to 24: {error}"));
    let node = &proto.model.proto().graph.as_ref().unwrap().node[0];
    let saturate = node.attribute.iter().find(|one| one.name() == "saturate");
    assert_eq!(saturate.map(|one| one.i()), Some(2), "convert to 24");

    let found = find(to_float16, "RC208");
    let messages: Vec<String> = found.iter().map(|one| one.message.to_string()).collect();
    assert_eq!(messages, ["`saturate` must be the integer 0 or 1"], "lint");
}

#[test]
fn an_integer_attribute_without_a_value_is_0_for_all_readers() {
    let proto3 = raw::AttributeProto {
        r#type: Some(2),
        name: Some("saturate".into()),
        ..raw::AttributeProto::default()
    };
    assert_eq!(read_saturate(&proto3.clone().into()), Ok(false));
    let number_of_findings = |saturate: raw::AttributeProto| {
        let mut before = model(
            r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float8e5m2 h) { h = Cast <to = 19> (x) }"#,
        );
        let node = &mut before.graph.as_mut().unwrap().node[0];
        node.attribute.push(saturate.into());
        let before = Model::new(before).unwrap();
        onnx_recast::internals::lint_model(&before, "model.onnx", &options("RC208")).len()
    };
    assert_eq!(number_of_findings(proto3.clone()), 0);
    // The rule looks at the attribute: it finds another value.
    let i = Some(2);
    assert_eq!(number_of_findings(raw::AttributeProto { i, ..proto3 }), 1);
}

#[test]
fn defaults_are_those_of_the_schema() {
    let cast = schemas::schema("", "Cast", 28).unwrap();
    let default = |name: &str| cast.attribute(name).unwrap().default;
    assert_eq!(
        default("saturate"),
        Some(DefaultValue::Int(i64::from(Rules::default().saturate)))
    );
    assert_eq!(default("round_mode"), Some(DefaultValue::String("up")));
    assert_eq!(Rules::default().round_mode, onnx_cast::RoundMode::Up);
}

#[test]
fn saturate_has_an_effect_on_exactly_the_types_that_are_said_to_obey_it() {
    let mut failures = Vec::new();
    for &to in DType::ALL
        .iter()
        .filter(|to| to.cast_since().is_some() && **to != DType::String)
    {
        let [with, without] = [true, false].map(|saturate| {
            let rules = Rules::default()
                .saturate(saturate)
                .contested(Contested::Text);
            let cast = Cast::new(DType::Float, to, rules).unwrap();
            let numbers = [
                0.0_f32,
                1.0,
                -1.0,
                1e30,
                -1e30,
                f32::MAX,
                f32::INFINITY,
                f32::NEG_INFINITY,
            ];
            let source: Vec<u8> = numbers
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            let mut target = vec![0; usize::try_from(to.raw_bytes(8).unwrap()).unwrap()];
            cast.convert(&source, 8, &mut target);
            target
        });
        if (with != without) != to.obeys_saturate() {
            failures.push(format!("{to}: {with:?} with, {without:?} without"));
        }
        let text = format!(
            r#"<ir_version: 14, opset_import: ["": 27]> g (float x) => ({} h) {{ h = Cast <to = {}> (x) }}"#,
            to.name().to_lowercase(),
            to.number()
        );
        let options = ConvertOptions::to(28).explicit(Explicit::Relevant);
        let Ok(conversion) = convert_model(graph(&text), &options) else {
            continue;
        };
        let node = &conversion.model.proto().graph.as_ref().unwrap().node[0];
        let writes = node
            .attribute
            .iter()
            .any(|attribute| attribute.name() == "saturate");
        if writes != to.obeys_saturate() {
            failures.push(format!(
                "{to}: --explicit relevant writes saturate: {writes}"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_constant_in_any_attribute_is_the_same_to_inference_and_to_folds() {
    let cases = [
        ("value = float[2] {1, 2}", DType::Float, Some(vec![2])),
        ("value_float = 1.5", DType::Float, Some(vec![])),
        ("value_floats = [1.5, 2.5]", DType::Float, Some(vec![2])),
        ("value_int = 3", DType::Int64, Some(vec![])),
        ("value_ints = [3, 4, 5]", DType::Int64, Some(vec![3])),
        ("value_string = \"7\"", DType::String, Some(vec![])),
        (
            "value_strings = [\"7\", \"8\"]",
            DType::String,
            Some(vec![2]),
        ),
        // Neither is a value, though their names hold the word.
        ("my_value = 3.5, value_int = 3", DType::Int64, Some(vec![])),
    ];
    let mut failures = Vec::new();
    for (attribute, dtype, dims) in cases {
        let text = format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (double h) {{ c = Constant <{attribute}> () h = Cast <to = 11> (c) }}"#
        );
        let graph = graph(&text);
        let value = graph
            .lookup(onnx_recast::graph::ScopeId::MAIN, "c")
            .unwrap();
        let known = infer(&graph).of(value).clone();
        if (known.dtype(), known.static_shape()) != (Some(dtype), dims.clone()) {
            failures.push(format!("{attribute}: {known:?}"));
        }
        let (_, report) = fold(model(&text), &Options::default());
        let folded: Vec<DType> = report.folded().iter().map(|folded| folded.from).collect();
        if folded != [dtype] {
            failures.push(format!(
                "{attribute}: folded {folded:?}, kept {:?}",
                report.kept()
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn functions_that_no_graph_reaches_are_inferred_alike_in_every_run() {
    let mut text = r#"<ir_version: 10, opset_import: ["": 21, "my": 1]> g (float x) => (float y) { y = Relu (x) }"#.to_owned();
    for index in 0..16 {
        // The caller of half of them comes first in the document, that of the others last.
        let inner = format!(
            "\n<domain: \"my\", opset_import: [\"\": 21, \"my\": 1]> Inner{index} (x{index}) => (y) {{ y = Relu (x{index}) }}"
        );
        let outer = format!(
            "\n<domain: \"my\", opset_import: [\"\": 21, \"my\": 1]> Outer{index} (x) => (y) {{ c = Cast <to = 10> (x) y = my.Inner{index} (c) }}"
        );
        text += &if index % 2 == 0 {
            outer + &inner
        } else {
            inner + &outer
        };
    }
    let graph = graph(&text);
    let known = infer(&graph);
    let arguments = graph
        .values()
        .filter(|&value| graph.name(value).len() > 1 && graph.name(value).starts_with('x'));
    let unknown: Vec<&str> = arguments
        .filter(|&value| known.of(value).dtype() != Some(DType::Float16))
        .map(|value| graph.name(value))
        .collect();
    assert!(
        unknown.is_empty(),
        "the only call of each gives a FLOAT16: {unknown:?}"
    );
}

#[test]
fn a_dimension_of_zero_leaves_no_elements_however_large_the_others_are() {
    let mut failures = Vec::new();
    for dims in [
        [1 << 62, 2, 0],
        [0, 1 << 62, 1 << 62],
        [1 << 62, 1 << 62, 0],
    ] {
        let proto = TensorProto::from(raw::TensorProto {
            dims: dims.to_vec(),
            data_type: Some(1),
            ..raw::TensorProto::default()
        });
        let bytes = prost::Message::encode_to_vec(&proto);
        let input = onnx_recast::internals::files::Input {
            name: "t.pb".to_owned(),
            bytes: bytes.into(),
        };
        match onnx_recast::internals::tensor_files::read(&input, None, &Default::default()) {
            Ok(array) => {
                let (cast, _) = array
                    .cast(Cast::new(DType::Float, DType::Float16, Rules::default()).unwrap())
                    .unwrap();
                if cast.elements() != 0 {
                    failures.push(format!("{dims:?}: {} elements", cast.elements()));
                }
            }
            Err(error) => failures.push(format!("{dims:?}: {error}")),
        }
        let mut before: ModelProto = model(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[n] h) <float w = {1}> { h = Cast <to = 10> (w) }"#,
        );
        let tensor = &mut before.graph.as_mut().unwrap().initializer[0];
        *tensor = TensorProto::from(raw::TensorProto {
            dims: dims.to_vec(),
            data_type: Some(1),
            name: Some("w".into()),
            ..raw::TensorProto::default()
        });
        let (_, report) = fold(before, &Options::default());
        if report.folded().len() != 1 {
            failures.push(format!("{dims:?}: {:?}", report.kept()));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn element_types_of_sparse_tensors_and_of_attribute_defaults_need_their_ir_version() {
    let tensor = |dtype: DType| raw::TensorProto {
        dims: vec![0],
        data_type: Some(dtype.number()),
        name: Some("s".into()),
        ..raw::TensorProto::default()
    };
    let sparse = |dtype| raw::SparseTensorProto {
        values: Some(tensor(dtype).into()),
        indices: Some(
            raw::TensorProto {
                dims: vec![0],
                ..tensor(DType::Int64)
            }
            .into(),
        ),
        dims: vec![4],
    };
    let attribute = |sparse| {
        let mut attribute = raw::AttributeProto {
            name: Some("sparse_value".into()),
            r#type: Some(11),
            ..raw::AttributeProto::default()
        };
        attribute.tail_mut().sparse_tensor = Some(sparse);
        attribute
    };
    let plain = || {
        model(
            r#"<ir_version: 14, opset_import: ["": 21]> g (float x) => (float y) { y = Relu (x) }"#,
        )
    };
    let mut initializer = plain();
    initializer
        .graph
        .as_mut()
        .unwrap()
        .sparse_initializer
        .push(sparse(DType::Float8E8M0).into());
    let mut node = plain();
    node.graph.as_mut().unwrap().node[0]
        .attribute
        .push(attribute(sparse(DType::Uint2).into()).into());
    let mut default = model(
        r#"<ir_version: 14, opset_import: ["": 21, "my": 1]> g (float x) => (float y) { y = my.F (x) }
        <domain: "my", opset_import: ["": 21]> F (x) => (y) { y = Relu (x) }"#,
    );
    let value = raw::AttributeProto {
        name: Some("v".into()),
        r#type: Some(4),
        t: Some(tensor(DType::Float6E2M3).into()),
        ..raw::AttributeProto::default()
    };
    default.functions[0].attribute_proto.push(value.into());
    let cases = [
        ("a sparse initializer", initializer, 12),
        ("a sparse attribute", node, 13),
        ("a default", default, 14),
    ];
    let mut failures = Vec::new();
    for (name, proto, ir) in cases {
        let found = needs::contents(&Model::new(proto).unwrap())
            .into_iter()
            .max_by_key(|need| need.ir);
        if found.as_ref().map(|need| need.ir) != Some(ir) {
            failures.push(format!("{name}: {found:?}, not IR {ir}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn sarif_names_a_node_in_full_though_its_name_has_slashes() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float8e5m2 y) { [/layers.0/Cast] y = Cast <to = 19> (x) }"#;
    let run = onnx_recast::internals::report::LintRun {
        findings: find(text, "RC101"),
        ..Default::default()
    };
    let onnx_recast::internals::base::printable::Printed::Document(document) =
        onnx_recast::internals::report::LintFormat::Sarif.render(&run, Default::default())
    else {
        panic!("SARIF is a document for programs");
    };
    let found: serde_json::Value = serde_json::from_str(&document.to_string()).unwrap();
    let place = &found["runs"][0]["results"][0]["locations"][0]["logicalLocations"][0];
    assert_eq!(
        (&place["name"], &place["fullyQualifiedName"]),
        (&"/layers.0/Cast".into(), &"graph//layers.0/Cast".into())
    );
}

/// Other programs may change mapped bytes at any time; a `&str` over them would then break Rust's
/// rules.
#[test]
fn no_string_borrows_bytes_that_may_be_mapped() {
    let mut failures = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path)
                .unwrap()
                .contains("str::from_utf8(")
            {
                failures.push(format!(
                    "{}: str::from_utf8; copy first: String::from_utf8(bytes.to_vec())",
                    path.display()
                ));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_pass_that_breaks_its_contract_is_named_in_debug_builds() {
    #[derive(Debug)]
    struct Faithless;

    impl Pass for Faithless {
        fn name(&self) -> &'static str {
            "faithless"
        }

        fn docs(&self) -> &'static str {
            "Says that it removed a node, and removes another.\n"
        }

        fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
            let node = model
                .nodes(onnx_recast::graph::ScopeId::MAIN)
                .next()
                .unwrap();
            let events = vec![Event::RemovedNode {
                node: "graph/first".to_owned(),
                reason: Reason::new("unused", "nothing uses it"),
            }];
            Ok(Plan {
                edits: vec![Edit::replace_node(node, model.node(node).clone())],
                events,
            })
        }

        fn ensures(&self, model: &Model, events: &[Event]) -> Result<(), String> {
            let paths: Vec<String> = model
                .nodes(onnx_recast::graph::ScopeId::MAIN)
                .map(|node| model.node_path(node))
                .collect();
            let stays = events.iter().find(
                |event| matches!(event, Event::RemovedNode { node, .. } if paths.contains(node)),
            );
            match stays {
                Some(event) => Err(format!("{event:?} is still there")),
                None => Ok(()),
            }
        }
    }
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { [first] y = Relu (x) }"#;
    let broken = run_passes(graph(text), &[&Faithless], &Options::default());
    assert!(
        matches!(
            broken,
            Err(PassError::Contract {
                pass: "faithless",
                when: "ensures",
                ..
            })
        ),
        "{broken:?}"
    );
}
