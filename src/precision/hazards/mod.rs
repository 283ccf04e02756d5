//! Values that must not have the narrow type, although their operators support it: they leave the
//! range of the type until another operator brings them back, or lose digits on which later results
//! depend.
//!
//! 1. `state`, `effects`, `transfer`, `walk`: forward, an interval for each value, and why it may
//!    be out of the range of FLOAT16: it has integers, sums, squares, exponentials or constants
//!    beyond it. `effects` has a row for each operator; an operator without a row brings numbers
//!    back into the range, as normalizations do.
//! 2. `guards`: backward, the values that must not be zero: a constant that becomes zero in FLOAT16
//!    keeps them from zero, or they are probabilities.
//! 3. `angles`: backward from Sin and Cos, the arguments that grow with a position or a time.
//! 4. `variances`, `products`: values that are squared, or added to squares, and lose digits on
//!    which their difference depends.
//! 5. `scales`: scales of quantization that the model computes.
//!
//! Such a value keeps its type, and so do the operators that use the value.

mod angles;
mod backward;
mod edges;
mod effects;
mod guards;
mod interval;
mod numbers;
mod products;
mod scales;
mod state;
mod transfer;
mod variances;
mod walk;

use self::effects::NodeEffects;
use self::interval::Interval;
use self::numbers::Constants;
use self::transfer::WalkData;
use super::options::Selection;
use super::reason::Code;
use super::types::{Types, ValueKind, Variable};
use super::uses::{Use, User};
use super::weights::{Weight, largest};
use crate::graph::{NodeId, ScopeId, ValueId};
use onnx_cast::DType;

/// Values that must not have the new type keep theirs, and so do their uses, except those of nodes
/// that the options change in any case.
pub(super) fn keep(types: &mut Types, found: &[(ValueId, Code)], selection: &Selection) {
    let model = types.model;
    for (value, code) in found {
        keep_value(types, *value, *code, |node| {
            selection.changes_node(model, node)
        });
    }
}

/// The values that must not have the new type, with the reason. `beyond` are constants beyond the
/// range that stay so.
pub(super) fn find(types: &Types, weights: &[Weight], beyond: &[ValueId]) -> Vec<(ValueId, Code)> {
    let model = types.model;
    let edges = edges::edges(types);
    let effects = NodeEffects::of(&types.operators);
    let numbers = Constants::read(model, &effects, weights, beyond);
    let limit = f64::from(largest(types.change.to));
    let range = Interval::new(-limit, limit);
    let states = walk::states(model, &effects, &types.inferred, &numbers, range, &edges);
    let known = WalkData {
        model,
        effects: &effects,
        inferred: &types.inferred,
        numbers: &numbers,
        states: &states,
        range,
    };
    let angles = angles::angles(&known, &edges);
    let divisors = guards::divisors(model, &types.operators);
    let (guarded, probabilities) = (
        guards::guarded(model, &effects, &edges, divisors.clone()),
        guards::probabilities(model, &effects, &edges, divisors),
    );
    let scales = scales::scales(model, &effects, &numbers);
    let (means, products) = (
        variances::squared_means(&known),
        products::added_to_squares(&known),
    );
    let is_float16 = types.change.to == DType::Float16;
    let code = |value: ValueId| {
        let state = states[value.index()];
        let hazard = state
            .hazard
            .filter(|_| is_float16)
            .map(|hazard| hazard.code());
        let guard = (state.guard.is_some() && guarded[value.index()]).then_some(Code::UnsafeGuard);
        let probability =
            (is_float16 && probabilities[value.index()]).then_some(Code::UnsafeLogarithm);
        let scale = (is_float16 && scales[value.index()]).then_some(Code::Scale);
        let angle = angles[value.index()].then_some(Code::UnsafeAngle);
        let difference = (is_float16 && (means[value.index()] || products[value.index()]))
            .then_some(Code::UnsafeSquare);
        hazard
            .or(guard)
            .or(probability)
            .or(angle)
            .or(difference)
            .or(scale)
    };
    let may_change = |value: &ValueId| types.kinds[value.index()].is_some();
    model
        .values()
        .filter(may_change)
        .filter_map(|value| Some((value, code(value)?)))
        .collect()
}

/// A value keeps its type, and so do its uses. An output of the model may get another one.
fn keep_value(types: &mut Types, value: ValueId, code: Code, also: impl Fn(NodeId) -> bool) {
    let is_kept = |used: &&Use| match used.user {
        User::Output(scope, _) => scope != ScopeId::MAIN,
        User::Input(node, _) => !also(node),
    };
    let mut variables: Vec<Variable> = types
        .uses
        .of(value)
        .iter()
        .filter(is_kept)
        .map(|used| used.variable)
        .collect();
    let is_also = types.model.producer(value).is_some_and(&also);
    // What a Cast makes for an output of the model alone, it makes in the type of the output.
    if !is_also && (!variables.is_empty() || types.kinds[value.index()] != Some(ValueKind::Stated))
    {
        variables.push(value.index() as Variable);
    }
    for variable in variables {
        types.fix_old(variable, code);
    }
}
