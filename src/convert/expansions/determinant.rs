//! `Det` of small matrices, expanded along the first row.

use super::{Expansion, by_definition};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason, ShapeUnknown, TooLarge};

pub(super) const EXPANSIONS: &[Expansion] = &[by_definition("Det", 11, det)];

fn det(cx: &Context) -> Result<String, Reason> {
    let rank = cx.rank(0)?;
    if rank < 2 {
        return Err(Reason::new(NodeInvalid, "the input is no matrix"));
    }
    let (rows, columns) = (cx.dim(0, rank - 2), cx.dim(0, rank - 1));
    let size = rows.or(columns);
    let size =
        size.ok_or_else(|| Reason::new(ShapeUnknown, "the size of the matrix is unknown"))?;
    if !(1..=3).contains(&size) {
        return Err(Reason::new(
            TooLarge,
            "the matrix is empty, or has more than three rows",
        ));
    }
    let axis = rank - 2;
    let mut body = String::new();
    for index in 0..size {
        body += &format!(
            "index_{index} = Constant <value = int64 {{{index}}}> ()
             row_{index} = Gather <axis: int = {axis}> (X, index_{index})\n"
        );
    }
    for (row, column) in (0..size).flat_map(|row| (0..size).map(move |column| (row, column))) {
        body += &format!(
            "x_{row}_{column} = Gather <axis: int = {axis}> (row_{row}, index_{column})\n"
        );
    }
    let minor = |name: &str, columns: [usize; 2]| {
        let [first, second] = columns;
        format!(
            "{name}_down = Mul (x_1_{first}, x_2_{second})
             {name}_up = Mul (x_1_{second}, x_2_{first})
             {name} = Sub ({name}_down, {name}_up)\n"
        )
    };
    body += &match size {
        1 => "Y = Identity (x_0_0)".to_owned(),
        2 => "down = Mul (x_0_0, x_1_1) up = Mul (x_0_1, x_1_0) Y = Sub (down, up)".to_owned(),
        _ => format!(
            "{}{}{}first = Mul (x_0_0, minor_0)
             second = Mul (x_0_1, minor_1)
             third = Mul (x_0_2, minor_2)
             difference = Sub (first, second)
             Y = Add (difference, third)",
            minor("minor_0", [1, 2]),
            minor("minor_1", [0, 2]),
            minor("minor_2", [0, 1])
        ),
    };
    Ok(body)
}
