//! Finds the nodes and values that reports name by their paths.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;

use crate::base::hash::{HashMap, HashSet};
use crate::convert::NodeChange;
use crate::diff::Difference;
use crate::graph::{Model, NodeId, Origin, ValueId};
use crate::lint::Diagnostic;
use crate::report::Conversion;
use crate::{passes, precision};

/// The subject of a line of a report.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum About {
    /// The node with this path.
    Node(String),
    /// The input or initializer with this path.
    Value(String),
}

impl About {
    /// The items of lists by turns: the first of each list, then the second of each. Only the first
    /// places of a page are drawn, and each kind of place should be among them.
    #[must_use]
    pub fn in_turn(lists: Vec<Vec<About>>) -> Vec<About> {
        let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
        let mut all = Vec::new();
        while !lists.is_empty() {
            lists.retain_mut(|list| list.next().map(|item| all.push(item)).is_some());
        }
        all
    }

    /// The nodes and constants that a fold reports.
    #[must_use]
    pub fn folded(report: &passes::Report) -> Vec<About> {
        let node = |path: &str| About::Node(path.to_owned());
        let kept = report.all_kept().map(|kept| node(&kept.node)).collect();
        let folded = report.all_folded().map(|folded| node(&folded.record.node));
        let computed = report
            .computed()
            .map(|computed| node(&computed.record.node));
        let changed = report.changes().map(|change| node(&change.record.node));
        let removed = |kind| {
            report
                .removals()
                .filter(move |removal| removal.kind == kind)
                .map(|removal| removal.path)
        };
        // A removed constant was an initializer or a node.
        let constants = removed("constant")
            .flat_map(|path| [About::Value(path.to_string()), node(&path)])
            .collect();
        let nodes = removed("node").map(|path| node(&path)).collect();
        About::in_turn(vec![
            kept,
            folded.chain(computed).chain(changed).collect(),
            nodes,
            constants,
        ])
    }

    /// The nodes and values that a conversion reports.
    #[must_use]
    pub fn converted(
        Conversion {
            report, blockers, ..
        }: &Conversion,
    ) -> Vec<About> {
        let changed = |changes: &[NodeChange]| {
            changes
                .iter()
                .map(|change| About::Node(change.node.to_string()))
                .collect()
        };
        let blockers = blockers
            .iter()
            .map(|blocker| About::Node(blocker.node.clone()))
            .collect();
        let expansions = report
            .expansions
            .iter()
            .map(|expanded| About::Node(expanded.node.to_string()))
            .collect();
        let carried = report
            .carried
            .iter()
            .map(|each| About::Value(each.value.to_string()))
            .collect();
        About::in_turn(vec![
            blockers,
            changed(&report.warnings),
            expansions,
            carried,
            changed(&report.changes),
        ])
    }

    /// The nodes and constants that a change of precision reports.
    #[must_use]
    pub fn narrowed(report: &precision::Report) -> Vec<About> {
        let node = |path: &str| About::Node(path.to_owned());
        let kept = report.kept.iter().map(|kept| node(&kept.node)).collect();
        let roundings = report
            .emulation
            .iter()
            .flat_map(|emulation| &emulation.roundings);
        let added = report
            .casts_added
            .iter()
            .chain(roundings)
            .map(|cast| node(&cast.node))
            .collect();
        let removed = report.casts_removed.iter().map(|path| node(path)).collect();
        // A constant is an initializer, or an attribute of a node.
        let of_attribute = |path: &str| path.rsplit_once('.').map(|(path, _)| node(path));
        let constants = report.tensors.iter().flat_map(|tensor| {
            [
                Some(About::Value(tensor.tensor.clone())),
                of_attribute(&tensor.tensor),
            ]
            .into_iter()
            .flatten()
        });
        About::in_turn(vec![kept, constants.collect(), added, removed])
    }

    /// The nodes and values that findings are about.
    #[must_use]
    pub fn found(findings: &[Diagnostic]) -> Vec<About> {
        let mut by_rule: BTreeMap<&str, Vec<About>> = BTreeMap::new();
        for found in findings {
            let about = found
                .node()
                .map(About::Node)
                .or_else(|| found.value().map(About::Value));
            by_rule.entry(found.code()).or_default().extend(about);
        }
        About::in_turn(by_rule.into_values().collect())
    }

    /// The nodes and values that differences may be about: the path of a difference is theirs, or
    /// that of a field of a node.
    #[must_use]
    pub fn compared(differences: &[Difference]) -> Vec<About> {
        let candidates = |path: &str| -> Vec<About> {
            let fields = path.match_indices('.').map(|(end, _)| &path[..end]);
            let nodes = [path]
                .into_iter()
                .chain(fields)
                .filter(|path| path.contains('/'))
                .map(|path| About::Node(path.to_owned()));
            nodes.chain([About::Value(path.to_owned())]).collect()
        };
        differences
            .iter()
            .flat_map(|difference| candidates(&difference.path))
            .collect()
    }
}

/// A part of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// A node.
    Node(NodeId),
    /// A value that no node produces.
    Value(ValueId),
}

/// The parts of a model that paths name, without the paths that name several parts.
pub fn find(model: &Model, wanted: &HashSet<&About>) -> HashMap<About, Part> {
    let mut found: HashMap<About, Option<Part>> = HashMap::default();
    let mut add = |about: About, part: Part| {
        if wanted.contains(&about) {
            match found.entry(about) {
                Entry::Vacant(vacant) => drop(vacant.insert(Some(part))),
                Entry::Occupied(mut occupied) => *occupied.get_mut() = None,
            }
        }
    };
    #[expect(clippy::disallowed_methods, reason = "only whether there is one")]
    let (wants_nodes, wants_values) = (
        wanted.iter().any(|about| matches!(about, About::Node(_))),
        wanted.iter().any(|about| matches!(about, About::Value(_))),
    );
    if wants_nodes {
        for node in model.scopes().flat_map(|scope| model.nodes(scope)) {
            add(About::Node(model.node_path(node)), Part::Node(node));
        }
    }
    if wants_values {
        for value in model
            .values()
            .filter(|&value| !matches!(model.origin(value), Origin::Node { .. }))
        {
            let path = format!(
                "{}/{}",
                model.scope_path(model.scope_of(value)),
                model.name(value)
            );
            add(About::Value(path), Part::Value(value));
        }
    }
    found
        .into_iter()
        .filter_map(|(about, part)| Some((about, part?)))
        .collect()
}
