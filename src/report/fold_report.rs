//! The changes that passes made to a model, by kind, each with its pass and reason.

use std::sync::Arc;

use serde::Serialize;

use crate::base::hash::SharedTexts;
use crate::passes::{Entry, Event, Reason, Removal, Report};

/// The events of all passes, by kind.
#[derive(Debug, Default, Serialize)]
pub struct FoldReport {
    pub(super) folded: Vec<FoldedNode>,
    pub(super) skipped: Vec<SkippedNode>,
    pub(super) removed_initializers: Vec<Arc<str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) removed_nodes: Vec<Arc<str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) removals: Vec<Removed>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) computed: Vec<ComputedNode>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<Change>,
}

/// A node or constant that a pass removed, and the reason.
#[derive(Debug, Serialize)]
pub(super) struct Removed {
    pub(super) path: Arc<str>,
    pub(super) kind: &'static str,
    pub(super) pass: &'static str,
    pub(super) code: &'static str,
    pub(super) reason: Arc<str>,
}

/// An output of another node, which was replaced by a constant.
#[derive(Debug, Serialize)]
pub(super) struct ComputedNode {
    pub(super) pass: &'static str,
    pub(super) node: String,
    pub(super) op: String,
    pub(super) output: String,
    #[serde(rename = "type")]
    pub(super) to: &'static str,
    pub(super) elements: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Change {
    pub(super) pass: &'static str,
    pub(super) node: String,
    pub(super) op: String,
    pub(super) what: String,
}

#[derive(Debug, Serialize)]
pub(super) struct FoldedNode {
    pub(super) pass: &'static str,
    pub(super) node: String,
    pub(super) input: String,
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) elements: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct SkippedNode {
    pub(super) node: String,
    pub(super) code: &'static str,
    /// Shared by casts that are kept for the same reason.
    pub(super) reason: Arc<str>,
}

impl From<Report> for FoldReport {
    fn from(report: Report) -> FoldReport {
        let mut lists = FoldReport::default();
        let skipped = report.entries.iter().filter(|entry| matches!(entry.event, Event::Kept(_))).count();
        lists.skipped.reserve_exact(skipped);
        let mut reasons = SharedReasons::default();
        for Entry { pass, event } in report.entries {
            match event {
                Event::Folded(folded) => lists.folded.push(FoldedNode {
                    pass,
                    node: folded.node,
                    input: folded.input,
                    from: folded.from.name(),
                    to: folded.to.name(),
                    elements: folded.elements,
                }),
                Event::Kept(kept) => {
                    let code = kept.reason.code();
                    let reason = reasons.text(kept.reason);
                    lists.skipped.push(SkippedNode { node: kept.node, code, reason });
                }
                Event::RemovedConstant(removed) => {
                    let path: Arc<str> = removed.path().into();
                    lists.removed_initializers.push(Arc::clone(&path));
                    lists.removals.push(reasons.removed(path, "constant", pass, &removed.reason));
                }
                Event::RemovedNode { node, reason } => {
                    let path: Arc<str> = node.into();
                    lists.removed_nodes.push(Arc::clone(&path));
                    lists.removals.push(reasons.removed(path, "node", pass, &reason));
                }
                Event::ChangedNode { node, operator, change } => {
                    lists.changes.push(Change { pass, node, op: operator, what: change });
                }
                Event::Computed(computed) => lists.computed.push(ComputedNode {
                    pass,
                    node: computed.node,
                    op: computed.operator,
                    output: computed.output,
                    to: computed.to.name(),
                    elements: computed.elements,
                }),
            }
        }
        lists
    }
}

impl FoldReport {
    /// The paths of the nodes that were kept, of those that were folded or changed, and of other removed nodes.
    pub(super) fn nodes(&self) -> [Vec<&str>; 3] {
        let kept = self.skipped.iter().map(|skipped| &*skipped.node).collect();
        let folded = self.folded.iter().map(|folded| &*folded.node);
        let others = self.computed.iter().map(|computed| &*computed.node).chain(self.changes.iter().map(|change| &*change.node));
        [kept, folded.chain(others).collect(), self.removed_nodes.iter().map(|path| &**path).collect()]
    }

    /// The paths of the constants that were removed: of initializers, or of `Constant` nodes.
    pub(super) fn removed_constants(&self) -> &[Arc<str>] {
        &self.removed_initializers
    }

    /// The codes of the reasons for casts that were kept.
    pub(super) fn kept_codes(&self) -> impl Iterator<Item = &'static str> {
        self.skipped.iter().map(|skipped| skipped.code)
    }

    /// The passes that changed something.
    pub(super) fn passes(&self) -> impl Iterator<Item = &'static str> {
        let folded = self.folded.iter().map(|folded| folded.pass).chain(self.computed.iter().map(|computed| computed.pass));
        folded.chain(self.changes.iter().map(|change| change.pass)).chain(self.removals.iter().map(|removed| removed.pass))
    }

    /// The codes of the reasons for nodes and constants that were removed.
    pub(super) fn removal_codes(&self) -> impl Iterator<Item = &'static str> {
        self.removals.iter().map(|removed| removed.code)
    }
}

/// The texts of reasons. Many nodes are kept for the same one, often one after the other.
#[derive(Default)]
struct SharedReasons {
    texts: SharedTexts,
    last: Option<(Reason, Arc<str>)>,
}

impl SharedReasons {
    fn removed(&mut self, path: Arc<str>, kind: &'static str, pass: &'static str, reason: &Removal) -> Removed {
        Removed { path, kind, pass, code: reason.code(), reason: self.texts.shared(reason.to_string()) }
    }

    fn text(&mut self, reason: Reason) -> Arc<str> {
        if let Some((last, text)) = &self.last
            && *last == reason
        {
            return Arc::clone(text);
        }
        let text = self.texts.shared(match remedy(reason.code()) {
            Some(remedy) => format!("{reason}; {remedy}"),
            None => reason.to_string(),
        });
        self.last = Some((reason, Arc::clone(&text)));
        text
    }
}

/// The option of `recast fold` that remedies a reason.
fn remedy(code: &str) -> Option<&'static str> {
    match code {
        "undefined-value" => Some("use --undefined fold to fold it anyway"),
        "contested-value" | "contested-result" => Some("use --contested text|runtime to fold it anyway"),
        "overridable" => Some("use --freeze-initializers to treat it as a constant"),
        "result-too-large" | "growth-limit" => Some("use --max-growth to raise the limit"),
        _ => None,
    }
}
