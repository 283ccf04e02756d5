//! The bar of a run that takes long: on a terminal, and nowhere else.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use prost::Message;
use rustix::fs::{CWD, FileType, mknodat};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::model;

/// A terminal: what a program prints on it can be read from the first, the second is for the
/// program.
fn terminal() -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    (
        File::from(master),
        File::options().read(true).write(true).open(name).unwrap(),
    )
}

/// A run that does not end before someone reads the pipe that it writes the model to.
fn start(input: &Path, pipe: &Path, options: &[&str], stderr: Stdio) -> Child {
    mknodat(CWD, pipe, FileType::Fifo, 0o600.into(), 0).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command
        .args(["fold", "--passes", "none"])
        .args(options)
        .arg(input)
        .arg("-o")
        .arg(pipe);
    command
        .env("TERM", "xterm")
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .unwrap()
}

/// What a program printed on a terminal until it ended.
fn rest(terminal: &mut File) -> String {
    let mut printed = Vec::new();
    // The end of a terminal whose programs are gone is an error.
    let _ = terminal.read_to_end(&mut printed);
    String::from_utf8(printed).unwrap()
}

#[test]
fn a_long_run_shows_a_bar_on_a_terminal_and_is_silent_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("m.onnx");
    fs::write(
        &input,
        model(r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (x) { }"#).encode_to_vec(),
    )
    .unwrap();
    let pipes: [PathBuf; 3] = ["quiet", "piped", "shown"].map(|name| folder.path().join(name));
    let [(mut quiet, on_quiet), (mut shown, on_shown)] = [terminal(), terminal()];
    let mut runs = [
        start(&input, &pipes[0], &["--quiet"], on_quiet.into()),
        start(&input, &pipes[1], &[], Stdio::piped()),
        start(&input, &pipes[2], &[], on_shown.into()),
    ];
    // By the time that the last of them has drawn a bar, the others would have.
    let mut seen = String::new();
    while !seen.contains(&format!("0 B of {} B", fs::metadata(&input).unwrap().len())) {
        let mut bytes = [0; 1000];
        let count = shown.read(&mut bytes).expect("the run is still there");
        seen.push_str(std::str::from_utf8(&bytes[..count]).unwrap_or("?"));
    }
    for (pipe, run) in pipes.iter().zip(&mut runs) {
        assert_eq!(fs::read(pipe).unwrap(), fs::read(&input).unwrap());
        assert!(run.wait().unwrap().success());
    }
    let mut piped = String::new();
    runs[1]
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut piped)
        .unwrap();
    assert_eq!((rest(&mut quiet).as_str(), piped.as_str()), ("", ""));
    // The bar goes with the work: the last that is printed clears the line.
    assert!(rest(&mut shown).ends_with("\r\u{1b}[2K"));
}
