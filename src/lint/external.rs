//! Files with tensor data beside a model.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::tensor::Reference;

/// Why a file with tensor data cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// An absolute path, or one that climbs out of the folder.
    #[error("'{0}' leads out of the model's folder")]
    Escapes(String),
    /// A path inside the folder that a link leads out of.
    #[error("'{0}' is a link that leads out of the model's folder")]
    LinksOut(String),
    /// There is no such file.
    #[error("'{location}' cannot be opened: {reason}")]
    Missing {
        /// The path, as the model states it.
        location: String,
        /// What the operating system says.
        reason: String,
    },
    /// The file ends before the tensor does.
    #[error("'{location}' has {has} bytes, but the tensor ends at byte {needs}")]
    Short {
        /// The path, as the model states it.
        location: String,
        /// The file's length.
        has: u64,
        /// Where the tensor ends.
        needs: u64,
    },
}

/// The file that a reference means, if it stands in the folder or in one inside.
pub(super) fn locate(folder: &Path, reference: &Reference) -> Result<PathBuf, Unusable> {
    check_path(reference)?;
    let location = &reference.location;
    let missing = |error: std::io::Error| Unusable::Missing { location: location.clone(), reason: error.to_string() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let file = fs::canonicalize(folder.join(location)).map_err(missing)?;
    if !file.starts_with(fs::canonicalize(folder).map_err(missing)?) {
        return Err(Unusable::LinksOut(location.clone()));
    }
    Ok(file)
}

/// Checks that a tensor of this many bytes is there, without opening the file.
pub(super) fn check(folder: Option<&Path>, reference: &Reference, bytes: u64) -> Result<(), Unusable> {
    let Some(folder) = folder else {
        return check_path(reference);
    };
    let file = locate(folder, reference)?;
    let location = || reference.location.clone();
    let metadata = fs::metadata(&file).map_err(|error| Unusable::Missing { location: location(), reason: error.to_string() })?;
    if !metadata.is_file() {
        return Err(Unusable::Missing { location: location(), reason: "it is no file".to_owned() });
    }
    let needs = reference.offset.saturating_add(reference.length.unwrap_or(bytes).max(bytes));
    if metadata.len() < needs {
        return Err(Unusable::Short { location: location(), has: metadata.len(), needs });
    }
    Ok(())
}

/// Judges the path by its letters: a model must not lead out of its folder, whatever is there. Both separators count on every
/// system, for the model may come from another one.
fn check_path(reference: &Reference) -> Result<(), Unusable> {
    let location = &reference.location;
    let climbs = location.split(['/', '\\']).any(|part| part == "..");
    let is_absolute = location.starts_with(['/', '\\'])
        || location.as_bytes().get(1) == Some(&b':')
        || Path::new(location).components().any(|part| matches!(part, Component::Prefix(_) | Component::RootDir));
    if climbs || is_absolute { Err(Unusable::Escapes(location.clone())) } else { Ok(()) }
}
