//! `recast diff`

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use super::{EXIT_CODES, Format, Messages, files, print, print_with};
use crate::diff::{DifferenceKind, Side, diff_decodable};
use crate::report::{self, ComparedModels};
use crate::wire::{DataFolder, Input};

/// Show what differs between two models
///
/// Compares every field of the files, fields of newer formats too. Nodes are matched by their outputs, everything else by name; tensors
/// are compared by their values, wherever these are stored.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast diff model.onnx folded.onnx
  recast diff model.onnx external.onnx --ignore stored
  recast diff a.onnx b.onnx --format json | jq '.differences[] | select(.kind == \"removed\")'

What differs has one of these kinds:
  removed    only the first model has it
  added      only the second model has it
  changed    both have it, and it differs
  reordered  a list has the same items in another order
  stored     a tensor has the same values in another field or file

{EXIT_CODES}"))]
pub struct Diff {
    /// One model; `-` is standard input
    #[arg(value_name = "A")]
    left: PathBuf,
    /// The other
    #[arg(value_name = "B")]
    right: PathBuf,
    /// Leave differences of these kinds out
    #[arg(long, value_name = "KINDS", value_delimiter = ',', hide_possible_values = true)]
    ignore: Vec<KindName>,
    #[command(flatten)]
    folders: files::DataFolders,
    /// What is printed
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindName {
    Removed,
    Added,
    Changed,
    Reordered,
    Stored,
}

impl KindName {
    fn kind(self) -> DifferenceKind {
        match self {
            KindName::Removed => DifferenceKind::Removed,
            KindName::Added => DifferenceKind::Added,
            KindName::Changed => DifferenceKind::Changed,
            KindName::Reordered => DifferenceKind::Reordered,
            KindName::Stored => DifferenceKind::Stored,
        }
    }
}

impl Diff {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        if self.left == self.right && files::is_stdin(&self.left) {
            bail!("standard input can be one of the models only");
        }
        let (left, left_data) = self.open(&self.left)?;
        let (right, right_data) = self.open(&self.right)?;
        let left_side = Side { model: &left.bytes, data: &left_data };
        let right_side = Side { model: &right.bytes, data: &right_data };
        let mut differences = diff_decodable(left_side, right_side).with_context(|| format!("{} and {}", left.name, right.name))?;
        differences.retain(|difference| !self.ignore.iter().any(|ignored| ignored.kind() == difference.kind));
        let answer = if differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) };
        let compared = ComparedModels { left: left.name, right: right.name, differences };
        match self.format {
            Format::Json => print_with(|out| report::write_json(&compared, out))?,
            Format::Text if messages.quiet => {}
            Format::Text => print(&report::diff_text(&compared))?,
        }
        Ok(answer)
    }

    /// Opens a model and validates it. The comparison works on its bytes, so the decoded model is freed.
    fn open(&self, path: &Path) -> anyhow::Result<(Input, Arc<DataFolder>)> {
        let (input, model) = files::open_model(path, &self.folders)?;
        Ok((input, Arc::clone(model.data())))
    }
}
