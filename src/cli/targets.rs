//! `recast targets`

use clap::Args;

use super::exit_code::ExitCode;
use super::options::{EXIT_CODES, Format, Messages};
use super::streams::print;
use crate::report;

/// List the runtimes that `recast convert --target` knows
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast targets
  recast targets --format json | jq -r '.targets[] | select(.opset >= 20) | .runtime'

{EXIT_CODES}"))]
pub struct ListTargets {
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
}

impl ListTargets {
    pub fn run(&self, messages: Messages) -> anyhow::Result<ExitCode> {
        match self.format {
            Format::Json => print(report::targets_json())?,
            Format::Text if messages.quiet => {}
            Format::Text => print(report::targets_text())?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
