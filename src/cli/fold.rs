//! `recast fold`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::files::{self, ExternalData, Output};
use super::open_results::{OnContested, Undefined};
use super::prepare::{DropMetadata, Freeze, prepare};
use super::{EXIT_CODES, Format, Messages, paths};
use crate::external::Plan;
use crate::passes::{self, PASSES, Pass};
use crate::report::{self, Failure, FoldedModel};
use crate::shown::Shown;
use crate::wire::{Layout, Target};

/// Replace casts of constants by their results
///
/// A cast is folded if its input cannot be overridden by a caller and ONNX defines every resulting value. Casts that are not folded are
/// listed with the reason. The rest of the file is preserved byte for byte.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast fold model.onnx -o folded.onnx
  recast fold model.onnx --dry-run --verbose
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
    /// A comma-separated list of passes to run, or `none`
    #[arg(long, value_name = "LIST", default_value = "fold-casts", value_parser = parse_passes)]
    passes: Passes,
    /// How to treat casts with values that ONNX leaves undefined: keep the cast (skip), or fold it to the values that recast documents (fold)
    #[arg(long, value_name = "skip|fold", default_value = "skip", hide_possible_values = true)]
    undefined: Undefined,
    /// How to treat casts with values on which ONNX's text and its node tests disagree: keep the cast (skip), or fold it to the values of
    /// the text (text) or of the node tests and runtimes (runtime)
    #[arg(long, value_name = "skip|text|runtime", default_value = "skip", hide_possible_values = true)]
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
        let models = paths::expand_patterns(&self.models)?;
        let targets = self.output.targets_unless(self.dry_run, &models)?;
        // All models are folded before the first is written: if one has an error, none is written.
        let folded = files::each(messages, &models, targets, |path, target| self.fold(path, target));
        let files::Together { mut reports, plans, mut errors } = folded;
        if errors.is_empty() {
            let (old, error) = files::write_all(plans.into_iter().flatten().collect(), self.dry_run, messages);
            reports.iter_mut().skip(old.len()).for_each(|report| report.output = None);
            for (report, old) in reports.iter_mut().zip(old) {
                (report.removed_files, report.unused_files) = (old.removed, old.unused);
            }
            errors.extend(error);
        } else {
            reports.iter_mut().for_each(|report| report.output = None);
        }
        // In a run with errors, the text lists only models that were written.
        let is_told = |model: &&FoldedModel| errors.is_empty() || model.output.is_some();
        let text = || reports.iter().filter(is_told).map(|model| report::fold_text(model, messages.verbose)).collect::<Shown>();
        let printed = match self.format {
            Format::Json => Some(report::models_json(&reports, &errors).into()),
            Format::Text if messages.quiet => None,
            Format::Text => Some(text().into()),
        };
        Ok(files::print_report(printed, &errors, &self.output)?)
    }

    /// Folds one model: its report, and the plan to write it.
    fn fold(&self, path: &Path, target: Option<Target>) -> Result<(FoldedModel, Option<Plan>), Failure> {
        let (input, model) = files::open_model(path, &self.external_data.folders)?;
        let options = passes::Options {
            fold_undefined: self.undefined == Undefined::Fold,
            contested: self.contested.choice(),
            max_growth: self.max_growth,
        };
        let (model, prepared) = prepare(model, self.freeze, &self.metadata).map_err(|error| Failure::new(&input.name, &error))?;
        let (model, report) = passes::run(model, &self.passes.0, &options).map_err(|error| Failure::new(&input.name, &error))?;
        let mut folded = FoldedModel {
            path: input.name,
            dry_run: self.dry_run,
            output: target.as_ref().filter(|_| !self.dry_run).map(files::target_name),
            prepared,
            report: report.into(),
            bytes_in: input.bytes.len() as u64,
            bytes_out: 0,
            data_file: None,
            notes: Vec::new(),
            removed_files: Vec::new(),
            unused_files: Vec::new(),
            copied_files: Vec::new(),
        };
        let Some(target) = target else {
            folded.bytes_out = Layout::of(model.proto()).bytes();
            return Ok((folded, None));
        };
        let plan = self.external_data.plan(model, path, &target).map_err(|error| files::not_placed(&folded.path, &error))?;
        folded.bytes_out = plan.bytes();
        folded.data_file = plan.data_file().cloned();
        folded.copied_files = plan.copied_files();
        folded.notes.clone_from(&plan.notes);
        Ok((folded, Some(plan)))
    }
}

fn parse_passes(list: &str) -> Result<Passes, String> {
    if matches!(list, "" | "none") {
        return Ok(Passes(Vec::new()));
    }
    let known = || PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ");
    let find = |name: &str| {
        let pass = PASSES.iter().find(|pass| pass.name == name.trim());
        pass.copied().ok_or_else(|| format!("unknown pass '{name}'; available passes: {}", known()))
    };
    list.split(',').map(find).collect::<Result<Vec<Pass>, String>>().map(Passes)
}
