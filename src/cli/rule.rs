//! `recast rule`

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::{EXIT_CODES, Format, Messages, print};
use crate::lint::RULES;
use crate::report;

/// Explain a rule of `recast lint`, or list all
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast rule
  recast rule RC101
  recast rule float8-cast-missing-saturate --format json

{EXIT_CODES}"))]
pub struct ExplainRule {
    /// The rule's code or name
    #[arg(value_name = "CODE")]
    rule: Option<String>,
    /// What is printed
    #[arg(long, default_value = "text")]
    format: Format,
}

impl ExplainRule {
    pub fn run(&self, messages: Messages) -> anyhow::Result<ExitCode> {
        let text = match (&self.rule, self.format) {
            (None, Format::Text) => report::rules_text(),
            (None, Format::Json) => report::rules_json(),
            (Some(wanted), format) => {
                let is_wanted = |name: &str| name.eq_ignore_ascii_case(wanted);
                let Some(rule) = RULES.iter().find(|rule| is_wanted(rule.code) || is_wanted(rule.name)) else {
                    bail!("unknown rule '{wanted}'; `recast rule` lists all rules");
                };
                if format == Format::Text { report::rule_text(rule) } else { report::rule_json(rule) }
            }
        };
        if self.format == Format::Json || !messages.quiet {
            print(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
