//! Whatever repeats in a model, the work and the output of each command stay in proportion to its
//! size.
//!
//! Work is counted, not timed: the allocations of a command on a model, and on one of the same kind
//! in which what repeats is there four times as often. The counts are those of a process of its
//! own, in which this binary runs the command. What grows without allocations shows at a larger
//! size, at which it takes hours, and at which a function that calls itself for every node has no
//! stack left.

mod models;
#[path = "../suite/wire_tree.rs"]
#[allow(dead_code, reason = "the suite uses the rest")]
mod wire_tree;

use std::alloc::System;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tempfile::TempDir;
use wire_tree::{Node, Tree};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The first argument of a process that counts; then the file for the counts, and the arguments of
/// the command.
const COUNT: &str = "--count";

/// How often what repeats is there: in the models whose counts are compared, and in the one that
/// every command has to finish.
const FEW: usize = 100;
const MORE: usize = 4 * FEW;
const MANY: usize = 20_000;

/// Four times as many allocations, and as many again for what grows with the logarithm.
const MOST_ALLOCATIONS: f64 = 5.0;

/// The bytes that a command allocates for each byte that a model has more.
const MOST_BYTES: f64 = 4_000.0;

/// Models that differ by fewer bytes than that count as models that differ by as many: one model is
/// of the same size for any number.
const SMALLEST_DIFFERENCE: u64 = 4_096;

/// The model whose casts each compute a megabyte: the exact passes compute more the more casts it
/// has, up to the limit of results per constant, which they reach at this number of casts in all
/// rounds.
const LARGE_CONSTANT: &str =
    "a chain of casts of a large constant, each of which has to be looked at";
const CASTS_UP_TO_THE_LIMIT: usize = 700;

/// Beside some times the model, so many bytes may be written.
const LARGEST_OUTPUT: u64 = 1 << 27;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, first, file, command @ ..] = arguments.as_slice()
        && first == COUNT
    {
        return count(file.as_ref(), command);
    }
    let names: Vec<&str> = models::models(1)
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    let of_each = |kind: &'static str, test: fn(usize) -> Vec<String>| {
        names
            .clone()
            .into_iter()
            .enumerate()
            .map(move |(index, name)| {
                Trial::test(format!("{kind}: {name}"), move || failed(test(index)))
            })
    };
    let mut trials: Vec<Trial> = of_each("allocations", compare_allocations)
        .chain(of_each("all commands", run_all))
        .collect();
    trials.push(Trial::test(
        "casts of a large constant are computed up to a limit",
        || failed(compute_up_to_a_limit()),
    ));
    trials.push(Trial::test(
        "a file that is little but messages is refused",
        || failed(refuse_a_bomb()),
    ));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn failed(failures: Vec<String>) -> Result<(), Failed> {
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}

/// Runs a command in this process, and writes its allocations, their bytes, and its exit code.
fn count(file: &Path, command: &[OsString]) -> ExitCode {
    let before = ALLOCATOR.stats();
    let code = u8::from(onnx_recast::front_ends::main_with(command.iter().cloned()));
    let stats = ALLOCATOR.stats() - before;
    let bytes = stats.bytes_allocated + stats.bytes_reallocated.unsigned_abs();
    fs::write(
        file,
        format!("{} {bytes} {code}", stats.allocations + stats.reallocations),
    )
    .expect("the counts are written");
    ExitCode::SUCCESS
}

/// A model in a folder of its own, and the same with other operators in place of all casts.
struct Place {
    folder: TempDir,
    bytes: u64,
    converts: bool,
}

impl Place {
    fn new(model: usize, many: usize) -> Place {
        let (_, bytes, converts) = models::models(many).swap_remove(model);
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            folder,
            bytes: bytes.len() as u64,
            converts,
        };
        fs::write(place.path("in.onnx"), &bytes).unwrap();
        fs::write(place.path("other.onnx"), differing(bytes)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The commands, in the folder. The last one changes the model.
    fn commands(&self) -> Vec<&'static str> {
        let mut commands = vec![
            "fold in.onnx -o out.onnx --no-verify",
            "fold in.onnx -o out.onnx --passes exact --no-verify",
            "fold in.onnx -o out.onnx --passes exact",
            "lint in.onnx --select ALL --exit-zero",
            "inspect in.onnx",
            "diff in.onnx other.onnx",
        ];
        if self.converts {
            commands.extend([
                "convert in.onnx --opset 22 -o out.onnx --no-verify",
                "convert in.onnx --opset 22 -o out.onnx",
            ]);
        }
        commands.push("lint in.onnx --select ALL --fix --unsafe-fixes --exit-zero --no-verify");
        commands
    }

    /// The allocations of a command, and their bytes. One thread works, so that they do not depend
    /// on the machine.
    fn counts(&self, command: &str) -> Result<[f64; 2], String> {
        let mut counting = Command::new(std::env::current_exe().unwrap());
        counting
            .args([COUNT, "counts.txt", "recast"])
            .args(command.split(' '))
            .current_dir(self.folder.path());
        counting.env("RAYON_NUM_THREADS", "1").stdout(Stdio::null());
        let output = counting.output().unwrap();
        let counts = fs::read_to_string(self.path("counts.txt")).unwrap_or_default();
        match counts.split(' ').collect::<Vec<_>>().as_slice() {
            [allocations, bytes, code] if is_done(command, code.parse().ok(), &output.stderr) => {
                Ok([allocations, bytes].map(|count| count.parse().unwrap()))
            }
            _ => Err(format!(
                "{command}: {}, {counts}, {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }
}

/// Whether a command has done all that it has to do. Verification refuses models with names that
/// are not defined after it has read all of them.
fn is_done(command: &str, code: Option<i32>, stderr: &[u8]) -> bool {
    let message = String::from_utf8_lossy(stderr);
    match code {
        Some(0) => true,
        Some(1) => command.starts_with("diff"),
        _ => verifies(command) && message.contains("is not defined"),
    }
}

/// Whether a command verifies what it writes.
fn verifies(command: &str) -> bool {
    command.contains(" -o ") && !command.contains("--no-verify")
}

/// The same model with other operators in place of all casts.
fn differing(mut bytes: Vec<u8>) -> Vec<u8> {
    for at in 0..bytes.len().saturating_sub(4) {
        if bytes[at..].starts_with(b"\x04Cast") {
            bytes[at + 1..at + 5].copy_from_slice(b"Tsac");
        }
    }
    bytes
}

/// Allocations in proportion to the model, and their bytes in proportion to what it has more than
/// the smaller one.
fn compare_allocations(model: usize) -> Vec<String> {
    let [few, more] = [FEW, MORE].map(|many| Place::new(model, many));
    let mut failures = Vec::new();
    let is_large = models::models(1)[model].0 == LARGE_CONSTANT;
    for command in few
        .commands()
        .into_iter()
        .filter(|command| !(is_large && command.contains("--passes exact")))
    {
        match (few.counts(command), more.counts(command)) {
            (Ok([allocations, bytes]), Ok([more_allocations, more_bytes])) => {
                let times = more_allocations / allocations;
                let each =
                    (more_bytes - bytes) / (more.bytes - few.bytes).max(SMALLEST_DIFFERENCE) as f64;
                if times > MOST_ALLOCATIONS {
                    failures
                        .push(format!("{command}: {allocations} allocations become {more_allocations}, {times:.1} times as many"));
                }
                if each > MOST_BYTES {
                    failures.push(format!(
                        "{command}: {each:.0} bytes are allocated for each byte of the model"
                    ));
                }
            }
            (few, more) => failures.extend([few, more].into_iter().filter_map(Result::err)),
        }
    }
    failures
}

/// Runs all commands on a large model.
fn run_all(model: usize) -> Vec<String> {
    let place = Place::new(model, MANY);
    let mut failures = Vec::new();
    // Of the exact passes and of verification, only the allocations are compared.
    for command in place
        .commands()
        .into_iter()
        .filter(|command| !command.contains("--passes exact") && !verifies(command))
    {
        let mut recast = Command::new(env!("CARGO_BIN_EXE_recast"));
        let run = recast
            .args(command.split(' '))
            .current_dir(place.folder.path())
            .output()
            .unwrap();
        // What a command prints is in proportion too.
        if !is_done(command, run.status.code(), &run.stderr) || run.stdout.len() > 1 << 28 {
            let message = String::from_utf8_lossy(&run.stderr);
            failures.push(format!(
                "{command}: {:?}, prints {} bytes; {message}",
                run.status,
                run.stdout.len()
            ));
        }
    }
    let written = fs::metadata(place.path("out.onnx")).map_or(0, |file| file.len());
    if written > LARGEST_OUTPUT + 16 * place.bytes {
        failures.push(format!("{written} bytes are written"));
    }
    failures
}

/// The exact passes allocate no more for four times as many casts of a large constant.
fn compute_up_to_a_limit() -> Vec<String> {
    let model = models::models(1)
        .iter()
        .position(|(name, ..)| *name == LARGE_CONSTANT)
        .expect("the model is listed");
    let places =
        [CASTS_UP_TO_THE_LIMIT, 4 * CASTS_UP_TO_THE_LIMIT].map(|many| Place::new(model, many));
    match places
        .each_ref()
        .map(|place| place.counts("fold in.onnx -o out.onnx --passes exact"))
    {
        [Ok([_, few]), Ok([_, more])] if more <= 1.1 * few => Vec::new(),
        counts => vec![format!("{counts:?}")],
    }
}

fn refuse_a_bomb() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let empty_nodes = [0x0a, 0x00].repeat(3_000_000);
    fs::write(
        folder.path().join("bomb.onnx"),
        Tree(vec![(7, Node::Bytes(empty_nodes))]).write(),
    )
    .unwrap();
    let mut recast = Command::new(env!("CARGO_BIN_EXE_recast"));
    let run = recast
        .args(["fold", "bomb.onnx", "-o", "out.onnx"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&run.stderr);
    let parts = ["bomb.onnx: `graph.node[", " at byte ", "MiB of memory"];
    if run.status.code() != Some(2) || parts.iter().any(|part| !message.contains(part)) {
        return vec![format!("{:?}: {message}", run.status)];
    }
    let files = fs::read_dir(folder.path()).unwrap().count();
    if files == 1 {
        Vec::new()
    } else {
        vec![format!("{files} files are left")]
    }
}
