//! `convert`, operator by operator, as nodes before and after; what stands in the way; what must not change.

mod admitted;
mod axes;
mod cast_matrix;
mod command;
mod computed;
mod constants;
mod counted;
mod expansions;
mod invalid;
mod large;
mod layers;
mod lossless;
mod moved;
mod newer_forms;
mod optional;
mod padding;
mod quantization;
mod reach;
mod remainders;
mod requests;
mod rewrites;
mod scopes;

use onnx_recast::internals::convert::{self, Conversion, NotConverted, Options};
use onnx_recast::internals::graph::Model;
use onnx_recast::internals::onnx_text;
use onnx_recast::internals::protobuf::schema::ModelProto;

use crate::support::{expect_no_failures, model};

/// A graph's interface and constants, its nodes in one opset, and what they are in another.
struct Case {
    from: i64,
    graph: &'static str,
    nodes: &'static str,
    to: i64,
    /// The nodes; or, after `no: `, a part of the reason why there are none.
    expected: &'static str,
}

const fn case(from: i64, graph: &'static str, nodes: &'static str, to: i64, expected: &'static str) -> Case {
    Case { from, graph, nodes, to, expected }
}

fn converted(case: &Case) -> Result<ModelProto, String> {
    let source = format!("<ir_version: 8, opset_import: [\"\": {}]> g {} {{ {} }}", case.from, case.graph, case.nodes);
    let model = Model::new(model(&source)).unwrap_or_else(|error| panic!("{error}\n{source}"));
    match convert::convert(model, &Options::to(case.to)) {
        Ok(conversion) => Ok(conversion.model.into_proto()),
        Err(NotConverted::Blocked { blockers, .. }) => Err(blockers.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        Err(error) => Err(error.to_string()),
    }
}

fn run(cases: &[Case]) {
    let mut failures = Vec::new();
    for case in cases {
        let expected = case.expected.strip_prefix("no: ");
        match (converted(case), expected) {
            (Ok(proto), None) => {
                let nodes = proto.graph.as_ref().unwrap().node.iter().map(|node| without_name(&onnx_text::print_node(node)));
                let found = nodes.collect::<Vec<_>>().join("\n").lines().map(str::trim).collect::<Vec<_>>().join("\n");
                let expected = case.expected.lines().map(str::trim).collect::<Vec<_>>().join("\n");
                if found != expected {
                    failures.push(format!("== {} to {}: {}\n{found}\n-- expected\n{expected}", case.from, case.to, case.nodes));
                }
                if proto.opset_import[0].version() != case.to {
                    failures.push(format!("== {}: the opset is {}", case.nodes, proto.opset_import[0].version()));
                }
            }
            (Err(reason), Some(expected)) if reason.contains(expected) => {}
            (Err(reason), _) => failures.push(format!("== {} to {}: {}\nrefused: {reason}", case.from, case.to, case.nodes)),
            (Ok(proto), Some(reason)) => {
                failures.push(format!("== {}: converted, but {reason}\n{}", case.nodes, onnx_text::print(&proto)));
            }
        }
    }
    expect_no_failures(failures);
}

/// New nodes are named after their outputs; that is not what these tests are about.
fn without_name(node: &str) -> String {
    match node.split_once("] ") {
        Some((name, rest)) if name.starts_with('[') => rest.to_owned(),
        _ => node.to_owned(),
    }
}

fn convert_text(source: &str, options: &Options) -> Result<Conversion, NotConverted> {
    convert::convert(Model::new(model(source)).unwrap(), options)
}

fn blockers(source: &str, opset: i64) -> (Vec<String>, Option<i64>) {
    match convert_text(source, &Options::to(opset)) {
        Err(NotConverted::Blocked { blockers, nearest, .. }) => (blockers.iter().map(ToString::to_string).collect(), nearest),
        other => panic!("{source}: {other:?}"),
    }
}
