//! Axes that are computed, for versions that take them as an attribute. The shapes that they can
//! lead to are rows of a constant table, of which the axes select one.

use super::super::context::{Context, is_countable};
use super::super::reason::Reason;
use crate::ops::inference::{Known, MOST_DIMENSIONS};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

/// The largest table, in elements.
const LARGEST_TABLE: usize = 1 << 12;

/// 1. `Unsqueeze`, or `Squeeze` with given axes, of a known shape: a `Reshape` to the selected
///    shape.
/// 2. Constant axes, or none: nothing to do.
/// 3. Other axes, of a result of known shape: a `Reshape` to that, which keeps the order of the
///    elements, too.
pub(super) fn reshape(cx: &mut Context) -> Result<(), Reason> {
    let grows = cx.node.op_type() == "Unsqueeze";
    let is_computed = cx.input(1).is_some() && cx.read_ints(1).is_err();
    let (Some(dims), Some(&[count])) = (
        cx.known_input(0).static_shape(),
        cx.known_input(1).static_shape().as_deref(),
    ) else {
        return Ok(());
    };
    let Some(count) = usize::try_from(count)
        .ok()
        .filter(|&count| count <= MOST_DIMENSIONS)
    else {
        return Ok(());
    };
    let rank = if grows {
        dims.len() + count
    } else {
        dims.len()
    };
    let width = if grows {
        rank
    } else {
        rank.saturating_sub(count)
    };
    // Zero in a target of Reshape copies a dimension.
    if !is_computed || dims.contains(&0) || width == 0 {
        return Ok(());
    }
    let row = |axes: &[usize]| -> Vec<i64> {
        let mut given = dims.iter();
        let shape = (0..rank).filter_map(|axis| match (grows, axes.contains(&axis)) {
            (true, true) => Some(1),
            (true, false) => given.next().copied(),
            (false, true) => None,
            (false, false) => Some(dims[axis]),
        });
        // Rows of repeated axes, which are invalid, have other lengths.
        shape.chain(std::iter::repeat(1)).take(width).collect()
    };
    let axes = cx.node.input[1].clone();
    let shape = match (
        Selection::new(cx, &axes, rank, count),
        cx.known_output(0).static_shape(),
    ) {
        (Some(selection), _) => selection.row(cx, width, row, "shape"),
        (None, Some(shape)) => cx.constant_int_list("shape", &shape),
        (None, None) => return Ok(()),
    };
    cx.take_input(1);
    cx.remove_attribute("axes");
    cx.rename_operator("Reshape");
    cx.set_input(1, &shape);
    Ok(())
}

/// The first opset in which branches of `If` may have results of several shapes, as those of an
/// expanded reduction.
const BRANCHES_DIFFER_SINCE: i64 = 11;

/// 1. A reduction over one computed axis of a known shape with elements. 2. Others are expanded,
///    unless the older opset lacks that: the declared shape of the result decides then.
pub(super) fn reduce(cx: &mut Context, reason: Reason) -> Result<(), Reason> {
    let Err(reason) = cx.attempt(|cx| reduce_selected(cx, reason)) else {
        return Ok(());
    };
    let declared = reduced_axes(cx).filter(|_| cx.source.settings.opset < BRANCHES_DIFFER_SINCE);
    let axes = declared.ok_or(reason)?;
    cx.take_input(1);
    cx.remove_attribute("noop_with_empty_axes");
    cx.set_ints("axes", axes);
    Ok(())
}

/// The axes that lead from the shape of the input to that of the result, if these are known and
/// differ, and no others do. An axis of length one that is kept may be reduced or not: its element
/// is the only one.
fn reduced_axes(cx: &Context) -> Option<Vec<i64>> {
    let dims = cx.known_input(0).static_shape()?;
    let result = cx.known_output(0).static_shape()?;
    if cx.int_or("keepdims", 1).ok()? != 0 {
        let differs = |&axis: &usize| result.get(axis) != dims.get(axis);
        let axes: Vec<usize> = (0..dims.len()).filter(differs).collect();
        let becomes_one = axes.iter().all(|&axis| result.get(axis) == Some(&1));
        return (dims.len() == result.len() && becomes_one && !axes.is_empty())
            .then(|| axes.into_iter().map(|axis| axis as i64).collect());
    }
    let rank = dims.len().min(LONGEST_SEARCHED);
    let leads = |set: &u32| {
        let kept = (0..dims.len()).filter(|axis| set >> axis & 1 == 0);
        kept.map(|axis| dims[axis]).eq(result.iter().copied())
    };
    let mut sets = (1..1u32 << rank).filter(leads);
    let (only, other) = (sets.next()?, sets.next());
    (dims.len() == rank && other.is_none()).then(|| {
        (0..rank as i64)
            .filter(|axis| only >> axis & 1 == 1)
            .collect()
    })
}

/// The highest rank of which all sets of axes are tried.
const LONGEST_SEARCHED: usize = 8;

/// The input is reshaped to three axes, of which the second is reduced, and the result to the
/// selected shape.
fn reduce_selected(cx: &mut Context, reason: Reason) -> Result<(), Reason> {
    let keeps = cx.int_or("keepdims", 1)? != 0;
    let known = cx.known_input(0);
    let is_single = cx.known_input(1).static_shape() == Some(vec![1]);
    if known.rank() == Some(1) && is_single {
        cx.take_input(1);
        cx.remove_attribute("noop_with_empty_axes");
        return Ok(()); // The only axis.
    }
    let dims = known
        .static_shape()
        .filter(|dims| is_single && dims.len() > 1 && !dims.contains(&0) && is_countable(dims));
    let Some(dims) = dims else {
        return Err(reason);
    };
    let rank = dims.len();
    let (axes, data) = (cx.node.input[1].clone(), cx.node.input[0].clone());
    let Some(selection) = Selection::new(cx, &axes, rank, 1) else {
        return Err(reason);
    };
    let product = |dims: &[i64]| dims.iter().product::<i64>();
    let three = selection.row(
        cx,
        3,
        |axes| {
            vec![
                product(&dims[..axes[0]]),
                dims[axes[0]],
                product(&dims[axes[0] + 1..]),
            ]
        },
        "three",
    );
    let width = if keeps { rank } else { rank - 1 };
    let row = |axes: &[usize]| {
        let kept = |(axis, &dim): (usize, &i64)| {
            if axis == axes[0] {
                keeps.then_some(1)
            } else {
                Some(dim)
            }
        };
        dims.iter().enumerate().filter_map(kept).collect()
    };
    let shape = selection.row(cx, width, row, "shape");
    let known = |rank: usize, value_type| Known {
        value_type,
        shape: Some(vec![None; rank]),
    };
    let value_type = cx.input_type(0);
    let flat = cx.add_before(
        "Reshape",
        &[&data, &three],
        Vec::new(),
        "three_axes",
        known(3, value_type),
    );
    cx.take_input(1);
    cx.set_input(0, &flat);
    cx.remove_attribute("noop_with_empty_axes");
    cx.set_int("keepdims", 0);
    cx.set_ints("axes", vec![1]);
    let value_type = cx.output_type(0);
    cx.add_after(
        "Reshape",
        &[&shape],
        Vec::new(),
        "two_axes",
        known(2, value_type),
    );
    Ok(())
}

/// A transform along a computed axis of a known shape, except the last: the input is reshaped to
/// four axes, of which the second is transformed, and the result to the selected shape. The last
/// dimension of the result is `parts`.
pub(super) fn transform(
    cx: &mut Context,
    axis: usize,
    parts: i64,
    reason: Reason,
) -> Result<(), Reason> {
    let dims = cx
        .known_input(0)
        .static_shape()
        .filter(|dims| dims.len() > 1 && !dims.contains(&0) && is_countable(dims));
    let (Some(dims), Some(axes)) = (dims, cx.input(axis).map(str::to_owned)) else {
        return Err(reason);
    };
    let rank = dims.len();
    let Some(selection) = Selection::new(cx, &axes, rank, 1) else {
        return Err(reason);
    };
    let product = |dims: Option<&[i64]>| dims.map_or(1, |dims| dims.iter().product::<i64>());
    let four = |axes: &[usize]| {
        let axis = axes[0];
        vec![
            product(dims.get(..axis)),
            dims[axis],
            product(dims.get(axis + 1..rank - 1)),
            dims[rank - 1],
        ]
    };
    let four = selection.row(cx, 4, four, "four");
    // The length of the transformed axis is what remains.
    let row = |axes: &[usize]| {
        let dim = |(axis, &dim): (usize, &i64)| if axis == axes[0] { -1 } else { dim };
        dims[..rank - 1]
            .iter()
            .enumerate()
            .map(dim)
            .chain([parts])
            .collect()
    };
    let shape = selection.row(cx, rank, row, "shape");
    let data = cx.node.input[0].clone();
    let known = Known {
        value_type: cx.input_type(0),
        shape: Some(vec![None, None, None, dims.last().copied()]),
    };
    let flat = cx.add_before("Reshape", &[&data, &four], Vec::new(), "four_axes", known);
    cx.take_input(axis);
    cx.set_input(0, &flat);
    cx.set_int("axis", 1);
    let known = Known {
        value_type: cx.output_type(0),
        shape: Some(vec![None, None, None, Some(parts)]),
    };
    cx.add_after("Reshape", &[&shape], Vec::new(), "flat", known);
    Ok(())
}

/// The number of a row for every combination of axes, negative ones included.
struct Selection {
    index: String,
    rank: usize,
    count: usize,
}

impl Selection {
    /// None if there are too many combinations.
    fn new(cx: &mut Context, axes: &str, rank: usize, count: usize) -> Option<Selection> {
        let choices = 2 * rank;
        let rows = (0..count).try_fold(1usize, |rows, _| {
            rows.checked_mul(choices)
                .filter(|&rows| rows * (rank + 1) <= LARGEST_TABLE)
        })?;
        let list = |length: usize| Known {
            shape: Some(vec![Some(length as i64)]),
            ..Known::tensor(DType::Int64)
        };
        if count == 0 || rows == 0 {
            return None;
        }
        let shift = cx.constant_int_list("rank", &[rank as i64]);
        let mut index = cx.add_before("Add", &[axes, &shift], Vec::new(), "from_zero", list(count));
        if count > 1 {
            let weights: Vec<i64> = (0..count)
                .rev()
                .map(|place| (choices as i64).pow(place as u32))
                .collect();
            let weights = cx.constant_int_list("weights", &weights);
            let weighted = cx.add_before(
                "Mul",
                &[&index, &weights],
                Vec::new(),
                "weighted",
                list(count),
            );
            // Without axes: all of them, in every version.
            index = cx.add_before(
                "ReduceSum",
                &[&weighted],
                vec![AttributeProto::int("keepdims", 1)],
                "row",
                list(1),
            );
        }
        Some(Selection { index, rank, count })
    }

    /// The selected row as a list. `row` gives the row of axes that count from the front.
    fn row(
        &self,
        cx: &mut Context,
        width: usize,
        row: impl Fn(&[usize]) -> Vec<i64>,
        suffix: &str,
    ) -> String {
        let choices = 2 * self.rank;
        let rows = choices.pow(self.count as u32);
        let mut table = Vec::with_capacity(rows * width);
        for number in 0..rows {
            let axes: Vec<usize> = (0..self.count)
                .rev()
                .map(|place| number / choices.pow(place as u32) % choices % self.rank)
                .collect();
            table.extend(row(&axes));
        }
        let table = cx.constant_ints("table", &[rows as i64, width as i64], &table);
        let known = |dims: &[i64]| Known {
            shape: Some(dims.iter().map(|&dim| Some(dim)).collect()),
            ..Known::tensor(DType::Int64)
        };
        let axis = vec![AttributeProto::int("axis", 0)];
        let selected = cx.add_before(
            "Gather",
            &[&table, &self.index],
            axis,
            "selected",
            known(&[1, width as i64]),
        );
        let list = cx.constant_int_list("list", &[-1]);
        cx.add_before(
            "Reshape",
            &[&selected, &list],
            Vec::new(),
            suffix,
            known(&[width as i64]),
        )
    }
}
