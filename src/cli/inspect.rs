//! `recast inspect`

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::exit_code::ExitCode;
use super::failures::caught;
use super::options::{EXIT_CODES, Messages};
use super::streams::{print, print_errors};
use super::{files, paths, progress};
use crate::Error;
use crate::base::printable::Shown;
use crate::report::{self, InspectedModel};

/// Show the inputs, outputs, opsets, operators and casts of a model
///
/// Also shows initializers and functions. Weights are not read. Casts are counted by type;
/// --verbose lists each cast.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast inspect model.onnx
  recast inspect model.onnx --format json | jq '.casts[] | select(.constant)'
  recast inspect model.onnx --format dot | dot -Tsvg > model.svg

{EXIT_CODES}
With one model, its keys are at the top level of the JSON document; with several, they are in a list `models`."))]
pub struct Inspect {
    /// Models or quoted glob patterns; `-` reads standard input
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Also list the type and shape of every value, declared or inferred. Wrong declarations are
    /// listed, too
    #[arg(long)]
    types: bool,
    /// The output format
    #[arg(long, default_value = "text")]
    pub(super) format: InspectFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InspectFormat {
    /// Human-readable text
    Text,
    /// One versioned JSON document per run
    Json,
    /// The graph in the DOT language of Graphviz
    Dot,
}

/// The part of a model that is shown, or was.
enum Inspected {
    /// The graph, while it was made.
    Printed(io::Result<()>),
    /// A summary, and what is invalid.
    Model(Box<InspectedModel>, Vec<Error>),
}

impl Inspect {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let (models, mut errors) = paths::expand_patterns(&self.models);
        let mut inspected = Vec::new();
        // The graph is printed while it is made: a progress bar must not appear between its lines.
        let is_dot = self.format == InspectFormat::Dot;
        let messages = Messages {
            quiet: messages.quiet || is_dot,
            ..messages
        };
        progress::of_models(
            messages,
            "reading",
            models.len(),
            |done| -> io::Result<()> {
                for path in &models {
                    match caught(path, || self.inspect(path)) {
                        Ok(Inspected::Printed(printed)) => printed?,
                        Ok(Inspected::Model(model, invalid)) => {
                            errors.extend(invalid);
                            inspected.push(*model);
                        }
                        Err(error) => errors.push(error),
                    }
                    done.count();
                }
                Ok(())
            },
        )?;
        match self.format {
            InspectFormat::Dot => {}
            InspectFormat::Json => print(match (self.models.len(), inspected.as_slice()) {
                (1, [one]) => report::json(one, &errors),
                (_, all) => report::models_json(all, &errors),
            })?,
            InspectFormat::Text if messages.quiet => {}
            InspectFormat::Text => {
                print(
                    inspected
                        .iter()
                        .map(|model| report::inspect_text(model, messages.verbose))
                        .collect::<Shown>(),
                )?;
            }
        }
        print_errors(&errors);
        Ok(if errors.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(2)
        })
    }

    fn inspect(&self, path: &Path) -> Result<Inspected, Error> {
        let model = files::open_model(path, &files::DataFolders::default())?;
        if self.format == InspectFormat::Dot {
            return Ok(Inspected::Printed(print(model.dot())));
        }
        let (inspection, invalid) = model.inspect();
        let types = self.types.then(|| model.types());
        Ok(Inspected::Model(
            Box::new(InspectedModel {
                path: path.display().to_string(),
                inspection,
                types,
            }),
            invalid,
        ))
    }
}
