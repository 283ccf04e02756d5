//! The operations on models.

use std::path::{Path, PathBuf};

use std::str::FromStr;

use onnx_recast::convert::IrVersion;
use onnx_recast::graph::MetadataKeys;
use onnx_recast::lint::{Baseline, Config, Layer, Safety, Selector};
use onnx_recast::passes::{self, Pass};
use onnx_recast::verify::Verification;
use onnx_recast::{
    ConvertOptions, Error, ErrorKind, FoldOptions, LintOptions, Model, Runtime, UnknownName,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::files::{Input, Output, rewrite};
use crate::watch::Watch;

/// What is done to a model first.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Preparation {
    freeze_initializers: bool,
    /// Keys; `*` is all of them.
    drop_metadata: Vec<String>,
}

impl Preparation {
    /// Prepares a model, and returns the keys that match no metadata.
    pub fn apply(&self, model: &mut Model) -> Result<Vec<String>, Error> {
        if self.freeze_initializers {
            model.freeze_initializers()?;
        }
        let keys = match self.drop_metadata.as_slice() {
            [] => return Ok(Vec::new()),
            [all] if all == "*" => MetadataKeys::All,
            keys => MetadataKeys::These(keys.to_vec()),
        };
        let dropped = model.drop_metadata(&keys)?;
        let unmatched = keys.unmatched(&dropped).into_iter();
        Ok(unmatched.map(str::to_owned).collect())
    }
}

/// A report, with the keys that match no metadata.
pub fn with_unmatched(mut report: Value, keys: &[String]) -> Value {
    if !keys.is_empty() {
        report["unmatched_metadata"] = json!(keys);
    }
    report
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Folding {
    /// Names; none for all.
    passes: Option<Vec<String>>,
    undefined: bool,
    /// `text`, `runtime`, or none.
    contested: Option<String>,
    max_growth: Option<u64>,
    prepare: Preparation,
}

/// The value of an option.
pub fn choice<T: FromStr<Err = UnknownName>>(option: &str, name: &str) -> PyResult<T> {
    name.parse()
        .map_err(|error| PyValueError::new_err(format!("{option}: {error}, not '{name}'")))
}

fn passes(names: Option<&[String]>) -> PyResult<Vec<&'static dyn Pass>> {
    let Some(names) = names else {
        return Ok(passes::DEFAULT.to_vec());
    };
    passes::selected(names.iter().map(String::as_str))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The report of an operation on a model, and what its result is to be verified against.
pub type Changed = (Value, Option<Verification>);

/// Runs passes.
#[pyfunction]
pub fn fold<'py>(
    py: Python<'py>,
    input: Input,
    output: Output,
    options: Folding,
    verify: bool,
    watch: Watch,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    rewrite(py, &watch, input, output, options.operation(verify)?)
}

impl Folding {
    /// The operation on a model.
    pub fn operation(
        self,
        verify: bool,
    ) -> PyResult<impl FnOnce(&mut Model) -> Result<Changed, Error> + Send + 'static> {
        let contested = self
            .contested
            .as_deref()
            .map(|name| choice("contested", name))
            .transpose()?;
        let fold = FoldOptions::default()
            .undefined(self.undefined)
            .contested(contested)
            .max_growth(self.max_growth);
        let passes = passes(self.passes.as_deref())?;
        Ok(move |model: &mut Model| {
            let unmatched = self.prepare.apply(model)?;
            let verification = verify.then(|| Verification::of_passes(model, &passes, &fold));
            let report = json!(model.run_passes(&passes, &fold)?);
            Ok((with_unmatched(report, &unmatched), verification))
        })
    }
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Converting {
    opset: i64,
    /// A runtime, which takes precedence over the opset.
    target: Option<String>,
    from_opset: Option<i64>,
    /// `auto`, `keep` or a number.
    ir_version: IrVersionName,
    explicit: String,
    no_expand: bool,
    exact_only: bool,
    expand: String,
    no_legalize: bool,
    legalize_io: bool,
    contested: Option<String>,
    strict: bool,
    prepare: Preparation,
}

#[derive(FromPyObject)]
enum IrVersionName {
    Number(i64),
    Name(String),
}

impl Converting {
    fn options(&self) -> PyResult<ConvertOptions> {
        let ir_version = match &self.ir_version {
            IrVersionName::Number(number) => IrVersion::Number(*number),
            IrVersionName::Name(name) => choice("ir_version", name)?,
        };
        Ok(ConvertOptions::to(self.opset)
            .from_opset(self.from_opset)
            .ir_version(ir_version)
            .explicit(choice("explicit", &self.explicit)?)
            .no_expand(self.no_expand)
            .exact_only(self.exact_only)
            .expand(choice("expand", &self.expand)?)
            .no_legalize(self.no_legalize)
            .legalize_io(self.legalize_io)
            .contested(
                self.contested
                    .as_deref()
                    .map(|name| choice("contested", name))
                    .transpose()?,
            )
            .strict(self.strict))
    }

    fn runtime(&self) -> PyResult<Option<Runtime>> {
        self.target.as_deref().map(runtime).transpose()
    }

    /// The operation on a model.
    pub fn operation(
        self,
        verify: bool,
    ) -> PyResult<impl FnOnce(&mut Model) -> Result<Changed, Error> + Send + 'static> {
        let (convert, runtime) = (self.options()?, self.runtime()?);
        Ok(move |model: &mut Model| {
            let unmatched = self.prepare.apply(model)?;
            let convert = match runtime {
                Some(runtime) => convert.for_runtime(runtime, model)?,
                None => convert,
            };
            let verification = verify.then(|| Verification::of_conversion(model, &convert));
            let report = json!(model.convert(&convert)?);
            Ok((with_unmatched(report, &unmatched), verification))
        })
    }
}

/// Converts to another opset.
#[pyfunction]
pub fn convert<'py>(
    py: Python<'py>,
    input: Input,
    output: Output,
    options: Converting,
    verify: bool,
    watch: Watch,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    rewrite(py, &watch, input, output, options.operation(verify)?)
}

/// All runtimes, as a JSON list.
#[pyfunction]
pub fn targets() -> String {
    json!(Runtime::all()).to_string()
}

/// The runtime of a target.
pub fn runtime(name: &str) -> PyResult<Runtime> {
    name.parse()
        .map_err(|error| PyValueError::new_err(format!("target: {error}")))
}

/// The operators for which a runtime has no kernel, as a JSON list; null if its kernels are not
/// known.
#[pyfunction]
pub fn missing_operators(target: &str) -> PyResult<String> {
    Ok(json!(runtime(target)?.missing_operators()).to_string())
}

/// Whether a runtime runs a model.
#[pyfunction]
pub fn runs_on(py: Python<'_>, input: Input, target: &str) -> PyResult<String> {
    let runtime = runtime(target)?;
    Watch::silent().run_owned(py, move || {
        Ok(json!(input.open()?.runs_on(&runtime)).to_string())
    })
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Linting {
    /// None for those that are enabled by default.
    select: Option<Vec<String>>,
    ignore: Vec<String>,
    config: Option<PathBuf>,
}

impl Linting {
    /// The rules for a file, which a pattern of the configuration may match.
    fn options(&self, path: Option<&Path>) -> Result<LintOptions, Error> {
        let selectors = |names: &[String]| {
            let parse = |name: &String| {
                name.parse::<Selector>()
                    .map_err(|error| Error::new(ErrorKind::Usage, error))
            };
            names.iter().map(parse).collect::<Result<Vec<_>, _>>()
        };
        let config = self
            .config
            .as_deref()
            .map(Config::read)
            .transpose()?
            .unwrap_or_default();
        let own = Layer {
            select: self.select.as_deref().map(selectors).transpose()?,
            ignore: selectors(&self.ignore)?,
            ..Layer::default()
        };
        Ok(LintOptions::default().selection(config.selection(path, &own)))
    }

    /// The findings of a model.
    pub fn findings(&self, model: &Model) -> Result<Value, Error> {
        Ok(json!(model.lint(&self.options(model.path())?)?))
    }
}

/// The findings, as a JSON list.
#[pyfunction]
pub fn lint(py: Python<'_>, input: Input, options: Linting, watch: Watch) -> PyResult<String> {
    let control = watch.control();
    watch.run_owned(py, move || {
        options
            .findings(&control.model(input.open()?))
            .map(|found| found.to_string())
    })
}

/// Applies fixes.
#[pyfunction]
pub fn fix<'py>(
    py: Python<'py>,
    input: Input,
    output: Output,
    options: Linting,
    unsafe_fixes: bool,
    verify: bool,
    watch: Watch,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    rewrite(py, &watch, input, output, move |model| {
        let rules = options.options(model.path())?;
        let allowed = if unsafe_fixes {
            Safety::Unsafe
        } else {
            Safety::Safe
        };
        let known = Baseline::default();
        let verification = verify.then(|| Verification::of_fixes(model, &rules, allowed, &known));
        let fixed = model.fix(&rules, allowed, &known)?;
        let left = model.lint(&rules)?;
        Ok((json!({"fixed": fixed, "remaining": left}), verification))
    })
}

/// The summary of a model, in JSON.
#[pyfunction]
pub fn inspect(py: Python<'_>, input: Input) -> PyResult<String> {
    Watch::silent().run_owned(py, move || Ok(inspection(&input.open()?).to_string()))
}

/// The summary of a model, and what is invalid in it.
pub fn inspection(model: &Model) -> Value {
    let (summary, errors) = model.inspect();
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    json!({"inspection": summary, "errors": errors})
}

/// The differences of two models, as a JSON list.
#[pyfunction]
pub fn diff(py: Python<'_>, left: Input, right: Input) -> PyResult<String> {
    let watch = Watch::silent();
    let control = watch.control();
    watch.run_owned(py, move || {
        let (left, right) = (control.model(left.open()?), control.model(right.open()?));
        let compared = onnx_recast::diff(&left, &right)?;
        match compared.errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(json!(compared.differences).to_string()),
        }
    })
}
