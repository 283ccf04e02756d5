//! SARIF 2.1.0: rules with their documentation, findings with byte regions, node paths and
//! fingerprints.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::ser::{Serialize, SerializeSeq, Serializer};
use serde_json::{Value, json};

use super::parts::slashes;
use super::run::LintRun;
use crate::base::error::Error;
use crate::base::printable::Document;
use crate::lint::{Diagnostic, RULES, RuleFacts, Safety, Severity};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

pub(super) fn render(run: &LintRun) -> Document<'_> {
    let mut rules: Vec<&RuleFacts> = run.findings.iter().map(|found| found.rule).collect();
    rules.sort_unstable_by_key(|rule| rule.code);
    rules.dedup();
    let notifications: Vec<Value> = run.errors.iter().map(notification).collect();
    let driver = without_nulls(json!({
        "name": "recast",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": repository(),
        "rules": rules.iter().map(|rule| descriptor(rule)).collect::<Vec<Value>>(),
    }));
    let tool = json!({ "driver": driver });
    let invocations = json!([{
        "executionSuccessful": run.errors.is_empty(),
        "toolExecutionNotifications": notifications,
    }]);
    let results = SarifResults { run, rules };
    Document::json(Log {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [SarifRun {
            tool,
            invocations,
            results,
            column_kind: "utf16CodeUnits",
        }],
    })
}

#[derive(serde::Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun<'r>; 1],
}

#[derive(serde::Serialize)]
struct SarifRun<'r> {
    tool: Value,
    invocations: Value,
    results: SarifResults<'r>,
    #[serde(rename = "columnKind")]
    column_kind: &'static str,
}

/// The findings, each of which becomes JSON when it is written: all of them as JSON take ten times
/// their memory.
struct SarifResults<'r> {
    run: &'r LintRun,
    rules: Vec<&'r RuleFacts>,
}

impl Serialize for SarifResults<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut results = serializer.serialize_seq(Some(self.run.findings.len()))?;
        for found in &self.run.findings {
            results.serialize_element(&result(found, &found.place(), &self.rules))?;
        }
        results.end()
    }
}

fn descriptor(rule: &RuleFacts) -> Value {
    let documentation = rule.docs;
    let full = rule
        .section("What it checks")
        .unwrap_or_else(|| rule.summary());
    without_nulls(json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": rule.summary() },
        "fullDescription": { "text": full },
        "help": { "text": documentation, "markdown": documentation },
        "helpUri": repository().and_then(|repository| help_uri(rule, repository)),
        "defaultConfiguration": { "level": level(rule.severity) },
    }))
}

/// The public address of the repository; none while `Cargo.toml` has a placeholder.
fn repository() -> Option<&'static str> {
    let address = env!("CARGO_PKG_REPOSITORY");
    (!address.contains("/OWNER/")).then_some(address)
}

/// The documentation of a rule of this crate, in this version of the repository.
fn help_uri(rule: &RuleFacts, repository: &str) -> Option<String> {
    let is_own = RULES.iter().any(|own| own.facts == *rule);
    let page = format!(
        "{repository}/blob/v{}/docs/rules.md",
        env!("CARGO_PKG_VERSION")
    );
    let anchor = format!("{}-{}", rule.code.to_lowercase(), rule.name);
    is_own.then(|| format!("{page}#{anchor}"))
}

/// An object without its fields that are null.
fn without_nulls(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'r> {
    rule_id: &'static str,
    rule_index: Option<usize>,
    level: &'static str,
    message: Message<'r>,
    locations: [Location<'r>; 1],
    partial_fingerprints: Fingerprints,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Properties<'r>>,
}

#[derive(serde::Serialize)]
struct Message<'r> {
    text: &'r str,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'r> {
    physical_location: PhysicalLocation,
    logical_locations: [LogicalLocation<'r>; 1],
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: SarifRegion,
}

#[derive(serde::Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    byte_length: Option<u64>,
}

impl SarifRegion {
    /// The bytes of a finding, if they are known. A model has no lines, but GitHub shows no result
    /// without a line and columns: it is the first character of the file.
    fn of(found: &Diagnostic) -> SarifRegion {
        let bytes = found.bytes();
        SarifRegion {
            start_line: 1,
            start_column: 1,
            end_line: 1,
            end_column: 2,
            byte_offset: bytes.as_ref().map(|bytes| bytes.offset),
            byte_length: bytes.as_ref().map(|bytes| bytes.length),
        }
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'r> {
    name: &'r str,
    fully_qualified_name: &'r str,
    kind: &'static str,
}

#[derive(serde::Serialize)]
struct Fingerprints {
    #[serde(rename = "recast/v1")]
    v1: String,
    /// The only fingerprint that GitHub uses. Without it, GitHub would make one of the first line
    /// of the file, which is the same for all findings of a model.
    #[serde(rename = "primaryLocationLineHash")]
    of_github: String,
}

#[derive(serde::Serialize)]
struct Properties<'r> {
    fix: Fix<'r>,
}

#[derive(serde::Serialize)]
struct Fix<'r> {
    safety: &'static str,
    what: &'r str,
}

/// `place` is that of the finding.
fn result<'r>(found: &'r Diagnostic, place: &'r str, rules: &[&RuleFacts]) -> SarifResult<'r> {
    // A name may hold slashes of its own: exporters of PyTorch write `/layers.0/Cast`.
    let in_scope = found
        .scope()
        .and_then(|scope| place.strip_prefix(scope)?.strip_prefix('/'));
    let kind = match (found.op(), found.scope()) {
        (Some(_), _) => "node",
        (None, Some(_)) => "value",
        (None, None) => "model",
    };
    let fix = found.fix.as_ref().map(|fix| Fix {
        safety: if fix.safety == Safety::Safe {
            "safe"
        } else {
            "unsafe"
        },
        what: &fix.what,
    });
    let fingerprint = found.fingerprint();
    SarifResult {
        rule_id: found.code(),
        rule_index: rules.iter().position(|rule| rule.code == found.code()),
        level: level(found.severity),
        message: Message {
            text: &found.message,
        },
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation {
                    uri: uri(found.path()),
                },
                region: SarifRegion::of(found),
            },
            logical_locations: [LogicalLocation {
                name: in_scope.unwrap_or(place),
                fully_qualified_name: place,
                kind,
            }],
        }],
        partial_fingerprints: Fingerprints {
            of_github: fingerprint.clone(),
            v1: fingerprint,
        },
        properties: fix.map(|fix| Properties { fix }),
    }
}

fn notification(error: &Error) -> Value {
    let mut notification = json!({
        "level": "error",
        "descriptor": { "id": error.kind() },
        "message": { "text": error.place_and_message() },
    });
    if let Some(path) = error.path() {
        notification["locations"] =
            json!([{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }]);
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

/// The characters that are encoded in the path of a reference: everything but letters, digits,
/// `-._~` and `/`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

/// The path as a reference: relative, or with `file:` from the root.
fn uri(path: &str) -> String {
    let path = slashes(path);
    let mut uri = String::new();
    if path.starts_with('/') {
        uri.push_str("file://");
    } else if path.as_bytes().get(1) == Some(&b':') {
        uri.push_str("file:///");
    }
    uri.extend(utf8_percent_encode(&path, ENCODED));
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::all;

    #[test]
    fn rules_of_this_crate_have_an_address_on_the_page_of_the_rules() {
        let page = std::fs::read_to_string("docs/rules.md").unwrap();
        for rule in all() {
            let uri = help_uri(rule, "https://example.com/recast").unwrap();
            let (address, anchor) = uri.split_once('#').unwrap();
            assert!(address.ends_with("/docs/rules.md"), "{uri}");
            // The anchor of a heading: its words in lower case.
            let is_heading = |line: &str| {
                let heading = line.strip_prefix("## ");
                heading.is_some_and(|text| text.to_lowercase().replace(' ', "-") == anchor)
            };
            assert!(page.lines().any(is_heading), "{uri}");
        }
    }
}
