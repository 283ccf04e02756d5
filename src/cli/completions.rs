//! `recast completions`

use std::process::ExitCode;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::{Shell, generate};

use super::{Cli, print};

/// Print a completion script for a shell, or the manual page
#[derive(Args)]
#[command(after_help = "Examples:
  recast completions bash > /usr/share/bash-completion/completions/recast
  recast completions man > /usr/local/share/man/man1/recast.1")]
pub struct Completions {
    /// The shell; `man` for the manual page
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
    pub fn run(&self) -> anyhow::Result<ExitCode> {
        let mut command = Cli::command();
        // Into memory first: the generators would panic if the reader of a pipe went away.
        let mut page = Vec::new();
        match self.shell {
            Page::Bash => generate(Shell::Bash, &mut command, "recast", &mut page),
            Page::Elvish => generate(Shell::Elvish, &mut command, "recast", &mut page),
            Page::Fish => generate(Shell::Fish, &mut command, "recast", &mut page),
            Page::Powershell => generate(Shell::PowerShell, &mut command, "recast", &mut page),
            Page::Zsh => generate(Shell::Zsh, &mut command, "recast", &mut page),
            Page::Man => clap_mangen::Man::new(command).render(&mut page)?,
        }
        print(&String::from_utf8(page)?)?;
        Ok(ExitCode::SUCCESS)
    }
}
