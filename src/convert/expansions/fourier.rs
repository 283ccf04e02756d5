//! Discrete Fourier transforms, as products of a signal with matrices of sines and cosines.

use std::f64::consts::TAU;

use super::{Expansion, by_definition, fill, list, type_name};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{AttributeUnsupported, NodeInvalid, Reason, ShapeUnknown};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("DFT", 17, dft),
    by_definition("STFT", 17, stft),
];

/// The most elements of a constant matrix.
const MOST_ELEMENTS: i64 = 1 << 14;

/// The longest constant list of numbers.
const LONGEST_LIST: i64 = 1 << 16;

/// A transform along one axis of a signal, whose last dimension holds a real number, or a real and
/// an imaginary part.
struct Transform {
    rank: usize,
    axis: usize,
    is_complex: bool,
    is_inverse: bool,
    is_onesided: bool,
    dtype: DType,
}

fn dft(cx: &Context) -> Result<String, Reason> {
    let shape = cx
        .known_input(0)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the input is unknown"))?;
    let transform = Transform::new(
        cx,
        shape.len(),
        cx.int_or("axis", 1)?,
        cx.int_or("onesided", 0)? != 0,
    )?;
    let given = shape[transform.axis];
    if transform.is_inverse && transform.is_onesided {
        let length = match cx.input(1) {
            Some(_) => known_number(cx, 1),
            None => given.map(|bins| 2_i64.saturating_mul(bins - 1)),
        };
        let unknown = || Reason::new(ShapeUnknown, "the length of the signal is unknown");
        let (given, length) = given.zip(length).ok_or_else(unknown)?;
        return transform.real_signal(given, length);
    }
    let Some(_) = cx.input(1) else {
        return Ok(format!(
            "{}output = Identity (spectrum)",
            transform.body("input", (given, given), "length = Identity (given)")
        ));
    };
    let length = known_number(cx, 1);
    // A longer axis is cut; a shorter one needs no zeros, since they would be multiplied.
    let cut = match (given, length) {
        (Some(given), Some(length)) if given <= length => "cut = Identity (input)\n",
        _ => {
            "start = Constant <value = int64[1] {0}> ()
             axis = Constant <value = int64[1] {$axis}> ()
             cut = Slice (input, start, end, axis)\n"
        }
    };
    let body = "
        list = Constant <value = int64[1] {-1}> ()
        long_length = Cast <to = 7> (dft_length)
        end = Reshape (long_length, list)
        length = Squeeze (end)\n";
    let samples = given.zip(length).map(|(given, length)| given.min(length));
    let cut = fill(cut, &[("axis", &transform.axis)]);
    Ok(format!(
        "{body}{cut}{}output = Identity (spectrum)",
        transform.body("cut", (samples, length), "")
    ))
}

/// The frames are gathered from the signal.
fn stft(cx: &Context) -> Result<String, Reason> {
    if !matches!(cx.known_input(0).rank(), None | Some(2 | 3)) {
        return Err(Reason::new(NodeInvalid, "the signal must have rank 2 or 3"));
    }
    cx.expect_number(1)?;
    let transform = Transform::new(cx, 4, 2, cx.int_or("onesided", 1)? != 0)?;
    let (length, define_length) = match (cx.input(3), cx.input(2)) {
        (Some(_), _) => (
            known_number(cx, 3),
            "long_length = Cast <to = 7> (frame_length) length = Reshape (long_length, scalar)",
        ),
        (None, Some(_)) => (
            cx.dim(2, 0),
            "window_shape = Shape (window) length = Squeeze (window_shape)",
        ),
        (None, None) => (cx.dim(0, 1), "length = Identity (samples)"),
    };
    let window = match cx.input(2) {
        Some(_) => {
            "window_column = Reshape (window, column_shape) framed = Mul (frames, window_column)"
        }
        None => "framed = Identity (frames)",
    };
    let places = match (cx.dim(0, 1), length, known_number(cx, 1)) {
        (Some(samples), Some(length), Some(step)) if length <= samples && step > 0 => {
            frames(samples, length, step)
        }
        _ => None,
    };
    let places = places.unwrap_or_else(|| {
        format!(
            "slack = Sub (samples, length)
             steps = Div (slack, step)
             count = Add (steps, next)
             numbers = Range (first, count, next)
             starts = Mul (numbers, step)
             start_column = Reshape (starts, column_shape)
             {}
             places = Add (start_column, offsets)",
            numbers("offsets", length, "first, length, next")
        )
    });
    Ok(format!(
        "scalar = Constant <value = int64[0] {{}}> ()
         column_shape = Constant <value = int64[2] {{-1, 1}}> ()
         first = Constant <value = int64 {{0}}> ()
         next = Constant <value = int64 {{1}}> ()
         dims = Shape (signal)
         samples = Gather <axis: int = 0> (dims, next)
         {define_length}
         long_step = Cast <to = 7> (frame_step)
         step = Reshape (long_step, scalar)
         {places}
         frames = Gather <axis: int = 1> (signal, places)
         {window}
         {}output = Identity (spectrum)",
        transform.body("framed", (length, length), "")
    ))
}

/// The number that an input holds, if it is known.
fn known_number(cx: &Context, index: usize) -> Option<i64> {
    match cx.read_ints(index).ok()?.as_slice() {
        &[number] => Some(number),
        _ => None,
    }
}

/// The numbers from zero on: a constant, if their count is known, or a `Range` of computed bounds.
fn numbers(name: &str, count: Option<i64>, range: &str) -> String {
    match count.filter(|count| (0..=LONGEST_LIST).contains(count)) {
        Some(count) => format!(
            "{name} = Constant <value = int64[{count}] {{{}}}> ()",
            list(0..count)
        ),
        None => format!("{name} = Range ({range})"),
    }
}

/// The places of the samples of each frame, as a constant, or as the sum of two.
fn frames(samples: i64, length: i64, step: i64) -> Option<String> {
    let count = (samples - length) / step + 1;
    let starts = (0..count).map(|frame| frame * step);
    if count
        .checked_mul(length)
        .is_some_and(|places| places <= MOST_ELEMENTS)
    {
        let places = starts.flat_map(|start| start..start + length);
        return Some(format!(
            "places = Constant <value = int64[{count},{length}] {{{}}}> ()",
            list(places)
        ));
    }
    let is_short = count <= LONGEST_LIST && length <= LONGEST_LIST;
    is_short.then(|| {
        format!(
            "start_column = Constant <value = int64[{count},1] {{{}}}> ()
             {}
             places = Add (start_column, offsets)",
            list(starts),
            numbers("offsets", Some(length), "")
        )
    })
}

/// The cosine and the sine of a part of a circle.
fn point_of_circle(number: i64, length: i64) -> (f64, f64) {
    if (4 * i128::from(number)).checked_rem(length.into()) == Some(0) {
        [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][(4 * number / length) as usize % 4]
    } else {
        let (sine, cosine) = (TAU * number as f64 / length as f64).sin_cos();
        (cosine, sine)
    }
}

/// A number as the text writes the nearest one of a type.
fn nearest(number: f64, dtype: DType) -> String {
    match dtype {
        DType::Float16 => format!("{:?}", half::f16::from_f64(number).to_f32()),
        DType::Bfloat16 => format!("{:?}", half::bf16::from_f64(number).to_f32()),
        DType::Float => format!("{:?}", number as f32),
        _ => format!("{number:?}"),
    }
}

impl Transform {
    fn new(cx: &Context, rank: usize, axis: i64, is_onesided: bool) -> Result<Transform, Reason> {
        let axis = counted_from_front(vec![axis], rank)?[0];
        let axis = usize::try_from(axis).ok().filter(|&axis| axis + 1 < rank);
        let is_complex = match cx.last_dim(0) {
            Some(1) => false,
            Some(2) => true,
            Some(_) => {
                return Err(Reason::new(
                    NodeInvalid,
                    "the last dimension of the input must be 1 or 2",
                ));
            }
            None => {
                return Err(Reason::new(
                    ShapeUnknown,
                    "it is unknown whether the signal is complex: its last dimension is unknown",
                ));
            }
        };
        Ok(Transform {
            rank,
            axis: axis.ok_or_else(|| {
                Reason::new(
                    NodeInvalid,
                    format!("`axis` is out of range for rank {rank}"),
                )
            })?,
            is_complex,
            is_inverse: cx.int_or("inverse", 0)? != 0,
            is_onesided,
            dtype: cx.dtype(0)?,
        })
    }

    /// The axes of the signal, without that of the parts of a number, with the axis of the transform
    /// as the last one; and those that turn them back.
    fn permutations(&self) -> [Vec<usize>; 2] {
        let last = self.rank - 2;
        let others = (0..=last).filter(|&axis| axis != self.axis);
        let mut back: Vec<usize> = (0..last).collect();
        back.insert(self.axis, last);
        [others.chain([self.axis]).collect(), back]
    }

    /// The real signal of this length, from the first half of its bins: each bin but the first one,
    /// and the middle one of an even number, stands for two. Rows of pairs are multiplied with a
    /// matrix.
    fn real_signal(&self, given: i64, length: i64) -> Result<String, Reason> {
        let bins = given.min(length / 2 + 1);
        let is_small = (1..=LONGEST_LIST).contains(&length) && 2 * bins * length <= LONGEST_LIST;
        if !self.is_complex || bins < 1 || !is_small {
            return Err(Reason::new(
                AttributeUnsupported,
                "`inverse` and `onesided` are both set, and the signal is real, empty or long",
            ));
        }
        let row = |bin: i64, part: usize| {
            let is_single = bin == 0 || 2 * bin == length;
            let times = if is_single { 1.0 } else { 2.0 } / length as f64;
            (0..length).map(move |sample| {
                let (cosine, sine) = point_of_circle(bin * sample % length, length);
                times * [cosine, -sine][part]
            })
        };
        let matrix = (0..bins)
            .flat_map(|bin| [(bin, 0), (bin, 1)])
            .flat_map(|(bin, part)| row(bin, part))
            .map(|number| nearest(number, self.dtype));
        let before = self.rank - 2;
        let [to_last, back] = self.permutations().map(|mut axes| {
            axes.push(self.rank - 1);
            axes
        });
        let shape = |ends: &[i64]| list([vec![0; before], ends.to_vec()].concat());
        let body = "
            start = Constant <value = int64[1] {0}> ()
            end = Constant <value = int64[1] {$bins}> ()
            axis = Constant <value = int64[1] {$axis}> ()
            used = Slice (input, start, end, axis)
            in_rows = Transpose <perm: ints = [$to_last]> (used)
            row_shape = Constant <value = int64[$row_rank] {$rows}> ()
            rows = Reshape (in_rows, row_shape)
            matrix = Constant <value = $T[$numbers, $length] {$matrix}> ()
            samples = MatMul (rows, matrix)
            column_shape = Constant <value = int64[$rank] {$columns}> ()
            columns = Reshape (samples, column_shape)
            output = Transpose <perm: ints = [$back]> (columns)";
        let parameters: &[(&str, &dyn std::fmt::Display)] = &[
            ("bins", &bins),
            ("axis", &self.axis),
            ("to_last", &list(&to_last)),
            ("row_rank", &(before + 1)),
            ("rows", &shape(&[2 * bins])),
            ("T", &type_name(self.dtype)),
            ("numbers", &(2 * bins)),
            ("length", &length),
            ("matrix", &list(matrix)),
            ("rank", &self.rank),
            ("columns", &shape(&[length, 1])),
            ("back", &list(&back)),
        ];
        Ok(fill(body, parameters))
    }

    /// Computes `spectrum` from a signal, for numbers of given samples and of the transform, as far
    /// as they are known. The latter is `length`, which is defined before, or by `define_length`.
    fn body(
        &self,
        signal: &str,
        (given, length): (Option<i64>, Option<i64>),
        define_length: &str,
    ) -> String {
        let mut body = "
            samples_first = Constant <value = int64 {0}> ()
            samples_next = Constant <value = int64 {1}> ()
            axis_index = Constant <value = int64 {$axis}> ()
            signal_shape = Shape ($signal)
            given = Gather <axis: int = 0> (signal_shape, axis_index)
            $define_length
            $matrices
            real = Gather <axis: int = $last> ($signal, samples_first)
            real_rows = Transpose <perm: ints = [$to_last]> (real)
            real_cosines = MatMul (real_rows, cosines)
            real_sines = MatMul (real_rows, sines)\n"
            .to_owned();
        if self.is_complex {
            body += "
                imaginary = Gather <axis: int = $last> ($signal, samples_next)
                imaginary_rows = Transpose <perm: ints = [$to_last]> (imaginary)
                imaginary_cosines = MatMul (imaginary_rows, cosines)
                imaginary_sines = MatMul (imaginary_rows, sines)\n";
        }
        body += match (self.is_complex, self.is_inverse) {
            (false, false) => {
                "sum_real = Identity (real_cosines) sum_imaginary = Neg (real_sines)\n"
            }
            (false, true) => {
                "sum_real = Identity (real_cosines) sum_imaginary = Identity (real_sines)\n"
            }
            (true, false) => {
                "sum_real = Add (real_cosines, imaginary_sines) sum_imaginary = Sub (imaginary_cosines, real_sines)\n"
            }
            (true, true) => {
                "sum_real = Sub (real_cosines, imaginary_sines) sum_imaginary = Add (imaginary_cosines, real_sines)\n"
            }
        };
        body += if self.is_inverse {
            "divisor = Cast <to = $to> (length)
                 bins_real = Div (sum_real, divisor)
                 bins_imaginary = Div (sum_imaginary, divisor)\n"
        } else {
            "bins_real = Identity (sum_real) bins_imaginary = Identity (sum_imaginary)\n"
        };
        body += "
            last_axis = Constant <value = int64[1] {$last}> ()
            turned_real = Transpose <perm: ints = [$back]> (bins_real)
            turned_imaginary = Transpose <perm: ints = [$back]> (bins_imaginary)
            part_real = Unsqueeze (turned_real, last_axis)
            part_imaginary = Unsqueeze (turned_imaginary, last_axis)
            spectrum = Concat <axis: int = $last> (part_real, part_imaginary)\n";
        let signal_axes = self.rank - 1;
        let [to_last, back] = self.permutations();
        let define_length = match length.filter(|_| !define_length.is_empty()) {
            Some(length) => format!("length = Constant <value = int64 {{{length}}}> ()"),
            None => define_length.to_owned(),
        };
        let body = fill(
            &body,
            &[
                ("matrices", &self.matrices(given, length)),
                ("define_length", &define_length),
            ],
        );
        fill(
            &body,
            &[
                ("signal", &signal),
                ("axis", &self.axis),
                ("last", &signal_axes),
                ("to_last", &list(&to_last)),
                ("back", &list(&back)),
                ("to", &self.dtype.number()),
            ],
        )
    }

    /// `cosines` and `sines`: a row for each sample, a column for each bin. If they are not
    /// constants, angles are computed in FLOAT at least, of whole numbers that are reduced first.
    fn matrices(&self, given: Option<i64>, length: Option<i64>) -> String {
        let bins = length.map(|length| {
            if self.is_onesided {
                length / 2 + 1
            } else {
                length
            }
        });
        if let (Some(given), Some(length), Some(bins)) = (given, length, bins)
            && length > 0
            && given
                .checked_mul(bins)
                .is_some_and(|elements| (1..=MOST_ELEMENTS).contains(&elements))
        {
            let turns =
                (0..given).flat_map(|sample| (0..bins).map(move |bin| sample * bin % length));
            let points: Vec<(f64, f64)> = turns.map(|turn| point_of_circle(turn, length)).collect();
            let constant = |name: &str, part: fn(&(f64, f64)) -> f64| {
                let elements = list(points.iter().map(|point| nearest(part(point), self.dtype)));
                format!(
                    "{name} = Constant <value = {}[{given},{bins}] {{{elements}}}> ()\n",
                    type_name(self.dtype)
                )
            };
            return constant("cosines", |point| point.0) + &constant("sines", |point| point.1);
        }
        // Half floats have too few digits for angles.
        let wide = if self.dtype == DType::Double {
            DType::Double
        } else {
            DType::Float
        };
        let count = if self.is_onesided {
            "halves = Constant <value = int64 {2}> ()
                 half_length = Div (length, halves)
                 bins = Add (half_length, samples_next)"
        } else {
            "bins = Identity (length)"
        };
        let step_angle = match length.filter(|&length| length > 0) {
            Some(length) => format!(
                "step_angle = Constant <value = $T {{{}}}> ()",
                nearest(TAU / length as f64, wide)
            ),
            None => "length_float = Cast <to = $wide> (length)
                     circle = Constant <value = $T {6.283185307179586}> ()
                     step_angle = Div (circle, length_float)"
                .to_owned(),
        };
        let body = "
            $sample_numbers
            sample_shape = Constant <value = int64[2] {-1, 1}> ()
            sample_column = Reshape (sample_numbers, sample_shape)
            $count
            $bin_numbers
            products = Mul (sample_column, bin_numbers)
            turns = Mod (products, length)
            turns_float = Cast <to = $wide> (turns)
            $step_angle
            angles = Mul (turns_float, step_angle)
            wide_cosines = Cos (angles)
            wide_sines = Sin (angles)
            cosines = Cast <to = $to> (wide_cosines)
            sines = Cast <to = $to> (wide_sines)";
        fill(
            body,
            &[
                (
                    "sample_numbers",
                    &numbers(
                        "sample_numbers",
                        given,
                        "samples_first, given, samples_next",
                    ),
                ),
                (
                    "bin_numbers",
                    &numbers("bin_numbers", bins, "samples_first, bins, samples_next"),
                ),
                ("count", &count),
                (
                    "step_angle",
                    &fill(
                        &step_angle,
                        &[("wide", &wide.number()), ("T", &type_name(wide))],
                    ),
                ),
                ("wide", &wide.number()),
            ],
        )
    }
}
