//! The options of `recast lint`.

use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Args, ValueEnum};

use super::values::{
    List, PerFileIgnore, parse_fail_on, parse_patterns, parse_per_file_ignores, parse_severity,
};
use crate::Runtime;
use crate::cli::files;
use crate::cli::options::{Verify, exit_codes};
use crate::cli::page::PageFile;
use crate::cli::prepare::Freeze;
use crate::lint::{FilePattern, Selector, Severity};
use crate::report::LintFormat;

/// Find unsafe, invalid and redundant casts
///
/// Every finding has the code of a rule; `recast explain CODE` explains it. Enabled by default: RC1
/// except RC106, RC107, RC109 and RC110 (casts to float8); RC2 except RC211 and RC212 (validity);
/// RC301 (casts whose results ONNX does not define); RC307 (FLOAT16 tensors that a converter
/// clipped); RC503 (operators of onnxruntime). --target also enables RC501 and RC502 (runtimes). The
/// closest `recast.toml` in the folder of a model or its parents overrides the defaults. Weights are
/// read only for rules that inspect constants.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast lint models
  recast lint model.onnx --select ALL --ignore RC4
  recast lint 'exports/**/*.onnx' --format github
  recast lint model.onnx --fix
  recast lint model.onnx --diff --unsafe-fixes
  recast lint models --report findings.html
  recast lint models --statistics
  recast lint models --format sarif -o findings.sarif
  recast lint models --baseline known.json --write-baseline
  recast lint model.onnx --add-noqa

A recast.toml:
  [lint]
  extend-select = [\"RC304\"]
  ignore = [\"RC103\"]
  exclude = [\"third_party\"]
  fail-on = \"error\"
  target = \"onnxruntime@1.17\"
  [lint.severity]
  RC101 = \"error\"
  [lint.per-file-ignores]
  \"legacy/*.onnx\" = [\"RC1\"]

A recast.noqa entry in the metadata_props of a model, graph, function, node or initializer suppresses findings.

{}; all other models were checked", exit_codes("no findings of severity --fail-on or higher", "findings, or fixes available with --diff")))]
pub struct Lint {
    /// Models, folders or glob patterns to check; `-` reads a model from standard input. Default:
    /// the current folder
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Read paths to check from a file, one per line; `-` reads them from standard input
    #[arg(long, value_name = "FILE")]
    pub(super) file_list: Option<PathBuf>,
    /// Exclude files and folders that match these glob patterns; explicitly named files are always
    /// checked
    #[arg(long, value_name = "PATTERNS", value_parser = parse_patterns)]
    pub(super) exclude: Vec<List<FilePattern>>,
    /// Check files in folders even if git or a `.ignore` file ignores them
    #[arg(long)]
    pub(super) no_ignore: bool,
    /// Enable only these rules: codes, code prefixes or ALL
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(super) select: Option<Vec<Selector>>,
    /// Enable these rules in addition to the selected ones
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(super) extend_select: Vec<Selector>,
    /// Disable these rules; if a rule is both selected and ignored, the longer code takes
    /// precedence
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(super) ignore: Vec<Selector>,
    /// Disable rules for matching files, such as `legacy/*.onnx:RC1`
    #[arg(long, value_name = "PATTERN:CODE", value_parser = parse_per_file_ignores)]
    pub(super) per_file_ignores: Vec<List<PerFileIgnore>>,
    /// Override the severity of a rule, such as `RC103=info`
    #[arg(long, value_name = "CODE=SEVERITY", value_delimiter = ',', value_parser = parse_severity)]
    pub(super) severity: Vec<(Selector, Severity)>,
    /// Report what these runtimes, such as `onnxruntime@1.17`, do not run: models that they cannot
    /// load (RC501), and nodes without a kernel (RC502). `recast targets` lists runtimes
    #[arg(long, value_name = "RUNTIME@VERSION", value_delimiter = ',')]
    pub(super) target: Vec<Runtime>,
    /// Exit with code 2 if a pattern or a suppression matches nothing
    ///
    /// The patterns are those of --exclude and --per-file-ignores, the suppressions those of
    /// baselines and of `recast.noqa`. By default, those without a match are a note.
    #[arg(long)]
    pub(super) strict: bool,
    /// Ignore `recast.noqa` entries in models
    #[arg(long)]
    pub(super) ignore_noqa: bool,
    /// Report findings even if a more specific rule reports the same node
    #[arg(long)]
    pub(super) show_overlapping: bool,
    /// Use this configuration file instead of the closest `recast.toml`
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    pub(super) config: Option<PathBuf>,
    /// Ignore all `recast.toml` files
    #[arg(long)]
    pub(super) isolated: bool,
    /// Suppress the findings listed in this file; they are neither reported nor fixed
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Write all findings to the --baseline file
    #[arg(long, requires = "baseline", conflicts_with_all = ["fix", "diff"])]
    pub(super) write_baseline: bool,
    /// Apply safe fixes and write the models in place
    #[arg(long, conflicts_with = "diff")]
    pub(super) fix: bool,
    /// Show the changes of --fix as a diff without writing any models
    #[arg(long, conflicts_with = "format")]
    pub(super) diff: bool,
    /// Add `recast.noqa` entries for all findings and write the models in place
    ///
    /// Each node, initializer or declared value with a finding gets an entry with its code; nothing
    /// else changes. Models before IR version 10 have no such metadata: use --write-baseline.
    #[arg(long, conflicts_with_all = ["fix", "diff", "write_baseline", "unsafe_fixes", "freeze_initializers", "ignore_noqa"])]
    pub(super) add_noqa: bool,
    /// Include unsafe fixes: they change the structure of the graph or guess the author's intent
    #[arg(long)]
    pub(super) unsafe_fixes: bool,
    #[command(flatten)]
    pub(super) verify: Verify,
    #[command(flatten)]
    pub(super) folders: files::DataFolders,
    #[command(flatten)]
    pub(super) freeze: Freeze,
    /// The output format of findings
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    pub(super) format: LintFormat,
    /// Write the findings to this file instead of standard output; `-` is standard output
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["diff", "write_baseline"])]
    pub(super) output: Option<PathBuf>,
    /// Count the findings by rule. Text output has the counts instead of the findings; JSON output
    /// has both
    #[arg(long, conflicts_with_all = ["diff", "write_baseline"])]
    pub(super) statistics: bool,
    #[command(flatten)]
    pub(super) page: PageFile,
    /// When to colour the output
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) color: Color,
    /// The lowest severity that sets exit code 1: info, warning (default) or error
    #[arg(long, value_name = "SEVERITY", value_parser = parse_fail_on)]
    pub(super) fail_on: Option<Severity>,
    /// Exit with 0 even if there are findings
    #[arg(long)]
    pub(super) exit_zero: bool,
    /// Accept paths without models. By default, they are an error (exit code 2), and so are paths
    /// whose models are all ignored or excluded, if no other model is checked
    #[arg(long)]
    pub(super) allow_empty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    /// Colour terminals only, unless NO_COLOR is set or TERM is `dumb`
    Auto,
    Always,
    Never,
}

impl Color {
    pub(super) fn choice(self) -> ColorChoice {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

impl Lint {
    /// Whether models are written, each in place of its input.
    pub(super) fn writes(&self) -> bool {
        self.fix || self.add_noqa
    }

    /// The patterns of --exclude.
    pub(super) fn excluded(&self) -> impl Iterator<Item = &FilePattern> {
        self.exclude.iter().flat_map(|list| &list.0)
    }

    /// The patterns of --per-file-ignores, with their rules.
    pub(super) fn ignored_by_file(&self) -> impl Iterator<Item = &PerFileIgnore> {
        self.per_file_ignores.iter().flat_map(|list| &list.0)
    }
}
