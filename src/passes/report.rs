//! The events of all passes, and their document: a list per kind of event.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::event::{ComputedNode, Event, Folded, KeptNode, NodeChange};
use crate::base::reason::Reason;

/// The events of all passes that ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// In the order in which the passes ran; runs without events are left out.
    pub passes: Vec<PassEvents>,
}

/// The events of one run of a pass.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassEvents {
    /// The pass.
    pub pass: &'static str,
    /// Its events, in the order in which it reported them.
    pub events: Vec<Event>,
}

/// A record with the pass that reports it.
#[derive(Serialize)]
pub(crate) struct OfPass<'r, R> {
    pub pass: &'static str,
    #[serde(flatten)]
    pub record: &'r R,
}

/// A node or constant that a pass removed.
#[derive(Serialize)]
pub(crate) struct RemovalOf<'r> {
    pub path: Cow<'r, str>,
    /// `node` or `constant`.
    pub kind: &'static str,
    pub pass: &'static str,
    #[serde(flatten)]
    pub reason: &'r Reason,
}

impl Report {
    /// The events of all passes.
    pub fn events(&self) -> impl Iterator<Item = &Event> + Clone {
        self.passes.iter().flat_map(|of_pass| &of_pass.events)
    }

    /// The events of all passes, each with the name of its pass.
    fn with_passes(&self) -> impl Iterator<Item = (&'static str, &Event)> + Clone {
        self.passes
            .iter()
            .flat_map(|PassEvents { pass, events }| events.iter().map(|event| (*pass, event)))
    }

    /// The casts that were replaced by constants.
    #[must_use]
    pub fn folded(&self) -> Vec<&Folded> {
        self.all_folded().map(|folded| folded.record).collect()
    }

    /// The nodes that were kept.
    #[must_use]
    pub fn kept(&self) -> Vec<&KeptNode> {
        self.all_kept().collect()
    }

    /// States for each node that was kept for a reason with one of these codes the option that
    /// removes the obstacle.
    pub(crate) fn add_remedies(&mut self, remedy: impl Fn(&Reason) -> Option<&'static str>) {
        for event in self
            .passes
            .iter_mut()
            .flat_map(|of_pass| &mut of_pass.events)
        {
            if let Event::Kept(kept) = event {
                kept.remedy = kept.remedy.or_else(|| remedy(&kept.reason));
            }
        }
    }

    pub(crate) fn all_folded(&self) -> impl Iterator<Item = OfPass<'_, Folded>> + Clone {
        self.of_passes(|event| {
            if let Event::Folded(folded) = event {
                Some(&**folded)
            } else {
                None
            }
        })
    }

    pub(crate) fn all_kept(&self) -> impl Iterator<Item = &KeptNode> + Clone {
        self.events().filter_map(|event| {
            if let Event::Kept(kept) = event {
                Some(kept)
            } else {
                None
            }
        })
    }

    pub(crate) fn computed(&self) -> impl Iterator<Item = OfPass<'_, ComputedNode>> + Clone {
        self.of_passes(|event| {
            if let Event::Computed(computed) = event {
                Some(&**computed)
            } else {
                None
            }
        })
    }

    pub(crate) fn changes(&self) -> impl Iterator<Item = OfPass<'_, NodeChange>> + Clone {
        self.of_passes(|event| {
            if let Event::Changed(change) = event {
                Some(change)
            } else {
                None
            }
        })
    }

    /// The nodes and constants that were removed.
    pub(crate) fn removals(&self) -> impl Iterator<Item = RemovalOf<'_>> + Clone {
        self.with_passes().filter_map(|(pass, event)| {
            let (path, kind, reason): (Cow<'_, str>, _, &Reason) = match event {
                Event::RemovedNode { node, reason } => (node.into(), "node", reason),
                Event::RemovedConstant(removed) => {
                    (removed.path().into(), "constant", &removed.reason)
                }
                _ => return None,
            };
            Some(RemovalOf {
                path,
                kind,
                pass,
                reason,
            })
        })
    }

    fn of_passes<'r, R>(
        &'r self,
        record: fn(&'r Event) -> Option<&'r R>,
    ) -> impl Iterator<Item = OfPass<'r, R>> + Clone {
        self.with_passes().filter_map(move |(pass, event)| {
            let record = record(event)?;
            Some(OfPass { pass, record })
        })
    }
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let removed = |kind| {
            self.removals()
                .filter(move |removal| removal.kind == kind)
                .map(|removal| removal.path)
        };
        let mut lists = serializer.serialize_map(None)?;
        lists.serialize_entry("folded", &List(self.all_folded()))?;
        lists.serialize_entry("skipped", &List(self.all_kept()))?;
        lists.serialize_entry("removed_initializers", &List(removed("constant")))?;
        add(&mut lists, "removed_nodes", removed("node"))?;
        add(&mut lists, "removals", self.removals())?;
        add(&mut lists, "computed", self.computed())?;
        add(&mut lists, "changes", self.changes())?;
        lists.end()
    }
}

/// A list that is made while it is serialized.
struct List<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// Adds a list that is not empty.
fn add<M: SerializeMap>(
    lists: &mut M,
    key: &str,
    items: impl Iterator<Item: Serialize> + Clone,
) -> Result<(), M::Error> {
    if items.clone().next().is_some() {
        lists.serialize_entry(key, &List(items))
    } else {
        Ok(())
    }
}
