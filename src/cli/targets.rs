//! `recast targets`

use clap::Args;

use super::exit_code::ExitCode;
use super::options::{EXIT_CODES, Format, Messages};
use super::streams::print;
use crate::{Runtime, report};

/// List the runtimes of `recast convert --target`, or the operators that one lacks
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast targets
  recast targets onnxruntime@1.31
  recast targets --format json | jq -r '.targets[] | select(.opset >= 20) | .runtime'

{EXIT_CODES}"))]
pub struct ListTargets {
    /// List the operators that this runtime lacks
    #[arg(value_name = "RUNTIME@VERSION")]
    runtime: Option<Runtime>,
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
}

impl ListTargets {
    pub fn run(&self, messages: Messages) -> anyhow::Result<ExitCode> {
        match (self.format, &self.runtime) {
            (Format::Json, None) => print(report::targets_json())?,
            (Format::Json, Some(runtime)) => print(report::missing_operators_json(runtime))?,
            (Format::Text, _) if messages.quiet => {}
            (Format::Text, None) => print(report::targets_text())?,
            (Format::Text, Some(runtime)) => print(report::missing_operators_text(runtime))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
