//! The parts of a page about one model that are not documents of the run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::drawing::{Drawing, draw};
use super::places::{About, Part, find};
use crate::base::hash::HashSet;
use crate::base::parallel;
use crate::graph::Model;
use crate::inspect::{self, Initializers, Inspection};
use crate::ops::inference::infer_with_names;

/// A model before and after a command, and drawings of the graph around the places that the report
/// names.
#[derive(Debug, Serialize)]
pub struct Sketch {
    /// The path of the model as given.
    pub path: String,
    before: Summary,
    /// None if the model was not changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Summary>,
    drawings: Drawings,
}

#[derive(Debug, Serialize)]
struct Summary {
    #[serde(flatten)]
    inspection: Inspection,
    /// All tensors: initializers and those in attributes.
    tensors: Initializers,
    /// The length of the model file.
    file_bytes: u64,
}

impl Summary {
    fn of(model: &Model) -> Summary {
        Summary {
            inspection: model.inspect().0,
            tensors: inspect::all_tensors(model),
            file_bytes: model.encoded_len(),
        }
    }
}

/// The drawings of a model, by what they are about.
#[derive(Debug, Default, Serialize)]
struct Drawings {
    /// The position in `list` of the drawing around a node, by its path.
    nodes: BTreeMap<String, usize>,
    /// The position in `list` of the drawing around an input or initializer, by its path.
    values: BTreeMap<String, usize>,
    list: Vec<Drawing>,
    /// The places that are not drawn, since there are too many.
    left_out: usize,
}

/// The drawings of a page, in total: a drawing takes some milliseconds and kilobytes.
const MOST_DRAWINGS: usize = 600;
/// The drawings of each model, even if the page has many models.
const FEWEST_DRAWINGS: usize = 8;

/// A model before a command changes it.
#[derive(Debug)]
pub struct Before {
    path: String,
    model: Model,
    most_drawings: usize,
}

impl Before {
    /// A copy of a model, one of this many on the page.
    #[must_use]
    pub fn of(path: String, model: &Model, models: usize) -> Before {
        let most_drawings = (MOST_DRAWINGS / models.max(1)).max(FEWEST_DRAWINGS);
        Before {
            path,
            model: model.clone(),
            most_drawings,
        }
    }

    /// The sketch of the model, whose drawings are around places in it, the most important first. A
    /// place that the model before does not have is looked for in the model after.
    #[must_use]
    pub fn sketch(self, places: &[About], after: Option<&Model>) -> Sketch {
        let mut drawings = Drawings::default();
        let mut wanted: HashSet<&About> = places.iter().collect();
        for model in [Some(&self.model), after].into_iter().flatten() {
            let found = find(model, &wanted);
            let mut parts: Vec<(&About, Part)> = Vec::new();
            for about in places.iter().filter(|about| found.contains_key(*about)) {
                if wanted.remove(about) {
                    parts.push((about, found[about]));
                }
            }
            let room = self.most_drawings - drawings.list.len();
            drawings.left_out += parts.len().saturating_sub(room);
            parts.truncate(room);
            for (position, (about, _)) in (drawings.list.len()..).zip(&parts) {
                match about {
                    About::Node(path) => drawings.nodes.insert(path.clone(), position),
                    About::Value(path) => drawings.values.insert(path.clone(), position),
                };
            }
            if !parts.is_empty() {
                let inferred = infer_with_names(model);
                drawings.list.extend(parallel::map(&parts, |&(_, part)| {
                    draw(model, &inferred, part)
                }));
            }
        }
        Sketch {
            path: self.path,
            before: Summary::of(&self.model),
            after: after.map(Summary::of),
            drawings,
        }
    }
}
