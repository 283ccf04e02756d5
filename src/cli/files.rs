//! Which files a command reads, and where it writes.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use super::{Messages, progress, say};
use crate::external::{self, OldFiles, Placement, Plan, Unplaceable};
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

    /// The target of each input; in a dry run there may be none.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same.
    pub fn targets_unless(&self, dry_run: bool, inputs: &[PathBuf]) -> anyhow::Result<Vec<Option<Target>>> {
        match (dry_run, self.is_given()) {
            (true, false) => Ok(vec![None; inputs.len()]),
            (true, true) => Ok(self.targets(true, inputs)?.into_iter().map(Some).collect()),
            (false, _) => {
                if let Some(folder) = &self.out_dir {
                    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                }
                Ok(self.targets(false, inputs)?.into_iter().map(Some).collect())
            }
        }
    }

    /// The target of each input.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same.
    fn targets(&self, dry_run: bool, inputs: &[PathBuf]) -> anyhow::Result<Vec<Target>> {
        if !self.is_given() {
            bail!("no output given; use -o FILE, --out-dir DIR or --in-place (or --dry-run)");
        }
        if self.output.is_some() && inputs.len() > 1 {
            bail!("-o takes one model, but {} were given; use --out-dir DIR or --in-place", inputs.len());
        }
        let targets = inputs.iter().map(|input| self.target(input)).collect::<anyhow::Result<Vec<Target>>>()?;
        let files =
            || targets.iter().filter_map(|target| if let Target::File(path) = target { Some(path.as_path()) } else { None });
        if !dry_run {
            // First, since a temporary file may be a second name of a target.
            tidy(files())?;
        }
        let mut seen = HashSet::new();
        for path in files() {
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
                let name = input.file_name().with_context(|| format!("{}: has no file name", input.display()))?;
                Ok(Target::File(folder.join(name)))
            }
            (None, None) => Ok(Target::File(input.to_owned())),
        }
    }
}

/// Removes the temporary files of interrupted runs from the folders of some outputs, and names them on standard error.
pub fn tidy<'p>(outputs: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
    let folders: BTreeSet<PathBuf> = outputs.map(wire::folder_of).collect();
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
    prune: PruneData,
    #[command(flatten)]
    pub folders: DataFolders,
}

/// What becomes of data files that a model no longer uses.
#[derive(Args, Clone, Copy, Default)]
pub struct PruneData {
    /// Remove data files that a replaced model no longer uses and that are its own alone; without it they stay and are listed
    #[arg(long)]
    pub prune_data: bool,
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
        let options = external::Options {
            placement: self.external_data.clone(),
            threshold: self.external_threshold,
            prune_data: self.prune.prune_data,
        };
        Plan::new(model, input, target, &options)
    }
}

/// Writes models one after the other, or with `dry_run` none. Returns for each what became, or would become, of the data files that it
/// no longer uses.
///
/// # Errors
/// Where two of them would write the same file, or one would replace a file in which another keeps tensors; then nothing is written.
pub fn write_all(plans: Vec<Plan>, dry_run: bool, messages: Messages) -> anyhow::Result<Vec<OldFiles>> {
    let mut seen = HashSet::new();
    for path in plans.iter().flat_map(Plan::files) {
        if !seen.insert(wire::identity(path)) {
            bail!("two models would write {}; give them different data files", path.display());
        }
    }
    for (index, plan) in plans.iter().enumerate() {
        let others = plans.iter().enumerate().filter(|(other, _)| *other != index);
        if let Some((_, other)) = others.into_iter().find(|(_, other)| plan.is_over_data_of(other)) {
            let (path, other) = (target_name(plan.target()), target_name(other.target()));
            bail!("{path}: the model that is written to {other} keeps tensors in this file; use another output");
        }
    }
    if dry_run {
        return Ok(plans.into_iter().map(Plan::preview).collect());
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
