//! Runs on models of which all are written or none.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::exit_code::ExitCode;
use super::failures::caught;
use super::files::{ExternalData, open_model};
use super::options::{Format, Messages, Verify};
use super::output::{self, Output};
use super::page::PageFile;
use super::remedy::with_remedy;
use super::{paths, progress, streams};
use crate::base::parallel;
use crate::base::printable::{Printed, Shown};
use crate::files::{self, SaveTarget};
use crate::inspect;
use crate::report::{self, About, ChangedModel, Lengths, Results, Sketch, Verdict, plural};
use crate::storage::OverInput;
use crate::storage::WriteProgress;
use crate::verify::Verification;
use crate::{Error, ErrorKind, Model, SavePlan, Saved};

/// The models of a run, and where they are written.
#[derive(Args)]
pub struct Models {
    /// Models or quoted glob patterns; `-` reads standard input
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    external_data: ExternalData,
}

impl Models {
    /// Begins to verify the only model of a run. Several models are verified in turn: otherwise the
    /// memory would be that of all.
    pub fn begin(&self, verification: Option<&Verification>) {
        let is_one = matches!(&self.models[..], [path] if paths::as_pattern(path).is_none());
        if let Some(verification) = verification.filter(|_| is_one) {
            verification.begin();
        }
    }
}

/// Whether models are written, and how that is reported.
#[derive(Args)]
pub struct Reporting {
    /// Report the changes without writing any models
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    verify: Verify,
    /// The output format
    #[arg(long, default_value = "text")]
    format: Format,
    #[command(flatten)]
    page: PageFile,
}

impl Reporting {
    /// Whether outputs are verified: in a dry run there are none.
    pub fn verifies(&self) -> bool {
        self.verify.is_on() && !self.dry_run
    }

    /// Whether outputs are verified, or would be without the dry run.
    pub fn would_verify(&self) -> bool {
        self.verify.is_on()
    }

    /// Whether there is a report: text, a document or a page.
    pub fn is_read(&self, messages: Messages) -> bool {
        self.format != Format::Text || !messages.quiet || self.page.is_written()
    }
}

/// The changes that a command makes to a model.
pub trait Changes: Serialize + Sized {
    /// Whether the report has the lengths of the model file.
    const HAS_LENGTHS: bool = true;

    /// The document of a run, for its page.
    fn results(models: &[ChangedModel<Self>]) -> Results<'_>;

    /// The subjects of the drawings of the page.
    fn places(&self) -> Vec<About>;

    /// The keys, patterns and names of options that match nothing of the model.
    fn unmatched(&self) -> Vec<&String>;

    /// Whether the model cannot be changed as requested: then no model is written, and the exit
    /// code is 1.
    fn is_refused(&self) -> bool {
        false
    }

    /// The report as text.
    fn text(model: &ChangedModel<Self>, verbose: bool) -> Shown;
}

/// The result of a command for a model.
pub struct Outcome<C> {
    pub changes: C,
    /// Notes, which the document lists together with those about the files.
    pub notes: Vec<String>,
    /// The original, against which the output is verified.
    pub verification: Option<Verification>,
}

/// How a model is written, and what it is verified against.
type WritePlan = (SavePlan, Option<Verification>);

/// A model that was changed.
struct PlannedModel<C> {
    report: ChangedModel<C>,
    /// How it is written, if it is.
    plan: Option<WritePlan>,
    /// The parts of the page about it, if there is a page.
    sketch: Option<Sketch>,
}

/// A model that was written.
struct Written {
    /// Its files, and the data files that it no longer uses.
    saved: Saved,
    /// Whether it was verified; none in a dry run.
    verdict: Option<Verdict>,
}

/// The options of a run.
pub struct ModelRun<'r> {
    pub command: &'static str,
    /// The activity of the command, for the progress bar.
    pub doing: &'static str,
    pub models: &'r Models,
    pub reporting: &'r Reporting,
    pub messages: Messages,
}

impl ModelRun<'_> {
    /// Changes each model, and then writes all; if one has an error or is refused, none is written.
    pub fn run<C: Changes>(
        &self,
        change: impl Fn(&mut Model) -> Result<Outcome<C>, Error>,
    ) -> anyhow::Result<ExitCode> {
        let Models {
            models,
            output,
            external_data,
        } = self.models;
        let Reporting { dry_run, page, .. } = self.reporting;
        let (models, mut errors) = paths::expand_patterns(models);
        // With errors no model is written, and no folder is made.
        let targets = output.targets_unless(*dry_run || !errors.is_empty(), &models)?;
        let outputs = targets.iter().flatten().filter_map(|target| {
            if let SaveTarget::File(path) = target {
                Some(path)
            } else {
                None
            }
        });
        if !dry_run {
            // Before the plans are made: a temporary file may be a second name of a data file.
            let data: Vec<PathBuf> = outputs
                .clone()
                .filter_map(|output| external_data.file_beside(output))
                .collect();
            output::tidy(data.iter().map(PathBuf::as_path))?;
        }
        page.check(models.iter().chain(outputs).map(PathBuf::as_path))?;
        let (mut reports, mut plans, mut sketches) = (Vec::new(), Vec::new(), Vec::new());
        progress::of_models(self.messages, self.doing, models.len(), |done| {
            for (path, target) in models.iter().zip(targets) {
                match caught(path, || self.plan(path, target, models.len(), &change)) {
                    Ok(PlannedModel {
                        report,
                        plan,
                        sketch,
                    }) => {
                        reports.push(report);
                        plans.extend(plan);
                        sketches.extend(sketch);
                    }
                    Err(error) => errors.push(with_remedy(error)),
                }
                done.count();
            }
        });
        let is_refused = reports.iter().any(|report| report.changes.is_refused());
        let mut written = 0;
        if errors.is_empty() && !is_refused {
            let checked = page.check_written(plans.iter().flat_map(|(plan, _)| plan.files()));
            let reserved = checked.and_then(|()| {
                if *dry_run {
                    Ok(None)
                } else {
                    page.reserve(self.command, &sketches, C::results(&reports))
                }
            });
            let (done, error) = match reserved {
                Ok(_reserved) => write_all(plans, *dry_run, self.messages),
                Err(error) => (Vec::new(), Some(error)),
            };
            written = done.len();
            for (report, Written { saved, verdict }) in reports.iter_mut().zip(done) {
                report.set_saved(saved);
                report.verified = verdict;
            }
            errors.extend(error.map(with_remedy));
        }
        reports
            .iter_mut()
            .skip(written)
            .for_each(|report| report.output = None);
        if let Err(error) = page.write(
            self.command,
            &sketches,
            C::results(&reports),
            &errors,
            self.messages,
        ) {
            errors.push(match written {
                0 => error,
                _ if *dry_run => error,
                written => error.with_remedy(&format!(
                    "{} {} written",
                    plural(written, "model"),
                    if written == 1 { "is" } else { "are" }
                )),
            });
        }
        let code = self.print(&reports, &errors)?;
        Ok(if errors.is_empty() && is_refused {
            ExitCode::from(1)
        } else {
            code
        })
    }

    /// Changes a model, and plans how it is written; the sketch is for the page, if there is one,
    /// with this many models.
    fn plan<C: Changes>(
        &self,
        path: &Path,
        target: Option<SaveTarget>,
        models: usize,
        change: impl Fn(&mut Model) -> Result<Outcome<C>, Error>,
    ) -> Result<PlannedModel<C>, Error> {
        let Models { external_data, .. } = self.models;
        let Reporting { dry_run, page, .. } = self.reporting;
        let name = path.display().to_string();
        let mut model = open_model(path, &external_data.folders)?;
        let original = page.before(path, &model, models)?;
        let bytes_in = model.encoded_len();
        let before = inspect::counts(&model, bytes_in);
        let Outcome {
            changes,
            notes,
            verification,
        } = change(&mut model)?;
        let is_refused = changes.is_refused();
        let sketch = original
            .map(|original| original.sketch(&changes.places(), (!is_refused).then_some(&model)));
        let mut report = ChangedModel::unwritten(name, *dry_run, changes, notes, before);
        if is_refused {
            return Ok(PlannedModel {
                report,
                plan: None,
                sketch,
            });
        }
        // The plan to write a model states the length of its file.
        let mut bytes_out = if target.is_some() {
            0
        } else {
            model.encoded_len()
        };
        let mut after = inspect::counts(&model, bytes_out);
        let plan = target
            .map(|target| external_data.plan(model, &target))
            .transpose()?;
        if let Some(plan) = &plan {
            (bytes_out, after.bytes) = (plan.bytes(), plan.bytes_with_data());
            report.output = (!dry_run).then(|| plan.target().name());
            report.set_saved(plan.saved().clone());
        }
        report.lengths = C::HAS_LENGTHS.then_some(Lengths {
            bytes_in,
            bytes_out,
        });
        report.after = Some(after);
        Ok(PlannedModel {
            report,
            plan: plan.map(|plan| (plan, verification)),
            sketch,
        })
    }

    /// Prints the reports and the errors: to standard output, unless models go there. The exit code
    /// is that of a run with these errors.
    fn print<C: Changes>(
        &self,
        reports: &[ChangedModel<C>],
        errors: &[Error],
    ) -> io::Result<ExitCode> {
        let verbose = self.messages.verbose;
        let report: Option<Printed> = match self.reporting.format {
            Format::Json => Some(report::models_json(reports, errors).into()),
            Format::Text => {
                // A quiet run lists the models that are refused. In a run with errors, only models
                // that were written or refused are listed.
                let is_listed = |model: &&ChangedModel<C>| {
                    let is_shown = errors.is_empty() || model.output.is_some();
                    model.changes.is_refused() || is_shown && !self.messages.quiet
                };
                let texts = reports
                    .iter()
                    .filter(is_listed)
                    .map(|model| C::text(model, verbose));
                Some(texts.collect::<Shown>().into())
            }
        };
        let is_document = matches!(report, Some(Printed::Document(_)));
        let is_silent = self.messages.quiet && !is_document;
        match report {
            Some(report) if self.models.output.is_stdout() || is_silent => {
                streams::print_message(report)
            }
            Some(report) => streams::print(report)?,
            None => {}
        }
        // One document is all that a script finds in a stream.
        if !(is_document && self.models.output.is_stdout()) {
            // Texts have these notes.
            if is_document && !self.messages.quiet {
                print_unmatched(reports);
            }
            streams::print_errors(errors);
        }
        Ok(if errors.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(2)
        })
    }
}

/// Prints the keys, patterns and names that match nothing of a model.
fn print_unmatched<C: Changes>(reports: &[ChangedModel<C>]) {
    for model in reports {
        for what in model.changes.unmatched() {
            let note = format!("{}: nothing matches '{what}'", model.path);
            streams::print_message(streams::message(note));
        }
    }
}

/// Writes models one after the other, until one cannot be written; with `dry_run` none. Returns for
/// each which files were written, or would be, and the error of the first that was not written.
fn write_all(
    mut plans: Vec<WritePlan>,
    dry_run: bool,
    messages: Messages,
) -> (Vec<Written>, Option<Error>) {
    SavePlan::share_copies(plans.iter_mut().map(|(plan, _)| plan));
    let mut seen = HashSet::new();
    for path in plans.iter().flat_map(|(plan, _)| plan.files()) {
        if !seen.insert(files::identity(path)) {
            let message = "two models would write this file; give them different data files";
            return (
                Vec::new(),
                Some(Error::new(ErrorKind::Usage, message).in_file(path.display().to_string())),
            );
        }
    }
    if let Some(OverInput { path, reader, role }) =
        SavePlan::over_inputs(plans.iter().map(|(plan, _)| plan))
    {
        let other = plans[reader].0.target().name();
        let message =
            format!("the model that is written to {other} {role} this file; use another output");
        return (
            Vec::new(),
            Some(Error::new(ErrorKind::BadOutput, message).in_file(path.display().to_string())),
        );
    }
    if dry_run {
        let preview = |(plan, _): (SavePlan, _)| Written {
            saved: plan.saved().clone(),
            verdict: None,
        };
        return (plans.into_iter().map(preview).collect(), None);
    }
    let files: Vec<WriteProgress> = plans.iter().flat_map(|(plan, _)| plan.progress()).collect();
    progress::of_files(messages, &files, || {
        let mut written = Vec::new();
        for (plan, verification) in plans {
            let output = PathBuf::from(plan.target().name());
            let done = caught(&output, || match verification {
                None => plan.execute().map(|saved| Written {
                    saved,
                    verdict: Some(Verdict::LeftOut),
                }),
                Some(verification) => {
                    let done = plan.execute_verified(&verification);
                    parallel::drop_in_background(verification);
                    done.map(|(saved, verified)| Written {
                        saved,
                        verdict: Some(Verdict::Verified(verified)),
                    })
                }
            });
            match done {
                Ok(done) => written.push(done),
                Err(error) => return (written, Some(error)),
            }
        }
        (written, None)
    })
}
