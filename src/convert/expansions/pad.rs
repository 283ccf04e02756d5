//! `Pad` with pads, values, types or modes that the older version lacks: elements are moved, not
//! computed.

use super::{Expansion, exact, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{
    AttributeUnsupported, NodeInvalid, NotConstant, Overridable, Reason, ShapeUnsupported,
    TypeUnsupported,
};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("Pad", 11, pad).against(&[NotConstant, Overridable, TypeUnsupported]),
    exact("Pad", 13, pad).against(&[TypeUnsupported]),
    exact("Pad", 19, pad).against(&[AttributeUnsupported]),
];

/// The longest list of places that becomes a constant.
const MOST_PLACES: i64 = 1 << 12;

/// One axis after the other: blocks of the value are put around the input, or elements are gathered
/// from the places that the mode states.
fn pad(cx: &Context) -> Result<String, Reason> {
    let rank = cx.rank(0)?;
    let axes = match cx.input(3) {
        Some(_) => cx.axes_from_front(cx.read_ints(3)?)?,
        None => (0..rank as i64).collect(),
    };
    let pads = cx.read_ints(1).ok();
    let is_valid = pads
        .as_ref()
        .is_none_or(|pads| pads.len() == 2 * axes.len())
        && axes.iter().all(|&axis| axis < rank as i64);
    if !is_valid {
        return Err(Reason::new(
            NodeInvalid,
            "the inputs `pads` and `axes` do not match",
        ));
    }
    if cx
        .known_input(2)
        .static_shape()
        .is_some_and(|shape| shape.iter().any(|&dim| dim != 1))
    {
        return Err(Reason::new(
            NodeInvalid,
            "`constant_value` must have one element",
        ));
    }
    let mode = cx.string("mode")?.unwrap_or_else(|| "constant".to_owned());
    let mut body = "dims = Shape (data) zero = Constant <value = int64[1] {0}> () one = Constant <value = int64[1] {1}> ()
        all = Constant <value = int64[1] {-1}> ()\n"
        .to_owned();
    if mode == "constant" {
        let zero = if type_of(cx, 0)? == "string" {
            "\"\""
        } else {
            "0"
        };
        body += &match cx.input(2) {
            Some(_) => "value = Identity (constant_value)\n".to_owned(),
            None => format!(
                "value = Constant <value = {} {{{zero}}}> ()\n",
                type_of(cx, 0)?
            ),
        };
    }
    let mut data = "data".to_owned();
    for (place, &axis) in axes.iter().enumerate() {
        let known = pads
            .as_ref()
            .map(|pads| (pads[place], pads[axes.len() + place]));
        if known == Some((0, 0)) {
            continue;
        }
        let length = cx.dim(0, axis);
        if let Some(((before, after), length)) = known.zip(length)
            && i128::from(before.min(0)) + i128::from(after.min(0)) + i128::from(length) < 0
        {
            return Err(Reason::new(
                NodeInvalid,
                format!(
                    "the pads {before} and {after} crop more than the {length} elements of axis {axis}"
                ),
            ));
        }
        body += &lengths(axis, place, axes.len());
        body += &match mode.as_str() {
            "constant" => blocks(
                &data,
                axis,
                rank,
                known.is_some_and(|(before, after)| before >= 0 && after >= 0),
            ),
            "edge" | "reflect" | "wrap" => {
                if length == Some(0) {
                    return Err(Reason::new(
                        ShapeUnsupported,
                        "an axis without elements cannot be repeated",
                    ));
                }
                let places = known
                    .zip(length)
                    .and_then(|(pads, length)| constant_places(&mode, axis, pads, length));
                let places = places.unwrap_or_else(|| computed_places(&mode, axis));
                places
                    + &format!("padded_{axis} = Gather <axis = {axis}> ({data}, places_{axis})\n")
            }
            _ => {
                return Err(Reason::new(
                    AttributeUnsupported,
                    format!("`mode` = '{mode}' is unknown"),
                ));
            }
        };
        data = format!("padded_{axis}");
    }
    Ok(body + &format!("output = Identity ({data})"))
}

/// The length of an axis, and what is added before and after it.
fn lengths(axis: i64, place: usize, count: usize) -> String {
    let after = place + count;
    format!(
        "axis_{axis} = Constant <value = int64[1] {{{axis}}}> ()
         index_{axis} = Constant <value = int64[1] {{{place}}}> ()
         index_after_{axis} = Constant <value = int64[1] {{{after}}}> ()
         before_{axis} = Gather <axis = 0> (pads, index_{axis})
         after_{axis} = Gather <axis = 0> (pads, index_after_{axis})
         length_{axis} = Gather <axis = 0> (dims, axis_{axis})\n"
    )
}

/// The elements removed at both ends, and those added to the remaining ones.
fn cuts(axis: i64) -> String {
    "cuts_before_$ = Less (before_$, zero)
     cuts_after_$ = Less (after_$, zero)
     cut_before_$ = Where (cuts_before_$, before_$, zero)
     cut_after_$ = Where (cuts_after_$, after_$, zero)
     add_before_$ = Sub (before_$, cut_before_$)
     add_after_$ = Sub (after_$, cut_after_$)
     start_$ = Sub (zero, cut_before_$)
     end_$ = Add (length_$, cut_after_$)\n"
        .replace('$', &axis.to_string())
}

/// Blocks of the value before and after the elements that remain.
fn blocks(data: &str, axis: i64, rank: usize, is_positive: bool) -> String {
    let mut body = if is_positive {
        format!(
            "kept_{axis} = Identity ({data}) add_before_{axis} = Identity (before_{axis}) add_after_{axis} = Identity (after_{axis})\n"
        )
    } else {
        cuts(axis)
            + &format!("kept_{axis} = Slice ({data}, start_{axis}, end_{axis}, axis_{axis})\n")
    };
    body += &format!("kept_dims_{axis} = Shape (kept_{axis})\n");
    let mut dims = Vec::new();
    for (part, (start, end)) in [(0, axis), (axis + 1, rank as i64)].into_iter().enumerate() {
        if start < end {
            body += &format!(
                "places_{part}_{axis} = Constant <value = int64[{}] {{{}}}> ()
                 dims_{part}_{axis} = Gather <axis = 0> (kept_dims_{axis}, places_{part}_{axis})\n",
                end - start,
                list(start..end)
            );
            dims.push((part, format!("dims_{part}_{axis}")));
        }
    }
    for side in ["before", "after"] {
        let part = |wanted: usize| {
            dims.iter()
                .find(|(part, _)| *part == wanted)
                .map(|(_, name)| name.clone())
        };
        let parts: Vec<String> = [part(0), Some(format!("add_{side}_{axis}")), part(1)]
            .into_iter()
            .flatten()
            .collect();
        body += &format!(
            "shape_{side}_{axis} = Concat <axis = 0> ({})
             block_{side}_{axis} = Expand (value, shape_{side}_{axis})\n",
            parts.join(", ")
        );
    }
    body + &format!(
        "padded_{axis} = Concat <axis = {axis}> (block_before_{axis}, kept_{axis}, block_after_{axis})\n"
    )
}

/// The places from which elements are gathered along an axis: those of the elements that remain,
/// repeated as the mode states.
fn computed_places(mode: &str, axis: i64) -> String {
    let body = "
        kept_$ = Sub (end_$, start_$)
        longer_$ = Add (add_before_$, kept_$)
        total_$ = Add (longer_$, add_after_$)
        ones_$ = Expand (one, total_$)
        counted_$ = NonZero (ones_$)
        numbers_$ = Reshape (counted_$, all)
        number_$ = Sub (numbers_$, add_before_$)
        last_$ = Sub (kept_$, one)\n";
    let repeated = match mode {
        "edge" => {
            "is_low_$ = Less (number_$, zero)
             raised_$ = Where (is_low_$, zero, number_$)
             is_high_$ = Less (last_$, raised_$)
             repeated_$ = Where (is_high_$, last_$, raised_$)\n"
        }
        "wrap" => "repeated_$ = Mod (number_$, kept_$)\n",
        // Forth and back again; a single element has one place.
        _ => {
            "span_$ = Add (last_$, last_$)
             is_single_$ = Less (span_$, one)
             period_$ = Where (is_single_$, one, span_$)
             forth_$ = Mod (number_$, period_$)
             back_$ = Sub (span_$, forth_$)
             is_back_$ = Less (last_$, forth_$)
             repeated_$ = Where (is_back_$, back_$, forth_$)\n"
        }
    };
    cuts(axis)
        + &format!("{body}{repeated}places_$ = Add (repeated_$, start_$)\n")
            .replace('$', &axis.to_string())
}

/// The places as a constant, if the length of the axis and the pads are known.
fn constant_places(
    mode: &str,
    axis: i64,
    (before, after): (i64, i64),
    length: i64,
) -> Option<String> {
    let total = before.checked_add(length)?.checked_add(after)?;
    let start = before.min(0).checked_neg()?;
    let kept = length.checked_add(after.min(0))?.checked_sub(start)?;
    if !(1..=MOST_PLACES).contains(&total) || kept < 1 {
        return None;
    }
    let last = kept - 1;
    let repeated = |number: i64| match mode {
        "edge" => number.clamp(0, last),
        "wrap" => number.rem_euclid(kept),
        _ => {
            let forth = number.rem_euclid((2 * last).max(1));
            if forth > last {
                2 * last - forth
            } else {
                forth
            }
        }
    };
    let places = (0..total).map(|number| start + repeated(number - before.max(0)));
    Some(format!(
        "places_{axis} = Constant <value = int64[{total}] {{{}}}> ()\n",
        list(places)
    ))
}
