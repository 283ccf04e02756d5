//! Convolutions, pooling, resizing, sampling.

use super::dims::{ONE, Shapes, of_rank, size};
use crate::ops::inference::known::{Dim, Dims, Fact, sizes};
use crate::ops::inference::length::Length;
use crate::ops::inference::view::View;
use crate::ops::readings::{PADS_BESIDE_AUTO_PAD, Readings};

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let shape = match view.schema.name {
        "AffineGrid" => affine_grid(view),
        "AveragePool" | "LpPool" => pooled(view),
        "Col2Im" => Some(of_rank(2 + view.length(1)?)),
        "Conv" | "ConvInteger" => convolved(view, 0, 1),
        "ConvTranspose" => transposed(view),
        "DFT" => dft(view),
        "DeformConv" => convolved(view, 0, 1),
        "GlobalAveragePool" | "GlobalLpPool" | "GlobalMaxPool" => global(view.input(0)),
        "GridSample" => grid_sample(view),
        "MaxPool" => return Some(vec![pooled(view); 2]),
        "MaxRoiPool" => Some(vec![view.dim(1, 0), view.dim(0, 1), None, None]),
        "MaxUnpool" => view.rank(0).map(of_rank),
        "QLinearConv" => convolved(view, 0, 3),
        "Resize" | "Upsample" => resized(view),
        "RoiAlign" => roi_align(view),
        "STFT" => Some(vec![view.dim(0, 0), None, None, size(2)]),
        _ => return None,
    };
    Some(vec![shape])
}

fn global(input: &Fact) -> Option<Dims> {
    let shape = input.shape.as_ref()?;
    Some(
        shape
            .iter()
            .take(2)
            .copied()
            .chain(shape.iter().skip(2).map(|_| ONE))
            .collect(),
    )
}

/// How a window moves over the spatial axes.
struct Window {
    kernel: Vec<Dim>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    padding: Padding,
}

/// The elements around the input.
#[derive(Clone, Debug, PartialEq)]
enum Padding {
    /// So many at both ends of each axis, together.
    Pads(Vec<i64>),
    /// So many that there is a position for each stride.
    Same,
}

impl Window {
    /// None if an attribute is not known or does not fit.
    fn of(view: &View, kernel: Vec<Dim>) -> Option<Window> {
        let axes = kernel.len();
        let list = |name: &str, default: i64, length: usize| match view.attribute(name) {
            None => Some(vec![default; length]),
            Some(given) => given
                .map(|given| given.ints.clone())
                .filter(|given| given.len() == length),
        };
        let (strides, dilations) = (list("strides", 1, axes)?, list("dilations", 1, axes)?);
        let pads = list("pads", 0, 2 * axes)?;
        let is_padded = pads.iter().any(|&pad| pad != 0);
        let pads: Option<Vec<i64>> = (0..axes)
            .map(|axis| pads[axis].checked_add(pads[axes + axis]))
            .collect();
        let given = Padding::Pads(pads?);
        let auto_pad = match view.attribute("auto_pad") {
            None => given.clone(),
            Some(auto_pad) => match auto_pad?.s() {
                b"NOTSET" | b"" => given.clone(),
                b"VALID" => Padding::Pads(vec![0; axes]),
                b"SAME_UPPER" | b"SAME_LOWER" => Padding::Same,
                _ => return None,
            },
        };
        // Pads of 0 are those of a node without the attribute.
        let padding = if is_padded && given != auto_pad {
            view.choose(Readings {
                text: given,
                runtime: auto_pad,
                why: Some(PADS_BESIDE_AUTO_PAD),
            })?
        } else {
            auto_pad
        };
        Some(Window {
            kernel,
            strides,
            dilations,
            padding,
        })
    }

    /// The number of positions of the window along an axis.
    fn positions(&self, axis: usize, length: Dim) -> Dim {
        let (length, stride) = (length?.size()?, self.strides[axis]);
        if stride <= 0 {
            return None;
        }
        let reach = self.kernel[axis]?
            .size()?
            .checked_sub(1)?
            .checked_mul(self.dilations[axis])?
            .checked_add(1)?;
        let Padding::Pads(pads) = &self.padding else {
            return Some(Length::Size(length.checked_add(stride - 1)? / stride));
        };
        let room = length.checked_add(pads[axis])?.checked_sub(reach)?;
        if room < 0 {
            None
        } else {
            (room / stride).checked_add(1).map(Length::Size)
        }
    }
}

fn pooled(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let head = || shape.iter().take(2).copied();
    let rest = shape.len().saturating_sub(2);
    let kernel = view
        .ints("kernel_shape")
        .filter(|kernel| kernel.len() == rest)
        .map(sizes);
    // Rounding up differs between the versions.
    let window = kernel
        .filter(|_| view.int_or("ceil_mode", 0) == Some(0))
        .and_then(|kernel| Window::of(view, kernel));
    let spatial = |axis: usize| {
        window
            .as_ref()
            .and_then(|window| window.positions(axis, shape[axis + 2]))
    };
    Some(head().chain((0..rest).map(spatial)).collect())
}

fn convolved(view: &View, input: usize, weights: usize) -> Option<Dims> {
    let rank = view.rank(input).or(view.rank(weights))?;
    let axes = rank.saturating_sub(2);
    let kernel: Vec<Dim> = match view.attribute("kernel_shape") {
        Some(given) => given.map_or(vec![None; axes], |given| sizes(&given.ints)),
        None => (0..axes).map(|axis| view.dim(weights, axis + 2)).collect(),
    };
    let window = Some(kernel)
        .filter(|kernel| kernel.len() == axes)
        .and_then(|kernel| Window::of(view, kernel));
    let spatial = |axis: usize| {
        window
            .as_ref()
            .and_then(|window| window.positions(axis, view.dim(input, axis + 2)))
    };
    let spatial: Vec<Dim> = (0..axes).map(spatial).collect();
    Some(
        [view.dim(input, 0), view.dim(weights, 0)]
            .into_iter()
            .chain(spatial)
            .take(rank)
            .collect(),
    )
}

fn transposed(view: &View) -> Option<Dims> {
    let rank = view.rank(0).or(view.rank(1))?;
    let features = view
        .size_or("group", 1)
        .zip(view.dim(1, 1))
        .and_then(|(group, features)| group.checked_mul(features));
    Some(
        [view.dim(0, 0), features]
            .into_iter()
            .chain(std::iter::repeat(None))
            .take(rank)
            .collect(),
    )
}

fn resized(view: &View) -> Option<Dims> {
    let shape = view.shape(0)?;
    let (sizes, policy) = (view.values(3), view.attribute("keep_aspect_ratio_policy"));
    match sizes {
        Some(sizes)
            if sizes.len() == shape.len()
                && view.attribute("axes").is_none()
                && policy.is_none() =>
        {
            Some(sizes)
        }
        _ => Some(of_rank(shape.len())),
    }
}

fn affine_grid(view: &View) -> Option<Dims> {
    let rank = view.length(1)?;
    let axes = rank.checked_sub(2)?;
    let target = view.values_or_unknown(1)?;
    let batch = target.first().copied().flatten().or(view.dim(0, 0));
    Some(
        [batch]
            .into_iter()
            .chain(target.into_iter().skip(2))
            .chain([size(axes)])
            .collect(),
    )
}

fn grid_sample(view: &View) -> Option<Dims> {
    let rank = view.rank(0).or(view.rank(1))?;
    let places = (1..rank.checked_sub(1)?).map(|axis| view.dim(1, axis));
    Some(
        [view.dim(0, 0), view.dim(0, 1)]
            .into_iter()
            .chain(places)
            .collect(),
    )
}

fn roi_align(view: &View) -> Option<Dims> {
    Some(vec![
        view.dim(1, 0),
        view.dim(0, 1),
        view.size_or("output_height", 1),
        view.size_or("output_width", 1),
    ])
}

/// The last axis has the real and imaginary part; the length of the transformed one may change.
fn dft(view: &View) -> Option<Dims> {
    let mut shape = of_rank(view.rank(0)?);
    *shape.last_mut()? = match (view.int_or("onesided", 0)?, view.int_or("inverse", 0)?) {
        (0, _) | (_, 0) => size(2),
        _ => None,
    };
    Some(shape)
}
