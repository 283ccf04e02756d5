//! `recast completions`

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::Shell;

use super::exit_code::ExitCode;
use super::manual::manual;
use super::options::{EXIT_CODES, one_of};
use super::streams::print;

use crate::base::printable::Document;
use crate::lint;
use crate::{DType, Runtime, passes};

/// Print a shell completion script or the manual page
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast completions bash > /usr/share/bash-completion/completions/recast
  recast completions man > /usr/local/share/man/man1/recast.1

{EXIT_CODES}"))]
pub struct Completions {
    /// The shell, or `man` for the manual page
    #[arg(value_parser = one_of(&["bash", "elvish", "fish", "powershell", "zsh", "man"]))]
    shell: String,
}

impl Completions {
    /// Prints the script or the page of a command line.
    pub fn run(&self, command: Command) -> anyhow::Result<ExitCode> {
        let page = match self.shell.parse::<Shell>() {
            Ok(shell) => {
                let mut command = with_values(command);
                // Generated in memory first: the generator panics on a broken pipe.
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut command, "recast", &mut script);
                String::from_utf8(script)?
            }
            Err(_) => manual(command)?,
        };
        print(Document::script(page)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// With the values of options and arguments that a shell completes. Other parsers than these read
/// them.
fn with_values(command: Command) -> Command {
    command.mut_subcommands(|subcommand| {
        let name = subcommand.get_name().to_owned();
        subcommand.mut_args(|arg| match values(&name, &arg) {
            values if values.is_empty() => arg,
            values => arg.value_parser(PossibleValuesParser::new(values)),
        })
    })
}

fn values(command: &str, arg: &Arg) -> Vec<String> {
    match (command, arg.get_id().as_str()) {
        ("cast" | "precision", "to" | "from") => {
            DType::ALL.iter().map(ToString::to_string).collect()
        }
        ("convert" | "lint" | "precision", "target") | ("targets", "runtime") => Runtime::all()
            .iter()
            .map(|runtime| runtime.named().replace(' ', "@"))
            .collect(),
        ("fold", "passes") => ["default", "exact", "none"]
            .into_iter()
            .chain(passes::all().map(|(_, pass)| pass.name()))
            .map(Into::into)
            .collect(),
        ("lint", "select" | "extend_select" | "ignore") | ("explain", "code") => {
            lint::all().map(|rule| rule.code.to_owned()).collect()
        }
        _ => Vec::new(),
    }
}
