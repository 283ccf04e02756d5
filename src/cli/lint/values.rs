//! Values of options.

use std::path::Path;

use crate::lint::{FilePattern, Selector, Severity};

/// `PATTERN:CODE`: a pattern of files, and the rules that are disabled for them.
pub(super) fn parse_per_file_ignore(text: &str) -> Result<(FilePattern, Vec<Selector>), String> {
    let (pattern, code) = text
        .rsplit_once(':')
        .ok_or("expected a glob pattern and a rule, such as 'legacy/*.onnx:RC1'")?;
    Ok((
        parse_pattern(pattern)?,
        vec![code.parse().map_err(|error| format!("{error}"))?],
    ))
}

pub(super) fn parse_pattern(text: &str) -> Result<FilePattern, String> {
    FilePattern::new(Path::new(""), text).map_err(|bad| format!("invalid pattern: {}", bad.why))
}

/// `CODE=SEVERITY`.
pub(super) fn parse_severity(text: &str) -> Result<(Selector, Severity), String> {
    let (code, severity) = text
        .split_once('=')
        .ok_or("expected a rule and a severity, such as 'RC103=info'")?;
    Ok((
        code.parse().map_err(|error| format!("{error}"))?,
        severity.parse().map_err(|error| format!("{error}"))?,
    ))
}
