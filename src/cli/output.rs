//! Where a command writes models.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::files::is_stdin;
use super::streams;
use crate::api::{is_text_model, not_written};
use crate::files::{self, SaveTarget, folder_of, folders};
use crate::protobuf::{Layout, Piece};
use crate::{Error, ErrorKind, Model, process, storage};

/// The options for outputs.
#[derive(Args, Clone)]
#[group(id = "destination", multiple = false)]
pub struct Output {
    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write into this folder, under the names of the inputs
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Replace the inputs
    #[arg(long)]
    in_place: bool,
}

/// Whether a path is `-` or another name of standard output.
pub fn is_stdout(output: &Path) -> bool {
    output == Path::new("-") || process::is_standard_output(output)
}

fn is_there(input: &Path) -> bool {
    is_stdin(input) || folders::stat(input).is_ok()
}

impl Output {
    /// Whether models go to standard output, which leaves no room there for a report.
    pub fn is_stdout(&self) -> bool {
        self.output.as_deref().is_some_and(is_stdout)
    }

    fn is_given(&self) -> bool {
        self.output.is_some() || self.out_dir.is_some() || self.in_place
    }

    /// The target of each input; in a dry run there may be none.
    ///
    /// # Errors
    /// If an input has no target, or two inputs have the same target.
    pub fn targets_unless(
        &self,
        dry_run: bool,
        inputs: &[PathBuf],
    ) -> anyhow::Result<Vec<Option<SaveTarget>>> {
        if dry_run && !self.is_given() {
            return Ok(vec![None; inputs.len()]);
        }
        if let Some(folder) = self.out_dir.as_ref().filter(|_| !dry_run) {
            folders::create_folders(folder).with_context(|| folder.display().to_string())?;
        }
        Ok(self
            .targets(dry_run, inputs)?
            .into_iter()
            .map(Some)
            .collect())
    }

    /// The target of each input.
    ///
    /// # Errors
    /// If an input has no target, or two inputs have the same target.
    fn targets(&self, dry_run: bool, inputs: &[PathBuf]) -> anyhow::Result<Vec<SaveTarget>> {
        if !self.is_given() {
            if let [_, second] = inputs {
                let second = second.display();
                bail!(
                    "no output given; did you mean -o {second}? Otherwise use --out-dir DIR or --in-place (or --dry-run)"
                );
            }
            bail!("no output given; use -o FILE, --out-dir DIR or --in-place (or --dry-run)");
        }
        if self.output.is_some() && inputs.len() > 1 {
            let count = inputs.len();
            if let Some(missing) = inputs.iter().find(|input| !is_there(input)) {
                bail!(
                    "-o takes one model, but {count} were given, and {} does not exist; a value of --lowest or \
                     --drop-metadata follows `=`",
                    missing.display()
                );
            }
            bail!("-o takes one model, but {count} were given; use --out-dir DIR or --in-place");
        }
        let targets = inputs
            .iter()
            .map(|input| self.target(input))
            .collect::<anyhow::Result<Vec<SaveTarget>>>()?;
        let files = || {
            targets.iter().filter_map(|target| {
                if let SaveTarget::File(path) = target {
                    Some(path.as_path())
                } else {
                    None
                }
            })
        };
        if self.output.is_some() {
            files().try_for_each(|path| {
                check_target_with(path, "create it first, or use --out-dir, which creates it")
            })?;
        }
        if !dry_run {
            // Before the targets are looked at, since a temporary file may be a second name of a
            // target.
            tidy(files())?;
        }
        let mut seen = HashSet::new();
        for path in files() {
            if !seen.insert(files::identity(path)) {
                bail!(
                    "two models would be written to {}; write them to different folders",
                    path.display()
                );
            }
            files::check_replaceable(path).with_context(|| path.display().to_string())?;
        }
        Ok(targets)
    }

    fn target(&self, input: &Path) -> anyhow::Result<SaveTarget> {
        let is_text = is_text_model(input);
        match (&self.output, &self.out_dir) {
            _ if self.is_stdout() => Ok(SaveTarget::Stdout),
            (Some(output), _) => Ok(SaveTarget::File(output.clone())),
            _ if is_stdin(input) => {
                bail!("a model from standard input has no file name; use -o FILE")
            }
            (None, Some(folder)) => {
                let name = input
                    .file_name()
                    .with_context(|| format!("{}: has no file name", input.display()))?;
                let path = folder.join(name);
                Ok(SaveTarget::File(if is_text {
                    path.with_extension("onnx")
                } else {
                    path
                }))
            }
            (None, None) if is_text => {
                bail!(
                    "{}: is ONNX text, but models are written in binary form; use -o FILE.onnx",
                    input.display()
                )
            }
            (None, None) => Ok(SaveTarget::File(input.to_owned())),
        }
    }
}

/// Checks before any work that a model can be written to this path.
///
/// # Errors
/// If the path is a folder, its folder does not exist, or its name is that of ONNX text.
pub fn check_target(path: &Path) -> Result<(), Error> {
    check_target_with(path, CREATE)
}

/// The remedy if the folder of a file does not exist.
const CREATE: &str = "create it first";

fn check_target_with(path: &Path, remedy: &str) -> Result<(), Error> {
    check_folder(path, remedy)?;
    if is_text_model(path) {
        return Err(unusable(
            path,
            "models are written in binary form; use a name that ends in .onnx",
        ));
    }
    Ok(())
}

/// Checks that a path is not that of a folder, but in one.
fn check_folder(path: &Path, remedy: &str) -> Result<(), Error> {
    let folder = folder_of(path);
    let is_in = folder.display();
    if folders::is_folder(path) || files::names_a_folder(path) {
        Err(unusable(path, "is a folder, not a file; name a file in it"))
    } else if folders::is_folder(&folder) {
        Ok(())
    } else if folders::exists(&folder) {
        Err(unusable(path, format!("{is_in} is a file, not a folder")))
    } else {
        Err(unusable(
            path,
            format!("the folder {is_in} does not exist; {remedy}"),
        ))
    }
}

/// Checks that a file that is not a model does not replace a model or the data of one.
///
/// # Errors
/// If the path is that of a model, or of the data of a model.
pub fn check_not_of_model(path: &Path, remedy: &str) -> Result<(), Error> {
    match storage::reason_not_to_replace(path) {
        Some(why) => Err(Error::new(ErrorKind::BadOutput, format!("{why}; {remedy}"))
            .in_file(path.display().to_string())),
        None => Ok(()),
    }
}

fn unusable(path: &Path, message: impl ToString) -> Error {
    Error::new(ErrorKind::Usage, message).in_file(path.display().to_string())
}

/// A file that a run writes besides models.
#[derive(Clone, Copy)]
pub struct SideFile<'f> {
    pub path: &'f Path,
    /// The kind of the file, in messages.
    pub what: &'static str,
    /// Whether a file of this content is one.
    pub is_one: fn(&[u8]) -> bool,
}

impl SideFile<'_> {
    /// Checks before any work that the file can be written, and is not one of the other files of
    /// the run.
    ///
    /// # Errors
    /// If the file cannot be written, or is one of the others.
    pub fn check<'p>(self, others: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
        let SideFile { path, what, is_one } = self;
        check_folder(path, CREATE)?;
        tidy([path].into_iter())?;
        files::check_replaceable(path).with_context(|| path.display().to_string())?;
        self.check_others(others)?;
        // The models beside it are not read if the run replaces a file of the same kind.
        let is_same_kind = || files::open(path).is_ok_and(|there| is_one(&there.bytes));
        if folders::is_file(path) && !is_same_kind() {
            Ok(check_not_of_model(
                path,
                &format!("use another name for the {what}"),
            )?)
        } else {
            Ok(())
        }
    }

    /// Checks that the file is not one of the other files of the run.
    ///
    /// # Errors
    /// If the file is one of the others.
    pub fn check_others<'p>(self, mut others: impl Iterator<Item = &'p Path>) -> Result<(), Error> {
        let identity = files::identity(self.path);
        if others.any(|other| files::identity(other) == identity) {
            let message = format!(
                "is also an input or output of this run; use another name for the {}",
                self.what
            );
            return Err(unusable(self.path, message));
        }
        Ok(())
    }

    /// Whether an error of the run is about the file, such as that a model stores tensors in it:
    /// then it must not be written.
    pub fn is_refused(self, errors: &[Error]) -> bool {
        errors
            .iter()
            .any(|error| error.path() == Some(&*self.path.display().to_string()))
    }

    /// Writes the bytes that `make` appends.
    ///
    /// # Errors
    /// Any error of `make`, and any I/O error.
    pub fn write(self, make: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), Error> {
        let written = layout_of(make)
            .and_then(|layout| files::save(layout, &SaveTarget::File(self.path.to_owned())));
        written.map_err(|error| not_written(&self.path.display().to_string(), error))
    }

    /// Checks that a model does not use the file.
    ///
    /// # Errors
    /// If the model stores tensors in it.
    pub fn check_data(self, path: &Path, model: &Model) -> Result<(), Error> {
        let identity = files::identity(self.path);
        if model
            .data_ranges()
            .keys()
            .any(|location| files::identity(&folder_of(path).join(location)) == identity)
        {
            let message = format!(
                "{} stores tensors in this file; use another name for the {}",
                path.display(),
                self.what
            );
            return Err(
                Error::new(ErrorKind::BadOutput, message).in_file(self.path.display().to_string())
            );
        }
        Ok(())
    }
}

/// The layout of a file of the bytes that `make` appends.
pub fn layout_of(make: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<Layout> {
    let mut bytes = Vec::new();
    make(&mut bytes)?;
    Ok(Layout::of_pieces(vec![Piece::Bytes(bytes.into())]))
}

/// Removes the temporary files of interrupted runs from the folders of some outputs, and of the
/// files to which they are links, and names them on standard error.
pub fn tidy<'p>(outputs: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
    let folders_of = |output: &Path| {
        [
            Some(output.to_owned()),
            output
                .is_symlink()
                .then(|| output.canonicalize().ok())
                .flatten(),
        ]
    };
    let folders: BTreeSet<PathBuf> = outputs
        .flat_map(folders_of)
        .flatten()
        .map(|output| files::folder_of(&output))
        .collect();
    for folder in folders {
        for path in storage::tidy(&folder).with_context(|| folder.display().to_string())? {
            streams::print_message(streams::message(format_args!(
                "{}: removed a temporary file of an interrupted run",
                path.display()
            )));
        }
    }
    Ok(())
}
