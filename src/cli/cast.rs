//! `recast cast`

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use bytes::Bytes;
use clap::{ArgAction, Args};

use super::cast_number::{Number, Wanted};
use super::exit_code::ExitCode;
use super::open_results::{OnContested, Undefined};
use super::opset::parse_cast_opset;
use super::options::{Messages, chosen, exit_codes};
use super::remedy::ALLOW_FOLDER;
use super::streams::{message, print, print_message};
use super::{files, output, progress};
use crate::api::not_written;
use crate::base::printable::Shown;
use crate::cast::{Cast, Summary};
use crate::files::{
    DataFolder, PendingFile, SaveTarget, check_replaceable, formats, is_stream, save, save_together,
};
use crate::protobuf::Layout;
use crate::report::{bytes, plural};
use crate::tensor_files::{self, Failure, Form, Remedy};
use crate::{CastOptions, Contested, DType, RoundMode, Rules, Tally};

/// Cast one tensor, or a number, to another type, as ONNX's Cast does
///
/// For a number, prints the result and its bits, in the type of --to or in every type. If the
/// result depends on `saturate` or `round_mode` and no option sets it, all results are printed.
///
/// For a tensor, reads and writes NumPy .npy files and serialized TensorProtos (.pb). Each element
/// is rounded once, from its exact value. By default, nothing is written if ONNX leaves the result
/// of an element undefined.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast cast 500 --to FLOAT8E4M3FN
  recast cast -inf --to FLOAT16
  recast cast 0x7E --from FLOAT8E4M3FN
  recast cast weights.npy -o weights_f8.npy --to float8e4m3fn
  recast cast weights.npy -o weights.pb --to INT4 --undefined fold --contested text
  recast cast weights_f8.npy -o weights_f32.npy --from float8e4m3fn --to float
  recast cast tensor.pb -o tensor_bf16.pb --to BFLOAT16

Types that numpy lacks are stored in .npy files as unsigned integers with the bits of an element:
  BFLOAT16                                           uint16
  float8, float6, float4, integers of 2 and 4 bits   uint8, one element per byte, in the low bits
--from states the type of such integers. TensorProtos support all types.

{}", exit_codes("done", "ONNX does not define the result of an element, or contradicts itself on it; nothing is written")))]
pub struct CastFile {
    /// The tensor, with `-` for standard input; or a number such as 3.14, -inf or 0x7E
    #[arg(value_name = "IN", allow_negative_numbers = true)]
    input: PathBuf,
    /// Write to this file; `-` is standard output. The extension selects the format, .npy or .pb;
    /// any other keeps that of the input
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The type to cast to: an ONNX name in any letter case
    #[arg(long, value_name = "TYPE")]
    to: Option<DType>,
    /// The type of the input. For unsigned integers of a .npy file, the ONNX type whose bits they
    /// hold; a number is DOUBLE by default
    #[arg(long, value_name = "TYPE")]
    from: Option<DType>,
    /// Convert numbers beyond the range of a float8 type to its largest: the default
    #[arg(long, overrides_with = "no_saturate", action = ArgAction::SetTrue)]
    saturate: bool,
    /// Convert numbers beyond the range of a float8 type to infinity or NaN
    #[arg(long, overrides_with = "saturate", action = ArgAction::SetTrue)]
    no_saturate: bool,
    /// Rounding to a power of two in casts to FLOAT8E8M0 [default: up]
    #[arg(long, value_name = "up|down|nearest", hide_possible_values = true, value_parser = chosen::<RoundMode>(RoundMode::NAMES))]
    round_mode: Option<RoundMode>,
    /// The opset whose Cast is used: its rules, and the types that it supports
    #[arg(long, value_name = "N", default_value_t = Rules::default().opset, value_parser = parse_cast_opset, allow_hyphen_values = true)]
    opset: u32,
    /// How to treat elements whose results ONNX leaves undefined: write nothing (skip), or write
    /// the values that `recast fold` uses (fold)
    #[arg(
        long,
        value_name = "skip|fold",
        default_value = "skip",
        hide_possible_values = true
    )]
    undefined: Undefined,
    /// How to treat elements whose results ONNX defines inconsistently: write nothing (skip), use
    /// ONNX's text (text), or use its node tests and runtimes (runtime)
    #[arg(long, value_name = "skip|text|runtime", default_value = "skip", hide_possible_values = true, value_parser = OnContested::parser())]
    contested: OnContested,
    #[command(flatten)]
    folders: files::DataFolders,
}

/// The arguments with `-inf` and the like behind `--`, if they are those of `recast cast`: the parser
/// reads only digits behind a `-` as a number, and other words as options.
pub fn with_negative_last(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_word = |argument: &OsString| !argument.to_string_lossy().starts_with('-');
    let is_negative = |argument: &OsString| {
        let text = argument.to_string_lossy().to_ascii_lowercase();
        ["-inf", "-infinity", "-nan"].contains(&&*text)
    };
    if arguments.iter().skip(1).find(|argument| is_word(argument)) == Some(&"cast".into())
        && !arguments.contains(&"--".into())
        && let Some(at) = arguments.iter().position(is_negative)
    {
        let number = arguments.remove(at);
        arguments.extend(["--".into(), number]);
    }
    arguments
}

impl CastFile {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let Some(output) = self.output.clone() else {
            return self.cast_number();
        };
        let Some(to) = self.to else {
            bail!("no type is given; use --to TYPE")
        };
        if output != Path::new("-") {
            output::check_target(&output)?;
        }
        let (input, data) = files::open_with_data(&self.input, &self.folders)?;
        let array = tensor_files::read(&input, self.from, &data)
            .map_err(|failure| explain(&input.bytes, failure))
            .with_context(|| input.name.clone())?;
        let cast = Cast::new(array.dtype(), to, self.rules())?;
        let (from, elements) = (array.dtype(), array.elements());
        let (array, summary) = array.cast(cast).with_context(|| input.name.clone())?;
        if !self.accepts(&input.name, &summary) {
            return Ok(ExitCode::from(1));
        }
        let layout = tensor_files::layout(array, form(&output, &input.bytes))
            .with_context(|| input.name.clone())?;
        let (bytes_in, bytes_out) = (input.bytes.len() as u64, layout.bytes());
        let is_stdout = output::is_stdout(&output);
        if !is_stdout && data.holds(&output) {
            bail!(
                "{}: the input stores its values in this file; use another output",
                output.display()
            );
        }
        if !is_stdout {
            check_replaceable(&output).with_context(|| output.display().to_string())?;
            output::check_not_of_model(&output, "use another output")?;
        }
        let target = if is_stdout {
            SaveTarget::Stdout
        } else {
            SaveTarget::File(output)
        };
        let progress = [layout.progress()];
        let written = progress::of_files(messages, &progress, || write(layout, &target, &data));
        written.map_err(|error| not_written(&target.name(), error))?;
        if target != SaveTarget::Stdout && !messages.quiet {
            let elements = plural(elements, "element");
            let (bytes_in, bytes_out) = (bytes(bytes_in), bytes(bytes_out));
            let mut report = Shown::line(format_args!("{} -> {}", input.name, target.name()));
            report.push_line(format_args!("  cast {elements} from {from} to {to}"));
            report.push_line(format_args!("  {bytes_in} -> {bytes_out}"));
            print(report)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn rules(&self) -> Rules {
        let defaults = Rules::default();
        defaults
            .saturate(!self.no_saturate)
            .round_mode(self.round_mode.unwrap_or(defaults.round_mode))
            .opset(self.opset)
            .contested(self.contested.0.unwrap_or(Contested::Text))
    }

    /// Prints what a number becomes.
    fn cast_number(&self) -> anyhow::Result<ExitCode> {
        let text = self.input.to_string_lossy();
        if files::is_stdin(&self.input) || self.input.exists() {
            bail!("{text}: no output given; use -o FILE");
        }
        let Some(number) = Number::read(&text, self.from)? else {
            bail!("{text}: is neither a file nor a number")
        };
        let Rules {
            saturate,
            round_mode,
            opset,
            ..
        } = self.rules();
        let (undefined, contested) = (self.undefined == Undefined::Fold, self.contested.0);
        number.print(&Wanted {
            to: self.to,
            states_saturate: self.saturate || self.no_saturate,
            states_round_mode: self.round_mode.is_some(),
            options: CastOptions {
                saturate,
                round_mode,
                opset,
                undefined,
                contested,
            },
        })
    }

    /// Whether the options allow what ONNX does not define; says where they do not.
    fn accepts(&self, name: &str, summary: &Summary) -> bool {
        let questions = [
            (
                "undefined",
                summary.undefined,
                self.undefined == Undefined::Fold,
                "--undefined fold",
            ),
            (
                "contested",
                summary.contested,
                self.contested.0.is_some(),
                "--contested text or --contested runtime",
            ),
        ];
        let mut accepts = true;
        for (kind, tally, allowed, option) in questions {
            let Tally {
                count,
                first: Some(first),
                why,
            } = tally
            else {
                continue;
            };
            if !allowed {
                let counted = counted(count);
                let text = format!(
                    "{name}: {counted} {kind}, the first at index {first}: {why}; {option} writes them"
                );
                print_message(message(text));
                accepts = false;
            }
        }
        accepts
    }
}

/// Writes a file, unless its input changed while it was read.
fn write(layout: Layout, target: &SaveTarget, data: &DataFolder) -> io::Result<()> {
    match target {
        SaveTarget::File(path) if !is_stream(path) => save_together(
            vec![PendingFile::replacing(path.clone(), layout)],
            None,
            None,
            || data.expect_unchanged(),
        )
        .map(drop),
        _ => {
            save(layout, target)?;
            data.expect_unchanged()
        }
    }
}

/// The form of an output.
fn form(output: &Path, input: &[u8]) -> Form {
    match output.extension().and_then(|extension| extension.to_str()) {
        Some("npy") => Form::Npy,
        Some("pb") => Form::Proto,
        _ => Form::of(input),
    }
}

fn counted(count: u64) -> String {
    format!(
        "{} {}",
        plural(count as usize, "element"),
        if count == 1 { "is" } else { "are" }
    )
}

/// The format of a file that is not a tensor, if it is known.
fn explain(bytes: &Bytes, failure: Failure) -> anyhow::Error {
    if formats::read_model(bytes).is_ok() {
        return anyhow!("is a model, not a tensor; `recast fold` folds the casts of its constants");
    }
    match formats::recognise(bytes).filter(|format| !["npy", "tensor-proto"].contains(&format.code))
    {
        Some(format) => anyhow!("is {}, not a .npy file or a TensorProto", format.name),
        None => match failure.remedy {
            Some(Remedy::StateType) => anyhow!("{failure}; use --from to state the ONNX type"),
            Some(Remedy::OmitType) => anyhow!("{failure}; omit --from"),
            Some(Remedy::AllowFolder) => anyhow!("{failure}; {ALLOW_FOLDER}"),
            None => failure.into(),
        },
    }
}
