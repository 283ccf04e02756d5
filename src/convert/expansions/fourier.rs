//! Discrete Fourier transforms, as products of a signal with matrices of sines and cosines.

use super::{Expansion, by_definition, fill, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::Code::{AttributeUnsupported, NodeInvalid, ShapeUnknown};
use crate::convert::reason::Reason;
use crate::elements::dtype::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[by_definition("DFT", 17, dft), by_definition("STFT", 17, stft)];

/// A transform along one axis of a signal, whose last dimension holds a real number, or a real and an imaginary part.
struct Transform {
    rank: usize,
    axis: usize,
    is_complex: bool,
    is_inverse: bool,
    is_onesided: bool,
    dtype: DType,
}

fn dft(cx: &Context) -> Result<String, Reason> {
    let shape = cx.known_input(0).shape.ok_or_else(|| ShapeUnknown.because("the rank of the input is unknown"))?;
    let transform = Transform::new(cx, shape.len(), cx.int_or("axis", 1)?, cx.int_or("onesided", 0)? != 0)?;
    if transform.is_inverse && transform.is_onesided {
        return Err(AttributeUnsupported.because("`inverse` and `onesided` are both set"));
    }
    let Some(_) = cx.input(1) else {
        return Ok(format!("{}output = Identity (spectrum)", transform.body("input", "length = Identity (given)")));
    };
    // A longer axis is cut; a shorter one needs no zeros, since they would be multiplied.
    let cut = "
        list = Constant <value = int64[1] {-1}> ()
        long_length = Cast <to = 7> (dft_length)
        end = Reshape (long_length, list)
        start = Constant <value = int64[1] {0}> ()
        axis = Constant <value = int64[1] {$axis}> ()
        cut = Slice (input, start, end, axis)
        length = Squeeze (end)\n";
    let cut = fill(cut, &[("axis", &transform.axis.to_string())]);
    Ok(format!("{cut}{}output = Identity (spectrum)", transform.body("cut", "")))
}

/// The frames are gathered from the signal.
fn stft(cx: &Context) -> Result<String, Reason> {
    let transform = Transform::new(cx, 4, 2, cx.int_or("onesided", 1)? != 0)?;
    let length = match (cx.input(3), cx.input(2)) {
        (Some(_), _) => "long_length = Cast <to = 7> (frame_length) length = Reshape (long_length, scalar)",
        (None, Some(_)) => "window_shape = Shape (window) length = Squeeze (window_shape)",
        (None, None) => "length = Identity (samples)",
    };
    let window = match cx.input(2) {
        Some(_) => "window_column = Reshape (window, column_shape) framed = Mul (frames, window_column)",
        None => "framed = Identity (frames)",
    };
    Ok(format!(
        "scalar = Constant <value = int64[0] {{}}> ()
         column_shape = Constant <value = int64[2] {{-1, 1}}> ()
         first = Constant <value = int64 {{0}}> ()
         next = Constant <value = int64 {{1}}> ()
         dims = Shape (signal)
         samples = Gather <axis: int = 0> (dims, next)
         {length}
         long_step = Cast <to = 7> (frame_step)
         step = Reshape (long_step, scalar)
         slack = Sub (samples, length)
         steps = Div (slack, step)
         count = Add (steps, next)
         numbers = Range (first, count, next)
         starts = Mul (numbers, step)
         start_column = Reshape (starts, column_shape)
         offsets = Range (first, length, next)
         places = Add (start_column, offsets)
         frames = Gather <axis: int = 1> (signal, places)
         {window}
         {}output = Identity (spectrum)",
        transform.body("framed", "")
    ))
}

impl Transform {
    fn new(cx: &Context, rank: usize, axis: i64, is_onesided: bool) -> Result<Transform, Reason> {
        let axis = counted_from_front(vec![axis], rank)?[0];
        let axis = usize::try_from(axis).ok().filter(|&axis| axis + 1 < rank);
        let parts = cx.known_input(0).shape.and_then(|shape| shape.last().copied().flatten());
        let is_complex = match parts {
            Some(1) => false,
            Some(2) => true,
            Some(_) => return Err(NodeInvalid.because("the last dimension of the input must be 1 or 2")),
            None => return Err(ShapeUnknown.because("it is unknown whether the signal is complex: its last dimension is unknown")),
        };
        Ok(Transform {
            rank,
            axis: axis.ok_or_else(|| NodeInvalid.because(format!("`axis` is out of range for rank {rank}")))?,
            is_complex,
            is_inverse: cx.int_or("inverse", 0)? != 0,
            is_onesided,
            dtype: cx.dtype(0)?,
        })
    }

    /// Computes `spectrum` from a signal, for the number of samples `length`, which is defined before, or by `define_length`. Angles are
    /// computed in FLOAT at least, of whole numbers that are reduced first.
    fn body(&self, signal: &str, define_length: &str) -> String {
        let mut body = "
            samples_first = Constant <value = int64 {0}> ()
            samples_next = Constant <value = int64 {1}> ()
            axis_index = Constant <value = int64 {$axis}> ()
            signal_shape = Shape ($signal)
            given = Gather <axis: int = 0> (signal_shape, axis_index)
            $define_length
            sample_numbers = Range (samples_first, given, samples_next)
            sample_shape = Constant <value = int64[2] {-1, 1}> ()
            sample_column = Reshape (sample_numbers, sample_shape)
            $bins
            bin_numbers = Range (samples_first, bins, samples_next)
            products = Mul (sample_column, bin_numbers)
            turns = Mod (products, length)
            turns_float = Cast <to = $wide> (turns)
            length_float = Cast <to = $wide> (length)
            circle = Constant <value = $T {6.283185307179586}> ()
            step_angle = Div (circle, length_float)
            angles = Mul (turns_float, step_angle)
            wide_cosines = Cos (angles)
            wide_sines = Sin (angles)
            cosines = Cast <to = $to> (wide_cosines)
            sines = Cast <to = $to> (wide_sines)
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
            (false, false) => "sum_real = Identity (real_cosines) sum_imaginary = Neg (real_sines)\n",
            (false, true) => "sum_real = Identity (real_cosines) sum_imaginary = Identity (real_sines)\n",
            (true, false) => "sum_real = Add (real_cosines, imaginary_sines) sum_imaginary = Sub (imaginary_cosines, real_sines)\n",
            (true, true) => "sum_real = Sub (real_cosines, imaginary_sines) sum_imaginary = Add (imaginary_cosines, real_sines)\n",
        };
        body += match self.is_inverse {
            false => "bins_real = Identity (sum_real) bins_imaginary = Identity (sum_imaginary)\n",
            true => {
                "divisor = Cast <to = $to> (length)
                 bins_real = Div (sum_real, divisor)
                 bins_imaginary = Div (sum_imaginary, divisor)\n"
            }
        };
        body += "
            last_axis = Constant <value = int64[1] {$last}> ()
            turned_real = Transpose <perm: ints = [$back]> (bins_real)
            turned_imaginary = Transpose <perm: ints = [$back]> (bins_imaginary)
            part_real = Unsqueeze (turned_real, last_axis)
            part_imaginary = Unsqueeze (turned_imaginary, last_axis)
            spectrum = Concat <axis: int = $last> (part_real, part_imaginary)\n";
        let bins = match self.is_onesided {
            true => {
                "halves = Constant <value = int64 {2}> ()
                 half_length = Div (length, halves)
                 bins = Add (half_length, samples_next)"
            }
            false => "bins = Identity (length)",
        };
        // Half floats have too few digits for angles.
        let wide = if self.dtype == DType::Double { DType::Double } else { DType::Float };
        let signal_axes = self.rank - 1;
        let to_last: Vec<usize> = (0..signal_axes).filter(|&axis| axis != self.axis).chain([self.axis]).collect();
        let mut back: Vec<usize> = (0..signal_axes - 1).collect();
        back.insert(self.axis, signal_axes - 1);
        fill(
            &fill(&body, &[("bins", bins), ("define_length", define_length)]),
            &[
                ("signal", signal),
                ("axis", &self.axis.to_string()),
                ("last", &signal_axes.to_string()),
                ("to_last", &list(&to_last)),
                ("back", &list(&back)),
                ("wide", &(wide.number()).to_string()),
                ("to", &(self.dtype.number()).to_string()),
                ("T", &wide.name().to_lowercase()),
            ],
        )
    }
}
