//! `recast lint`

mod baselines;
mod options;
mod run;
mod search;
mod settings;
mod task;
mod unmatched;
mod values;

pub use options::Lint;
