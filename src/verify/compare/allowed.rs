//! Which results of casts count.

use onnx_cast::{Summary, Verdict};

/// Which results of casts count, beside those that ONNX defines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// Undefined ones.
    pub undefined: bool,
    /// Contested ones.
    pub contested: bool,
    /// Infinities of finite numbers.
    pub overflow: bool,
}

impl Allowed {
    /// All results.
    pub const ALL: Allowed = Allowed {
        undefined: true,
        contested: true,
        overflow: true,
    };

    /// # Errors
    /// The reason why the result does not count.
    pub(in crate::verify) fn check(self, verdict: Verdict) -> Result<(), &'static str> {
        match verdict {
            Verdict::Undefined(why) if !self.undefined => Err(why),
            Verdict::Contested(why) if !self.contested => Err(why),
            _ => Ok(()),
        }
    }

    /// # Errors
    /// The reason why one of the results does not count.
    pub(in crate::verify) fn check_all(self, summary: &Summary) -> Result<(), &'static str> {
        if summary.undefined.count > 0 {
            self.check(Verdict::Undefined(summary.undefined.why))?;
        }
        if summary.contested.count > 0 {
            self.check(Verdict::Contested(summary.contested.why))?;
        }
        Ok(())
    }
}
