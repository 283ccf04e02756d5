//! `recast lint`

mod judge;
mod options;
mod run;
mod settings;
mod values;

pub use options::Lint;
