//! `recast inspect`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::{EXIT_CODES, Messages, files, print, print_with, progress};
use crate::inspect::inspect;
use crate::report::{self, InspectedModel};

/// Show opsets, operators, casts, initializers and functions of a model
///
/// Reads the graph, not the weights.
#[derive(Args)]
#[command(after_help = format!("Examples:
  recast inspect model.onnx
  recast inspect model.onnx --format json | jq '.casts[] | select(.constant)'
  recast inspect model.onnx --format dot | dot -Tsvg > model.svg

{EXIT_CODES}
The JSON document holds the keys of the model itself if there is one, and a list `models` if there are several."))]
pub struct Inspect {
    /// The models; `-` is standard input
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// What is printed
    #[arg(long, default_value = "text")]
    format: InspectFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InspectFormat {
    /// For people
    Text,
    /// For scripts: one document a run, with a version
    Json,
    /// A picture of the graph, for Graphviz
    Dot,
}

impl Inspect {
    pub fn run(self, messages: Messages) -> anyhow::Result<ExitCode> {
        let mut inspected = Vec::new();
        let mut dots = String::new();
        progress::of_models(messages, self.models.len(), |done| {
            for path in &self.models {
                let (input, model) = files::open_model(path, &files::DataFolders::default())?;
                if self.format == InspectFormat::Dot {
                    dots.push_str(&model.to_dot());
                } else {
                    let inspection = inspect(&model).with_context(|| input.name.clone())?;
                    inspected.push(InspectedModel { path: input.name, inspection });
                }
                done.count();
            }
            anyhow::Ok(())
        })?;
        let text = match (self.format, inspected.as_slice()) {
            (InspectFormat::Dot, _) => dots,
            (InspectFormat::Json, [one]) => return Ok(print_with(|out| report::write_json(one, out)).map(|()| ExitCode::SUCCESS)?),
            (InspectFormat::Json, models) => {
                return Ok(print_with(|out| report::write_json(&report::Models { models }, out)).map(|()| ExitCode::SUCCESS)?);
            }
            (InspectFormat::Text, _) if messages.quiet => String::new(),
            (InspectFormat::Text, all) => all.iter().map(report::inspect_text).collect(),
        };
        print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}
