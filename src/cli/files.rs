//! Which files a command reads, and where the values of tensors go.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{memory, progress};
use crate::api::explain_open;
use crate::files::{self, DataFolder, Input, SaveTarget, folder_of};
use crate::{Error, ErrorKind, Model, OpenOptions, Placement, SaveOptions, SavePlan};

/// Where the values of large tensors go.
#[derive(Args, Clone)]
pub struct ExternalData {
    /// Where to store the values of tensors: where they are (keep), in the model file (inline), or
    /// large initializers in FILE, a path relative to the output's folder. With keep, a model file
    /// that would exceed 2 GiB gets a data file
    #[arg(long, value_name = "keep|inline|FILE", default_value = "keep", value_parser = parse_placement)]
    external_data: Placement,
    /// Minimum size of tensors that are moved to a data file. Accepts the suffixes K, M and G
    /// (powers of 1024)
    #[arg(long, value_name = "BYTES", default_value = "1K", value_parser = parse_bytes, allow_negative_numbers = true)]
    external_threshold: u64,
    #[command(flatten)]
    pub folders: DataFolders,
}

/// Where data files may be.
#[derive(Args, Clone, Default)]
pub struct DataFolders {
    /// Read data files from this folder, too. By default, only the model's own folder is allowed
    #[arg(long, value_name = "DIR")]
    allow_data_dir: Vec<PathBuf>,
}

impl ExternalData {
    /// The path of the data file beside an output, if it is named.
    pub fn file_beside(&self, output: &Path) -> Option<PathBuf> {
        let Placement::File(name) = &self.external_data else {
            return None;
        };
        Some(folder_of(output).join(name))
    }

    /// Decides what is written where. Every command that writes models does so through this plan.
    pub fn plan(&self, model: Model, target: &SaveTarget) -> Result<SavePlan, Error> {
        let options = SaveOptions {
            placement: self.external_data.clone(),
            threshold: self.external_threshold,
        };
        model.plan_for(target, &options)
    }
}

fn parse_placement(text: &str) -> Result<Placement, String> {
    match text {
        "" => Err("give keep, inline or a path".to_owned()),
        "keep" => Ok(Placement::Keep),
        "inline" => Ok(Placement::Inline),
        file => Ok(Placement::File(file.to_owned())),
    }
}

/// Reads `4096`, `64K`, `512M`, `2G`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return Err("not a number of bytes; examples: 4096, 64K, 512M, 2G".to_owned()),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "not a number of bytes; examples: 4096, 64K, 512M, 2G".to_owned())?;
    number
        .checked_mul(1 << shift)
        .ok_or_else(|| "more bytes than 64 bits can count".to_owned())
}

/// Whether a path denotes standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens a model; `-` is standard input.
pub fn open_model(path: &Path, folders: &DataFolders) -> Result<Model, Error> {
    open_for(path, path, folders)
}

/// Like [`open_model`]; a lack of memory is reported for the file `first`, with which others are
/// opened at the same time.
pub fn open_for(first: &Path, path: &Path, folders: &DataFolders) -> Result<Model, Error> {
    memory::set_memory_messages(Some(&first.display().to_string()));
    #[cfg(feature = "internals")]
    panic_if_requested(path);
    let options = folders
        .allow_data_dir
        .iter()
        .fold(OpenOptions::new(), OpenOptions::allow_data_in);
    let model = if is_stdin(path) {
        options.read_stdin()
    } else {
        options.open(path)
    };
    model.map(progress::reporting)
}

/// For tests: a defect that the model of the name `RECAST_PANIC` meets.
#[cfg(feature = "internals")]
fn panic_if_requested(path: &Path) {
    let requested = std::env::var_os("RECAST_PANIC");
    assert!(
        requested.is_none() || path.file_name() != requested.as_deref(),
        "this panic was requested"
    );
}

/// Opens a file and the folders that its data files may be in; `-` is standard input, beside which
/// there are none.
pub fn open_with_data(path: &Path, folders: &DataFolders) -> Result<(Input, DataFolder), Error> {
    #[cfg(feature = "internals")]
    panic_if_requested(path);
    let opened = if is_stdin(path) {
        files::read_all(&mut io::stdin().lock()).map(|bytes| {
            (
                Input {
                    name: "-".to_owned(),
                    bytes,
                },
                DataFolder::default(),
            )
        })
    } else {
        files::open_with_data(path)
    };
    let name = || path.display().to_string();
    let (input, mut data) =
        opened.map_err(|error| Error::of(&explain_open(path, error)).in_file(name()))?;
    for folder in &folders.allow_data_dir {
        let allowed = data.allow(folder);
        allowed.map_err(|error| {
            Error::new(
                ErrorKind::Usage,
                format!("--allow-data-dir {}: {error}", folder.display()),
            )
            .in_file(name())
        })?;
    }
    Ok((input, data))
}
