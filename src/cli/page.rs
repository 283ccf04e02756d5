//! The HTML page about a run.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;

use super::options::Messages;
use super::output::{SideFile, layout_of};
use super::streams::{message, print_message};
use crate::api::not_written;
use crate::base::printable::Document;
use crate::files::{Reserved, reserve};
use crate::report::{Before, Page, Results, Sketch, is_page, page_html};
use crate::{Error, Model};

/// The option for a page.
#[derive(Args, Clone, Default)]
pub struct PageFile {
    /// Also write an HTML report of the run; with several models, one report of all. It needs no
    /// network, and is written even if the run fails
    #[arg(long = "report", value_name = "FILE.html")]
    file: Option<PathBuf>,
}

impl PageFile {
    /// A page that is written to this file.
    pub fn at(file: PathBuf) -> PageFile {
        PageFile { file: Some(file) }
    }

    pub fn is_written(&self) -> bool {
        self.file.is_some()
    }

    /// Checks before any work that the page can be written, and is not one of the other files of
    /// the run.
    ///
    /// # Errors
    /// If the page cannot be written, or is one of the files.
    pub fn check<'p>(&self, files: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
        let Some(page) = &self.file else {
            return Ok(());
        };
        let name = page.display();
        let is_html = |extension: &std::ffi::OsStr| {
            extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
        };
        if !page.extension().is_some_and(is_html) {
            bail!("{name}: the report is an HTML page; use a name that ends in .html");
        }
        side_file(page).check(files)
    }

    /// Checks before files are written that none of them is the page.
    ///
    /// # Errors
    /// If one of the files is the page.
    pub fn check_written<'p>(&self, files: impl Iterator<Item = &'p Path>) -> Result<(), Error> {
        match &self.file {
            Some(page) => side_file(page).check_others(files),
            None => Ok(()),
        }
    }

    /// A copy of one of some models for its sketch, if there is a page.
    ///
    /// # Errors
    /// See [`PageFile::check_data`].
    pub fn before(
        &self,
        path: &Path,
        model: &Model,
        models: usize,
    ) -> Result<Option<Before>, Error> {
        self.check_data(path, model)?;
        Ok(self
            .file
            .as_ref()
            .map(|_| Before::of(path.display().to_string(), model, models)))
    }

    /// Checks that a model does not use the file of the page.
    ///
    /// # Errors
    /// If the model stores tensors in it.
    pub fn check_data(&self, path: &Path, model: &Model) -> Result<(), Error> {
        match &self.file {
            Some(page) => side_file(page).check_data(path, model),
            None => Ok(()),
        }
    }

    /// Writes the page, as far as it is known, to a file without a name before models are replaced:
    /// a page that cannot be written must not be noticed when the models that it describes are
    /// gone. The space is kept until the result is dropped.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn reserve(
        &self,
        command: &'static str,
        sketches: &[Sketch],
        results: Results,
    ) -> Result<Option<Reserved>, Error> {
        let Some(file) = &self.file else {
            return Ok(None);
        };
        let page = Page {
            command,
            sketches: sketches.iter().collect(),
            results,
        };
        let reserved = layout_of(|bytes| page_html(&page, &[]).write(bytes))
            .and_then(|layout| reserve(layout, file));
        reserved
            .map(Some)
            .map_err(|error| not_written(&file.display().to_string(), error))
    }

    /// Writes the page, if one is wanted, unless an error of the run says that it must not be.
    ///
    /// # Errors
    /// Any I/O error.
    pub fn write(
        &self,
        command: &'static str,
        sketches: &[Sketch],
        results: Results,
        errors: &[Error],
        messages: Messages,
    ) -> Result<(), Error> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        if side_file(file).is_refused(errors) {
            return Ok(());
        }
        let page = Page {
            command,
            sketches: sketches.iter().collect(),
            results,
        };
        write_page(&page_html(&page, errors), file, messages)
    }
}

fn side_file(page: &Path) -> SideFile<'_> {
    SideFile {
        path: page,
        what: "report",
        is_one: is_page,
    }
}

/// Writes a page to a file, and says so.
///
/// # Errors
/// Any I/O error.
pub fn write_page(page: &Document, file: &Path, messages: Messages) -> Result<(), Error> {
    side_file(file).write(|bytes| page.write(bytes))?;
    if !messages.quiet {
        print_message(message(format_args!(
            "report written to {}",
            file.display()
        )));
    }
    Ok(())
}
