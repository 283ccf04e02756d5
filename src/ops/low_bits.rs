//! The low bits of integers by arithmetic, as `Cast` keeps them.

use onnx_cast::{Class, DType};

/// The nodes that make `output` of `integer`: its low bits as a number of a type, which is the
/// remainder by the number of its values, from which a signed type subtracts that number if it is in
/// the upper half. ONNX text; `integer` has the type `wide`, which has more values, and the result
/// the type `carrier`.
pub(crate) fn low_bits(wide: DType, to: DType, carrier: DType) -> String {
    let (wide, values) = (wide.name().to_lowercase(), 1_i64 << to.bits());
    let (low, turned) = match to.class() {
        Class::Signed => (
            "low",
            format!(
                "half = Constant <value = {wide} {{{}}}> ()
                 shifted = Add (rest, half)
                 turned = Mod (shifted, values)
                 low = Sub (turned, half)",
                values / 2
            ),
        ),
        _ => ("rest", String::new()),
    };
    format!(
        "values = Constant <value = {wide} {{{values}}}> ()
         rest = Mod (integer, values)
         {turned}
         output = Cast <to: int = {}> ({low})",
        carrier.number()
    )
}
