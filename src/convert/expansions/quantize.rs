//! Quantization and products of quantized matrices, in terms of integers of 32 bits and floats.

use super::rounding::rounded;
use super::{Expansion, by_definition, exact, fill, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{
    Code, NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported, TooLarge, TypeUnsupported,
};
use onnx_cast::{Class, DType};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("DequantizeLinear", 10, dequantize),
    exact("DequantizeLinear", 13, dequantize_axis).against(&PER_AXIS),
    exact("DequantizeLinear", 21, dequantize_blocks),
    by_definition("DynamicQuantizeLinear", 11, dynamic_quantize),
    exact("MatMulInteger", 10, matmul_integer),
    exact("ConvInteger", 10, conv_integer),
    by_definition("QLinearConv", 10, quantized_conv),
    by_definition("QLinearMatMul", 10, quantized_matmul),
    by_definition("QLinearMatMul", 21, wider_scales),
    exact("QuantizeLinear", 10, quantize),
    exact("QuantizeLinear", 13, quantize_axis).against(&PER_AXIS),
    exact("QuantizeLinear", 21, quantize_blocks),
];

/// Before opset 13 scales are those of whole tensors.
const PER_AXIS: [Code; 2] = [ShapeUnknown, ShapeUnsupported];

/// The sums of products of bytes that FLOAT represents exactly have at most this many terms: 255 *
/// 255 * 258 < 2^24.
const MOST_EXACT_TERMS: i64 = 258;

/// The longest axis whose blocks become a constant.
const LONGEST_AXIS: i64 = 1 << 16;

/// The least and the greatest number of a type of 8 or 16 bits.
fn range_of(dtype: DType) -> Result<(i64, i64), Reason> {
    match (dtype.class(), dtype.bits()) {
        (Class::Unsigned, bits @ 1..=16) => Ok((0, (1 << bits) - 1)),
        (Class::Signed, bits @ 1..=16) => Ok((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => Err(Reason::new(
            TypeUnsupported,
            format!("quantization to {dtype} has no equivalent"),
        )),
    }
}

fn quantize(cx: &Context) -> Result<String, Reason> {
    let integers = to_integers(cx, cx.output_dtype(0)?, 2)?;
    Ok(format!(
        "given = Cast <to = 1> (x) scaled = Div (given, y_scale) {integers}"
    ))
}

/// Rounds `scaled` and adds the zero point, saturating.
fn to_integers(cx: &Context, dtype: DType, zero_point: usize) -> Result<String, Reason> {
    let (least, greatest) = range_of(dtype)?;
    Ok(format!(
        "{}
         {}
         clipped = Clip <min: float = {least}.0, max: float = {greatest}.0> (shifted)
         y = Cast <to = {}> (clipped)",
        rounded("scaled", "whole", "float", DType::Float),
        shifted(cx, "whole", "y_zero_point", zero_point),
        dtype.number(),
    ))
}

/// Adds a zero point, if the node has one, to floats.
fn shifted(cx: &Context, value: &str, zero_point: &str, index: usize) -> String {
    match cx.input(index) {
        Some(_) => {
            format!("zero_point = Cast <to = 1> ({zero_point}) shifted = Add ({value}, zero_point)")
        }
        None => format!("shifted = Identity ({value})"),
    }
}

fn dequantize(cx: &Context) -> Result<String, Reason> {
    Ok(format!(
        "{} number = Cast <to = 1> (centred_x) y = Mul (number, x_scale)",
        centred(cx, "x", "x_zero_point", 2)
    ))
}

/// A value minus its zero point, if the node has one, as INT32.
fn centred(cx: &Context, value: &str, zero_point: &str, index: usize) -> String {
    match cx.input(index) {
        Some(_) => format!(
            "given_{value} = Cast <to = 6> ({value})
             zero_of_{value} = Cast <to = 6> ({zero_point})
             centred_{value} = Sub (given_{value}, zero_of_{value})\n"
        ),
        None => format!("centred_{value} = Cast <to = 6> ({value})\n"),
    }
}

/// A zero point of each row or channel as a column of the tensor whose last `behind` axes follow
/// that axis.
fn column(cx: &Context, name: &str, index: usize, behind: usize) -> Result<String, Reason> {
    let shape = match cx.input(index) {
        Some(_) => cx.known_input(index).shape,
        None => Some(Vec::new()),
    };
    match shape.as_deref() {
        Some([] | [Some(1)]) => Ok(format!("column_{name} = Identity ({name})\n")),
        Some([_]) if behind == 0 => Ok(format!("column_{name} = Identity ({name})\n")),
        Some([_]) if cx.to < 13 => Ok(format!(
            "column_{name} = Unsqueeze <axes: ints = [{}]> ({name})\n",
            list(1..=behind)
        )),
        Some([_]) => Ok(format!(
            "axes_{name} = Constant <value = int64[{behind}] {{{}}}> ()
             column_{name} = Unsqueeze ({name}, axes_{name})\n",
            list(1..=behind)
        )),
        Some(_) => Err(Reason::new(
            ShapeUnsupported,
            format!("'{name}' has more than one axis"),
        )),
        None => Err(Reason::new(
            ShapeUnknown,
            format!("the shape of '{name}' is unknown"),
        )),
    }
}

fn matmul_integer(cx: &Context) -> Result<String, Reason> {
    let mut body = String::new();
    if cx.input(2).is_some() {
        body += &column(cx, "a_zero_point", 2, 1)?;
    }
    body += &centred(cx, "A", "column_a_zero_point", 2);
    body += &centred(cx, "B", "b_zero_point", 3);
    Ok(body + &product(cx, ["centred_A", "centred_B"], "Y"))
}

/// The product of matrices of differences of 8 bits. Before opset 9, `MatMul` has no INT32: DOUBLE
/// has the sums of fewer than 2^36 products, of which INT32 keeps the low bits.
fn product(cx: &Context, [left, right]: [&str; 2], result: &str) -> String {
    if cx.source.settings.opset >= 9 {
        return format!("{result} = MatMul ({left}, {right})\n");
    }
    format!(
        "wide_{left} = Cast <to = 11> ({left})
         wide_{right} = Cast <to = 11> ({right})
         wide_product = MatMul (wide_{left}, wide_{right})
         long_product = Cast <to = 7> (wide_product)
         {result} = Cast <to = 6> (long_product)\n"
    )
}

fn quantized_matmul(cx: &Context) -> Result<String, Reason> {
    one_number_each(cx, &[1, 2, 4, 5, 6, 7])?;
    let body = format!(
        "{} {} {}
         number = Cast <to = 1> (product)
         {}",
        centred(cx, "a", "a_zero_point", 2),
        centred(cx, "b", "b_zero_point", 5),
        product(cx, ["centred_a", "centred_b"], "product"),
        requantized(cx, "a_scale", "b_scale")?,
    );
    Ok(body)
}

/// The scales as FLOAT, which holds those of FLOAT16 and BFLOAT16. The definition multiplies and
/// divides numbers.
fn wider_scales(cx: &Context) -> Result<String, Reason> {
    if !matches!(cx.dtype(1)?, DType::Float16 | DType::Bfloat16) {
        return Err(Reason::new(
            TypeUnsupported,
            "scales of these types are not supported before opset 21",
        ));
    }
    Ok("float_a_scale = Cast <to = 1> (a_scale)
        float_b_scale = Cast <to = 1> (b_scale)
        float_y_scale = Cast <to = 1> (y_scale)
        y = QLinearMatMul (a, float_a_scale, a_zero_point, b, float_b_scale, b_zero_point, float_y_scale, y_zero_point)"
        .to_owned())
}

/// `number` times both scales, quantized as the output.
fn requantized(cx: &Context, left: &str, right: &str) -> Result<String, Reason> {
    let integers = to_integers(cx, cx.dtype(7)?, 7)?;
    if cx.dtype(1)? != DType::Float {
        return Err(Reason::new(
            TypeUnsupported,
            "scales that are not FLOAT are not supported before opset 21",
        ));
    }
    Ok(format!(
        "both_scales = Mul ({left}, {right})
         scale = Div (both_scales, y_scale)
         scaled = Mul (number, scale)
         {integers}"
    ))
}

/// Checks that scales and zero points are those of whole tensors.
fn one_number_each(cx: &Context, inputs: &[usize]) -> Result<(), Reason> {
    for &index in inputs {
        match cx.known_input(index).static_shape() {
            Some(shape) if shape.iter().all(|&dim| dim == 1) => {}
            Some(_) => {
                return Err(Reason::new(
                    ShapeUnsupported,
                    format!("{} has more than one element", cx.describe(index)),
                ));
            }
            None => {
                return Err(Reason::new(
                    ShapeUnknown,
                    format!("the shape of {} is unknown", cx.describe(index)),
                ));
            }
        }
    }
    Ok(())
}

fn conv_integer(cx: &Context) -> Result<String, Reason> {
    let spatial = terms_are_exact(cx, 1)?;
    let mut body = String::new();
    if cx.input(3).is_some() {
        body += &column(cx, "w_zero_point", 3, spatial + 1)?;
    }
    body += &centred(cx, "x", "x_zero_point", 2);
    body += &centred(cx, "w", "column_w_zero_point", 3);
    Ok(format!(
        "{body} {} y = Cast <to = 6> (sums)",
        convolved(cx)?
    ))
}

fn quantized_conv(cx: &Context) -> Result<String, Reason> {
    let spatial = terms_are_exact(cx, 3)?;
    one_number_each(cx, &[1, 2, 6, 7])?;
    let mut body =
        column(cx, "w_zero_point", 5, spatial + 1)? + &column(cx, "w_scale", 4, spatial)?;
    body += &centred(cx, "x", "x_zero_point", 2);
    body += &centred(cx, "w", "column_w_zero_point", 5);
    body += &convolved(cx)?;
    body += &match cx.input(8) {
        Some(_) => format!(
            "bias = Unsqueeze <axes: ints = [{}]> (B) products = Cast <to = 6> (sums) sum = Add (products, bias) number = Cast <to = 1> (sum)\n",
            list(1..=spatial)
        ),
        None => "number = Identity (sums)\n".to_owned(),
    };
    Ok(body + &requantized(cx, "x_scale", "column_w_scale")?)
}

/// A convolution of floats that are integers; padding is zero, as the zero point is subtracted
/// before.
fn convolved(cx: &Context) -> Result<String, Reason> {
    let mut attributes = format!("group: int = {}", cx.int_or("group", 1)?);
    for name in ["dilations", "kernel_shape", "pads", "strides"] {
        if let Some(values) = cx.ints(name)? {
            attributes += &format!(", {name}: ints = [{}]", list(&values));
        }
    }
    if let Some(pad) = cx.string("auto_pad")? {
        attributes += &format!(", auto_pad: string = \"{pad}\"");
    }
    Ok(format!(
        "float_x = Cast <to = 1> (centred_x) float_w = Cast <to = 1> (centred_w) sums = Conv <{attributes}> (float_x, float_w)\n"
    ))
}

/// The number of spatial axes of weights whose products FLOAT sums up exactly.
fn terms_are_exact(cx: &Context, weights: usize) -> Result<usize, Reason> {
    let shape = cx.known_input(weights).shape.unwrap_or_default();
    let terms = shape.get(1..).and_then(|dims| {
        dims.iter()
            .try_fold(1, |product: i64, dim| product.checked_mul((*dim)?))
    });
    let terms =
        terms.ok_or_else(|| Reason::new(ShapeUnknown, "the shape of the weights is unknown"))?;
    if terms <= MOST_EXACT_TERMS && shape.len() > 2 {
        Ok(shape.len() - 2)
    } else {
        Err(Reason::new(
            TooLarge,
            format!(
                "FLOAT represents sums of at most {MOST_EXACT_TERMS} products exactly, and each result is the sum of {terms}"
            ),
        ))
    }
}

/// ONNX's definition divides the range by 255, and the numbers by this scale. The range of zeros
/// alone is 0: their scale is 1, as in onnxruntime, so that they are not divided by 0.
fn dynamic_quantize(_: &Context) -> Result<String, Reason> {
    let body = "
        zero = Constant <value = float {0}> ()
        greatest = Constant <value = float {255}> ()
        lowest_x = ReduceMin <keepdims: int = 0> (x)
        low = Min (lowest_x, zero)
        highest_x = ReduceMax <keepdims: int = 0> (x)
        high = Max (highest_x, zero)
        range = Sub (high, low)
        has_range = Greater (range, zero)
        has_none = Not (has_range)
        none = Cast <to = 1> (has_none)
        in_its_place = Mul (none, greatest)
        divided = Add (range, in_its_place)
        scale = Div (divided, greatest)
        low_scaled = Div (low, scale)
        origin = Sub (zero, low_scaled)
        clipped = Clip <min: float = 0.0, max: float = 255.0> (origin)
        $rounded
        point = Cast <to = 2> (whole)
        y_scale = Identity (scale)
        y_zero_point = Identity (point)
        y = QuantizeLinear (x, scale, point)";
    Ok(fill(
        body,
        &[(
            "rounded",
            &rounded("clipped", "whole", "float", DType::Float),
        )],
    ))
}

/// The scale and the zero point of the block of each element. Without blocks, the older version
/// lacks the type.
fn of_each_element(
    cx: &Context,
    quantized: DType,
    scale: &str,
    zero_point: &str,
) -> Result<String, Reason> {
    let block = cx.int_or("block_size", 0)?;
    if block == 0 {
        return Err(Reason::new(
            TypeUnsupported,
            format!("{quantized} is not supported before opset 21"),
        ));
    }
    if block < 0 {
        return Err(Reason::new(
            NodeInvalid,
            format!("`block_size` = {block} is negative"),
        ));
    }
    let shape = cx
        .known_input(0)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the input is unknown"))?;
    let axis = counted_from_front(vec![cx.int_or("axis", 1)?], shape.len())?[0];
    let of_axis = |shape: &[Option<i64>]| {
        usize::try_from(axis)
            .ok()
            .and_then(|axis| shape.get(axis).copied().flatten())
    };
    let length = of_axis(&shape)
        .ok_or_else(|| Reason::new(ShapeUnknown, "the length of the quantized axis is unknown"))?;
    let scales = cx
        .known_input(1)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the scale is unknown"))?;
    let blocks = of_axis(&scales)
        .ok_or_else(|| Reason::new(ShapeUnknown, "the number of blocks is unknown"))?;
    if scales.len() != shape.len() || (length - 1) / block >= blocks.max(1) {
        return Err(Reason::new(
            NodeInvalid,
            format!("the scale does not have one element for each block of {block} elements"),
        ));
    }
    if length > LONGEST_AXIS {
        return Err(Reason::new(
            TooLarge,
            format!("the quantized axis has more than {LONGEST_AXIS} elements"),
        ));
    }
    let mut body = format!(
        "blocks = Constant <value = int64[{length}] {{{}}}> ()
         scales = Gather <axis: int = {axis}> ({scale}, blocks)\n",
        list((0..length).map(|place| place / block))
    );
    if cx.input(2).is_some() {
        body += &format!("zeros = Gather <axis: int = {axis}> ({zero_point}, blocks)\n");
    }
    Ok(body)
}

/// Each block has a scale, and a zero point. The differences of INT8 and UINT8 are exact in half
/// floats too.
fn dequantize_blocks(cx: &Context) -> Result<String, Reason> {
    let (given, scale) = (cx.dtype(0)?, cx.dtype(1)?);
    if is_plain_of_16_bits(cx, given)? && scale == DType::Float {
        return dequantize_axis(cx);
    }
    let blocks = of_each_element(cx, given, "x_scale", "x_zero_point")?;
    if !matches!(given.class(), Class::Signed | Class::Unsigned)
        || (given.bits() > 8 && scale != DType::Float)
    {
        return Err(Reason::new(
            TypeUnsupported,
            format!("blocks of {given} with scales of {scale} have no equivalent"),
        ));
    }
    let body = "
        $blocks
        $centred
        number = Cast <to = $T> (centred_x)
        y = Mul (number, scales)";
    Ok(fill(
        body,
        &[
            ("blocks", &blocks),
            ("centred", &centred(cx, "x", "zeros", 2)),
            ("T", &scale.number()),
        ],
    ))
}

/// Whether the values are INT16 or UINT16, without blocks, and of a tensor whose older version lacks
/// only the type. INT32 holds the differences of such numbers, which have 17 bits, and so does
/// FLOAT. It holds the sums of a zero point and a rounded quotient that are in the range of the
/// type; other sums stay out of range.
fn is_plain_of_16_bits(cx: &Context, dtype: DType) -> Result<bool, Reason> {
    let is_integer = matches!(dtype.class(), Class::Signed | Class::Unsigned);
    Ok(is_integer && dtype.bits() == 16 && cx.int_or("block_size", 0)? == 0)
}

/// The scale and the zero point of each slice along `axis`, as columns of the tensor. The axis of a
/// scale of one element has no meaning.
fn of_each_slice(cx: &Context, scale: &str, zero_point: &str) -> Result<String, Reason> {
    if let Some([] | [Some(1)]) = cx.known_input(1).shape.as_deref() {
        let mut body = column(cx, scale, 1, 0)?;
        if cx.input(2).is_some() {
            body += &column(cx, zero_point, 2, 0)?;
        }
        return Ok(body);
    }
    let behind = cx.axes_behind(cx.int_or("axis", 1)?)?;
    let mut body = column(cx, scale, 1, behind)?;
    if cx.input(2).is_some() {
        body += &column(cx, zero_point, 2, behind)?;
    }
    Ok(body)
}

/// The difference of INT8, UINT8 and their zero points is exact; INT32 has none.
fn dequantize_axis(cx: &Context) -> Result<String, Reason> {
    Ok(format!(
        "{}{}
         number = Cast <to = 1> (centred_x)
         y = Mul (number, column_x_scale)",
        of_each_slice(cx, "x_scale", "x_zero_point")?,
        centred(cx, "x", "column_x_zero_point", 2),
    ))
}

/// Rounds without `Round` if the opset to convert to lacks it: the sign of a zero has no effect.
fn quantize_axis(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.output_dtype(0)?;
    let (least, greatest) = range_of(dtype)?;
    let whole = if cx.source.settings.opset < 11 {
        rounded("scaled", "whole", "float", DType::Float)
    } else {
        "whole = Round (scaled)".to_owned()
    };
    Ok(format!(
        "{}
         given = Cast <to = 1> (x)
         scaled = Div (given, column_y_scale)
         {whole}
         {}
         least = Constant <value = float {{{least}}}> ()
         greatest = Constant <value = float {{{greatest}}}> ()
         clipped = Clip (shifted, least, greatest)
         y = Cast <to = {}> (clipped)",
        of_each_slice(cx, "y_scale", "y_zero_point")?,
        shifted(cx, "whole", "column_y_zero_point", 2),
        dtype.number()
    ))
}

fn quantize_blocks(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.output_dtype(0)?;
    if is_plain_of_16_bits(cx, dtype)?
        && [0, 1].map(|index| cx.dtype(index).ok()) == [Some(DType::Float); 2]
    {
        return quantize_axis(cx);
    }
    let blocks = of_each_element(cx, dtype, "y_scale", "y_zero_point")?;
    let (least, greatest) = range_of(dtype)?;
    if cx.dtype(0)? != DType::Float || cx.dtype(1)? != DType::Float {
        return Err(Reason::new(
            TypeUnsupported,
            "the rounding of other types than FLOAT has no equivalent",
        ));
    }
    let body = "
        $blocks
        scaled = Div (x, scales)
        whole = Round (scaled)
        $shifted
        least = Constant <value = float {$least}> ()
        greatest = Constant <value = float {$greatest}> ()
        clipped = Clip (shifted, least, greatest)
        y = Cast <to = $to> (clipped)";
    let shifted = shifted(cx, "whole", "zeros", 2);
    Ok(fill(
        body,
        &[
            ("blocks", &blocks),
            ("shifted", &shifted),
            ("least", &least),
            ("greatest", &greatest),
            ("to", &dtype.number()),
        ],
    ))
}
