//! Several operations in one opening of a model.

use std::sync::Arc;

use onnx_recast::verify::Verification;
use onnx_recast::{Error, Model};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::errors;
use crate::files::{Input, Output, save, to_bytes, verify_bytes};
use crate::operations::{Changed, Converting, Folding, Linting, inspection};
use crate::precision::Changing;
use crate::watch::Watch;

type Operation = Box<dyn FnOnce(&mut Model) -> Result<Changed, Error> + Send>;

/// A step, and whether it changes models.
struct Step {
    changes: bool,
    run: Operation,
}

/// The step of a name and its options.
fn step((name, options): (String, Bound<'_, PyAny>), verify: bool) -> PyResult<Step> {
    Ok(match name.as_str() {
        "fold" => Step {
            changes: true,
            run: Box::new(options.extract::<Folding>()?.operation(verify)?),
        },
        "convert" => Step {
            changes: true,
            run: Box::new(options.extract::<Converting>()?.operation(verify)?),
        },
        "precision" => Step {
            changes: true,
            run: Box::new(options.extract::<Changing>()?.operation(verify)?),
        },
        "lint" => {
            let linting: Linting = options.extract()?;
            Step {
                changes: false,
                run: Box::new(move |model| Ok((linting.findings(model)?, None))),
            }
        }
        "inspect" => Step {
            changes: false,
            run: Box::new(|model| Ok((inspection(model), None))),
        },
        _ => return Err(PyValueError::new_err(format!("'{name}' is not a step"))),
    })
}

/// Applies a step, and returns its report. `last` is the verification of the last change. The
/// result of the final change is verified when it is written, and the result of each earlier change
/// before the next one.
fn apply_step(
    step: Step,
    model: &mut Model,
    last: &mut Option<Verification>,
) -> Result<Value, Error> {
    if step.changes
        && let Some(verification) = last.take()
    {
        verification.verdict(model)?;
    }
    let (report, verification) = (step.run)(model)?;
    if step.changes {
        *last = verification;
    }
    Ok(report)
}

/// Opens a model, applies steps, and writes it if there is an output and all steps have succeeded;
/// an output without a path is returned as bytes. The report has the results of the steps in
/// `steps`, the error of the step after them in `error`, and the written files in `saved`.
///
/// With `verify`, what each step changed is verified before anything is written or returned.
///
/// `fetch` is called with the names of the data files before they are read. It may return another
/// placement of the tensors, since the name of a data file may depend on the data.
#[pyfunction]
pub fn apply<'py>(
    py: Python<'py>,
    input: Input,
    mut output: Option<Output>,
    steps: Vec<(String, Bound<'py, PyAny>)>,
    verify: bool,
    fetch: Option<Py<PyAny>>,
    watch: Watch,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    let verify = verify && output.is_some();
    let steps = steps
        .into_iter()
        .map(|named| step(named, verify))
        .collect::<PyResult<Vec<_>>>()?;
    let (control, is_fetched, input) = (watch.control(), fetch.is_some(), Arc::new(input));
    let source = Arc::clone(&input);
    let (model, data_files) = watch.run_owned(py, move || {
        let model = control.model(source.open()?);
        let data_files = if is_fetched {
            model.inspect().0.external_data
        } else {
            Vec::new()
        };
        Ok((model, data_files))
    })?;
    if let Some(fetch) = fetch
        && let Some(placement) = fetch.call1(py, (data_files,))?.extract(py)?
        && let Some(output) = &mut output
    {
        output.external_data = placement;
    }
    let (control, output) = (watch.control(), output.map(Arc::new));
    let target = output.clone();
    let (mut report, model) = watch.run_owned(py, move || {
        let mut model = model;
        let mut report = json!({"steps": [], "error": null, "saved": null});
        let (mut results, mut last) = (Vec::new(), None);
        for step in steps {
            match apply_step(step, &mut model, &mut last) {
                Ok(result) => results.push(result),
                Err(error) => {
                    report["error"] = errors::facts(&error);
                    break;
                }
            }
        }
        report["steps"] = Value::Array(results);
        let Some(output) = target.filter(|_| report["error"].is_null()) else {
            return Ok((report, None));
        };
        let Some(path) = &output.path else {
            return Ok((report, Some((model, last))));
        };
        match save(
            model,
            path.clone(),
            &output.options(),
            last.as_ref(),
            &control,
        ) {
            Ok((saved, _)) => report["saved"] = saved,
            Err(error) => report["error"] = errors::facts(&error),
        }
        Ok((report, None))
    })?;
    let bytes = match (model, output) {
        (Some((model, verification)), Some(output)) => {
            let bytes = to_bytes(py, &watch, &input, &output, model)?;
            let verified = verification
                .map(|verification| verify_bytes(py, &watch, &input, &bytes, verification));
            match verified.transpose()? {
                Some(Err(error)) => {
                    report["error"] = errors::facts(&error);
                    None
                }
                _ => Some(bytes),
            }
        }
        _ => None,
    };
    Ok((report.to_string(), bytes))
}
