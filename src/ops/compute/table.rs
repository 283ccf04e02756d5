//! The operators, by family, and the operator of a node.

use std::sync::LazyLock;

use super::operator::Operator;
use super::{elementwise, layout, make, select};
use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, is_onnx_domain};
use crate::ops::schemas::{self, Schema};

const OPERATORS: &[&[Operator]] = &[
    layout::OPERATORS,
    select::OPERATORS,
    make::OPERATORS,
    elementwise::OPERATORS,
];

/// The operator of a node, if it is bit-exact, and its schema.
#[must_use]
pub fn operator(model: &Model, node: NodeId) -> Option<(&'static Operator, &'static Schema)> {
    static BY_NAME: LazyLock<HashMap<&str, &Operator>> = LazyLock::new(|| {
        OPERATORS
            .iter()
            .flat_map(|family| family.iter())
            .map(|operator| (operator.name, operator))
            .collect()
    });
    let proto = model.node(node);
    let operator = BY_NAME
        .get(proto.op_type())
        .filter(|_| is_onnx_domain(proto.domain()) && model.callee(node).is_none())?;
    let schema = schemas::schema("", proto.op_type(), model.opset(node.scope, "")?)
        .filter(|schema| !schema.deprecated)?;
    Some((operator, schema))
}
