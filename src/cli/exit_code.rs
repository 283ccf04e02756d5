//! The exit code of a run.

use std::process::{self, Termination};

/// The exit code of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    pub(super) const SUCCESS: ExitCode = ExitCode(0);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> ExitCode {
        ExitCode(code)
    }
}

impl From<ExitCode> for u8 {
    fn from(code: ExitCode) -> u8 {
        code.0
    }
}

impl Termination for ExitCode {
    fn report(self) -> process::ExitCode {
        self.0.into()
    }
}
