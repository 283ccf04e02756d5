//! Phrases that several rules share.

use crate::lint::{element, number};
use crate::tensor::Array;
use onnx_cast::{DType, Tally, float_format::Format};

/// The largest finite number of a float type.
pub(super) fn largest(dtype: DType) -> String {
    Format::of(dtype).map_or_else(String::new, |format| number(dtype, format.largest()))
}

/// The result of an overflow in a float8 type without saturation.
pub(super) fn overflow_becomes(to: DType) -> &'static str {
    if to == DType::Float8E5M2 {
        "infinity"
    } else {
        "NaN"
    }
}

/// `2 of the 4 elements of 'w', the first at index 1 (500)`; `None` if there are none.
pub(super) fn tally_of(tally: &Tally, constant: &Array, name: &str) -> Option<String> {
    let first = tally.first?;
    let element = element(constant, first);
    let (count, elements) = (tally.count, constant.elements());
    Some(match elements {
        1 => format!("'{name}' ({element})"),
        _ => format!(
            "{count} of the {elements} elements of '{name}', the first at index {first} ({element})"
        ),
    })
}
