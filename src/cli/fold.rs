//! `recast fold`

use clap::Args;

use super::exit_code::ExitCode;
use super::files;
use super::models::{Changes, ModelRun, Models, Outcome, Reporting};
use super::open_results::{OnContested, Undefined};
use super::options::{EXIT_CODES, Messages};
use super::prepare::Preparation;
use crate::base::printable::Shown;
use crate::graph::NodeId;
use crate::passes::{self, Pass, redundant_casts};
use crate::report::{self, About, FoldedModel, Folding, Results};
use crate::verify::Verification;
use crate::{Error, FoldOptions, Model};

/// Replace casts of constants by their results
///
/// A cast is folded if its input is a constant that a caller cannot override, or is computed from
/// such constants, and if ONNX defines every resulting value. The report lists the other casts with
/// the reason. --passes selects further passes. Everything else is preserved byte for byte.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast fold model.onnx -o folded.onnx
  recast fold model.onnx --dry-run --verbose
  recast fold model.onnx --passes exact -o smaller.onnx
  recast fold models/*.onnx --out-dir folded --format json
  recast fold model.onnx -o folded.onnx --report folded.html
  recast fold old-export.onnx --freeze-initializers -o folded.onnx
  recast fold - -o - < model.onnx > folded.onnx

{EXIT_CODES}
A cast that is not folded is not an error."))]
pub struct Fold {
    #[command(flatten)]
    models: Models,
    /// The passes to run: a comma-separated list of names and tiers (`default`, `exact`), or
    /// `none`. `recast passes` lists them
    #[arg(long, value_name = "LIST", default_value = "default", value_parser = parse_passes)]
    passes: Passes,
    /// How to treat casts whose results ONNX leaves undefined: keep them (skip), or fold them to
    /// the values that recast documents (fold)
    #[arg(
        long,
        value_name = "skip|fold",
        default_value = "skip",
        hide_possible_values = true
    )]
    undefined: Undefined,
    /// How to treat nodes whose results ONNX defines inconsistently: keep them (skip), use ONNX's
    /// text (text), or use its node tests and runtimes (runtime)
    #[arg(long, value_name = "skip|text|runtime", default_value = "skip", hide_possible_values = true, value_parser = OnContested::parser())]
    contested: OnContested,
    /// Keep casts that would grow the tensors of the model by more than this. Accepts the suffixes
    /// K, M and G (powers of 1024)
    #[arg(long, value_name = "BYTES", value_parser = files::parse_bytes, allow_negative_numbers = true)]
    max_growth: Option<u64>,
    /// Fail with exit code 2 if a key of --drop-metadata matches nothing
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    preparation: Preparation,
    #[command(flatten)]
    reporting: Reporting,
}

#[derive(Clone)]
struct Passes(Vec<&'static dyn Pass>);

impl Fold {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let run = ModelRun {
            command: "fold",
            doing: "folding",
            models: &self.models,
            reporting: &self.reporting,
            messages,
        };
        run.run(|model| self.fold(model, self.reporting.is_read(messages)))
    }

    fn fold(&self, model: &mut Model, is_read: bool) -> Result<Outcome<Folding>, Error> {
        let options = FoldOptions {
            undefined: self.undefined == Undefined::Fold,
            contested: self.contested.0,
            max_growth: self.max_growth,
        };
        let prepared = self.preparation.apply(model, self.strict)?;
        if self.reporting.would_verify() {
            model.expect_defined()?;
        }
        let verification = self
            .reporting
            .verifies()
            .then(|| Verification::of_passes(model, &self.passes.0, &options));
        // A model that passes leave as it is is not indexed again.
        if has_cast_of_constant(model) {
            self.models.begin(verification.as_ref());
        }
        let report = model.run_passes(&self.passes.0, &options)?;
        let redundant_casts = if is_read {
            redundant_casts::left_by(&self.passes.0, model)
        } else {
            0
        };
        Ok(Outcome {
            changes: Folding::new(prepared, report, redundant_casts),
            notes: Vec::new(),
            verification,
        })
    }
}

/// Whether a cast has a constant input: passes then change the model, unless they keep the cast.
fn has_cast_of_constant(model: &Model) -> bool {
    let is_of_constant = |&node: &NodeId| {
        let input = model.input(node, 0).filter(|_| model.is_cast(node));
        input.is_some_and(|input| model.constant(input).is_ok())
    };
    model.topological_order().iter().any(is_of_constant)
}

impl Changes for Folding {
    fn results(models: &[FoldedModel]) -> Results<'_> {
        Results {
            fold: Some(models),
            ..Results::default()
        }
    }

    fn places(&self) -> Vec<About> {
        About::folded(&self.report)
    }

    fn unmatched(&self) -> Vec<&String> {
        self.prepared.unmatched().iter().collect()
    }

    fn text(model: &FoldedModel, verbose: bool) -> Shown {
        report::fold_text(model, verbose)
    }
}

fn parse_passes(list: &str) -> Result<Passes, String> {
    if matches!(list, "" | "none") {
        return Ok(Passes(Vec::new()));
    }
    let names = list.split(',').map(str::trim);
    if names.clone().any(|name| name == "none") {
        return Err("`none` runs no pass, and cannot stand beside others".to_owned());
    }
    passes::selected(names)
        .map(Passes)
        .map_err(|unknown| unknown.to_string())
}
