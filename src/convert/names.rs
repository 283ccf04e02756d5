//! New names, none of which the model has anywhere.

use std::collections::HashSet;

use crate::graph::{Body, Model};

/// The names of a model; read when the first new one is needed.
pub(super) struct Names<'m> {
    model: &'m Model,
    taken: Option<HashSet<String>>,
}

impl<'m> Names<'m> {
    pub fn new(model: &'m Model) -> Names<'m> {
        Names { model, taken: None }
    }

    /// A name that begins with `wish` and that no value and no node has, in any scope.
    pub fn fresh(&mut self, wish: &str) -> String {
        let model = self.model;
        let taken = self.taken.get_or_insert_with(|| all_names(model));
        let numbered = (1..).map(|number| format!("{wish}_{number}"));
        let free = std::iter::once(wish.to_owned()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.expect("there is no end to the numbers");
        taken.insert(name.clone());
        name
    }
}

fn all_names(model: &Model) -> HashSet<String> {
    let mut names: HashSet<String> = model.values().map(|value| model.name(value).to_owned()).collect();
    for scope in model.scopes() {
        names.extend(model.nodes(scope).map(|node| model.node(node).name().to_owned()));
        if let Body::Graph(graph) = model.body(scope) {
            names.extend(graph.value_info.iter().map(|info| info.name().to_owned()));
        }
    }
    names
}
