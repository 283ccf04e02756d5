//! `recast fold`

use std::path::{Path, PathBuf};

use clap::Args;

use super::exit_code::ExitCode;
use super::files::{self, ExternalData};
use super::models::{ModelReport, Run};
use super::open_results::{OnContested, Undefined};
use super::options::{EXIT_CODES, Format, Messages};
use super::output::Output;
use super::prepare::{DropMetadata, Freeze, prepare};
use crate::external::OldFiles;
use crate::passes::{self, Pass, UnknownPass};
use crate::report::{self, FoldedModel};
use crate::shown::Shown;
use crate::{Error, FoldOptions, SavePlan, Target};

/// Replace casts of constants by their results
///
/// A cast is folded if its input is a constant that a caller cannot override, or is computed from such constants, and ONNX defines every
/// resulting value. Other passes are run by name. Casts that are not folded are
/// listed with the reason. The rest of the file is preserved byte for byte.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast fold model.onnx -o folded.onnx
  recast fold model.onnx --dry-run --verbose
  recast fold model.onnx --passes exact -o smaller.onnx
  recast fold models/*.onnx --out-dir folded --format json
  recast fold old-export.onnx --freeze-initializers -o folded.onnx
  recast fold - -o - < model.onnx > folded.onnx

{EXIT_CODES}
A cast that is not folded is not an error."))]
pub struct Fold {
    /// Models or quoted glob patterns; `-` reads standard input
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    external_data: ExternalData,
    /// A comma-separated list of passes and tiers (`default`, `exact`) to run, or `none`; `recast passes` lists them
    #[arg(long, value_name = "LIST", default_value = "default", value_parser = parse_passes)]
    passes: Passes,
    /// How to treat casts with values that ONNX leaves undefined: keep the cast (skip), or fold it to the values that recast documents (fold)
    #[arg(long, value_name = "skip|fold", default_value = "skip", hide_possible_values = true)]
    undefined: Undefined,
    /// How to treat casts with values on which ONNX's text and its node tests disagree: keep the cast (skip), or fold it to the values of
    /// the text (text) or of the node tests and runtimes (runtime)
    #[arg(long, value_name = "skip|text|runtime", default_value = "skip", hide_possible_values = true, value_parser = OnContested::parser())]
    contested: OnContested,
    /// Keep casts that would grow the tensors of the model by more than this; accepts the suffixes K, M and G (powers of 1024)
    #[arg(long, value_name = "BYTES", value_parser = files::parse_bytes)]
    max_growth: Option<u64>,
    #[command(flatten)]
    freeze: Freeze,
    #[command(flatten)]
    metadata: DropMetadata,
    /// Report the changes without writing any files
    #[arg(long)]
    dry_run: bool,
    /// The output format of the report
    #[arg(long, default_value = "text")]
    pub(super) format: Format,
}

#[derive(Clone)]
struct Passes(Vec<Pass>);

impl Fold {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let Fold { models, output, dry_run, format, .. } = &self;
        let run = Run { models, output, dry_run: *dry_run, format: *format, messages };
        run.run(|path, target| self.fold(path, target))
    }

    /// Folds one model: its report, and the plan to write it.
    fn fold(&self, path: &Path, target: Option<Target>) -> Result<(FoldedModel, Option<SavePlan>), Error> {
        let mut model = files::open_model(path, &self.external_data.folders)?;
        let options = FoldOptions {
            fold_undefined: self.undefined == Undefined::Fold,
            contested: self.contested.0,
            max_growth: self.max_growth,
        };
        let bytes_in = model.bytes();
        let prepared = prepare(&mut model, self.freeze, &self.metadata)?;
        let report = model.run_passes(&self.passes.0, &options)?;
        let mut folded = FoldedModel {
            path: path.display().to_string(),
            dry_run: self.dry_run,
            output: target.as_ref().filter(|_| !self.dry_run).map(Target::name),
            prepared,
            report: report.into(),
            bytes_in,
            bytes_out: 0,
            data_file: None,
            notes: Vec::new(),
            removed_files: Vec::new(),
            unused_files: Vec::new(),
            copied_files: Vec::new(),
        };
        let Some(target) = target else {
            folded.bytes_out = model.bytes();
            return Ok((folded, None));
        };
        let plan = self.external_data.plan(model, &target)?;
        folded.bytes_out = plan.bytes();
        folded.data_file = plan.data_file().cloned();
        folded.copied_files = plan.copied_files();
        folded.notes.clone_from(&plan.notes);
        Ok((folded, Some(plan)))
    }
}

impl ModelReport for FoldedModel {
    fn output(&mut self) -> &mut Option<String> {
        &mut self.output
    }

    fn settle(&mut self, old: OldFiles) {
        (self.removed_files, self.unused_files) = (old.removed, old.unused);
    }

    fn text(&self, verbose: bool) -> Shown {
        report::fold_text(self, verbose)
    }
}

fn parse_passes(list: &str) -> Result<Passes, UnknownPass> {
    if matches!(list, "" | "none") {
        return Ok(Passes(Vec::new()));
    }
    passes::selected(list.split(',').map(str::trim)).map(Passes)
}
