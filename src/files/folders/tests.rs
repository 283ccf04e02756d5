use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::{DEFAULT_MODE, EntryKind, Folder};
use crate::files::DataFolder;

#[test]
fn a_file_lives_from_create_to_remove() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    folder.create_folder("sub".as_ref()).unwrap();
    let sub = folder.folder("sub".as_ref()).unwrap();
    let file = sub.create("new".as_ref(), DEFAULT_MODE).unwrap();
    file.system().unwrap().write_all(b"weights").unwrap();
    file.sync().unwrap();
    sub.sync().unwrap();
    assert_eq!(
        (
            file.stat().unwrap().bytes,
            folder.stat("sub/new".as_ref()).unwrap().unwrap().kind
        ),
        (7, EntryKind::File)
    );
    assert_eq!(
        sub.create("new".as_ref(), DEFAULT_MODE).unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    sub.rename("new".as_ref(), "old".as_ref()).unwrap();
    assert_eq!(
        (sub.list().unwrap(), sub.stat("new".as_ref()).unwrap()),
        (vec!["old".into()], None)
    );
    let open = folder.read("sub/old".as_ref()).unwrap();
    assert_eq!(
        (open.stat().bytes, open.stat().id.clone()),
        (7, folder.stat("sub/old".as_ref()).unwrap().unwrap().id)
    );
    sub.remove("old".as_ref()).unwrap();
    assert_eq!(folder.stat("sub/old".as_ref()).unwrap(), None);
    if let Some(unnamed) = sub.create_unnamed() {
        sub.link(&unnamed, "named".as_ref()).unwrap();
        assert_eq!(
            sub.link(&unnamed, "named".as_ref()).unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(sub.list().unwrap(), [OsStr::new("named")]);
    }
}

#[test]
fn a_file_in_memory_is_read_in_parts() {
    super::memory::Folder::with_virtual_file_system(|folder| {
        let bytes: Vec<u8> = (0..=250).collect();
        folder
            .insert("file".as_ref(), bytes.clone().into())
            .unwrap();
        let mut file = super::read(&folder.path().join("file")).unwrap();
        let (mut read, mut part) = (Vec::new(), [0; 100]);
        loop {
            match file.read(&mut part).unwrap() {
                0 => break,
                count => read.extend_from_slice(&part[..count]),
            }
        }
        assert_eq!(read, bytes);
    });
}

#[test]
fn paths_lead_down_only() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("inside")).unwrap();
    fs::write(place.path().join("secret"), "s").unwrap();
    fs::write(place.path().join("inside/w"), "w").unwrap();
    let folder = Folder::open(&place.path().join("inside")).unwrap();
    for path in ["../secret", "/etc/passwd", "sub/../../secret", "", ".."] {
        assert_eq!(
            folder.read(path.as_ref()).unwrap_err().kind(),
            io::ErrorKind::InvalidInput,
            "'{path}'"
        );
    }
    for name in ["a/b", ".", "..", "/", "", "a/"] {
        assert_eq!(
            folder
                .create(name.as_ref(), DEFAULT_MODE)
                .unwrap_err()
                .kind(),
            io::ErrorKind::InvalidInput,
            "'{name}'"
        );
    }
    assert_eq!(folder.list().unwrap(), [OsStr::new("w")]);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_only_regular_files_are_opened() {
    use std::os::unix::fs::symlink;

    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("inside/sub")).unwrap();
    fs::write(place.path().join("secret"), "s").unwrap();
    fs::write(place.path().join("inside/sub/w"), "w").unwrap();
    let inside = place.path().join("inside");
    symlink("../secret", inside.join("out")).unwrap();
    symlink("sub", inside.join("linked")).unwrap();
    symlink("missing", inside.join("dangling")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(inside.join("fifo"))
            .status()
            .unwrap()
            .success()
    );
    let folder = Folder::open(&inside).unwrap();
    for path in ["out", "linked/w", "dangling", "fifo", "sub", "."] {
        assert!(folder.read(path.as_ref()).is_err(), "'{path}'");
    }
    assert!(folder.folder("linked".as_ref()).is_err());
    assert_eq!(
        folder
            .create("dangling".as_ref(), DEFAULT_MODE)
            .unwrap_err()
            .kind(),
        io::ErrorKind::AlreadyExists
    );
    assert_eq!(
        folder.stat("dangling".as_ref()).unwrap().unwrap().kind,
        EntryKind::Link
    );
    assert!(folder.read("sub/w".as_ref()).is_ok());
}

#[cfg(unix)]
#[test]
fn an_open_folder_stays_the_same_when_its_name_is_given_to_another() {
    let place = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(place.path().join(name)).unwrap();
        fs::write(place.path().join(name).join("w"), name).unwrap();
    }
    let one = Folder::open(&place.path().join("one")).unwrap();
    fs::rename(place.path().join("one"), place.path().join("away")).unwrap();
    std::os::unix::fs::symlink("two", place.path().join("one")).unwrap();
    let read = one.read("w".as_ref()).unwrap();
    assert_eq!(io::read_to_string(read.system().unwrap()).unwrap(), "one");
}

#[test]
fn a_file_that_changes_after_it_was_opened_is_found_out() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("w");
    let folder = Folder::open(place.path()).unwrap();
    let write = || fs::File::options().write(true).open(&path).unwrap();
    type Change<'c> = (&'c str, &'c dyn Fn());
    let changes: [Change; 4] = [
        ("cut by a byte", &|| write().set_len(99).unwrap()),
        ("another time", &|| {
            let time = fs::metadata(&path).unwrap().modified().unwrap()
                + std::time::Duration::from_secs(1);
            write().set_modified(time).unwrap();
        }),
        ("replaced", &|| {
            fs::write(place.path().join("new"), [0; 100]).unwrap();
            fs::rename(place.path().join("new"), &path).unwrap();
        }),
        ("removed", &|| fs::remove_file(&path).unwrap()),
    ];
    for (name, change) in changes {
        fs::write(&path, [0; 100]).unwrap();
        let opened = folder.read(Path::new("w")).unwrap().stat().clone();
        folder.expect_unchanged(Path::new("w"), &opened).unwrap();
        change();
        let error = folder
            .expect_unchanged(Path::new("w"), &opened)
            .expect_err(name);
        assert_eq!(error.to_string(), "changed while it was read", "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_another_process_keeps_locked_is_an_error() {
    use std::time::Duration;

    let place = tempfile::tempdir().unwrap();
    let (one, other) = (
        Folder::open(place.path()).unwrap(),
        Folder::open(place.path()).unwrap(),
    );
    let lock = one.lock().unwrap();
    if lock.is_none() {
        // The file system has no locks.
        return;
    }
    let error = other.lock_within(Duration::ZERO).unwrap_err();
    assert_eq!(
        error.to_string(),
        "is locked by another process, which writes files there; run again when it has ended"
    );
    drop(lock);
    assert!(other.lock_within(Duration::ZERO).unwrap().is_some());
}

#[cfg(unix)]
#[test]
fn only_the_superuser_and_the_owners_may_replace_a_file_of_a_sticky_folder() {
    let (user, owner) = (1000, 1001);
    for (who, folder, file, expected) in [
        (user, owner, owner, false),
        (user, owner, user, true),
        (user, user, owner, true),
        (user, user, user, true),
        (user, 0, 0, false),
        (0, owner, owner, true),
        (0, 0, 0, true),
    ] {
        let found = super::system::may_replace(rustix::process::Uid::from_raw(who), [folder, file]);
        assert_eq!(
            found, expected,
            "user {who}, folder of {folder}, file of {file}"
        );
    }
}

/// The data files of a model in memory are those of its folder on every thread.
#[test]
fn data_in_memory_is_found_on_other_threads() {
    let check = |folder: &Folder| {
        for name in ["models/m.onnx", "models/sub/w.bin", "other/w.bin"] {
            folder.insert(name, name.as_bytes().to_vec()).unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        let mut data = DataFolder::of_model(&path("models/m.onnx"));
        data.allow(&path("other")).unwrap();
        let unnamed = [(path("models/new.bin"), b"new".to_vec().into())];
        let data = data.with_new_files(&path("models/m.onnx"), unnamed);
        let read = || {
            ["sub/w.bin", "../other/w.bin", "new.bin"].map(|location| {
                let file = data.open(location).unwrap();
                (file.path, file.bytes.to_bytes())
            })
        };
        let expected: [(PathBuf, Bytes); 3] = [
            (path("models/sub/w.bin"), "models/sub/w.bin".into()),
            (path("other/w.bin"), "other/w.bin".into()),
            (path("models/new.bin"), "new".into()),
        ];
        assert_eq!(read(), expected);
        let elsewhere = std::thread::scope(|scope| scope.spawn(read).join().unwrap());
        assert_eq!(elsewhere, expected);
    };
    Folder::with_virtual_file_system(check);
    check(&Folder::memory());
}
