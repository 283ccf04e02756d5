//! JUnit's XML: one test suite per model, one test case per finding. A finding that fails the run
//! fails its test; a milder one is in the output of a passing test. A model without findings has
//! one test, which passes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use super::run::LintRun;
use crate::base::printable::{Document, PutXml};
use crate::lint::Diagnostic;

pub(super) fn render(run: &LintRun) -> Document<'_> {
    Document::xml(|put| write(run, put))
}

fn write(run: &LintRun, put: &mut PutXml) -> io::Result<()> {
    let mut by_model: BTreeMap<&str, Vec<&Diagnostic>> = BTreeMap::new();
    for found in &run.findings {
        by_model.entry(found.path()).or_default().push(found);
    }
    let failures = run.findings.iter().filter(|found| run.fails(found)).count();
    let clean = run
        .models
        .iter()
        .filter(|model| !by_model.contains_key(model.as_str()))
        .count();
    let (tests, errors) = (
        run.findings.len() + clean + run.errors.len(),
        run.errors.len(),
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    writeln!(xml, "<testsuites name=\"recast lint\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">").ok();
    for model in &run.models {
        put(&std::mem::take(&mut xml))?;
        write_suite(
            put,
            model,
            by_model.get(model.as_str()).map_or(&[], Vec::as_slice),
            run,
        )?;
    }
    for error in &run.errors {
        let path = escaped(error.path().unwrap_or("recast"));
        writeln!(
            xml,
            "  <testsuite name=\"{path}\" tests=\"1\" failures=\"0\" errors=\"1\">"
        )
        .ok();
        writeln!(xml, "    <testcase name=\"model\" classname=\"{path}\">").ok();
        writeln!(
            xml,
            "      <error message=\"{}\" type=\"{}\"/>",
            escaped(&error.place_and_message()),
            error.kind().code()
        )
        .ok();
        xml.push_str("    </testcase>\n  </testsuite>\n");
    }
    xml.push_str("</testsuites>\n");
    put(&xml)
}

fn write_suite(
    put: &mut PutXml,
    model: &str,
    found: &[&Diagnostic],
    run: &LintRun,
) -> io::Result<()> {
    let mut xml = String::new();
    let failures = found.iter().filter(|one| run.fails(one)).count();
    let (path, tests) = (escaped(model), found.len().max(1));
    writeln!(
        &mut xml,
        "  <testsuite name=\"{path}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">"
    )
    .ok();
    if found.is_empty() {
        writeln!(
            &mut xml,
            "    <testcase name=\"model\" classname=\"{path}\"/>"
        )
        .ok();
    }
    for one in found {
        put(&std::mem::take(&mut xml))?;
        let name = escaped(&format!("{} {}", one.code(), one.place()));
        let message = escaped(&one.message);
        writeln!(
            &mut xml,
            "    <testcase name=\"{name}\" classname=\"{path}\">"
        )
        .ok();
        if run.fails(one) {
            let (kind, text) = (one.severity, escaped(one.text().unwrap_or_default()));
            writeln!(
                &mut xml,
                "      <failure message=\"{message}\" type=\"{kind}\">{text}</failure>"
            )
            .ok();
        } else {
            writeln!(
                &mut xml,
                "      <system-out>{}: {message}</system-out>",
                one.severity
            )
            .ok();
        }
        xml.push_str("    </testcase>\n");
    }
    xml.push_str("  </testsuite>\n");
    put(&xml)
}

/// Text between tags or quotes.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            c => out.push(c),
        }
    }
    out
}
