//! `recast diff`: whatever differs is told, once, at a place that people find.

use bytes::Bytes;
use onnx_recast::Cancel;
use onnx_recast::diff::{Difference, DifferenceKind};
use onnx_recast::internals::diff::{ComparedMessage, compare};
use onnx_recast::internals::files::DataFolder;
use onnx_recast::internals::tensor::moved_to_model;
use prost::Message;

use crate::command::recast;
use crate::support::{expect_no_failures, model};
use crate::wire_tree::{Made, Node, Schema, Tree};

const MODEL: &str = r#"
<ir_version: 10, opset_import: ["": 21, "my": 1], producer_name: "p", metadata_props: ["k": "v"]>
main (float[N, 3] x, bool c) => (float16[N, 3] y)
<float[3] w = {1, 2, 3}, float16[N, 3] h>
{
  [cast] h = Cast <to = 10> (x)
  [scale] s = Cast <to = 10> (w)
  t = Mul (h, s)
  [if] y = If (c) <
    then_branch = g () => (float16[N, 3] a) { a = my.Twice (t) },
    else_branch = g () => (float16[N, 3] b) { [copy] b = Identity (t) }
  >
}
<domain: "my", opset_import: ["": 21]> Twice (v) => (u) { u = Add (v, v) }
"#;

fn differences(left: &[u8], right: &[u8]) -> Vec<Difference> {
    let (left, right, data) = (
        Bytes::copy_from_slice(left),
        Bytes::copy_from_slice(right),
        DataFolder::default(),
    );
    let cancel = Cancel::new();
    let [left, right] = [&left, &right].map(|model| ComparedMessage {
        message: model,
        data: &data,
        cancel: &cancel,
    });
    let compared = compare(left, right);
    assert_eq!(compared.faults, []);
    compared.differences
}

/// The differences as lines of a path, a kind and both sides.
fn lines(left: &str, right: &str) -> Vec<String> {
    let [left, right] = [left, right].map(|text| model(text).encode_to_vec());
    let text = |side: Option<String>| side.unwrap_or_else(|| "nothing".to_owned());
    let lines = differences(&left, &right).into_iter().map(
        |Difference {
             path,
             kind,
             left,
             right,
             ..
         }| {
            format!("{path} {kind:?}: {} -> {}", text(left), text(right)) //
        },
    );
    lines.collect()
}

#[test]
fn every_difference_has_its_place_and_kind() {
    let cases: [(&str, &str, &[&str]); 18] = [
        (
            "ir_version: 10",
            "ir_version: 11",
            &["ir_version Changed: 10 -> 11"],
        ),
        (
            r#""p""#,
            r#""q""#,
            &[r#"producer_name Changed: "p" -> "q""#],
        ),
        (
            r#"main (float"#,
            r#"other (float"#,
            &[r#"graph.name Changed: "main" -> "other""#],
        ),
        (
            r#""my": 1]"#,
            r#""my": 2]"#,
            &["opset_import[my].version Changed: 1 -> 2"],
        ),
        (
            r#", "my": 1]"#,
            "]",
            &["opset_import[my] Removed: 1 -> nothing"],
        ),
        (
            r#""k": "v""#,
            r#""k": "w", "l": "m""#,
            &[
                r#"metadata_props[k].value Changed: "v" -> "w""#,
                r#"metadata_props[l] Added: nothing -> "m""#,
            ],
        ),
        (
            "[N, 3] x",
            "[2, 3] x",
            &["graph.input[x].type Changed: float[N, 3] -> float[2, 3]"],
        ),
        (
            ", float16[N, 3] h>",
            ">",
            &["graph.value_info[h] Removed: float16[N, 3] -> nothing"],
        ),
        (
            "{1, 2, 3}",
            "{1, 2.5, 4}",
            &["graph/w Changed: 2 (2 of 3 elements differ, the first at [1]) -> 2.5"],
        ),
        (
            "float[3] w",
            "double[3] w",
            &["graph/w Changed: float[3] -> double[3]"],
        ),
        (
            "[cast] h = Cast <to = 10>",
            "[cast] h = Cast <to = 10, saturate = 0>",
            &["graph/cast.saturate Added: nothing -> int = 0"],
        ),
        (
            "[scale] s = Cast <to = 10>",
            r#"[scale] s = Cast <to = "FLOAT16">"#,
            &[r#"graph/scale.to Changed: int = 10 -> string = "FLOAT16""#],
        ),
        (
            "t = Mul (h, s)",
            "t = Mul (s, h)",
            &[r#"graph/#2:Mul.input Changed: ["h", "s"] -> ["s", "h"]"#],
        ),
        (
            "  [scale] s = Cast <to = 10> (w)\n",
            "",
            &[
                "graph/scale Removed: [scale] s = Cast <to: int = 10> (w) -> nothing", //
            ],
        ),
        // A node keeps its name and operator, and gives the name of its output to a node after it.
        (
            "  [scale] s = Cast <to = 10> (w)\n",
            "  [scale] s_before = Cast <to = 10> (w)\n  [round] s = Floor (s_before)\n",
            &[
                r#"graph/scale.output Changed: ["s"] -> ["s_before"]"#,
                "graph/round Added: nothing -> [round] s = Floor (s_before)",
            ],
        ),
        (
            "  [cast] h = Cast <to = 10> (x)\n  [scale] s = Cast <to = 10> (w)",
            "  [scale] s = Cast <to = 10> (w)\n  [cast] h = Cast <to = 10> (x)",
            &["graph.node Reordered: graph/cast -> graph/scale"],
        ),
        (
            "Identity (t)",
            "Abs (t)",
            &[r#"graph/if.else_branch/copy.op_type Changed: "Identity" -> "Abs""#],
        ),
        (
            "Add (v, v)",
            "Mul (v, v)",
            &[r#"function/my:Twice/#0:Add.op_type Changed: "Add" -> "Mul""#],
        ),
    ];
    let mut failures = Vec::new();
    for (from, to, expected) in cases {
        let changed = MODEL.replacen(from, to, 1);
        assert_ne!(changed, MODEL, "{from} stands in the model");
        let found = lines(MODEL, &changed);
        if found != expected {
            failures.push(format!(
                "{from} -> {to}\n  expected {expected:#?}\n  found    {found:#?}"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn values_that_read_the_same_are_told_by_their_codes() {
    let model = |codes: &str| {
        format!(
            "<ir_version: 10, opset_import: [\"\": 21]> g () => (float[2] y) <float[2] w = {{{codes}}}> {{ y = Abs (w) }}"
        )
    };
    let found = lines(&model("0x7FC00000, 1"), &model("0x7FC00001, 1"));
    assert_eq!(
        found,
        ["graph/w Changed: 0x7fc00000 (1 of 2 elements differ, the first at [0]) -> 0x7fc00001"]
    );
}

#[test]
fn bits_after_the_last_element_are_part_of_the_file_and_of_no_value() {
    let differences_of = |code: u8| {
        let [left, right] = [0x21_u8, code].map(|last| {
            let mut proto = model(
                "<ir_version: 10, opset_import: [\"\": 21]> g () => (int4[3] y) <int4[3] w = {1, 2, 1}> { y = Identity (w) }",
            );
            let tensor = &mut proto.graph.as_mut().unwrap().initializer[0];
            *tensor = moved_to_model(tensor, vec![0x21, last].into());
            proto.encode_to_vec()
        });
        differences(&left, &right)
    };
    let found = differences_of(0xF1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].path.as_str(), found[0].kind),
        ("graph/w", DifferenceKind::Stored)
    );
    assert_eq!(differences_of(0x22)[0].kind, DifferenceKind::Changed);
}

/// Removes, one after the other, every field of a model that has all fields there are.
#[test]
fn no_field_of_any_message_is_overlooked() {
    let schema = Schema::load();
    let full = schema.full(".onnx.ModelProto", 4, &mut Made::default());
    let whole = full.write();
    assert_eq!(differences(&whole, &whole), []);
    let mut failures = Vec::new();
    let mut count = 0;
    for_each_without_one_field(&full, &mut |path, smaller| {
        count += 1;
        let smaller = smaller.write();
        let [there, back] = [differences(&whole, &smaller), differences(&smaller, &whole)];
        if there.is_empty() || back.is_empty() {
            failures.push(format!("without {path:?}: {there:?} {back:?}"));
        }
    });
    assert!(count > 300, "{count} fields");
    expect_no_failures(failures);
}

fn for_each_without_one_field(tree: &Tree, visit: &mut dyn FnMut(&[u32], Tree)) {
    for (index, (number, node)) in tree.0.iter().enumerate() {
        let mut without = tree.clone();
        without.0.remove(index);
        visit(&[*number], without);
        if let Node::Message(inner) = node {
            for_each_without_one_field(inner, &mut |path, smaller| {
                let mut changed = tree.clone();
                changed.0[index].1 = Node::Message(smaller);
                visit(&[&[*number], path].concat(), changed);
            });
        }
    }
}

#[test]
fn the_command_answers_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let model = "models/transformer_fp16.onnx";
    recast(&["fold", model, "-o", &path("folded.onnx")]);
    recast(&[
        "fold",
        &path("folded.onnx"),
        "-o",
        &path("external.onnx"),
        "--external-data",
        "weights.bin",
    ]);
    let (folded, external) = (path("folded.onnx"), path("external.onnx"));
    let cases: [(&[&str], i32, &str); 6] = [
        (&["diff", model, model], 0, "do not differ"),
        (&["diff", model, &folded], 1, "differences between"),
        (
            &["diff", &folded, &external],
            1,
            "same values, stored in raw_data -> external_data location=weights.bin",
        ),
        (
            &["diff", &folded, &external, "--ignore", "stored"],
            0,
            "do not differ",
        ),
        (
            &["diff", &folded, &external, "--format", "json"],
            1,
            r#""kind": "stored""#,
        ),
        (
            &["diff", &folded, &path("missing.onnx")],
            2,
            "missing.onnx: ",
        ),
    ];
    for (arguments, code, words) in cases {
        let done = recast(arguments);
        assert_eq!(done.status.code(), Some(code), "{arguments:?}: {done:?}");
        let text = String::from_utf8(if code == 2 { done.stderr } else { done.stdout }).unwrap();
        assert!(text.contains(words), "{arguments:?}: {text}");
    }
    std::fs::remove_file(path("weights.bin")).unwrap();
    let done = recast(&["diff", &folded, &external]);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        String::from_utf8(done.stderr)
            .unwrap()
            .contains("weights.bin")
    );
}
