//! What holds for every model, tried on random ones.

use std::collections::{HashMap, HashSet};

use onnx_cast::{Cast, DType, RoundMode, Rules};
use onnx_recast::Model;
use onnx_recast::internals::onnx_text;
use onnx_recast::internals::tensor::{Tensor, Values};
use onnx_recast::passes::{Event, Options};
use onnx_recast::proto::{Field, Lossless, ModelProto, NodeProto, Value};
use proptest::prelude::*;
use prost::Message;

use crate::support::{expect_no_failures, fold, model};

/// A node of a random model: an operator, and the values it uses, as numbers of values that are
/// there.
#[derive(Clone, Debug)]
enum Step {
    Cast { input: usize, to: DType },
    Other { left: usize, right: usize },
}

#[derive(Clone, Debug)]
struct Sketch {
    initializers: Vec<(f32, bool)>,
    steps: Vec<Step>,
    outputs: Vec<usize>,
    in_function: bool,
}

fn sketches() -> impl Strategy<Value = Sketch> {
    let types = prop::sample::select(vec![
        DType::Float,
        DType::Float16,
        DType::Bfloat16,
        DType::Float8E4M3Fn,
        DType::Int64,
    ]);
    let step = prop_oneof![
        3 => (any::<prop::sample::Index>(), types).prop_map(|(input, to)| (true, input, input, to)),
        1 => any::<(prop::sample::Index, prop::sample::Index)>().prop_map(|(left, right)| (false, left, right, DType::Float)),
    ];
    let initializer = (
        prop::sample::select(vec![0.0, 1.0, -2.5, 0.1, 449.0, 70000.0]),
        prop::bool::weighted(0.2),
    );
    let parts = (
        prop::collection::vec(initializer, 1..5),
        prop::collection::vec(step, 1..20),
        prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        any::<bool>(),
    );
    parts.prop_map(|(initializers, steps, outputs, in_function)| {
        let first = initializers.len() + 1;
        let steps: Vec<Step> = (first..)
            .zip(steps)
            .map(|(values, (is_cast, left, right, to))| {
                if is_cast {
                    Step::Cast {
                        input: left.index(values),
                        to,
                    }
                } else {
                    Step::Other {
                        left: left.index(values),
                        right: right.index(values),
                    }
                }
            })
            .collect();
        let values = first + steps.len();
        let outputs: HashSet<usize> = outputs
            .into_iter()
            .map(|output| output.index(values))
            .filter(|&output| output > 0)
            .collect();
        Sketch {
            initializers,
            steps,
            outputs: outputs.into_iter().collect(),
            in_function,
        }
    })
}

/// The model: value 0 is its input `v0`, then the initializers (some of them overridable), then a
/// value a step. Every node has metadata, documentation and an unknown field.
fn build(sketch: &Sketch) -> ModelProto {
    let first = sketch.initializers.len() + 1;
    let mut inputs = vec!["float v0".to_owned()];
    let mut initializers = Vec::new();
    let mut constants = String::new();
    for (index, (value, overridable)) in (1..).zip(&sketch.initializers) {
        if sketch.in_function {
            constants.push_str(&format!(
                "v{index} = Constant <value = float {{{value}}}> ()\n"
            ));
        } else {
            initializers.push(format!("float v{index} = {{{value}}}"));
            if *overridable {
                inputs.push(format!("float v{index}"));
            }
        }
    }
    let nodes: String = (first..)
        .zip(&sketch.steps)
        .map(|(index, step)| match step {
            Step::Cast { input, to } => format!(
                "[n{index}] v{index} = Cast <to = {}> (v{input})\n",
                to.number()
            ),
            Step::Other { left, right } => {
                format!("[n{index}] v{index} = my.Op (v{left}, v{right})\n")
            }
        })
        .collect();
    let outputs: Vec<String> = sketch
        .outputs
        .iter()
        .map(|output| format!("v{output}"))
        .collect();
    let outputs = outputs.join(", ");
    let header = r#"<ir_version: 10, opset_import: ["": 21, "my": 1]>"#;
    let mut model = if sketch.in_function {
        let call = format!(
            "{outputs}{} my.Fn (v0)",
            if outputs.is_empty() { "v999 =" } else { " =" }
        );
        model(&format!(
            "{header} g (float v0) => ({outputs}) {{ {call} }} <domain: \"my\", opset_import: [\"\": 21, \"my\": 1]> Fn (v0) => ({outputs}) {{ {constants} {nodes} }}"
        ))
    } else {
        model(&format!(
            "{header} g ({}) => ({outputs}) <{}> {{ {nodes} }}",
            inputs.join(", "),
            initializers.join(", ")
        ))
    };
    let body = match model.functions.first_mut() {
        Some(function) => &mut function.node,
        None => &mut model.graph.as_mut().unwrap().node,
    };
    for node in body {
        node.doc_string = Some(format!("about {}", node.output[0]).into());
        node.rest_mut().push(Field {
            tag: 300,
            value: Value::Varint(7),
        });
    }
    model
}

fn body(model: &ModelProto) -> &[NodeProto] {
    model.functions.first().map_or_else(
        || &model.graph.as_ref().unwrap().node[..],
        |function| &function.node,
    )
}

/// What each output is, as a term: a constant with its bytes, the input, or an operator of terms.
/// Casts of constants are computed.
fn meaning(model: &ModelProto) -> Vec<(String, String)> {
    let mut terms: HashMap<String, String> = HashMap::from([("v0".to_owned(), "v0".to_owned())]);
    let mut constants: HashMap<String, (DType, Vec<u8>)> = HashMap::new();
    let graph = model.graph.as_ref().unwrap();
    let overridable: HashSet<&str> = graph.input.iter().map(|input| input.name()).collect();
    let nodes = body(model).iter().flat_map(|node| {
        node.attribute
            .iter()
            .filter_map(|attribute| Some((node.output[0].as_str(), attribute.t.as_ref()?)))
    });
    let tensors = graph
        .initializer
        .iter()
        .map(|tensor| (tensor.name(), tensor))
        .chain(nodes);
    for (name, tensor) in tensors {
        let view = Tensor::read(tensor).unwrap();
        let Values::Raw(raw) = view.values().unwrap() else {
            panic!("numbers only")
        };
        if overridable.contains(name) {
            terms.insert(name.to_owned(), format!("override {name}"));
        } else {
            constants.insert(name.to_owned(), (view.dtype(), raw.to_vec()));
        }
    }
    for node in body(model)
        .iter()
        .filter(|node| node.op_type() != "Constant")
    {
        let output = node.output[0].clone();
        let to = node
            .attribute
            .first()
            .and_then(|to| DType::from_number(to.i() as i32));
        let constant = constants.get(&node.input[0]).cloned();
        let known = to.zip(constant).and_then(|(to, (from, raw))| {
            let rules = Rules::default()
                .saturate(true)
                .round_mode(RoundMode::Up)
                .opset(21);
            let cast = Cast::new(from, to, rules).unwrap();
            let mut out = vec![0; to.raw_bytes(1).unwrap() as usize];
            cast.convert(&raw, 1, &mut out);
            cast.survey(&raw, 1).is_defined().then_some((to, out))
        });
        if let Some(constant) = known {
            constants.insert(output, constant);
        } else {
            let inputs: Vec<String> = node
                .input
                .iter()
                .map(|input| term(input, &terms, &constants))
                .collect();
            terms.insert(
                output,
                format!("{}<{to:?}>({})", node.op_type(), inputs.join(", ")),
            );
        }
    }
    let outputs = match model.functions.first() {
        Some(function) => function.output.clone(),
        None => graph
            .output
            .iter()
            .map(|output| output.name().to_owned())
            .collect(),
    };
    outputs
        .into_iter()
        .map(|output| (output.clone(), term(&output, &terms, &constants)))
        .collect()
}

fn term(
    name: &str,
    terms: &HashMap<String, String>,
    constants: &HashMap<String, (DType, Vec<u8>)>,
) -> String {
    match constants.get(name) {
        Some((dtype, raw)) => format!("{dtype}{raw:?}"),
        None => terms
            .get(name)
            .cloned()
            .unwrap_or_else(|| format!("missing {name}")),
    }
}

#[test]
fn texts_of_any_characters_that_are_printed_read_back() {
    for name in [
        "\0\u{1}\u{7f}",
        "\t\r\n",
        r#"\ "quoted" \n \u{7f}"#,
        "\u{feff}\u{301}\u{10ffff}",
        "it's",
    ] {
        let mut named = crate::support::model(
            "<ir_version: 10, opset_import: [\"\": 21]> g () => () { y = Neg (x) }",
        );
        named.producer_name = Some(name.to_owned());
        assert_eq!(
            onnx_text::parse(&onnx_text::print(&named))
                .unwrap()
                .producer_name(),
            name
        );
    }
}

#[test]
fn floats_that_are_no_numbers_read_back() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g () => () { y = Op <a = nan, b = -inf, c = [nan, inf, -0.0]> () }"#;
    let model = onnx_text::parse(text).unwrap();
    let again = onnx_text::parse(&onnx_text::print(&model)).unwrap();
    assert_eq!(again.encode_to_vec(), model.encode_to_vec());
}

#[test]
fn an_attribute_of_another_kind_than_it_says_is_no_text() {
    let of = |attribute: &str| {
        format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => () {{ y = Op <{attribute}> () }}"#
        )
    };
    let mut failures = Vec::new();
    for attribute in [
        "a: tensor = h () => () {}",
        "a: string = 1",
        "a: int = \"1\"",
        "a: ints = [\"1\"]",
        "a = [1, \"1\"]",
        "a: graph = 1",
    ] {
        if onnx_text::parse(&of(attribute)).is_ok() {
            failures.push(attribute.to_owned());
        }
    }
    for attribute in [
        "a: ints = []",
        "a: floats = []",
        "a: strings = []",
        "a: graphs = []",
        "a: float = 1",
        "a: tensor",
        "a: graph",
        "a: type_proto",
    ] {
        let again = onnx_text::parse(&of(attribute))
            .map(|model| onnx_text::print(&model))
            .and_then(|printed| onnx_text::parse(&printed));
        if again.as_ref().ok().map(Message::encode_to_vec)
            != onnx_text::parse(&of(attribute))
                .ok()
                .map(|model| model.encode_to_vec())
        {
            failures.push(format!("{attribute}: {again:?}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn names_of_any_characters_that_are_printed_read_back() {
    let template = r#"
<ir_version: 10, opset_import: ["": 21, "d": 1]>
NAME (float[NAME, 2] NAME) => (float NAME) <float NAME = {1}, NAME> {
  [NAME] NAME, NAME = "d.OPERATOR":NAME <NAME: int = 1> (NAME, "", NAME)
  y = If (NAME) <then_branch: graph = NAME () => (NAME) { NAME = Neg (NAME) }, NAME: graphs = [NAME () => () {}]>
}
<domain: "d", opset_import: ["": 21]> NAME <NAME> (NAME) => (NAME) { NAME = Op <to: int = @NAME> (NAME) }
"#;
    let mut failures = Vec::new();
    for name in [
        "", " ", "a b", "42", "-", "4/2", "1e-5x", "inf", "float", "seq", "x:0", "[", "=>", "\"",
        "#", "?", "é", "a\nb",
    ] {
        let quoted = format!("{name:?}");
        let text = template
            .replace("\"d.OPERATOR\"", &format!("{:?}", format!("d.{name}")))
            .replace("NAME", &quoted);
        let model = onnx_text::parse(&text).unwrap();
        let printed = onnx_text::print(&model);
        let graph = model.graph.as_ref().unwrap();
        assert_eq!(
            [
                graph.name(),
                graph.input[0].name(),
                graph.node[0].op_type(),
                &graph.node[1].input[0]
            ],
            [name; 4]
        );
        let again = onnx_text::parse(&printed).map(|again| onnx_text::print(&again));
        if again.as_ref() != Ok(&printed) {
            failures.push(format!("{name:?}: {again:?}, printed as {printed}"));
        }
        let same = onnx_text::parse(&printed)
            .is_ok_and(|again| again.encode_to_vec() == model.encode_to_vec());
        if !same && !name.is_empty() {
            failures.push(format!("{name:?} is lost in {printed}"));
        }
    }
    expect_no_failures(failures);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn folding_keeps_the_meaning_and_touches_nothing_else(sketch in sketches()) {
        let before = build(&sketch);
        prop_assume!(sketch.outputs.len() == before.graph.as_ref().unwrap().output.len() && !sketch.outputs.is_empty());
        let (after, report) = fold(before.clone(), &Options::default());

        prop_assert_eq!(meaning(&before), meaning(&after), "{}", onnx_text::print(&after));
        prop_assert!(Model::new(after.clone()).is_ok());

        // The nodes that are left are the old ones, in their order, but for the names of shared
        // results.
        let folded: HashSet<&str> = report.folded().iter().map(|folded| folded.node.rsplit('/').next().unwrap()).collect();
        let plain = |nodes: &[NodeProto]| -> Vec<NodeProto> {
            let kept = nodes.iter().filter(|node| node.op_type() != "Constant" && !folded.contains(node.name()));
            kept.cloned().map(|mut node| { node.input.clear(); node }).collect()
        };
        prop_assert_eq!(plain(body(&before)), plain(body(&after)));

        // Everything else of the model and graph is as it was.
        let bare = |model: &ModelProto| {
            let mut model = model.clone();
            let graph = model.graph.as_mut().unwrap();
            graph.node.clear();
            graph.initializer.clear();
            for function in &mut model.functions {
                function.node.clear();
            }
            model
        };
        prop_assert_eq!(bare(&before), bare(&after));
        let kept_tensors = |model: &ModelProto, names: &HashSet<String>| -> Vec<_> {
            model.graph.as_ref().unwrap().initializer.iter().filter(|tensor| names.contains(tensor.name())).cloned().collect()
        };
        let removed: HashSet<&str> = report.events().filter_map(|event| match event {
            Event::RemovedConstant(removed) => Some(removed.name.as_str()),
            _ => None,
        }).collect();
        let stays: HashSet<String> = before.graph.as_ref().unwrap().initializer.iter()
            .map(|tensor| tensor.name().to_owned()).filter(|name| !removed.contains(name.as_str())).collect();
        prop_assert_eq!(kept_tensors(&before, &stays), kept_tensors(&after, &stays));

        // A second run finds nothing to do, and the bytes are the same whenever they are made.
        let (again, report) = fold(after.clone(), &Options::default());
        prop_assert!(report.folded().is_empty());
        prop_assert_eq!(again.encode_to_vec(), after.encode_to_vec());
        prop_assert_eq!(fold(before, &Options::default()).0.encode_to_vec(), after.encode_to_vec());
    }

    #[test]
    fn text_that_is_printed_reads_back(sketch in sketches()) {
        let model = build(&sketch);
        let text = onnx_text::print(&model);
        let again = onnx_text::parse(&text);
        prop_assert_eq!(again.map(|again| onnx_text::print(&again)), Ok(text));
    }

    #[test]
    fn any_bytes_are_a_model_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(model) = Lossless::<onnx_recast::proto::raw::ModelProto>::from_bytes(bytes.clone().into()) {
            prop_assert_eq!(model.encode_to_vec(), bytes);
            let _ = Model::new(model);
        }
    }

    #[test]
    fn a_damaged_model_is_a_model_or_an_error(sketch in sketches(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = build(&sketch).encode_to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(model) = ModelProto::from_bytes(bytes.clone().into()) {
            prop_assert_eq!(model.encode_to_vec(), bytes);
            if let Ok(model) = Model::new(model) {
                let _ = onnx_recast::internals::run_passes(model, onnx_recast::passes::DEFAULT, &Options::default());
            }
        }
    }
}

#[test]
fn a_tensor_whose_dimensions_cannot_be_is_printed_without_its_elements() {
    for dims in [
        "4000000000,4000000000,4000000000",
        "4000000000,4000000000,4000000000,0",
        "3",
    ] {
        let model = model(&format!(
            "<ir_version: 10> g () => () {{ c = Constant <value = float[{dims}] {{1, 2}}> () }}"
        ));
        assert!(onnx_text::print(&model).contains("{...}"), "{dims}");
    }
}

#[test]
fn texts_nest_as_deep_as_files_may() {
    let types = |depth: usize| {
        format!(
            "g ({}float{} x) => (x) {{ }}",
            "seq(".repeat(depth),
            ")".repeat(depth)
        )
    };
    let graphs = |depth: usize| {
        format!(
            "g () => () {{ {} {} }}",
            "y = If <then_branch = t () => () {".repeat(depth),
            "}> (x)".repeat(depth)
        )
    };
    for make in [&types as &dyn Fn(usize) -> String, &graphs] {
        assert!(onnx_text::parse(&make(30)).is_ok());
        let error = onnx_text::parse(&make(100_000)).unwrap_err();
        assert!(
            error.to_string().contains("deeper than the limit of 50"),
            "{error}"
        );
    }
}
