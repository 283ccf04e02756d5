//! `recast rule`

use anyhow::Context;
use clap::Args;

use super::streams::{print, text_width};
use super::{EXIT_CODES, ExitCode, Format, Messages};
use crate::lint::RULES;
use crate::report;

/// Explain a rule of `recast lint`, or list all rules
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast rule
  recast rule RC101
  recast rule float8-cast-missing-saturate --format json

{EXIT_CODES}"))]
pub struct ExplainRule {
    /// The code or name of a rule
    #[arg(value_name = "CODE")]
    rule: Option<String>,
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
}

impl ExplainRule {
    pub fn run(&self, messages: Messages) -> anyhow::Result<ExitCode> {
        let rule = match &self.rule {
            Some(wanted) => {
                let is_wanted = |name: &str| name.eq_ignore_ascii_case(wanted);
                let rule = RULES.iter().find(|rule| is_wanted(rule.code) || is_wanted(rule.name));
                Some(rule.with_context(|| format!("unknown rule '{wanted}'; `recast rule` lists all rules"))?)
            }
            None => None,
        };
        match (rule, self.format) {
            (None, Format::Json) => print(report::rules_json())?,
            (Some(rule), Format::Json) => print(report::rule_json(rule))?,
            (_, Format::Text) if messages.quiet => {}
            (None, Format::Text) => print(report::rules_text())?,
            (Some(rule), Format::Text) => print(report::rule_text(rule, text_width()))?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
