//! Several operations in one opening of a model.

use std::sync::Arc;

use onnx_recast::{Error, Model};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::errors;
use crate::files::{Input, Output, save, to_bytes};
use crate::operations::{Changed, Converting, Folding, Linting, inspection};
use crate::precision::Changing;
use crate::watch::Watch;

type Operation = Box<dyn FnOnce(&mut Model) -> Result<Value, Error> + Send>;

/// The operation of a step: its name and its options.
fn operation((name, options): (String, Bound<'_, PyAny>)) -> PyResult<Operation> {
    Ok(match name.as_str() {
        "fold" => reported(options.extract::<Folding>()?.operation(false)?),
        "convert" => reported(options.extract::<Converting>()?.operation(false)?),
        "precision" => reported(options.extract::<Changing>()?.operation(false)?),
        "lint" => {
            let linting: Linting = options.extract()?;
            Box::new(move |model| linting.findings(model))
        }
        "inspect" => Box::new(|model| Ok(inspection(model))),
        _ => return Err(PyValueError::new_err(format!("'{name}' is not a step"))),
    })
}

/// An operation that returns its report only.
fn reported(operation: impl FnOnce(&mut Model) -> Result<Changed, Error> + Send + 'static) -> Operation {
    Box::new(|model| operation(model).map(|(report, _)| report))
}

/// Opens a model, applies steps, and writes it if there is an output and all steps have succeeded; an output without a path is returned as
/// bytes. The report has the results of the steps in `steps`, the error of the step after them in `error`, and the written files in `saved`.
///
/// `fetch` is called with the names of the data files before they are read. It may return another placement of the tensors, since the name of
/// a data file may depend on the data.
#[pyfunction]
pub fn apply<'py>(
    py: Python<'py>,
    input: Input,
    mut output: Option<Output>,
    steps: Vec<(String, Bound<'py, PyAny>)>,
    fetch: Option<Py<PyAny>>,
    watch: Watch,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    let steps = steps.into_iter().map(operation).collect::<PyResult<Vec<_>>>()?;
    let (control, is_fetched, input) = (watch.control(), fetch.is_some(), Arc::new(input));
    let source = Arc::clone(&input);
    let (model, data_files) = watch.run_owned(py, move || {
        let model = control.model(source.open()?);
        let data_files = if is_fetched { model.inspect().0.external_data } else { Vec::new() };
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
    let (report, model) = watch.run_owned(py, move || {
        let mut model = model;
        let mut report = json!({"steps": [], "error": null, "saved": null});
        let mut results = Vec::new();
        for step in steps {
            match step(&mut model) {
                Ok(result) => results.push(result),
                Err(error) => {
                    report["error"] = errors::facts(&error);
                    break;
                }
            }
        }
        report["steps"] = Value::Array(results);
        let Some(output) = target.filter(|_| report["error"].is_null()) else { return Ok((report, None)) };
        let Some(path) = &output.path else { return Ok((report, Some(model))) };
        match save(model, path.clone(), &output.options(), None, &control) {
            Ok((saved, _)) => report["saved"] = saved,
            Err(error) => report["error"] = errors::facts(&error),
        }
        Ok((report, None))
    })?;
    let bytes = match (model, output) {
        (Some(model), Some(output)) => Some(to_bytes(py, &watch, &input, &output, model)?),
        _ => None,
    };
    Ok((report.to_string(), bytes))
}
