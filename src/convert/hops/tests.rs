//! The hops against the facts.

use std::collections::HashSet;

use super::*;
use crate::facts;

/// The versions of ai.onnx operators that only admit other types than the ones before them, and say the same in their text. A new
/// version of an operator changes this number: read what it says before this does.
const TYPES_ONLY: usize = 246;

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
