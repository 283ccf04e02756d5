//! Constants in a wider type.

use crate::graph::{Edit, Model, ValueId};
use onnx_cast::{Cast, DType, Rules};

/// The edit that gives a constant a wider type, and the bytes that it costs; `Some(None)` for a
/// computed value, and `None` if the constant cannot be read.
pub(super) fn widened(model: &Model, value: ValueId, to: DType) -> Option<Option<(Edit, u64)>> {
    let Some((place, tensor)) = model.stated_tensor(value) else {
        return Some(None);
    };
    let narrow = model.content(tensor).ok()?;
    let cast = Cast::new(narrow.dtype(), to, Rules::default()).ok()?;
    let wide = narrow.cast(cast).ok()?.0;
    let edit = Edit::ReplaceTensor {
        place,
        with: wide.replace_in(tensor),
        check_width: false,
    };
    Some(Some((edit, wide.bytes().saturating_sub(narrow.bytes()))))
}
