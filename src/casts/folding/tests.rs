//! The work of decisions is proportional to the model.

use super::{Extent, Options, decide};
use crate::graph::{Model, visited};
use crate::onnx_text;

/// A model in which something repeats.
type Make = fn(usize) -> String;

fn each(many: usize, text: impl Fn(usize) -> String) -> String {
    (0..many).map(text).collect::<Vec<_>>().join(" ")
}

fn list(many: usize, text: impl Fn(usize) -> String) -> String {
    (0..many).map(text).collect::<Vec<_>>().join(", ")
}

/// The parts of one constant, and casts of them.
fn casts_of_parts(many: usize, casts: impl Fn(usize) -> String) -> String {
    let parts = list(many, |index| format!("p{index}"));
    let constant = list(many, |index| index.to_string());
    let (casts, uses) = (
        each(many, casts),
        each(many, |index| format!("z{index} = Neg (y{index})")),
    );
    format!(
        "g () => () <float[{many}] c = {{{constant}}}> {{ {parts} = Split <num_outputs = {many}> (c) {casts} {uses} }}"
    )
}

/// Each with the limit of growth.
const CASES: [(&str, Make, Option<u64>); 5] = [
    (
        "casts of one constant that would make the model larger",
        |many| {
            format!(
                "g () => () <float[2] c = {{1, 2}}> {{ {} z = Neg (c) }}",
                each(many, |index| format!("y{index} = Cast <to = 11> (c)"))
            )
        },
        Some(0),
    ),
    (
        "casts of the parts of one constant, the last part first",
        |many| {
            casts_of_parts(many, |index| {
                format!("y{index} = Cast <to = 10> (p{})", many - 1 - index)
            })
        },
        None,
    ),
    (
        "casts of the parts of one constant that would make the model larger",
        |many| {
            casts_of_parts(many, |index| {
                format!("y{index} = Cast <to = 11> (p{index})")
            })
        },
        Some(0),
    ),
    (
        "a Concat of many constants",
        |many| {
            let constants = list(many, |index| format!("int8[1] c{index} = {{1}}"));
            let inputs = list(many, |index| format!("c{index}"));
            format!(
                "g () => (y) <{constants}> {{ a = Concat <axis = 0> ({inputs}) y = Cast <to = 10> (a) }}"
            )
        },
        None,
    ),
    (
        "a Concat of one constant",
        |many| {
            let inputs = list(many, |_| "c".to_owned());
            format!(
                "g () => (y) <int8[1] c = {{1}}> {{ a = Concat <axis = 0> ({inputs}) y = Cast <to = 10> (a) }}"
            )
        },
        None,
    ),
];

#[test]
fn visits_of_edges_grow_with_the_model() {
    let mut failures = Vec::new();
    for (name, make, max_growth) in CASES {
        let options = Options {
            max_growth,
            ..Options::default()
        };
        for extent in [Extent::Casts, Extent::All] {
            let [once, twice] = [300, 600].map(|many| {
                let text = format!(r#"<ir_version: 10, opset_import: ["": 21]> {}"#, make(many));
                let model = Model::new(onnx_text::parse(&text).unwrap()).unwrap();
                visited::during(|| {
                    let decisions = decide(&model, &options, extent);
                    let removed = decisions.removed();
                    assert!(!decisions.into_edits(&removed).is_empty() || max_growth.is_some());
                })
            });
            if once < 300 || twice > 2 * once + 100 {
                failures.push(format!(
                    "{name}, {extent:?}: {once} edges, and {twice} at twice the size"
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
