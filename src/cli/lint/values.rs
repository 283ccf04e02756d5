//! Values of options.

use std::path::Path;

use crate::lint::{FilePattern, Selector, Severity};

/// Items of an option that are separated by commas, of which those in braces belong to a pattern.
#[derive(Clone, Debug)]
pub(super) struct List<T>(pub Vec<T>);

/// `PATTERN:CODE,PATTERN:CODE`: patterns of files, and the rules that are disabled for them.
pub(super) fn parse_per_file_ignores(text: &str) -> Result<List<PerFileIgnore>, String> {
    parse_list(text, parse_per_file_ignore)
}

/// `PATTERN,PATTERN`.
pub(super) fn parse_patterns(text: &str) -> Result<List<FilePattern>, String> {
    parse_list(text, parse_pattern)
}

fn parse_list<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<List<T>, String> {
    let mut depth = 0_usize;
    let items = text.split(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    });
    items.map(parse).collect::<Result<_, _>>().map(List)
}

/// A pattern of files, and the rules that are disabled for them.
pub(super) type PerFileIgnore = (FilePattern, Vec<Selector>);

fn parse_per_file_ignore(text: &str) -> Result<PerFileIgnore, String> {
    let (pattern, code) = text
        .rsplit_once(':')
        .ok_or("expected a glob pattern and a rule, such as 'legacy/*.onnx:RC1'")?;
    Ok((
        parse_pattern(pattern)?,
        vec![code.parse().map_err(|error| format!("{error}"))?],
    ))
}

fn parse_pattern(text: &str) -> Result<FilePattern, String> {
    FilePattern::new(Path::new(""), text).map_err(|bad| format!("invalid pattern: {}", bad.why))
}

/// `CODE=SEVERITY`.
pub(super) fn parse_severity(text: &str) -> Result<(Selector, Severity), String> {
    let (code, severity) = text
        .split_once('=')
        .ok_or("expected a rule and a severity, such as 'RC103=info'; --fail-on sets the severity that fails")?;
    Ok((
        code.parse().map_err(|error| format!("{error}"))?,
        severity.parse().map_err(|error| format!("{error}"))?,
    ))
}

/// A severity.
pub(super) fn parse_fail_on(text: &str) -> Result<Severity, String> {
    text.parse().map_err(|error| match text {
        "never" | "none" | "off" => format!("{error}; use --exit-zero"),
        _ => format!("{error}"),
    })
}
