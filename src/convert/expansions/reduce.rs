//! Reductions over computed axes: one reduction over each combination of axes that the input can
//! have, of which one is computed.

use super::{Expansion, exact, list};
use crate::convert::context::Context;
use crate::convert::reason::{Code, NotConstant, Overridable, Reason, ShapeUnknown, TooLarge};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare", 18, reduce)
        .against(&COMPUTED),
    exact("ReduceSum", 13, reduce).against(&COMPUTED),
];

const COMPUTED: [Code; 2] = [NotConstant, Overridable];

/// The most combinations; each is a node in a branch of its own.
const MOST_COMBINATIONS: usize = 20;

/// The sum of a power of two for each axis tells the combinations apart. Axes that count from the
/// back have the same powers.
fn reduce(cx: &Context) -> Result<String, Reason> {
    let rank = cx.rank(0)?;
    let count = match cx.known_input(1).static_shape().as_deref() {
        Some(&[count]) if count > 0 => usize::try_from(count).ok().filter(|&count| count <= rank),
        _ => None,
    };
    let count = count
        .ok_or_else(|| Reason::new(ShapeUnknown, "the number of computed axes must be known"))?;
    let combinations = combinations(rank, count);
    let combinations = combinations.ok_or_else(|| {
        Reason::new(
            TooLarge,
            format!(
                "{count} computed axes of {rank} have more than {MOST_COMBINATIONS} combinations"
            ),
        )
    })?;
    let keepdims = cx.int_or("keepdims", 1)?;
    let op = cx.node.op_type();
    let reduction = |output: &str, axes: &[usize]| {
        format!(
            "{output} = {op} <axes = [{}], keepdims = {keepdims}> (data)",
            list(axes)
        )
    };
    if let [only] = combinations.as_slice() {
        return Ok(reduction("reduced", only));
    }
    let powers: Vec<i64> = (0..2 * rank).map(|axis| 1 << (axis % rank)).collect();
    let mut body = format!(
        "rank = Constant <value = int64[1] {{{rank}}}> ()
         powers = Constant <value = int64[{}] {{{}}}> ()
         places = Add (axes, rank)
         chosen = Gather <axis = 0> (powers, places)
         sum = ReduceSum <keepdims = 0> (chosen)\n",
        powers.len(),
        list(&powers)
    );
    let last = combinations.len() - 1;
    for (index, axes) in combinations[..last].iter().enumerate() {
        let sum: i64 = axes.iter().map(|&axis| 1 << axis).sum();
        body += &format!(
            "sum_{index} = Constant <value = int64 {{{sum}}}> () is_{index} = Equal (sum, sum_{index})\n"
        );
    }
    let mut branch = reduction(&format!("reduced_{last}"), &combinations[last]);
    for (index, axes) in combinations[..last].iter().enumerate().rev() {
        let output = if index == 0 {
            "reduced".to_owned()
        } else {
            format!("chosen_{index}")
        };
        let other = if index + 1 == last {
            format!("reduced_{last}")
        } else {
            format!("chosen_{}", index + 1)
        };
        let reduced = format!("reduced_{index}");
        branch = format!(
            "{output} = If <then_branch = then_{index} () => ({reduced}) {{ {} }}, else_branch = else_{index} () => ({other}) {{ {branch} }}> (is_{index})",
            reduction(&reduced, axes)
        );
    }
    Ok(body + &branch)
}

/// The combinations of this many of the axes, in order; `None` if there are too many.
fn combinations(rank: usize, count: usize) -> Option<Vec<Vec<usize>>> {
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for place in 0..count {
        let longer = |axes: &Vec<usize>| -> Vec<Vec<usize>> {
            let first = axes.last().map_or(0, |last| last + 1);
            // Enough axes must remain for the places behind this one.
            (first..=rank + place - count)
                .map(|axis| axes.iter().copied().chain([axis]).collect())
                .collect()
        };
        all = all.iter().flat_map(longer).collect();
        if all.len() > MOST_COMBINATIONS {
            return None;
        }
    }
    Some(all)
}
