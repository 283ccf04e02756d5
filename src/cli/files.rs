//! Which files a command reads, and where it writes.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::{Messages, progress, say};
use crate::external::{self, Placement, Plan, Unplaceable};
use crate::graph::Model;
use crate::wire::schema::ModelProto;
use crate::wire::{self, DataFolder, Input, Progress, Target};

/// Where the results go.
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

impl Output {
    /// Whether models go to standard output, which leaves no room there for a report.
    pub fn is_stdout(&self) -> bool {
        self.output.as_deref().is_some_and(|output| output == Path::new("-") || wire::is_standard_output(output))
    }

    fn is_given(&self) -> bool {
        self.output.is_some() || self.out_dir.is_some() || self.in_place
    }

    /// The target of each input; in a dry run, none.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same, or a dry run has one.
    pub fn targets_unless(&self, dry_run: bool, inputs: &[PathBuf]) -> anyhow::Result<Vec<Option<Target>>> {
        match (dry_run, self.is_given()) {
            (true, true) => bail!("--dry-run writes nothing: leave the output away"),
            (true, false) => Ok(vec![None; inputs.len()]),
            (false, _) => Ok(self.targets(inputs)?.into_iter().map(Some).collect()),
        }
    }

    /// The target of each input.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same.
    fn targets(&self, inputs: &[PathBuf]) -> anyhow::Result<Vec<Target>> {
        if !self.is_given() {
            bail!("no output given; use -o FILE, --out-dir DIR or --in-place (or --dry-run)");
        }
        if self.output.is_some() && inputs.len() > 1 {
            bail!("-o takes one model, but {} were given; use --out-dir DIR or --in-place", inputs.len());
        }
        let targets = inputs.iter().map(|input| self.target(input)).collect::<anyhow::Result<Vec<Target>>>()?;
        // First, since a temporary file may be a second name of a target.
        tidy(&targets)?;
        let mut seen = HashSet::new();
        for target in &targets {
            let Target::File(path) = target else { continue };
            if !seen.insert(wire::identity(path)) {
                bail!("two models would be written to {}", path.display());
            }
            wire::check_replaceable(path).with_context(|| path.display().to_string())?;
        }
        Ok(targets)
    }

    fn target(&self, input: &Path) -> anyhow::Result<Target> {
        match (&self.output, &self.out_dir) {
            _ if self.is_stdout() => Ok(Target::Stdout),
            (Some(output), _) => Ok(Target::File(output.clone())),
            _ if is_stdin(input) => bail!("a model from standard input has no name; use -o FILE"),
            (None, Some(folder)) => {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                let name = input.file_name().with_context(|| format!("{}: has no file name", input.display()))?;
                Ok(Target::File(folder.join(name)))
            }
            (None, None) => Ok(Target::File(input.to_owned())),
        }
    }
}

/// Removes what interrupted runs left in the folders of the targets, and says so.
fn tidy(targets: &[Target]) -> anyhow::Result<()> {
    let folder = |target: &Target| match target {
        Target::File(path) => Some(wire::folder_of(path)),
        Target::Stdout => None,
    };
    let folders: BTreeSet<PathBuf> = targets.iter().filter_map(folder).collect();
    for folder in folders {
        for path in wire::tidy(&folder).with_context(|| folder.display().to_string())? {
            say(format!("recast: {}: removed a temporary file of an interrupted run", path.display()));
        }
    }
    Ok(())
}

/// Where the values of large tensors go.
#[derive(Args, Clone)]
pub struct ExternalData {
    /// Where the values of tensors go: `keep` leaves them where they are, `inline` puts them into the model file; FILE, a path relative
    /// to the output's folder, takes those of all large initializers. A model of more than 2 GiB gets a data file in any case
    #[arg(long, value_name = "keep|inline|FILE", default_value = "keep", value_parser = parse_placement)]
    external_data: Placement,
    /// Tensors smaller than this are not moved to a data file; K, M, G are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "1K", value_parser = parse_bytes)]
    external_threshold: u64,
    #[command(flatten)]
    pub folders: DataFolders,
}

/// Where data files may be.
#[derive(Args, Clone, Default)]
pub struct DataFolders {
    /// Read data files from this folder too; without it only from the model's own
    #[arg(long, value_name = "DIR")]
    allow_data_dir: Vec<PathBuf>,
}

impl ExternalData {
    /// Decides what is written where. Every command that writes models does so through this plan.
    pub fn plan(&self, model: Model, input: &Path, target: &Target) -> Result<Plan, Unplaceable> {
        let options = external::Options { placement: self.external_data.clone(), threshold: self.external_threshold };
        Plan::new(model, input, target, &options)
    }
}

/// Writes models one after the other, and returns for each the data files that nothing refers to any more and that were removed.
///
/// # Errors
/// Where two of them would write the same file; then nothing is written.
pub fn write_all(plans: Vec<Plan>, messages: Messages) -> anyhow::Result<Vec<Vec<PathBuf>>> {
    let mut seen = HashSet::new();
    for path in plans.iter().flat_map(Plan::files) {
        if !seen.insert(wire::identity(path)) {
            bail!("two models would write {}; give them different data files", path.display());
        }
    }
    let files: Vec<Progress> = plans.iter().flat_map(Plan::progress).collect();
    progress::of_files(messages, &files, || Ok(plans.into_iter().map(Plan::write).collect::<io::Result<_>>()?))
}

fn parse_placement(text: &str) -> Result<Placement, String> {
    match text {
        "" => Err("neither `keep` nor `inline` nor a path".to_owned()),
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
    let number: u64 = digits.parse().map_err(|_| "not a number of bytes; examples: 4096, 64K, 512M, 2G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more bytes than 64 bits can count".to_owned())
}

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// How a report names a target.
pub fn target_name(target: &Target) -> String {
    match target {
        Target::Stdout => "-".to_owned(),
        Target::File(path) => path.display().to_string(),
    }
}

/// Opens a model; `-` is standard input.
pub fn open_model(path: &Path, folders: &DataFolders) -> anyhow::Result<(Input, Model)> {
    let name = || path.display().to_string();
    let (input, data) = open_with_data(path, folders)?;
    if input.bytes.is_empty() {
        bail!("{}: is empty, not an ONNX model", name());
    }
    let proto = ModelProto::from_bytes(input.bytes.clone()).with_context(|| format!("{}: is no ONNX model", name()))?;
    let model = Model::new(proto).with_context(name)?.with_data(data);
    Ok((input, model))
}

/// Opens a file and the folders that its data files may be in; `-` is standard input, beside which there are none.
pub fn open_with_data(path: &Path, folders: &DataFolders) -> anyhow::Result<(Input, DataFolder)> {
    let opened = match is_stdin(path) {
        true => wire::read_stdin().map(|input| (input, DataFolder::default())),
        false => wire::open_with_data(path),
    };
    let (input, mut data) = opened.with_context(|| path.display().to_string())?;
    for folder in &folders.allow_data_dir {
        data.allow(folder).with_context(|| format!("--allow-data-dir {}", folder.display()))?;
    }
    Ok((input, data))
}

/// Prints a report: to standard output, unless models go there.
pub fn print(report: &str, output: &Output) -> io::Result<()> {
    if output.is_stdout() { io::stderr().write_all(report.as_bytes()) } else { super::print(report) }
}
