//! Options for values that ONNX leaves undefined or contested.

use clap::ValueEnum;
use clap::builder::TypedValueParser;

use super::options::one_of;
use crate::cast::Contested;

/// The treatment of undefined values.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Undefined {
    Skip,
    Fold,
}

/// Which values contested elements get; `None` to keep the cast.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct OnContested(pub Option<Contested>);

impl OnContested {
    pub fn parser() -> impl TypedValueParser<Value = OnContested> {
        one_of(["skip"].iter().chain(Contested::NAMES)).try_map(|name| match name.as_str() {
            "skip" => Ok(OnContested(None)),
            name => name.parse().map(|contested| OnContested(Some(contested))),
        })
    }
}
