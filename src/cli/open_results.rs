//! Options for what ONNX leaves undefined or contested.

use clap::ValueEnum;
use clap::builder::TypedValueParser;

use super::options::one_of;
use crate::Contested;

/// The treatment of undefined values.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Undefined {
    Skip,
    Fold,
}

/// How contested casts and nodes are read; `None` to keep the cast, or to refuse the conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OnContested(pub Option<Contested>);

impl OnContested {
    pub fn parser() -> impl TypedValueParser<Value = OnContested> {
        OnContested::parser_or(&["skip"])
    }

    /// The parser for an option with another name for what is not done.
    pub fn parser_or(
        none: &'static [&'static str; 1],
    ) -> impl TypedValueParser<Value = OnContested> {
        one_of(none.iter().chain(Contested::NAMES)).try_map(|name| match name.as_str() {
            name if none.contains(&name) => Ok(OnContested(None)),
            name => name.parse().map(|contested| OnContested(Some(contested))),
        })
    }
}
