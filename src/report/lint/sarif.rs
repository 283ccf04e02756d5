//! SARIF 2.1.0: rules with their documentation, findings with byte regions, node paths and fingerprints.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{LintRun, slashes};
use crate::lint::{Diagnostic, Rule, Safety, Severity};
use crate::report::Failure;
use crate::shown::Document;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn render(run: &LintRun) -> Document<'_> {
    let mut rules: Vec<&Rule> = run.findings.iter().map(|found| found.rule).collect();
    rules.sort_unstable_by_key(|rule| rule.code);
    rules.dedup();
    let notifications: Vec<Value> = run.errors.iter().map(notification).collect();
    let tool = json!({ "driver": {
        "name": "recast",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<Value>>(),
    } });
    let invocations = json!([{
        "executionSuccessful": run.errors.is_empty(),
        "toolExecutionNotifications": notifications,
    }]);
    let results = Results { run, rules };
    Document::json(Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run { tool, invocations, results, column_kind: "utf16CodeUnits" }],
    })
}

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
struct Run<'r> {
    tool: Value,
    invocations: Value,
    results: Results<'r>,
    #[serde(rename = "columnKind")]
    column_kind: &'static str,
}

/// The findings, each of which becomes JSON when it is written: all of them as JSON take ten times their memory.
struct Results<'r> {
    run: &'r LintRun,
    rules: Vec<&'r Rule>,
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.run.findings.iter().map(|found| result(found, &self.rules)))
    }
}

fn descriptor(rule: &Rule) -> Value {
    let documentation = rule.documentation();
    let full = rule.section("What it checks").unwrap_or_else(|| rule.summary());
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.summary() },
        "fullDescription": { "text": full },
        "help": { "text": documentation, "markdown": documentation },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn result(found: &Diagnostic, rules: &[&Rule]) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(found.path()) } });
    if let Some(region) = found.bytes() {
        physical["region"] = json!({ "byteOffset": region.offset, "byteLength": region.length });
    }
    let place = found.place();
    // A name may hold slashes of its own: exporters of PyTorch write `/layers.0/Cast`.
    let in_scope = found.scope().and_then(|scope| place.strip_prefix(scope)?.strip_prefix('/'));
    let name = in_scope.unwrap_or(&place);
    let kind = if found.op().is_some() {
        "node"
    } else if found.value().is_some() {
        "value"
    } else {
        "model"
    };
    let mut result = json!({
        "ruleId": found.code(),
        "ruleIndex": rules.iter().position(|rule| rule.code == found.code()),
        "level": level(found.severity),
        "message": { "text": &*found.message },
        "locations": [{
            "physicalLocation": physical,
            "logicalLocations": [{ "name": name, "fullyQualifiedName": place, "kind": kind }],
        }],
        "partialFingerprints": { "recast/v1": found.fingerprint() },
    });
    if let Some(fix) = &found.fix {
        let safety = if fix.safety == Safety::Safe { "safe" } else { "unsafe" };
        result["properties"] = json!({ "fix": { "safety": safety, "what": fix.what } });
    }
    result
}

fn notification(error: &Failure) -> Value {
    let mut notification = json!({
        "level": "error",
        "descriptor": { "id": error.code },
        "message": { "text": error.place_and_message() },
    });
    if let Some(path) = &error.path {
        notification["locations"] = json!([{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }]);
    }
    notification
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// The path as a reference: relative, or with `file:` from the root.
fn uri(path: &str) -> String {
    let path = slashes(path);
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    } else if path.as_bytes().get(1) == Some(&b':') {
        uri.push_str("file:///");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => write!(uri, "%{byte:02X}").unwrap_or_default(),
        }
    }
    uri
}
