//! Writing a file so that there is the old one or the new one at any moment.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::chunks::write_in_order;
use super::layout::Layout;
use super::new_file::NewFile;
use super::paths::{at, is_stream};
use super::together::save_together;

/// Where a file goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target {
    /// To this path, in one step. A file there is replaced.
    File(PathBuf),
    /// To standard output.
    Stdout,
}

/// Writes a file. Until all of it is written and flushed, the bytes are in a temporary file of the target's folder, which gets the
/// target's owner and permissions, as far as this user may set them, and then its name. A link stays a link: what it leads to is
/// replaced.
///
/// # Errors
/// Those of the operating system, with the path; the target is then as it was, unless it is the folder that cannot be flushed. Refuses
/// to write to a terminal, and to replace what [`super::check_replaceable`] refuses.
#[expect(clippy::disallowed_methods, reason = "a model is not text")]
pub fn save(layout: Layout, target: &Target) -> io::Result<()> {
    match target {
        Target::File(path) if !is_stream(path) => {
            save_together(vec![NewFile::replacing(path.clone(), layout)], None, || Ok(())).map(drop)
        }
        Target::File(path) => {
            let write = || write_in_order(&layout, &mut File::options().write(true).open(path)?);
            write().map_err(|error| at(path, error))
        }
        Target::Stdout => {
            let write = || match io::stdout().is_terminal() {
                true => Err(io::Error::other("binary output to a terminal; redirect it or give -o FILE")),
                false => write_in_order(&layout, &mut io::stdout().lock()),
            };
            write().map_err(|error| at(Path::new("-"), error))
        }
    }
}

impl Target {
    /// The path; `-` is standard output.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Target::Stdout => "-".to_owned(),
            Target::File(path) => path.display().to_string(),
        }
    }
}
