//! The queries of a model and of the subject of a rule, as rules, passes and adapters of another
//! crate use them.

use std::io;

use onnx_recast::cast::{Contested, DType};
use onnx_recast::convert::OperatorAdapter;
use onnx_recast::graph::{Body, Edit, NotConstant, ScopeId, ScopeKind, TypePlace, TypeSource};
use onnx_recast::lint::{
    Baseline, Finding, FunctionRule, Known, RuleFacts, Safety, Selection, Severity, Subject,
};
use onnx_recast::passes::{Event, Plan};
use onnx_recast::proto::AttributeProto;
use onnx_recast::{
    Array, ConvertOptions, Error, ErrorKind, LintOptions, Model, Reason, SaveOptions,
};

fn model(text: &str) -> Model {
    Model::from_text(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn values_know_their_scope_type_and_whether_a_caller_overrides_them() {
    let model = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, bool c, float[2] w) => (float16[2] y) <float[2] w = {1, 2}> {
            [half] h = Cast <to = 10> (x)
            [choose] y = If (c) <then_branch = b () => (float16[2] t) { t = Identity (h) },
                else_branch = e () => (float16[2] u) { u = Neg (h) }>
        }"#,
    );
    let lookup = |scope, name| model.lookup(scope, name).unwrap();
    let then = model.scopes().nth(1).unwrap();
    let (half, inner) = (lookup(ScopeId::MAIN, "h"), lookup(then, "t"));

    assert_eq!(
        (model.scope_path(then).as_str(), model.scope_of(inner)),
        ("graph/choose.then_branch", then)
    );
    assert!(matches!(
        model.scope_kind(then),
        ScopeKind::Subgraph {
            list_index: None,
            ..
        }
    ));
    assert_eq!(
        (
            model.scope_kind(ScopeId::MAIN),
            model.is_visible(half, then)
        ),
        (ScopeKind::Main, true)
    );
    assert!(!model.is_visible(inner, ScopeId::MAIN));

    // The graph declares y, and the cast determines h.
    assert_eq!(
        model.declared_type(lookup(ScopeId::MAIN, "y")),
        Some(DType::Float16)
    );
    assert_eq!(
        (model.declared_type(half), model.element_type(half)),
        (None, Some(DType::Float16))
    );
    let cast = model.cast_node(model.producer(half).unwrap()).unwrap();
    assert_eq!(
        (cast.input, cast.to),
        (
            lookup(ScopeId::MAIN, "x"),
            TypeSource::Attribute(DType::Float16)
        )
    );
    assert!(cast.rules(21, Contested::Text).saturate);

    assert!(model.is_overridable(lookup(ScopeId::MAIN, "w")));
    let weight = model
        .tensors()
        .map(|(place, _)| model.tensor_path(place))
        .collect::<Vec<_>>();
    assert_eq!(weight, ["graph/w"]);
    let Body::Graph(_) = model.body(then) else {
        panic!("a branch is a graph")
    };
    assert_eq!(
        model.body(ScopeId::MAIN).input_names().collect::<Vec<_>>(),
        ["x", "c", "w"]
    );
    assert_eq!(model.body(then).output_names().collect::<Vec<_>>(), ["t"]);
}

#[test]
fn constants_are_read_from_nodes_and_types_from_messages() {
    let model = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (int64[2] y, float z) {
            [shape] y = Constant <value_ints = [3, 4]> () [empty] z = Constant ()
        }"#,
    );
    let [y, z] = ["y", "z"].map(|name| model.lookup(ScopeId::MAIN, name).unwrap());
    let tensor = model.constant(y).unwrap().tensor;
    assert_eq!(Known::of_tensor(&tensor).to_string(), "tensor(int64)[2]");
    let numbers = Array::from_tensor(&tensor).unwrap();
    assert_eq!(numbers.to_vec::<i64>().unwrap(), [3, 4]);
    assert!(matches!(model.constant(z), Err(NotConstant::NoValue)));

    let declared = model.declared(y).unwrap();
    let known = Known::of_type(declared.r#type.as_ref().unwrap());
    assert_eq!(
        (known.dtype(), known.to_string().as_str()),
        (Some(DType::Int64), "tensor(int64)[2]")
    );
    assert_eq!(
        (
            DType::from_name("float8e4m3fn"),
            DType::Float8E4M3Fn.ir_since()
        ),
        (Some(DType::Float8E4M3Fn), 9)
    );
}

/// Reports what a subject knows.
static SURVEY: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "X201",
        "survey",
        Severity::Info,
        "Reports what is known of casts and constants.\n",
    ),
    survey,
);

fn survey(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let mut found = vec![Finding::at_model(format!(
        "{} casts, valid or not; {} casts of a cast; {} additions",
        subject.cast_nodes().count(),
        subject.cast_pairs().count(),
        model
            .nodes(ScopeId::MAIN)
            .filter(|&node| model.is_op(node, "Add"))
            .count()
    ))];
    let to_float = subject
        .casts()
        .filter(|cast| cast.to == DType::Float && cast.from.is_some());
    found.extend(subject.check_casts(to_float, |cast| {
        let before = subject.producing_cast(cast.input)?;
        Some(format!("undoes {}", model.node_path(before.node)))
    }));
    found.extend(
        subject
            .quantizers()
            .map(|node| Finding::at_node(node.node, format!("quantizes to {}", node.to))),
    );
    found.extend(model.values().filter_map(|value| {
        let (place, tensor) = model.stated_tensor(value)?;
        let path = model.tensor_path(place);
        Some(Finding::at_value(
            model,
            value,
            format!("{path} has the dims {:?}", tensor.dims),
        ))
    }));
    let halves = subject.casts().filter(|cast| cast.to == DType::Float16);
    found.extend(halves.filter_map(|cast| {
        let values = subject.known_values(cast.output?)?;
        let edits = vec![
            Edit::Rewire {
                from: cast.output?,
                to: cast.input,
            },
            Edit::remove_node(cast.node),
        ];
        let finding = Finding::at_node(
            cast.node,
            format!(
                "{} constant elements of {}",
                values.elements(),
                values.dtype()
            ),
        );
        Some(finding.with_unsafe_fix("use the input", edits))
    }));
    found
}

#[test]
fn a_rule_sees_casts_quantizers_and_constants() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, float s, uint8 z) => (uint8[2] q, float[2] y)
        <float[2] w = {1, 2}> {
        [quantize] q = QuantizeLinear (x, s, z)
        [narrow] h = Cast <to = 10> (w)
        [wide] f = Cast <to = 1> (h)
        [add] y = Add (f, x)
    }"#;
    let options = LintOptions::default().selection(Selection::default().with_rule(&SURVEY));
    let found = model(text).lint(&options).unwrap();
    let own = found.iter().filter(|found| found.code() == "X201");
    let own: Vec<String> = own
        .map(|found| format!("{}: {}", found.place().as_str(), found.message))
        .collect();
    let expected = [
        "model: 2 casts, valid or not; 1 casts of a cast; 1 additions",
        "graph/w: graph/w has the dims [2]",
        "graph/quantize: quantizes to UINT8",
        "graph/narrow: 2 constant elements of FLOAT16",
        "graph/wide: undoes graph/narrow",
    ];
    assert_eq!(own, expected);

    let mut fixed = model(text);
    fixed
        .fix(&options, Safety::Unsafe, &Baseline::default())
        .unwrap();
    assert!(!fixed.to_text().contains("[narrow]"), "{}", fixed.to_text());
}

#[test]
fn an_adapter_of_an_upgrade_reads_types_and_sets_attributes() {
    let adapter = OperatorAdapter::new("Softmax", 13).on_upgrade(|node| {
        match (node.element_type(0), node.rank(0)) {
            (Some(DType::Float), Some(2)) => {
                node.set_attribute(AttributeProto::int("axis", 1));
                Ok(())
            }
            _ => Err(Reason::new(
                "type-unsupported",
                "the runtime supports matrices of FLOAT only",
            )),
        }
    });
    let mut converted = model(
        r#"<ir_version: 8, opset_import: ["": 12]> g (float[2,3] x) => (float[2,3] y) { y = Softmax (x) }"#,
    );
    converted
        .convert(&ConvertOptions::to(13).adapters(vec![adapter]))
        .unwrap();
    assert!(
        converted.to_text().contains("Softmax <axis: int = 1> (x)"),
        "{}",
        converted.to_text()
    );
}

#[test]
fn errors_and_plans_tell_a_caller_what_to_do() {
    let error = Error::caused_by(io::Error::other("unreadable")).in_file("model.onnx");
    assert_eq!(error.to_string(), "model.onnx: unreadable");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.cause::<io::Error>().is_some());

    let model = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { y = Neg (x) }"#,
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    model.save(&path).unwrap();
    let bytes = model.to_bytes().unwrap().len() as u64;
    let plan = model.into_plan(&path, &SaveOptions::default()).unwrap();
    assert_eq!(plan.bytes(), bytes);
    assert_eq!(plan.files().collect::<Vec<_>>(), [path]);
}

#[test]
fn a_declared_type_is_set_if_it_is_the_stated_one() {
    let mut model = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) <float[2] h> {
            h = Neg (x)
            y = Neg (h)
        }"#,
    );
    let value = model.lookup(ScopeId::MAIN, "h").unwrap();
    let name = TypePlace::Name {
        scope: ScopeId::MAIN,
        name: "h".to_owned(),
    };
    let cases = [
        (TypePlace::Value(value), Some(DType::Double), DType::Float),
        (TypePlace::Value(value), Some(DType::Float), DType::Float16),
        (TypePlace::Value(value), None, DType::Bfloat16),
        (name.clone(), Some(DType::Double), DType::Bfloat16),
        (name, Some(DType::Bfloat16), DType::Int8),
    ];
    for (at, from, expected) in cases {
        let case = format!("{at:?} from {from:?}");
        let to = if from == Some(DType::Double) {
            DType::String
        } else {
            expected
        };
        model.apply(vec![Edit::SetType { at, from, to }]).unwrap();
        assert_eq!(model.declared_type(value), Some(expected), "{case}");
    }
}

#[test]
fn a_plan_lists_what_a_pass_removes_changes_and_keeps() {
    let model = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) <float w = {1}> { [neg] y = Neg (x) }"#,
    );
    let node = model.nodes(ScopeId::MAIN).next().unwrap();
    let weight = model
        .values()
        .find(|value| model.name(*value) == "w")
        .unwrap();
    let mut plan = Plan::default();
    plan.remove_initializer(&model, weight, Reason::new("unused", "nothing uses it"));
    plan.report_change(&model, node, "is negated twice");
    plan.report_kept(&model, node, Reason::new("needed", "an output needs it"));
    assert!(matches!(&plan.edits[..], [Edit::RemoveInitializer(value)] if *value == weight));
    let [
        Event::RemovedConstant(removed),
        Event::Changed(changed),
        Event::Kept(kept),
    ] = &plan.events[..]
    else {
        panic!("{:?}", plan.events);
    };
    assert_eq!((&*removed.name, removed.reason.code()), ("w", "unused"));
    assert_eq!(
        (&*changed.node, &*changed.op, &*changed.what),
        ("graph/neg", "Neg", "is negated twice")
    );
    assert_eq!(
        (&*kept.node, kept.reason.to_string()),
        ("graph/neg", "an output needs it".to_owned())
    );
}
