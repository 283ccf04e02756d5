//! The rules of this crate, and those that a [command](crate::cli::Command) adds for its process.

use std::sync::{Arc, OnceLock};

use super::{RULES, Rule, RuleFacts};

static ADDED: OnceLock<Vec<Arc<dyn Rule>>> = OnceLock::new();

/// Adds rules for the rest of the process. Only the first call has an effect.
#[cfg(feature = "cli")]
pub(crate) fn add(rules: Vec<Arc<dyn Rule>>) {
    ADDED.get_or_init(|| rules);
}

fn added() -> &'static [Arc<dyn Rule>] {
    ADDED.get().map_or(&[], Vec::as_slice)
}

/// All rules: those of this crate by code, then those of the command.
pub(super) fn rules() -> impl Iterator<Item = Arc<dyn Rule>> {
    let own = RULES.iter().map(|&rule| Arc::new(rule) as Arc<dyn Rule>);
    own.chain(added().iter().cloned())
}

/// What is known of all rules: those of this crate by code, then those that the command added.
pub fn all() -> impl Iterator<Item = &'static RuleFacts> + Clone {
    let own = RULES.iter().map(|rule| &rule.facts);
    own.chain(added().iter().map(|rule| rule.facts()))
}
