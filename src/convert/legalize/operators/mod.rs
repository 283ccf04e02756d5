//! What operators do with values of a type that a wider one carries.

mod cast;
mod dequantize;
mod movement;
mod quantize;
mod rounded;
mod scales;
mod site;
mod stated;
mod types;

pub(super) use site::{Role, Site};
pub(super) use types::{Wider, carried_in};

/// What decides the role of a node.
type Decision = fn(&Site) -> Option<Role>;

/// The operators, with what decides the role of a node; none if its values cannot be carried.
const OPERATORS: &[(&str, Decision)] = &[
    ("Cast", cast::role),
    ("CastLike", cast::role),
    ("Constant", stated::role),
    ("ConstantOfShape", stated::role),
    ("DequantizeLinear", dequantize::role),
    ("QuantizeLinear", quantize::role),
    ("Shape", movement::reads_shapes),
    ("Size", movement::reads_shapes),
];

/// The role of a node.
pub(super) fn role(site: &Site) -> Option<Role> {
    let op = site.model.node(site.node).op_type();
    if !site.model.is_op(site.node, op) || site.is_ambiguous() {
        return None;
    }
    match OPERATORS.iter().find(|row| row.0 == op) {
        Some((_, decide)) => decide(site),
        None => movement::role(site),
    }
}
