//! Checks a model with rules, each of which finds a pattern that is an error or undesirable.
//!
//! A rule is one file in `rules/`, its `mod` line and one line in [`RULES`]; its `docs` are what
//! `recast explain` prints and SARIF carries. A rule knows nothing of severities a user overrides,
//! of output formats or of exit codes.

pub(crate) mod add_noqa;
mod baseline;
#[cfg(feature = "config")]
mod config;
mod constant;
mod diagnostic;
mod file_pattern;
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

pub use crate::base::patterns::BadPattern;
pub use crate::casts::{CastPair, ResolvedCast};
pub use crate::ops::inference::{Contradiction, Ints, Known, Shape};
pub use crate::ops::schemas::ValueType;
pub use crate::tensor::{Content, Data, Failure};
pub use add_noqa::NoqaError;
pub use baseline::{BadBaseline, Baseline};
#[cfg(feature = "config")]
pub use config::{BadConfig, Config};
pub use constant::{element, number, tally};
pub(crate) use diagnostic::fingerprint;
pub use diagnostic::{Diagnostic, Region};
pub use file_pattern::FilePattern;
pub use finding::{Finding, FindingPlace, Fix, Safety};
pub use noqa::Noqa;
pub(crate) use noqa::UnusedNoqa;
pub use options::{Options, Overlapping};
pub use registry::all;
pub use rule::{FunctionRule, Rule, RuleFacts, Selected, Severity};
pub use rules::RULES;
pub(crate) use run::{Linted, lint_all, name_of};
pub use selection::{Layer, Selection, Selector, UnknownRule};
pub use subject::{ResolvedQuantize, Subject};
