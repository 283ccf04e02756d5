//! Every cast between every two versions: converted and equal, or refused with the path of a node.
//! There is no third outcome. No type is carried by a wider one.

use onnx_recast::internals::{convert_model, onnx_text};
use std::collections::BTreeMap;

use onnx_cast::{Contested, DType};
use onnx_recast::convert::{Explicit, IrVersion, Options};
use onnx_recast::internals::convert::NotConverted;
use onnx_recast::proto::raw::attribute_proto::AttributeType;
use onnx_recast::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto};
use onnx_recast::{Model, passes};

use crate::support::{difference, expect_no_failures, fold, model};

/// An opset of each version of Cast.
const OPSETS: [i64; 10] = [5, 8, 12, 18, 20, 22, 23, 24, 27, 28];

/// One type for each version that brought some.
const TYPES: [DType; 10] = [
    DType::Float16,
    DType::Int32,
    DType::String,
    DType::Bfloat16,
    DType::Float8E4M3Fn,
    DType::Int4,
    DType::Float4E2M1,
    DType::Float8E8M0,
    DType::Int2,
    DType::Float6E2M3,
];

/// Where the cast stands. The value comes in as float and leaves as float, so that the type is the
/// cast's alone.
const PLACES: [(&str, &str); 6] = [
    ("graph", "{ [in] h = Cast <TO> (w) [out] y = Cast <BACK> (h) }"),
    (
        "branch",
        "{ y = If (c) <then_branch = a () => (float[2] p) { [in] h = Cast <TO> (w) [out] p = Cast <BACK> (h) },
                       else_branch = b () => (float[2] q) { q = Identity (w) }> }",
    ),
    (
        "captured",
        "{ [in] h = Cast <TO> (w)
           y = If (c) <then_branch = a () => (float[2] p) { [out] p = Cast <BACK> (h) },
                       else_branch = b () => (float[2] q) { q = Identity (w) }> }",
    ),
    (
        "loop",
        "{ y = Loop (n, c, w) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] p)
             { k2 = Identity (k) [in] h = Cast <TO> (w) [out] t = Cast <BACK> (h) p = Add (s, t) }> }",
    ),
    (
        "scan",
        "{ r, y = Scan <num_scan_inputs = 1, body = b (float s, float e) => (float s2, float p)
             { s2 = Identity (s) [in] h = Cast <TO> (v) [out] p = Cast <BACK> (h) }> (v, w) }",
    ),
    (
        "function",
        "{ y = local.F (w) } <domain: \"local\", opset_import: [\"\": OPSET]> F (x) => (z) { k = Constant <value = float[2] {1, 2}> () [in] h = Cast <TO> (k) [out] z = Cast <BACK> (h) }",
    ),
];

/// What the cast says beside its type, and the first opset that knows it.
const EXTRAS: [(&str, i64); 4] = [
    ("", 1),
    (", saturate = 1", 19),
    (", saturate = 0", 19),
    (", round_mode = \"up\"", 24),
];

fn model_text(place: &str, opset: i64, dtype: DType, extra: &str) -> String {
    let to = |dtype: DType| {
        if opset < 6 {
            format!("to = \"{}\"", dtype.name())
        } else {
            format!("to = {}", dtype.number())
        }
    };
    let back = to(DType::Float);
    let body = place
        .replace("<TO>", &format!("<{}{extra}>", to(dtype)))
        .replace("<BACK>", &format!("<{back}>"));
    format!(
        "<ir_version: 10, opset_import: [\"\": {opset}, \"local\": 1]> g () => (float[2] y)
         <float[2] w = {{1, 2}}, float v = {{1}}, bool c = {{1}}, int64 n = {{3}}> {}",
        body.replace("OPSET", &opset.to_string())
    )
}

/// Whether the opset has the type.
fn is_open(to: i64, dtype: DType) -> bool {
    i64::from(dtype.cast_since().unwrap()) <= to
}

#[test]
fn every_version_pair_type_place_and_attribute() {
    let mut failures = Vec::new();
    let mut table: BTreeMap<(i64, i64), (usize, usize)> = BTreeMap::new();
    for (place, body) in PLACES {
        for from in OPSETS
            .into_iter()
            .filter(|&from| place != "scan" || from >= 9)
        {
            for dtype in TYPES
                .into_iter()
                .filter(|dtype| i64::from(dtype.cast_since().unwrap()) <= from)
            {
                for (extra, since) in EXTRAS {
                    if since > from {
                        continue;
                    }
                    let before = model(&model_text(body, from, dtype, extra));
                    for to in OPSETS {
                        let name = format!("{place}: {dtype}{extra}, {from} to {to}");
                        let options = Options::to(to)
                            .ir_version(IrVersion::Keep)
                            .explicit(Explicit::None)
                            .no_legalize(true);
                        let counts = table.entry((from, to)).or_default();
                        match convert_model(Model::new(before.clone()).unwrap(), &options) {
                            Ok(conversion) => {
                                counts.0 += 1;
                                let after = conversion.model.into_proto();
                                if !is_open(to, dtype) {
                                    failures
                                        .push(format!("{name}: converted, although it cannot be"));
                                }
                                failures.extend(
                                    differs(&before, &after, to)
                                        .map(|what| format!("{name}: {what}")),
                                );
                            }
                            Err(NotConverted::Blocked { blockers, .. }) => {
                                counts.1 += 1;
                                if is_open(to, dtype) {
                                    failures.push(format!("{name}: refused: {}", blockers[0]));
                                }
                                if !blockers.iter().any(|blocker| blocker.node.ends_with("/in")) {
                                    failures.push(format!(
                                        "{name}: no blocker names the cast: {blockers:?}"
                                    ));
                                }
                            }
                            Err(error) => failures.push(format!("{name}: {error}")),
                        }
                    }
                }
            }
        }
    }
    println!("from -> to: converted, refused");
    for ((from, to), (converted, refused)) in table {
        println!("{from:4} -> {to:2}: {converted:5} {refused:5}");
    }
    expect_no_failures(failures);
}

/// onnx infers no type for the result of version 1, so that its full check refuses what a node with
/// a type constraint makes of it.
#[test]
fn results_are_declared_where_onnx_infers_no_type() {
    let branch = |to: &str, declared: &str| {
        format!(
            "y = If (c) <then_branch = t () => (float[2] p) {declared} {{ i = Cast <to = {to}> (x) p = Neg (i) }},
                         else_branch = e () => (float[2] q) {{ q = Neg (x) }}>"
        )
    };
    let casts = |from: &str, to: &str| {
        format!("a = Cast <to = {from}> (x) b = Cast <to = {to}> (a) y = Neg (b)")
    };
    let cases = [
        (
            "",
            casts("7", "1"),
            "<int64[] a, float[] b>",
            casts("\"INT64\"", "\"FLOAT\""),
        ),
        // A declaration stays as it is, and an output has one.
        (
            "<int64[2] a>",
            casts("7", "1"),
            "<int64[2] a, float[] b>",
            casts("\"INT64\"", "\"FLOAT\""),
        ),
        (
            "",
            "y = Cast <to = 1> (x)".to_owned(),
            "",
            "y = Cast <to = \"FLOAT\"> (x)".to_owned(),
        ),
        ("", branch("1", ""), "", branch("\"FLOAT\"", "<float[] i>")),
    ];
    let text = |opset: i64, declared: &str, nodes: &str| {
        model(&format!(
            "<ir_version: 8, opset_import: [\"\": {opset}]> g (float[2] x, bool c) => (float[2] y) {declared} {{ {nodes} }}"
        ))
    };
    let mut failures = Vec::new();
    for (declared, before, expected, after) in cases {
        let options = Options::to(5).ir_version(IrVersion::Keep);
        let converted = convert_model(Model::new(text(8, declared, &before)).unwrap(), &options)
            .unwrap()
            .model
            .into_proto();
        failures.extend(difference(&before, &text(5, expected, &after), &converted));
    }
    expect_no_failures(failures);
}

/// What is wrong with a converted model: the casts must be written as their version writes them,
/// and compute the same constants.
fn differs(before: &ModelProto, after: &ModelProto, opset: i64) -> Option<String> {
    let printed = onnx_text::print(after);
    let names = printed.contains("<to: string = ");
    if names != (opset < 6) {
        return Some(format!("`to` is written wrongly\n{printed}"));
    }
    if opset < 19 && printed.contains("saturate") || opset < 24 && printed.contains("round_mode") {
        return Some(format!(
            "an attribute is left that opset {opset} does not have\n{printed}"
        ));
    }
    let (before, after) = (values(before), values(after));
    // Before opset 9 the scan is a loop, whose body has the same constants.
    let constants = |text: &str| {
        let body = text.split_once("  <\n")?.1.split_once("  > {")?.0;
        Some(body.to_owned())
    };
    let (before, after) = match opset {
        ..9 if before.contains("Scan") => (
            constants(&before).unwrap_or(before),
            constants(&after).unwrap_or(after),
        ),
        _ => (before, after),
    };
    (before != after).then(|| format!("other values\n{before}\n-- after\n{after}"))
}

/// The model with its casts computed. A constant of a function can hold each type in the newest
/// opset only, so that both sides are computed there; a cast means there what it says.
fn values(model: &ModelProto) -> String {
    let mut model = model.clone();
    set_opset(&mut model.opset_import);
    for function in &mut model.functions {
        set_opset(&mut function.opset_import);
        function.node.iter_mut().for_each(number_types);
    }
    if let Some(graph) = &mut model.graph {
        number_types_in(graph);
    }
    let options = passes::Options::default()
        .undefined(true)
        .contested(Some(Contested::Runtime));
    let (folded, report) = fold(model, &options);
    assert_eq!(report.folded().len(), 2, "both casts fold: {report:?}");
    onnx_text::print(&folded)
}

fn set_opset(imports: &mut [OperatorSetIdProto]) {
    imports[0].version = Some(28);
}

/// Also removes declarations: a conversion adds some, and folding leaves those of constants.
fn number_types_in(graph: &mut GraphProto) {
    graph.value_info.clear();
    graph.node.iter_mut().for_each(number_types);
}

fn number_types(node: &mut NodeProto) {
    for attribute in &mut node.attribute {
        if let Some(graph) = &mut attribute.g {
            number_types_in(graph);
        }
        if attribute.name() == "to"
            && let Some(name) = attribute.s.take()
        {
            let dtype: DType = std::str::from_utf8(&name).unwrap().parse().unwrap();
            attribute.i = Some(dtype.number().into());
            attribute.r#type = Some(AttributeType::Int.into());
        }
    }
}
