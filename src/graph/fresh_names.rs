//! Fresh names: names that do not occur anywhere in the model.

use std::sync::{Arc, OnceLock};

use super::Model;
use crate::base::hash::{HashMap, HashSet};
use crate::base::threshold::Threshold;

/// The number of names that are compared with the names of the model one by one, which takes less
/// time than building a table of them.
const FEW: Threshold = Threshold::new("few names", 4).or_zero();

/// The names of a model, and fresh ones.
#[derive(Debug)]
pub struct FreshNames<'m> {
    model: &'m Model,
    /// Read when more than a few fresh names are needed.
    known: Arc<OnceLock<HashSet<&'m str>>>,
    /// The number of further names that are compared with the names of the model one by one.
    comparisons: usize,
    made: HashSet<String>,
    /// By requested name, if it is taken: the number for the next attempt. Smaller numbers are taken,
    /// too.
    next: HashMap<String, usize>,
}

impl<'m> FreshNames<'m> {
    /// The names of a model, before any fresh name.
    #[must_use]
    pub fn new(model: &'m Model) -> FreshNames<'m> {
        FreshNames {
            model,
            known: Arc::default(),
            comparisons: FEW.get(),
            made: HashSet::default(),
            next: HashMap::default(),
        }
    }

    /// The names of the model, without fresh names: for one of several parts that are planned in
    /// parallel.
    #[must_use]
    pub(crate) fn for_part(&self) -> FreshNames<'m> {
        FreshNames {
            known: Arc::clone(&self.known),
            comparisons: 0,
            ..FreshNames::new(self.model)
        }
    }

    /// Adds the fresh names of a part. Returns whether these are the names that it would have
    /// received after all earlier parts; otherwise none is added.
    #[must_use]
    pub(crate) fn join(&mut self, part: FreshNames<'m>) -> bool {
        let is_same = part.made.is_disjoint(&self.made);
        if is_same {
            self.made.extend(part.made);
        }
        is_same
    }

    /// A name that begins with `prefix` and that no value and no node has, in any scope.
    pub fn fresh(&mut self, prefix: &str) -> String {
        let mut next = self.next.get(prefix).copied().unwrap_or(0);
        let name = loop {
            let name = if next == 0 {
                prefix.to_owned()
            } else {
                format!("{prefix}_{next}")
            };
            next += 1;
            if !self.is_known(&name) && self.made.insert(name.clone()) {
                break name;
            }
        };
        if next > 1 {
            self.next.insert(prefix.to_owned(), next);
        }
        name
    }

    /// Whether the model has this name.
    fn is_known(&mut self, name: &str) -> bool {
        let model = self.model;
        if self.comparisons > 0 && self.known.get().is_none() {
            self.comparisons -= 1;
            return all_names(model).any(|known| known == name);
        }
        let table = || {
            let mut names =
                HashSet::with_capacity_and_hasher(2 * model.value_count(), Default::default());
            names.extend(all_names(model));
            names
        };
        self.known.get_or_init(table).contains(name)
    }
}

/// The names of all values, nodes and declarations; some occur more than once.
fn all_names(model: &Model) -> impl Iterator<Item = &str> {
    let bodies = || model.scopes().map(|scope| model.body(scope));
    let nodes = bodies().flat_map(|body| body.nodes().iter().map(|node| node.name()));
    let declared = bodies().flat_map(|body| body.value_info().iter().map(|info| info.name()));
    model
        .values()
        .map(|value| model.name(value))
        .chain(nodes)
        .chain(declared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx_text;

    #[test]
    fn parts_get_the_names_that_they_would_get_one_after_the_other() {
        let model = onnx_text::parse(
            "<ir_version: 8, opset_import: [\"\": 13]> g (float[2] x) => (float[2] x_axes) { x_axes = Relu (x) }",
        );
        let model = Model::new(model.unwrap()).unwrap();
        let requests = [["x_axes", "y"], ["x_axes", "z"], ["y_1", "w"], ["y", "w"]];

        let mut in_order = FreshNames::new(&model);
        let expected = requests.map(|part| part.map(|prefix| in_order.fresh(prefix)));

        let mut all = FreshNames::new(&model);
        let mut again = 0;
        let joined = requests.map(|part| {
            let mut names = all.for_part();
            let made = part.map(|prefix| names.fresh(prefix));
            if all.join(names) {
                made
            } else {
                again += 1;
                part.map(|prefix| all.fresh(prefix))
            }
        });
        assert_eq!(joined, expected);
        assert_eq!(
            joined.concat(),
            ["x_axes_1", "y", "x_axes_2", "z", "y_1", "w", "y_2", "w_1"]
        );
        assert_eq!(again, 2, "the parts whose names were taken");
    }
}
