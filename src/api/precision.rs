//! Changes of precision.

use crate::base::error::Error;
use crate::convert::{self, IrVersion};
use crate::graph::{Model, ScopeId};
use crate::precision::rounding::SINCE_OPSET;
use crate::precision::{Options, PlannedPrecision, Report, plan};
use crate::verify::Verification;

/// # Precision
impl Model {
    /// Changes the precision of the model: values of type FLOAT become FLOAT16 or BFLOAT16 where
    /// the operators support it, with the fewest casts, or these become FLOAT. Constants are
    /// rounded as `Cast` rounds.
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
    /// If the options are invalid, a constant is refused by them, the runtime of `target` does not
    /// load the model, or a data file cannot be read.
    pub fn change_precision(&mut self, options: &Options) -> Result<Report, Error> {
        self.check_tensors()?;
        let PlannedPrecision {
            copied,
            edits,
            report,
        } = plan(self, options).map_err(|error| self.error(error))?;
        if !edits.is_empty() {
            match copied {
                Some(mut copied) => {
                    copied.apply(edits)?;
                    *self = copied;
                }
                None => self.apply(edits)?,
            }
        }
        Ok(report)
    }

    /// The later opset in which the most operators support the type; none if they do in that of the
    /// model. In an opset in which Cast does not support the type, only a conversion shows what
    /// operators do. For the command and the Python module.
    ///
    /// # Errors
    /// If the options are invalid, or the model cannot be converted.
    #[doc(hidden)]
    pub fn opset_for_precision(&self, options: &Options) -> Result<Option<i64>, Error> {
        let mut found = None;
        let mut converted = self.clone();
        if options.emulate
            && self
                .opset(ScopeId::MAIN, "")
                .is_some_and(|opset| opset < SINCE_OPSET)
        {
            // The functions that round do not exist in this opset. The change itself shows whether
            // anything has to be rounded.
            let narrow = options.clone().emulate(false);
            if self.clone().change_precision(&narrow)?.changed_values > 0 {
                found = Some(SINCE_OPSET);
                converted.convert_for_precision(SINCE_OPSET, options, false)?;
            }
        }
        while let Some(later) = converted.change_precision(options)?.later_opset
            && found.is_none_or(|found| later.opset > found)
        {
            found = Some(later.opset);
            converted = self.clone();
            converted.convert_for_precision(later.opset, options, false)?;
        }
        Ok(found)
    }

    /// Like [`Model::change_precision`], with the verification of the result if `verify` is set.
    /// Until the result is verified, only the messages of the model before are kept. For the
    /// command and the Python module.
    ///
    /// # Errors
    /// See [`Model::change_precision`].
    #[doc(hidden)]
    pub fn change_precision_for(
        &mut self,
        options: &Options,
        verify: bool,
    ) -> Result<(Report, Option<Verification>), Error> {
        let before = verify.then(|| self.shared_checkpoint());
        let report = self.change_precision(options)?;
        let verification = before.map(|before| Verification::of_precision_from(before, &report));
        Ok((report, verification))
    }

    /// Converts the model to an opset in which its precision is then changed. With a `target`, the
    /// IR version is one that the runtime loads. With `verify`, the result is verified against the
    /// model before. For the command and the Python module.
    ///
    /// # Errors
    /// If the model cannot be converted to the opset, or the verification finds a fault.
    #[doc(hidden)]
    pub fn convert_for_precision(
        &mut self,
        opset: i64,
        options: &Options,
        verify: bool,
    ) -> Result<(), Error> {
        let newest_ir_version = options.target.and_then(|runtime| runtime.ir_version);
        let ir_version = newest_ir_version.map_or(IrVersion::Auto, IrVersion::AtMost);
        let conversion = convert::Options::to(opset).ir_version(ir_version);
        let verification = verify.then(|| Verification::of_conversion(self, &conversion));
        self.convert_verified(&conversion, verification)
    }

    /// Converts the model, unless the result is not what a verification of this model expects.
    fn convert_verified(
        &mut self,
        conversion: &convert::Options,
        verification: Option<Verification>,
    ) -> Result<(), Error> {
        self.convert(conversion)?;
        let Some(verification) = verification else {
            return Ok(());
        };
        verification.check(self).map(drop).map_err(|faults| {
            *self = verification.into_original();
            self.error(Error::caused_by(faults))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn a_conversion_that_is_not_verified_leaves_the_model_as_it_was() {
        let text = r#"<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Abs (x) }"#;
        let conversion = convert::Options::to(21);
        // As it was read, and after a change.
        for opset in [17, 18] {
            let mut model = Model::from_text(text).unwrap();
            model.convert(&convert::Options::to(opset)).unwrap();
            let before = model.to_bytes().unwrap();
            let verification = Verification::of_conversion(&model, &convert::Options::to(22));
            let error = model
                .convert_verified(&conversion, Some(verification))
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotVerified);
            assert_eq!(model.to_bytes().unwrap(), before, "opset {opset}");
        }
    }
}
