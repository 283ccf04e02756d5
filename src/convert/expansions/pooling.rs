//! Pooling with dilations and `ceil_mode`, which older versions lack. Averages: a convolution with
//! ones, divided by the number of elements in the window. Norms: a convolution of powers. Maxima: those of slices, one axis after
//! the other.

use super::{Expansion, by_definition, element_count, exact, fill, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{
    AttributeUnsupported, BehaviourDiffers, NodeInvalid, OutputUnsupported, Reason, ShapeUnknown,
    TooLarge,
};

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("AveragePool", 10, average_pool),
    by_definition("AveragePool", 19, average_pool),
    by_definition("LpPool", 18, lp_pool).against(&[AttributeUnsupported]),
    exact("MaxPool", 10, max_pool),
];

/// The most weights of the convolution.
const MOST_WEIGHTS: i64 = 1 << 14;

/// The most slices of an axis.
const MOST_SLICES: i64 = 64;

/// The windows of a node.
struct Windows {
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// At the start of each axis, then at the end.
    pads: Vec<i64>,
    /// The amount that `ceil_mode` adds to the padding at the end of each axis, so that the
    /// quotient needs no rounding.
    extra: Vec<i64>,
}

impl Windows {
    fn of(cx: &Context) -> Result<Windows, Reason> {
        let axes = cx.required("kernel_shape", |kernel| Some(kernel.ints.len()))?;
        let list = |name: &str, default: i64, length: usize| {
            let values = cx.ints(name)?.unwrap_or_else(|| vec![default; length]);
            if values.len() == length
                && values
                    .iter()
                    .all(|&value| (default..1 << 32).contains(&value))
            {
                Ok(values)
            } else {
                Err(Reason::new(
                    NodeInvalid,
                    format!("`{name}` does not fit `kernel_shape`"),
                ))
            }
        };
        let mut windows = Windows {
            strides: list("strides", 1, axes)?,
            dilations: list("dilations", 1, axes)?,
            pads: list("pads", 0, 2 * axes)?,
            extra: vec![0; axes],
            kernel: list("kernel_shape", 1, axes)?,
        };
        match cx.string("auto_pad")?.as_deref() {
            None | Some("NOTSET" | "") => {}
            _ => windows.pads = vec![0; 2 * axes],
        }
        if cx.int_or("ceil_mode", 0)? != 0 {
            for axis in 0..axes {
                let length = cx.dim(0, axis + 2);
                let length = length.ok_or_else(|| {
                    Reason::new(
                        ShapeUnknown,
                        "with `ceil_mode`, the lengths of the axes must be known",
                    )
                })?;
                windows.extra[axis] = windows.rounded_up(axis, length)?;
            }
        }
        Ok(windows)
    }

    /// The extent of a window along an axis.
    fn reach(&self, axis: usize) -> i128 {
        i128::from(self.kernel[axis] - 1) * i128::from(self.dilations[axis]) + 1
    }

    fn rounded_up(&self, axis: usize, length: i64) -> Result<i64, Reason> {
        let [length, before, after, stride] = [
            length,
            self.pads[axis],
            self.pads[self.kernel.len() + axis],
            self.strides[axis],
        ]
        .map(i128::from);
        let room = length + before + after - self.reach(axis);
        if room < 0 {
            return Err(Reason::new(
                NodeInvalid,
                "a window is larger than the padded input",
            ));
        }
        let last = (room + stride - 1) / stride * stride;
        match i64::try_from(last - room) {
            Ok(extra) if last < length + before => Ok(extra),
            _ => Err(Reason::new(
                BehaviourDiffers,
                "with `ceil_mode`, the last window starts in the padding",
            )),
        }
    }

    /// The padding with what `ceil_mode` adds.
    fn all_pads(&self) -> Vec<i64> {
        let axes = self.kernel.len();
        (0..2 * axes)
            .map(|place| {
                self.pads[place] + place.checked_sub(axes).map_or(0, |axis| self.extra[axis])
            })
            .collect()
    }
}

fn average_pool(cx: &Context) -> Result<String, Reason> {
    let same = cx.string("auto_pad")?.filter(|pad| pad.starts_with("SAME"));
    if same.is_some() && cx.int_or("ceil_mode", 0)? != 0 {
        return Err(Reason::new(
            AttributeUnsupported,
            "`auto_pad` with `ceil_mode` has no equivalent",
        ));
    }
    let windows = Windows::of(cx)?;
    let Sums {
        weights,
        area,
        shared,
        strides,
        attributes,
    } = Sums::of(cx, &windows, same)?;
    let includes_padding = cx.int_or("count_include_pad", 0)? != 0;
    let count = match (
        includes_padding,
        windows.extra.iter().all(|&extra| extra == 0),
    ) {
        (true, true) => "
             area = Constant <value = $T {$area}> ()
             Y = Div (sum, area)"
            .to_owned(),
        // The padding counts, and what `ceil_mode` adds does not.
        (true, false) => {
            let zeros = vec![0; windows.kernel.len()];
            let extra = [zeros.clone(), windows.extra.clone()].concat();
            let all = [
                vec![0; 2],
                windows.pads[..zeros.len()].to_vec(),
                vec![0; 2],
                windows.pads[zeros.len()..].to_vec(),
            ]
            .concat();
            let pad = match cx.to {
                ..=10 => format!(
                    "padded = Pad <pads: ints = [{}], value: float = 1.0> (elements)",
                    list(&all)
                ),
                _ => format!(
                    "all_pads = Constant <value = int64[{}] {{{}}}> () one = Constant <value = $T {{1}}> () padded = Pad (elements, all_pads, one)",
                    all.len(),
                    list(&all)
                ),
            };
            format!(
                "
             shape = Shape (X)
             elements = ConstantOfShape <value = $T[1] {{1}}> (shape)
             {pad}
             count = Conv <{shared}{strides}, pads: ints = [{}]> (padded, weights)
             Y = Div (sum, count)",
                list(&extra)
            )
        }
        (false, _) => "
             shape = Shape (X)
             elements = ConstantOfShape <value = $T[1] {1}> (shape)
             count = Conv <$attributes> (elements, weights)
             Y = Div (sum, count)"
            .to_owned(),
    };
    let body = format!(
        "{weights}
             sum = Conv <$attributes> (X, weights)
             {count}"
    );
    Ok(fill(
        &body,
        &[
            ("T", &type_of(cx, 0)?),
            ("attributes", &attributes),
            ("area", &area),
        ],
    ))
}

/// The root of the sum of powers of magnitudes.
fn lp_pool(cx: &Context) -> Result<String, Reason> {
    let windows = Windows::of(cx)?;
    if cx
        .string("auto_pad")?
        .is_some_and(|pad| pad.starts_with("SAME"))
    {
        return Err(Reason::new(
            AttributeUnsupported,
            "`auto_pad` with dilations or `ceil_mode` has no equivalent",
        ));
    }
    let sums = Sums::of(cx, &windows, None)?;
    let power = cx.int_or("p", 2)?;
    let body = "
        $weights
        magnitudes = Abs (X)
        power = Constant <value = $T {$power}> ()
        powers = Pow (magnitudes, power)
        sum = Conv <$attributes> (powers, weights)
        one = Constant <value = $T {1}> ()
        root = Div (one, power)
        Y = Pow (sum, root)";
    Ok(fill(
        &fill(body, &[("weights", &sums.weights)]),
        &[
            ("T", &type_of(cx, 0)?),
            ("power", &power),
            ("attributes", &sums.attributes),
        ],
    ))
}

/// A convolution that sums the elements of windows.
struct Sums {
    /// The node that makes `weights`, which are ones, of the type `$T`.
    weights: String,
    /// The number of elements in a window.
    area: i64,
    /// The attributes of the groups, the kernel and the dilations.
    shared: String,
    strides: String,
    /// All attributes.
    attributes: String,
}

impl Sums {
    fn of(cx: &Context, windows: &Windows, same: Option<String>) -> Result<Sums, Reason> {
        let channels = cx
            .dim(0, 1)
            .ok_or_else(|| Reason::new(ShapeUnknown, "the number of channels must be known"))?;
        let area = element_count(&windows.kernel).unwrap_or(i64::MAX);
        let count = channels
            .checked_mul(area)
            .filter(|&weights| weights > 0 && weights <= MOST_WEIGHTS);
        let count = count.ok_or_else(|| {
            Reason::new(
                NodeInvalid,
                format!("the convolution would have more than {MOST_WEIGHTS} weights"),
            )
        })?;
        let mut shared = format!(
            "group: int = {channels}, kernel_shape: ints = [{}]",
            list(&windows.kernel)
        );
        shared += &unless_all("dilations", &windows.dilations, 1);
        let strides = unless_all("strides", &windows.strides, 1);
        let attributes = match same {
            Some(pad) => format!("{shared}{strides}, auto_pad: string = \"{pad}\""),
            None => format!(
                "{shared}{}{strides}",
                unless_all("pads", &windows.all_pads(), 0)
            ),
        };
        let dims = [vec![channels, 1], windows.kernel.clone()].concat();
        Ok(Sums {
            weights: format!(
                "weights = Constant <value = $T[{}] {{{}}}> ()",
                list(&dims),
                list(vec![1; count as usize])
            ),
            area,
            shared,
            strides,
            attributes,
        })
    }
}

/// An attribute, unless all of its values are the default.
fn unless_all(name: &str, values: &[i64], default: i64) -> String {
    if values.iter().all(|&value| value == default) {
        String::new()
    } else {
        format!(", {name}: ints = [{}]", list(values))
    }
}

/// The maximum of the slices that begin at each element of the window, then every so many elements
/// as the stride says.
fn max_pool(cx: &Context) -> Result<String, Reason> {
    if cx.has_output(1) {
        return Err(Reason::new(
            OutputUnsupported,
            "the indices have no equivalent",
        ));
    }
    if let Some(pad) = cx.string("auto_pad")?.filter(|pad| pad.starts_with("SAME")) {
        return Err(Reason::new(
            AttributeUnsupported,
            format!("`auto_pad` = '{pad}' has no equivalent with dilations or `ceil_mode`"),
        ));
    }
    let windows = Windows::of(cx)?;
    let axes = windows.kernel.len();
    let pads = windows.all_pads();
    let attributes = format!(
        "kernel_shape: ints = [$kernel]{}",
        unless_all("strides", &windows.strides, 1)
    );
    if windows.dilations.iter().all(|&dilation| dilation == 1) {
        if (0..2 * axes).any(|place| pads[place] >= windows.kernel[place % axes]) {
            return Err(Reason::new(
                AttributeUnsupported,
                "the padding that replaces `ceil_mode` is as large as the window",
            ));
        }
        let attributes = attributes.replace("$kernel", &list(&windows.kernel));
        return Ok(format!(
            "Y = MaxPool <{attributes}{}> (X)",
            unless_all("pads", &pads, 0)
        ));
    }
    let mut body = if pads.iter().all(|&pad| pad == 0) {
        "axis_0 = Identity (X)\n".to_owned()
    } else {
        let all = [
            vec![0; 2],
            pads[..axes].to_vec(),
            vec![0; 2],
            pads[axes..].to_vec(),
        ]
        .concat();
        format!(
            "axis_0 = Pad <pads: ints = [{}], value: float = -inf> (X)\n",
            list(&all)
        )
    };
    for axis in 0..axes {
        if windows.kernel[axis] > MOST_SLICES {
            return Err(Reason::new(
                TooLarge,
                format!("a window has more than {MOST_SLICES} elements along an axis"),
            ));
        }
        let reach = windows.reach(axis);
        let mut slices = Vec::new();
        for place in 0..windows.kernel[axis] {
            let start = i128::from(place * windows.dilations[axis]);
            let end = if start + 1 == reach {
                i64::MAX.into()
            } else {
                start + 1 - reach
            };
            slices.push(format!("slice_{axis}_{place}"));
            body += &format!(
                "slice_{axis}_{place} = Slice <axes: ints = [{}], starts: ints = [{start}], ends: ints = [{end}]> (axis_{axis})\n",
                axis + 2
            );
        }
        body += &format!("axis_{} = Max ({})\n", axis + 1, slices.join(", "));
    }
    let attributes = attributes.replace("$kernel", &list(vec![1; axes]));
    Ok(if windows.strides.iter().all(|&stride| stride == 1) {
        format!("{body} Y = Identity (axis_{axes})")
    } else {
        format!("{body} Y = MaxPool <{attributes}> (axis_{axes})")
    })
}
