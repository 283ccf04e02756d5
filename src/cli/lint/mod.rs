//! `recast lint`

mod task;
mod options;
mod run;
mod settings;
mod values;

pub use options::Lint;
