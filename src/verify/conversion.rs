//! Verification of a conversion.

use super::bystanders::{compare_models, compare_nodes, of_conversion};
use super::fault::Fault;
use super::pairs::Pairs;
use super::storage;
use super::verified::Verified;
use crate::base::hash::HashSet;
use crate::convert::engine::Conversion;
use crate::convert::{self, NotConverted, Options};
use crate::graph::Model;
use crate::ops::inference::{Known, infer};

pub(super) fn verify(original: &Model, written: &Model, options: &Options) -> (Verified, Vec<Fault>) {
    let verified = Verified { nodes: written.topological_order().len(), ..Verified::default() };
    let read = convert::read(original.clone(), options).map_err(NotConverted::from);
    let again = read.and_then(|read| Ok((convert::plan(&read, options)?.apply(read.clone())?, read)));
    let (Conversion { model: again, report }, original) = match &again {
        Ok((again, original)) => (again, original),
        Err(error) => return (verified, vec![Fault::at("graph", format!("the original cannot be converted again: {error}"))]),
    };
    // What was computed and written.
    let mut faults = compare_models(again, written, |_, _, _| false);
    // What the conversion may not change.
    faults.extend(compare_models(original, written, of_conversion));
    let pairs = Pairs::by_results(original, written);
    let expanded = report.expansions.iter().map(|expanded| &*expanded.node);
    let changed: HashSet<&str> = report.changes.iter().map(|change| &*change.node).chain(expanded).collect();
    for (scope, counterpart) in pairs.scopes() {
        for node in written.nodes(scope).filter(|_| counterpart.is_some()) {
            let Some(counterpart) = pairs.node(node) else { continue };
            let path = original.node_path(counterpart);
            if !changed.contains(path.as_str()) {
                faults.extend(compare_nodes(&pairs, &path, [original.node(counterpart), written.node(node)], of_conversion));
            }
        }
    }
    faults.extend(types(&pairs));
    faults.extend(storage::ambiguous(again, written));
    match convert::expect_valid(written) {
        Ok(()) => {}
        Err(NotConverted::Blocked { blockers, .. }) => {
            faults.extend(blockers.into_iter().map(|blocker| Fault::at(blocker.node, blocker.reason)));
        }
        Err(invalid) => faults.push(Fault::at("graph", invalid.to_string())),
    }
    (verified, faults)
}

/// Values whose types or shapes, inferred from the operators of both opsets, contradict each other.
fn types(pairs: &Pairs) -> Vec<Fault> {
    let (original, written) = (infer(pairs.original), infer(pairs.written));
    let mut faults = Vec::new();
    for value in pairs.written.values() {
        let Some(counterpart) = pairs.value(value) else { continue };
        let (found, expected) = (written.of(value), original.of(counterpart));
        if found.contradicts(expected) {
            let path = format!("{}/{}", pairs.written.scope_path(pairs.written.scope_of(value)), pairs.written.name(value));
            let shown = |known: &Known| format!("{:?} {:?}", known.dtype(), known.shape);
            faults.push(Fault::at(path, format!("is {}; was {}", shown(found), shown(expected))));
        }
    }
    faults
}
