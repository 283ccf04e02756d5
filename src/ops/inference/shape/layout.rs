//! Operators that move elements: reshape, join, cut, pad.

use super::dims::{ONE, Shapes, broadcast, from_front, of_rank, product};
use crate::ops::inference::known::{Dim, Dims, is_kept, sizes};
use crate::ops::inference::length::{Agree, Length};
use crate::ops::inference::view::View;
use crate::ops::readings::{self, Readings, SQUEEZE_WITHOUT_AXES};

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let shape = match view.schema.name {
        "CenterCropPad" => center_crop_pad(view),
        "Concat" => concatenated(view),
        "DepthToSpace" => blocks(view, false),
        "Expand" => expanded(view),
        "Flatten" => flattened(view),
        "Pad" => padded(view),
        "Reshape" => reshaped(view),
        "Crop" => cropped(view),
        "DynamicSlice" | "Slice" => sliced(view),
        "SpaceToDepth" => blocks(view, true),
        "Split" => return Some(split(view)),
        "Squeeze" | "Unsqueeze" => squeezed(view),
        "Tile" => tiled(view),
        "Transpose" => transposed(view),
        _ => return None,
    };
    Some(vec![shape])
}

/// `border` is left, top, right, bottom; with `scale`, the height and the width of the result are
/// given.
fn cropped(view: &View) -> Option<Dims> {
    let (Some(&[batch, channels, height, width]), Some(&[left, top, right, bottom])) =
        (view.shape(0).map(Vec::as_slice), view.ints("border"))
    else {
        return None;
    };
    let left_over = |dim: Dim, before: i64, after: i64| {
        let size = dim?.size()?.checked_sub(before)?.checked_sub(after)?;
        (size >= 0).then_some(Length::Size(size))
    };
    let [height, width] = match view.ints("scale") {
        Some(&[height, width]) => [height, width].map(|size| Some(Length::Size(size))),
        Some(_) => [None; 2],
        None => [
            left_over(height, top, bottom),
            left_over(width, left, right),
        ],
    };
    Some(vec![batch, channels, height, width])
}

fn flattened(view: &View) -> Option<Dims> {
    let split = |shape: &Dims| {
        let axis = view.int_or("axis", 1)?;
        let axis = if axis == i64::try_from(shape.len()).ok()? {
            shape.len()
        } else {
            from_front(axis, shape.len())?
        };
        Some(vec![product(&shape[..axis]), product(&shape[axis..])])
    };
    view.shape(0).and_then(split).or(Some(vec![None, None]))
}

fn transposed(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    match view.attribute("perm") {
        None => Some(shape.iter().rev().copied().collect()),
        Some(perm) if perm?.ints.len() != shape.len() => None,
        Some(perm) => perm?
            .ints
            .iter()
            .map(|&axis| from_front(axis, shape.len()).map(|axis| shape[axis]))
            .collect(),
    }
}

/// Zero copies a dimension unless `allowzero` is set, and one dimension of -1 follows from the
/// number of elements.
fn reshaped(view: &View) -> Option<Dims> {
    let target: Vec<Dim> = match view.schema.since_version {
        1 => sizes(view.ints("shape").filter(|shape| is_kept(shape.len()))?),
        _ => view.values_or_unknown(1)?,
    };
    let input = view.shape(0);
    let copies_zero = view.int_or("allowzero", 0)? == 0;
    let mut shape: Dims = Vec::with_capacity(target.len());
    for (index, dim) in target.iter().enumerate() {
        shape.push(match dim {
            Some(Length::Size(0)) if copies_zero => {
                input.and_then(|input| input.get(index).copied().flatten())
            }
            Some(Length::Size(..0)) => None,
            dim => *dim,
        });
    }
    let rest: Vec<usize> = (0..target.len())
        .filter(|&index| target[index] == Some(Length::Size(-1)))
        .collect();
    if let ([rest], Some(input)) = (rest.as_slice(), input) {
        let others: Vec<Dim> = shape
            .iter()
            .copied()
            .enumerate()
            .filter(|(index, _)| index != rest)
            .map(|(_, dim)| dim)
            .collect();
        shape[*rest] = divided(input, others);
    }
    Some(shape)
}

/// The number of elements of one shape divided by that of another; equal symbols are cancelled. A
/// symbol that is cancelled may be zero, but then ONNX does not define the quotient.
fn divided(dividend: &[Dim], mut divisor: Vec<Dim>) -> Dim {
    let mut rest = Vec::new();
    for &dim in dividend {
        let is_symbol = matches!(dim, Some(Length::Symbol(_)));
        match divisor.iter().position(|&other| is_symbol && other == dim) {
            Some(place) => drop(divisor.swap_remove(place)),
            None => rest.push(dim),
        }
    }
    let size = |dims: &[Dim]| product(dims)?.size();
    let divisor = size(&divisor).filter(|&divisor| divisor > 0)?;
    let (symbols, numbers): (Vec<Dim>, Vec<Dim>) = rest
        .into_iter()
        .partition(|dim| !matches!(dim, Some(Length::Size(_))));
    let quotient = size(&numbers).filter(|numbers| numbers % divisor == 0)? / divisor;
    match symbols.as_slice() {
        [] => Some(Length::Size(quotient)),
        [symbol] => (*symbol)?.checked_mul(Length::Size(quotient)),
        _ => None,
    }
}

fn expanded(view: &View) -> Option<Dims> {
    let target = view.values_or_unknown(1)?;
    // A dimension of one in the target keeps that of the input, so that nothing is known if it is
    // unknown.
    Some(broadcast(view.shape(0)?, &target))
}

fn concatenated(view: &View) -> Option<Dims> {
    let mut shape = view.inputs.iter().find_map(|input| input.shape.clone())?;
    let axis = from_front(view.int_or("axis", 1)?, shape.len());
    for (index, dim) in shape.iter_mut().enumerate() {
        let dims: Option<Vec<Dim>> = view
            .inputs
            .iter()
            .map(|input| input.shape.as_ref()?.get(index).copied())
            .collect();
        *dim = match dims {
            Some(dims) if Some(index) == axis => dims
                .into_iter()
                .try_fold(Length::Size(0), |sum, dim| sum.checked_add(dim?)),
            Some(dims) if axis.is_some() => dims
                .into_iter()
                .flatten()
                .reduce(|one, other| one.agree(other).unwrap_or(one)),
            _ => None,
        };
    }
    Some(shape)
}

fn split(view: &View) -> Shapes {
    let outputs = view.node.output.len();
    let Some(shape) = view.shape(0) else {
        return Vec::new();
    };
    let Some(axis) = view
        .int_or("axis", 0)
        .and_then(|axis| from_front(axis, shape.len()))
    else {
        return vec![Some(of_rank(shape.len())); outputs];
    };
    let given = view.list("split", 1);
    let is_given = given.is_some() || view.has_input(1) || view.attribute("split").is_some();
    let parts = i64::try_from(outputs).unwrap_or(i64::MAX).max(1);
    let length = |index: usize| -> Dim {
        match (&given, shape[axis]) {
            (Some(lengths), _) => lengths.get(index).copied().flatten(),
            (None, dim @ Some(_)) if !is_given && parts == 1 => dim,
            (None, Some(Length::Size(length))) if !is_given => {
                let part = length / parts + i64::from(length % parts != 0);
                let start = part.checked_mul(i64::try_from(index).ok()?)?;
                Some(Length::Size((length - start).clamp(0, part)))
            }
            _ => None,
        }
    };
    let part = |index| {
        Some(
            shape
                .iter()
                .enumerate()
                .map(|(at, &dim)| if at == axis { length(index) } else { dim })
                .collect(),
        )
    };
    (0..outputs).map(part).collect()
}

fn squeezed(view: &View) -> Option<Dims> {
    let shape = view.shape(0);
    let grows = view.schema.name == "Unsqueeze";
    let count = view
        .length(1)
        .filter(|_| view.schema.attribute("axes").is_none());
    let Some(axes) = view.axes() else {
        if !grows && !view.has_input(1) && view.attribute("axes").is_none() {
            // All dimensions of one are removed.
            let shape = shape
                .filter(|shape| shape.iter().all(|dim| matches!(dim, Some(Length::Size(_)))))?;
            return Some(shape.iter().copied().filter(|&dim| dim != ONE).collect());
        }
        return if grows {
            Some(of_rank(shape?.len() + count?))
        } else {
            Some(of_rank(shape?.len().checked_sub(count?)?))
        };
    };
    let shape = shape?;
    let rank = if grows {
        shape.len() + axes.len()
    } else {
        shape.len()
    };
    let axes: Vec<usize> = axes
        .into_iter()
        .map(|axis| from_front(axis, rank))
        .collect::<Option<_>>()?;
    if !grows && axes.is_empty() {
        return squeezed_without_axes(view, shape);
    }
    if grows {
        let mut old = shape.iter().copied();
        return (0..rank)
            .map(|index| {
                if axes.contains(&index) {
                    Some(ONE)
                } else {
                    old.next()
                }
            })
            .collect();
    }
    Some(
        (0..rank)
            .filter(|index| !axes.contains(index))
            .map(|index| shape[index])
            .collect(),
    )
}

/// A `Squeeze` with an empty list of axes.
fn squeezed_without_axes(view: &View, shape: &Dims) -> Option<Dims> {
    let can_be_one =
        |dim: &Dim| dim.is_none_or(|dim| matches!(dim, Length::Symbol(_)) || Some(dim) == ONE);
    if !shape.iter().any(can_be_one) {
        return Some(shape.clone());
    }
    let others = || shape.iter().copied().filter(|&dim| dim != ONE).collect();
    let is_known = shape.iter().all(|dim| *dim == ONE || !can_be_one(dim));
    let runtime = is_known.then(others);
    view.choose(Readings {
        text: Some(shape.clone()),
        runtime,
        why: Some(SQUEEZE_WITHOUT_AXES),
    })?
}

fn tiled(view: &View) -> Option<Dims> {
    let repeats = view.values(1).filter(|_| view.schema.since_version > 1);
    let Some(shape) = view.shape(0) else {
        return view
            .length(1)
            .filter(|_| view.schema.since_version > 1)
            .map(of_rank);
    };
    let Some(repeats) = repeats.filter(|repeats| repeats.len() == shape.len()) else {
        return Some(of_rank(shape.len()));
    };
    Some(
        shape
            .iter()
            .zip(repeats)
            .map(|(dim, repeat)| {
                dim.zip(repeat)
                    .and_then(|(dim, repeat)| dim.checked_mul(repeat))
            })
            .collect(),
    )
}

fn padded(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let unknown = || Some(of_rank(shape.len()));
    let name = if view.schema.since_version < 2 {
        "paddings"
    } else {
        "pads"
    };
    let given = view.list(name, 1);
    let axes = if view.has_input(3) {
        view.known_values(3).and_then(|axes| {
            axes.into_iter()
                .map(|axis| from_front(axis, shape.len()))
                .collect()
        })
    } else {
        Some((0..shape.len()).collect::<Vec<_>>())
    };
    let (Some(pads), Some(axes)) = (given, axes) else {
        return unknown();
    };
    if pads.len() != 2 * axes.len() {
        return unknown();
    }
    let dim = |(axis, &dim): (usize, &Dim)| match axes.iter().position(|&given| given == axis) {
        None => dim,
        Some(place) => dim?
            .checked_add(pads[place]?)?
            .checked_add(pads[axes.len() + place]?),
    };
    Some(shape.iter().enumerate().map(dim).collect())
}

fn sliced(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let is_attribute = view.schema.attribute("starts").is_some();
    let (starts, ends) = (view.list("starts", 1), view.list("ends", 2));
    let count = if is_attribute {
        starts.as_ref().map(Vec::len)
    } else {
        starts
            .as_ref()
            .map(Vec::len)
            .or(view.length(1))
            .or(view.length(2))
    };
    let has_axes = if is_attribute {
        view.attribute("axes").is_some()
    } else {
        view.has_input(3)
    };
    let axes: Option<Vec<usize>> = match (has_axes, count) {
        (false, Some(count)) => Some((0..count).collect()),
        (true, _) => view.list("axes", 3).and_then(|axes| {
            axes.into_iter()
                .map(|axis| from_front(axis?.size()?, shape.len()))
                .collect()
        }),
        _ => None,
    };
    let Some(axes) = axes else {
        return Some(of_rank(shape.len()));
    };
    let steps = if !is_attribute && view.has_input(4) {
        view.values(4)
    } else {
        Some(vec![ONE; axes.len()])
    };
    let mut result = shape.clone();
    for (place, &axis) in axes.iter().enumerate() {
        let at = |values: &Option<Vec<Dim>>| {
            values
                .as_ref()
                .and_then(|values| values.get(place).copied().flatten())
        };
        // Without `axes`, there may be more starts than dimensions.
        *result.get_mut(axis)? =
            slice_length(view, *shape.get(axis)?, at(&starts), at(&ends), at(&steps));
    }
    Some(result)
}

/// The first index of a slice of an axis, and the number of indices.
pub(in crate::ops::inference) fn slice_range(
    view: &View,
    dim: i64,
    bounds: [i64; 3],
) -> Option<(i64, i64)> {
    view.choose(readings::slice(dim, bounds, view.schema.since_version)?)
}

fn slice_length(view: &View, dim: Dim, start: Dim, end: Dim, step: Dim) -> Dim {
    let bounds = [start?.size()?, end?.size()?, step?.size()?];
    if !matches!(dim, Some(Length::Size(_)))
        && view.contested.is_none()
        && readings::slice_may_be_contested(bounds)
    {
        view.is_contested.set(true);
    }
    match dim? {
        Length::Size(dim) => slice_range(view, dim, bounds).map(|(_, count)| Length::Size(count)),
        // What has no end for any length.
        symbol if bounds == [0, i64::MAX, 1] => Some(symbol),
        Length::Symbol(_) => None,
    }
}

fn blocks(view: &View, gathers: bool) -> Option<Dims> {
    let shape = view.shape(0)?;
    let [batch, depth, height, width] = shape.as_slice() else {
        return Some(of_rank(4));
    };
    let Some(block) = view.int_or("blocksize", 0).filter(|&block| block > 0) else {
        return Some(of_rank(4));
    };
    let grow = |dim: Dim, factor: i64| dim.and_then(|dim| dim.checked_mul(Length::Size(factor)));
    let shrink = |dim: Dim, factor: i64| {
        let dim = dim?.size().filter(|dim| dim % factor == 0)?;
        Some(Length::Size(dim / factor))
    };
    let area = block.checked_mul(block)?;
    Some(if gathers {
        vec![
            *batch,
            grow(*depth, area),
            shrink(*height, block),
            shrink(*width, block),
        ]
    } else {
        vec![
            *batch,
            shrink(*depth, area),
            grow(*height, block),
            grow(*width, block),
        ]
    })
}

fn center_crop_pad(view: &View) -> Option<Dims> {
    let mut shape = view.shape(0)?.clone();
    let axes: Option<Vec<usize>> = match view.attribute("axes") {
        None => Some((0..shape.len()).collect()),
        Some(axes) => axes?
            .ints
            .iter()
            .map(|&axis| from_front(axis, shape.len()))
            .collect(),
    };
    let Some(axes) = axes else {
        return Some(of_rank(shape.len()));
    };
    let target = view.values(1);
    for (place, &axis) in axes.iter().enumerate() {
        shape[axis] = target
            .as_ref()
            .and_then(|target| target.get(place).copied().flatten());
    }
    Some(shape)
}
