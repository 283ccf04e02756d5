//! The operators that are evaluated.

use super::node::Node;
use super::value::Value;
use super::{arithmetic, axes, making, selection};

/// The data on which the results of an operator depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The values of all inputs.
    Values,
    /// The type and shape of the first input.
    Shape,
}

/// The data on which the results of an operator of ONNX depend, if the operator is evaluated.
#[must_use]
pub fn needs(operator: &str) -> Option<Needs> {
    function(operator).map(|_| match operator {
        "Shape" | "Size" | "EyeLike" => Needs::Shape,
        _ => Needs::Values,
    })
}

/// The results of a node, by output.
///
/// # Errors
/// If ONNX does not define them, or they are not evaluated.
pub fn results(node: &Node) -> Result<Vec<Value>, String> {
    let function = function(node.schema.name).ok_or("it is not evaluated")?;
    let has_input =
        |index: usize| node.schema.input(index).is_some() || node.optional(index).is_none();
    if !(0..node.inputs.len()).all(has_input) {
        return Err("the node has too many inputs".to_owned());
    }
    function(node)
}

type Function = fn(&Node) -> Result<Vec<Value>, String>;

fn function(operator: &str) -> Option<Function> {
    Some(match operator {
        "Identity" => axes::identity,
        "Reshape" => axes::reshape,
        "Squeeze" => axes::squeeze,
        "Unsqueeze" => axes::unsqueeze,
        "Flatten" => axes::flatten,
        "Transpose" => axes::transpose,
        "Slice" => axes::slice,
        "Split" => axes::split,
        "Expand" => axes::expand,
        "Tile" => axes::tile,
        "Concat" => selection::concat,
        "Gather" => selection::gather,
        "GatherElements" => selection::gather_elements,
        "GatherND" => selection::gather_nd,
        "Pad" => selection::pad,
        "Trilu" => selection::trilu,
        "Where" => selection::choose,
        "OneHot" => making::one_hot,
        "NonZero" => making::non_zero,
        "ConstantOfShape" => making::constant_of_shape,
        "Range" => making::range,
        "Shape" => making::shape,
        "Size" => making::size,
        "EyeLike" => making::eye_like,
        "Add" => arithmetic::add,
        "Sub" => arithmetic::subtract,
        "Mul" => arithmetic::multiply,
        "Div" => arithmetic::divide,
        "Mod" => arithmetic::modulo,
        "Max" => arithmetic::largest,
        "Min" => arithmetic::smallest,
        "Neg" => arithmetic::negate,
        "Abs" => arithmetic::absolute,
        "Sign" => arithmetic::sign,
        "Equal" => arithmetic::equal,
        "Less" => arithmetic::less,
        "LessOrEqual" => arithmetic::less_or_equal,
        "Greater" => arithmetic::greater,
        "GreaterOrEqual" => arithmetic::greater_or_equal,
        "And" | "BitwiseAnd" => arithmetic::and,
        "Or" | "BitwiseOr" => arithmetic::or,
        "Xor" | "BitwiseXor" => arithmetic::xor,
        "Not" | "BitwiseNot" => arithmetic::not,
        "BitShift" => arithmetic::shift,
        "CumSum" => arithmetic::cumulative_sum,
        _ => return None,
    })
}
