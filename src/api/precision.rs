//! Changes of precision.

use crate::base::error::Error;
use crate::convert::{self, IrVersion};
use crate::graph::Model;
use crate::precision::{Options, Planned, Report, plan};
use crate::verify::Verification;

/// # Precision
impl Model {
    /// Changes the precision of the model: values of type FLOAT become FLOAT16 or BFLOAT16 where the operators support it, with the fewest
    /// casts, or these become FLOAT. Constants are rounded as `Cast` rounds.
    ///
    /// ```
    /// use onnx_recast::{DType, Model, PrecisionOptions};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let mut model = Model::open("models/control_flow.onnx")?;
    /// let report = model.change_precision(&PrecisionOptions::to(DType::Float16))?;
    /// for kept in &report.kept {
    ///     println!("{} keeps its type: {}", kept.node, kept.reason);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the options are invalid, a constant is refused by them, the runtime of `target` does not load the model, or a data file cannot be
    /// read.
    pub fn change_precision(&mut self, options: &Options) -> Result<Report, Error> {
        self.check_tensors()?;
        let Planned { copied, edits, report } = plan(self, options).map_err(|error| self.error(error))?;
        if !edits.is_empty() {
            match copied {
                Some(mut copied) => {
                    copied.apply_edits(edits)?;
                    *self = copied;
                }
                None => self.apply_edits(edits)?,
            }
        }
        Ok(report)
    }

    /// Converts the model to an opset in which its precision is then changed. With a `target`, the IR version is one that the runtime loads.
    /// With `verify`, the result is verified against the model before.
    ///
    /// # Errors
    /// If the model cannot be converted to the opset, or the verification finds a fault.
    pub fn convert_for_precision(&mut self, opset: i64, options: &Options, verify: bool) -> Result<(), Error> {
        let newest_ir_version = options.target.and_then(|runtime| runtime.ir_version);
        let ir_version = newest_ir_version.map_or(IrVersion::Auto, IrVersion::AtMost);
        let conversion = convert::Options::to(opset).ir_version(ir_version);
        let verification = verify.then(|| Verification::of_conversion(self, &conversion));
        self.convert(&conversion)?;
        match verification.map(|verification| verification.check(self)) {
            Some(Err(faults)) => Err(Error::caused_by(faults)),
            _ => Ok(()),
        }
    }
}
