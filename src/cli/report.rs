//! `recast report`

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, ValueEnum};

use super::exit_code::ExitCode;
use super::failures::caught;
use super::files;
use super::options::{EXIT_CODES, Messages};
use super::page::{PageFile, write_page};
use super::remedy::with_remedy;
use super::streams::{is_terminal, print, print_errors};
use crate::inspect;
use crate::passes::{self, redundant_casts};
use crate::report::{
    self, About, Before, ComparedModels, FoldedModel, Folding, Lengths, LintRun, Page, Prepared,
    Results, Sketch,
};
use crate::{Comparison, Error, FoldOptions, LintOptions, Model, diff};

/// Write an HTML page about a model, or about the differences between two
///
/// The page is one file and needs no network. For one model, it shows the opsets, operators and
/// tensors, the runtimes that load it, the casts that `recast fold` would fold, the reasons for the
/// others, the findings of `recast lint` with its default rules, and the graph around each of these
/// places. For two models, it shows the differences that `recast diff` finds. No model is written.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast report model.onnx -o model.html
  recast report model.onnx converted.onnx -o changes.html
  recast report model.onnx --format json | jq '.models[0].before.tensors'
  recast fold model.onnx -o folded.onnx --report folded.html

{EXIT_CODES}
Findings and differences do not set the exit code: it is 0 if the page is complete."))]
pub struct Report {
    /// The model; `-` reads standard input
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// A model to compare it with
    #[arg(value_name = "OTHER")]
    other: Option<PathBuf>,
    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    folders: files::DataFolders,
    /// The output format
    #[arg(long, default_value = "html")]
    pub(super) format: PageFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// One HTML page
    Html,
    /// The content of the page as one versioned JSON document
    Json,
}

/// The results that the page shows.
#[derive(Default)]
struct PageResults {
    sketch: Option<Sketch>,
    folded: Vec<FoldedModel>,
    linted: Option<LintRun>,
    compared: Option<ComparedModels>,
    errors: Vec<Error>,
}

impl Report {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let is_stdout = self.output == Path::new("-");
        if self.other.as_ref() == Some(&self.model) && files::is_stdin(&self.model) {
            bail!("only one of the two models can be read from standard input");
        }
        if is_stdout && self.format == PageFormat::Html && is_terminal() {
            bail!("an HTML page is not printed to a terminal; use -o FILE.html");
        }
        let page_file = PageFile::at(self.output.clone());
        let inputs = [Some(&self.model), self.other.as_ref()]
            .into_iter()
            .flatten();
        if !is_stdout {
            page_file.check(inputs.map(PathBuf::as_path))?;
        }
        let results = caught(&self.model, || {
            Ok(self.make(if is_stdout { None } else { Some(&page_file) }))
        });
        let results = results.unwrap_or_else(|error| PageResults {
            errors: vec![error],
            ..PageResults::default()
        });
        let PageResults {
            sketch,
            folded,
            linted,
            compared,
            errors,
        } = &results;
        let results = Results {
            fold: Some(folded.as_slice()).filter(|models| !models.is_empty()),
            lint: linted.as_ref(),
            diff: compared.as_ref(),
            ..Results::default()
        };
        let page = Page {
            command: "report",
            sketches: sketch.iter().collect(),
            results,
        };
        let document = match self.format {
            PageFormat::Html => report::page_html(&page, errors),
            PageFormat::Json => report::page_json(&page, errors),
        };
        match (is_stdout, sketch) {
            (true, Some(_)) => print(document)?,
            (true, None) if self.format == PageFormat::Json => print(document)?,
            (false, Some(_)) => write_page(&document, &self.output, messages)?,
            // Without a model there is nothing to show.
            (_, None) => {}
        }
        print_errors(errors);
        Ok(if errors.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(2)
        })
    }

    fn make(&self, page: Option<&PageFile>) -> PageResults {
        let open = |path: &PathBuf| {
            let model = files::open_model(path, &self.folders)?;
            if let Some(page) = page {
                page.check_data(path, &model)?;
            }
            Ok(model)
        };
        let opened = [Some(&self.model), self.other.as_ref()]
            .map(|path| path.map(|path| caught(path, || open(path))).transpose());
        match opened {
            [Ok(Some(model)), Ok(None)] => self.about_one(&model),
            [Ok(Some(left)), Ok(Some(right))] => self.about_two(&left, &right),
            opened => PageResults {
                errors: opened
                    .into_iter()
                    .filter_map(Result::err)
                    .map(with_remedy)
                    .collect(),
                ..PageResults::default()
            },
        }
    }

    /// The page about a model: what it is, what folding would do, and what is wrong.
    fn about_one(&self, model: &Model) -> PageResults {
        let path = self.model.display().to_string();
        let mut results = PageResults {
            errors: model.inspect().1,
            ..PageResults::default()
        };
        let (mut about, mut folds) = (Vec::new(), Vec::new());
        match model.lint(&LintOptions::default()) {
            Ok(findings) => {
                about.extend(About::found(&findings));
                results.linted = Some(LintRun {
                    findings,
                    models: vec![path.clone()],
                    ..LintRun::default()
                });
            }
            Err(error) => results.errors.push(error),
        }
        let mut changed = model.clone();
        match changed.fold(&FoldOptions::default()) {
            Ok(report) => {
                folds = About::folded(&report);
                let lengths = Lengths {
                    bytes_in: model.encoded_len(),
                    bytes_out: changed.encoded_len(),
                };
                let before = inspect::counts(model, lengths.bytes_in);
                let after = inspect::counts(&changed, lengths.bytes_out);
                let redundant = redundant_casts::left_by(passes::DEFAULT, &changed);
                let changes = Folding::new(Prepared::default(), report, redundant);
                let folded =
                    FoldedModel::unwritten(path.clone(), true, changes, Vec::new(), before);
                results.folded.push(FoldedModel {
                    lengths: Some(lengths),
                    after: Some(after),
                    ..folded
                });
            }
            Err(error) => results.errors.push(error),
        }
        about = About::in_turn(vec![about, folds]);
        let after = (!results.folded.is_empty()).then_some(&changed);
        results.sketch = Some(Before::of(path, model, 1).sketch(&about, after));
        let mut seen = HashSet::new();
        results
            .errors
            .retain(|error| seen.insert(error.to_string()));
        results
    }

    /// The page about two models: their differences.
    fn about_two(&self, left: &Model, right: &Model) -> PageResults {
        let (differences, errors) = match diff(left, right) {
            Ok(Comparison {
                differences,
                errors,
            }) => (differences, errors.into_iter().map(with_remedy).collect()),
            Err(error) => (Vec::new(), vec![with_remedy(error)]),
        };
        let about = About::compared(&differences);
        let [left_name, right_name] = [Some(&self.model), self.other.as_ref()]
            .map(|path| path.map_or_else(String::new, |path| path.display().to_string()));
        PageResults {
            sketch: Some(Before::of(left_name.clone(), left, 1).sketch(&about, Some(right))),
            compared: Some(ComparedModels {
                left: left_name,
                right: right_name,
                differences,
            }),
            errors,
            ..PageResults::default()
        }
    }
}
