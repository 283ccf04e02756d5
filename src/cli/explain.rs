//! `recast explain`

use anyhow::bail;
use clap::{Args, Command};

use super::exit_code::ExitCode;
use super::options::{EXIT_CODES, Format, Messages};
use super::streams::{print, text_width};
use crate::lint::{self, RuleFacts};
use crate::{passes, report};

/// Explain the code of a rule, error or reason, or list all codes
#[derive(Args)]
#[command(alias = "rule", after_help = format!("Examples:
  recast explain
  recast explain RC101
  recast explain RC1
  recast explain shape-unknown
  recast explain float8-cast-missing-saturate --format json

{EXIT_CODES}"))]
pub struct Explain {
    /// The code to explain: the code or name of a rule, a prefix of rule codes, or the code of an
    /// error or reason
    #[arg(value_name = "CODE")]
    code: Option<String>,
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
}

impl Explain {
    /// `command` makes the command line, whose commands are known.
    pub fn run(&self, messages: Messages, command: fn() -> Command) -> anyhow::Result<ExitCode> {
        match &self.code {
            Some(code) => self.explain(code, messages, command)?,
            None if self.format == Format::Json => print(report::explanations_json())?,
            None if messages.quiet => {}
            None => print(report::explanations_text())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn explain(
        &self,
        code: &str,
        messages: Messages,
        command: fn() -> Command,
    ) -> anyhow::Result<()> {
        let is_named = |name: &str| name.eq_ignore_ascii_case(code);
        let rule = lint::all().find(|rule| is_named(rule.code) || is_named(rule.name));
        let meanings = report::meanings_of(code);
        let group: Vec<&RuleFacts> = lint::all()
            .filter(|rule| rule.code.starts_with(&code.to_ascii_uppercase()))
            .collect();
        match (rule, self.format) {
            (None, _) if meanings.is_empty() && group.is_empty() => {
                bail!(
                    "unknown code '{code}'; {}`recast explain` lists all codes",
                    hint(code, &command())
                )
            }
            (Some(rule), Format::Json) => print(report::rule_json(rule))?,
            (None, Format::Json) if !group.is_empty() => print(report::rules_json(group))?,
            (None, Format::Json) => print(report::meanings_json(&meanings))?,
            (_, Format::Text) if messages.quiet => {}
            (Some(rule), Format::Text) => print(report::rule_text(rule, text_width()))?,
            (None, Format::Text) if !group.is_empty() => print(report::rules_text(group))?,
            (None, Format::Text) => print(report::meanings_text(&meanings))?,
        }
        Ok(())
    }
}

/// The code or name that was probably meant.
fn hint(unknown: &str, command: &Command) -> String {
    if passes::all().any(|(_, pass)| pass.name() == unknown) {
        return format!("use `recast passes {unknown}`; ");
    }
    if command.find_subcommand(unknown).is_some() {
        return format!("use `recast {unknown} --help`; ");
    }
    report::nearest_code(unknown)
        .map(|meant| format!("did you mean {meant}? "))
        .unwrap_or_default()
}
