//! Random values. They differ from run to run, and between runtimes, even if a seed is stated.

use super::{Expansion, by_definition, fill};
use crate::convert::context::Context;
use crate::convert::reason::Reason;
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[by_definition("Bernoulli", 15, bernoulli)];

/// A uniform value in [0, 1) is less than the probability as often as the probability says.
fn bernoulli(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let uniform = if dtype == DType::Double {
        DType::Double
    } else {
        DType::Float
    };
    let seed = cx
        .float("seed")?
        .map_or_else(String::new, |seed| format!(", seed: float = {seed:?}"));
    let body = "
        probability = Cast <to = $uniform> (input)
        value = RandomUniformLike <high: float = 1, low: float = 0, dtype: int = $uniform$seed> (probability)
        is_one = Less (value, probability)
        output = Cast <to = $to> (is_one)";
    let to = cx.int_or("dtype", dtype.number().into())?;
    Ok(fill(
        body,
        &[("uniform", &uniform.number()), ("seed", &seed), ("to", &to)],
    ))
}
