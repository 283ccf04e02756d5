//! `recast lint`

mod judge;
mod settings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstream::ColorChoice;
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use rayon::prelude::*;

use super::failures::OnError;
use super::prepare::Freeze;
use super::streams::{message, print_coloured, say, say_failures, text_width};
use super::{Messages, failures, files, not_a_model, paths, progress};
use crate::error::ErrorKind;
use crate::external::OldFiles;
use crate::lint::{Baseline, FilePattern, Noqa, Overlapping, Safety, Selector, Severity};
use crate::report::{Failure, LintFormat, LintRun, lint_summary, old_files_lines, plural};
use crate::shown::{Printed, Shown};
use crate::wire::{Layout, Piece, Target, save};
use judge::{Action, Judged, Mode, Task, judge};
use settings::{PerFileIgnore, Settings, parse_pattern, parse_per_file_ignore, parse_severity};

/// Find unsafe, invalid and wasted casts
///
/// Every finding has a rule's code; `recast rule CODE` explains it. Judged by default: casts to float8 (RC1, but
/// for RC106, RC107, RC109 and RC110), validity (RC2), and casts whose result ONNX does not define (RC301). The nearest `recast.toml` around a model may say otherwise. Weights are read only for
/// rules that look at constants.
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

A model silences rules by an entry recast.noqa in its metadata_props, or in those of a graph, function, node or initializer.

Exit codes:
  0  no finding as severe as --fail-on
  1  findings, or with --diff: there is something to fix
  2  it could not be done: usage, unreadable or malformed input, I/O; what could be read was judged")]
pub struct Lint {
    /// Models, folders of models, or patterns; `-` is a model on standard input; without any, the current folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Models, folders and patterns from a file, one a line; `-` reads them from standard input
    #[arg(long, value_name = "FILE")]
    file_list: Option<PathBuf>,
    /// Leave out files and folders of this pattern when they are found in a folder
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', value_parser = parse_pattern)]
    exclude: Vec<FilePattern>,
    /// Judge by these rules alone: codes, beginnings of codes, ALL
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    select: Option<Vec<Selector>>,
    /// Judge by these rules too
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    extend_select: Vec<Selector>,
    /// Do not judge by these rules; of a rule that is both selected and ignored, the longer code wins
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    ignore: Vec<Selector>,
    /// Ignore rules in some files: `legacy/*.onnx:RC1`
    #[arg(long, value_name = "PATTERN:CODE", value_delimiter = ',', value_parser = parse_per_file_ignore)]
    per_file_ignores: Vec<PerFileIgnore>,
    /// Another severity for some rules: `RC103=info`
    #[arg(long, value_name = "CODE=SEVERITY", value_delimiter = ',', value_parser = parse_severity)]
    severity: Vec<(Selector, Severity)>,
    /// Hear what models say in `recast.noqa` no longer
    #[arg(long)]
    ignore_noqa: bool,
    /// Report every finding, also where a more specific rule reports the same node
    #[arg(long)]
    show_overlapping: bool,
    /// Read this file instead of the nearest `recast.toml`
    #[arg(long, value_name = "FILE", conflicts_with = "isolated")]
    config: Option<PathBuf>,
    /// Read no `recast.toml`
    #[arg(long)]
    isolated: bool,
    /// Do not report the findings of this file, and leave them as they are
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all findings into the file of --baseline
    #[arg(long, requires = "baseline", conflicts_with_all = ["fix", "diff"])]
    write_baseline: bool,
    /// Set findings right that have a safe fix, and write the models
    #[arg(long, conflicts_with = "diff")]
    fix: bool,
    /// Show what --fix would change, for people, and write nothing
    #[arg(long, conflicts_with = "format")]
    diff: bool,
    /// Apply fixes too that change the graph's shape or guess what was meant
    #[arg(long)]
    unsafe_fixes: bool,
    #[command(flatten)]
    prune: files::PruneData,
    #[command(flatten)]
    folders: files::DataFolders,
    #[command(flatten)]
    freeze: Freeze,
    /// What is printed
    #[arg(long, value_name = "FORMAT", default_value = "full")]
    format: LintFormat,
    /// When to use colour
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// The least severity for which the exit code is 1: info, warning (the default) or error
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<Severity>,
    /// Exit with 0 whatever is found
    #[arg(long)]
    exit_zero: bool,
    /// Accept paths that hold no model; by default that is an error (exit code 2)
    #[arg(long)]
    allow_empty: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is `dumb`
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
            files::tidy(tasks.iter().map(|task| task.path.as_path()))?;
        }
        let mode = self.mode(&known);
        let judged: Vec<_> = progress::of_models(messages, tasks.len(), |done| {
            tasks.par_iter().map(|task| judge(task, mode, &self.folders, self.freeze)).inspect(|_| done.count()).collect()
        });
        for (task, one) in tasks.iter().zip(judged) {
            match one {
                Ok(Judged { path, findings, fixed, frozen, diff: change, old_files }) => {
                    self.report_old_files(&path, &old_files, messages);
                    run.frozen_initializers.extend(frozen.map(|names| (path.clone(), names)));
                    run.fail_on.insert(path.clone(), task.fail_on);
                    run.models.push(path);
                    run.findings.extend(findings);
                    run.fixed.extend(fixed);
                    diff.append(&change);
                }
                Err(failure) => run.errors.push(failure),
            }
        }
        self.apply_baseline(&known, run, messages)
    }

    /// Says on standard error what became of data files that a fixed model no longer uses.
    fn report_old_files(&self, path: &str, old: &OldFiles, messages: Messages) {
        if !messages.quiet {
            old_files_lines(false, &old.removed, &old.unused).for_each(|line| say(message(format_args!("{path}: {line}"))));
        }
    }

    /// The files to be judged; those that cannot be are noted in the run.
    fn tasks(&self, run: &mut LintRun) -> anyhow::Result<Vec<Task>> {
        let mut settings = Settings::of(self)?;
        let mut tasks = Vec::new();
        for found in paths::expand(&self.named_paths()?) {
            let found = match found {
                Ok(found) if files::is_stdin(&found.path) && self.fix => {
                    bail!("a model from standard input cannot be fixed in place; use --diff, or give a file");
                }
                Ok(found) if not_a_model::is_text_model(&found.path) && self.fix => {
                    bail!(
                        "{}: is ONNX text, which cannot be fixed in place; use --diff, or fix the binary model",
                        found.path.display()
                    );
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
                Err(error) => run.errors.push(Failure::new(path, &error)),
            }
        }
        if tasks.is_empty() && run.errors.is_empty() && !self.allow_empty {
            let no_model = |path: &PathBuf| {
                let message = "no .onnx file found; use --allow-empty if that is intended";
                Failure::of_file(path.display().to_string(), ErrorKind::NotFound, message)
            };
            run.errors.extend(self.sources().iter().map(no_model));
        }
        Ok(tasks)
    }

    /// The paths as given; the current folder where none are.
    fn named_paths(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = self.paths.clone();
        match &self.file_list {
            Some(list) => paths.extend(paths::read_list(list)?),
            None if paths.is_empty() => paths.push(PathBuf::from(".")),
            None => {}
        }
        Ok(paths)
    }

    /// What the command line names, for an error about all of it.
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

    /// The findings that are not to be reported, nor set right.
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
                bail!("{}: not written, because of the error in {error}", name());
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
            let are = if gone == 1 { "is" } else { "are" };
            let gone = plural(gone, "finding");
            say(Shown::line(format_args!("{gone} of {} {are} gone; --write-baseline drops what is", name())));
        }
        Ok(())
    }

    /// The document to standard output, the rest to standard error; a clean run of a format for people says nothing.
    fn print(&self, run: &LintRun, diff: Shown, messages: Messages) -> anyhow::Result<()> {
        let for_people = self.diff || matches!(self.format, LintFormat::Concise | LintFormat::Full);
        let document: Printed = match self.diff {
            _ if for_people && messages.quiet => Shown::default().into(),
            true => diff.into(),
            false => self.format.render(run, text_width()),
        };
        print_coloured(document, self.color.choice())?;
        say_failures(&run.errors);
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
