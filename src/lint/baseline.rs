//! Findings that are known and not to be reported again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Diagnostic;
use super::config::absolute;

/// The version of the file; it changes when a key loses its meaning.
const VERSION: u32 = 1;

/// Known findings, by file, rule and place. Paths are relative to the folder of the baseline's own file.
/// The default knows none.
#[derive(Debug, Default)]
pub struct Baseline {
    folder: PathBuf,
    findings: Vec<Known>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    path: String,
    code: String,
    place: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    findings: Vec<Known>,
}

/// A baseline that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadBaseline {
    /// It is not what this program writes.
    #[error("is no baseline: {0}")]
    Malformed(#[from] serde_json::Error),
    /// A newer program wrote it.
    #[error("is a baseline of version {0}, but only version {VERSION} is known")]
    Version(u32),
}

impl Baseline {
    /// Findings as a baseline whose file stands in `folder`.
    #[must_use]
    pub fn of(found: &[Diagnostic], folder: &Path) -> Baseline {
        let folder = absolute(folder);
        let mut findings: Vec<Known> = found.iter().map(|one| known(one, &folder)).collect();
        findings.sort_unstable();
        Baseline { folder, findings }
    }

    /// Reads the text of a baseline whose file stands in `folder`.
    ///
    /// # Errors
    /// Where it is none.
    pub fn read(text: &str, folder: &Path) -> Result<Baseline, BadBaseline> {
        let File { version, findings } = serde_json::from_str(text)?;
        match version {
            VERSION => Ok(Baseline { folder: absolute(folder), findings }),
            other => Err(BadBaseline::Version(other)),
        }
    }

    /// The text of the file.
    ///
    /// # Panics
    /// Never: all keys are strings.
    #[must_use]
    pub fn to_text(&self) -> String {
        let file = File { version: VERSION, findings: self.findings.clone() };
        serde_json::to_string_pretty(&file).expect("all keys are strings") + "\n"
    }

    /// The findings that are not known, and how many known ones were not found.
    #[must_use]
    pub fn filter(&self, found: Vec<Diagnostic>) -> (Vec<Diagnostic>, usize) {
        if self.findings.is_empty() {
            return (found, 0);
        }
        let mut left: HashMap<&Known, usize> = HashMap::new();
        for known in &self.findings {
            *left.entry(known).or_default() += 1;
        }
        let is_new = |one: &Diagnostic| match left.get_mut(&known(one, &self.folder)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        };
        let mut is_new = is_new;
        let new = found.into_iter().filter(|one| is_new(one)).collect();
        (new, left.values().sum())
    }
}

fn known(found: &Diagnostic, folder: &Path) -> Known {
    let path = match &*found.path {
        "-" => PathBuf::from("-"),
        path => {
            let path = absolute(Path::new(path));
            path.strip_prefix(folder).map_or(path.clone(), Path::to_owned)
        }
    };
    Known { path: path.to_string_lossy().replace('\\', "/"), code: found.code.to_owned(), place: found.identity().to_owned() }
}
