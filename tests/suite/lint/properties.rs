//! What holds for every model, tried on random graphs of casts.

use onnx_recast::internals::{fix_model, lint_model, onnx_text};
use std::collections::HashMap;

use onnx_cast::{
    Cast, Class, Contested, DType, RoundMode, Rules, convert_element, float_format::Format,
};
use onnx_recast::Model;
use onnx_recast::internals::lint::Fixed;
use onnx_recast::lint::{Baseline, Safety};
use onnx_recast::proto::{ModelProto, NodeProto};
use proptest::prelude::*;
use prost::Message;

use super::options;
use crate::support::model;

/// A graph of casts: the type of the input, and for each cast the number of the value that it
/// casts, the type, `saturate` and `round_mode`.
#[derive(Clone, Debug)]
struct Sketch {
    input: DType,
    casts: Vec<(usize, DType, Option<bool>, Option<&'static str>)>,
    outputs: Vec<usize>,
}

fn types() -> impl Strategy<Value = DType> {
    let numeric = DType::ALL
        .iter()
        .copied()
        .filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex));
    prop::sample::select(numeric.collect::<Vec<DType>>())
}

fn sketches() -> impl Strategy<Value = Sketch> {
    let modes = prop::sample::select(vec![None, Some("up"), Some("down"), Some("nearest")]);
    let cast = (
        any::<prop::sample::Index>(),
        types(),
        any::<Option<bool>>(),
        modes,
    );
    let outputs = prop::collection::vec(any::<prop::sample::Index>(), 1..4);
    (types(), prop::collection::vec(cast, 1..14), outputs).prop_map(|(input, casts, outputs)| {
        // Two in three casts are of the value made last, so that there are chains.
        let source = |values: usize, index: prop::sample::Index| {
            index.index(3 * values) % (values + 2 * values / 3).max(1)
        };
        let casts: Vec<_> = (1..)
            .zip(casts)
            .map(|(values, (index, to, saturate, mode))| {
                (source(values, index).min(values - 1), to, saturate, mode)
            })
            .collect();
        let mut outputs: Vec<usize> = outputs
            .into_iter()
            .map(|output| 1 + output.index(casts.len()))
            .collect();
        outputs.sort_unstable();
        outputs.dedup();
        Sketch {
            input,
            casts,
            outputs,
        }
    })
}

fn build(sketch: &Sketch) -> ModelProto {
    let nodes: String = (1..)
        .zip(&sketch.casts)
        .map(|(index, (input, to, saturate, mode))| {
            let saturate = saturate.map_or_else(String::new, |saturate| {
                format!(", saturate = {}", u8::from(saturate))
            });
            let mode = mode.map_or_else(String::new, |mode| format!(", round_mode = \"{mode}\""));
            format!(
                "[n{index}] v{index} = Cast <to = {}{saturate}{mode}> (v{input})\n",
                to.number()
            )
        })
        .collect();
    let outputs: Vec<String> = sketch
        .outputs
        .iter()
        .map(|&output| {
            format!(
                "{} v{output}",
                sketch.casts[output - 1].1.name().to_lowercase()
            )
        })
        .collect();
    let input = sketch.input.name().to_lowercase();
    model(&format!(
        r#"<ir_version: 14, opset_import: ["": 28]> g ({input} v0) => ({}) {{ {nodes} }}"#,
        outputs.join(", ")
    ))
}

/// The codes of a model's outputs for a code of its input; every NaN is the same.
fn run(model: &ModelProto, input: DType, code: u64) -> Vec<Option<u64>> {
    let graph = model.graph.as_ref().unwrap();
    let mut values: HashMap<&str, (DType, u64)> = HashMap::from([("v0", (input, code))]);
    for node in &graph.node {
        let (from, code) = values[node.input[0].as_str()];
        let cast = cast(node, from);
        values.insert(&node.output[0], (cast.to(), convert_element(&cast, code).0));
    }
    let outputs = graph.output.iter().map(|output| values[output.name()]);
    outputs
        .map(|(dtype, code)| {
            Some(code).filter(|&code| !Format::of(dtype).is_some_and(|format| format.is_nan(code)))
        })
        .collect()
}

fn cast(node: &NodeProto, from: DType) -> Cast {
    let attribute = |name: &str| {
        node.attribute
            .iter()
            .find(|attribute| attribute.name() == name)
    };
    let to = DType::from_number(attribute("to").unwrap().i() as i32).unwrap();
    let round_mode = match attribute("round_mode").map(|mode| mode.s()) {
        Some(b"down") => RoundMode::Down,
        Some(b"nearest") => RoundMode::Nearest,
        _ => RoundMode::Up,
    };
    let saturate = attribute("saturate").is_none_or(|saturate| saturate.i() != 0);
    Cast::new(
        from,
        to,
        Rules::default()
            .saturate(saturate)
            .round_mode(round_mode)
            .opset(28)
            .contested(Contested::Text),
    )
    .unwrap()
}

fn fix(model: &ModelProto, codes: &str, allowed: Safety) -> ModelProto {
    let Fixed { model, .. } = fix_model(
        Model::new(model.clone()).unwrap(),
        "model.onnx",
        &options(codes),
        allowed,
        &Baseline::default(),
    )
    .unwrap();
    model.into_proto()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn fixes_keep_every_output_for_every_input(sketch in sketches(), codes in prop::collection::vec(any::<u64>(), 20)) {
        let before = build(&sketch);
        let edges = [0, 1, u64::MAX, 1 << 63, u64::MAX >> 1];
        for allowed in [Safety::Safe, Safety::Unsafe] {
            let after = fix(&before, "ALL", allowed);
            for code in codes.iter().chain(&edges) {
                let code = code & (u64::MAX >> (64 - sketch.input.bits()));
                // A BOOL is 0 or 1.
                let code = if sketch.input == DType::Bool { code & 1 } else { code };
                prop_assert_eq!(run(&before, sketch.input, code), run(&after, sketch.input, code), "{:#x}\n{}{}", code, onnx_text::print(&before), onnx_text::print(&after));
            }
        }
    }

    #[test]
    fn fixing_converges(sketch in sketches()) {
        for allowed in [Safety::Safe, Safety::Unsafe] {
            let fixed = fix(&build(&sketch), "ALL", allowed);
            let left = lint_model(&Model::new(fixed.clone()).unwrap(), "model.onnx", &options("ALL"));
            let fixable = left.iter().filter(|found| found.fix.as_ref().is_some_and(|fix| fix.safety <= allowed)).count();
            prop_assert_eq!(fixable, 0, "{}", onnx_text::print(&fixed));
        }
    }

    #[test]
    fn linting_a_damaged_model_does_not_panic(sketch in sketches(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = build(&sketch).encode_to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(model) = ModelProto::from_bytes(bytes.into())
            && let Ok(model) = Model::new(model)
        {
            let _ = lint_model(&model, "model.onnx", &options("ALL"));
            let fixed = fix_model(model, "model.onnx", &options("ALL"), Safety::Unsafe, &Baseline::default());
            prop_assert!(fixed.is_ok(), "{}", fixed.unwrap_err());
        }
    }
}
