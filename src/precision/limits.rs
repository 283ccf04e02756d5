//! Constants and values that the type cannot represent: which of them change, and to what.

use super::masks::is_mask;
use super::options::{OnOverflow, OnUnderflow, Options};
use super::reason::Code;
use super::refusal::{Refusal, Remedy};
use super::rules::{self, moves, needs_nonzero, operator};
use super::types::{Constraint, Types, Variable};
use super::uses::{Use, User, Uses};
use super::weights::{Weight, becomes_zero, largest, least_normal};
use crate::base::error::{Error, ErrorKind};
use crate::base::hash::HashSet;
use crate::graph::{Model, ValueId};

/// The uses of a constant, also of copies of its elements.
struct Reach {
    /// The constant and the values to which its elements are moved.
    values: Vec<ValueId>,
    variables: Vec<Variable>,
    /// Whether it is added to values or selected instead of them, as masks are.
    is_mask: bool,
    /// Whether it bounds values.
    is_bound: bool,
    /// Whether it is used in another way.
    is_other: bool,
}

/// Applies the options about numbers that the type cannot represent. Returns the values that cannot
/// be cast while the model runs.
///
/// # Errors
/// If a constant is refused.
pub(super) fn apply(
    types: &mut Types,
    weights: &mut [Weight],
    options: &Options,
) -> Result<HashSet<ValueId>, Error> {
    refuse(types.model, weights, options)?;
    let largest = largest(options.dtype);
    for weight in weights.iter_mut() {
        weight.bound = None;
    }
    observed(types, options, largest.into());
    for weight in weights
        .iter()
        .filter(|weight| weight.survey.became_zero > 0)
    {
        if options.on_underflow == OnUnderflow::Keep {
            keep(
                types,
                &[weight.value],
                &types.uses.variables(weight.value),
                Code::Underflow,
            );
        } else {
            let divided = match weight.elements() {
                1 => types.uses.divided(types.model, weight.value),
                _ => Vec::new(),
            };
            if !divided.is_empty() {
                keep(types, &[weight.value], &divided, Code::Underflow);
            } else if weight.survey.vanishes(options.dtype) {
                keep(
                    types,
                    &[weight.value],
                    &types.uses.variables(weight.value),
                    Code::Underflow,
                );
            }
        }
    }
    for weight in weights
        .iter()
        .filter(|weight| weight.survey.became_subnormal + weight.survey.became_zero > 0)
    {
        if types.uses.is_scale(types.model, weight.value) {
            keep(
                types,
                &[weight.value],
                &types.uses.variables(weight.value),
                Code::Scale,
            );
        }
    }
    let beyond = (0..weights.len()).filter(|&index| weights[index].survey.overflowed > 0);
    if options.weights_only {
        beyond.for_each(|index| keep(types, &[weights[index].value], &[], Code::Overflow));
        return Ok(HashSet::default());
    }
    if options.on_overflow == OnOverflow::Infinity {
        return Ok(HashSet::default());
    }
    let mut reaches: Vec<(usize, Reach)> = beyond
        .map(|index| (index, Reach::of(types, &weights[index])))
        .collect();
    // A constant that is kept may keep another one.
    while !reaches.is_empty() {
        let classes = types.classes();
        let is_old = |variable: Variable| {
            matches!(classes.constraint(variable), Some(Constraint::FixedOld(_)))
        };
        let is_kept = |(_, reach): &mut (usize, Reach)| {
            let sources = reach.values.iter().map(|value| value.index() as Variable);
            reach.is_kept(options.on_overflow)
                || sources.chain(reach.variables.iter().copied()).any(is_old)
        };
        let kept: Vec<(usize, Reach)> = reaches.extract_if(.., is_kept).collect();
        if kept.is_empty() {
            break;
        }
        for (_, reach) in kept {
            keep(types, &reach.values, &reach.variables, Code::Overflow);
        }
    }
    let mut fixed = HashSet::default();
    for (index, reach) in reaches {
        weights[index].bound = Some(match options.on_overflow {
            OnOverflow::Mask if reach.is_mask => largest / 2.0,
            _ => largest,
        });
        for &variable in &reach.variables {
            types.constrain(variable, Constraint::New);
        }
        types.constrain(weights[index].value.index() as Variable, Constraint::New);
        fixed.extend(reach.values);
    }
    Ok(fixed)
}

/// Values keep their types that were observed beyond the range of the type, or with numbers that it
/// cannot represent.
fn observed(types: &mut Types, options: &Options, largest: f64) {
    let limit = options
        .range_limit
        .map_or(largest, |limit| limit.min(largest));
    let (least_normal, becomes_zero) = (least_normal(options.dtype), becomes_zero(options.dtype));
    let model = types.model;
    for (value, range) in model
        .values()
        .filter_map(|value| Some((value, options.ranges.get(model.name(value))?)))
    {
        if types.kinds[value.index()].is_none() {
            continue;
        }
        let is_beyond = [range.min, range.max]
            .iter()
            .any(|bound| bound.abs() > limit || bound.is_nan());
        let greatest = range.min.abs().max(range.max.abs());
        let is_tiny = greatest > 0.0 && greatest < least_normal;
        let divided = match range.least {
            Some(least) if least > 0.0 && least <= becomes_zero => types.uses.divided(model, value),
            _ => Vec::new(),
        };
        if is_beyond || is_tiny {
            keep(types, &[value], &types.uses.variables(value), Code::Range);
        } else if !divided.is_empty() {
            keep(types, &[value], &divided, Code::Range);
        }
    }
}

/// The constants that stay beyond the range of the type.
pub(super) fn beyond(types: &Types, weights: &[Weight], options: &Options) -> Vec<ValueId> {
    let overflowed = weights.iter().filter(|weight| weight.survey.overflowed > 0);
    let kept = overflowed.filter(|weight| Reach::of(types, weight).is_kept(options.on_overflow));
    kept.map(|weight| weight.value).collect()
}

fn refuse(model: &Model, weights: &[Weight], options: &Options) -> Result<(), Error> {
    let is_refused = |weight: &&Weight| {
        (options.on_overflow == OnOverflow::Refuse && weight.survey.overflowed > 0)
            || (options.on_underflow == OnUnderflow::Refuse && weight.survey.became_zero > 0)
    };
    let mut refused = weights.iter().filter(is_refused);
    let Some(first) = refused.next() else {
        return Ok(());
    };
    let (what, remedy) = match first.survey.overflowed {
        0 => (
            format!(
                "{} numbers would become zero in {}",
                first.survey.became_zero, options.dtype
            ),
            Remedy::OnUnderflow,
        ),
        count => (
            format!(
                "{count} finite numbers are beyond the range of {}",
                options.dtype
            ),
            Remedy::OnOverflow,
        ),
    };
    let others = match refused.count() {
        0 => String::new(),
        others => format!(" (and {others} more constants)"),
    };
    let what = format!("{}: {what}{others}", first.path(model));
    Err(Error::caused_by(Refusal::new(
        ErrorKind::CannotCast,
        what,
        remedy,
    )))
}

/// The values, and the nodes that use them by these variables, keep their types.
fn keep(types: &mut Types, values: &[ValueId], variables: &[Variable], code: Code) {
    let sources = values.iter().map(|value| value.index() as Variable);
    for variable in sources.chain(variables.iter().copied()) {
        types.fix_old(variable, code);
    }
}

impl Reach {
    fn of(types: &Types, weight: &Weight) -> Reach {
        let (model, uses) = (types.model, &types.uses);
        let mut reach = Reach {
            values: vec![weight.value],
            variables: Vec::new(),
            is_mask: false,
            is_bound: false,
            is_other: false,
        };
        let (mut next, mut seen) = (0, HashSet::default());
        while let Some(&value) = reach.values.get(next) {
            next += 1;
            for used in uses.of(value) {
                reach.variables.push(used.variable);
                let User::Input(node, index) = used.user else {
                    reach.is_other = true;
                    continue;
                };
                match operator(model, node) {
                    "Where" | "Add" | "Sub" | "Mul" => {
                        let is_mask = is_mask(
                            model,
                            &types.inferred,
                            node,
                            index,
                            weight.survey.least_overflowed,
                        );
                        reach.is_mask |= is_mask;
                        reach.is_other |= !is_mask;
                    }
                    "Min" | "Max" | "Clip" => reach.is_bound = true,
                    operator if moves(operator) && operator != "Cast" => {
                        let results = model.outputs(node).map(|(_, result)| result);
                        let new = results
                            .filter(|result| !uses.of(*result).is_empty() && seen.insert(*result));
                        reach.values.extend(new);
                    }
                    _ => reach.is_other = true,
                }
            }
        }
        reach
    }

    /// Whether the constant and what uses it keep their types.
    fn is_kept(&self, option: OnOverflow) -> bool {
        match option {
            OnOverflow::Mask => self.is_other || self.is_mask == self.is_bound,
            OnOverflow::Saturate | OnOverflow::Infinity | OnOverflow::Refuse => false,
            OnOverflow::Keep => true,
        }
    }
}

impl Uses {
    fn variables(&self, value: ValueId) -> Vec<Variable> {
        self.of(value).iter().map(|used| used.variable).collect()
    }

    /// Whether a value is a scale of quantization.
    fn is_scale(&self, model: &Model, value: ValueId) -> bool {
        let is_scale = |used: &Use| matches!(used.user, User::Input(node, index) if rules::is_scale(operator(model, node), index as usize));
        self.of(value).iter().any(is_scale)
    }

    /// The variables of nodes that require a value other than zero: nodes that divide by the value,
    /// that take its root, logarithm or reciprocal, or that do so with a sum of it.
    fn divided(&self, model: &Model, value: ValueId) -> Vec<Variable> {
        let mut variables = Vec::new();
        for used in self.of(value) {
            let User::Input(node, index) = used.user else {
                continue;
            };
            if needs_nonzero(operator(model, node), index) {
                variables.push(used.variable);
            } else if matches!(operator(model, node), "Add" | "Sub" | "Max" | "Clip") {
                let results = model.outputs(node).flat_map(|(_, result)| self.of(result));
                let sensitive =
                    results.filter(|used| matches!(used.user, User::Input(node, index) if needs_nonzero(operator(model, node), index)));
                let sensitive: Vec<Variable> = sensitive.map(|used| used.variable).collect();
                if !sensitive.is_empty() {
                    variables.push(used.variable);
                    variables.extend(sensitive);
                }
            }
        }
        variables
    }
}
