//! Checks a model with rules, each of which finds a pattern that is an error or undesirable.
//!
//! A rule is one file in `rules/`, its `mod` line and one line in [`RULES`]; its `docs` are what
//! `recast explain` prints and SARIF carries. A rule knows nothing of severities a user overrides,
//! of output formats or of exit codes.

pub(crate) mod add_noqa;
mod baseline;
#[cfg(feature = "config")]
mod config;
pub(crate) mod constant;
mod diagnostic;
pub(crate) mod file_pattern;
mod finding;
pub(crate) mod fix;
mod noqa;
mod options;
pub(crate) mod registry;
mod rule;
mod rules;
pub(crate) mod run;
mod selection;
mod subject;

pub use crate::casts::{CastPair, ResolvedCast};
pub use crate::ops::inference::{Ints, Known, Shape};
pub use crate::ops::schemas::ValueType;
pub(crate) use add_noqa::NoqaError;
pub(crate) use baseline::BadBaseline;
pub use baseline::Baseline;
#[cfg(feature = "config")]
pub use config::Config;
use constant::tally;
pub use constant::{element, number};
pub use diagnostic::Diagnostic;
pub(crate) use diagnostic::fingerprint;
pub(crate) use file_pattern::FilePattern;
use finding::FindingPlace;
pub use finding::{Finding, Fix, Safety};
pub(crate) use noqa::UnusedNoqa;
pub use options::Options;
pub(crate) use registry::all;
pub use rule::{FunctionRule, Rule, RuleFacts, Selected, Severity};
pub use rules::RULES;
pub(crate) use run::{Linted, lint_all, name_of};
pub use selection::{Layer, Selection, Selector, UnknownRule};
pub use subject::{ResolvedQuantize, Subject};
