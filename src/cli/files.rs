//! Which files a command reads, and where it writes.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;

use super::{Messages, memory, not_a_model, progress, streams};
use crate::error::{ErrorKind, Invalid};
use crate::external::{self, OldFiles, Placement, Plan, Unplaceable};
use crate::formats;
use crate::graph::Model;
use crate::report::Failure;
use crate::shown::Printed;
use crate::wire::{self, DataFolder, Input, Progress, Target, folder_of};

/// Where the results go.
#[derive(Args, Clone)]
#[group(id = "destination", multiple = false)]
pub struct Output {
    /// Write to this file; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write into this folder, under the names of the inputs
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Replace the inputs
    #[arg(long)]
    in_place: bool,
}

impl Output {
    /// Whether models go to standard output, which leaves no room there for a report.
    pub fn is_stdout(&self) -> bool {
        self.output.as_deref().is_some_and(|output| output == Path::new("-") || wire::is_standard_output(output))
    }

    fn is_given(&self) -> bool {
        self.output.is_some() || self.out_dir.is_some() || self.in_place
    }

    /// The target of each input; in a dry run there may be none.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same.
    pub fn targets_unless(&self, dry_run: bool, inputs: &[PathBuf]) -> anyhow::Result<Vec<Option<Target>>> {
        match (dry_run, self.is_given()) {
            (true, false) => Ok(vec![None; inputs.len()]),
            (true, true) => Ok(self.targets(true, inputs)?.into_iter().map(Some).collect()),
            (false, _) => {
                if let Some(folder) = &self.out_dir {
                    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
                }
                Ok(self.targets(false, inputs)?.into_iter().map(Some).collect())
            }
        }
    }

    /// The target of each input.
    ///
    /// # Errors
    /// Where an input has none, or two inputs have the same.
    fn targets(&self, dry_run: bool, inputs: &[PathBuf]) -> anyhow::Result<Vec<Target>> {
        if !self.is_given() {
            bail!("no output given; use -o FILE, --out-dir DIR or --in-place (or --dry-run)");
        }
        if self.output.is_some() && inputs.len() > 1 {
            bail!("-o takes one model, but {} were given; use --out-dir DIR or --in-place", inputs.len());
        }
        let targets = inputs.iter().map(|input| self.target(input)).collect::<anyhow::Result<Vec<Target>>>()?;
        let files =
            || targets.iter().filter_map(|target| if let Target::File(path) = target { Some(path.as_path()) } else { None });
        if self.output.is_some() {
            files().try_for_each(check_target)?;
        }
        if !dry_run {
            // Before the targets are looked at, since a temporary file may be a second name of a target.
            tidy(files())?;
        }
        let mut seen = HashSet::new();
        for path in files() {
            if !seen.insert(wire::identity(path)) {
                bail!("two models would be written to {}; write them to different folders", path.display());
            }
            wire::check_replaceable(path).with_context(|| path.display().to_string())?;
        }
        Ok(targets)
    }

    fn target(&self, input: &Path) -> anyhow::Result<Target> {
        let is_text = not_a_model::is_text_model(input);
        match (&self.output, &self.out_dir) {
            _ if self.is_stdout() => Ok(Target::Stdout),
            (Some(output), _) => Ok(Target::File(output.clone())),
            _ if is_stdin(input) => bail!("a model from standard input has no file name; use -o FILE"),
            (None, Some(folder)) => {
                let name = input.file_name().with_context(|| format!("{}: has no file name", input.display()))?;
                let path = folder.join(name);
                Ok(Target::File(if is_text { path.with_extension("onnx") } else { path }))
            }
            (None, None) if is_text => {
                bail!("{}: is ONNX text, but models are written in binary form; use -o FILE.onnx", input.display())
            }
            (None, None) => Ok(Target::File(input.to_owned())),
        }
    }
}

/// Checks before any work that a file can be written to this path.
///
/// # Errors
/// Where it is a folder, its folder does not exist, or its name is that of ONNX text.
pub fn check_target(path: &Path) -> anyhow::Result<()> {
    let name = path.display();
    if path.is_dir() {
        bail!("{name}: is a folder, not a file; name a file in it");
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        let folder = folder.display();
        match folder_of(path).exists() {
            true => bail!("{name}: {folder} is a file, not a folder"),
            false => bail!("{name}: the folder {folder} does not exist; create it first"),
        }
    }
    if not_a_model::is_text_model(path) {
        bail!("{name}: models are written in binary form; use a name that ends in .onnx");
    }
    Ok(())
}

/// Removes the temporary files of interrupted runs from the folders of some outputs, and names them on standard error.
pub fn tidy<'p>(outputs: impl Iterator<Item = &'p Path>) -> anyhow::Result<()> {
    let folders: BTreeSet<PathBuf> = outputs.map(wire::folder_of).collect();
    for folder in folders {
        for path in wire::tidy(&folder).with_context(|| folder.display().to_string())? {
            streams::say(streams::message(format_args!("{}: removed a temporary file of an interrupted run", path.display())));
        }
    }
    Ok(())
}

/// Where the values of large tensors go.
#[derive(Args, Clone)]
pub struct ExternalData {
    /// Where the values of tensors go: `keep` leaves them where they are, `inline` puts them into the model file; FILE, a path relative
    /// to the output's folder, takes those of all large initializers. A model of more than 2 GiB gets a data file in any case
    #[arg(long, value_name = "keep|inline|FILE", default_value = "keep", value_parser = parse_placement)]
    external_data: Placement,
    /// Tensors smaller than this are not moved to a data file; K, M, G are powers of 1024
    #[arg(long, value_name = "BYTES", default_value = "1K", value_parser = parse_bytes)]
    external_threshold: u64,
    #[command(flatten)]
    prune: PruneData,
    #[command(flatten)]
    pub folders: DataFolders,
}

/// What becomes of data files that a model no longer uses.
#[derive(Args, Clone, Copy, Default)]
pub struct PruneData {
    /// Remove data files that a replaced model no longer uses and that are its own alone; without it they stay and are listed
    #[arg(long)]
    pub prune_data: bool,
}

/// Where data files may be.
#[derive(Args, Clone, Default)]
pub struct DataFolders {
    /// Read data files from this folder too; without it only from the model's own
    #[arg(long, value_name = "DIR")]
    allow_data_dir: Vec<PathBuf>,
}

impl ExternalData {
    /// Decides what is written where. Every command that writes models does so through this plan.
    pub fn plan(&self, model: Model, input: &Path, target: &Target) -> Result<Plan, Unplaceable> {
        let options = external::Options {
            placement: self.external_data.clone(),
            threshold: self.external_threshold,
            prune_data: self.prune.prune_data,
        };
        Plan::new(model, input, target, &options)
    }
}

/// Writes models one after the other, until one cannot be written; with `dry_run` none. Returns for each what became, or would become,
/// of the data files that it no longer uses, and the error of the first that was not written.
pub fn write_all(plans: Vec<Plan>, dry_run: bool, messages: Messages) -> (Vec<OldFiles>, Option<Failure>) {
    let mut seen = HashSet::new();
    for path in plans.iter().flat_map(Plan::files) {
        if !seen.insert(wire::identity(path)) {
            let message = "two models would write this file; give them different data files";
            return (Vec::new(), Some(Failure::of_file(path.display().to_string(), ErrorKind::Usage, message)));
        }
    }
    for (index, plan) in plans.iter().enumerate() {
        let mut others = plans.iter().enumerate().filter(|(other, _)| *other != index);
        if let Some((_, other)) = others.find(|(_, other)| plan.is_over_data_of(other)) {
            let other = target_name(other.target());
            let message = format!("the model that is written to {other} keeps tensors in this file; use another output");
            return (Vec::new(), Some(Failure::of_file(target_name(plan.target()), ErrorKind::BadOutput, message)));
        }
    }
    if dry_run {
        return (plans.into_iter().map(Plan::preview).collect(), None);
    }
    let files: Vec<Progress> = plans.iter().flat_map(Plan::progress).collect();
    progress::of_files(messages, &files, || {
        let mut written = Vec::new();
        for plan in plans {
            let name = target_name(plan.target());
            match plan.write() {
                Ok(old) => written.push(old),
                Err(error) => return (written, Some(not_written(&name, &error))),
            }
        }
        (written, None)
    })
}

/// The error of a model that cannot be written as requested, with the option that helps.
pub fn not_placed(path: &str, error: &Unplaceable) -> Failure {
    let remedy = match error {
        Unplaceable::Stream => "use --external-data inline, or -o FILE",
        Unplaceable::FileOfStream => "use -o FILE",
        Unplaceable::TooLarge(_) => "use -o FILE --external-data DATA_FILE",
        Unplaceable::UnsafeCopy { .. } => "use --external-data inline or FILE",
        Unplaceable::BadName(_) | Unplaceable::SameFile(_) | Unplaceable::OverModel(_) | Unplaceable::InUse { .. } => {
            "use another name for --external-data"
        }
        Unplaceable::OverData(_) => "use another output",
        Unplaceable::Tensor { .. } | Unplaceable::Output(_) | Unplaceable::Refused(_) => return Failure::new(path, error),
    };
    let failure = Failure::new(path, error);
    Failure { message: format!("{}; {remedy}", failure.message), ..failure }
}

/// The error of a target.
pub fn not_written(target: &str, error: &io::Error) -> Failure {
    match (target, error.kind()) {
        ("-", io::ErrorKind::BrokenPipe) => {
            Failure::of_file("-", ErrorKind::Io, "the reader of standard output closed it before all bytes were written")
        }
        _ => {
            // An error of one of several files has the path of that file.
            let failure = Failure::new(target, error);
            let message = failure.message.strip_prefix(&format!("{target}: ")).unwrap_or(&failure.message).to_owned();
            Failure { message, ..failure }
        }
    }
}

/// A run on models of which all are written or none.
pub struct Together<R> {
    /// The reports of the models that could be read.
    pub reports: Vec<R>,
    /// The plan of each report.
    pub plans: Vec<Option<Plan>>,
    /// The errors of the others.
    pub errors: Vec<Failure>,
}

/// Does something with each model, whatever happens to the others.
pub fn each<R>(
    messages: Messages,
    models: &[PathBuf],
    targets: Vec<Option<Target>>,
    work: impl Fn(&Path, Option<Target>) -> Result<(R, Option<Plan>), Failure>,
) -> Together<R> {
    let mut all = Together { reports: Vec::new(), plans: Vec::new(), errors: Vec::new() };
    progress::of_models(messages, models.len(), |done| {
        for (path, target) in models.iter().zip(targets) {
            match work(path, target) {
                Ok((report, plan)) => {
                    all.reports.push(report);
                    all.plans.push(plan);
                }
                Err(failure) => all.errors.push(failure),
            }
            done.count();
        }
    });
    all
}

fn parse_placement(text: &str) -> Result<Placement, String> {
    match text {
        "" => Err("give keep, inline or a path".to_owned()),
        "keep" => Ok(Placement::Keep),
        "inline" => Ok(Placement::Inline),
        file => Ok(Placement::File(file.to_owned())),
    }
}

/// Reads `4096`, `64K`, `512M`, `2G`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(['K', 'M', 'G', 'k', 'm', 'g']);
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" | "k" => 10,
        "M" | "m" => 20,
        "G" | "g" => 30,
        _ => return Err("not a number of bytes; examples: 4096, 64K, 512M, 2G".to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| "not a number of bytes; examples: 4096, 64K, 512M, 2G".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more bytes than 64 bits can count".to_owned())
}

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// How a report names a target.
pub fn target_name(target: &Target) -> String {
    match target {
        Target::Stdout => "-".to_owned(),
        Target::File(path) => path.display().to_string(),
    }
}

/// Opens a model; `-` is standard input.
pub fn open_model(path: &Path, folders: &DataFolders) -> Result<(Input, Model), Failure> {
    let (input, model, faults) = open_model_for_reading(path, folders)?;
    match faults.first() {
        Some(fault) => Err(Failure::new(input.name, fault)),
        None => Ok((input, model)),
    }
}

/// Opens a model that is not changed; tensors that contradict themselves are listed beside it.
pub fn open_model_for_reading(path: &Path, folders: &DataFolders) -> Result<(Input, Model, Vec<Invalid>), Failure> {
    let name = path.display().to_string();
    memory::set_last_words(Some(&name));
    let (mut input, data) = open_with_data(path, folders)?;
    let proto = match formats::read_model(&input.bytes) {
        Err(_) if not_a_model::is_text(path, &input.bytes) => {
            let binary = not_a_model::to_binary(&input.bytes);
            input.bytes = binary.map_err(|error| Failure::of_file(&name, ErrorKind::NotAModel, format!("{error:#}")))?;
            formats::read_model(&input.bytes)
        }
        read => read.map_err(|error| not_a_model::explain(path, error)),
    };
    let proto = proto.map_err(|error| Failure::new(&name, &error))?;
    let (model, faults) = Model::for_reading(proto).map_err(|error| Failure::new(&name, &error))?;
    Ok((input, model.with_data(data), faults))
}

/// Opens a file and the folders that its data files may be in; `-` is standard input, beside which there are none.
pub fn open_with_data(path: &Path, folders: &DataFolders) -> Result<(Input, DataFolder), Failure> {
    let opened = match is_stdin(path) {
        true => wire::read_stdin().map(|input| (input, DataFolder::default())),
        false => wire::open_with_data(path),
    };
    let name = || path.display().to_string();
    let (input, mut data) = opened.map_err(|error| Failure::new(name(), &not_a_model::explain_open(path, error)))?;
    for folder in &folders.allow_data_dir {
        let allowed = data.allow(folder);
        allowed.map_err(|error| {
            Failure::of_file(name(), ErrorKind::Usage, format!("--allow-data-dir {}: {error}", folder.display()))
        })?;
    }
    Ok((input, data))
}

/// Prints the report of a run that writes models, and its errors: to standard output, unless models go there. The exit code is that
/// of a run with these errors.
pub fn print_report(report: Option<Printed>, errors: &[Failure], output: &Output) -> io::Result<ExitCode> {
    let is_document = matches!(report, Some(Printed::Document(_)));
    match report {
        Some(report) if output.is_stdout() => streams::say(report),
        Some(report) => streams::print(report)?,
        None => {}
    }
    // One document is all that a script finds in a stream.
    if !(is_document && output.is_stdout()) {
        streams::say_failures(errors);
    }
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) })
}
