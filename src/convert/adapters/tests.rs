//! The adapters against the facts.

use std::collections::HashSet;

use super::adapter::{Action, Value};
use super::*;
use crate::ops::schemas;

/// The versions of ai.onnx operators that only change types. A new version of an operator changes
/// this number: read its text first.
const TYPES_ONLY: usize = 225;

#[test]
fn every_version_step_has_one_adapter_or_changes_types_only() {
    let mut rows = HashSet::new();
    let mut wrong = Vec::new();
    for adapter in FAMILIES.iter().copied().flatten() {
        for op in adapter.ops.split(' ') {
            if !rows.insert((op, adapter.to)) {
                wrong.push(format!("{op}-{} has two adapters", adapter.to));
            }
            if !schemas::versions("", op)
                .iter()
                .any(|schema| schema.since_version == adapter.to)
            {
                wrong.push(format!("{op}-{} is not in the facts", adapter.to));
            }
        }
    }
    let mut types_only = 0;
    for pair in schemas::all()
        .windows(2)
        .filter(|pair| pair[0].domain.is_empty() && pair[0].name == pair[1].name)
    {
        let step = (pair[1].name, pair[1].since_version);
        match (
            rows.contains(&step),
            differ_in_types_only(&pair[0], &pair[1]),
        ) {
            (false, false) => wrong.push(format!("{}-{} has no adapter", step.0, step.1)),
            (false, true) => types_only += 1,
            (true, _) => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(types_only, TYPES_ONLY);
}

/// The facts also state how older versions behave without an attribute; lint rules use that.
#[test]
fn what_is_dropped_is_what_the_older_version_implies() {
    let mut wrong = Vec::new();
    for adapter in FAMILIES.iter().copied().flatten() {
        for (op, action) in adapter
            .ops
            .split(' ')
            .flat_map(|op| adapter.down.iter().map(move |action| (op, action)))
        {
            let Action::DropIf(name, value) = action else {
                continue;
            };
            let newer = schemas::schema("", op, adapter.to).expect("a version of the facts");
            let implied = schemas::implied(newer, name, 1).map(|implied| match implied {
                schemas::DefaultValue::Int(int) => Value::Int(int),
                schemas::DefaultValue::Float(float) => Value::Float(float),
                schemas::DefaultValue::String(string) => Value::String(string),
                other => panic!("{op}-{} has {other:?}", adapter.to),
            });
            // A list of ones has no default to compare with.
            if implied != Some(*value) && *value != Value::Ones {
                wrong.push(format!(
                    "{op}-{}: `{name}` = {value:?}, but {implied:?} in the facts",
                    adapter.to
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
