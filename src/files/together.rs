//! Files that belong together, the last of which refers to the others: either all get their names,
//! or none.
//!
//! All are complete and flushed before the first gets its name. The last file gets its name last,
//! by one rename, so that the old or the new model exists at any moment. Two cases need additional
//! steps:
//!
//! - A data file replaces one that the old model uses. Systems do not rename two files at once.
//!   Therefore the old data file first gets a second name, and the old model is replaced by an
//!   [`Interim`] model, which differs only in using this second name.
//! - A step fails. Every file that is replaced before the last one has a second, hidden name, by
//!   which it is restored. If this fails too, nothing more is changed or removed, and the error
//!   names what is left.
//!
//! If the process is killed at any point, a complete model with its data remains, and hidden names
//! that [`crate::files::tidy`] removes.
//!
//! While names change, a run holds an advisory lock (`flock`) on each folder. Under the lock it
//! verifies that its inputs and the files to be replaced or reused are unchanged, and that no other
//! model uses the data file that it replaces. A new data file gets its name by link(2), which
//! replaces nothing: of two runs that choose the same name, the second is refused. A journal in
//! place of second names would let other programs read wrong values until the next run repairs the
//! pair.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::folders::{Folder, Lock, PRIVATE_MODE};
use super::paths::at;
use super::pending_file::{PendingFile, Written};
use super::replaceable::NewFileTarget;
use super::temporary::{Hidden, Temporary};
use crate::base::stored::Stored;
use crate::process::system;
use crate::protobuf::Layout;

/// The old model, changed to use its data file by a second name while that file is replaced.
#[derive(Debug)]
pub struct Interim {
    /// The second name of the old version of the first file. It is removed at the end.
    pub second: PathBuf,
    /// The old model.
    pub model: Layout,
}

/// Reads the new files again, given with their paths: the model is the last one. An error ends the
/// save.
pub type Inspect<'i> = Box<dyn FnOnce(Vec<(PathBuf, Stored)>) -> io::Result<()> + 'i>;

/// Writes files that belong together, the last of which refers to the others. `inspect` and `check`
/// are called after all bytes are written and before names change, `check` while no other run
/// changes names in these folders; an error ends the save. Signals are deferred while names change.
///
/// # Errors
/// Any I/O error, with the path. All files are then unchanged, and no new file is
/// left, unless the message says that only flushing the folder failed at the end, or which files
/// could not be restored.
pub fn save_together(
    files: Vec<PendingFile>,
    interim: Option<Interim>,
    inspect: Option<Inspect>,
    check: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    // A layout is dropped as soon as it is written: some systems do not replace mapped files.
    let is_read_again = inspect.is_some();
    let write = |file| Written::new(file, is_read_again);
    let mut written = files
        .into_iter()
        .map(write)
        .collect::<io::Result<Vec<Written>>>()?;
    let Some(last) = written.pop() else {
        return check();
    };
    let interim = match interim {
        None => None,
        Some(Interim { second, model }) => {
            let model = PendingFile::replacing(last.place.path(), model);
            Some((NewFileTarget::of(&second, None, u64::MAX)?, write(model)?))
        }
    };
    if let Some(inspect) = inspect {
        let read = |file: &Written| Ok((file.place.path(), file.bytes()?));
        inspect(
            written
                .iter()
                .chain([&last])
                .map(read)
                .collect::<io::Result<_>>()?,
        )?;
    }
    let interim_file = interim.iter().map(|(_, file)| file);
    written
        .iter()
        .chain(interim_file)
        .chain([&last])
        .try_for_each(Written::flush)?;
    let _locks = lock(written.iter().chain([&last]))?;
    check()?;
    let _held = system::hold();
    let mut steps = NameChanges::default();
    let (folder, path) = (last.place.folder.clone(), last.place.path());
    let done = steps
        .name_others(written, interim, &last.place)
        .and_then(|second| {
            last.name().map_err(|error| at(&path, error))?;
            Ok(second)
        });
    let second = match done {
        Ok(second) => second,
        Err(error) => return Err(steps.undo().explain(error)),
    };
    let flushed = folder.sync();
    if let Some(second) = second {
        // If this fails, the file stays, and no model uses it.
        second.folder.remove(&second.name).ok();
    }
    flushed.map_err(|error| {
        let message =
            format!("the new files are in place, but may not survive a power failure: {error}");
        at(folder.path(), io::Error::new(error.kind(), message))
    })?;
    Ok(())
}

/// Locks the folders of some files, in an order that is the same for all runs.
fn lock<'w>(files: impl Iterator<Item = &'w Written>) -> io::Result<Vec<Lock>> {
    let mut folders = Vec::new();
    for file in files {
        folders.push((file.place.folder.id()?, &file.place.folder));
    }
    folders.sort_by(|left, right| left.0.cmp(&right.0));
    folders.dedup_by(|left, right| left.0 == right.0);
    let mut locks = Vec::new();
    for (_, folder) in folders {
        locks.extend(folder.lock().map_err(|error| at(folder.path(), error))?);
    }
    Ok(locks)
}

/// The changes of names, for undoing them.
#[derive(Default)]
struct NameChanges(Vec<NameChange>);

enum NameChange {
    /// A file got this name, which was unused.
    Named(Folder, OsString, What),
    /// A file got this name from another file, which still has a hidden name.
    Replaced(Folder, OsString, Hidden),
}

/// The file to which a name refers.
type What = &'static str;

const SECOND: What = "a second name of the old data file";
const NEW: What = "a new file";

/// The files that are left after the changes were undone.
#[derive(Default)]
struct Left {
    /// The names that stay, and what they refer to.
    names: Vec<String>,
    /// Why a file could not be restored.
    why: Option<io::Error>,
}

impl NameChanges {
    /// Gives their names to all files but the last. Returns the second name of the old data file.
    fn name_others(
        &mut self,
        others: Vec<Written>,
        interim: Option<(NewFileTarget, Written)>,
        last: &NewFileTarget,
    ) -> io::Result<Option<NewFileTarget>> {
        let second = match (interim, others.first()) {
            (Some((second, model)), Some(data)) => {
                if second.old.is_none() {
                    copy_name(
                        &data.place.folder,
                        &data.place.name,
                        &second.folder,
                        &second.name,
                    )
                    .map_err(|error| at(&second.path(), error))?;
                    self.0.push(NameChange::Named(
                        second.folder.clone(),
                        second.name.clone(),
                        SECOND,
                    ));
                    sync(&second.folder)?;
                }
                self.replace(model)?;
                sync(&last.folder)?;
                Some(second)
            }
            _ => None,
        };
        for file in others {
            let folder = file.place.folder.clone();
            if file.is_new {
                let (path, name) = (file.place.path(), file.place.name.clone());
                file.name_new().map_err(|error| at(&path, in_use(error)))?;
                self.0.push(NameChange::Named(folder.clone(), name, NEW));
            } else {
                self.replace(file)?;
            }
            sync(&folder)?;
        }
        Ok(second)
    }

    /// Gives a file its name, and the file that had this name a hidden one.
    fn replace(&mut self, file: Written) -> io::Result<()> {
        let (folder, name, path) = (
            file.place.folder.clone(),
            file.place.name.clone(),
            file.place.path(),
        );
        let hidden = Hidden::with(&folder, |hidden| copy_name(&folder, &name, &folder, hidden));
        let ((), hidden) = hidden.map_err(|error| at(&path, error))?;
        file.name().map_err(|error| at(&path, error))?;
        self.0.push(NameChange::Replaced(folder, name, hidden));
        Ok(())
    }

    /// Undoes the changes, the last one first. If a file cannot be restored, the changes before it
    /// stay, which the files that are there now may need, and so do all old files: each may be the
    /// only copy.
    fn undo(self) -> Left {
        let mut left = Left::default();
        for step in self.0.into_iter().rev() {
            match step {
                NameChange::Named(folder, name, what) => {
                    if left.why.is_some() || folder.remove(&name).is_err() {
                        left.names
                            .push(format!("{} is {what}", folder.path().join(name).display()));
                    }
                }
                NameChange::Replaced(folder, name, hidden) => {
                    let hidden = hidden.keep();
                    if left.why.is_none() {
                        left.why = folder.rename(&hidden, &name).err();
                    }
                    if left.why.is_some() {
                        left.names.push(format!(
                            "{} is the old {}",
                            folder.path().join(hidden).display(),
                            name.display()
                        ));
                    }
                }
            }
        }
        left
    }
}

impl Left {
    /// The error of a step, and what is left after it.
    fn explain(self, error: io::Error) -> io::Error {
        let names = self.names.join(", ");
        let message = match self.why {
            Some(why) => {
                let advice = "move what you need before the next run, which removes hidden files";
                format!("{error}; the old files could not be restored ({why}): {names}; {advice}")
            }
            None if self.names.is_empty() => return error,
            None => format!("{error}; could not be removed: {names}"),
        };
        io::Error::new(error.kind(), message)
    }
}

fn sync(folder: &Folder) -> io::Result<()> {
    folder.sync().map_err(|error| at(folder.path(), error))
}

/// Explains that another program uses the name now.
fn in_use(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::AlreadyExists => io::Error::new(
            error.kind(),
            "was created by another program meanwhile; run again",
        ),
        _ => error,
    }
}

/// Gives a file a second name. If the file system does not support hard links, a copy of the file
/// gets the name.
fn copy_name(
    from: &Folder,
    name: &std::ffi::OsStr,
    to: &Folder,
    second: &std::ffi::OsStr,
) -> io::Result<()> {
    match from.link_again(name, to, second) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {}
        result => return result,
    }
    let (old, copy) = (from.read(name.as_ref())?, Temporary::new(to, PRIVATE_MODE)?);
    let (Some(mut source), Some(mut target)) = (old.system(), copy.file().system()) else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    io::copy(&mut source, &mut target)?;
    copy.file().take_permissions_of(old.stat())?;
    copy.file().sync()?;
    copy.name_new(to, second)
}
