//! What contested operators compute, by the text of ONNX and in onnxruntime: for computation,
//! inference and conversion.

use onnx_cast::Contested;

/// A result by the text of ONNX, and that of onnxruntime.
#[derive(Debug, PartialEq)]
pub struct Readings<T> {
    /// By the text.
    pub text: T,
    /// In onnxruntime.
    pub runtime: T,
    /// Why they are contested, if they are.
    pub why: Option<&'static str>,
}

impl<T> Readings<T> {
    /// Readings that are contested if they differ, for this reason.
    fn of(text: T, runtime: T, why: &'static str) -> Readings<T>
    where
        T: PartialEq,
    {
        let why = (text != runtime).then_some(why);
        Readings { text, runtime, why }
    }

    /// The result on which all agree, or the chosen one; otherwise why it is contested.
    pub fn choose(self, contested: Option<Contested>) -> Result<T, &'static str> {
        match (self.why, contested) {
            (Some(why), None) => Err(why),
            (Some(_), Some(Contested::Runtime)) => Ok(self.runtime),
            (Some(_), Some(Contested::Text)) | (None, _) => Ok(self.text),
        }
    }
}

/// Why `Squeeze` with an empty list of axes is contested, unless the input has no axis of length 1.
pub const SQUEEZE_WITHOUT_AXES: &str = "an empty list of axes removes no axis by the text of ONNX, and all axes of length 1 in onnxruntime";

/// Why the shape of a `PRelu` is contested whose slope does not broadcast to the input.
pub const LARGER_SLOPE: &str = "the slope does not broadcast to the input, which ONNX does not admit; onnxruntime broadcasts both";

/// Why the shape is contested of a pooling or a convolution with both `auto_pad` and `pads`.
pub const PADS_BESIDE_AUTO_PAD: &str = "ONNX does not admit pads beside auto_pad; its shape inference takes the pads, and onnxruntime auto_pad";

const BEFORE_THE_FIRST: &str = "the slice goes backward from before the first index; onnxruntime returns the first element, numpy and onnx's reference evaluator nothing";
const TO_THE_LARGEST: &str = "the slice goes backward to the largest integer, which is beyond the last index by the text of ONNX and before the first one in onnxruntime";
const COUNTED_IN_DOUBLES: &str =
    "onnxruntime counts the elements in DOUBLE, which does not have all of these integers";

/// The first index of a slice of an axis, and the number of indices; `None` if the step is zero.
/// Slices with a negative step are contested in two cases:
///
/// 1. The start is before the first index. Since opset 13 the text moves it to the first index, as
///    onnxruntime does in all versions; numpy, to which older texts refer, and onnx's reference
///    evaluator return nothing.
/// 2. The end is the largest number of 32 or 64 bits. By the text that is beyond the last index, so
///    that nothing is returned; onnxruntime takes it for the end in the direction of the step.
pub fn slice(
    dim: i64,
    [start, end, step]: [i64; 3],
    since_version: i64,
) -> Option<Readings<(i64, i64)>> {
    if step == 0 {
        return None;
    }
    let is_backward = step < 0;
    let counted = |index: i64| {
        if index < 0 {
            index.saturating_add(dim)
        } else {
            index
        }
    };
    let (low, high) = if is_backward { (-1, dim - 1) } else { (0, dim) };
    let range = |end: i64| {
        let start = counted(start).clamp(0, high.max(0));
        let end = counted(end).clamp(low, high);
        let span = if is_backward {
            start - end
        } else {
            end - start
        };
        let count = if span <= 0 || dim == 0 {
            0
        } else {
            (span - 1) / step.saturating_abs() + 1
        };
        (if count == 0 { 0 } else { start }, count)
    };
    let (in_range, nothing) = (range(end), (0, 0));
    let is_to_largest = is_backward && is_largest(end);
    let runtime = if is_to_largest {
        range(i64::MIN)
    } else {
        in_range
    };
    if is_backward && counted(start) < 0 && runtime != nothing {
        let text = if since_version < 13 {
            nothing
        } else {
            in_range
        };
        return Some(Readings {
            text,
            runtime,
            why: Some(BEFORE_THE_FIRST),
        });
    }
    Some(Readings::of(in_range, runtime, TO_THE_LARGEST))
}

/// Whether a slice is contested for some length of the axis.
pub fn slice_may_be_contested([start, end, step]: [i64; 3]) -> bool {
    // The last index, -1, is before the first one of no axis that has elements.
    step < 0 && (start < -1 || is_largest(end))
}

fn is_largest(end: i64) -> bool {
    [i32::MAX.into(), i64::MAX].contains(&end)
}

/// The number of elements of a `Range` of integers; `None` if the step is zero.
pub fn range_length([start, limit, step]: [i128; 3]) -> Option<Readings<i128>> {
    if step == 0 {
        return None;
    }
    let span = if step > 0 {
        limit - start
    } else {
        start - limit
    };
    let text = if span <= 0 {
        0
    } else {
        (span - 1) / step.abs() + 1
    };
    let runtime = ((limit as f64 - start as f64) / step as f64)
        .ceil()
        .max(0.0) as i128;
    Some(Readings::of(text, runtime, COUNTED_IN_DOUBLES))
}
