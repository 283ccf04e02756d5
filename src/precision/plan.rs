//! Plans a change of precision.

use super::assignment::PrecisionAssignment;
use super::functions::Copied;
use super::kernels::Kernels;
use super::options::{Options, Policy, Selection};
use super::refusal::{Refusal, Remedy};
use super::report::{AddedFunction, Report};
use super::types::Types;
use super::{constraints, cut, functions, hazards, limits, rounding, unmatched, weights};
use crate::base::error::{Error, ErrorKind};
use crate::convert::expect_defined;
use crate::graph::{Edit, Model, ScopeId};
use crate::ops::kernels::unknown_kernels;
use crate::ops::schemas::ValueType;
use crate::protobuf::ir_version::FUNCTIONS;
use onnx_cast::DType;

/// The edits of a change of precision, and its report.
pub struct PlannedPrecision {
    /// The model with copies of functions, to which the edits apply, if there are copies.
    pub copied: Option<Model>,
    /// The edits; none if nothing changes.
    pub edits: Vec<Edit>,
    /// The report.
    pub report: Report,
}

/// Plans a change of precision.
///
/// # Errors
/// If the options are invalid, a constant is refused by them, or a data file cannot be read.
pub fn plan(model: &Model, options: &Options) -> Result<PlannedPrecision, Error> {
    check(model, options)?;
    if options.emulate {
        check_emulation(options)?;
    }
    match rounding::emulated(model) {
        Some(to) if options.emulate && to == options.dtype => {
            return Ok(PlannedPrecision {
                copied: None,
                edits: Vec::new(),
                report: Report::unchanged(options),
            });
        }
        Some(to) => {
            let what = format!(
                "the model emulates {to}, and rounds to it; change the precision of the model before"
            );
            return Err(Error::new(ErrorKind::Usage, what));
        }
        None => {}
    }
    let selection = Selection::new(options)?;
    let mut planned = plan_with_copies(model, options, &selection)?;
    let unmatched = unmatched::find(model, &selection);
    planned.report.notes.extend(unmatched::notes(&unmatched));
    planned.report.unmatched = unmatched.into_iter().map(|one| one.what).collect();
    Ok(planned)
}

/// Plans a change, with copies of functions in which something changes.
fn plan_with_copies(
    model: &Model,
    options: &Options,
    selection: &Selection,
) -> Result<PlannedPrecision, Error> {
    let mut useless = Vec::new();
    loop {
        let copied = functions::copied(model, options, selection, &useless)?;
        let Some(Copied {
            model: copied,
            functions,
        }) = copied
        else {
            let (edits, report, _) = plan_values(model, options, selection, &[])?;
            return Ok(PlannedPrecision {
                copied: None,
                edits,
                report,
            });
        };
        let (edits, report, unchanged) = plan_values(&copied, options, selection, &functions)?;
        if unchanged.is_empty() {
            return Ok(PlannedPrecision {
                copied: Some(copied),
                edits,
                report: Report {
                    functions_added: functions,
                    ..report
                },
            });
        }
        useless.extend(unchanged);
    }
}

/// The edits for a model, the report, and the functions of these in which nothing changes.
fn plan_values(
    model: &Model,
    options: &Options,
    selection: &Selection,
    functions: &[AddedFunction],
) -> Result<(Vec<Edit>, Report, Vec<AddedFunction>), Error> {
    let mut types = constraints::of(model, options, selection);
    let mut weights = weights::read(&mut types)?;
    let mut kernels = Kernels::of(options.target, &types);
    let mut unsafe_values = Vec::new();
    if types.change.is_to_half() && !options.weights_only {
        let beyond = limits::beyond(&types, &weights, options);
        unsafe_values = hazards::find(&types, &weights, &beyond);
    }
    if options.policy == Policy::Stable {
        hazards::keep(&mut types, &unsafe_values, selection);
    }
    let count = types.constraints.len();
    let (classes, assignments) = loop {
        let fixed = limits::apply(&mut types, &mut weights, options)?;
        let classes = types.classes();
        let assignments = cut::solve(&types, &classes, &fixed, options.weights_only);
        if !kernels.find_missing(&types, &classes, &assignments) {
            break (classes, assignments);
        }
        types.constraints.truncate(count);
        kernels.keep(&mut types);
    };
    let precision = PrecisionAssignment {
        types: &types,
        classes: &classes,
        assignments: &assignments,
        weights: &weights,
        kernels: &kernels,
        emulates: options.emulate,
    };
    let (edits, mut report) = precision.edits()?;
    let target = options.target.iter();
    report.notes = target
        .flat_map(|runtime| runtime.note().into_iter().chain(unknown_kernels(runtime)))
        .collect();
    if options.policy == Policy::All {
        report
            .notes
            .extend(precision.changed_although_unsafe(&unsafe_values));
    }
    report
        .notes
        .extend(of_other_types(&types).filter(|_| report.is_unchanged()));
    let edits = if report.is_unchanged() {
        Vec::new()
    } else {
        edits
    };
    let unchanged = functions
        .iter()
        .filter(|function| !precision.changes_function(function))
        .cloned()
        .collect();
    Ok((edits, report, unchanged))
}

/// A note, if no value has a type that changes, but values have a type that could be changed.
fn of_other_types(types: &Types) -> Option<String> {
    let has = |dtype: DType| {
        types
            .model
            .values()
            .any(|value| types.value_type(value) == Some(ValueType::Tensor(dtype)))
    };
    let (change, all) = (
        types.change,
        [DType::Double, DType::Float, DType::Float16, DType::Bfloat16],
    );
    if all.iter().any(|&dtype| change.is_old(dtype) && has(dtype)) {
        return None;
    }
    let other = all
        .into_iter()
        .find(|&dtype| dtype != change.to && !change.is_old(dtype) && has(dtype))?;
    Some(format!(
        "no value has a type that changes; values of type {other} change if `from` is {other}"
    ))
}

/// # Errors
/// If no model can be emulated with the options.
fn check_emulation(options: &Options) -> Result<(), Error> {
    let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
    if options.dtype == DType::Float {
        return usage("FLOAT is not emulated, FLOAT16 and BFLOAT16 are".to_owned());
    }
    if let Some(from) = options.from.filter(|&from| from != DType::Float) {
        return usage(format!(
            "values of type {from} are not emulated, those of FLOAT are"
        ));
    }
    match options
        .target
        .and_then(|runtime| Some((runtime, runtime.ir_version?)))
    {
        Some((runtime, newest)) if newest < FUNCTIONS => usage(format!(
            "{runtime} loads IR versions up to {newest}; functions, which round, need {FUNCTIONS}"
        )),
        _ => Ok(()),
    }
}

fn check(model: &Model, options: &Options) -> Result<(), Error> {
    let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
    expect_defined(model).map_err(|invalid| Error::of(&invalid))?;
    unmatched::expect_operators(model, options)?;
    let is_type_of_values =
        |dtype: DType| matches!(dtype, DType::Float | DType::Float16 | DType::Bfloat16);
    if !is_type_of_values(options.dtype) {
        return usage(format!(
            "{} is not supported as the type of values; use FLOAT16, BFLOAT16 or FLOAT",
            options.dtype
        ));
    }
    let from = options.from.filter(|&from| from != DType::Double);
    if let Some(from) = from.filter(|&from| !is_type_of_values(from)) {
        return usage(format!(
            "values of type {from} do not change; use DOUBLE, FLOAT, FLOAT16 or BFLOAT16"
        ));
    }
    if from == Some(options.dtype) {
        return usage(format!(
            "values of type {0} cannot become {0}; use two types",
            options.dtype
        ));
    }
    if let Some(other) = options
        .assumed_ops
        .iter()
        .find(|assumed| assumed.dtype != options.dtype)
    {
        return usage(format!(
            "{}::{} is assumed to support {}; use {}",
            other.domain, other.operator, other.dtype, options.dtype
        ));
    }
    if let Some(limit) = options
        .range_limit
        .filter(|limit| limit.is_nan() || *limit <= 0.0)
    {
        return usage(format!(
            "a range limit of {limit} keeps all values; use a positive number"
        ));
    }
    if let Some(runtime) = options.target {
        let (opset, ir_version) = (model.opset(ScopeId::MAIN, ""), model.ir_version());
        let (newest_opset, newest_ir_version) = runtime.exceeded(opset, ir_version);
        if let (Some(opset), Some(newest)) = (opset, newest_opset) {
            let newest_loaded = newest.min(runtime.newest_opset());
            let what =
                format!("{runtime} loads opsets up to {newest}; the model has opset {opset}");
            let remedy = Remedy::Opset(newest_loaded);
            return Err(Error::caused_by(Refusal::new(
                ErrorKind::Usage,
                what,
                remedy,
            )));
        }
        if let Some(newest) = newest_ir_version {
            return usage(format!(
                "{runtime} loads IR versions up to {newest}; the model has IR version {ir_version}; convert it for the runtime first"
            ));
        }
    }
    let body = model.body(ScopeId::MAIN);
    for (name, dtype) in &options.signature {
        if !body
            .input_names()
            .chain(body.output_names())
            .any(|known| known == name)
        {
            return usage(format!("'{name}' is not an input or output of the model"));
        }
        if !is_type_of_values(*dtype) && options.from != Some(*dtype) {
            return usage(format!(
                "'{name}' cannot be {dtype}; use FLOAT16, BFLOAT16 or FLOAT"
            ));
        }
    }
    Ok(())
}
