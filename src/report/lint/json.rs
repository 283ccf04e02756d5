//! One JSON document.

use std::io;

use super::LintRun;

pub(super) fn write(run: &LintRun, out: &mut impl io::Write) -> io::Result<()> {
    crate::report::write_json(run, out)
}
