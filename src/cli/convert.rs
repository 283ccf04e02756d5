//! `recast convert`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::files::{self, ExternalData, Output};
use super::{EXIT_CODES, Format, Messages, progress};
use crate::convert::{self, IrVersion, NotConverted, Options};
use crate::external::Plan;
use crate::graph::{ScopeId, domain_name};
use crate::report::{self, ConvertedModel, IrVersions};
use crate::wire::Target;
use crate::wire::schema::OperatorSetIdProto;

/// Move models to another opset, exactly or not at all
///
/// The result means what the model meant, in the main graph, subgraphs, functions and training graphs; names, metadata and
/// everything that no operator change touches stay as they are. Where an operator of the other opset cannot say the same, nothing
/// is written, and every such node is listed with the reason.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast convert model.onnx --opset 21 -o model21.onnx
  recast convert model.onnx --opset 13 --dry-run --verbose
  recast convert models/*.onnx --opset 17 --out-dir opset17 --format json
  recast convert model.onnx --opset 12 --ir-version 7 --in-place

{EXIT_CODES}
With several models, none is written unless all can be converted."))]
pub struct Convert {
    /// The models; `-` is standard input
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    external_data: ExternalData,
    /// The opset of ai.onnx to convert to, newer or older
    #[arg(long, value_name = "N")]
    opset: i64,
    /// The IR version of the result: what it needs, the one it has, or a number
    #[arg(long, value_name = "auto|keep|N", default_value = "auto", value_parser = parse_ir_version)]
    ir_version: IrVersion,
    /// Which defaults of casts to write out on the way up: all, those that have an effect on the types at hand, or none
    #[arg(long, value_name = "all|relevant|none", default_value = "relevant", hide_possible_values = true)]
    explicit: Explicit,
    /// Refuse where otherwise a warning is printed
    #[arg(long)]
    strict: bool,
    /// Report what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// What the report is printed as
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Explicit {
    All,
    Relevant,
    None,
}

impl Convert {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let targets = self.output.targets_unless(self.dry_run, &self.models)?;
        // All models are converted before the first is written: if one is refused, none is.
        let converted = progress::of_models(messages, self.models.len(), |done| {
            let convert = |(path, target): (&PathBuf, Option<Target>)| self.convert(path, target).inspect(|_| done.count());
            self.models.iter().zip(targets).map(convert).collect::<anyhow::Result<Vec<_>>>()
        })?;
        let (mut reports, plans): (Vec<ConvertedModel>, Vec<Option<Plan>>) = converted.into_iter().unzip();
        let is_refused = reports.iter().any(|report| !report.blockers.is_empty());
        if is_refused {
            reports.iter_mut().for_each(|report| report.output = None);
        } else {
            let old = files::write_all(plans.into_iter().flatten().collect(), self.dry_run, messages)?;
            for (report, old) in reports.iter_mut().zip(old) {
                (report.removed_files, report.unused_files) = (old.removed, old.unused);
            }
        }
        self.print(&reports, messages)?;
        Ok(ExitCode::from(u8::from(is_refused)))
    }

    /// The report, and what is to be written.
    fn convert(&self, path: &Path, target: Option<Target>) -> anyhow::Result<(ConvertedModel, Option<Plan>)> {
        let (input, model) = files::open_model(path, &self.external_data.folders)?;
        let options = Options {
            opset: self.opset,
            ir_version: self.ir_version,
            explicit: match self.explicit {
                Explicit::All => convert::Explicit::All,
                Explicit::Relevant => convert::Explicit::Relevant,
                Explicit::None => convert::Explicit::None,
            },
            strict: self.strict,
        };
        let mut from = opsets(&model.proto().opset_import);
        // The oldest models state none.
        from.extend(model.opset(ScopeId::MAIN, "").map(|opset| (domain_name("").to_owned(), opset)));
        let mut to = from.clone();
        to.insert(domain_name("").to_owned(), self.opset);
        let ir_version = IrVersions { from: model.ir_version(), to: model.ir_version() };
        let mut report = ConvertedModel {
            path: input.name.clone(),
            output: target.as_ref().filter(|_| !self.dry_run).map(files::target_name),
            from,
            to,
            ir_version,
            changes: Vec::new(),
            warnings: Vec::new(),
            blockers: Vec::new(),
            nearest_opset: None,
            data_file: None,
            notes: Vec::new(),
            removed_files: Vec::new(),
            unused_files: Vec::new(),
            copied_files: Vec::new(),
        };
        match convert::convert(model, &options) {
            Ok(conversion) => {
                let done = conversion.report;
                report.ir_version.to = done.ir_to;
                (report.changes, report.warnings) = (done.changes, done.warnings);
                let plan = target.map(|target| self.external_data.plan(conversion.model, path, &target)).transpose();
                let plan = plan.with_context(|| input.name)?;
                report.data_file = plan.as_ref().and_then(|plan| plan.data_file().cloned());
                report.copied_files = plan.iter().flat_map(Plan::copied_files).collect();
                report.notes = plan.iter().flat_map(|plan| plan.notes.iter().cloned()).collect();
                Ok((report, plan))
            }
            Err(NotConverted::Blocked { blockers, nearest, .. }) => {
                (report.blockers, report.nearest_opset) = (blockers, nearest);
                Ok((report, None))
            }
            Err(NotConverted::Invalid(invalid)) => Err(invalid).with_context(|| input.name),
        }
    }

    fn print(&self, reports: &[ConvertedModel], messages: Messages) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Json => report::json(&serde_json::json!({ "models": reports })) + "\n",
            Format::Text if messages.quiet => return Ok(()),
            Format::Text => reports.iter().map(|model| report::convert_text(model, messages.verbose)).collect(),
        };
        Ok(files::print(&text, &self.output)?)
    }
}

fn opsets(imports: &[OperatorSetIdProto]) -> BTreeMap<String, i64> {
    imports.iter().map(|import| (domain_name(import.domain()).to_owned(), import.version())).collect()
}

fn parse_ir_version(text: &str) -> Result<IrVersion, String> {
    match text {
        "auto" => Ok(IrVersion::Auto),
        "keep" => Ok(IrVersion::Keep),
        number => number.parse().map(IrVersion::Number).map_err(|_| "neither auto, keep nor a number".to_owned()),
    }
}
