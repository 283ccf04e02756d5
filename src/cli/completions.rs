//! `recast completions`

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use super::exit_code::ExitCode;
use super::manual::manual;
use super::options::EXIT_CODES;
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
    shell: Page,
}

#[derive(Clone, Copy, ValueEnum)]
enum Page {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}

impl Completions {
    /// Prints the script or the page of a command line.
    pub fn run(&self, mut command: Command) -> anyhow::Result<ExitCode> {
        let shell = match self.shell {
            Page::Bash => Shell::Bash,
            Page::Elvish => Shell::Elvish,
            Page::Fish => Shell::Fish,
            Page::Powershell => Shell::PowerShell,
            Page::Zsh => Shell::Zsh,
            Page::Man => {
                print(Document::script(manual(command)?)?)?;
                return Ok(ExitCode::SUCCESS);
            }
        };
        // Generated in memory first: the generator panics on a broken pipe.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, "recast", &mut script);
        print(Document::script(String::from_utf8(script)?)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
