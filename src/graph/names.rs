//! Fresh names: names that do not occur anywhere in the model.

use std::sync::{Arc, OnceLock};

use super::Model;
use crate::base::hash::{HashMap, HashSet};

/// The names of a model, and new ones.
#[derive(Debug)]
pub struct Names<'m> {
    model: &'m Model,
    /// Read when the first fresh name is needed.
    known: Arc<OnceLock<HashSet<&'m str>>>,
    made: HashSet<String>,
    /// By requested name: the number for the next attempt. Smaller numbers are taken.
    next: HashMap<String, usize>,
}

impl<'m> Names<'m> {
    /// The names of a model, before any fresh name.
    #[must_use]
    pub fn new(model: &'m Model) -> Names<'m> {
        Names { model, known: Arc::default(), made: HashSet::default(), next: HashMap::default() }
    }

    /// The same names of the model, without fresh names: for a part of the work that is done at the same time as others.
    #[must_use]
    pub fn for_part(&self) -> Names<'m> {
        Names { known: Arc::clone(&self.known), ..Names::new(self.model) }
    }

    /// Adds the fresh names of a part. Returns whether these are the names that it would have received after all earlier parts; otherwise
    /// none is added.
    #[must_use]
    pub fn join(&mut self, part: Names<'m>) -> bool {
        let is_same = part.made.is_disjoint(&self.made);
        if is_same {
            self.made.extend(part.made);
        }
        is_same
    }

    /// A name that begins with `prefix` and that no value and no node has, in any scope.
    pub fn fresh(&mut self, prefix: &str) -> String {
        let model = self.model;
        let known = self.known.get_or_init(|| all_names(model));
        let next = self.next.entry(prefix.to_owned()).or_default();
        loop {
            let name = if *next == 0 { prefix.to_owned() } else { format!("{prefix}_{next}") };
            *next += 1;
            if !known.contains(name.as_str()) && self.made.insert(name.clone()) {
                return name;
            }
        }
    }
}

fn all_names(model: &Model) -> HashSet<&str> {
    let mut names = HashSet::with_capacity_and_hasher(2 * model.value_bound(), Default::default());
    names.extend(model.values().map(|value| model.name(value)));
    for scope in model.scopes() {
        let body = model.body(scope);
        names.extend(body.nodes().iter().map(|node| node.name()));
        names.extend(body.value_info().iter().map(|info| info.name()));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::onnx_text;

    #[test]
    fn parts_get_the_names_that_they_would_get_one_after_the_other() {
        let model =
            onnx_text::parse("<ir_version: 8, opset_import: [\"\": 13]> g (float[2] x) => (float[2] x_axes) { x_axes = Relu (x) }");
        let model = Model::new(model.unwrap()).unwrap();
        let requests = [["x_axes", "y"], ["x_axes", "z"], ["y_1", "w"], ["y", "w"]];

        let mut in_order = Names::new(&model);
        let expected = requests.map(|part| part.map(|prefix| in_order.fresh(prefix)));

        let mut all = Names::new(&model);
        let mut again = 0;
        let joined = requests.map(|part| {
            let mut names = all.for_part();
            let made = part.map(|prefix| names.fresh(prefix));
            match all.join(names) {
                true => made,
                false => {
                    again += 1;
                    part.map(|prefix| all.fresh(prefix))
                }
            }
        });
        assert_eq!(joined, expected);
        assert_eq!(joined.concat(), ["x_axes_1", "y", "x_axes_2", "z", "y_1", "w", "y_2", "w_1"]);
        assert_eq!(again, 2, "the parts whose names were taken");
    }
}
