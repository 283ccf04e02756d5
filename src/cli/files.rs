//! Which files a command reads, and where it writes.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use crate::graph::Model;
use crate::wire::schema::ModelProto;
use crate::wire::{self, DataFolder, Input, Target};

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
        self.output.as_deref() == Some(Path::new("-"))
    }

    /// Whether a place was given at all.
    pub fn is_given(&self) -> bool {
        self.output.is_some() || self.out_dir.is_some() || self.in_place
    }

    /// The target of each input.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same.
    pub fn targets(&self, inputs: &[PathBuf]) -> anyhow::Result<Vec<Target>> {
        if !self.is_given() {
            bail!("no output given; use -o FILE, --out-dir DIR or --in-place (or --dry-run)");
        }
        if self.output.is_some() && inputs.len() > 1 {
            bail!("-o takes one model, but {} were given; use --out-dir DIR or --in-place", inputs.len());
        }
        let targets = inputs.iter().map(|input| self.target(input)).collect::<anyhow::Result<Vec<Target>>>()?;
        let mut seen = HashSet::new();
        for target in &targets {
            if let Target::File(path) = target
                && !seen.insert(path)
            {
                bail!("two models would be written to {}", path.display());
            }
        }
        Ok(targets)
    }

    fn target(&self, input: &Path) -> anyhow::Result<Target> {
        match (&self.output, &self.out_dir) {
            (Some(output), _) if output == Path::new("-") => Ok(Target::Stdout),
            (Some(output), _) => Ok(Target::File(output.clone())),
            _ if input == Path::new("-") => bail!("a model from standard input has no name; use -o FILE"),
            (None, Some(folder)) => {
                std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                let name = input.file_name().with_context(|| format!("{}: has no file name", input.display()))?;
                Ok(Target::File(folder.join(name)))
            }
            (None, None) => Ok(Target::File(input.to_owned())),
        }
    }
}

/// How a report names a target.
pub fn target_name(target: &Target) -> String {
    match target {
        Target::Stdout => "-".to_owned(),
        Target::File(path) => path.display().to_string(),
    }
}

/// Opens a model; `-` is standard input.
pub fn open_model(path: &Path) -> anyhow::Result<(Input, Model)> {
    let name = || path.display().to_string();
    let input = if path == Path::new("-") { wire::read_stdin() } else { wire::open(path) }.with_context(name)?;
    if input.bytes.is_empty() {
        bail!("{}: is empty, not an ONNX model", name());
    }
    let proto = ModelProto::from_bytes(input.bytes.clone()).with_context(|| format!("{}: is no ONNX model", name()))?;
    let data = if path == Path::new("-") { DataFolder::default() } else { DataFolder::of_model(path) };
    let model = Model::new(proto).with_context(name)?.with_data(data);
    Ok((input, model))
}

/// Prints a report: to standard output, unless models go there.
pub fn print(report: &str, output: &Output) -> io::Result<()> {
    if output.is_stdout() { io::stderr().write_all(report.as_bytes()) } else { io::stdout().write_all(report.as_bytes()) }
}
