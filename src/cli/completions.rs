//! `recast completions`

use clap::{Args, Command};
use clap_complete::Shell;

use super::exit_code::ExitCode;
use super::manual::manual;
use super::options::{EXIT_CODES, one_of};
use super::streams::print;

use crate::base::printable::Document;

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
    pub fn run(&self, mut command: Command) -> anyhow::Result<ExitCode> {
        let page = match self.shell.parse::<Shell>() {
            Ok(shell) => {
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
