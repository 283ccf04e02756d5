//! A run is killed before each system call of a save, and each of these calls fails, once or from
//! then on: there is the old model or the new one, each with its data. Two runs at once: each
//! interleaving of whole runs leaves models with their own values.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use onnx_recast::internals::tensor::{Reference, moved_to_file, moved_to_model};
use onnx_recast::proto::ModelProto;
use prost::Message;

use crate::crash::content;
use crate::support::{expect_no_failures, model};
use crate::traced::{Call, Ended, Traced};

const ELEMENTS: usize = 1024;

/// Two weights of 4 KiB, each cast to FLOAT16, whose values depend on a seed; and the bytes of its
/// data file, if it has one.
fn weights(seed: usize, data_file: Option<&str>) -> (Vec<u8>, Vec<u8>) {
    let mut model: ModelProto = model(&format!(
        "<ir_version: 10, opset_import: [\"\": 21]> g () => (float16[{ELEMENTS}] a, float16[{ELEMENTS}] b)
         <float[{ELEMENTS}] x = {{0}}, float[{ELEMENTS}] y = {{0}}> {{ a = Cast <to = 10> (x) b = Cast <to = 10> (y) }}"
    ));
    let mut data = Vec::new();
    for (index, tensor) in model
        .graph
        .as_mut()
        .unwrap()
        .initializer
        .iter_mut()
        .enumerate()
    {
        let bytes: Vec<u8> = (0..ELEMENTS)
            .flat_map(|element| ((element + index + 10 * seed) as f32).to_le_bytes())
            .collect();
        *tensor = match data_file {
            Some(name) => {
                let (location, offset, length) =
                    (name.to_owned(), data.len() as u64, Some(bytes.len() as u64));
                data.extend(&bytes);
                moved_to_file(
                    tensor,
                    &Reference {
                        location,
                        offset,
                        length,
                    },
                )
            }
            None => moved_to_model(tensor, bytes.into()),
        };
    }
    (model.encode_to_vec(), data)
}

type Content = Result<Vec<(String, Vec<u8>)>, String>;

/// What the file system can do.
#[derive(Clone, Copy, PartialEq)]
enum System {
    /// All that Linux has.
    Whole,
    /// No files without a name.
    Named,
    /// None of these, and no hard links.
    Plain,
}

impl System {
    /// The error of a call that it does not have.
    fn refuses(self, call: &Call) -> Option<i32> {
        match self {
            System::Named | System::Plain if call.makes_an_unnamed_file() => Some(libc::EOPNOTSUPP),
            System::Plain if matches!(call.name, "linkat" | "link") => Some(libc::EPERM),
            _ => None,
        }
    }
}

/// Files that are there, and a run that writes one model.
struct Case {
    name: &'static str,
    system: System,
    files: Vec<(&'static str, Vec<u8>)>,
    arguments: &'static [&'static str],
    output: &'static str,
}

fn cases() -> Vec<Case> {
    let (input, _) = weights(1, None);
    let (old, _) = weights(2, None);
    let (external, data) = weights(3, Some("w.bin"));
    let pair = [
        "fold",
        "in.onnx",
        "-o",
        "m.onnx",
        "--external-data",
        "w.bin",
    ]
    .as_slice();
    let case = |name, files, arguments, output| Case {
        name,
        system: System::Whole,
        files,
        arguments,
        output,
    };
    let replaced = || {
        vec![
            ("in.onnx", input.clone()),
            ("m.onnx", external.clone()),
            ("w.bin", data.clone()),
        ]
    };
    vec![
        Case {
            system: System::Named,
            ..case(
                "pair replaced, no unnamed files",
                replaced(),
                pair,
                "m.onnx",
            )
        },
        Case {
            system: System::Plain,
            ..case("pair replaced, no links", replaced(), pair, "m.onnx")
        },
        Case {
            system: System::Plain,
            ..case(
                "new pair, no links",
                vec![("in.onnx", input.clone())],
                pair,
                "m.onnx",
            )
        },
        case(
            "new model",
            vec![("in.onnx", input.clone())],
            &["fold", "in.onnx", "-o", "m.onnx"],
            "m.onnx",
        ),
        case(
            "model replaced",
            vec![("in.onnx", input.clone()), ("m.onnx", old.clone())],
            &["fold", "in.onnx", "-o", "m.onnx"],
            "m.onnx",
        ),
        case(
            "in place",
            vec![("m.onnx", old.clone())],
            &["fold", "m.onnx", "--in-place"],
            "m.onnx",
        ),
        case("new pair", vec![("in.onnx", input.clone())], pair, "m.onnx"),
        case(
            "model replaced by a pair",
            vec![("in.onnx", input.clone()), ("m.onnx", old.clone())],
            pair,
            "m.onnx",
        ),
        case(
            "unused file in the data file's place",
            vec![
                ("in.onnx", input.clone()),
                ("m.onnx", old),
                ("w.bin", b"unused".to_vec()),
            ],
            pair,
            "m.onnx",
        ),
        case(
            "pair replaced under the same names",
            replaced(),
            pair,
            "m.onnx",
        ),
        case(
            "pair in place",
            vec![("m.onnx", external.clone()), ("w.bin", data.clone())],
            &["fold", "m.onnx", "--in-place"],
            "m.onnx",
        ),
        case(
            "new pair with copied data",
            vec![
                ("in/m.onnx", external),
                ("in/w.bin", data),
                ("out/keep", Vec::new()),
            ],
            &["convert", "in/m.onnx", "--opset", "22", "-o", "out/m.onnx"],
            "out/m.onnx",
        ),
    ]
}

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Kill,
    /// It fails.
    Fail(i32),
    /// It fails, and so do all later calls of its kind: what was done cannot be undone.
    FailOn(i32),
    /// It gives a name to a file, as it says, and does nothing.
    Nothing,
}

const FAULTS: [Fault; 6] = [
    Fault::Kill,
    Fault::Fail(libc::EIO),
    Fault::Fail(libc::ENOSPC),
    Fault::Fail(libc::EACCES),
    Fault::FailOn(libc::EIO),
    Fault::Nothing,
];

impl Fault {
    /// Whether a call is a point of its own. Before a call that only looks, all is as before the
    /// next one that changes something.
    fn concerns(self, call: &Call) -> bool {
        match self {
            Fault::Nothing => call.names(),
            _ => !call.prints() && (call.changes() || matches!(self, Fault::Fail(libc::EIO))),
        }
    }
}

impl Case {
    fn set_up(&self, folder: &Path) {
        fs::remove_dir_all(folder).ok();
        for (name, bytes) in &self.files {
            fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
            fs::write(folder.join(name), bytes).unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
        // One thread: the calls come in the same order in every run.
        command
            .args(self.arguments)
            .current_dir(folder)
            .env("RAYON_NUM_THREADS", "1");
        command
    }

    fn content(&self, folder: &Path) -> Content {
        content(&folder.join(self.output))
    }

    /// Tries one kind of fault at every point; returns the number of points.
    fn try_points(&self, folder: &Path, fault: Fault, failures: &mut Vec<String>) -> usize {
        self.set_up(folder);
        let before = self.content(folder);
        let ended = self.command(folder).output().unwrap();
        assert!(
            ended.status.success(),
            "{}: {}",
            self.name,
            String::from_utf8_lossy(&ended.stderr)
        );
        let after = self.content(folder);
        assert!(after.is_ok() && before != after, "{}: {after:?}", self.name);
        let all_after = names(folder);
        for point in 0.. {
            self.set_up(folder);
            let Some((call, ended)) = self.run_with_fault(folder, fault, point) else {
                return point;
            };
            let place = || format!("{}, {fault:?} at call {point} ({}): ", self.name, call.name);
            let found = self.content(folder);
            let problem = match fault {
                Fault::Kill if found != before && found != after => {
                    Some(format!("{found:?} is left"))
                }
                Fault::Kill => self.problem_of_next_run(folder, &after),
                Fault::Nothing => {
                    let is_as_expected = match ended.status.code() {
                        Some(0) => found == after,
                        Some(2) => found == before && ended.stderr.lines().count() == 1,
                        _ => false,
                    };
                    (!is_as_expected)
                        .then(|| format!("{}, {}, {:?}", ended.status, ended.stderr, names(folder)))
                }
                Fault::Fail(errno) | Fault::FailOn(errno) => {
                    let is_flushing = matches!(call.name, "fsync" | "openat") && found == after;
                    let is_as_expected = match ended.status.code() {
                        Some(0) => found == after,
                        // The new files stay, and it is said that they may not last through a power
                        // failure.
                        Some(2)
                            if is_flushing
                                && ended.stderr.contains("may not survive a power failure") =>
                        {
                            let is_known = |name: &String| {
                                all_after.contains(name) || self.names().contains(name)
                            };
                            is_told(&ended, errno, call) && names(folder).iter().all(is_known)
                        }
                        Some(2) if fault == Fault::Fail(errno) => {
                            is_told(&ended, errno, call)
                                && found == before
                                && self.is_as_before(folder)
                        }
                        Some(2) => {
                            is_told(&ended, errno, call)
                                && found == before
                                && self.is_kept(folder, &ended)
                        }
                        _ => false,
                    };
                    (!is_as_expected)
                        .then(|| format!("{}, {}, {:?}", ended.status, ended.stderr, names(folder)))
                }
            };
            failures.extend(problem.map(|problem| place() + &problem));
        }
        unreachable!("a run has an end")
    }

    /// After a kill, no other user can read parts of files that replace private ones; the same run
    /// ends well, and removes and names what it finds.
    fn problem_of_next_run(&self, folder: &Path, after: &Content) -> Option<String> {
        let hidden = hidden(folder);
        let replaces = self.files.iter().any(|(name, _)| *name == self.output);
        let is_private = |name: &String| {
            fs::metadata(folder.join(name))
                .unwrap()
                .permissions()
                .mode()
                .trailing_zeros()
                >= 6
        };
        if let Some(name) = hidden.iter().find(|name| replaces && !is_private(name)) {
            return Some(format!("{name} can be read by others"));
        }
        let ended = self.command(folder).output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let found = self.content(folder);
        if !ended.status.success() || found != *after {
            return Some(format!(
                "the next run ends with {} and {stderr}",
                ended.status
            ));
        }
        let unnamed = hidden.iter().find(|name| !stderr.contains(name.as_str()));
        match (unnamed, self::hidden(folder).first()) {
            (Some(name), _) => Some(format!(
                "the next run does not say that it removes {name}: {stderr}"
            )),
            (_, Some(name)) => Some(format!("the next run leaves {name}")),
            _ => None,
        }
    }

    /// Whether there is all that was there before, and nothing else.
    fn is_as_before(&self, folder: &Path) -> bool {
        let is_there = |(name, bytes): &(&str, Vec<u8>)| {
            fs::read(folder.join(name)).is_ok_and(|found| found == *bytes)
        };
        names(folder) == self.names() && self.files.iter().all(is_there)
    }

    /// Whether all that was there before is there under some name, and the message names every file
    /// that was not there before.
    fn is_kept(&self, folder: &Path, ended: &Ended) -> bool {
        let names = names(folder);
        let is_there = |(_, bytes): &(&str, Vec<u8>)| {
            names
                .iter()
                .any(|name| fs::read(folder.join(name)).unwrap() == *bytes)
        };
        let is_named = |name: &String| self.names().contains(name) || ended.stderr.contains(name);
        self.files.iter().all(is_there) && names.iter().all(is_named)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .files
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs to the call of this number since the first file was made, and what happens there; none
    /// if there are fewer calls.
    fn run_with_fault(&self, folder: &Path, fault: Fault, point: usize) -> Option<(Call, Ended)> {
        let traced = Traced::spawn(self.command(folder));
        let mut calls = None;
        while let Some(call) = traced.next() {
            if calls.is_none() && call.makes_a_file() {
                calls = Some(0);
            }
            if let Some(errno) = self.system.refuses(&call) {
                traced.fail(call, errno);
                continue;
            }
            let is_counted = calls.is_some() && fault.concerns(&call);
            if is_counted && calls == Some(point) {
                return Some(match fault {
                    Fault::Kill => (call, traced.kill()),
                    Fault::Nothing => {
                        traced.give(call, 0);
                        (call, self.finish(traced, |_| None))
                    }
                    Fault::Fail(errno) => {
                        traced.fail(call, errno);
                        (call, self.finish(traced, |_| None))
                    }
                    Fault::FailOn(errno) => {
                        traced.fail(call, errno);
                        (
                            call,
                            self.finish(traced, |later| later.is_like(&call).then_some(errno)),
                        )
                    }
                });
            }
            if is_counted {
                calls = calls.map(|calls| calls + 1);
            }
            traced.allow(call);
        }
        traced.finish();
        None
    }

    fn finish(&self, traced: Traced, fault: impl Fn(&Call) -> Option<i32>) -> Ended {
        while let Some(call) = traced.next() {
            match self.system.refuses(&call).or_else(|| fault(&call)) {
                Some(errno) => traced.fail(call, errno),
                None => traced.allow(call),
            }
        }
        traced.finish()
    }
}

/// Whether an error is told on one line.
fn is_told(ended: &Ended, errno: i32, call: Call) -> bool {
    let reason = std::io::Error::from_raw_os_error(errno).to_string();
    // A model beside the output that cannot be read may use any data file.
    let is_named = ended.stderr.contains(&reason)
        || (!call.changes() && ended.stderr.contains("stores tensors in this file"));
    ended.stderr.starts_with("recast: ") && is_named && ended.stderr.lines().count() == 1
}

/// The paths of all files beneath a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            names.extend(
                self::names(&path)
                    .into_iter()
                    .map(|below| format!("{name}/{below}")),
            )
        } else {
            names.push(name.to_owned())
        }
    }
    names.sort();
    names
}

fn hidden(folder: &Path) -> Vec<String> {
    let is_hidden = |path: &String| {
        path.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with('.'))
    };
    names(folder).into_iter().filter(is_hidden).collect()
}

#[test]
fn a_fault_at_any_system_call_of_a_save_leaves_the_old_model_or_the_new_one() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let cases = cases();
    let tasks: Vec<(&Case, Fault)> = cases
        .iter()
        .flat_map(|case| FAULTS.map(|fault| (case, fault)))
        .collect();
    let (next, failures, points) = (
        AtomicUsize::new(0),
        Mutex::new(Vec::new()),
        Mutex::new(Vec::new()),
    );
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let (tasks, next, failures, points) = (&tasks, &next, &failures, &points);
            let folder = place.path().join(worker.to_string());
            scope.spawn(move || {
                let task = || tasks.get(next.fetch_add(1, Ordering::Relaxed));
                while let Some((case, fault)) = task() {
                    let mut found = Vec::new();
                    let count = case.try_points(&folder, *fault, &mut found);
                    points.lock().unwrap().push((case.name, *fault, count));
                    failures.lock().unwrap().extend(found);
                }
            });
        }
    });
    let points = points.into_inner().unwrap();
    for case in &cases {
        let counts: Vec<_> = points
            .iter()
            .filter(|(name, ..)| *name == case.name)
            .map(|(_, fault, count)| (*fault, *count))
            .collect();
        println!("{}: {counts:?} points", case.name);
        let least = |fault| if fault == Fault::Nothing { 1 } else { 5 };
        assert!(
            counts.iter().all(|&(fault, count)| count >= least(fault)),
            "{}: {counts:?}",
            case.name
        );
    }
    println!(
        "{} points tried",
        points.iter().map(|(.., count)| count).sum::<usize>()
    );
    expect_no_failures(failures.into_inner().unwrap());
}

/// Files that are there, and two runs.
struct Race {
    name: &'static str,
    runs: [&'static [&'static str]; 2],
    outputs: [&'static str; 2],
}

const RACES: [Race; 4] = [
    Race {
        name: "one data file for two models",
        runs: [
            &["fold", "a.onnx", "-o", "x.onnx", "--external-data", "w.bin"],
            &["fold", "b.onnx", "-o", "y.onnx", "--external-data", "w.bin"],
        ],
        outputs: ["x.onnx", "y.onnx"],
    },
    Race {
        name: "one data file that is there, for two models",
        runs: [
            &[
                "fold",
                "a.onnx",
                "-o",
                "x.onnx",
                "--external-data",
                "old.bin",
            ],
            &[
                "fold",
                "b.onnx",
                "-o",
                "y.onnx",
                "--external-data",
                "old.bin",
            ],
        ],
        outputs: ["x.onnx", "y.onnx"],
    },
    Race {
        name: "one model and one data file",
        runs: [
            &["fold", "a.onnx", "-o", "x.onnx", "--external-data", "w.bin"],
            &["fold", "b.onnx", "-o", "x.onnx", "--external-data", "w.bin"],
        ],
        outputs: ["x.onnx", "x.onnx"],
    },
    Race {
        name: "one model in place",
        runs: [
            &["fold", "a.onnx", "--in-place", "--external-data", "w.bin"],
            &[
                "convert",
                "a.onnx",
                "--opset",
                "22",
                "--in-place",
                "--external-data",
                "w.bin",
            ],
        ],
        outputs: ["a.onnx", "a.onnx"],
    },
];

impl Race {
    fn set_up(&self, folder: &Path) {
        fs::remove_dir_all(folder).ok();
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("a.onnx"), weights(1, None).0).unwrap();
        fs::write(folder.join("b.onnx"), weights(2, None).0).unwrap();
        fs::write(folder.join("old.bin"), "unused").unwrap();
        let (model, data) = weights(3, Some("c.bin"));
        fs::write(folder.join("c.onnx"), model).unwrap();
        fs::write(folder.join("c.bin"), data).unwrap();
    }

    fn command(arguments: &[&str], folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
        command
            .args(arguments)
            .current_dir(folder)
            .env("RAYON_NUM_THREADS", "1");
        command
    }

    /// Stops the first run at a call of its save, lets the second run do all that it can, and then
    /// lets both end. None if the first run has fewer calls.
    fn run(&self, folder: &Path, point: usize) -> Option<[Ended; 2]> {
        let first = Traced::spawn(Race::command(self.runs[0], folder));
        let (mut calls, mut is_locked) = (None, false);
        let stopped = loop {
            let call = first.next()?;
            if calls.is_none() && call.makes_a_file() {
                calls = Some(0);
            }
            if calls == Some(point) {
                break call;
            }
            calls = calls.map(|calls| calls + 1);
            is_locked |= call.name == "flock";
            first.allow(call);
        };
        let second = Traced::spawn(Race::command(self.runs[1], folder));
        while let Some(call) = second.next() {
            if call.name == "flock" && is_locked {
                // It has to wait until the first run ends.
                first.allow(stopped);
                let first = first.finish();
                second.allow(call);
                return Some([first, second.finish()]);
            }
            second.allow(call);
        }
        let second = second.finish();
        first.allow(stopped);
        Some([first.finish(), second])
    }
}

#[test]
fn two_runs_at_once_leave_models_with_their_own_values() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut failures = Vec::new();
    let mut points = 0;
    for race in RACES {
        let folder = place.path().join("race");
        let alone = [0, 1].map(|run| {
            race.set_up(&folder);
            assert!(
                Race::command(race.runs[run], &folder)
                    .output()
                    .unwrap()
                    .status
                    .success()
            );
            content(&folder.join(race.outputs[run])).unwrap()
        });
        for point in 0.. {
            race.set_up(&folder);
            let Some(ended) = race.run(&folder, point) else {
                break;
            };
            points += 1;
            let codes = [0, 1].map(|run| ended[run].status.code());
            let found = race.outputs.map(|output| content(&folder.join(output)));
            let is_own = |run: usize| found[run].as_ref() == Ok(&alone[run]);
            let problem = match codes {
                [Some(0), Some(2)] => !is_own(0),
                [Some(2), Some(0)] => !is_own(1),
                [Some(0), Some(0)] if race.outputs[0] != race.outputs[1] => {
                    !is_own(0) || !is_own(1)
                }
                // The second read what the first had written.
                [Some(0), Some(0)] => !is_own(0) && !is_own(1),
                _ => true,
            };
            if problem || !hidden(&folder).is_empty() {
                let messages = [0, 1].map(|run| ended[run].stderr.as_str());
                failures.push(format!(
                    "{}, second run at call {point} of the first: {codes:?} {messages:?}",
                    race.name
                ));
            }
        }
    }
    println!("{points} interleavings tried");
    assert!(points >= 40, "{points}");
    expect_no_failures(failures);
}
