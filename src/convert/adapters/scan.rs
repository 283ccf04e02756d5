//! `Scan` across opsets.

use super::super::context::{Context, counted_from_front};
use super::super::make;
use super::super::reason::{InputUnsupported, NodeInvalid, Reason, ShapeUnknown, TypeUnsupported};
use super::adapter::{Adapter, Run, adapter};
use crate::ops::inference::Known;
use crate::protobuf::raw;
use crate::protobuf::schema::{AttributeProto, GraphProto, NodeProto, ValueInfoProto};
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Scan", 9)
        .up(&[Run(batch_becomes_a_scan)])
        .down(&[Run(scan_becomes_a_loop)]),
    adapter("Scan", 11).down(&[Run(axes_count_from_the_front)]),
];

/// Version 8 runs over a batch: an outer scan over the batch whose body scans over the sequence.
fn batch_becomes_a_scan(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(0).is_some() {
        return Err(Reason::new(
            InputUnsupported,
            "`sequence_lens` is not supported by Scan since opset 9",
        ));
    }
    let body = cx.required("body", |body| body.g.clone())?;
    let scan_inputs = cx.required("num_scan_inputs", |number| Some(number.i()))?;
    let directions = cx.ints("directions")?;
    cx.node.to_mut().input.remove(0);

    let inputs: Vec<String> = (0..cx.node.input.len())
        .map(|index| cx.fresh(&format!("in_{index}")))
        .collect();
    let outputs: Vec<String> = (0..body.output.len())
        .map(|index| cx.fresh(&format!("out_{index}")))
        .collect();
    let mut attributes = vec![
        AttributeProto::int("num_scan_inputs", scan_inputs),
        AttributeProto::graph("body", body),
    ];
    attributes.extend(
        directions.map(|directions| AttributeProto::ints("scan_input_directions", directions)),
    );
    let inner = NodeProto::from(raw::NodeProto {
        op_type: Some("Scan".to_owned()),
        name: Some(cx.fresh("sequence")),
        input: inputs.clone(),
        output: outputs.clone(),
        attribute: attributes,
        ..Default::default()
    });
    let outer = GraphProto::from(raw::GraphProto {
        name: Some(cx.fresh("batch")),
        node: vec![inner],
        input: inputs.iter().map(|name| make::named(name)).collect(),
        output: outputs.iter().map(|name| make::named(name)).collect(),
        ..Default::default()
    });
    cx.remove_attribute("directions");
    cx.set_int("num_scan_inputs", cx.node.input.len() as i64);
    cx.set_attribute(AttributeProto::graph("body", outer));
    Ok(())
}

/// Version 8 runs over a batch. A `Loop` needs none: its body takes the slices of the scanned inputs
/// itself.
fn scan_becomes_a_loop(cx: &mut Context) -> Result<(), Reason> {
    let mut body = cx.required("body", |body| body.g.clone())?;
    let states = number_of_states(cx, &body)?;
    let scanned = Directed::of(cx, "scan_input_axes", "scan_input_directions")?;
    let stacked = Directed::of(cx, "scan_output_axes", "scan_output_directions")?;
    let [iteration, go, goes_on] = ["iteration", "go", "goes_on"].map(|name| cx.fresh(name));
    let count = cx.add_length(states, scanned.axis(0));
    let mut nodes = Vec::new();
    let from_end = if scanned.has_reversed() || stacked.has_reversed() {
        let place = cx.fresh("from_end");
        let last = last_place(cx, &count)?;
        nodes.push(make::node("Sub", &place, &[&last, &iteration], Vec::new()));
        place
    } else {
        String::new()
    };
    let inputs: Vec<String> = (states..cx.node.input.len())
        .map(|index| outside_of(cx, &body, index))
        .collect();
    let slices = body.input.split_off(states);
    slices.iter().try_for_each(|slice| expect_own(cx, slice))?;
    for (index, (slice, input)) in slices.into_iter().zip(&inputs).enumerate() {
        let is_reversed = scanned.is_reversed(index);
        let place = if is_reversed { &from_end } else { &iteration };
        let axis = vec![AttributeProto::int("axis", scanned.axis(index))];
        nodes.push(make::node("Gather", slice.name(), &[input, place], axis));
        if slice.r#type.is_some() {
            body.value_info.push(slice);
        }
    }
    nodes.append(&mut body.node);
    nodes.push(make::node("Identity", &goes_on, &[&go], Vec::new()));
    let first = [(&iteration, DType::Int64), (&go, DType::Bool)];
    let first = first.map(|(name, dtype)| make::named_scalar(name, dtype));
    body.input.splice(..0, first);
    body.output
        .insert(0, make::named_scalar(&goes_on, DType::Bool));
    let order = stacked.has_reversed().then(|| {
        let row = cx.fresh("row");
        let axes = vec![AttributeProto::ints("axes", vec![0])];
        nodes.push(make::node("Unsqueeze", &row, &[&from_end], axes));
        let one = Known {
            shape: Some(vec![Some(1)]),
            ..Known::tensor(DType::Int64)
        };
        body.output.push(make::typed(&row, &one));
        cx.fresh("order")
    });
    for index in states..cx.node.output.len() {
        if cx.has_output(index) {
            let place = index - states;
            let order = order.as_deref().filter(|_| stacked.is_reversed(place));
            turn(cx, index, stacked.axis(place), order)?;
        }
    }
    if let Some(order) = order {
        let last = cx.node.output.len();
        cx.node.to_mut().output.push(order);
        let axes = vec![AttributeProto::ints("axes", vec![1])];
        let rows = Known {
            shape: Some(vec![None, Some(1)]),
            ..Known::tensor(DType::Int64)
        };
        cx.add_after_output(last, "Squeeze", &[], axes, "rows", rows);
    }
    let goes = cx.add_constant("goes", make::bool_scalar(true));
    let mut initial = cx.node.input[..states].to_vec();
    if initial.is_empty() {
        // Before opset 11 a Loop has a state.
        initial.push(count.clone());
        let [before, after] = ["count_before", "count_after"].map(|name| cx.fresh(name));
        nodes.push(make::node("Identity", &after, &[&before], Vec::new()));
        body.input.push(make::named_scalar(&before, DType::Int64));
        body.output
            .insert(1, make::named_scalar(&after, DType::Int64));
        let unused = cx.fresh("same_count");
        cx.node.to_mut().output.insert(0, unused);
    }
    body.node = nodes;
    cx.node.to_mut().input = [count, goes].into_iter().chain(initial).collect();
    for name in [
        "body",
        "num_scan_inputs",
        "scan_input_axes",
        "scan_input_directions",
        "scan_output_axes",
        "scan_output_directions",
    ] {
        cx.remove_attribute(name);
    }
    cx.set_attribute(AttributeProto::graph("body", body));
    cx.rename_operator("Loop");
    Ok(())
}

/// The number of inputs that are states.
fn number_of_states(cx: &Context, body: &GraphProto) -> Result<usize, Reason> {
    let invalid = |why: &'static str| Reason::new(NodeInvalid, why);
    let inputs = cx.node.input.len();
    if cx.node.input.iter().any(String::is_empty) {
        return Err(invalid("an input is omitted"));
    }
    let scanned = cx.int("num_scan_inputs")?.unwrap_or_default();
    let states = usize::try_from(scanned)
        .ok()
        .filter(|&scanned| scanned > 0)
        .and_then(|scanned| inputs.checked_sub(scanned));
    let states = states
        .ok_or_else(|| invalid("the attribute `num_scan_inputs` does not match the inputs"))?;
    let outputs = cx.node.output.len();
    if body.input.len() != inputs || body.output.len() != outputs || outputs < states {
        return Err(invalid(
            "the inputs and outputs of the body do not match those of the node",
        ));
    }
    Ok(states)
}

/// The axes of the scanned inputs or of the stacked outputs, and which of them run backward.
struct Directed {
    axes: Vec<i64>,
    directions: Vec<i64>,
}

impl Directed {
    fn of(cx: &Context, axes: &str, directions: &str) -> Result<Directed, Reason> {
        Ok(Directed {
            axes: cx.ints(axes)?.unwrap_or_default(),
            directions: cx.ints(directions)?.unwrap_or_default(),
        })
    }

    fn axis(&self, index: usize) -> i64 {
        self.axes.get(index).copied().unwrap_or(0)
    }

    fn is_reversed(&self, index: usize) -> bool {
        self.directions
            .get(index)
            .is_some_and(|&direction| direction != 0)
    }

    fn has_reversed(&self) -> bool {
        self.directions.iter().any(|&direction| direction != 0)
    }
}

fn last_place(cx: &mut Context, count: &str) -> Result<String, Reason> {
    if cx.source.settings.opset < 6 {
        return Err(Reason::new(
            TypeUnsupported,
            "before opset 6 no place is counted from the end: Sub does not support INT64",
        ));
    }
    let one = cx.constant_ints("one", &[], &[1]);
    let scalar = Known::scalar(DType::Int64);
    Ok(cx.add_before("Sub", &[count, &one], Vec::new(), "last", scalar))
}

/// A node of the body defines the slice: no value around may have its name.
fn expect_own(cx: &Context, slice: &ValueInfoProto) -> Result<(), Reason> {
    let source = cx.source;
    match source.model.lookup(source.id.scope, slice.name()) {
        None => Ok(()),
        Some(_) => Err(Reason::new(
            NodeInvalid,
            format!(
                "its body and the graph around it have values named '{}'",
                slice.name()
            ),
        )),
    }
}

/// The name by which a body captures an input of its node: another one, if the body gives it to a
/// value of its own.
fn outside_of(cx: &mut Context, body: &GraphProto, index: usize) -> String {
    let name = cx.node.input[index].clone();
    let own = body.node.iter().flat_map(|node| &node.output);
    let inputs = body.input.iter().map(|input| input.name());
    let constants = body.initializer.iter().map(|tensor| tensor.name());
    let is_own = own.map(String::as_str).chain(inputs).chain(constants);
    if is_own.into_iter().any(|own| own == name) {
        let known = cx.known_input(index);
        cx.add_before("Identity", &[&name], Vec::new(), "scanned", known)
    } else {
        name
    }
}

/// A `Loop` stacks its results along the first axis, the first iteration first.
fn turn(cx: &mut Context, index: usize, axis: i64, order: Option<&str>) -> Result<(), Reason> {
    let mut known = cx.known_output(index);
    if axis != 0 {
        let rank = known
            .rank()
            .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of a result is unknown"))?;
        let from_front = axis_of(axis, rank)?;
        let order = (1..=from_front).chain([0]).chain(from_front + 1..rank);
        let order = order.map(|axis| axis as i64).collect();
        known.shape = known.shape.map(|mut shape| {
            let length = shape.remove(from_front);
            shape.insert(0, length);
            shape
        });
        let perm = vec![AttributeProto::ints("perm", order)];
        cx.add_after_output(
            index,
            "Transpose",
            &[],
            perm,
            "turned_result",
            known.clone(),
        );
    }
    if let Some(order) = order {
        let axis = vec![AttributeProto::int("axis", 0)];
        cx.add_after_output(index, "Gather", &[order], axis, "last_first", known);
    }
    Ok(())
}

fn axis_of(axis: i64, rank: usize) -> Result<usize, Reason> {
    let axis = counted_from_front(vec![axis], rank)?[0] as usize;
    if axis < rank {
        Ok(axis)
    } else {
        Err(Reason::new(
            NodeInvalid,
            format!("the axis {axis} is out of range for rank {rank}"),
        ))
    }
}

/// Before opset 11 no axis is negative.
fn axes_count_from_the_front(cx: &mut Context) -> Result<(), Reason> {
    let scanned = cx.int("num_scan_inputs")?.unwrap_or_default();
    let scanned = usize::try_from(scanned).unwrap_or_default();
    let states = cx.node.input.len().saturating_sub(scanned);
    for name in ["scan_input_axes", "scan_output_axes"] {
        let Some(axes) = cx
            .ints(name)?
            .filter(|axes| axes.iter().any(|&axis| axis < 0))
        else {
            continue;
        };
        let mut counted = Vec::new();
        for (place, &axis) in axes.iter().enumerate() {
            let known = if name == "scan_input_axes" {
                cx.known_input(states + place)
            } else {
                cx.known_output(states + place)
            };
            let rank = match known.rank() {
                Some(rank) => rank,
                None if axis >= 0 => axis as usize + 1,
                None => {
                    return Err(Reason::new(
                        ShapeUnknown,
                        format!("`{name}` is negative, and the rank is unknown"),
                    ));
                }
            };
            counted.push(axis_of(axis, rank)? as i64);
        }
        cx.set_ints(name, counted);
    }
    Ok(())
}
