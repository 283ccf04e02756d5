//! Plans a change of precision.

use super::decisions::Decisions;
use super::options::{Options, Selection};
use super::report::Report;
use super::{cut, equations, limits, weights};
use crate::base::error::{Error, ErrorKind};
use crate::elements::dtype::DType;
use crate::graph::{Edit, Model, ScopeId};

/// The edits of a change of precision, and its report.
pub struct Planned {
    /// The edits; none if nothing changes.
    pub edits: Vec<Edit>,
    /// The report.
    pub report: Report,
}

/// Plans a change of precision.
///
/// # Errors
/// If the options are invalid, a constant is refused by them, or a data file cannot be read.
pub fn plan(model: &Model, options: &Options) -> Result<Planned, Error> {
    check(model, options)?;
    let selection = Selection::new(options)?;
    let mut types = equations::of(model, options, &selection);
    let mut weights = weights::read(&types)?;
    let fixed = limits::apply(&mut types, &mut weights, options)?;
    let classes = types.classes();
    let sides = cut::solve(&types, &classes, &fixed, options.weights_only);
    let (edits, report) = Decisions { types: &types, classes: &classes, sides: &sides, weights: &weights }.edits()?;
    let edits = if report.is_unchanged() { Vec::new() } else { edits };
    Ok(Planned { edits, report })
}

fn check(model: &Model, options: &Options) -> Result<(), Error> {
    let usage = |message: String| Err(Error::new(ErrorKind::Usage, message));
    let is_type_of_values = |dtype: DType| matches!(dtype, DType::Float | DType::Float16 | DType::Bfloat16);
    if !is_type_of_values(options.dtype) {
        return usage(format!("{} is not supported as the type of values; use FLOAT16, BFLOAT16 or FLOAT", options.dtype));
    }
    let body = model.body(ScopeId::MAIN);
    for (name, dtype) in &options.signature {
        if !body.input_names().chain(body.output_names()).any(|known| known == name) {
            return usage(format!("'{name}' is not an input or output of the model"));
        }
        if !is_type_of_values(*dtype) {
            return usage(format!("'{name}' cannot be {dtype}; use FLOAT16, BFLOAT16 or FLOAT"));
        }
    }
    Ok(())
}
