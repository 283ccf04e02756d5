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
/// Values get the requested type where the operators of the model's opset support it. Operators
/// that only move elements get the type that needs the fewest casts. Constants are rounded as Cast
/// rounds, while the file is written. Nodes that keep their types are listed with the reason. If
/// there is nothing to change, the output has the bytes of the input.
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

--policy stable keeps the types of {}, and of values that leave the range of FLOAT16 until another operator brings them back.

{EXIT_CODES}
A node that keeps its type is not an error.", sensitive_operators().join(", ")))]
pub struct Precision {
    #[command(flatten)]
    models: Models,
    /// The type that values get: FLOAT16 or BFLOAT16 if they are FLOAT, FLOAT if they are FLOAT16
    /// or BFLOAT16
    #[arg(long, value_name = "TYPE")]
    to: DType,
    /// The type of the values that change, if it is another one: DOUBLE, FLOAT, FLOAT16 or BFLOAT16
    #[arg(long, value_name = "TYPE")]
    from: Option<DType>,
    /// The types of the inputs and outputs of the model: those that they have (keep), or the
    /// requested one (convert); NAME=TYPE for one of them; may be repeated
    #[arg(long, value_name = "keep|convert|NAME=TYPE")]
    io: Vec<Signature>,
    /// What happens to sensitive operators: they keep their types (stable), or none does for this
    /// reason (all)
    #[arg(long, value_name = "all|stable", default_value = "stable", hide_possible_values = true, value_parser = chosen::<Policy>(Policy::NAMES))]
    policy: Policy,
    /// Operators that keep their types
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    keep_op: Vec<String>,
    /// Nodes that keep their types: patterns of their paths or names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    keep_node: Vec<String>,
    /// Values that keep their types: patterns of their names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    keep_value: Vec<String>,
    /// Operators whose types change although --policy stable keeps them
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    also_op: Vec<String>,
    /// Nodes whose types change although --policy stable keeps them: patterns of their paths or
    /// names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    also_node: Vec<String>,
    /// Operators of unknown domains that support this type, that of --to; wherever they have a type
    /// that changes
    #[arg(long, value_name = "DOMAIN::OP=TYPE", value_delimiter = ',')]
    assume: Vec<AssumedOperator>,
    /// The only operators whose types change
    #[arg(long, value_name = "OPS", value_delimiter = ',')]
    only_op: Vec<String>,
    /// The only nodes whose types change: patterns of their paths or names
    #[arg(long, value_name = "GLOBS", value_delimiter = ',')]
    only_node: Vec<String>,
    /// Change constants alone; each is cast to the type that it had
    #[arg(long)]
    weights_only: bool,
    /// Write a FLOAT model that computes the same; functions of the model round each value that
    /// would change. Any runtime then computes what one with kernels of the type computes
    #[arg(long)]
    emulate: bool,
    /// What becomes of finite constants beyond the range of the type: half of the largest number
    /// for masks, the largest for bounds, and no change elsewhere (mask); no change (keep); the
    /// largest number (saturate); infinity; or an error (refuse)
    #[arg(long, value_name = "mask|keep|saturate|infinity|refuse", default_value = "mask", hide_possible_values = true, value_parser = chosen::<OnOverflow>(OnOverflow::NAMES))]
    on_overflow: OnOverflow,
    /// What becomes of constants other than zero that the type makes zero: zero, except for scalars
    /// that keep divisors, roots and logarithms from zero (allow); no change (keep); or an error
    /// (refuse)
    #[arg(long, value_name = "allow|keep|refuse", default_value = "allow", hide_possible_values = true, value_parser = chosen::<OnUnderflow>(OnUnderflow::NAMES))]
    on_underflow: OnUnderflow,
    /// What happens to quantized operators: they and their scales keep their types, so that
    /// runtimes fuse them to operators of integers (keep); or scales that are normal numbers of the
    /// type change, and the operators with them (scales)
    #[arg(long, value_name = "keep|scales", default_value = "keep", hide_possible_values = true, value_parser = chosen::<Quantized>(Quantized::NAMES))]
    quantized: Quantized,
    /// Observed numbers of values. A JSON object of the least and greatest number, and of the least
    /// magnitude other than 0 if it is known: {"NAME": [MIN, MAX, LEAST]}. Values beyond the range
    /// of the type keep their types, and so do values all of whose numbers are below its normal
    /// numbers, and those of which a number becomes 0 where something divides by it or takes its
    /// logarithm
    #[arg(long, value_name = "FILE")]
    ranges: Option<PathBuf>,
    /// The magnitude beyond which values of --ranges keep their types; by default the largest
    /// number of the type
    #[arg(long, value_name = "NUMBER", requires = "ranges")]
    range_limit: Option<f64>,
    /// The runtime that has to run the result; `recast targets` lists them. A node for which it has
    /// no kernel in the type keeps its types. The runtime has to load the opset of the model, or
    /// that of --opset
    #[arg(long, value_name = "RUNTIME@VERSION")]
    target: Option<Runtime>,
    /// Convert to this opset of ai.onnx first; with auto, to the lowest later one that admits the
    /// most operators
    #[arg(long, value_name = "N|auto", value_parser = parse_goal)]
    opset: Option<Goal>,
    /// Fail with exit code 2 if a pattern or a name of ranges matches nothing; otherwise it is a
    /// note
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
        let prepared = self.preparation.apply(model)?;
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
    let text = folders::read_text(file).map_err(|error| Error::of(&error).in_file(name.clone()))?;
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

    fn text(model: &PrecisionModel, verbose: bool) -> Shown {
        report::precision_text(model, verbose)
    }
}
