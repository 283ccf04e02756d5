//! `Einsum`: operands are contracted one after the other, each pair by a product of matrices.
//!
//! Every letter of a pair belongs to a group: of the batch (in both operands, and needed later),
//! contracted (in both, and not needed), or of one operand. Letters of one operand that are not
//! needed are summed first.

use super::{Expansion, by_definition, list, local_name};
use crate::base::hash::HashMap;
use crate::convert::context::Context;
use crate::convert::reason::{
    AttributeUnsupported, NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported,
};
use crate::ops::inference::Shape;

pub(super) const EXPANSIONS: &[Expansion] = &[by_definition("Einsum", 12, einsum)];

/// An operand: the name of its value, and a letter for each axis.
struct Operand {
    name: String,
    letters: Vec<char>,
}

fn einsum(cx: &Context) -> Result<String, Reason> {
    let equation = cx
        .string("equation")?
        .ok_or_else(|| Reason::new(NodeInvalid, "the attribute `equation` is missing"))?;
    let equation: String = equation.chars().filter(|letter| *letter != ' ').collect();
    let refuse = |why: &str| {
        Reason::new(
            AttributeUnsupported,
            format!("`equation` = '{equation}' {why}"),
        )
    };
    if equation.contains('.') {
        return Err(refuse("has an ellipsis"));
    }
    let (left, right) = equation
        .split_once("->")
        .map_or((equation.as_str(), None), |(left, right)| {
            (left, Some(right))
        });
    let terms: Vec<Vec<char>> = left.split(',').map(|term| term.chars().collect()).collect();
    let all: Vec<char> = terms.iter().flatten().copied().collect();
    if !all.iter().all(char::is_ascii_alphabetic) || terms.len() != cx.node.input.len() {
        return Err(Reason::new(
            NodeInvalid,
            format!("`equation` = '{equation}' does not match the inputs"),
        ));
    }
    let count =
        |letters: &[char], letter: char| letters.iter().filter(|&&other| other == letter).count();
    let result: Vec<char> = match right {
        Some(right) => right.chars().collect(),
        // The letters that occur once, in alphabetical order.
        None => ('A'..='z')
            .filter(|&letter| count(&all, letter) == 1)
            .collect(),
    };
    if terms
        .iter()
        .chain([&result])
        .any(|letters| letters.iter().any(|&letter| count(letters, letter) > 1))
    {
        return Err(refuse("repeats a letter in a term"));
    }
    if result.iter().any(|letter| !all.contains(letter)) {
        return Err(Reason::new(
            NodeInvalid,
            format!("`equation` = '{equation}' has a letter in its result only"),
        ));
    }
    let mut writer = Writer {
        body: String::new(),
        count: 0,
        sizes: sizes(cx, &terms)?,
    };
    let operand = |(index, letters)| {
        Some(Operand {
            name: local_name(cx, index)?,
            letters,
        })
    };
    let mut rest: Vec<Operand> = terms.into_iter().enumerate().filter_map(operand).collect();
    let mut product = rest.remove(0);
    while !rest.is_empty() {
        let next = rest.remove(0);
        let is_needed = |letter: &char| {
            result.contains(letter) || rest.iter().any(|other| other.letters.contains(letter))
        };
        let needed: Vec<char> = product
            .letters
            .iter()
            .chain(&next.letters)
            .copied()
            .filter(|letter| is_needed(letter))
            .collect();
        product = writer.contract(product, next, &needed)?;
    }
    let product = writer.sum(product, &result);
    let product = writer.transpose(product, &result);
    Ok(format!(
        "{}Output = Identity ({})",
        writer.body, product.name
    ))
}

/// The known lengths of letters. ONNX does not broadcast named axes: operands with different
/// lengths are left to `Einsum`.
fn sizes(cx: &Context, terms: &[Vec<char>]) -> Result<HashMap<char, Option<i64>>, Reason> {
    let mut sizes: HashMap<char, Option<i64>> = HashMap::default();
    for (index, letters) in terms.iter().enumerate() {
        let shape: Shape = cx
            .known_input(index)
            .shape
            .unwrap_or_else(|| vec![None; letters.len()]);
        if shape.len() != letters.len() {
            return Err(Reason::new(
                NodeInvalid,
                format!(
                    "the rank of {} does not match `equation`",
                    cx.describe(index)
                ),
            ));
        }
        for (&letter, &length) in letters.iter().zip(shape.iter()) {
            let known = sizes.entry(letter).or_insert(length);
            match (*known, length) {
                (Some(known), Some(length)) if known != length => {
                    return Err(Reason::new(
                        ShapeUnsupported,
                        format!("axes '{letter}' have {known} and {length} elements"),
                    ));
                }
                (None, Some(_)) => *known = length,
                _ => {}
            }
        }
    }
    Ok(sizes)
}

/// The text of the body so far.
struct Writer {
    body: String,
    count: usize,
    sizes: HashMap<char, Option<i64>>,
}

impl Writer {
    fn add(&mut self, name: &str, expression: &str) -> String {
        self.count += 1;
        let name = format!("{name}_{}", self.count);
        self.body += &format!("{name} = {expression}\n");
        name
    }

    /// Sums the axes that are not needed.
    fn sum(&mut self, operand: Operand, needed: &[char]) -> Operand {
        let axes: Vec<usize> = (0..operand.letters.len())
            .filter(|&axis| !needed.contains(&operand.letters[axis]))
            .collect();
        if axes.is_empty() {
            return operand;
        }
        let name = self.add(
            "sum",
            &format!(
                "ReduceSum <axes: ints = [{}], keepdims: int = 0> ({})",
                list(&axes),
                operand.name
            ),
        );
        Operand {
            name,
            letters: operand
                .letters
                .into_iter()
                .filter(|letter| needed.contains(letter))
                .collect(),
        }
    }

    fn transpose(&mut self, operand: Operand, letters: &[char]) -> Operand {
        if operand.letters == letters {
            return operand;
        }
        let order: Vec<usize> = letters
            .iter()
            .filter_map(|letter| operand.letters.iter().position(|other| other == letter))
            .collect();
        let name = self.add(
            "turned",
            &format!(
                "Transpose <perm: ints = [{}]> ({})",
                list(&order),
                operand.name
            ),
        );
        Operand {
            name,
            letters: letters.to_vec(),
        }
    }

    /// The product of two operands, summed over the letters that are not needed.
    fn contract(
        &mut self,
        left: Operand,
        right: Operand,
        needed: &[char],
    ) -> Result<Operand, Reason> {
        let in_both =
            |letter: &char| left.letters.contains(letter) && right.letters.contains(letter);
        let keep: Vec<char> = needed
            .iter()
            .copied()
            .chain(left.letters.iter().copied().filter(in_both))
            .collect();
        let shared: Vec<char> = left.letters.iter().copied().filter(in_both).collect();
        let (batch, contracted): (Vec<char>, Vec<char>) = shared
            .into_iter()
            .partition(|letter| needed.contains(letter));
        let (left, right) = (self.sum(left, &keep), self.sum(right, &keep));
        let own = |operand: &Operand| -> Vec<char> {
            operand
                .letters
                .iter()
                .copied()
                .filter(|letter| !batch.contains(letter) && !contracted.contains(letter))
                .collect()
        };
        let (rows, columns) = (own(&left), own(&right));
        let left = self.transpose(left, &[&batch[..], &rows, &contracted].concat());
        let right = self.transpose(right, &[&batch[..], &contracted, &columns].concat());
        let letters = [&batch[..], &rows, &columns].concat();
        if contracted.is_empty() && rows.is_empty() && columns.is_empty() {
            let name = self.add("product", &format!("Mul ({}, {})", left.name, right.name));
            return Ok(Operand { name, letters });
        }
        let left = self.matrix(left, batch.len(), &rows, &contracted)?;
        let right = self.matrix(right, batch.len(), &contracted, &columns)?;
        let product = self.add("product", &format!("MatMul ({left}, {right})"));
        let name = self.split(product, &batch, &rows, &columns)?;
        Ok(Operand { name, letters })
    }

    /// An operand with two axes behind those of the batch, one for each group of letters.
    fn matrix(
        &mut self,
        operand: Operand,
        batch: usize,
        first: &[char],
        second: &[char],
    ) -> Result<String, Reason> {
        if first.len() > 1 || second.len() > 1 {
            let mut shape = vec![0; batch];
            for (group, at, position) in [
                (first, batch, batch),
                (second, batch + 1, batch + first.len()),
            ] {
                shape.push(match group {
                    [letter] if position != at => self.length(*letter)?,
                    [_] => 0,
                    group => group
                        .iter()
                        .map(|&letter| self.length(letter))
                        .product::<Result<i64, Reason>>()?,
                });
            }
            return Ok(self.reshape(&operand.name, &shape));
        }
        let missing: Vec<usize> = [(first, batch), (second, batch + 1)]
            .iter()
            .filter(|(group, _)| group.is_empty())
            .map(|(_, at)| *at)
            .collect();
        if missing.is_empty() {
            Ok(operand.name)
        } else {
            Ok(self.add(
                "matrix",
                &format!(
                    "Unsqueeze <axes: ints = [{}]> ({})",
                    list(&missing),
                    operand.name
                ),
            ))
        }
    }

    /// Inverse of [`Writer::matrix`]: a product with an axis for each letter.
    fn split(
        &mut self,
        product: String,
        batch: &[char],
        rows: &[char],
        columns: &[char],
    ) -> Result<String, Reason> {
        let at = batch.len();
        if rows.len() > 1 || columns.len() > 1 {
            let mut shape = vec![0; at];
            for &letter in rows.iter().chain(columns) {
                let is_in_place = rows == [letter] || (rows.len() == 1 && columns == [letter]);
                shape.push(if is_in_place { 0 } else { self.length(letter)? });
            }
            return Ok(self.reshape(&product, &shape));
        }
        let missing: Vec<usize> = [(rows, at), (columns, at + 1)]
            .iter()
            .filter(|(group, _)| group.is_empty())
            .map(|(_, at)| *at)
            .collect();
        if missing.is_empty() {
            Ok(product)
        } else {
            Ok(self.add(
                "squeezed",
                &format!("Squeeze <axes: ints = [{}]> ({product})", list(&missing)),
            ))
        }
    }

    /// A length of zero in the shape means that of the operand.
    fn reshape(&mut self, operand: &str, shape: &[i64]) -> String {
        let shape = self.add(
            "shape",
            &format!(
                "Constant <value = int64[{}] {{{}}}> ()",
                shape.len(),
                list(shape)
            ),
        );
        self.add("reshaped", &format!("Reshape ({operand}, {shape})"))
    }

    fn length(&self, letter: char) -> Result<i64, Reason> {
        match self.sizes.get(&letter).copied().flatten() {
            Some(length) if length > 0 => Ok(length),
            _ => Err(Reason::new(
                ShapeUnknown,
                format!("the length of axis '{letter}' is unknown or zero"),
            )),
        }
    }
}
