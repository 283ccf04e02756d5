//! Runs the command as an unprivileged user, and as a user who does not own the files. Works for
//! any user and in any build folder.
#![allow(unsafe_code)]

use std::fs::{self, Permissions};
use std::io::{Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, set_capabilities,
    set_capabilities_secure_bits,
};
use tempfile::TempDir;

use crate::traced::{Calls, Traced};

const RECAST: &str = env!("CARGO_BIN_EXE_recast");

/// As this user, the superuser runs the command. Others tell the command that it is this user.
const USER: u32 = 12345;

/// The question for the user who runs a process.
const WHO: Calls = &[("geteuid", libc::SYS_geteuid)];

/// A command for which permissions apply as for every user, also if it is run by the superuser.
pub struct Unprivileged(Option<Place>);

/// A command that is run by a user who is neither the superuser nor the owner of the files.
pub enum Stranger {
    /// The superuser runs the command as another user.
    Other(Place),
    /// No other user can be had. The command runs as the user who runs the tests, but is told that
    /// it is another one.
    Disguised,
}

/// A copy of the command that a user can run, in a folder that this user can reach: the build may
/// be in a private folder.
pub struct Place(TempDir);

impl Unprivileged {
    pub fn new() -> Unprivileged {
        let place = is_root().then(|| {
            Place::find(without_privileges)
                .expect("the superuser can run the command without privileges")
        });
        Unprivileged(place)
    }

    /// A folder for the files of a test.
    pub fn folder(&self) -> TempDir {
        self.0
            .as_ref()
            .map_or_else(|| tempfile::tempdir().unwrap(), Place::folder)
    }

    pub fn recast(&self) -> Command {
        self.0.as_ref().map_or_else(
            || Command::new(RECAST),
            |place| without_privileges(&place.command()),
        )
    }
}

impl Stranger {
    pub fn new() -> Stranger {
        let place = if is_root() {
            Place::find(as_user)
        } else {
            None
        };
        place.map_or(Stranger::Disguised, Stranger::Other)
    }

    /// The user whom the system knows as the one who runs the command, if that is not the user who
    /// runs the tests.
    pub fn user(&self) -> Option<u32> {
        matches!(self, Stranger::Other(_)).then_some(USER)
    }

    /// A folder for the files of a test.
    pub fn folder(&self) -> TempDir {
        match self {
            Stranger::Other(place) => place.folder(),
            Stranger::Disguised => tempfile::tempdir().unwrap(),
        }
    }

    /// Runs the command in a folder; returns its exit code and all that it prints.
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = match self {
            Stranger::Other(place) => as_user(&place.command()),
            Stranger::Disguised => Command::new(RECAST),
        };
        command.args(arguments).current_dir(folder);
        match self {
            Stranger::Other(_) => {
                let output = command.output().unwrap();
                (
                    output.status.code(),
                    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
                )
            }
            Stranger::Disguised => {
                let (mut file, mut printed) = (tempfile::tempfile().unwrap(), String::new());
                command.stdout(file.try_clone().unwrap());
                let traced = Traced::at(WHO, command);
                while let Some(call) = traced.next() {
                    traced.give(call, USER);
                }
                let ended = traced.finish();
                file.rewind().unwrap();
                file.read_to_string(&mut printed).unwrap();
                (ended.status.code(), printed + &ended.stderr)
            }
        }
    }
}

impl Place {
    /// The first place for temporary files in which a command that is changed in this way runs.
    fn find(change: fn(&Path) -> Command) -> Option<Place> {
        let places = [
            std::env::temp_dir(),
            "/tmp".into(),
            "/var/tmp".into(),
            "/dev/shm".into(),
        ];
        places.into_iter().find_map(|parent| {
            let place = Place(tempfile::tempdir_in(parent).ok()?);
            set_mode(place.0.path(), 0o755);
            // Another program copies: a process that another test starts at this moment cannot
            // inherit the copy, open for writing.
            let copies = Command::new("install")
                .args(["-m", "755", RECAST])
                .arg(place.command())
                .status()
                .ok()?
                .success();
            let runs = change(&place.command())
                .arg("--version")
                .output()
                .is_ok_and(|done| done.status.success());
            (copies && runs).then_some(place)
        })
    }

    fn command(&self) -> PathBuf {
        self.0.path().join("recast")
    }

    fn folder(&self) -> TempDir {
        tempfile::tempdir_in(self.0.path()).unwrap()
    }
}

/// Gives every user access to a folder and all that is in it, whatever the umask of the tests is.
pub fn open_to_all(path: &Path) {
    if !path.is_dir() {
        return set_mode(path, 0o666);
    }
    set_mode(path, 0o777);
    fs::read_dir(path)
        .unwrap()
        .for_each(|entry| open_to_all(&entry.unwrap().path()));
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn as_user(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.uid(USER);
    command
}

/// The superuser without capabilities, to whom the permissions of files apply.
fn without_privileges(program: &Path) -> Command {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    let mut command = Command::new(program);
    let drop = move || {
        set_capabilities_secure_bits(CapabilitiesSecureBits::NO_ROOT)?;
        Ok(set_capabilities(None, sets)?)
    };
    // SAFETY: Between fork and exec only system calls are made, and nothing is allocated.
    unsafe { command.pre_exec(drop) };
    command
}
