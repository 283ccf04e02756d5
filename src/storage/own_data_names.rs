//! Names of data files: those that this program assigns, relative paths without `..`, and different
//! spellings of one name.

use std::path::{Component, Path, PathBuf};

use crate::files::{folder_of, folders};

/// The names that this program assigns to the data file of an output, in order.
pub(super) fn own_names(output: &Path) -> impl Iterator<Item = PathBuf> {
    let with = |ending: String| {
        let mut name = output.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    std::iter::once(with(".data".to_owned()))
        .chain((1_u32..).map(move |number| with(format!(".{number}.data"))))
}

/// The files beside an output that have such a name.
pub(super) fn own_files(output: &Path) -> Vec<PathBuf> {
    let Some(name) = name_of(output) else {
        return Vec::new();
    };
    let is_own = |path: &PathBuf| {
        let ending =
            name_of(path).and_then(|found| found.strip_prefix(name)?.strip_suffix(".data"));
        ending.is_some_and(|number| {
            number
                .strip_prefix('.')
                .map_or(number.is_empty(), |digits| digits.parse::<u32>().is_ok())
        })
    };
    let entries = folders::list(&folder_of(output)).unwrap_or_default();
    entries
        .into_iter()
        .filter(|path| is_own(path) && folders::is_file(path))
        .collect()
}

pub(super) fn name_of(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// A location as a relative path beneath the model's folder; none if it is not such a path.
pub(crate) fn path_below(location: &str) -> Option<PathBuf> {
    let parts = Path::new(location)
        .components()
        .filter(|part| *part != Component::CurDir);
    let path = parts
        .map(|part| matches!(part, Component::Normal(_)).then_some(part))
        .collect::<Option<PathBuf>>()?;
    (path != Path::new("")).then_some(path)
}

/// Whether two paths are the same name of a file; hard links are different names.
pub(super) fn is_same(left: &Path, right: &Path) -> bool {
    matches!((folders::resolve(left), folders::resolve(right)), (Ok(left), Ok(right)) if left == right)
}
