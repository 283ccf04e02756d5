//! Verification of a conversion.

use std::sync::Arc;

use super::fault::{Fault, NotVerified};
use super::matching::Matching;
use super::unchanged_fields::{compare_models, compare_nodes, of_conversion};
use super::verified::Verified;
use super::{carried, rewrite, value_fields};
use crate::base::hash::HashSet;
use crate::base::parallel;
use crate::convert::{self, NotConverted, Options, PlannedConversion};
use crate::graph::{Model, NodeId};
use crate::ops::inference::{Deferred, Inferred};
use crate::passes::Options as PassOptions;

/// A second conversion of the original, which needs nothing of the first one.
pub(crate) struct SecondConversion {
    original: Model,
    before: Deferred,
    planned: PlannedConversion,
}

impl SecondConversion {
    /// # Errors
    /// If the original cannot be converted.
    pub fn of(original: Model, options: &Options) -> Result<SecondConversion, NotVerified> {
        let again = || {
            let original = convert::read(original, options)?;
            let before = Deferred::with(options.contested);
            let planned =
                convert::plan_valid(&original, &before, options, Some(expect_equal_results))?;
            Ok(SecondConversion {
                original,
                before,
                planned,
            })
        };
        again().map_err(cannot_be_converted)
    }

    pub fn original(&self) -> &Model {
        &self.original
    }

    pub fn into_original(self) -> Model {
        self.original
    }
}

fn cannot_be_converted(error: NotConverted) -> NotVerified {
    let what = format!("the original cannot be converted again: {error}");
    NotVerified {
        faults: vec![Fault::at("graph", what)],
    }
}

/// `after` are the types of the written model, which another thread may be inferring.
pub(super) fn verify(
    again: SecondConversion,
    after: Arc<Deferred>,
    written: &Model,
    options: &Options,
) -> (Verified, Vec<Fault>) {
    let mut verified = Verified {
        nodes: written.topological_order().len(),
        ..Verified::default()
    };
    let SecondConversion {
        original,
        before,
        planned,
    } = again;
    let legalized_types = Deferred::with(options.contested);
    // The nodes are compared with those that are converted.
    let compared = match planned.legalized() {
        Some(legalized) => Compared::new([legalized, written], [&legalized_types, &after]),
        None => Compared::new([&original, written], [&before, &after]),
    };
    let mut faults = invalid(written, &after);
    if let Some(legalized) = planned.legalized() {
        let report = planned.report();
        faults.extend(carried::verify(&original, legalized, report, &mut verified));
    }
    faults.extend(compared.faults(&planned));
    // The memory of the types is free for the nodes of the conversion.
    parallel::drop_in_background((before, legalized_types, after));
    // What was computed and written.
    match planned.apply(original) {
        Ok(again) => {
            faults.extend(compare_models(&again.model, written, |_, _, _| false));
            faults.extend(value_fields::ambiguous(&again.model, written));
            parallel::drop_in_background(again.model);
        }
        Err(error) => faults.extend(cannot_be_converted(error.into()).faults),
    }
    (verified, faults)
}

/// A model before its conversion and the written one, compared.
struct Compared<'m> {
    matching: Matching<'m>,
    /// The types and shapes of both models.
    inferred: [&'m Deferred; 2],
    /// What a conversion may not change.
    faults: Vec<Fault>,
    /// The nodes that may differ only if the conversion reports them, and their counterparts.
    differing: Vec<[NodeId; 2]>,
}

impl<'m> Compared<'m> {
    fn new([original, written]: [&'m Model; 2], inferred: [&'m Deferred; 2]) -> Compared<'m> {
        let match_nodes = || {
            let matching = Matching::by_results(original, written);
            let differing = matching.differing_nodes().collect();
            (matching, differing)
        };
        let compare = || compare_models(original, written, of_conversion);
        let ((matching, differing), faults) = parallel::join(match_nodes, compare);
        Compared {
            matching,
            inferred,
            faults,
            differing,
        }
    }

    /// The differences that the conversion does not report.
    fn faults(mut self, conversion: &PlannedConversion) -> Vec<Fault> {
        let report = conversion.report();
        let Matching {
            original, written, ..
        } = self.matching;
        let [before, after] = self.inferred;
        let inferred = [before.of(original), after.of(written)];
        self.faults.extend(types(&self.matching, inferred));
        let expanded = report.expansions.iter().map(|expanded| &*expanded.node);
        let changed: HashSet<&str> = report
            .changes
            .iter()
            .map(|change| &*change.node)
            .chain(expanded)
            .collect();
        for [node, counterpart] in self.differing {
            let path = conversion.reported_path(original.node_path(counterpart));
            if !changed.contains(path.as_str()) {
                let nodes = [original.node(counterpart), written.node(node)];
                self.faults.extend(compare_nodes(
                    &self.matching,
                    || path.clone(),
                    nodes,
                    of_conversion,
                ));
            }
        }
        self.faults
    }
}

/// The nodes of the written model that are not valid.
fn invalid(written: &Model, inferred: &Deferred) -> Vec<Fault> {
    match convert::expect_valid(written, inferred) {
        Ok(()) => Vec::new(),
        Err(NotConverted::Blocked { blockers, .. }) => blockers
            .into_iter()
            .map(|blocker| Fault::at(blocker.node, blocker.reason.to_string()))
            .collect(),
        Err(invalid) => vec![Fault::at("graph", invalid.to_string())],
    }
}

/// Whether passes kept the results of a model, the first one.
fn expect_equal_results(before: &Model, after: &Model) -> Result<(), String> {
    let options = PassOptions::default();
    let inferred = Deferred::with(options.contested);
    let (_, faults) = rewrite::verify([before, after], &inferred, &options, false);
    if faults.is_empty() {
        Ok(())
    } else {
        Err(NotVerified { faults }.to_string())
    }
}

/// Values whose types or shapes, inferred from the operators of both opsets, contradict each other.
fn types(matching: &Matching, [original, written]: [&Inferred; 2]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for value in matching.written.values() {
        let Some(counterpart) = matching.value(value) else {
            continue;
        };
        let (found, expected) = (written.of(value), original.of(counterpart));
        if found.contradicts(expected) {
            let path = format!(
                "{}/{}",
                matching
                    .written
                    .scope_path(matching.written.scope_of(value)),
                matching.written.name(value)
            );
            faults.push(Fault::at(path, format!("is {found}; was {expected}")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx_text;

    #[test]
    fn passes_that_changed_a_constant_of_an_expansion_did_not_keep_its_results() {
        let model = |nodes: &str| {
            let text = format!(
                r#"<ir_version: 10, opset_import: ["": 21]> e (int64 x) => (int64 y) {{ {nodes} }}"#
            );
            Model::new(onnx_text::parse(&text).unwrap()).unwrap()
        };
        let before =
            model("one = Constant <value = int64 {1}> () two = Add (one, one) y = Add (x, two)");
        let after = |number: i64| {
            model(&format!(
                "two = Constant <value = int64 {{{number}}}> () y = Add (x, two)"
            ))
        };
        assert_eq!(expect_equal_results(&before, &after(2)), Ok(()));
        let fault = expect_equal_results(&before, &after(3)).unwrap_err();
        assert!(fault.contains("graph/two"), "{fault}");
    }

    #[test]
    fn a_constant_behind_a_cast_is_not_read_if_passes_did_not_keep_its_value() {
        let text = r#"<ir_version: 8, opset_import: ["": 12]> g (float[n] x) => (float[m] y) <int64[2] pads = {1, 1}, double a = {0.25}> {
            value = Cast <to = 1> (a) y = Pad (x, pads, value)
        }"#;
        let model = Model::new(onnx_text::parse(text).unwrap()).unwrap();
        let planned = |check| {
            convert::plan_valid(&model, &Deferred::default(), &Options::to(10), Some(check))
        };
        assert!(planned(expect_equal_results).is_ok());
        // The attribute would need no check; the expansion, which is tried then, fails its own.
        let refused = planned(|_, _| Err("they differ".to_owned()));
        assert!(matches!(refused, Err(NotConverted::Blocked { .. })));
    }

    #[test]
    fn a_conversion_is_refused_if_passes_did_not_keep_the_results_of_an_expansion() {
        let text = r#"<ir_version: 10, opset_import: ["": 18]> g (int8[2] x) => (int8[2] y) { y = BitwiseNot (x) }"#;
        let model = Model::new(onnx_text::parse(text).unwrap()).unwrap();
        let planned = |check| {
            convert::plan_valid(&model, &Deferred::default(), &Options::to(17), Some(check))
        };
        assert!(planned(expect_equal_results).is_ok());
        let Err(NotConverted::Blocked { blockers, .. }) =
            planned(|_, _| Err("they differ".to_owned()))
        else {
            panic!("converted")
        };
        assert!(
            blockers[0].reason.to_string().contains("they differ"),
            "{}",
            blockers[0]
        );
    }
}
