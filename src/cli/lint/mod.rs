//! `recast lint`

mod judge;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};

use super::failures::OnError;
use super::paths::Ignored;
use super::prepare::Freeze;
use super::streams::{message, print_coloured, say, say_errors, text_width};
use super::{ExitCode, Messages, failures, files, output, paths, progress};
use crate::api::is_text_model;
use crate::error::{Error, ErrorKind};
use crate::external::OldFiles;
use crate::lint::{Baseline, FilePattern, Noqa, Overlapping, Safety, Selector, Severity};
use crate::parallel;
use crate::report::{LintFormat, LintRun, lint_summary, old_files_lines, plural};
use crate::shown::{Printed, Shown};
use crate::wire::{Layout, Piece, Target, save};
use judge::{Action, Judged, Mode, Task, judge};
use settings::{PerFileIgnore, Settings, parse_pattern, parse_per_file_ignore, parse_severity};

/// Find unsafe, invalid and redundant casts
///
/// Every finding has the code of a rule; `recast explain CODE` explains it. Enabled by default: casts to float8 (RC1, except RC106, RC107,
/// RC109 and RC110), validity (RC2), and casts whose result ONNX does not define (RC301). The closest `recast.toml` in the folder of a
/// model or its parents overrides the defaults. Weights are read only for rules that inspect constants.
#[derive(Args)]
#[command(after_help = "Examples:
  recast lint models
  recast lint model.onnx --select ALL --ignore RC4
  recast lint 'exports/**/*.onnx' --format github
  recast lint model.onnx --fix
  recast lint model.onnx --diff --unsafe-fixes
  recast lint models --baseline known.json --write-baseline

A recast.toml:
  [lint]
  extend-select = [\"RC304\"]
  ignore = [\"RC103\"]
  exclude = [\"third_party\"]
  fail-on = \"error\"
  [lint.severity]
  RC101 = \"error\"
  [lint.per-file-ignores]
  \"legacy/*.onnx\" = [\"RC1\"]

A recast.noqa entry in the metadata_props of a model, graph, function, node or initializer suppresses findings.

Exit codes:
  0  no findings of severity --fail-on or higher
    1  findings, or fixes available with --diff
    2  error: usage, unreadable or malformed input, I/O; all other models were checked")]
pub struct Lint {
    /// Models, folders or glob patterns to check; `-` reads a model from standard input. Default: the current folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read paths to check from a file, one per line; `-` reads them from standard input
    #[arg(long, value_name = "FILE")]
    file_list: Option<PathBuf>,
    /// Exclude files and folders that match these glob patterns; explicitly named files are always checked
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', value_parser = parse_pattern)]
    exclude: Vec<FilePattern>,
    /// Check files in folders even if git or a `.ignore` file ignores them
    #[arg(long)]
    no_ignore: bool,
    /// Enable only these rules: codes, code prefixes or ALL
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    select: Option<Vec<Selector>>,
    /// Enable these rules in addition to the selected ones
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    extend_select: Vec<Selector>,
    /// Disable these rules; if a rule is both selected and ignored, the longer code takes precedence
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    ignore: Vec<Selector>,
    /// Disable rules for matching files, such as `legacy/*.onnx:RC1`
    #[arg(long, value_name = "PATTERN:CODE", value_delimiter = ',', value_parser = parse_per_file_ignore)]
    per_file_ignores: Vec<PerFileIgnore>,
    /// Override the severity of a rule, such as `RC103=info`
    #[arg(long, value_name = "CODE=SEVERITY", value_delimiter = ',', value_parser = parse_severity)]
    severity: Vec<(Selector, Severity)>,
    /// Ignore `recast.noqa` entries in models
    #[arg(long)]
    ignore_noqa: bool,
    /// Report findings even if a more specific rule reports the same node
    #[arg(long)]
    show_overlapping: bool,
    /// Use this configuration file instead of the closest `recast.toml`
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    config: Option<PathBuf>,
    /// Ignore all `recast.toml` files
    #[arg(long)]
    isolated: bool,
    /// Suppress the findings listed in this file; they are neither reported nor fixed
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings to the --baseline file
    #[arg(long, requires = "baseline", conflicts_with_all = ["fix", "diff"])]
    write_baseline: bool,
    /// Apply safe fixes and write the models in place
    #[arg(long, conflicts_with = "diff")]
    fix: bool,
    /// Show the changes of --fix as a diff without writing any files
    #[arg(long, conflicts_with = "format")]
    diff: bool,
    /// Include fixes that change the structure of the graph or guess the author's intent
    #[arg(long)]
    unsafe_fixes: bool,
    #[command(flatten)]
    prune: files::PruneData,
    #[command(flatten)]
    folders: files::DataFolders,
    #[command(flatten)]
    freeze: Freeze,
    /// The output format of findings
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    format: LintFormat,
    /// When to colour the output
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// The lowest severity that sets exit code 1: info, warning (default) or error
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<Severity>,
    /// Exit with 0 even if there are findings
    #[arg(long)]
    exit_zero: bool,
    /// Accept paths without models, which are an error (exit code 2) by default
    #[arg(long)]
    allow_empty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// Colour terminals only, unless NO_COLOR is set or TERM is `dumb`
    Auto,
    Always,
    Never,
}

impl Color {
    fn choice(self) -> ColorChoice {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

impl Lint {
    /// Where an error goes that ends the run without a report.
    pub fn on_error(&self) -> OnError {
        if self.diff || matches!(self.format, LintFormat::Concise | LintFormat::Full) {
            OnError::Text
        } else {
            OnError::Lint(self.format)
        }
    }

    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let mut run = LintRun::default();
        let mut diff = Shown::default();
        if let Err(error) = self.judge_all(&mut run, &mut diff, messages) {
            run.errors.push(failures::of(error));
        }
        self.print(&run, diff, messages)?;
        Ok(self.exit_code(&run))
    }

    fn judge_all(&self, run: &mut LintRun, diff: &mut Shown, messages: Messages) -> anyhow::Result<()> {
        let known = self.known()?;
        let tasks = self.tasks(run)?;
        if self.fix {
            output::tidy(tasks.iter().map(|task| task.path.as_path()))?;
        }
        let mode = self.mode(&known);
        let judged: Vec<_> = progress::of_models(messages, tasks.len(), |done| {
            parallel::map(&tasks, |task| {
                let judged = judge(task, mode, &self.folders, self.freeze);
                done.count();
                judged
            })
        });
        for (task, one) in tasks.iter().zip(judged) {
            match one {
                Ok(Judged { path, findings, fixed, frozen, diff: change, old_files, notes }) => {
                    if !messages.quiet {
                        notes.iter().for_each(|note| say(message(format_args!("{path}: {note}"))));
                    }
                    self.report_old_files(&path, &old_files, messages);
                    run.frozen_initializers.extend(frozen.map(|names| (path.clone(), names)));
                    run.fail_on.insert(path.clone(), task.fail_on);
                    run.models.push(path);
                    match run.findings.is_empty() {
                        true => run.findings = findings,
                        false => run.findings.extend(findings),
                    }
                    run.fixed.extend(fixed);
                    diff.append(&change);
                }
                Err(failure) => run.errors.push(failure),
            }
        }
        self.apply_baseline(&known, run, messages)
    }

    /// Lists on standard error the data files that a fixed model no longer uses.
    fn report_old_files(&self, path: &str, old: &OldFiles, messages: Messages) {
        if !messages.quiet {
            old_files_lines(false, &old.removed, &old.unused).for_each(|line| say(message(format_args!("{path}: {line}"))));
        }
    }

    /// The files to check; the others are added to the errors of the run.
    fn tasks(&self, run: &mut LintRun) -> anyhow::Result<Vec<Task>> {
        let mut settings = Settings::of(self)?;
        let mut tasks = Vec::new();
        let named = self.named_paths()?;
        for found in paths::expand(&named, self.ignored()) {
            let found = match found {
                Ok(found) if files::is_stdin(&found.path) && self.fix => {
                    bail!("a model from standard input cannot be fixed in place; use --diff or pass a file");
                }
                Ok(found) if is_text_model(&found.path) && self.fix => {
                    bail!("{}: ONNX text cannot be fixed in place; use --diff or fix the binary model", found.path.display());
                }
                Ok(found) => found,
                Err(failure) => {
                    run.errors.push(failure);
                    continue;
                }
            };
            let path = found.path.display().to_string();
            match settings.task(found) {
                Ok(task) => tasks.extend(task),
                Err(error) => run.errors.push(Error::of(&error).in_file(path)),
            }
        }
        if tasks.is_empty() && run.errors.is_empty() && !self.allow_empty {
            let has_ignored = !paths::expand(&named, Ignored::Nothing).is_empty() && self.ignored() != Ignored::Nothing;
            let message = match has_ignored {
                true => {
                    "all .onnx files are ignored by git or a .ignore file; use --no-ignore, or --allow-empty if this is intended"
                }
                false => "no .onnx files found; use --allow-empty if this is intended",
            };
            let no_model = |path: &PathBuf| Error::new(ErrorKind::NotFound, message).in_file(path.display().to_string());
            run.errors.extend(self.sources().iter().map(no_model));
        }
        Ok(tasks)
    }

    fn ignored(&self) -> Ignored {
        if self.no_ignore { Ignored::Nothing } else { Ignored::ByIgnoreFiles }
    }

    /// The paths as given; by default the current folder.
    fn named_paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = self.paths.clone();
        match &self.file_list {
            Some(list) => paths.extend(paths::read_list(list)?),
            None if paths.is_empty() => paths.push(PathBuf::from(".")),
            None => {}
        }
        Ok(paths)
    }

    /// All paths of the command line, for an error that concerns all of them.
    fn sources(&self) -> Vec<PathBuf> {
        let sources: Vec<PathBuf> = self.paths.iter().chain(&self.file_list).cloned().collect();
        if sources.is_empty() { vec![PathBuf::from(".")] } else { sources }
    }

    fn mode<'m>(&self, known: &'m Baseline) -> Mode<'m> {
        Mode {
            known,
            noqa: if self.ignore_noqa { Noqa::Ignored } else { Noqa::Respected },
            overlapping: if self.show_overlapping { Overlapping::Shown } else { Overlapping::Hidden },
            action: match (self.fix, self.diff) {
                (true, _) => Action::Fix { prune_data: self.prune.prune_data },
                (_, true) => Action::Diff,
                _ => Action::Report,
            },
            allowed: if self.unsafe_fixes { Safety::Unsafe } else { Safety::Safe },
        }
    }

    /// The findings that are neither reported nor fixed.
    fn known(&self) -> anyhow::Result<Baseline> {
        match &self.baseline {
            Some(path) if !self.write_baseline => {
                let name = || path.display().to_string();
                let text = fs::read_to_string(path).with_context(name)?;
                Baseline::read(&text, path.parent().unwrap_or(Path::new(""))).with_context(name)
            }
            _ => Ok(Baseline::default()),
        }
    }

    fn apply_baseline(&self, known: &Baseline, run: &mut LintRun, messages: Messages) -> anyhow::Result<()> {
        let Some(path) = &self.baseline else {
            return Ok(());
        };
        let name = || path.display().to_string();
        if self.write_baseline {
            if let Some(error) = run.errors.first() {
                bail!("{}: not written because of an error: {error}", name());
            }
            let text = Baseline::of(&run.findings, path.parent().unwrap_or(Path::new(""))).to_text();
            save(Layout::of_pieces(vec![Piece::Bytes(text.into())]), &Target::File(path.clone()))?;
            if !messages.quiet {
                say(Shown::line(format_args!("{} written to {}", plural(run.findings.len(), "finding"), name())));
            }
            run.findings.clear();
            return Ok(());
        }
        let (new, gone) = known.filter(std::mem::take(&mut run.findings));
        run.findings = new;
        if gone > 0 && !self.diff && !messages.quiet {
            let gone = plural(gone, "obsolete finding");
            say(Shown::line(format_args!("{} contains {gone}; use --write-baseline to update it", name())));
        }
        Ok(())
    }

    /// Prints the document to standard output, errors and the summary to standard error; a clean run in a text format prints nothing.
    fn print(&self, run: &LintRun, diff: Shown, messages: Messages) -> anyhow::Result<()> {
        let for_people = self.diff || matches!(self.format, LintFormat::Concise | LintFormat::Full);
        let document: Printed = match self.diff {
            _ if for_people && messages.quiet => Shown::default().into(),
            true => diff.into(),
            false => self.format.render(run, text_width()),
        };
        print_coloured(document, self.color.choice())?;
        say_errors(&run.errors);
        let says_something = messages.verbose || !run.findings.is_empty() || !run.fixed.is_empty();
        let frozen: usize = run.frozen_initializers.values().map(Vec::len).sum();
        if for_people && !messages.quiet && frozen > 0 {
            say(Shown::line(format_args!("froze {}", plural(frozen, "initializer"))));
        }
        if for_people && !messages.quiet && !self.write_baseline && says_something {
            let summary = lint_summary(run, if self.diff { "would fix" } else { "fixed" });
            say(Shown::line(format_args!("{summary}")));
        }
        Ok(())
    }

    fn exit_code(&self, run: &LintRun) -> ExitCode {
        let failing = match self.diff {
            true => !run.fixed.is_empty(),
            false => run.findings.iter().any(|found| run.fails(found)),
        };
        match (run.errors.is_empty(), failing && !self.exit_zero) {
            (false, _) => ExitCode::from(2),
            (true, true) => ExitCode::from(1),
            (true, false) => ExitCode::SUCCESS,
        }
    }
}
