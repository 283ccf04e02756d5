//! What distinguishes nodes that a runtime computes right from others, besides types and attributes:
//! constants, and lengths that follow from attributes and shapes. `facts/runs/features.py` has the
//! same for the models that are run.

use super::node::{AttributeValue, Node};

/// Whether lines of `facts/runs/` depend on constants of an operator.
pub(super) fn reads_constants(op: &str) -> bool {
    matches!(op, "DFT" | "GatherND" | "Resize" | "ScatterND" | "Tile") || op.starts_with("Reduce")
}

/// Whether all indices of a `GatherND` or `ScatterND` count from the `front` of their axes, or that
/// is `unknown`, or some do not.
pub(super) fn indices(constant: Option<&[f64]>) -> &'static str {
    match constant {
        Some(indices) if indices.iter().all(|&index| index >= 0.0) => "front",
        _ => "unknown",
    }
}

/// Of how many inputs of an operator lines of `facts/runs/` depend on the shape.
pub(super) fn shapes_read(op: &str) -> usize {
    if matches!(op, "MatMul" | "PRelu") || op.starts_with("Reduce") {
        2
    } else {
        1
    }
}

/// Whether all strides of a convolution or pooling are `one`, or some are `more`.
pub(super) fn steps(node: &dyn Node) -> &'static str {
    match node.attribute("strides") {
        Some(AttributeValue::Ints(strides)) if strides.iter().any(|&stride| stride != 1) => "more",
        _ => "one",
    }
}

/// Whether a recurrent operator has the activations of ONNX's `default`, stated or not, or `other`
/// ones.
pub(super) fn gates(op: &str, node: &dyn Node) -> &'static str {
    let default: &[&str] = match op {
        "LSTM" => &["Sigmoid", "Tanh", "Tanh"],
        "GRU" => &["Sigmoid", "Tanh"],
        _ => &["Tanh"],
    };
    match node.attribute("activations") {
        None => "default",
        // Those of each direction.
        Some(AttributeValue::Strings(names))
            if names.chunks(default.len()).all(|of_one| of_one == default) =>
        {
            "default"
        }
        Some(_) => "other",
    }
}

/// Whether the second input of a `MatMul` has batches, but `fewer` axes than the first one; else
/// `other`. None if it depends on an unknown rank.
pub(super) fn batches(
    shape: Option<&[Option<i64>]>,
    second: Option<&[Option<i64>]>,
) -> Option<&'static str> {
    let (rank, second) = (shape?.len(), second?.len());
    Some(if (3..rank).contains(&second) {
        "fewer"
    } else {
        "other"
    })
}

/// Whether the slope of a `PRelu` has one element for each of the `channels` on axis 1, or one in
/// all; or other `elements`. Its last axis is the last one of the input, as it is from opset 7 on.
/// None if it depends on an unknown rank or length.
pub(super) fn slope(
    shape: Option<&[Option<i64>]>,
    slope: Option<&[Option<i64>]>,
) -> Option<&'static str> {
    // How far from the end the channels are.
    let channels = shape?.len().checked_sub(2);
    let lengths = slope?.iter().rev().enumerate();
    let others: Vec<Option<i64>> = lengths
        .filter(|&(from_end, _)| Some(from_end) != channels)
        .map(|(_, &length)| length)
        .collect();
    if others.iter().flatten().any(|&length| length != 1) {
        return Some("elements");
    }
    (!others.contains(&None)).then_some("channels")
}

/// Where the last window of a pooling with `ceil_mode` = 1 begins, along the axis where it matters:
/// in the `input` or the padding before it; in the `padding` after it, where ONNX leaves the window
/// out; or `unknown`, since it depends on a length.
pub(super) fn last_window(node: &dyn Node, shape: Option<&[Option<i64>]>) -> &'static str {
    let ints = |name: &str| match node.attribute(name) {
        Some(AttributeValue::Ints(ints)) => ints,
        _ => &[],
    };
    let rounds_up = node.attribute("ceil_mode") == Some(AttributeValue::Int(1));
    let is_padded = match node.attribute("auto_pad") {
        Some(AttributeValue::String(mode)) => mode == "NOTSET",
        _ => true,
    };
    if !rounds_up || !is_padded {
        return "input";
    }
    let (kernel, pads) = (ints("kernel_shape"), ints("pads"));
    let mut found = "input";
    for (axis, &size) in kernel.iter().enumerate() {
        let one_of = |name: &str| ints(name).get(axis).copied().unwrap_or(1).max(1);
        let pad = |index: usize| pads.get(index).copied().unwrap_or(0);
        let window = Window {
            step: one_of("strides"),
            extent: one_of("dilations")
                .saturating_mul(size.saturating_sub(1))
                .saturating_add(1),
            before: pad(axis),
            after: pad(axis + kernel.len()),
        };
        if window.step.saturating_add(window.after) <= window.extent {
            continue;
        }
        match shape.and_then(|shape| shape.get(axis + 2).copied().flatten()) {
            None => found = "unknown",
            Some(length) if window.ends_in_padding(length) => return "padding",
            Some(_) => {}
        }
    }
    found
}

/// The windows along an axis.
struct Window {
    step: i64,
    /// The length of the input that a window spans.
    extent: i64,
    before: i64,
    after: i64,
}

impl Window {
    /// Whether rounding up gives a window that begins after the input.
    fn ends_in_padding(&self, length: i64) -> bool {
        let padded = length.saturating_add(self.before);
        let free = padded
            .saturating_add(self.after)
            .saturating_sub(self.extent);
        let start = (free / self.step)
            .saturating_add(1)
            .saturating_mul(self.step);
        free >= 0 && free % self.step != 0 && start >= padded
    }
}

/// Which axes a reduction names: `all`; three or more, of which those before the last two have more
/// than two elements together, at the end of the shape or beside lengths of 1 (`last`), or others
/// (`apart`); or `few`. `unknown` if it depends on unknown axes or lengths.
///
/// `axes` are those of an attribute or a constant; `input` is the shape of the input for them, if
/// the node has it.
pub(super) fn reduced(
    shape: Option<&[Option<i64>]>,
    axes: Option<&[i64]>,
    input: Option<Option<&[Option<i64>]>>,
) -> &'static str {
    let Some(axes) = axes else {
        return match input {
            None => "few",
            Some(Some(&[Some(count)])) if count <= 2 => "few",
            Some(_) => "unknown",
        };
    };
    let Some(shape) = shape else {
        return if axes.len() <= 2 { "few" } else { "unknown" };
    };
    let rank = shape.len();
    let from_front = |axis: &i64| usize::try_from(axis.rem_euclid(rank.max(1) as i64)).unwrap_or(0);
    let axes: Vec<usize> = axes.iter().map(from_front).collect();
    if rank > 1 && axes.len() == rank {
        return "all";
    }
    let before = &axes[..axes.len().saturating_sub(2)];
    let lengths = before
        .iter()
        .map(|&axis| shape.get(axis).copied().flatten());
    let known = lengths.clone().flatten().fold(1, i64::saturating_mul);
    let is_known = lengths.flatten().count() == before.len();
    if shape.contains(&Some(0)) || is_known && known <= 2 {
        return "few";
    }
    let mut others = (0..rank).filter(|axis| !axes.contains(axis));
    let ends = (rank - axes.len().min(rank)..rank).all(|axis| axes.contains(&axis));
    match known {
        _ if ends || others.all(|axis| shape[axis] == Some(1)) => "last",
        0..=2 => "unknown",
        _ => "apart",
    }
}

/// Whether the images that a `Resize` takes have `one` row and several columns, or `more` rows.
pub(super) fn rows(shape: Option<&[Option<i64>]>) -> &'static str {
    match shape {
        Some(&[.., Some(1), width]) if width != Some(1) => "one",
        _ => "more",
    }
}

/// Whether the lengths that a `Resize` computes from `scales` are whole numbers before they are
/// rounded down: `whole`, `fraction`, or `unknown`, since it depends on the input.
pub(super) fn scaled_length(
    node: &dyn Node,
    shape: Option<&[Option<i64>]>,
    scales: Option<&[f64]>,
    has_sizes: bool,
) -> &'static str {
    if has_sizes {
        return "whole";
    }
    let Some(scales) = scales else {
        return "unknown";
    };
    let axes = match node.attribute("axes") {
        Some(AttributeValue::Ints(axes)) => Some(axes),
        _ => None,
    };
    let mut found = "whole";
    for (index, &scale) in scales
        .iter()
        .enumerate()
        .filter(|(_, scale)| scale.fract() != 0.0)
    {
        let axis = axes.map_or(Some(index), |axes| usize::try_from(*axes.get(index)?).ok());
        let length = axis.and_then(|axis| shape?.get(axis).copied().flatten());
        match length {
            None => found = "unknown",
            Some(length) if (length as f32 * scale as f32).fract() != 0.0 => return "fraction",
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(shape: &[i64]) -> Vec<Option<i64>> {
        shape
            .iter()
            .map(|&length| (length >= 0).then_some(length))
            .collect()
    }

    #[test]
    fn matrices_of_fewer_batches_are_told_apart() {
        let cases = [
            (4, 3, "fewer"),
            (4, 4, "other"),
            (4, 2, "other"),
            (3, 4, "other"),
        ];
        for (first, second, expected) in cases {
            let [first, second] = [first, second].map(|rank| vec![None; rank]);
            assert_eq!(batches(Some(&first), Some(&second)), Some(expected));
        }
        assert_eq!(batches(None, Some(&[None; 3])), None);
    }

    #[test]
    fn constant_indices_from_the_front_are_told_apart() {
        let cases: &[(Option<&[f64]>, &str)] = &[
            (Some(&[0.0, 2.0]), "front"),
            (Some(&[]), "front"),
            (Some(&[1.0, -1.0]), "unknown"),
            (None, "unknown"),
        ];
        for &(constant, expected) in cases {
            assert_eq!(indices(constant), expected, "{constant:?}");
        }
    }

    /// Lengths of -1 are unknown.
    #[test]
    fn axes_of_which_elements_are_skipped_are_told_apart() {
        let cases: &[(&[i64], &[i64], &str)] = &[
            (&[3, 2, 4, 2], &[0, 2, 3], "apart"),
            (&[3, 2, 4, 2], &[-4, -2, -1], "apart"),
            (&[3, 2, 4, 2], &[3, 2, 0], "few"),
            (&[3, 2, 4, 2], &[0, 2], "few"),
            (&[2, 2, 3, 4], &[0, 1, 2], "few"),
            (&[2, 2, 3, 4], &[2, 1, 0], "apart"),
            (&[2, 3, 4, 2], &[1, 2, 3], "last"),
            (&[2, 2, 4, 2], &[1, 2, 3], "few"),
            (&[3, 1, 4, 1], &[0, 2, 3], "last"),
            (&[2, 2, 2, 2, 5], &[0, 1, 2, 3], "apart"),
            (&[3, 0, 4, 2], &[0, 2, 3], "few"),
            (&[3, 2, 2], &[0, 1, 2], "all"),
            (&[3, 2], &[1, 0], "all"),
            (&[3], &[0], "few"),
            (&[3, 2], &[], "few"),
            (&[-1, 2, 4, 2], &[0, 2, 3], "unknown"),
            (&[-1, 2, 4, 2], &[3, 2, 0], "few"),
            (&[3, -1, 4, 2], &[0, 2, 3], "apart"),
            (&[2, 4, -1, -1], &[1, 2, 3], "last"),
            (&[], &[], "few"),
        ];
        let found: Vec<&str> = cases
            .iter()
            .map(|&(shape, axes, _)| reduced(Some(&lengths(shape)), Some(axes), None))
            .collect();
        let expected: Vec<&str> = cases.iter().map(|case| case.2).collect();
        assert_eq!(found, expected);
        // Of unknown rank; without axes; with a number of computed ones.
        assert_eq!(reduced(None, Some(&[0, 1]), None), "few");
        assert_eq!(reduced(None, Some(&[0, 1, 2]), None), "unknown");
        assert_eq!(reduced(Some(&lengths(&[3, 2])), None, None), "few");
        let computed = |count: &[Option<i64>]| reduced(None, None, Some(Some(count)));
        assert_eq!(computed(&[Some(2)]), "few");
        assert_eq!(computed(&[Some(3)]), "unknown");
        assert_eq!(computed(&[None]), "unknown");
        assert_eq!(reduced(None, None, Some(None)), "unknown");
    }

    #[test]
    fn images_of_one_row_are_told_apart() {
        let found = [
            &[1, 1, 1, 4][..],
            &[1, 1, 1, -1],
            &[1, 1, 1, 1],
            &[1, 1, 2, 4],
            &[1, 1, -1, 4],
            &[4],
        ];
        let found = found.map(|shape| rows(Some(&lengths(shape))));
        assert_eq!(found, ["one", "one", "more", "more", "more", "more"]);
        assert_eq!(rows(None), "more");
    }
}
