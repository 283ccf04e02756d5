//! Verification of written models: faults that are planted into right results are found, and the
//! results themselves pass.

mod data_files;
mod evaluate;
mod fault_table;
mod faults;
mod imports;
mod laws;
mod models;
mod random;
mod right;

use onnx_recast::internals::run_passes;
use std::fs;

use onnx_recast::internals::graph::with_unchecked_tensors;
use onnx_recast::internals::tensor::{Tensor, raw_data};
use onnx_recast::passes::{self, EXACT, Options, Pass, Plan};
use onnx_recast::proto::{ModelProto, NodeProto, Piece, TensorProto};
use onnx_recast::verify::Verification;
use onnx_recast::{
    ConvertOptions, DType, ErrorKind, FoldOptions, Invalid, Model, Placement, PrecisionOptions,
    SaveOptions, graph,
};
use prost::Message;

use crate::support::{expect_no_failures, model};

/// A model in which the exact passes change much, with functions, branches, effects and metadata
/// beside it.
const ORIGINAL: &str = r#"<ir_version: 10, opset_import: ["": 21, "local": 1, "effects": 1], producer_name: "exporter", metadata_props: ["key": "value"]>
    g (float16[2, 3] x, bool c, float[2, 3] f) => (float16[2, 3] y, float16[2, 3] t, float8e4m3fn[2, 3] q, float[2, 3] l, float16[2, 3] o)
    <float[6] w = {1, 2, 3, 4, 5, 6}, int64[2] s = {2, 3}, float16[3] b = {1, 2, 3}, float16[3] same = {1, 2, 3}, float16[3] other = {3, 2, 1}> {
        i = Identity (w)
        r = Reshape (i, s)
        h = Cast <to = 10> (r)
        a = Add (x, h)
        [minus] d = Sub (a, b)
        up = Cast <to = 1> (d)
        down = Cast <to = 10> (up)
        m = Mul (down, same)
        k = Sub (m, other)
        y = Softmax <axis = 0> (k)
        u = Transpose <perm = [1, 0]> (y)
        v = Transpose <perm = [1, 0]> (u)
        t = local.Twice (v)
        q = Cast <to = 17, saturate = 0> (f)
        half = Cast <to = 10> (f)
        l = Cast <to = 1> (half)
        logged = effects.Log (y)
        o = If (c) <
            then_branch = yes () => (float16[2, 3] p) { p = Relu (y) },
            else_branch = no () => (float16[2, 3] n) { n = Neg (y) }
        >
    }
    <domain: "local", opset_import: ["": 21]> Twice (x) => (y) { y = Add (x, x) }"#;

/// A fault in the result of the passes, the path at which it is reported, and a part of what is
/// reported.
struct Fault {
    name: &'static str,
    plant: fn(&mut ModelProto),
    path: &'static str,
    what: &'static str,
}

fn node<'m>(model: &'m mut ModelProto, output: &str) -> &'m mut NodeProto {
    let nodes = &mut model.graph.as_mut().unwrap().node;
    nodes
        .iter_mut()
        .find(|node| node.output.iter().any(|name| name == output))
        .unwrap()
}

fn initializer<'m>(model: &'m mut ModelProto, name: &str) -> &'m mut TensorProto {
    let tensors = &mut model.graph.as_mut().unwrap().initializer;
    tensors
        .iter_mut()
        .find(|tensor| tensor.name() == name)
        .unwrap()
}

/// Replaces the values of an initializer; its type and shape stay.
fn set_values(model: &mut ModelProto, name: &str, codes: &[u16]) {
    let tensor = initializer(model, name);
    tensor.rest_mut().clear();
    tensor.rest_mut().push(raw_data(Piece::Bytes(
        codes
            .iter()
            .flat_map(|code| code.to_le_bytes())
            .collect::<Vec<u8>>()
            .into(),
    )));
}

const FAULTS: &[Fault] = &[
    Fault {
        name: "an element of a computed constant is wrong in the last digit",
        plant: |model| {
            set_values(
                model,
                "h",
                &[0x3c00, 0x4000, 0x4200, 0x4401, 0x4500, 0x4600],
            )
        },
        path: "graph/#0:Add",
        what: "input 1: 'h' has another value at element 3",
    },
    Fault {
        name: "elements of a computed constant are in another order",
        plant: |model| {
            set_values(
                model,
                "h",
                &[0x3c00, 0x4400, 0x4000, 0x4500, 0x4200, 0x4600],
            )
        },
        path: "graph/#0:Add",
        what: "'h' has another value at element 1",
    },
    Fault {
        name: "a computed constant has another type of the same size",
        plant: |model| initializer(model, "h").data_type = Some(16),
        path: "graph/#0:Add",
        what: "'h' is BFLOAT16[2, 3]; must be FLOAT16[2, 3]",
    },
    Fault {
        name: "a computed constant has another shape",
        plant: |model| initializer(model, "h").dims = vec![3, 2],
        path: "graph/#0:Add",
        what: "'h' is FLOAT16[3, 2]; must be FLOAT16[2, 3]",
    },
    Fault {
        name: "a constant of the original has another value",
        plant: |model| set_values(model, "other", &[0x4200, 0x4000, 0x3c01]),
        path: "graph/other",
        what: "must be",
    },
    Fault {
        name: "a constant that is used is missing",
        plant: |model| {
            model
                .graph
                .as_mut()
                .unwrap()
                .initializer
                .retain(|tensor| tensor.name() != "other")
        },
        path: "graph/#3:Sub",
        what: "input 1: 'other' cannot be verified to be equal",
    },
    Fault {
        name: "different constants are merged",
        plant: |model| node(model, "k").input[1] = "b".to_owned(),
        path: "graph/#3:Sub",
        what: "input 1: 'b', in place of 'other' of the original, has another value at element 0",
    },
    Fault {
        name: "a node is missing",
        plant: |model| {
            model
                .graph
                .as_mut()
                .unwrap()
                .node
                .retain(|node| node.op_type() != "Softmax")
        },
        path: "graph",
        what: "output: 'y' is missing",
    },
    Fault {
        name: "the inputs of a node are in another order",
        plant: |model| node(model, "k").input.swap(0, 1),
        path: "graph/#3:Sub",
        what: "input 0: 'other', in place of 'm' of the original, is a constant that cannot be computed from the original",
    },
    Fault {
        name: "an attribute has another value",
        plant: |model| node(model, "y").attribute[0].i = Some(1),
        path: "graph/#4:Softmax.axis",
        what: "is int = 1; must be int = 0",
    },
    Fault {
        name: "an attribute is missing",
        plant: |model| node(model, "y").attribute.clear(),
        path: "graph/#4:Softmax.axis",
        what: "was removed",
    },
    Fault {
        name: "a node has another operator",
        plant: |model| node(model, "a").op_type = Some("Mul".to_owned()),
        path: "graph/#0:Mul.op_type",
        what: "Mul",
    },
    Fault {
        name: "a node takes the result of another one",
        plant: |model| node(model, "y").input[0] = "m".to_owned(),
        path: "graph/#4:Softmax",
        what: "input 0: 'm', in place of 'k' of the original, cannot be verified to be equal",
    },
    Fault {
        name: "a cast that rounds is missing",
        plant: |model| {
            let rounding = node(model, "l");
            (rounding.op_type, rounding.input[0]) = (Some("Identity".to_owned()), "f".to_owned());
            rounding.attribute.clear();
        },
        path: "graph",
        what: "output: 'l' cannot be verified to be equal",
    },
    Fault {
        name: "a cast is to another type",
        plant: |model| node(model, "half").attribute[0].i = Some(16),
        path: "graph/#9:Cast.to",
        what: "16",
    },
    Fault {
        name: "a cast overflows in another way",
        plant: |model| node(model, "q").attribute.truncate(1),
        path: "graph/#8:Cast.saturate",
        what: "was removed",
    },
    Fault {
        name: "one of two transpositions is missing",
        plant: |model| node(model, "t").input[0] = "u".to_owned(),
        path: "graph/#7:Twice",
        what: "input 0: 'u', in place of 'v' of the original, cannot be verified to be equal",
    },
    Fault {
        name: "an output has another name",
        plant: |model| model.graph.as_mut().unwrap().output[0].name = Some("z".to_owned()),
        path: "graph.output[y]",
        what: "was removed",
    },
    Fault {
        name: "an input is of another shape",
        plant: |model| {
            let input = model.graph.as_mut().unwrap().input.last().unwrap().clone();
            model.graph.as_mut().unwrap().input[0].r#type = input.r#type.clone();
        },
        path: "graph.input[x].type",
        what: "must be float16[2, 3]",
    },
    Fault {
        name: "an input is missing",
        plant: |model| drop(model.graph.as_mut().unwrap().input.remove(1)),
        path: "graph",
        what: "the inputs are",
    },
    Fault {
        name: "a function computes something else",
        plant: |model| model.functions[0].node[0].op_type = Some("Mul".to_owned()),
        path: "function/local:Twice/#0:Mul.op_type",
        what: "Mul",
    },
    Fault {
        name: "a function is missing",
        plant: |model| model.functions.clear(),
        path: "function/local:Twice",
        what: "was removed",
    },
    Fault {
        name: "metadata is missing",
        plant: |model| model.metadata_props.clear(),
        path: "metadata_props[key]",
        what: "was removed",
    },
    Fault {
        name: "the opset has another number",
        plant: |model| model.opset_import[0].version = Some(22),
        path: "opset_import[ai.onnx].version",
        what: "is 22; must be 21",
    },
    Fault {
        name: "a branch computes something else",
        plant: |model| {
            let branch = node(model, "o").attribute[0].g.as_mut().unwrap();
            branch.node[0].op_type = Some("Abs".to_owned());
        },
        path: "graph/#12:If.then_branch/#0:Abs.op_type",
        what: "Abs",
    },
    Fault {
        name: "branches are in each other's place",
        plant: |model| {
            let attributes = &mut node(model, "o").attribute;
            let first = attributes[0].g.take();
            attributes[0].g = attributes[1].g.take();
            attributes[1].g = first;
        },
        path: "graph/#12:If.then_branch/#0:Neg",
        what: "the original has no such node",
    },
    Fault {
        name: "a node without results, which has an effect, is missing",
        plant: |model| {
            model
                .graph
                .as_mut()
                .unwrap()
                .node
                .retain(|node| node.op_type() != "Log")
        },
        path: "graph",
        what: "has 0 nodes without results; the original has 1",
    },
    Fault {
        name: "a type is declared that a value does not have",
        plant: |model| {
            let graph = model.graph.as_mut().unwrap();
            let mut declared = graph.input[0].clone();
            declared.name = Some("k".to_owned());
            graph.value_info.push(declared);
        },
        path: "graph/k",
        what: "the declared type was added",
    },
    Fault {
        name: "a node has lost its name",
        plant: |model| node(model, "d").name = None,
        path: "graph/#1:Sub.name",
        what: "was removed",
    },
];

fn original() -> Model {
    with_effect(ORIGINAL)
}

/// The model of a text, whose node `Log` has no results.
fn with_effect(text: &str) -> Model {
    let mut original = model(text);
    node(&mut original, "logged").output.clear();
    Model::new(original).unwrap()
}

fn folded(original: &Model) -> ModelProto {
    run_passes(original.clone(), EXACT, &Options::default())
        .unwrap()
        .0
        .into_proto()
}

#[test]
fn a_right_result_is_verified_and_each_planted_fault_is_found() {
    let original = original();
    let verification = Verification::of_passes(&original, EXACT, &Options::default());
    let result = folded(&original);
    let verified = verification
        .check(&Model::new(result.clone()).unwrap())
        .unwrap();
    assert_eq!(
        (verified.nodes, verified.constants, verified.elements),
        (16, 2, 9)
    );
    let mut failures = Vec::new();
    for Fault {
        name,
        plant,
        path,
        what,
    } in FAULTS
    {
        let mut faulty = result.clone();
        plant(&mut faulty);
        match verification.check(&with_unchecked_tensors(faulty).unwrap()) {
            Ok(_) => failures.push(format!("{name}: was not found")),
            Err(found)
                if found
                    .faults
                    .iter()
                    .any(|fault| fault.path == *path && fault.what.contains(what)) => {}
            Err(found) => failures.push(format!("{name}: {:#?}", found.faults)),
        }
    }
    expect_no_failures(failures);
}

/// Of the inputs of a node that moves elements, some casts fold and others stay; a move may be of a
/// type that its operator does not support.
#[test]
fn moves_of_folded_and_other_casts_are_verified() {
    let cases = [
        "(float16[2] x) => (float[4] y) <float16[2] w = {1, 2}> { c = Cast <to = 1> (w) a = Cast <to = 1> (x) y = Concat <axis = 0> (a, c) }",
        "(float16[2] x) => (float[4] y) <float16[2] w = {1, 2}> { c = Cast <to = 1> (w) a = Cast <to = 1> (x) y = Concat <axis = 0> (c, a) }",
        "(float8e4m3fn[2] q) => (float16[4] y) <float8e4m3fn[2] w = {1, 2}>
            { a = Cast <to = 1> (w) c = Cast <to = 1> (q) b = Concat <axis = 0> (c, a) y = Cast <to = 10> (b) }",
        "() => (float16[4] y) <int4[2] w = {1, 2}> { a = Cast <to = 1> (w) b = Concat <axis = 0> (a, a) y = Cast <to = 10> (b) }",
        "(float[2] x) => (float[2] y) <float8e4m3fn[2] w = {1, 2}, int64[2] i = {1, 0}> { a = Cast <to = 1> (w) b = Gather (a, i) y = Mul (b, x) }",
    ];
    let mut failures = Vec::new();
    for case in cases {
        let original = Model::new(model(&format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g {case}"#
        )))
        .unwrap();
        for passes in [passes::DEFAULT, EXACT] {
            let verification = Verification::of_passes(&original, passes, &Options::default());
            let folded = run_passes(original.clone(), passes, &Options::default())
                .unwrap()
                .0;
            if let Err(faults) = verification.check(&folded) {
                failures.push(format!("{case}: {faults}"));
            }
            let mut faulty = folded.into_proto();
            let name = faulty
                .graph
                .as_ref()
                .unwrap()
                .initializer
                .last()
                .unwrap()
                .name()
                .to_owned();
            let values = Piece::Bytes(vec![7; bytes_of(initializer(&mut faulty, &name))].into());
            *initializer(&mut faulty, &name).rest_mut() = vec![raw_data(values)];
            if verification.check(&Model::new(faulty).unwrap()).is_ok() {
                failures.push(format!("{case}: other values of '{name}' were not found"));
            }
        }
    }
    expect_no_failures(failures);
}

fn bytes_of(tensor: &TensorProto) -> usize {
    Tensor::read(tensor).unwrap().raw_bytes() as usize
}

#[test]
fn values_that_onnx_does_not_define_are_not_verified_unless_they_are_wanted() {
    let original = Model::new(model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (int8[1] x) => (int8[1] y) <float[1] w = {300}> { c = Cast <to = 3> (w) y = Add (x, c) }"#,
    ))
    .unwrap();
    let wanted = Options::default().undefined(true);
    let folded = run_passes(original.clone(), EXACT, &wanted).unwrap().0;
    Verification::of_passes(&original, EXACT, &wanted)
        .check(&folded)
        .unwrap();
    let error = Verification::of_passes(&original, EXACT, &Options::default())
        .check(&folded)
        .unwrap_err();
    assert!(
        error.to_string().contains("ONNX does not define it"),
        "{error}"
    );
}

#[test]
fn lossy_casts_are_verified_only_if_their_pass_ran() {
    let original = original();
    let lossy: Vec<&dyn Pass> = passes::selected(["lossy-casts", "dead-nodes"]).unwrap();
    let changed = run_passes(original.clone(), &lossy, &Options::default())
        .unwrap()
        .0;
    // `l` is an output, so its cast stays; without it the round trip goes.
    let text = ORIGINAL.replace(
        "l = Cast <to = 1> (half)",
        "j = Cast <to = 1> (half) l = Neg (j)",
    );
    let inner = with_effect(&text);
    let removed = run_passes(inner.clone(), &lossy, &Options::default())
        .unwrap()
        .0;
    Verification::of_passes(&original, &lossy, &Options::default())
        .check(&changed)
        .unwrap();
    Verification::of_passes(&inner, &lossy, &Options::default())
        .check(&removed)
        .unwrap();
    Verification::of_passes(&inner, EXACT, &Options::default())
        .check(&removed)
        .unwrap_err();
}

/// A name, a fault in the result of a conversion, and the path at which it is reported.
type ConversionFault = (&'static str, fn(&mut ModelProto), &'static str);

const CONVERSION_FAULTS: &[ConversionFault] = &[
    (
        "an operator is not converted",
        |model| drop(node(model, "r").input.remove(1)),
        "graph/#2:ReduceMean.input",
    ),
    (
        "another node changes",
        |model| node(model, "y").op_type = Some("Neg".to_owned()),
        "graph/#2:Relu.op_type",
    ),
    (
        "a node does not admit its types",
        |model| node(model, "y").op_type = Some("BitwiseNot".to_owned()),
        "graph/#3:BitwiseNot",
    ),
    (
        "another attribute changes",
        |model| node(model, "z").attribute[0].i = Some(0),
        "graph/#3:Softmax.axis",
    ),
    (
        "a node takes another value",
        |model| node(model, "y").input[0] = "x".to_owned(),
        "graph/#2:Relu.input",
    ),
    (
        "a constant has another value",
        |model| set_values(model, "b", &[1, 2]),
        "graph/b",
    ),
    (
        "the model is of another opset",
        |model| model.opset_import[0].version = Some(12),
        "opset_import[ai.onnx].version",
    ),
    (
        "an output is missing",
        |model| drop(model.graph.as_mut().unwrap().output.pop()),
        "graph.output[z]",
    ),
    (
        "an output is of another type",
        |model| {
            let graph = model.graph.as_mut().unwrap();
            graph.output[0].r#type = graph.input[1].r#type.clone();
        },
        "graph.output[y].type",
    ),
    (
        "metadata is missing",
        |model| model.metadata_props.clear(),
        "metadata_props[key]",
    ),
];

#[test]
fn faults_of_a_conversion_are_found() {
    let original = Model::new(model(
        r#"<ir_version: 10, opset_import: ["": 17], metadata_props: ["key": "value"]> g (float16[2] x, int64 i) => (float16[n] y, float16[n] z)
        <float16[2] b = {1, 2}> { a = Add (x, b) r = ReduceMean <axes = [0]> (a) y = Relu (r) z = Softmax <axis = -1> (y) }"#,
    ))
    .unwrap();
    let options = ConvertOptions::to(18);
    let mut converted = original.clone();
    converted.convert(&options).unwrap();
    let verification = Verification::of_conversion(&original, &options);
    verification.check(&converted).unwrap();
    let mut failures = Vec::new();
    for (name, plant, path) in CONVERSION_FAULTS {
        let mut faulty = converted.proto().clone();
        plant(&mut faulty);
        match verification.check(&with_unchecked_tensors(faulty).unwrap()) {
            Ok(_) => failures.push(format!("{name}: was not found")),
            Err(found) if found.faults.iter().any(|fault| fault.path == *path) => {}
            Err(found) => failures.push(format!("{name}: {:#?}", found.faults)),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_model_that_did_not_change_is_right_after_passes_alone() {
    let proto: ModelProto = model(
        r#"<ir_version: 10, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Relu (x) }"#,
    );
    let bytes = proto.encode_to_vec();
    let read = || Model::new(ModelProto::from_bytes(bytes.clone().into()).unwrap()).unwrap();
    let (original, options) = (read(), ConvertOptions::to(18));
    let report = read()
        .change_precision(&PrecisionOptions::to(DType::Float16))
        .unwrap();
    assert_eq!(report.changed_values, 1);
    let is_right = |verification: Verification| verification.check(&original).is_ok();
    assert!(is_right(Verification::of_passes(
        &original,
        EXACT,
        &FoldOptions::default()
    )));
    assert!(!is_right(Verification::of_conversion(&original, &options)));
    assert!(!is_right(Verification::of_precision(&original, &report)));
}

/// A pass of another crate that is wrong: it lets every node that adds subtract.
#[derive(Debug)]
struct Wrong;

impl Pass for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn docs(&self) -> &'static str {
        "Is wrong."
    }

    fn plan(&self, model: &Model, _: &FoldOptions) -> Result<Plan, Invalid> {
        let mut plan = Plan::default();
        for &node in model.topological_order() {
            let mut changed = model.node(node).clone();
            if changed.op_type() == "Add" {
                changed.op_type = Some("Sub".to_owned());
                plan.edits.push(graph::Edit::replace_node(node, changed));
            }
        }
        Ok(plan)
    }
}

#[test]
fn nothing_is_replaced_by_what_is_not_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    original().save(&path).unwrap();
    let before = fs::read(&path).unwrap();
    let options = FoldOptions::default();
    let placements = [Placement::Keep, Placement::File("m.data".into())];
    for (placement, begins) in placements.into_iter().zip([false, true]) {
        let save = SaveOptions::default().placement(placement).threshold(0);
        let mut model = onnx_recast::Model::open(&path).unwrap();
        let verification = Verification::of_passes(&model, EXACT, &options);
        if begins {
            verification.begin();
        }
        model.run_passes(&[&Wrong], &options).unwrap();
        let error = model
            .save_verified(&path, &save, &verification)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotVerified);
        assert_eq!(error.faults().len(), 2, "{:?}", error.faults());
        assert!(
            error
                .to_string()
                .contains("was not written: graph/#3:Sub.op_type: is \"Sub\"; must be \"Add\""),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(
            fs::read_dir(folder.path()).unwrap().count(),
            1,
            "no file is left"
        );
    }
}

#[test]
fn a_model_that_uses_an_undefined_name_is_invalid_and_not_unverified() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let source = r#"<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Add (x, nothing) }"#;
    Model::new(model(source)).unwrap().save(&path).unwrap();
    let mut model = onnx_recast::Model::open(&path).unwrap();
    let verification = Verification::of_passes(&model, EXACT, &FoldOptions::default());
    model.run_passes(EXACT, &FoldOptions::default()).unwrap();
    let error = model
        .save_verified(&path, &SaveOptions::default(), &verification)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidModel);
    assert!(
        error
            .to_string()
            .contains("m.onnx: graph/#0:Add: input 'nothing' is not defined"),
        "{error}"
    );
}

#[test]
fn values_in_data_files_are_read_again_before_the_files_get_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let save = SaveOptions::default()
        .placement(Placement::File("m.data".into()))
        .threshold(0);
    original().save_with(&path, &save).unwrap();
    // The data file is replaced, and so is the model that refers to it by the same name.
    let (mut model, options) = (original(), FoldOptions::default());
    let verification = Verification::of_passes(&model, EXACT, &options);
    model.run_passes(EXACT, &options).unwrap();
    let (saved, verified) = model.save_verified(&path, &save, &verification).unwrap();
    assert_eq!(
        (verified.constants, saved.data_file.unwrap().path),
        (2, folder.path().join("m.data"))
    );
    // A model that is unchanged is verified as it is.
    let model = onnx_recast::Model::open(&path).unwrap();
    let verification = Verification::of_passes(&model, EXACT, &options);
    let (_, verified) = model
        .save_verified(&path, &SaveOptions::default(), &verification)
        .unwrap();
    assert_eq!((verified.nodes, verified.constants), (16, 0));
}
