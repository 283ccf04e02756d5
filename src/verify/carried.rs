//! Verification of values that a conversion carries in wider types.
//!
//! The types are set back: the result must be the original, field by field, except for nodes that
//! the report names. Each constant must have the numbers of the original, by the definition of the
//! casts.

use super::compare::{Allowed, Difference};
use super::evaluate::{Value, first_difference};
use super::fault::Fault;
use super::laws::is_lossless;
use super::matching::Matching;
use super::unchanged_fields::{compare_models, compare_nodes, of_conversion};
use super::verified::Verified;
use crate::base::hash::{HashMap, HashSet};
use crate::convert::{CarriedValue, Report};
use crate::graph::{Edit, Model, NodeId, TypePlace, ValueId};
use crate::ops::inference::infer;
use crate::protobuf::schema::TensorProto;
use onnx_cast::{Cast, DType, Rules};

/// Compares a model with the original, of which it may differ in the types of the values that are
/// reported.
pub(super) fn verify(
    original: &Model,
    legalized: &Model,
    report: &Report,
    verified: &mut Verified,
) -> Vec<Fault> {
    let reported = report
        .carried
        .iter()
        .map(|each| (&*each.value, each))
        .collect();
    let mut undoing = Undoing {
        matching: &Matching::by_results(original, legalized),
        reported,
        edits: Vec::new(),
        faults: Vec::new(),
        verified,
    };
    let [before, after] = [original, legalized].map(infer);
    for value in legalized.values() {
        let Some(counterpart) = undoing.matching.value(value) else {
            continue;
        };
        let types = [before.of(counterpart), after.of(value)].map(|known| known.dtype());
        if let [Some(from), Some(to)] = types
            && from != to
        {
            undoing.value([counterpart, value], [from, to]);
        }
    }
    let Undoing {
        mut faults, edits, ..
    } = undoing;
    match legalized.clone().with_edits(edits) {
        Ok(restored) => faults.extend(others(original, &restored, report)),
        Err(refused) => faults.push(Fault::at("graph", refused.to_string())),
    }
    faults
}

/// What else differs. Without replaced nodes, that is nothing.
fn others(original: &Model, restored: &Model, report: &Report) -> Vec<Fault> {
    let changed: HashSet<&str> = report.changes.iter().map(|change| &*change.node).collect();
    let matching = Matching::by_results(original, restored);
    let is_changed = |node: NodeId| changed.contains(original.node_path(node).as_str());
    let differing: Vec<[NodeId; 2]> = matching.differing_nodes().collect();
    if !differing
        .iter()
        .any(|&[_, counterpart]| is_changed(counterpart))
    {
        return compare_models(original, restored, |_, _, _| false);
    }
    let mut faults = compare_models(original, restored, of_conversion);
    for [node, counterpart] in differing {
        if !is_changed(counterpart) {
            let nodes = [original.node(counterpart), restored.node(node)];
            let path = || original.node_path(counterpart);
            faults.extend(compare_nodes(&matching, path, nodes, of_conversion));
        }
    }
    faults
}

struct Undoing<'v> {
    matching: &'v Matching<'v>,
    /// By path.
    reported: HashMap<&'v str, &'v CarriedValue>,
    /// The edits that set types back.
    edits: Vec<Edit>,
    faults: Vec<Fault>,
    verified: &'v mut Verified,
}

impl Undoing<'_> {
    /// Sets a value back, given in both models, with its types there.
    fn value(&mut self, [before, after]: [ValueId; 2], [from, to]: [DType; 2]) {
        let Matching {
            original, written, ..
        } = *self.matching;
        // As the report names it: nodes that are added move others to other places.
        let scope = original.scope_path(original.scope_of(before));
        let path = format!("{scope}/{}", original.name(before));
        let is_reported = self
            .reported
            .get(path.as_str())
            .is_some_and(|each| (each.from, each.to) == (from, to));
        if !is_reported || !is_lossless(from, to) {
            let what = format!("is {to}; was {from}");
            return self.faults.push(Fault::at(path, what));
        }
        if let (Some((_, expected)), Some((place, found))) =
            (original.stated_tensor(before), written.stated_tensor(after))
        {
            let checked = has_numbers_of(self.matching, [expected, found], to);
            match checked {
                Ok(elements) => {
                    self.verified.constants += 1;
                    self.verified.elements += elements;
                }
                Err(what) => self.faults.push(Fault::at(path, what)),
            }
            self.edits.push(Edit::ReplaceTensor {
                place,
                with: expected.clone(),
                check_width: false,
            });
        }
        if written.declared(after).is_some() {
            self.edits.push(Edit::SetType {
                at: TypePlace::Value(after),
                from: Some(to),
                to: from,
            });
        }
    }
}

/// The number of elements of a tensor that has the numbers of the original in another type.
fn has_numbers_of(
    matching: &Matching,
    [expected, found]: [&TensorProto; 2],
    to: DType,
) -> Result<u64, String> {
    let expected = Value::load(expected, matching.original.data())?;
    let found = Value::load(found, matching.written.data())?;
    let cast =
        Cast::new(expected.dtype(), to, Rules::default()).map_err(|error| error.to_string())?;
    let expected = expected.cast(cast, Allowed::ALL)?;
    if (expected.dtype(), expected.dims()) != (found.dtype(), found.dims()) {
        return Err("has another type or shape than the original".to_owned());
    }
    match first_difference(&expected, &found) {
        None => Ok(found.elements() as u64),
        Some(Difference::At(index) | Difference::Undefined(index, _)) => {
            Err(format!("element {index} is not that of the original"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::{CarriedRole, Exactness};
    use crate::onnx_text;

    const ORIGINAL: &str = r#"<ir_version: 10, opset_import: ["": 21]>
        g (float x) => (float[2] y) <int4[2] w = {-8, 7}, float s = {2}> { v = Identity (w) y = DequantizeLinear (v, s) }"#;

    fn faults(text: &str, reported: &[&str]) -> String {
        let model = |text: &str| Model::new(onnx_text::parse(text).unwrap()).unwrap();
        let carried = |path: &&str| CarriedValue {
            value: (*path).into(),
            from: DType::Int4,
            to: DType::Int8,
            class: Exactness::Exact,
            bytes: 0,
            role: CarriedRole::Inner,
        };
        let report = Report {
            carried: reported.iter().map(carried).collect(),
            ..Report::default()
        };
        let faults = verify(
            &model(ORIGINAL),
            &model(text),
            &report,
            &mut Verified::default(),
        );
        let lines: Vec<String> = faults
            .iter()
            .map(|fault| format!("{}: {}", fault.path, fault.what))
            .collect();
        lines.join("; ")
    }

    #[test]
    fn a_wider_type_is_accepted_only_as_reported_and_with_the_same_numbers() {
        let wide = |numbers: &str| {
            ORIGINAL.replace("int4[2] w = {-8, 7}", &format!("int8[2] w = {{{numbers}}}"))
        };
        let both = ["graph/v", "graph/w"];
        assert_eq!(faults(&wide("-8, 7"), &both), "");
        assert_eq!(
            faults(&wide("-8, 6"), &both),
            "graph/w: element 1 is not that of the original"
        );
        assert_eq!(
            faults(&wide("-8, 7"), &["graph/w"]),
            "graph/v: is INT8; was INT4"
        );
        let other = wide("-8, 7").replace("s = {2}", "s = {3}");
        assert!(
            faults(&other, &both).contains("graph/s"),
            "{}",
            faults(&other, &both)
        );
        let node = wide("-8, 7").replace("Identity", "Neg");
        assert!(!faults(&node, &both).is_empty());
        let narrow = ORIGINAL
            .replace("int4[2]", "int2[2]")
            .replace("{-8, 7}", "{-2, 1}");
        assert!(faults(&narrow, &both).contains("is INT2; was INT4"));
    }
}
