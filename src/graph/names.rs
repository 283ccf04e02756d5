//! Fresh names: names that do not occur anywhere in the model.

use std::borrow::Cow;

use super::Model;
use crate::hash::{HashMap, HashSet};

/// The names of a model; read when the first fresh name is needed.
#[derive(Debug)]
pub struct Names<'m> {
    model: &'m Model,
    taken: Option<HashSet<Cow<'m, str>>>,
    /// By requested name: the number for the next attempt. Smaller numbers are taken.
    next: HashMap<String, usize>,
}

impl<'m> Names<'m> {
    /// The names of a model, before any fresh name.
    #[must_use]
    pub fn new(model: &'m Model) -> Names<'m> {
        Names { model, taken: None, next: HashMap::default() }
    }

    /// A name that begins with `prefix` and that no value and no node has, in any scope.
    pub fn fresh(&mut self, prefix: &str) -> String {
        let model = self.model;
        let taken = self.taken.get_or_insert_with(|| all_names(model));
        let next = self.next.entry(prefix.to_owned()).or_default();
        loop {
            let name = if *next == 0 { prefix.to_owned() } else { format!("{prefix}_{next}") };
            *next += 1;
            if taken.insert(Cow::Owned(name.clone())) {
                return name;
            }
        }
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
