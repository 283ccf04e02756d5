//! Changes of precision.

use std::collections::BTreeMap;

use onnx_recast::graph::ScopeId;
use onnx_recast::precision::ObservedRange;
use onnx_recast::{DType, Error, Model, PrecisionOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::files::{Input, Output, rewrite};
use crate::operations::{Changed, Preparation, choice, runtime, with_unmatched};
use crate::watch::Watch;

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Changing {
    to: String,
    from_type: Option<String>,
    io: String,
    /// Inputs and outputs, with their types.
    signature: Vec<(String, String)>,
    policy: String,
    keep_op: Vec<String>,
    keep_node: Vec<String>,
    keep_value: Vec<String>,
    also_op: Vec<String>,
    also_node: Vec<String>,
    assume: Vec<String>,
    only_op: Vec<String>,
    only_node: Vec<String>,
    weights_only: bool,
    emulate: bool,
    on_overflow: String,
    on_underflow: String,
    quantized: String,
    ranges: BTreeMap<String, (f64, f64, Option<f64>)>,
    range_limit: Option<f64>,
    /// A runtime that has to run the result.
    target: Option<String>,
    /// None for that of the model.
    opset: Option<Goal>,
    prepare: Preparation,
}

/// The opset to convert to first.
#[derive(FromPyObject)]
enum Goal {
    Opset(i64),
    /// The lowest later one that admits the most operators.
    #[expect(dead_code)]
    Auto(String),
}

/// Changes the precision.
#[pyfunction]
pub fn convert_precision<'py>(
    py: Python<'py>,
    input: Input,
    output: Output,
    options: Changing,
    verify: bool,
    watch: Watch,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    rewrite(py, &watch, input, output, options.operation(verify)?)
}

/// The type that an option names.
fn dtype(option: &str, name: &str) -> PyResult<DType> {
    name.parse()
        .map_err(|error| PyValueError::new_err(format!("{option}: {error}")))
}

impl Changing {
    fn options(&self) -> PyResult<PrecisionOptions> {
        let signature = self
            .signature
            .iter()
            .map(|(name, to)| Ok((name.clone(), dtype("io", to)?)));
        let assumed = self.assume.iter().map(|text| {
            text.parse()
                .map_err(|error| PyValueError::new_err(format!("assume: {error}")))
        });
        Ok(PrecisionOptions::to(dtype("to", &self.to)?)
            .io(choice("io", &self.io)?)
            .signature(signature.collect::<PyResult<_>>()?)
            .policy(choice("policy", &self.policy)?)
            .keep_ops(self.keep_op.clone())
            .keep_nodes(self.keep_node.clone())
            .keep_values(self.keep_value.clone())
            .from(
                self.from_type
                    .as_deref()
                    .map(|from| dtype("from_type", from))
                    .transpose()?,
            )
            .also_ops(self.also_op.clone())
            .also_nodes(self.also_node.clone())
            .assumed_ops(assumed.collect::<PyResult<_>>()?)
            .only_ops(self.only_op.clone())
            .only_nodes(self.only_node.clone())
            .weights_only(self.weights_only)
            .emulate(self.emulate)
            .on_overflow(choice("on_overflow", &self.on_overflow)?)
            .on_underflow(choice("on_underflow", &self.on_underflow)?)
            .quantized(choice("quantized", &self.quantized)?)
            .ranges(
                self.ranges
                    .iter()
                    .map(|(name, &(min, max, least))| {
                        (name.clone(), ObservedRange { min, max, least })
                    })
                    .collect(),
            )
            .range_limit(self.range_limit)
            .target(self.target.as_deref().map(runtime).transpose()?))
    }

    /// The operation on a model.
    pub fn operation(
        self,
        verify: bool,
    ) -> PyResult<impl FnOnce(&mut Model) -> Result<Changed, Error> + Send + 'static> {
        let options = self.options()?;
        Ok(move |model: &mut Model| {
            let unmatched = self.prepare.apply(model)?;
            let opsets = match &self.opset {
                Some(goal) => convert(model, goal, &options, verify)?,
                None => None,
            };
            let (report, verification) = model.change_precision_for(&options, verify)?;
            let mut facts = json!(report);
            facts["opset"] = opsets.unwrap_or_default();
            Ok((with_unmatched(facts, &unmatched), verification))
        })
    }
}

/// Converts a model to an opset before its precision is changed. Returns both opsets, unless they
/// are equal.
fn convert(
    model: &mut Model,
    goal: &Goal,
    options: &PrecisionOptions,
    verify: bool,
) -> Result<Option<Value>, Error> {
    let Some(from) = model.opset(ScopeId::MAIN, "") else {
        return Ok(None);
    };
    let to = match goal {
        Goal::Opset(opset) => *opset,
        Goal::Auto(_) => model.opset_for_precision(options)?.unwrap_or(from),
    };
    if to == from {
        return Ok(None);
    }
    model.convert_for_precision(to, options, verify)?;
    Ok(Some(json!({"from": from, "to": to})))
}

/// The operators that keep their types with the policy `stable`.
#[pyfunction]
pub fn sensitive_operators() -> &'static [&'static str] {
    onnx_recast::precision::sensitive_operators()
}
