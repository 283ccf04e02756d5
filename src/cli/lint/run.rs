//! The run: lints all files, then prints the report.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::baselines::Baselines;
use super::options::Lint;
use super::search::{self, Searched};
use super::task::{Linted, lint_file};
use super::unmatched::Unmatched;
use crate::base::parallel;
use crate::base::printable::{Printed, Shown};
use crate::cli::exit_code::ExitCode;
use crate::cli::failures::{self, caught};
use crate::cli::options::Messages;
use crate::cli::output::{self, SideFile, is_stdout};
use crate::cli::progress;
use crate::cli::remedy::with_remedy;
use crate::cli::streams::{message, print_coloured, print_errors, print_message, text_width};
use crate::lint::Baseline;
use crate::report::{
    LintFormat, LintRun, Results, RuleCount, Shape, Sketch, lint_summary, plural,
    unused_files_lines,
};

impl Lint {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let mut run = LintRun::default();
        let (mut diff, mut sketches) = (Shown::default(), Vec::new());
        if let Err(error) = self.lint_all(&mut run, &mut diff, &mut sketches, messages) {
            run.errors.push(failures::of(error));
        }
        let results = Results {
            lint: Some(&run),
            ..Results::default()
        };
        if (!sketches.is_empty() || run.errors.is_empty())
            && let Err(error) = self
                .page
                .write("lint", &sketches, results, &run.errors, messages)
        {
            let has_written =
                !run.suppressed.is_empty() || (self.fix && !self.diff && !run.fixed.is_empty());
            run.errors.push(if has_written {
                error.with_remedy("the models are written")
            } else {
                error
            });
        }
        self.print(&run, diff, messages)?;
        Ok(self.exit_code(&run))
    }

    fn lint_all(
        &self,
        run: &mut LintRun,
        diff: &mut Shown,
        sketches: &mut Vec<Sketch>,
        messages: Messages,
    ) -> anyhow::Result<()> {
        if self.statistics && !self.format.is_text() && self.format != LintFormat::Json {
            bail!("--statistics counts findings in the formats full, concise and json only");
        }
        if self.unsafe_fixes && !self.fix && !self.diff && !messages.quiet {
            print_message(message(
                "--unsafe-fixes has no effect without --fix or --diff",
            ));
        }
        let mut known = Baselines::default();
        // A bad --baseline ends the run before folders are searched.
        if let Some(path) = &self.baseline
            && !self.write_baseline
        {
            known.read(path)?;
        }
        let Searched {
            tasks,
            configs,
            unmatched,
            notes,
        } = search::tasks(self, &mut run.errors)?;
        if !messages.quiet {
            for note in notes {
                print_message(message(note));
            }
        }
        self.report_unmatched(unmatched, run, messages)?;
        if !self.write_baseline {
            for path in tasks.iter().filter_map(|task| task.baseline.as_deref()) {
                known.read(path)?;
            }
        }
        let other_files = [&self.file_list, &self.config]
            .into_iter()
            .flatten()
            .chain(&configs)
            .map(PathBuf::as_path);
        let inputs = tasks
            .iter()
            .map(|task| task.path.as_path())
            .chain(other_files);
        let baselines = tasks
            .iter()
            .filter_map(|task| task.baseline.as_deref())
            .chain(self.baseline.as_deref());
        self.page.check(
            inputs
                .clone()
                .chain(baselines.clone())
                .chain(self.document().map(|file| file.path)),
        )?;
        if let Some(document) = self.document() {
            document.check(inputs.clone().chain(baselines))?;
        }
        let baseline = self.new_baseline();
        if let Some(baseline) = &baseline {
            baseline.check(inputs)?;
        }
        let side_files: Vec<SideFile> = baseline.into_iter().chain(self.document()).collect();
        let mut reserved = None;
        if self.writes() {
            output::tidy(tasks.iter().map(|task| task.path.as_path()))?;
            reserved = self.page.reserve(
                "lint",
                &[],
                Results {
                    lint: Some(run),
                    ..Results::default()
                },
            )?;
        }
        let linted: Vec<_> = progress::of_models(messages, "checking", tasks.len(), |done| {
            parallel::map(&tasks, |task| {
                let linted = caught(&task.path, || {
                    lint_file(task, self, known.of(task), &side_files, tasks.len())
                });
                done.count();
                linted
            })
        });
        drop(reserved);
        let mut unmatched = Unmatched::default();
        for (task, one) in tasks.iter().zip(linted) {
            match one {
                Ok(Linted {
                    path,
                    findings,
                    fixed,
                    suppressed,
                    unused_noqa,
                    frozen,
                    diff: change,
                    sketch,
                    saved,
                    is_verified,
                }) => {
                    sketches.extend(sketch);
                    if !messages.quiet {
                        let lines = unused_files_lines(&saved);
                        saved.notes.iter().cloned().chain(lines).for_each(|line| {
                            print_message(message(format_args!("{path}: {line}")))
                        });
                    }
                    let unused = saved.unused_files;
                    run.unused_files
                        .extend((!unused.is_empty()).then(|| (path.clone(), unused)));
                    run.frozen_initializers
                        .extend(frozen.map(|names| (path.clone(), names)));
                    run.fail_on.insert(path.clone(), task.fail_on);
                    run.models.push(path);
                    let findings = known.new_ones(task, findings);
                    if run.findings.is_empty() {
                        run.findings = findings
                    } else {
                        run.findings.extend(findings)
                    }
                    run.verified = run.verified.or(is_verified);
                    run.fixed.extend(fixed);
                    run.suppressed.extend(suppressed);
                    unmatched.of_noqa(&task.path, unused_noqa);
                    diff.append(&change);
                }
                Err(failure) => run.errors.push(with_remedy(failure)),
            }
        }
        run.known_findings = known.known();
        run.statistics = self.statistics.then(|| RuleCount::all(&run.findings));
        self.write_new_baseline(run, messages)?;
        if !self.diff {
            known
                .obsolete()
                .for_each(|gone| unmatched.of_baseline(gone));
            unmatched.report(self.strict, run, messages);
        }
        Ok(())
    }

    /// Tells which patterns match no file.
    ///
    /// # Errors
    /// With `--strict`, if a pattern matches no file.
    fn report_unmatched(
        &self,
        unmatched: Vec<(&str, String)>,
        run: &mut LintRun,
        messages: Messages,
    ) -> anyhow::Result<()> {
        for (option, pattern) in unmatched {
            let note = format!("no file matches '{pattern}' of {option}");
            if self.strict {
                bail!("{note}, which --strict does not permit");
            }
            if !messages.quiet {
                print_message(message(note));
            }
            run.unmatched.push(pattern);
        }
        Ok(())
    }

    /// The file into which the document is written, if it is not standard output.
    fn document(&self) -> Option<SideFile<'_>> {
        let is_one = |text: &[u8]| {
            text.starts_with(b"{") || text.starts_with(b"[") || text.starts_with(b"<")
        };
        let path = self.output.as_deref().filter(|output| !is_stdout(output))?;
        Some(SideFile {
            path,
            what: "findings",
            is_one,
        })
    }

    /// The file into which the findings are written.
    fn new_baseline(&self) -> Option<SideFile<'_>> {
        let is_one = |text: &[u8]| Baseline::read(text, Path::new("")).is_ok();
        self.baseline
            .as_deref()
            .filter(|_| self.write_baseline)
            .map(|path| SideFile {
                path,
                what: "baseline",
                is_one,
            })
    }

    /// Writes the findings to the baseline, if that is wanted, which leaves none to report.
    fn write_new_baseline(&self, run: &mut LintRun, messages: Messages) -> anyhow::Result<()> {
        let Some(file) = self
            .new_baseline()
            .filter(|file| !file.is_refused(&run.errors))
        else {
            return Ok(());
        };
        let name = || file.path.display();
        if let Some(error) = run.errors.first() {
            bail!("{}: not written because of an error: {error}", name());
        }
        let text =
            Baseline::of(&run.findings, file.path.parent().unwrap_or(Path::new(""))).to_text();
        file.write(|bytes| bytes.write_all(text.as_bytes()))?;
        if !messages.quiet {
            print_message(Shown::line(format_args!(
                "{} written to {}",
                plural(run.findings.len(), "finding"),
                name()
            )));
        }
        run.findings.clear();
        Ok(())
    }

    /// Prints the document to standard output, errors and the summary to standard error; a clean
    /// run in a text format has the summary only.
    fn print(&self, run: &LintRun, diff: Shown, messages: Messages) -> anyhow::Result<()> {
        let for_people = self.diff || self.format.is_text();
        let shape = |width| Shape {
            width,
            is_complete: messages.verbose,
        };
        match self.document() {
            Some(file) if file.is_refused(&run.errors) => {}
            Some(file) => {
                file.write(|bytes| self.format.render(run, shape(None)).write_plain(bytes))?
            }
            None => {
                let document: Printed = match self.diff {
                    _ if for_people && messages.quiet => Shown::default().into(),
                    true => diff.into(),
                    false => self.format.render(run, shape(text_width())),
                };
                print_coloured(document, self.color.choice())?;
            }
        }
        print_errors(&run.errors);
        let says_something = messages.verbose || !run.models.is_empty();
        let frozen: usize = run.frozen_initializers.values().map(Vec::len).sum();
        if for_people && !messages.quiet && frozen > 0 {
            print_message(Shown::line(format_args!(
                "froze {}",
                plural(frozen, "initializer")
            )));
        }
        if for_people && !messages.quiet && !self.write_baseline && says_something {
            let summary = lint_summary(run, if self.diff { "would fix" } else { "fixed" });
            print_message(Shown::line(format_args!("{summary}")));
        }
        Ok(())
    }

    fn exit_code(&self, run: &LintRun) -> ExitCode {
        let failing = if self.diff {
            !run.fixed.is_empty()
        } else {
            run.findings.iter().any(|found| run.fails(found))
        };
        match (run.errors.is_empty(), failing && !self.exit_zero) {
            (false, _) => ExitCode::from(2),
            (true, true) => ExitCode::from(1),
            (true, false) => ExitCode::SUCCESS,
        }
    }
}
