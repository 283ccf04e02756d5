//! Opset conversion.

use crate::base::error::{Error, ErrorKind, catch};
use crate::convert::engine::Conversion;
use crate::convert::{self, Blocker, IrVersion, NotConverted, Options, Report};
use crate::graph::{Model, ScopeId};
use crate::ops::runtimes::Runtime;
use crate::ops::schemas::LATEST_OPSET;

/// # Conversion
impl Model {
    /// Converts the model to another opset of ai.onnx: to an equivalent model, or not at all.
    ///
    /// ```
    /// use onnx_recast::{ConvertOptions, Model};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let mut model = Model::open("models/fp8_qdq.onnx")?;
    /// model.convert(&ConvertOptions::to(28))?;
    ///
    /// let error = model.convert(&ConvertOptions::to(8)).unwrap_err();
    /// for blocker in error.blockers() {
    ///     println!("{}: {} ({})", blocker.node, blocker.reason, blocker.op);
    /// }
    /// // The model is still that of opset 28.
    /// # assert!(!error.blockers().is_empty());
    /// # assert_eq!(model.opset(onnx_recast::graph::ScopeId::MAIN, ""), Some(28));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If nodes cannot be converted: [`Error::blockers`] lists all of them. If the options or the
    /// model are invalid.
    pub fn convert(&mut self, options: &Options) -> Result<Report, Error> {
        let apart = |converted: Conversion| (converted.model, converted.report);
        if options.from_opset.is_some() {
            return self.change(|model| Ok(apart(convert::convert(model, options)?)));
        }
        self.check_tensors()?;
        // Most refusals come from the plan, before the model is touched.
        let planned = catch(|| convert::plan(self, options).map_err(Error::from)).flatten();
        let possible = planned.map_err(|refused| self.error(refused))?;
        self.change(|model| Ok(apart(possible.apply(model).map_err(NotConverted::Invalid)?)))
    }

    /// The lowest opset to which the model can be converted with these options, whose `opset` has
    /// no effect, and in which their runtime has kernels for all nodes: its own if none below that
    /// works. `None` if it does not import ai.onnx.
    #[must_use]
    pub fn lowest_opset(&self, options: &Options) -> Option<i64> {
        convert::lowest(self, options)
    }

    /// Like [`Model::lowest_opset`], but a listed version of onnxruntime must have kernels for all
    /// nodes, unless there is no such opset.
    #[must_use]
    pub fn lowest_running_opset(&self, options: &Options) -> Option<i64> {
        convert::lowest_that_runs(self, options)
    }
}

impl Options {
    /// These options for what a runtime loads and runs, whatever their `opset`: the opset of the
    /// model is only lowered, and only as far as the runtime needs it, and so is its IR version.
    /// The opset is raised if the runtime has kernels for all nodes in a higher one only.
    ///
    /// ```
    /// use onnx_recast::{ConvertOptions, LATEST_OPSET, Model, Runtime};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runtime: Runtime = "tensorrt@8.6".parse()?;
    /// let mut model = Model::open("models/transformer_fp16.onnx")?;
    /// let options = ConvertOptions::to(LATEST_OPSET).for_runtime(runtime, &model)?;
    /// let report = model.convert(&options)?;
    /// assert_eq!((report.from["ai.onnx"], report.to["ai.onnx"]), (19, 17));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the options keep or set an IR version that the runtime does not load.
    pub fn for_runtime(self, runtime: Runtime, model: &Model) -> Result<Options, Error> {
        let stated = self.from_opset.or(model.opset(ScopeId::MAIN, ""));
        let opset = stated.unwrap_or(LATEST_OPSET).min(runtime.newest_opset());
        let options = Options {
            opset,
            runtime: Some(runtime),
            ..self
        };
        let Some(newest) = runtime.ir_version else {
            return Ok(options);
        };
        let ir_version = match options.ir_version {
            IrVersion::Auto => IrVersion::AtMost(newest),
            IrVersion::AtMost(number) => IrVersion::AtMost(number.min(newest)),
            IrVersion::Keep if model.ir_version() <= newest => IrVersion::Keep,
            IrVersion::Number(number) if number <= newest => IrVersion::Number(number),
            IrVersion::Keep => {
                return Err(model.error(too_new(runtime, newest, model.ir_version())));
            }
            IrVersion::Number(number) => return Err(model.error(too_new(runtime, newest, number))),
        };
        Ok(Options {
            ir_version,
            ..options
        })
    }
}

fn too_new(runtime: Runtime, newest: i64, demanded: i64) -> Error {
    let what = format!(
        "{runtime} loads IR versions up to {newest}; the options demand IR version {demanded}"
    );
    Error::new(ErrorKind::Usage, what)
}

impl Error {
    /// The nodes because of which [`Model::convert`] failed.
    #[must_use]
    pub fn blockers(&self) -> &[Blocker] {
        match self.cause() {
            Some(NotConverted::Blocked { blockers, .. }) => blockers,
            _ => &[],
        }
    }

    /// The opset closest to the requested one to which the model can be converted, if
    /// [`Model::convert`] failed because of blockers.
    #[must_use]
    pub fn nearest_opset(&self) -> Option<i64> {
        match self.cause() {
            Some(NotConverted::Blocked { nearest, .. }) => *nearest,
            _ => None,
        }
    }
}

impl From<NotConverted> for Error {
    fn from(error: NotConverted) -> Error {
        let fact = match &error {
            NotConverted::Blocked { .. } => Error::new(ErrorKind::NotConvertible, &error),
            NotConverted::Avoidable { error, .. } | NotConverted::Invalid(error) => {
                Error::of(error)
            }
        };
        fact.with_source(error)
    }
}
