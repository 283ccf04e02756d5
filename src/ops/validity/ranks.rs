//! Ranks that an operator has in every version.

use super::operation::Operation;

/// Operators, an input, and its rank. Of the weights of GRU, LSTM and RNN onnxruntime does not
/// check it.
const EXACT: &[(&str, usize, usize)] = &[
    ("ConstantOfShape", 0, 1),
    ("DepthToSpace", 0, 4),
    ("EyeLike", 0, 2),
    ("GRU", 0, 3),
    ("Gemm", 0, 2),
    ("Gemm", 1, 2),
    ("LSTM", 0, 3),
    ("RNN", 0, 3),
    ("SpaceToDepth", 0, 4),
];

/// Operators, an input, and the lowest rank that it may have.
const LEAST: &[(&str, usize, usize)] = &[("Det", 0, 2), ("Trilu", 0, 2)];

/// Operators, and two inputs of one rank.
const EQUAL: &[(&str, usize, usize)] = &[
    ("Attention", 0, 1),
    ("Attention", 0, 2),
    ("Conv", 0, 1),
    ("ConvTranspose", 0, 1),
    ("GridSample", 0, 1),
];

pub(super) fn fault(operation: &Operation) -> Option<String> {
    let of_operator = |table: &'static [(&str, usize, usize)]| {
        table
            .iter()
            .filter(|(op, ..)| *op == operation.schema.name && operation.schema.domain.is_empty())
    };
    let input = |index: usize| Some((operation.rank(index)?, operation.name(index)));
    let exact = of_operator(EXACT).find_map(|&(_, index, expected)| {
        let (rank, name) = input(index).filter(|&(rank, _)| rank != expected)?;
        Some(format!("input '{name}' has rank {rank}, not {expected}"))
    });
    let least = || {
        of_operator(LEAST).find_map(|&(_, index, least)| {
            let (rank, name) = input(index).filter(|&(rank, _)| rank < least)?;
            Some(format!(
                "input '{name}' has rank {rank}, and not at least {least}"
            ))
        })
    };
    let equal = || {
        of_operator(EQUAL).find_map(|&(_, left, right)| {
            let ((left, first), (right, second)) = (input(left)?, input(right)?);
            (left != right).then(|| {
                format!("input '{first}' has rank {left}, but '{second}' has rank {right}")
            })
        })
    };
    exact.or_else(least).or_else(equal)
}
