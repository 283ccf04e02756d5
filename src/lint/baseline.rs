//! Known findings, which are not reported again.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::Diagnostic;
use super::file_pattern::absolute;
use crate::base::error::{Classified, Error, ErrorKind};
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

impl KnownFinding {
    /// `model.onnx: graph/cast: RC101`.
    fn to_line(&self) -> String {
        format!("{}: {}: {}", self.path, self.place, self.code)
    }
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
    pub fn read(text: &[u8], folder: &Path) -> Result<Baseline, Error> {
        Baseline::parse(text, folder).map_err(Error::caused_by)
    }

    fn parse(text: &[u8], folder: &Path) -> Result<Baseline, BadBaseline> {
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

    /// The findings that it lists of files that do not exist, by rules of a selection.
    #[must_use]
    pub(crate) fn of_missing_files(&self, is_checked: impl Fn(&str) -> bool) -> Vec<String> {
        let files = self
            .findings
            .chunk_by(|left, right| left.path == right.path);
        let missing = files.filter(|known| {
            known[0].path != STDIN && !folders::is_file(&self.folder.join(&known[0].path))
        });
        missing
            .flatten()
            .filter(|known| is_checked(&known.code))
            .map(KnownFinding::to_line)
            .collect()
    }

    /// The findings that are not in the baseline; each of its entries stands for one finding.
    #[must_use]
    pub fn filter(&self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        self.filter_by(found, |found| found)
    }

    /// Like [`Baseline::filter`], of anything that has a finding.
    pub(super) fn filter_by<F>(&self, mut found: Vec<F>, of: impl Fn(&F) -> &Diagnostic) -> Vec<F> {
        if self.findings.is_empty() {
            return found;
        }
        let paths: BTreeSet<String> = found
            .iter()
            .map(|one| relative(of(one).path(), &self.folder))
            .collect();
        let mut left = self.entries(paths.iter().map(String::as_str));
        found.retain(|one| !self.take(&mut left, of(one)));
        found
    }

    /// The findings of a file that are not in the baseline, and the entries of the baseline that
    /// none of its findings matches, of rules that were checked.
    pub(crate) fn compare(
        &self,
        path: &str,
        mut found: Vec<Diagnostic>,
        is_checked: impl Fn(&str) -> bool,
    ) -> (Vec<Diagnostic>, Vec<String>) {
        let mut left = self.entries([&*relative(path, &self.folder)]);
        found.retain(|one| !self.take(&mut left, one));
        let mut gone: Vec<String> = left
            .into_iter()
            .filter(|(known, _)| is_checked(&known.code))
            .flat_map(|(known, count)| std::iter::repeat_n(known.to_line(), count))
            .collect();
        gone.sort();
        (found, gone)
    }

    /// How often each finding of some files is listed.
    fn entries<'b, 'p>(
        &'b self,
        paths: impl IntoIterator<Item = &'p str>,
    ) -> HashMap<&'b KnownFinding, usize> {
        let mut entries = HashMap::new();
        for path in paths {
            for known in self.of_path(path) {
                *entries.entry(known).or_default() += 1;
            }
        }
        entries
    }

    /// Takes the entry of a finding, if there is one left.
    fn take(&self, left: &mut HashMap<&KnownFinding, usize>, one: &Diagnostic) -> bool {
        match left.get_mut(&known(one, &self.folder)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// The findings of a file.
    fn of_path<'b>(&'b self, path: &str) -> impl Iterator<Item = &'b KnownFinding> + use<'b> {
        let first = self
            .findings
            .partition_point(|known| known.path.as_str() < path);
        let listed = &self.findings[first..];
        let count = listed.partition_point(|known| known.path == path);
        listed[..count].iter()
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
