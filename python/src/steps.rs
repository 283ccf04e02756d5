//! Several operations in one opening of a model.

use onnx_recast::{Error, Model};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::errors;
use crate::files::{Input, Output, save};
use crate::operations::{Converting, Folding, Linting, inspection};
use crate::watch::Watch;

type Operation = Box<dyn FnOnce(&mut Model) -> Result<Value, Error> + Send>;

/// The operation of a step: its name and its options.
fn operation((name, options): (String, Bound<'_, PyAny>)) -> PyResult<Operation> {
    Ok(match name.as_str() {
        "fold" => Box::new(options.extract::<Folding>()?.operation()?),
        "convert" => Box::new(options.extract::<Converting>()?.operation()?),
        "lint" => {
            let linting: Linting = options.extract()?;
            Box::new(move |model| linting.findings(model))
        }
        "inspect" => Box::new(|model| Ok(inspection(model))),
        _ => return Err(PyValueError::new_err(format!("'{name}' is not a step"))),
    })
}

/// Opens a model, applies steps, and writes it if there is an output and all steps have succeeded. The report has the results of the steps
/// in `steps`, the error of the step after them in `error`, and the written files in `saved`.
///
/// `fetch` is called with the names of the data files before they are read. It may return another placement of the tensors, since the name of
/// a data file may depend on the data.
#[pyfunction]
pub fn apply(
    py: Python<'_>,
    input: Input,
    mut output: Output,
    steps: Vec<(String, Bound<'_, PyAny>)>,
    fetch: Option<Py<PyAny>>,
    watch: Watch,
) -> PyResult<String> {
    let steps = steps.into_iter().map(operation).collect::<PyResult<Vec<_>>>()?;
    let control = watch.control();
    let is_fetched = fetch.is_some();
    let (model, data_files) = watch.run_owned(py, move || {
        let model = control.model(input.open()?);
        let data_files = if is_fetched { model.inspect().0.external_data } else { Vec::new() };
        Ok((model, data_files))
    })?;
    if let Some(fetch) = fetch
        && let Some(placement) = fetch.call1(py, (data_files,))?.extract(py)?
    {
        output.external_data = placement;
    }
    let control = watch.control();
    let report = watch.run_owned(py, move || {
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
        if let (Some(path), true) = (&output.path, report["error"].is_null()) {
            match save(model, path.clone(), &output.options(), &control) {
                Ok(saved) => report["saved"] = saved,
                Err(error) => report["error"] = errors::facts(&error),
            }
        }
        Ok(report)
    })?;
    Ok(report.to_string())
}
