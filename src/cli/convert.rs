//! `recast convert`

use clap::Args;

use super::adapters;
use super::exit_code::ExitCode;
use super::models::{Changes, ModelRun, Models, Outcome, Reporting};
use super::open_results::OnContested;
use super::opset::parse_opset;
use super::options::{Messages, chosen, exit_codes};
use super::prepare::Preparation;
use crate::base::choice::choice;
use crate::base::printable::Shown;
use crate::convert::{
    Blocker, Expand, Explicit, IrVersion, NotConverted, Remedy, differing_operators,
};
use crate::graph::domain_name;
use crate::ops::schemas;
use crate::report::{self, About, Conversion, ConvertedModel, Results};
use crate::verify::Verification;
use crate::{ConvertOptions, ConvertReport, Error, LATEST_OPSET, Model, Reason, Runtime};

/// Convert models to another opset, or report why they cannot be converted
///
/// Converts the main graph, subgraphs, functions and training graphs to an equivalent model. Names,
/// metadata and nodes whose operators did not change are preserved. Operators that the older opset
/// lacks are expanded into several nodes; the report states whether their results are bit-identical
/// or follow ONNX's definition. If a node has no equivalent in the target opset, nothing is
/// written, and every such node is listed with the reason.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast convert model.onnx --opset 21 -o model21.onnx
  recast convert model.onnx --opset 13 --dry-run --verbose
  recast convert models/*.onnx --opset 17 --out-dir opset17 --format json
  recast convert model.onnx --opset 12 --ir-version 7 --drop-metadata --in-place
  recast convert model.onnx --opset 15 --exact-only -o model15.onnx
  recast convert model.onnx --target onnxruntime@1.17 -o model-ort117.onnx
  recast convert model.onnx --lowest --dry-run
  recast convert model.onnx --lowest --target onnxruntime@1.23 -o model-ort123.onnx
  recast convert model.onnx --opset 13 --dry-run --report blockers.html
  recast convert mislabelled.onnx --from-opset 17 --opset 17 -o model17.onnx

{}
If one of several models cannot be converted, none is written.", exit_codes("done", "a node cannot be converted; nothing is written")))]
pub struct Convert {
    #[command(flatten)]
    models: Models,
    #[command(flatten)]
    goal: Goal,
    /// Override the ai.onnx opset that the model imports. For mislabelled models; also applies to
    /// functions that import the same opset as the model
    #[arg(long, value_name = "N", value_parser = parse_opset, allow_hyphen_values = true)]
    from_opset: Option<i64>,
    /// The IR version of the result: the lowest that supports it on downgrades, and at least that
    /// of the input otherwise (auto); that of the input (keep); or a number
    #[arg(long, value_name = "auto|keep|N", default_value = "auto")]
    ir_version: IrVersion,
    /// Defaults of cast attributes to make explicit on upgrade: all of them (all), those that
    /// affect the types of the node (relevant), or none (none)
    #[arg(long, value_name = "all|relevant|none", default_value = "relevant", hide_possible_values = true, value_parser = chosen::<Explicit>(Explicit::NAMES))]
    explicit: Explicit,
    #[command(flatten)]
    preparation: Preparation,
    /// Treat warnings and keys of --drop-metadata without a match as errors
    #[arg(long)]
    strict: bool,
    /// Do not expand operators that have no equivalent into several nodes
    #[arg(long)]
    no_expand: bool,
    /// Expand operators into nodes or into local functions. Local functions raise the IR version to
    /// at least 8
    #[arg(long, value_name = "nodes|function", default_value = "nodes", hide_possible_values = true, value_parser = chosen::<Expand>(Expand::NAMES))]
    expand: Expand,
    /// How to read nodes that ONNX defines inconsistently: refuse the conversion (refuse), read
    /// their attributes (text), or read them as onnx's converter does (runtime). An example is
    /// BatchNormalization with `is_test` = 0 and one output
    #[arg(long, value_name = "refuse|text|runtime", default_value = "refuse", hide_possible_values = true, value_parser = OnContested::parser_or(&["refuse"]))]
    contested: OnContested,
    /// Expand only operators whose results are bit-identical
    #[arg(long, conflicts_with = "no_expand")]
    exact_only: bool,
    /// Keep the types of all values: do not carry a type that the older opset or the target lacks,
    /// INT4 for example, in a wider one
    #[arg(long)]
    no_legalize: bool,
    /// Carry inputs and outputs in wider types, too: callers then pass and get these types
    #[arg(long, conflicts_with = "no_legalize")]
    legalize_io: bool,
    #[command(flatten)]
    reporting: Reporting,
}

/// What to convert to.
#[derive(Args)]
#[group(required = true, multiple = true)]
struct Goal {
    /// The target opset of ai.onnx, newer or older; `latest` is the newest supported opset
    #[arg(long, value_name = "N", value_parser = parse_opset, allow_hyphen_values = true, conflicts_with_all = ["target", "lowest"])]
    opset: Option<i64>,
    /// The runtime that must load and run the result. The opset is lowered only as far as the
    /// runtime requires; it is raised if only a newer opset has kernels for all nodes. `recast
    /// targets` lists runtimes
    #[arg(long, value_name = "RUNTIME@VERSION")]
    target: Option<Runtime>,
    /// Convert to the lowest opset: the lowest that --target, or else any listed onnxruntime, can
    /// run (run); or the lowest that the model can be converted to (any)
    #[arg(
        long,
        value_name = "run|any",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "run",
        hide_possible_values = true,
        conflicts_with = "from_opset",
        value_parser = chosen::<Lowest>(Lowest::NAMES)
    )]
    lowest: Option<Lowest>,
}

/// Versions of onnxruntime that do not load this IR version, of 2021, are too old to be named.
const LEAST_IR: i64 = 8;

/// What the lowest opset has to do.
#[derive(Clone, Copy)]
enum Lowest {
    /// To be run by a runtime.
    Runs,
    /// To be the lowest of all.
    Any,
}

choice!(pub(crate) Lowest { "run" => Runs, "any" => Any });

impl Convert {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let run = ModelRun {
            command: "convert",
            doing: "converting",
            models: &self.models,
            reporting: &self.reporting,
            messages,
        };
        run.run(|model| self.convert(model))
    }

    /// The options for a model, and the opset that it is converted to.
    fn options(&self, model: &Model) -> Result<ConvertOptions, Error> {
        let options = ConvertOptions {
            opset: LATEST_OPSET,
            from_opset: self.from_opset,
            ir_version: self.ir_version,
            explicit: self.explicit,
            strict: self.strict,
            no_expand: self.no_expand,
            exact_only: self.exact_only,
            expand: self.expand,
            no_legalize: self.no_legalize,
            legalize_io: self.legalize_io,
            contested: self.contested.0,
            runtime: None,
            adapters: adapters::added(),
        };
        let options = match self.goal.target {
            Some(runtime) => options.for_runtime(runtime, model)?,
            None => options,
        };
        let opset = match (self.goal.opset, self.goal.lowest) {
            (Some(opset), _) => Some(opset),
            (None, None) => None,
            (None, Some(Lowest::Runs)) if options.runtime.is_none() => {
                model.lowest_running_opset(&options)
            }
            // An opset that the runtime does not run is not a result, even if it is lower.
            (None, Some(_)) => model.lowest_opset(&options),
        };
        Ok(ConvertOptions {
            opset: opset.unwrap_or(options.opset),
            ..options
        })
    }

    fn convert(&self, model: &mut Model) -> Result<Outcome<Conversion>, Error> {
        let prepared = self.preparation.apply(model, self.strict)?;
        let options = self.options(model)?;
        let verification = self
            .reporting
            .verifies()
            .then(|| Verification::of_conversion(model, &options));
        self.models.begin(verification.as_ref());
        match model.convert(&options) {
            Ok(mut report) => {
                let mut notes = std::mem::take(&mut report.notes);
                if options.runtime.is_none() && options.ir_version == IrVersion::Auto {
                    notes.extend(not_loaded(&report));
                }
                let changes = Conversion {
                    report,
                    prepared,
                    blockers: Vec::new(),
                    nearest_opset: None,
                };
                Ok(Outcome {
                    changes,
                    notes,
                    verification,
                })
            }
            Err(error) if !error.blockers().is_empty() => {
                let report = ConvertReport::unchanged(model, &options);
                let blockers = with_remedies(error.blockers());
                let imported = report.from.get(domain_name("")).copied();
                let meant = meant_opset(&blockers, imported);
                let note = meant.map(|opset| opset_note(model, imported.unwrap_or(opset), opset));
                let changes = Conversion {
                    report,
                    prepared,
                    blockers,
                    nearest_opset: error.nearest_opset(),
                };
                Ok(Outcome {
                    changes,
                    notes: note.into_iter().collect(),
                    verification,
                })
            }
            Err(error) => Err(match error.cause() {
                Some(NotConverted::Avoidable {
                    remedy: Remedy::StateOpset,
                    ..
                }) => error.with_remedy("use --from-opset N to state the opset of the model"),
                Some(NotConverted::Avoidable {
                    remedy: Remedy::DropMetadata,
                    ..
                }) => error.with_remedy(self.preparation.metadata_remedy()),
                _ => error,
            }),
        }
    }
}

/// What a model that uses operators of a later opset may need.
fn opset_note(model: &Model, imported: i64, opset: i64) -> String {
    let others: Vec<&str> = differing_operators(model, imported, opset)
        .into_iter()
        .collect();
    let operators = format!("the model uses operators of opset {opset}");
    if others.is_empty() {
        format!("{operators}; if its opset import is wrong, use --from-opset {opset}")
    } else {
        let others = others.join(", ");
        format!("{operators}, but --from-opset {opset} would also change the meaning of: {others}")
    }
}

/// A note, if there are versions of onnxruntime that load the opset of the result, but not its IR
/// version.
fn not_loaded(report: &ConvertReport) -> Option<String> {
    let opset = *report.to.get(domain_name(""))?;
    let ir = report.ir_version.to;
    let of_opset = schemas::ir_of_opset(opset)?;
    let is_known =
        |runtime: &&Runtime| runtime.name == "onnxruntime" && runtime.ir_version >= Some(LEAST_IR);
    let loads = |runtime: &&Runtime| {
        runtime.loads(Some(opset), of_opset) && !runtime.loads(Some(opset), ir)
    };
    let newest = Runtime::all().iter().filter(is_known).rfind(loads)?;
    let remedy = match &report.ir_version.needed_by {
        Some(what) if report.ir_version.is_for_metadata() => {
            format!(", the least for {what}: use --drop-metadata")
        }
        Some(what) => format!(", the least for {what}"),
        None => format!(": use --ir-version {of_opset}"),
    };
    Some(format!(
        "onnxruntime {} loads opset {opset}, but not IR version {ir}{remedy}",
        newest.last
    ))
}

/// The nodes that cannot be converted, with the options that help.
fn with_remedies(blockers: &[Blocker]) -> Vec<Blocker> {
    let mut blockers = blockers.to_vec();
    for blocker in &mut blockers {
        let remedy = match blocker.reason.code() {
            "overridable" => "use --freeze-initializers to treat it as a constant",
            "contested" => {
                "use --contested text for the former, or --contested runtime for the latter"
            }
            _ => continue,
        };
        let text = format!("{}; {remedy}", blocker.reason);
        blocker.reason = Reason::new(blocker.reason.code(), text);
    }
    blockers
}

impl Changes for Conversion {
    const HAS_LENGTHS: bool = false;

    fn results(models: &[ConvertedModel]) -> Results<'_> {
        Results {
            convert: Some(models),
            ..Results::default()
        }
    }

    fn places(&self) -> Vec<About> {
        About::converted(self)
    }

    fn unmatched(&self) -> Vec<&String> {
        self.prepared.unmatched().iter().collect()
    }

    fn is_refused(&self) -> bool {
        !self.blockers.is_empty()
    }

    fn text(model: &ConvertedModel, verbose: bool) -> Shown {
        report::convert_text(model, verbose)
    }
}

/// The first opset that has every operator that is missing in the imported one; `None` if that is
/// not a later opset. An operator that is expanded is missing in the older opsets of its expansion
/// only.
fn meant_opset(blockers: &[Blocker], imported: Option<i64>) -> Option<i64> {
    let is_missing =
        |blocker: &&Blocker| schemas::schema("", &blocker.op, blocker.opset_step.0).is_none();
    let since = |blocker: &Blocker| {
        schemas::versions("", &blocker.op)
            .first()
            .map(|first| first.since_version)
    };
    blockers
        .iter()
        .filter(is_missing)
        .filter_map(since)
        .max()
        .filter(|&meant| imported.is_none_or(|imported| meant > imported))
}
