//! Broadcasting: by `axis` and `broadcast` before opset 7, by aligned trailing dimensions since; variadic operators since 8.

use super::super::hop::Action::Run;
use super::super::hop::{Hop, Reason, hop};
use super::super::make;
use super::super::site::Site;
use crate::dtype::Class;
use crate::facts::infer::{Known, Shape};

pub(super) const HOPS: &[Hop] = &[
    hop(&["Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"], 7)
        .up(&[Run(align_trailing)])
        .down(&[Run(align_by_axis)]),
    hop(&["Gemm"], 7).up(&[Run(drop_broadcast)]).down(&[Run(gemm_broadcast)]),
    hop(&["Gemm"], 11).down(&[Run(add_nothing)]),
    hop(&["Max", "Mean", "Min", "Sum"], 8).down(&[Run(shapes_must_be_equal)]),
    hop(&["PRelu"], 7).up(&[Run(slope_gets_trailing_ones)]).down(&[Run(slope_loses_ones)]),
];

/// 1. No broadcast, or by suffix, which is what happens anyway. 2. `axis` given: the second operand gets trailing dimensions.
fn align_trailing(site: &mut Site) -> Result<(), Reason> {
    let broadcasts = site.int_or("broadcast", 0)? != 0;
    let axis = site.int("axis")?.filter(|_| broadcasts);
    site.remove_attribute("broadcast");
    site.remove_attribute("axis");
    let Some(axis) = axis else { return Ok(()) };
    if elements(&site.known_input(1)) == Some(1) {
        return Ok(());
    }
    let (left, right) = (site.rank(0)? as i64, site.rank(1)? as i64);
    let missing = left.saturating_sub(axis).saturating_sub(right);
    if axis < 0 || missing < 0 {
        return Err(format!("`axis` = {axis} does not fit operands of rank {left} and {right}"));
    }
    if missing > 0 {
        unsqueeze(site, 1, (right..right + missing).collect());
    }
    Ok(())
}

/// Inserts dimensions of one into an input, as versions 1 to 12 of `Unsqueeze` do.
fn unsqueeze(site: &mut Site, index: usize, axes: Vec<i64>) {
    let mut known = site.known_input(index);
    if let Some(shape) = &mut known.shape {
        for &axis in &axes {
            shape.insert(axis as usize, Some(1));
        }
    }
    reshape(site, index, "Unsqueeze", axes, known);
}

/// Removes dimensions of one from an input, as versions 1 to 12 of `Squeeze` do.
fn squeeze(site: &mut Site, index: usize, axes: Vec<i64>) {
    let mut known = site.known_input(index);
    if let Some(shape) = &mut known.shape {
        let mut position = -1;
        shape.retain(|_| {
            position += 1;
            !axes.contains(&position)
        });
    }
    reshape(site, index, "Squeeze", axes, known);
}

fn reshape(site: &mut Site, index: usize, op: &str, axes: Vec<i64>, known: Known) {
    let input = site.node.input[index].clone();
    let name = site.add_before(op, &[&input], vec![make::ints("axes", axes)], "aligned", known);
    site.set_input(index, &name);
}

fn elements(known: &Known) -> Option<i64> {
    known.static_shape()?.into_iter().try_fold(1, i64::checked_mul)
}

fn is(dim: Option<i64>, other: Option<i64>) -> bool {
    dim.is_some() && dim == other
}

/// 1. Equal shapes. 2. One element on the right. 3. The right shape, without ones at its ends, is a run of the left shape.
fn align_by_axis(site: &mut Site) -> Result<(), Reason> {
    if site.input(0) == site.input(1) {
        return Ok(());
    }
    let (left, right) = (site.known_input(0), site.known_input(1));
    let unknown = || "the shapes of both inputs must be known to broadcast as opset 6 does".to_owned();
    let (Some(left), Some(right_shape)) = (left.shape, right.shape.clone()) else { return Err(unknown()) };
    if left.len() == right_shape.len() && left.iter().zip(&right_shape).all(|(left, right)| is(*left, *right)) {
        return Ok(()); // Case 1.
    }
    if elements(&right) == Some(1) && right_shape.len() <= left.len() {
        site.set_int("broadcast", 1); // Case 2.
        return Ok(());
    }
    let (axis, stripped) = run_of(&left, &right_shape).ok_or_else(|| {
        "opset 6 can only bring the second input to the shape of the first, and these shapes do not allow that".to_owned()
    })?;
    if !stripped.is_empty() {
        squeeze(site, 1, stripped); // Case 3.
    }
    site.set_int("broadcast", 1);
    site.set_int("axis", axis);
    Ok(())
}

/// Where the right shape without ones at its ends stands in the left one, and the axes of those ones.
fn run_of(left: &Shape, right: &Shape) -> Option<(i64, Vec<i64>)> {
    let leading = right.iter().take_while(|dim| **dim == Some(1)).count();
    let trailing = right[leading..].iter().rev().take_while(|dim| **dim == Some(1)).count();
    let core = leading..right.len() - trailing;
    let shift = left.len().checked_sub(right.len())?;
    let matches = core.clone().all(|index| is(left[index + shift], right[index]));
    let stripped = (0..right.len()).filter(|index| !core.contains(index)).map(|index| index as i64).collect();
    (matches && !core.is_empty()).then_some(((leading + shift) as i64, stripped))
}

fn drop_broadcast(site: &mut Site) -> Result<(), Reason> {
    site.remove_attribute("broadcast");
    Ok(())
}

/// `Gemm` before opset 7 takes `C` of the result's shape, or broadcasts one element or one row.
fn gemm_broadcast(site: &mut Site) -> Result<(), Reason> {
    let shape = site.known_input(2).shape;
    let columns = site.known_output(0).shape.and_then(|shape| shape.get(1).copied().flatten());
    match shape.as_deref() {
        Some([] | [_]) | Some([Some(1), Some(1)]) => site.set_int("broadcast", 1),
        Some([Some(1), Some(_)]) => {
            squeeze(site, 2, vec![0]);
            site.set_int("broadcast", 1);
        }
        Some([Some(_), Some(width)]) if *width > 1 || columns == Some(1) => {}
        _ => return Err("the shape of `C` must be known, and be that of the result, of a row, or of one element".to_owned()),
    }
    Ok(())
}

/// `C` became optional in opset 11. Adding negative zero leaves every number as it is.
fn add_nothing(site: &mut Site) -> Result<(), Reason> {
    if site.input(2).is_some() {
        return Ok(());
    }
    let dtype = site.dtype(0)?;
    let nothing = match dtype.class() {
        Class::Float => make::scalar(dtype, -0.0),
        _ => make::zeros(dtype, &[]),
    };
    let name = site.add_constant("c", nothing.ok_or_else(|| format!("no {dtype} can be added without an effect"))?);
    site.set_input(2, &name);
    if site.has_attribute("beta") {
        site.remove_attribute("beta");
    }
    Ok(())
}

fn shapes_must_be_equal(site: &mut Site) -> Result<(), Reason> {
    let first = site.known_input(0).static_shape();
    let differs =
        |index: usize| site.input(index) != site.input(0) && (first.is_none() || site.known_input(index).static_shape() != first);
    match (1..site.node.input.len()).any(differs) {
        true => Err("before opset 8 all inputs must have one shape, which is not known of these".to_owned()),
        false => Ok(()),
    }
}

/// Before opset 7 the slope is one number, or one for each channel.
fn slope_gets_trailing_ones(site: &mut Site) -> Result<(), Reason> {
    let slope = site.known_input(1);
    if elements(&slope) == Some(1) {
        return Ok(());
    }
    let rank = site.rank(0)? as i64;
    match site.rank(1)? {
        1 if rank >= 3 => unsqueeze(site, 1, (1..rank - 1).collect()),
        1 if rank == 2 => {}
        _ => return Err("opset 6 says nothing of a slope that is neither one number nor one for each channel".to_owned()),
    }
    Ok(())
}

fn slope_loses_ones(site: &mut Site) -> Result<(), Reason> {
    let slope = site.known_input(1);
    if elements(&slope) == Some(1) {
        return Ok(());
    }
    let refuse = || "opset 6 knows slopes of one number or one for each channel only".to_owned();
    let (rank, shape) = (site.rank(0)?, slope.static_shape().ok_or_else(refuse)?);
    let channel = (shape.len() + 1).checked_sub(rank).ok_or_else(refuse)?;
    let ones: Vec<i64> = (0..shape.len()).filter(|&index| index != channel).map(|index| index as i64).collect();
    if channel >= shape.len() || rank < 2 || ones.iter().any(|&index| shape[index as usize] != 1) {
        return Err(refuse());
    }
    if !ones.is_empty() {
        squeeze(site, 1, ones);
    }
    Ok(())
}
