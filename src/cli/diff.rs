//! `recast diff`

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};

use super::exit_code::ExitCode;
use super::failures::caught;
use super::files;
use super::options::{Format, Messages, exit_codes};
use super::remedy::with_remedy;
use super::streams::{print, print_errors};
use crate::base::parallel;
use crate::diff::{Difference, DifferenceKind};
use crate::report::{self, ComparedModels};
use crate::{Comparison, Error, diff};

/// Show the differences between two models
///
/// Compares every field of the files, including fields unknown to this version. Nodes are matched
/// by name and operator, then by their outputs, other entities by name. Tensors are compared by
/// value, regardless of how they are stored.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast diff model.onnx folded.onnx
  recast diff model.onnx external.onnx --ignore stored
  recast diff a.onnx b.onnx --format json | jq '.differences[] | select(.kind == \"removed\")'

Kinds of differences:
  removed    present only in the first model
  added      present only in the second model
  changed    present in both models with different values
  reordered  a list has the same items in a different order
  stored     a tensor has the same values in a different field or file

{}", exit_codes("the models are equal, except for ignored differences", "differences")))]
pub struct Diff {
    /// The first model; `-` reads standard input
    #[arg(value_name = "A")]
    left: PathBuf,
    /// The second model; `-` reads standard input
    #[arg(value_name = "B")]
    right: PathBuf,
    /// Ignore differences of these kinds
    #[arg(
        long,
        value_name = "KINDS",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    ignore: Vec<KindName>,
    #[command(flatten)]
    folders: files::DataFolders,
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
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
            bail!("only one of the two models can be read from standard input");
        }
        let names = [&self.left, &self.right].map(|path| path.display().to_string());
        let compared = caught(&self.left, || Ok(self.compare()));
        let (differences, errors) = compared.unwrap_or_else(|error| (Vec::new(), vec![error]));
        let answer = u8::from(!differences.is_empty());
        let [left, right] = names;
        let compared = ComparedModels {
            left,
            right,
            differences,
        };
        match self.format {
            Format::Json => print(report::json(&compared, &errors))?,
            Format::Text if messages.quiet => {}
            // "do not differ" must not be printed for models that were not fully compared.
            Format::Text if compared.differences.is_empty() && !errors.is_empty() => {}
            Format::Text => print(report::diff_text(&compared))?,
        }
        print_errors(&errors);
        Ok(ExitCode::from(if errors.is_empty() { answer } else { 2 }))
    }

    /// The differences, and the errors of both models.
    fn compare(&self) -> (Vec<Difference>, Vec<Error>) {
        let open = |path| caught(path, || files::open_for(&self.left, path, &self.folders));
        let (left, right) = match parallel::join(|| open(&self.left), || open(&self.right)) {
            (Ok(left), Ok(right)) => (left, right),
            (left, right) => {
                return (
                    Vec::new(),
                    [left.err(), right.err()].into_iter().flatten().collect(),
                );
            }
        };
        let compared = diff(&left, &right);
        parallel::drop_in_background((left, right));
        match compared {
            Ok(Comparison {
                mut differences,
                errors,
            }) => {
                differences.retain(|difference| {
                    !self
                        .ignore
                        .iter()
                        .any(|ignored| ignored.kind() == difference.kind)
                });
                (differences, errors.into_iter().map(with_remedy).collect())
            }
            Err(error) => (Vec::new(), vec![with_remedy(error)]),
        }
    }
}
