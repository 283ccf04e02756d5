//! `recast precision`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use serde::Deserialize;

use super::exit_code::ExitCode;
use super::models::{Changes, ModelRun, Models, Outcome, Reporting};
use super::opset::parse_opset;
use super::options::{EXIT_CODES, Messages, chosen};
use super::prepare::Preparation;
use crate::api::explain_open;
use crate::base::printable::{Shown, and_more};
use crate::files::folders;
use crate::graph::ScopeId;
use crate::precision::{
    AssumedOperator, Io, ObservedRange, OnOverflow, OnUnderflow, Policy, Quantized,
    sensitive_operators,
};
use crate::report::{self, About, Narrowing, Opsets, PrecisionModel, Results};
use crate::{DType, Error, ErrorKind, Model, PrecisionOptions, Runtime};

/// Change the precision of models: FLOAT to FLOAT16 or BFLOAT16, or these to FLOAT
///
/// Values get the requested type if the operators of the model's opset support it. Data-movement
/// operators get the type that needs the fewest casts. Constants are rounded as by Cast. Nodes that
/// keep their types are listed with the reason. If nothing changes, the output has the bytes of the
/// input.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast precision model.onnx --to FLOAT16 -o model16.onnx
  recast precision model.onnx --to BFLOAT16 --opset auto -o model16.onnx
  recast precision model.onnx --to FLOAT16 --policy all --io convert -o model16.onnx
  recast precision model.onnx --to FLOAT16 --keep-op Softmax,LayerNormalization -o model16.onnx
  recast precision model.onnx --to FLOAT16 --target tensorrt@11.5 -o model16.onnx
  recast precision model.onnx --to FLOAT16 --dry-run --verbose
  recast precision model.onnx --to FLOAT16 --dry-run --report precision.html
  recast precision model.onnx --to FLOAT16 --weights-only -o small.onnx
  recast precision model.onnx --to FLOAT16 --emulate -o rounded.onnx
  recast precision model16.onnx --to FLOAT -o model32.onnx
  recast precision model64.onnx --from DOUBLE --to FLOAT -o model32.onnx

--policy stable keeps the types of {}, and of values that temporarily exceed the range of FLOAT16.

{EXIT_CODES}
A node that keeps its type is not an error.", sensitive_operators().join(", ")))]
pub struct Precision {
    #[command(flatten)]
    models: Models,
    /// The target type: FLOAT16 or BFLOAT16 for values that are FLOAT; FLOAT for values that are
    /// FLOAT16 or BFLOAT16
    #[arg(long, value_name = "TYPE")]
    to: DType,
    /// The type of the values to change, if it differs from the default: DOUBLE, FLOAT, FLOAT16 or
    /// BFLOAT16
    #[arg(long, value_name = "TYPE")]
    from: Option<DType>,
    /// Types of the model's inputs and outputs: leave all (keep), change all (convert), or set one
    /// (NAME=TYPE). May be repeated
    #[arg(long, value_name = "keep|convert|NAME=TYPE")]
    io: Vec<Signature>,
    /// How to treat numerically sensitive operators: keep their types (stable), or change them too
    /// (all)
    #[arg(long, value_name = "all|stable", default_value = "stable", hide_possible_values = true, value_parser = chosen::<Policy>(Policy::NAMES))]
    policy: Policy,
    /// Keep the types of these operators
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    keep_op: Vec<String>,
    /// Keep the types of these nodes: patterns of their paths or names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    keep_node: Vec<String>,
    /// Keep the types of these values: patterns of their names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    keep_value: Vec<String>,
    /// Change these operators even if --policy stable keeps them
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    also_op: Vec<String>,
    /// Change these nodes even if --policy stable keeps them: patterns of their paths or names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    also_node: Vec<String>,
    /// Assume that these custom operators support TYPE. TYPE must be that of --to; all their values
    /// of the type that changes get it
    #[arg(long, value_name = "DOMAIN::OP=TYPE", value_delimiter = ',')]
    assume: Vec<AssumedOperator>,
    /// Change only these operators
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    only_op: Vec<String>,
    /// Change only these nodes: patterns of their paths or names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    only_node: Vec<String>,
    /// Change only constants; each is cast back to its original type
    #[arg(long)]
    weights_only: bool,
    /// Write a FLOAT model that emulates the change: functions in the model round each value that
    /// would change. Any runtime then computes what kernels of the type compute
    #[arg(long)]
    emulate: bool,
    /// How to treat finite constants beyond the range of the type: replace masks by half of the
    /// largest number and bounds by the largest, and keep the others (mask); keep them (keep);
    /// replace them by the largest number (saturate); round them to infinity (infinity); or fail
    /// (refuse)
    #[arg(long, value_name = "mask|keep|saturate|infinity|refuse", default_value = "mask", hide_possible_values = true, value_parser = chosen::<OnOverflow>(OnOverflow::NAMES))]
    on_overflow: OnOverflow,
    /// How to treat nonzero constants that the type rounds to zero: round them, except scalars that
    /// keep divisors, roots and logarithms from zero (allow); keep them (keep); or fail (refuse)
    #[arg(long, value_name = "allow|keep|refuse", default_value = "allow", hide_possible_values = true, value_parser = chosen::<OnUnderflow>(OnUnderflow::NAMES))]
    on_underflow: OnUnderflow,
    /// How to treat quantized operators: keep the types of operators and scales, so that runtimes
    /// fuse them to integer operators (keep); or change scales that are normal numbers of the type,
    /// and the operators with them (scales)
    #[arg(long, value_name = "keep|scales", default_value = "keep", hide_possible_values = true, value_parser = chosen::<Quantized>(Quantized::NAMES))]
    quantized: Quantized,
    /// Read the observed minimum and maximum of values from a file. It is a JSON object {"NAME":
    /// [MIN, MAX, LEAST]}; LEAST, the smallest magnitude other than 0, is optional. A value keeps
    /// its type if it exceeds the range of the type, if all its numbers are below the normal
    /// numbers of the type, or if a number of it becomes 0 before a division or logarithm
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,
    /// Keep the types of values in --ranges that exceed this magnitude. The default is the largest
    /// number of the type
    #[arg(long, value_name = "NUMBER", requires = "ranges")]
    range_limit: Option<f64>,
    /// The runtime that must run the result. Nodes for which it has no kernel in the type keep
    /// their types. It must load the opset of the model, or that of --opset. `recast targets` lists
    /// runtimes
    #[arg(long, value_name = "RUNTIME@VERSION")]
    target: Option<Runtime>,
    /// Convert to this opset of ai.onnx first; `auto` is the lowest later opset in which the most
    /// operators support the type
    #[arg(long, value_name = "N|auto", value_parser = parse_goal)]
    opset: Option<Goal>,
    /// Exit with code 2 if a pattern, key or name in --ranges matches nothing. By default, this is
    /// a note
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    preparation: Preparation,
    #[command(flatten)]
    reporting: Reporting,
}

/// A value of `--io`.
#[derive(Clone)]
enum Signature {
    All(Io),
    One(String, DType),
}

impl FromStr for Signature {
    type Err = String;

    fn from_str(text: &str) -> Result<Signature, String> {
        match text.rsplit_once('=') {
            None => text
                .parse()
                .map(Signature::All)
                .map_err(|error: crate::UnknownName| format!("{error}, or NAME=TYPE")),
            Some((name, dtype)) => match dtype.parse() {
                Ok(dtype) => Ok(Signature::One(name.to_owned(), dtype)),
                Err(error) => Err(format!("{error}")),
            },
        }
    }
}

/// A value of `--opset`.
#[derive(Clone, Copy)]
enum Goal {
    Auto,
    Opset(i64),
}

fn parse_goal(text: &str) -> Result<Goal, String> {
    match text {
        "auto" => Ok(Goal::Auto),
        text => parse_opset(text).map(Goal::Opset),
    }
}

/// A range in a file of ranges.
#[derive(Deserialize)]
#[serde(untagged)]
enum Range {
    Pair([f64; 2]),
    WithLeast([f64; 3]),
    Named {
        min: f64,
        max: f64,
        least: Option<f64>,
    },
}

impl Precision {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let options = self.options()?;
        let run = ModelRun {
            command: "precision",
            doing: "changing",
            models: &self.models,
            reporting: &self.reporting,
            messages,
        };
        run.run(|model| self.change(model, &options))
    }

    fn options(&self) -> Result<PrecisionOptions, Error> {
        let mut options = PrecisionOptions::to(self.to)
            .policy(self.policy)
            .keep_ops(self.keep_op.clone())
            .keep_nodes(self.keep_node.clone())
            .keep_values(self.keep_value.clone())
            .from(self.from)
            .also_ops(self.also_op.clone())
            .also_nodes(self.also_node.clone())
            .assumed_ops(self.assume.clone())
            .only_ops(self.only_op.clone())
            .only_nodes(self.only_node.clone())
            .weights_only(self.weights_only)
            .emulate(self.emulate)
            .on_overflow(self.on_overflow)
            .on_underflow(self.on_underflow)
            .quantized(self.quantized)
            .range_limit(self.range_limit)
            .target(self.target);
        for signature in &self.io {
            match signature {
                Signature::All(io) => options.io = *io,
                Signature::One(name, dtype) => options.signature.push((name.clone(), *dtype)),
            }
        }
        if let Some(file) = &self.ranges {
            options.ranges = read_ranges(file)?;
        }
        Ok(options)
    }

    fn change(
        &self,
        model: &mut Model,
        options: &PrecisionOptions,
    ) -> Result<Outcome<Narrowing>, Error> {
        let prepared = self.preparation.apply(model, self.strict)?;
        let opset = self.convert(model, options)?;
        let (mut report, verification) =
            model.change_precision_for(options, self.reporting.verifies())?;
        let notes = std::mem::take(&mut report.notes);
        if let [first, others @ ..] = report.unmatched.as_slice()
            && self.strict
        {
            let others = and_more(others.len(), "name");
            let what = format!("nothing matches '{first}'{others}, which --strict does not permit");
            return Err(model.error(Error::new(ErrorKind::Usage, what)));
        }
        Ok(Outcome {
            changes: Narrowing {
                opset,
                prepared,
                report,
            },
            notes,
            verification,
        })
    }

    /// Converts a model to the opset of `--opset`; the conversion is verified, too.
    fn convert(
        &self,
        model: &mut Model,
        options: &PrecisionOptions,
    ) -> Result<Option<Opsets>, Error> {
        let (Some(goal), Some(from)) = (self.opset, model.opset(ScopeId::MAIN, "")) else {
            return Ok(None);
        };
        let to = match goal {
            Goal::Opset(opset) => opset,
            Goal::Auto => model.opset_for_precision(options)?.unwrap_or(from),
        };
        if to == from {
            return Ok(None);
        }
        model
            .convert_for_precision(to, options, self.reporting.verifies())
            .map_err(|error| match error.kind() {
                ErrorKind::NotConvertible => error.with_remedy(&format!(
                    "use recast convert --opset {to} --dry-run to list them"
                )),
                _ => error,
            })?;
        Ok(Some(Opsets { from, to }))
    }
}

/// Reads a file of ranges.
fn read_ranges(file: &Path) -> Result<BTreeMap<String, ObservedRange>, Error> {
    let name = file.display().to_string();
    let text = folders::read_text(file)
        .map_err(|error| Error::of(&explain_open(file, error)).in_file(name.clone()))?;
    let ranges: BTreeMap<String, Range> = serde_json::from_str(&text).map_err(|error| {
        Error::new(
            ErrorKind::Usage,
            format!("not a JSON object of ranges: {error}"),
        )
        .in_file(name)
    })?;
    let observed = |range| match range {
        Range::Pair(bounds) => bounds.into(),
        Range::WithLeast([min, max, least]) => ObservedRange {
            min,
            max,
            least: Some(least),
        },
        Range::Named { min, max, least } => ObservedRange { min, max, least },
    };
    Ok(ranges
        .into_iter()
        .map(|(name, range)| (name, observed(range)))
        .collect())
}

impl Changes for Narrowing {
    fn results(models: &[PrecisionModel]) -> Results<'_> {
        Results {
            precision: Some(models),
            ..Results::default()
        }
    }

    fn places(&self) -> Vec<About> {
        About::narrowed(&self.report)
    }

    fn unmatched(&self) -> Vec<&String> {
        let keys = self.prepared.unmatched().iter();
        keys.chain(&self.report.unmatched).collect()
    }

    fn text(model: &PrecisionModel, verbose: bool) -> Shown {
        report::precision_text(model, verbose)
    }
}
