//! `SequenceMap` (version 17) as a `Loop` over the elements, whose state is the sequence of
//! results.

use super::super::context::Context;
use super::super::expanded::{Exactness, ExpandedOperator};
use super::super::make;
use super::super::reason::{ExpansionDisabled, NodeInvalid, Reason, TypeUnknown};
use super::super::settings::AllowedExpansions;
use super::adapter::{Adapter, Run, adapter};
use crate::base::hash::HashSet;
use crate::ops::inference::Known;
use crate::ops::schemas::ValueType;
use crate::protobuf::schema::{AttributeProto, ValueInfoProto};
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] =
    &[adapter("SequenceMap", 17).down(&[Run(map_becomes_a_loop)])];

/// The body of the loop takes the elements at an index, computes what the body of the map does, and
/// appends the results.
fn map_becomes_a_loop(cx: &mut Context) -> Result<(), Reason> {
    if cx.source.settings.expansions == AllowedExpansions::None {
        return Err(Reason::new(
            ExpansionDisabled,
            "SequenceMap is new in opset 17, and expansion is disabled",
        ));
    }
    let mut body = cx.required("body", |body| body.g.clone())?;
    let inputs = cx.node.input.clone();
    if body.input.len() != inputs.len()
        || body.output.len() != cx.node.output.len()
        || inputs.iter().any(String::is_empty)
    {
        return Err(Reason::new(
            NodeInvalid,
            "the inputs and outputs of the body do not match those of the node",
        ));
    }
    let [iteration, go, goes_on] = ["index", "go", "goes_on"].map(|name| cx.fresh(name));
    let mut nodes = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let element = body.input[index].name().to_owned();
        nodes.push(match cx.input_type(index) {
            Some(ValueType::Sequence(_)) => {
                make::node("SequenceAt", &element, &[input, &iteration], Vec::new())
            }
            Some(_) => make::node("Identity", &element, &[input], Vec::new()),
            None => {
                return Err(Reason::new(
                    TypeUnknown,
                    format!("the type of {} is unknown", cx.describe(index)),
                ));
            }
        });
    }
    nodes.append(&mut body.node);
    let (mut initial, mut states) = (Vec::new(), Vec::new());
    for index in 0..cx.node.output.len() {
        let Some(ValueType::Sequence(dtype)) = cx.output_type(index) else {
            return Err(Reason::new(
                TypeUnknown,
                format!("the type of output '{}' is unknown", cx.node.output[index]),
            ));
        };
        let known = Known {
            value_type: Some(ValueType::Sequence(dtype)),
            shape: None,
        };
        let empty = cx.add_before(
            "SequenceEmpty",
            &[],
            vec![AttributeProto::int("dtype", dtype.number().into())],
            "empty",
            known,
        );
        let (before, after) = (cx.fresh("so_far"), cx.fresh("longer"));
        nodes.push(make::node(
            "SequenceInsert",
            &after,
            &[&before, body.output[index].name()],
            Vec::new(),
        ));
        initial.push(empty);
        states.push((before, after));
    }
    nodes.push(make::node("Identity", &goes_on, &[&go], Vec::new()));
    let known = Known::scalar(DType::Int64);
    let length = cx.add_before("SequenceLength", &[&inputs[0]], Vec::new(), "length", known);
    // Everything else of the body stays. What it states of its inputs and outputs is true of the
    // values of these names. onnxruntime requires the shapes of the first two inputs.
    let first = [
        make::named_scalar(&iteration, DType::Int64),
        make::named_scalar(&go, DType::Bool),
    ];
    let inputs = first
        .into_iter()
        .chain(states.iter().map(|(before, _)| make::named(before)))
        .collect();
    let outputs = [make::named(&goes_on)]
        .into_iter()
        .chain(states.iter().map(|(_, after)| make::named(after)))
        .collect();
    let inner = std::mem::replace(&mut body.input, inputs)
        .into_iter()
        .chain(std::mem::replace(&mut body.output, outputs));
    let mut undeclared: HashSet<String> = nodes
        .iter()
        .flat_map(|node| node.output.iter().cloned())
        .collect();
    body.value_info.iter().for_each(|info| {
        undeclared.remove(info.name());
    });
    let inner: Vec<ValueInfoProto> = inner
        .filter(|info| info.r#type.is_some() && undeclared.remove(info.name()))
        .collect();
    body.value_info.extend(inner);
    body.node = nodes;
    cx.remove_attribute("body");
    cx.set_attribute(AttributeProto::graph("body", body));
    let goes = cx.add_constant("goes", make::bool_scalar(true));
    cx.node.to_mut().input = [length, goes].into_iter().chain(initial).collect();
    cx.rename_operator("Loop");
    let nodes = cx.node.output.len() + 3;
    let expanded = ExpandedOperator::new("SequenceMap", Exactness::Exact, nodes);
    cx.record.expanded.push(expanded);
    Ok(())
}
