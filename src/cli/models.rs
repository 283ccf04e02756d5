//! Runs on models of which all are written or none.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::exit_code::ExitCode;
use super::failures::caught;
use super::files::{ExternalData, open_model};
use super::options::{Format, Messages};
use super::output::{self, Output};
use super::page::PageFile;
use super::remedy::with_remedy;
use super::{paths, progress, streams};
use crate::base::printable::{Printed, Shown};
use crate::report::{self, Results, Sketch};
use crate::storage::Released;
use crate::verify::{Verification, Verified};
use crate::{Error, ErrorKind, Model, OverInput, SavePlan, SaveProgress, Saved, Target, files};

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
    /// Opens one of the models.
    pub fn open(&self, path: &Path) -> Result<Model, Error> {
        open_model(path, &self.external_data.folders)
    }

    /// The plan to write a model.
    pub fn plan(&self, model: Model, target: &Target) -> Result<SavePlan, Error> {
        self.external_data.plan(model, target)
    }
}

/// Whether models are written, and how that is reported.
#[derive(Args)]
pub struct Reporting {
    /// Report the changes without writing any models
    #[arg(long)]
    pub dry_run: bool,
    /// The output format of the report
    #[arg(long, default_value = "text")]
    format: Format,
    #[command(flatten)]
    pub page: PageFile,
}

impl Reporting {
    /// The name of a target in the report; none if nothing is written to it.
    pub fn output(&self, target: Option<&Target>) -> Option<String> {
        target.filter(|_| !self.dry_run).map(Target::name)
    }
}

/// The report of a command about a model.
pub trait ModelReport: Serialize + Sized {
    /// The document of a run, for its page.
    fn results(reports: &[Self]) -> Results<'_>;

    /// The output; none if it is not written.
    fn output(&mut self) -> &mut Option<String>;

    /// Adds the files that were written, and the extent of the verification.
    fn record_written(&mut self, written: Written);

    /// Whether the model cannot be changed as requested: then no model is written, and the exit code is 1.
    fn is_refused(&self) -> bool {
        false
    }

    /// The report as text.
    fn text(&self, verbose: bool) -> Shown;
}

/// The result for a model.
pub struct Changed<R> {
    pub report: R,
    /// The plan to write it, if it is to be written, and what it is verified against.
    pub plan: Option<(SavePlan, Option<Verification>)>,
    /// The parts of the page about it, if there is a page.
    pub sketch: Option<Sketch>,
}

/// A model that was written.
pub struct Written {
    /// Its files, and the data files that it no longer uses.
    pub saved: Saved,
    /// The extent of its verification.
    pub verified: Option<Verified>,
}

/// The length of a model's file; 0 if it is written, since the plan of that states it.
pub fn unwritten_bytes(model: &Model, target: Option<&Target>) -> u64 {
    target.map_or_else(|| model.bytes(), |_| 0)
}

/// The options of a run.
pub struct Run<'r> {
    pub command: &'static str,
    /// The activity of the command, for the progress bar.
    pub doing: &'static str,
    pub models: &'r Models,
    pub reporting: &'r Reporting,
    pub messages: Messages,
}

impl Run<'_> {
    /// Changes each model, and then writes all; if one has an error or is refused, none is written.
    pub fn run<R: ModelReport>(
        &self,
        change: impl Fn(&Path, Option<Target>, usize) -> Result<Changed<R>, Error>,
    ) -> anyhow::Result<ExitCode> {
        let Models { models, output, external_data } = self.models;
        let Reporting { dry_run, page, .. } = self.reporting;
        let (models, mut errors) = paths::expand_patterns(models);
        // With errors no model is written, and no folder is made.
        let targets = output.targets_unless(*dry_run || !errors.is_empty(), &models)?;
        let outputs = targets.iter().flatten().filter_map(|target| if let Target::File(path) = target { Some(path) } else { None });
        if !dry_run {
            // Before the plans are made: a temporary file may be a second name of a data file.
            let data: Vec<PathBuf> = outputs.clone().filter_map(|output| external_data.file_beside(output)).collect();
            output::tidy(data.iter().map(PathBuf::as_path))?;
        }
        page.check(models.iter().chain(outputs).map(PathBuf::as_path))?;
        let (mut reports, mut plans, mut sketches) = (Vec::new(), Vec::new(), Vec::new());
        progress::of_models(self.messages, self.doing, models.len(), |done| {
            for (path, target) in models.iter().zip(targets) {
                match caught(path, || change(path, target, models.len())) {
                    Ok(Changed { report, plan, sketch }) => {
                        reports.push(report);
                        plans.extend(plan);
                        sketches.extend(sketch);
                    }
                    Err(error) => errors.push(with_remedy(error)),
                }
                done.count();
            }
        });
        let is_refused = reports.iter().any(ModelReport::is_refused);
        let mut written = 0;
        if errors.is_empty() && !is_refused {
            let (done, error) = match page.check_written(plans.iter().flat_map(|(plan, _)| plan.files())) {
                Ok(()) => write_all(plans, *dry_run, self.messages),
                Err(error) => (Vec::new(), Some(error)),
            };
            written = done.len();
            for (report, written) in reports.iter_mut().zip(done) {
                report.record_written(written);
            }
            errors.extend(error);
        }
        reports.iter_mut().skip(written).for_each(|report| *report.output() = None);
        errors.extend(page.write(self.command, &sketches, R::results(&reports), &errors, self.messages).err());
        let code = self.print(&mut reports, &errors)?;
        Ok(if errors.is_empty() && is_refused { ExitCode::from(1) } else { code })
    }

    /// Prints the reports and the errors: to standard output, unless models go there. The exit code is that of a run with these errors.
    fn print<R: ModelReport>(&self, reports: &mut [R], errors: &[Error]) -> io::Result<ExitCode> {
        let verbose = self.messages.verbose;
        let report: Option<Printed> = match self.reporting.format {
            Format::Json => Some(report::models_json(reports, errors).into()),
            Format::Text if self.messages.quiet => None,
            Format::Text => {
                // In a run with errors, only models that were written or refused are listed.
                let is_listed = |model: &mut &mut R| errors.is_empty() || model.output().is_some() || model.is_refused();
                Some(
                    reports
                        .iter_mut()
                        .filter_map(|mut model| is_listed(&mut model).then(|| model.text(verbose)))
                        .collect::<Shown>()
                        .into(),
                )
            }
        };
        let is_document = matches!(report, Some(Printed::Document(_)));
        match report {
            Some(report) if self.models.output.is_stdout() => streams::say(report),
            Some(report) => streams::print(report)?,
            None => {}
        }
        // One document is all that a script finds in a stream.
        if !(is_document && self.models.output.is_stdout()) {
            streams::say_errors(errors);
        }
        Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
    }
}

/// Writes models one after the other, until one cannot be written; with `dry_run` none. Returns for each which files were written, or
/// would be, and the error of the first that was not written.
fn write_all(mut plans: Vec<(SavePlan, Option<Verification>)>, dry_run: bool, messages: Messages) -> (Vec<Written>, Option<Error>) {
    SavePlan::share_copies(plans.iter_mut().map(|(plan, _)| plan));
    let mut seen = HashSet::new();
    for path in plans.iter().flat_map(|(plan, _)| plan.files()) {
        if !seen.insert(files::identity(path)) {
            let message = "two models would write this file; give them different data files";
            return (Vec::new(), Some(Error::new(ErrorKind::Usage, message).in_file(path.display().to_string())));
        }
    }
    if let Some(OverInput { path, reader, role }) = SavePlan::over_inputs(plans.iter().map(|(plan, _)| plan)) {
        let other = plans[reader].0.target().name();
        let message = format!("the model that is written to {other} {role} this file; use another output");
        return (Vec::new(), Some(Error::new(ErrorKind::BadOutput, message).in_file(path.display().to_string())));
    }
    if dry_run {
        let mut released = Released::default();
        let preview = |(plan, _): (SavePlan, _)| Written { saved: plan.preview_after(&mut released), verified: None };
        return (plans.into_iter().map(preview).collect(), None);
    }
    let files: Vec<SaveProgress> = plans.iter().flat_map(|(plan, _)| plan.progress()).collect();
    progress::of_files(messages, &files, || {
        let mut written = Vec::new();
        for (plan, verification) in plans {
            let output = PathBuf::from(plan.target().name());
            let done = caught(&output, || match verification {
                None => plan.execute().map(|saved| Written { saved, verified: None }),
                Some(verification) => {
                    let done = plan.execute_verified(&verification);
                    done.map(|(saved, verified)| Written { saved, verified: Some(verified) })
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
