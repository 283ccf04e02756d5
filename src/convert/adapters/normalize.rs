//! `BatchNormalization`, `Dropout` and `GroupNormalization` across opsets.

use super::super::context::{Context, is_countable};
use super::super::make;
use super::super::reason::{
    AttributeUnsupported, BehaviourDiffers, Contested, NodeInvalid, OutputUnsupported, Reason,
    ShapeUnknown,
};
use super::adapter::{Adapter, Drop, DropIf, Run, Value, adapter};
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("BatchNormalization", 6)
        .up(&[Drop("consumed_inputs")])
        .down(&[Run(write_consumed_inputs)]),
    adapter("BatchNormalization", 7)
        .up(&[Run(mode_shows_in_outputs)])
        .down(&[Run(outputs_show_the_mode)]),
    adapter("BatchNormalization", 9).up(&[
        Run(activations_become_channels),
        DropIf("spatial", Value::Int(1)),
    ]),
    adapter("BatchNormalization", 14)
        .up(&[Run(outputs_become_the_mode)])
        .down(&[Run(mode_becomes_outputs)]),
    adapter("Dropout", 7)
        .up(&[Run(dropout_must_be_in_test_mode)])
        .down(&[Run(no_mask), Run(dropout_is_in_test_mode)]),
    adapter("Dropout", 10)
        .up(&[Run(no_mask)])
        .down(&[Run(no_mask)]),
    adapter("Dropout", 12)
        .up(&[Run(no_mask), Run(ratio_becomes_input)])
        .down(&[Run(no_mask), Run(ratio_becomes_attribute)]),
    adapter("GroupNormalization", 21).up(&[Run(groups_become_channels)]),
];

/// The attribute is required in version 1, and has no effect.
fn write_consumed_inputs(cx: &mut Context) -> Result<(), Reason> {
    cx.set_ints("consumed_inputs", vec![0; 5]);
    Ok(())
}

/// Removes unused outputs; returns whether only the first one is left.
fn has_one_output(cx: &mut Context) -> bool {
    (1..cx.node.output.len())
        .rev()
        .for_each(|index| cx.drop_unused_output(index));
    cx.node.output.len() <= 1
}

/// Whether the node names only its first output: versions 7 to 13 of `BatchNormalization` are in
/// training mode if it names more, used or not.
fn names_one_output(cx: &Context) -> bool {
    (1..cx.node.output.len()).all(|index| !cx.has_output(index))
}

/// Version 6 has `is_test`; version 7 is in training mode if it has five outputs. For one output,
/// the text of version 6 contradicts itself: the attribute is that of training, the number of
/// outputs that of inference.
fn mode_shows_in_outputs(cx: &mut Context) -> Result<(), Reason> {
    let mut is_test = cx.int_or("is_test", 0)? != 0;
    if !is_test && names_one_output(cx) {
        match cx.source.settings.contested {
            Some(onnx_cast::Contested::Text) => name_outputs(cx, &OUTPUTS_OF_TRAINING),
            Some(onnx_cast::Contested::Runtime) => is_test = true,
            None => {
                return Err(Reason::new(
                    Contested,
                    "`is_test` = 0 with one output is contested: by its attribute the node trains, by its outputs it infers",
                ));
            }
        }
    }
    if !is_test && !names_all_outputs(cx) {
        return Err(Reason::new(
            OutputUnsupported,
            "`is_test` = 0 (training) requires all five outputs since opset 7",
        ));
    }
    if is_test && !has_one_output(cx) {
        return Err(Reason::new(
            OutputUnsupported,
            "outputs after the first are undefined in inference mode",
        ));
    }
    cx.remove_attribute("is_test");
    Ok(())
}

const AMBIGUOUS: &str = "training mode is ambiguous: the node has some of the outputs of training mode, not all of them";

fn names_all_outputs(cx: &Context) -> bool {
    (0..5).all(|index| cx.has_output(index))
}

/// The outputs of training mode before version 14, except the first.
const OUTPUTS_OF_TRAINING: [&str; 4] = ["mean", "var", "saved_mean", "saved_var"];

/// Names the outputs after the first, which nothing uses: runtimes require those of training mode.
fn name_outputs(cx: &mut Context, names: &[&str]) {
    cx.node.to_mut().output.truncate(1);
    for name in names {
        let known = cx.known_input(3);
        cx.add_output(name, known);
    }
}

fn outputs_show_the_mode(cx: &mut Context) -> Result<(), Reason> {
    if names_one_output(cx) {
        cx.set_int("is_test", 1);
    } else if !names_all_outputs(cx) {
        return Err(Reason::new(OutputUnsupported, AMBIGUOUS));
    }
    Ok(())
}

/// With `spatial` = 0, versions 7 and 8 have statistics of each activation, of shape (C x D1 x ... x
/// Dn), instead of those of each channel (text of BatchNormalization-7).
///
/// 1. A matrix has no other axes than the channels: both are the same.
/// 2. Otherwise each activation becomes a channel of a matrix. A batch without elements stays one,
///    since its zero is copied.
fn activations_become_channels(cx: &mut Context) -> Result<(), Reason> {
    if cx.int_or("spatial", 1)? != 0 {
        return Ok(());
    }
    let known = cx.known_input(0);
    let rank = cx.rank(0)?;
    if rank != 2 {
        let statistics = cx.known_input(1).static_shape();
        let statistics = statistics.filter(|dims| {
            dims.len() > 1
                && dims.len() + 1 == rank
                && !dims.contains(&0)
                && is_countable(dims)
                && (2..5).all(|index| cx.known_input(index).static_shape().as_ref() == Some(dims))
        });
        let elements = statistics.map(|dims| dims.iter().product::<i64>());
        let elements = elements.ok_or_else(|| {
            Reason::new(
                ShapeUnknown,
                "`spatial` = 0 is not supported since opset 9, and the shapes of the statistics must be known to make each activation a channel",
            )
        })?;
        if !names_one_output(cx) {
            return Err(Reason::new(
                OutputUnsupported,
                "`spatial` = 0 is not supported since opset 9, and the outputs of training mode would have other shapes",
            ));
        }
        each_activation_is_a_channel(cx, known, elements);
    }
    cx.remove_attribute("spatial");
    Ok(())
}

fn each_activation_is_a_channel(cx: &mut Context, known: Known, elements: i64) {
    let batch = known.shape.as_ref().and_then(|shape| shape[0]);
    let matrix = Known {
        value_type: known.value_type,
        shape: Some(vec![batch, Some(elements)]),
    };
    let list = Known {
        shape: Some(vec![known.rank().map(|rank| rank as i64)]),
        ..Known::tensor(DType::Int64)
    };
    let data = cx.node.input[0].clone();
    let shape = cx.add_before("Shape", &[&data], Vec::new(), "shape", list);
    let axis = vec![AttributeProto::int("axis", 1)];
    let flat = cx.add_before("Flatten", &[&data], axis, "flat", matrix.clone());
    cx.set_input(0, &flat);
    let all = cx.constant_int_list("all", &[elements]);
    for index in 1..5 {
        let statistic = cx.node.input[index].clone();
        let channels = Known {
            value_type: cx.input_type(index),
            shape: Some(vec![Some(elements)]),
        };
        let row = cx.add_before(
            "Reshape",
            &[&statistic, &all],
            Vec::new(),
            "channels",
            channels,
        );
        cx.set_input(index, &row);
    }
    cx.add_after("Reshape", &[&shape], Vec::new(), "flat_result", matrix);
}

/// The first output is the same in both versions, the others of training mode differ since version
/// 14.
fn outputs_become_the_mode(cx: &mut Context) -> Result<(), Reason> {
    if names_one_output(cx) {
        return Ok(());
    }
    let trains = names_all_outputs(cx);
    if !has_one_output(cx) {
        return Err(Reason::new(
            OutputUnsupported,
            "the outputs of training mode differ since opset 14",
        ));
    }
    if !trains {
        return Err(Reason::new(OutputUnsupported, AMBIGUOUS));
    }
    cx.set_int("training_mode", 1);
    name_outputs(cx, &["running_mean", "running_var"]);
    Ok(())
}

/// Inverse of [`outputs_become_the_mode`], for a downgrade to opset 13.
fn mode_becomes_outputs(cx: &mut Context) -> Result<(), Reason> {
    let trains = cx.int_or("training_mode", 0)? != 0;
    if !has_one_output(cx) {
        return Err(Reason::new(
            OutputUnsupported,
            "the outputs of training mode differ since opset 14",
        ));
    }
    cx.remove_attribute("training_mode");
    if trains {
        name_outputs(cx, &OUTPUTS_OF_TRAINING);
    }
    Ok(())
}

fn dropout_must_be_in_test_mode(cx: &mut Context) -> Result<(), Reason> {
    if cx.int_or("is_test", 0)? == 0 {
        match cx.source.settings.contested {
            Some(onnx_cast::Contested::Runtime) => {}
            None if names_one_output(cx) => {
                return Err(Reason::new(
                    Contested,
                    "`is_test` = 0 is contested: by the text Dropout trains, which opsets 7 to 11 lack; onnx's converter takes it for inference",
                ));
            }
            _ => {
                return Err(Reason::new(
                    AttributeUnsupported,
                    "Dropout has no training mode in opsets 7 to 11",
                ));
            }
        }
    }
    no_mask(cx)?;
    cx.remove_attribute("is_test");
    Ok(())
}

fn dropout_is_in_test_mode(cx: &mut Context) -> Result<(), Reason> {
    cx.set_int("is_test", 1);
    Ok(())
}

/// The mask in inference mode is defined since version 12 only, and its type differs before version
/// 10.
fn no_mask(cx: &mut Context) -> Result<(), Reason> {
    if has_one_output(cx) {
        Ok(())
    } else {
        Err(Reason::new(
            BehaviourDiffers,
            "the mask of Dropout differs between the two versions",
        ))
    }
}

fn ratio_becomes_input(cx: &mut Context) -> Result<(), Reason> {
    if let Some(ratio) = cx.float("ratio")? {
        let name = cx.add_constant("ratio", make::float_tensor(&[], &[ratio]));
        cx.remove_attribute("ratio");
        cx.set_input(1, &name);
    }
    Ok(())
}

/// Outside training neither `ratio` nor `seed` has an effect.
fn ratio_becomes_attribute(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(2).is_some() && cx.read_bools(2)?.iter().any(|&trains| trains) {
        return Err(Reason::new(
            AttributeUnsupported,
            "Dropout has no training mode in opsets 7 to 11",
        ));
    }
    cx.take_input(2);
    if let Ok([ratio]) = cx.read_floats(1).as_deref() {
        let ratio = *ratio;
        cx.set_float("ratio", ratio);
    }
    cx.take_input(1);
    cx.remove_attribute("seed");
    Ok(())
}

/// Scale and bias have one element per group before version 21, and one per channel since. Version
/// 18 computes in the type of its input, version 21 in float by default.
fn groups_become_channels(cx: &mut Context) -> Result<(), Reason> {
    let dtype = cx.dtype(0)?;
    let groups = cx.required("num_groups", |groups| Some(groups.i()))?;
    let channels = cx.dim(0, 1);
    let channels = channels.ok_or_else(|| {
        Reason::new(
            ShapeUnknown,
            "the number of channels must be known to repeat the scale of each group",
        )
    })?;
    if groups <= 0 || channels % groups != 0 {
        return Err(Reason::new(
            NodeInvalid,
            format!("{channels} channels cannot be split into {groups} groups"),
        ));
    }
    if dtype != DType::Float {
        cx.set_int("stash_type", dtype.number().into());
    }
    if channels == groups {
        return Ok(());
    }
    let known = |shape: &[i64]| Known {
        shape: Some(shape.iter().copied().map(Some).collect()),
        ..Known::tensor(dtype)
    };
    for index in [1, 2] {
        let per_group = cx.node.input[index].clone();
        let axes = cx.constant_int_list("axes", &[1]);
        let column = cx.add_before(
            "Unsqueeze",
            &[&per_group, &axes],
            Vec::new(),
            "column",
            known(&[groups, 1]),
        );
        let expanded = [groups, channels / groups];
        let shape = cx.constant_int_list("shape", &expanded);
        let table = cx.add_before(
            "Expand",
            &[&column, &shape],
            Vec::new(),
            "repeated",
            known(&expanded),
        );
        let shape = cx.constant_int_list("shape", &[channels]);
        let per_channel = cx.add_before(
            "Reshape",
            &[&table, &shape],
            Vec::new(),
            "per_channel",
            known(&[channels]),
        );
        cx.set_input(index, &per_channel);
    }
    Ok(())
}
