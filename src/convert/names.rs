//! New names, none of which the model has anywhere.

use std::borrow::Cow;

use crate::graph::Model;
use crate::hash::HashSet;

/// The names of a model; read when the first new one is needed.
pub(super) struct Names<'m> {
    model: &'m Model,
    taken: Option<HashSet<Cow<'m, str>>>,
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
        let free = std::iter::once(wish.to_owned()).chain(numbered).find(|name| !taken.contains(name.as_str()));
        let name = free.expect("there is no end to the numbers");
        taken.insert(Cow::Owned(name.clone()));
        name
    }
}

fn all_names(model: &Model) -> HashSet<Cow<'_, str>> {
    let mut names = HashSet::with_capacity_and_hasher(2 * model.value_bound(), Default::default());
    names.extend(model.values().map(|value| Cow::Borrowed(model.name(value))));
    for scope in model.scopes() {
        let body = model.body(scope);
        names.extend(body.nodes().iter().map(|node| Cow::Borrowed(node.name())));
        names.extend(body.value_info().iter().map(|info| Cow::Borrowed(info.name())));
    }
    names
}
