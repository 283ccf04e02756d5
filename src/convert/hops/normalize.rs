//! `BatchNormalization`, `Dropout` and `GroupNormalization` across opsets.

use super::super::hop::Action::{Drop, DropIf, Run};
use super::super::hop::{Hop, Reason, Value, hop};
use super::super::make;
use super::super::site::Site;
use crate::dtype::DType;
use crate::facts::ValueType;
use crate::facts::infer::Known;

pub(super) const HOPS: &[Hop] = &[
    hop(&["BatchNormalization"], 6).up(&[Drop("consumed_inputs")]).down(&[Run(write_consumed_inputs)]),
    hop(&["BatchNormalization"], 7).up(&[Run(mode_shows_in_outputs)]).down(&[Run(outputs_show_the_mode)]),
    hop(&["BatchNormalization"], 9).up(&[DropIf("spatial", Value::Int(1))]),
    hop(&["BatchNormalization"], 14)
        .up(&[Run(only_inference)])
        .down(&[DropIf("training_mode", Value::Int(0)), Run(only_inference)]),
    hop(&["Dropout"], 7).up(&[Run(dropout_must_be_in_test_mode)]).down(&[Run(no_mask), Run(dropout_is_in_test_mode)]),
    hop(&["Dropout"], 10).up(&[Run(no_mask)]).down(&[Run(no_mask)]),
    hop(&["Dropout"], 12).up(&[Run(no_mask), Run(ratio_becomes_input)]).down(&[Run(no_mask), Run(ratio_becomes_attribute)]),
    hop(&["GroupNormalization"], 21).up(&[Run(groups_become_channels)]),
];

/// The attribute is required in version 1, and has no effect there.
fn write_consumed_inputs(site: &mut Site) -> Result<(), Reason> {
    site.set_ints("consumed_inputs", vec![0; 5]);
    Ok(())
}

/// Drops outputs that nobody uses, and says whether the first one alone is left.
fn has_one_output(site: &mut Site) -> bool {
    (1..site.node.output.len()).rev().for_each(|index| site.drop_unused_output(index));
    site.node.output.len() <= 1
}

/// Whether the node names no output but the first: versions 7 to 13 of `BatchNormalization` train where it does, even if nobody
/// uses what it names.
fn names_one_output(site: &Site) -> bool {
    (1..site.node.output.len()).all(|index| !site.has_output(index))
}

/// Version 6 has `is_test`; version 7 is in training mode where it has five outputs.
fn mode_shows_in_outputs(site: &mut Site) -> Result<(), Reason> {
    let is_test = site.int_or("is_test", 0)? != 0;
    let trains = !is_test && (0..5).all(|index| site.has_output(index));
    if !trains && !is_test {
        return Err("`is_test` = 0 asks for training, but the outputs of training are missing".to_owned());
    }
    if is_test && !has_one_output(site) {
        return Err("in test mode the outputs after the first have no meaning".to_owned());
    }
    site.remove_attribute("is_test");
    Ok(())
}

fn outputs_show_the_mode(site: &mut Site) -> Result<(), Reason> {
    if names_one_output(site) {
        site.set_int("is_test", 1);
    } else if !(0..5).all(|index| site.has_output(index)) {
        return Err("it is not said whether it trains with some of the outputs of training".to_owned());
    }
    Ok(())
}

/// Training has other outputs since version 14.
fn only_inference(site: &mut Site) -> Result<(), Reason> {
    match names_one_output(site) {
        true => Ok(()),
        false => Err("it has outputs of training mode, which are others from opset 14 on".to_owned()),
    }
}

fn dropout_must_be_in_test_mode(site: &mut Site) -> Result<(), Reason> {
    if site.int_or("is_test", 0)? == 0 {
        return Err("`is_test` = 0 drops at random, which opset 7 cannot say".to_owned());
    }
    no_mask(site)?;
    site.remove_attribute("is_test");
    Ok(())
}

fn dropout_is_in_test_mode(site: &mut Site) -> Result<(), Reason> {
    site.set_int("is_test", 1);
    Ok(())
}

/// What the mask holds in test mode is said since version 12 only, and its type is another before version 10.
fn no_mask(site: &mut Site) -> Result<(), Reason> {
    match has_one_output(site) {
        true => Ok(()),
        false => Err("the mask means different things in the versions".to_owned()),
    }
}

fn ratio_becomes_input(site: &mut Site) -> Result<(), Reason> {
    if let Some(ratio) = site.float("ratio")? {
        let name = site.add_constant("ratio", make::float_tensor(&[], &[ratio]));
        site.remove_attribute("ratio");
        site.set_input(1, &name);
    }
    Ok(())
}

/// Outside training neither `ratio` nor `seed` has an effect.
fn ratio_becomes_attribute(site: &mut Site) -> Result<(), Reason> {
    if site.input(2).is_some() && site.read_bools(2)?.iter().any(|&trains| trains) {
        return Err("training mode drops at random, which cannot be asked for before opset 12".to_owned());
    }
    site.take_input(2);
    if let Ok([ratio]) = site.read_floats(1).as_deref() {
        let ratio = *ratio;
        site.set_float("ratio", ratio);
    }
    site.take_input(1);
    site.remove_attribute("seed");
    Ok(())
}

/// Scale and bias hold one number for each group before version 21, and for each channel since. Version 18 computes in the
/// type of its input, version 21 in float unless it is told.
fn groups_become_channels(site: &mut Site) -> Result<(), Reason> {
    let dtype = site.dtype(0)?;
    let groups = site.int("num_groups")?.ok_or("the attribute `num_groups` is missing")?;
    let channels = site.known_input(0).shape.and_then(|shape| shape.get(1).copied().flatten());
    let channels = channels.ok_or("the number of channels must be known to repeat the scale of each group")?;
    if groups <= 0 || channels % groups != 0 {
        return Err(format!("{channels} channels cannot be split into {groups} groups"));
    }
    if dtype != DType::Float {
        site.set_int("stash_type", dtype.number().into());
    }
    if channels == groups {
        return Ok(());
    }
    let known = |shape: &[i64]| Known {
        value_type: Some(ValueType::Tensor(dtype)),
        shape: Some(shape.iter().map(|&dim| Some(dim)).collect()),
    };
    for index in [1, 2] {
        let per_group = site.node.input[index].clone();
        let axes = site.constant_int_list("axes", &[1]);
        let column = site.add_before("Unsqueeze", &[&per_group, &axes], Vec::new(), "column", known(&[groups, 1]));
        let expanded = [groups, channels / groups];
        let shape = site.constant_int_list("shape", &expanded);
        let table = site.add_before("Expand", &[&column, &shape], Vec::new(), "repeated", known(&expanded));
        let shape = site.constant_int_list("shape", &[channels]);
        let per_channel = site.add_before("Reshape", &[&table, &shape], Vec::new(), "per_channel", known(&[channels]));
        site.set_input(index, &per_channel);
    }
    Ok(())
}
