//! Known findings, which are not reported again.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::Diagnostic;
use super::file_pattern::absolute;
use crate::base::error::{Classified, ErrorKind};
use crate::files::folders;

/// The version of the file format; it is increased when the meaning of a key changes.
const VERSION: u64 = 1;

/// Known findings, by file, rule and place. Paths are relative to the folder of the baseline file.
/// The default is empty.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    folder: PathBuf,
    /// Sorted, so that those of a file stand together.
    findings: Vec<KnownFinding>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a finding with the keys `path`, `code` and `place`"
)]
struct KnownFinding {
    path: String,
    code: String,
    place: String,
}

#[derive(Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with the keys `version` and `findings`"
)]
struct BaselineFile {
    version: u64,
    findings: Vec<KnownFinding>,
}

/// The key of all versions.
#[derive(Deserialize)]
#[serde(expecting = "an object with the keys `version` and `findings`")]
struct Versioned {
    version: serde_json::Value,
}

/// A baseline that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadBaseline {
    /// The file is not JSON.
    #[error("is not a baseline: it is not JSON ({0})")]
    NotJson(String),
    /// The file is not a baseline.
    #[error("is not a baseline: {0}")]
    Malformed(String),
    /// A later version of this program wrote it.
    #[error("is a baseline of version {0}; the supported version is {VERSION}")]
    Version(u64),
}

impl From<serde_json::Error> for BadBaseline {
    fn from(error: serde_json::Error) -> BadBaseline {
        match error.classify() {
            Category::Data => BadBaseline::Malformed(error.to_string()),
            Category::Syntax | Category::Eof | Category::Io => {
                BadBaseline::NotJson(error.to_string())
            }
        }
    }
}

impl Classified for BadBaseline {
    fn kind(&self) -> ErrorKind {
        ErrorKind::BadConfiguration
    }
}

impl Baseline {
    /// The baseline of these findings, for a file in `folder`.
    #[must_use]
    pub fn of(found: &[Diagnostic], folder: &Path) -> Baseline {
        let folder = absolute(folder);
        let mut findings: Vec<KnownFinding> = found.iter().map(|one| known(one, &folder)).collect();
        findings.sort_unstable();
        Baseline { folder, findings }
    }

    /// Parses a baseline from a file in `folder`.
    ///
    /// # Errors
    /// If the text is not a baseline.
    pub fn read(text: &[u8], folder: &Path) -> Result<Baseline, BadBaseline> {
        // Another version may have other keys.
        let Versioned { version } = serde_json::from_slice(text)?;
        match version.as_u64() {
            Some(VERSION) => {}
            Some(other) => return Err(BadBaseline::Version(other)),
            None => {
                return Err(BadBaseline::Malformed(
                    "`version` is not a number".to_owned(),
                ));
            }
        }
        let BaselineFile { mut findings, .. } = serde_json::from_slice(text)?;
        findings.sort_unstable();
        Ok(Baseline {
            folder: absolute(folder),
            findings,
        })
    }

    /// The text of the file.
    ///
    /// # Panics
    /// Never: all keys are strings.
    #[must_use]
    pub fn to_text(&self) -> String {
        let file = BaselineFile {
            version: VERSION,
            findings: self.findings.clone(),
        };
        serde_json::to_string_pretty(&file).expect("all keys are strings") + "\n"
    }

    /// How many findings it lists of a file, by the path that reports name.
    #[must_use]
    pub(crate) fn listed(&self, path: &str) -> usize {
        self.of_path(&relative(path, &self.folder)).count()
    }

    /// How many findings it lists of files that do not exist.
    #[must_use]
    pub(crate) fn of_missing_files(&self) -> usize {
        let files = self
            .findings
            .chunk_by(|left, right| left.path == right.path);
        let missing = files.filter(|known| {
            known[0].path != STDIN && !folders::is_file(&self.folder.join(&known[0].path))
        });
        missing.flatten().count()
    }

    /// The findings that are not in the baseline; each of its entries stands for one finding.
    #[must_use]
    pub fn filter(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if self.findings.is_empty() {
            return found;
        }
        let mut left: HashMap<&KnownFinding, usize> = HashMap::new();
        let mut paths = HashSet::new();
        found.retain(|one| {
            let one = known(one, &self.folder);
            if paths.insert(one.path.clone()) {
                self.of_path(&one.path)
                    .for_each(|known| *left.entry(known).or_default() += 1);
            }
            match left.get_mut(&one) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            }
        });
        found
    }

    /// The findings of a file.
    fn of_path(&self, path: &str) -> impl Iterator<Item = &KnownFinding> {
        let first = self
            .findings
            .partition_point(|known| known.path.as_str() < path);
        self.findings[first..]
            .iter()
            .take_while(move |known| known.path == path)
    }
}

fn known(found: &Diagnostic, folder: &Path) -> KnownFinding {
    KnownFinding {
        path: relative(found.path(), folder),
        code: found.code().to_owned(),
        place: found.identity(),
    }
}

/// The name of standard input.
const STDIN: &str = "-";

/// A path relative to a folder, if it is beneath it.
fn relative(path: &str, folder: &Path) -> String {
    if path == STDIN {
        return STDIN.to_owned();
    }
    let path = absolute(Path::new(path));
    path.strip_prefix(folder)
        .unwrap_or(&path)
        .to_string_lossy()
        .replace('\\', "/")
}
