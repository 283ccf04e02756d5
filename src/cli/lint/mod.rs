//! `recast lint`

mod options;
mod run;
mod settings;
mod task;
mod values;

pub use options::Lint;
