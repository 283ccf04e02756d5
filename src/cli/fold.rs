//! `recast fold`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::files::{self, ExternalData, Output};
use super::open_results::{OnContested, Undefined};
use super::{EXIT_CODES, Format, Messages, progress};
use crate::external::Plan;
use crate::passes::{self, PASSES, Pass};
use crate::report::{self, FoldedModel};
use crate::wire::{Layout, Target};

/// Replace casts of constants by the constants they compute
///
/// A cast is folded if nobody can override its input and ONNX defines every resulting value. What is not folded is listed with the
/// reason. Everything else in the file stays as it is, to the byte.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast fold model.onnx -o folded.onnx
  recast fold model.onnx --dry-run --verbose
  recast fold models/*.onnx --out-dir folded --format json
  recast fold - -o - < model.onnx > folded.onnx

{EXIT_CODES}
A cast that is not folded is no failure."))]
pub struct Fold {
    /// The models; `-` is standard input
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    external_data: ExternalData,
    /// The passes to run, separated by commas; `none` runs none
    #[arg(long, value_name = "LIST", default_value = "fold-casts", value_parser = parse_passes)]
    passes: Passes,
    /// What to do with a cast some of whose results ONNX leaves undefined
    #[arg(long, value_name = "skip|fold", default_value = "skip", hide_possible_values = true)]
    undefined: Undefined,
    /// What to do where ONNX's text and its node tests disagree on a result: keep the cast, or fold it to what the text says, or to
    /// what the node tests expect and runtimes do
    #[arg(long, value_name = "skip|text|runtime", default_value = "skip", hide_possible_values = true)]
    contested: OnContested,
    /// Keep casts whose results would make the tensors of the model grow by more than this; K, M, G are powers of 1024
    #[arg(long, value_name = "BYTES", value_parser = files::parse_bytes)]
    max_growth: Option<u64>,
    /// Report what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// What the report is printed as
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Clone)]
struct Passes(Vec<Pass>);

impl Fold {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let targets = self.output.targets_unless(self.dry_run, &self.models)?;
        // All models are folded before the first is written: an error in one leaves no half of a run behind.
        let folded = progress::of_models(messages, self.models.len(), |done| {
            let fold = |(path, target): (&PathBuf, Option<Target>)| self.fold(path.clone(), target).inspect(|_| done.count());
            self.models.iter().zip(targets).map(fold).collect::<anyhow::Result<Vec<_>>>()
        })?;
        let (mut reports, plans): (Vec<FoldedModel>, Vec<Option<Plan>>) = folded.into_iter().unzip();
        let old = files::write_all(plans.into_iter().flatten().collect(), self.dry_run, messages)?;
        for (report, old) in reports.iter_mut().zip(old) {
            (report.removed_files, report.unused_files) = (old.removed, old.unused);
        }
        self.print(&reports, messages)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The report, and what is to be written.
    fn fold(&self, path: PathBuf, target: Option<Target>) -> anyhow::Result<(FoldedModel, Option<Plan>)> {
        let (input, model) = files::open_model(&path, &self.external_data.folders)?;
        let options = passes::Options {
            fold_undefined: self.undefined == Undefined::Fold,
            contested: self.contested.choice(),
            max_growth: self.max_growth,
        };
        let (model, report) = passes::run(model, &self.passes.0, &options).with_context(|| input.name.clone())?;
        let mut folded = FoldedModel {
            path: input.name,
            output: target.as_ref().filter(|_| !self.dry_run).map(files::target_name),
            report,
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
        let plan = self.external_data.plan(model, &path, &target).with_context(|| folded.path.clone())?;
        folded.bytes_out = plan.bytes();
        folded.data_file = plan.data_file().cloned();
        folded.copied_files = plan.copied_files();
        folded.notes.clone_from(&plan.notes);
        Ok((folded, Some(plan)))
    }

    fn print(&self, reports: &[FoldedModel], messages: Messages) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Json => report::json(&serde_json::json!({ "models": reports })) + "\n",
            Format::Text if messages.quiet => return Ok(()),
            Format::Text => reports.iter().map(|model| report::fold_text(model, messages.verbose)).collect(),
        };
        Ok(files::print(&text, &self.output)?)
    }
}

fn parse_passes(list: &str) -> Result<Passes, String> {
    if matches!(list, "" | "none") {
        return Ok(Passes(Vec::new()));
    }
    let known = || PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ");
    let find = |name: &str| {
        let pass = PASSES.iter().find(|pass| pass.name == name.trim());
        pass.copied().ok_or_else(|| format!("there is no pass '{name}'; there is: {}", known()))
    };
    list.split(',').map(find).collect::<Result<Vec<Pass>, String>>().map(Passes)
}
