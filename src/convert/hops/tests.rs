//! The hops against the facts.

use std::collections::HashSet;

use super::super::hop::{Action, Value};
use super::*;
use crate::facts;

/// The versions of ai.onnx operators that only admit other types than the ones before them, and say the same in their text. A new
/// version of an operator changes this number: read what it says before this does.
const TYPES_ONLY: usize = 245;

#[test]
fn every_version_step_has_exactly_one_hop() {
    let mut rows = HashSet::new();
    let mut wrong = Vec::new();
    for hop in FAMILIES.iter().copied().flatten() {
        for op in hop.ops {
            if !rows.insert((*op, hop.to)) {
                wrong.push(format!("{op}-{} has two hops", hop.to));
            }
            if !facts::versions("", op).iter().any(|schema| schema.since_version == hop.to) {
                wrong.push(format!("{op}-{} is no version of the facts", hop.to));
            }
        }
    }
    let mut types_only = 0;
    for pair in facts::all().windows(2).filter(|pair| pair[0].domain.is_empty() && pair[0].name == pair[1].name) {
        let step = (pair[1].name, pair[1].since_version);
        match (rows.contains(&step), differ_in_types_only(&pair[0], &pair[1])) {
            (false, false) => wrong.push(format!("{}-{} has no hop", step.0, step.1)),
            (false, true) => types_only += 1,
            (true, _) => {}
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(types_only, TYPES_ONLY);
}

/// What an older version does without an attribute is said once more in the facts, where lint rules find it.
#[test]
fn what_is_dropped_is_what_the_older_version_implies() {
    let mut wrong = Vec::new();
    for hop in FAMILIES.iter().copied().flatten() {
        for (op, action) in hop.ops.iter().flat_map(|op| hop.down.iter().map(move |action| (op, action))) {
            let Action::DropIf(name, value) = action else { continue };
            let newer = facts::schema("", op, hop.to).expect("a version of the facts");
            let implied = facts::implied(newer, name, 1).map(|implied| match implied {
                facts::Default::Int(int) => Value::Int(int),
                facts::Default::Float(float) => Value::Float(float),
                facts::Default::String(string) => Value::String(string),
                other => panic!("{op}-{} has {other:?}", hop.to),
            });
            // A list of ones has no default to compare with.
            if implied != Some(*value) && *value != Value::Ones {
                wrong.push(format!("{op}-{}: `{name}` = {value:?}, but {implied:?} in the facts", hop.to));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
