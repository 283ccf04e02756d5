//! The manual page: one page for all commands.

use std::io;

use clap::Command;
use clap_mangen::Man;

use super::options::all_exit_codes;

/// The page of a command line in roff.
pub(super) fn manual(command: Command) -> io::Result<String> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    for subcommand in command.get_subcommands() {
        page.extend(section(subcommand)?.into_bytes());
    }
    page.extend(format!(".SH \"EXIT CODES\"\n{}", as_it_stands(&all_exit_codes())).into_bytes());
    man.render_version_section(&mut page)?;
    String::from_utf8(page).map_err(io::Error::other)
}

/// The section of a subcommand; the sections of its own page become subsections.
fn section(subcommand: &Command) -> io::Result<String> {
    let man = Man::new(subcommand.clone());
    let mut parts = Vec::new();
    man.render_synopsis_section(&mut parts)?;
    man.render_description_section(&mut parts)?;
    man.render_options_section(&mut parts)?;
    let parts = String::from_utf8(parts)
        .map_err(io::Error::other)?
        .replace(".SH ", ".SS ");
    let notes = subcommand
        .get_after_help()
        .map(|help| as_it_stands(&help.to_string()))
        .unwrap_or_default();
    Ok(format!(
        ".SH \"RECAST {}\"\n{parts}.SS NOTES\n{notes}",
        subcommand.get_name().to_uppercase()
    ))
}

/// Preformatted text; no line starts with a roff request.
fn as_it_stands(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines: String = escaped.lines().map(|line| format!("\\&{line}\n")).collect();
    format!(".nf\n{lines}.fi\n")
}
