//! `recast passes`

use anyhow::bail;
use clap::Args;

use super::exit_code::ExitCode;
use super::options::{EXIT_CODES, Format, Messages};
use super::streams::print;
use crate::base::choice::nearest;
use crate::lint::Selector;
use crate::passes::{self, Pass};
use crate::report;

/// List the passes of `recast fold --passes`, or explain one
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast passes
  recast passes redundant-casts
  recast passes --format json | jq -r '.passes[] | select(.tier == \"exact\") | .name'

{EXIT_CODES}"))]
pub struct ListPasses {
    /// The pass to explain
    #[arg(value_name = "PASS")]
    name: Option<String>,
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
}

impl ListPasses {
    pub fn run(&self, messages: Messages) -> anyhow::Result<ExitCode> {
        let is_wanted = |(_, pass): &(_, &dyn Pass)| {
            self.name.as_deref().is_none_or(|name| name == pass.name())
        };
        let wanted: Vec<_> = passes::all().filter(is_wanted).collect();
        match (wanted.as_slice(), self.format) {
            ([], _) => {
                let name = self.name.as_deref().unwrap_or_default();
                bail!(
                    "unknown pass '{name}'; {}`recast passes` lists all passes",
                    hint(name)
                )
            }
            (passes, Format::Json) => print(report::passes_json(passes))?,
            (_, Format::Text) if messages.quiet => {}
            ([(_, pass)], Format::Text) if self.name.is_some() => print(report::pass_text(*pass))?,
            (passes, Format::Text) => print(report::passes_text(passes))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What was probably meant: another pass, or a code.
fn hint(unknown: &str) -> String {
    if !report::meanings_of(unknown).is_empty() || unknown.parse::<Selector>().is_ok() {
        return format!("use `recast explain {unknown}`; ");
    }
    nearest(unknown, passes::all().map(|(_, pass)| pass.name()))
        .map(|meant| format!("did you mean {meant}? "))
        .unwrap_or_default()
}
