//! Angles that grow with a position or a time: a type of few digits has no fraction of a turn left
//! for large ones.

use std::collections::BTreeMap;

use super::backward::marked_before;
use super::effects::Effect;
use super::transfer::WalkData;
use crate::graph::{NodeId, Origin, ScopeId, ValueId};
use onnx_cast::{Class, DType};

/// The operators of angles.
const TURNS: &[&str] = &["Cos", "Sin", "Tan"];

/// The largest magnitude of an angle whose rounding does not matter.
const SMALL: f64 = 4.0;

/// How a value follows from positions: the inputs of the model, integers and constants, without any
/// weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    /// It does not follow from positions only.
    No,
    /// It is constant.
    Constant,
    /// It is an input of the model.
    Given,
    /// It is computed from an input, or from integers.
    Computed,
}

/// The values, by index, that are angles or lead to angles. `edges` lead from values to those of
/// other scopes.
pub fn angles(known: &WalkData, edges: &[(ValueId, ValueId)]) -> Vec<bool> {
    let (model, operators) = (known.model, known.effects.operators);
    let mut leads = vec![false; model.value_count()];
    if !operators.has(TURNS) {
        return leads;
    }
    let turns = |node: &&NodeId| TURNS.contains(&operators.of(**node).name);
    let positions = positions(known, edges);
    let is_angle = |value: ValueId| {
        let position = positions[value.index()];
        position >= Position::Given && known.state(value).interval.magnitude() > SMALL
    };
    for node in model.topological_order().iter().filter(turns) {
        if let Some(angle) = model
            .input(*node, 0)
            .filter(|angle| positions[angle.index()] == Position::Computed && is_angle(*angle))
        {
            leads[angle.index()] = true;
        }
    }
    marked_before(model, edges, leads, |node| carries(known, node), is_angle)
}

fn positions(known: &WalkData, edges: &[(ValueId, ValueId)]) -> Vec<Position> {
    let model = known.model;
    let mut positions = vec![Position::No; model.value_count()];
    for value in model.values() {
        let is_integer = known.inferred.of(value).dtype().is_some_and(is_integer);
        positions[value.index()] = match model.origin(value) {
            _ if known.numbers.is_constant(value) => Position::Constant,
            _ if is_integer => Position::Computed,
            Origin::Input(_) if model.scope_of(value) == ScopeId::MAIN => Position::Given,
            _ => Position::No,
        };
    }
    // What is given to an input of a body decides.
    for _ in 0..4 {
        let mut least: BTreeMap<ValueId, Position> = BTreeMap::new();
        for (giver, taker) in edges {
            let given = positions[giver.index()];
            least
                .entry(*taker)
                .and_modify(|least| *least = given.min(*least))
                .or_insert(given);
        }
        for (taker, given) in least {
            positions[taker.index()] = positions[taker.index()].max(given);
        }
        for &node in model.topological_order() {
            if !carries(known, node) {
                continue;
            }
            let of_inputs = || {
                model
                    .inputs(node)
                    .map(|(_, input)| positions[input.index()])
            };
            let (least, greatest) = (of_inputs().min(), of_inputs().max());
            let found = match (least, greatest) {
                (None | Some(Position::No), _) | (_, None) => continue,
                // A matrix that is given an input has the weights of a layer.
                (_, Some(Position::Given))
                    if matches!(operator(known, node), "MatMul" | "Einsum") =>
                {
                    continue;
                }
                (_, Some(Position::Given)) if matches!(operator(known, node), "Mul" | "Div") => {
                    Position::Computed
                }
                (_, Some(greatest)) => greatest,
            };
            for (_, output) in model.outputs(node) {
                positions[output.index()] = positions[output.index()].max(found);
            }
        }
    }
    positions
}

fn operator<'k>(known: &WalkData<'k, '_>, node: NodeId) -> &'k str {
    known.effects.operators.of(node).name
}

fn is_integer(dtype: DType) -> bool {
    matches!(dtype.class(), Class::Signed | Class::Unsigned)
}

/// Whether a node makes positions of positions.
fn carries(known: &WalkData, node: NodeId) -> bool {
    let is_arithmetic = matches!(
        known.effects.of_node(node),
        Some(
            Effect::Moves
                | Effect::Casts
                | Effect::Adds
                | Effect::Subtracts
                | Effect::Multiplies
                | Effect::Divides
                | Effect::Counts
        )
    );
    is_arithmetic
        || matches!(
            operator(known, node),
            "MatMul" | "Einsum" | "Neg" | "CumSum"
        )
}
