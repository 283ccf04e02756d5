//! Runtimes, and the newest opset and IR version that they load: `facts/targets.txt`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

/// Consecutive versions of a runtime that load the same models.
///
/// A runtime is named by its version: `onnxruntime@1.17`, or `onnxruntime@1.17.3`. Versions that
/// are not in the table are not guessed.
///
/// ```
/// use onnx_operators::Runtime;
///
/// let runtime: Runtime = "onnxruntime@1.17".parse()?;
/// assert_eq!((runtime.opset, runtime.ir_version), (20, Some(9)));
/// assert!(!runtime.loads(Some(21), 9));
///
/// let error = "onnxrumtime@1.17".parse::<Runtime>().unwrap_err();
/// assert!(error.to_string().contains("did you mean onnxruntime?"));
/// assert!(Runtime::all().iter().any(|runtime| runtime.name == "tensorrt"));
/// # Ok::<(), onnx_operators::UnknownRuntime>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Runtime {
    /// The name of the runtime.
    #[cfg_attr(feature = "serde", serde(rename = "runtime"))]
    pub name: &'static str,
    /// The first version.
    pub first: &'static str,
    /// The last version; later releases of the same version are included.
    pub last: &'static str,
    /// The newest opset of ai.onnx.
    pub opset: i64,
    /// The newest IR version, if the source states it.
    #[cfg_attr(feature = "serde", serde(rename = "ir"))]
    pub ir_version: Option<i64>,
    /// The source of the numbers.
    pub source: &'static str,
    /// The version that was named; of a row of the table, the last one.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub version: Version,
    /// Whether only the first number of the version was named. `version` is then the newest known
    /// one with that number.
    #[cfg_attr(feature = "serde", serde(skip))]
    is_major: bool,
}

/// A version of a runtime: its first two numbers. Later releases of the same version have the same
/// kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// The version that a text names: `1.17`, or `1.17.3`; none if it is not numbers.
    #[must_use]
    pub fn read(text: &str) -> Option<Version> {
        numbers(text).map(|numbers| Version::of(&numbers))
    }

    fn of(numbers: &[u32]) -> Version {
        let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
        Version {
            major: number(0),
            minor: number(1),
        }
    }
}

/// A name that is not a version of a runtime in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnknownRuntime {
    message: String,
}

impl Runtime {
    /// All runtimes, by name, oldest version first.
    #[must_use]
    pub fn all() -> &'static [Runtime] {
        static RUNTIMES: OnceLock<Vec<Runtime>> = OnceLock::new();
        RUNTIMES.get_or_init(|| {
            let rows = include_str!("../facts/targets.txt")
                .lines()
                .filter(|line| !line.starts_with('#'));
            rows.map(|row| {
                read(row).unwrap_or_else(|| panic!("facts/targets.txt is tested, but: {row}"))
            })
            .collect()
        })
    }

    /// Whether a model that imports this opset of ai.onnx, in this IR version, is loaded.
    #[must_use]
    pub fn loads(&self, opset: Option<i64>, ir_version: i64) -> bool {
        self.exceeded(opset, ir_version) == (None, None)
    }

    /// Whether it computes INT64 with 32 bits.
    #[must_use]
    pub fn narrows_int64(&self) -> bool {
        self.name == "openvino"
    }

    /// The newest opset and the newest IR version that are loaded, each if that of a model is
    /// newer.
    #[must_use]
    pub fn exceeded(&self, opset: Option<i64>, ir_version: i64) -> (Option<i64>, Option<i64>) {
        let newest_opset = opset
            .filter(|&opset| opset > self.opset)
            .map(|_| self.opset);
        (
            newest_opset,
            self.ir_version.filter(|&newest| ir_version > newest),
        )
    }

    /// The newest opset whose release has an IR version that is loaded.
    #[must_use]
    pub fn newest_opset(&self) -> i64 {
        let is_loaded = |&opset: &i64| {
            crate::schemas::ir_of_opset(opset).is_some_and(|ir| self.loads(Some(opset), ir))
        };
        (1..=self.opset).rev().find(is_loaded).unwrap_or(1)
    }

    /// The row of a version.
    #[must_use]
    pub fn of_version(name: &str, version: Version) -> Option<Runtime> {
        let numbers = [version.major, version.minor];
        Runtime::all()
            .iter()
            .find(|row| row.name == name && row.covers(&numbers))
            .map(|row| Runtime { version, ..*row })
    }

    /// The runtime with the version that was named, without the others of its row.
    #[must_use]
    pub fn named(&self) -> String {
        format!("{} {}", self.name, self.version)
    }

    /// If the version is newer than those of the table, or was named by its first number: what it
    /// is treated as.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        if self.is_major {
            return Some(format!(
                "{} {} is read as {}, its newest known version",
                self.name, self.version.major, self.version
            ));
        }
        let is_newer = self.version > Version::of(&bound(self.last));
        is_newer.then(|| {
            format!(
                "{} is not known yet; it is treated as {} {}, the newest known version",
                self.named(),
                self.name,
                self.last
            )
        })
    }

    fn covers(&self, version: &[u32]) -> bool {
        version >= bound(self.first).as_slice()
            && by_prefix(version, &bound(self.last)) != Ordering::Greater
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{} {}", self.name, self.first)
        } else {
            write!(f, "{} {} to {}", self.name, self.first, self.last)
        }
    }
}

impl FromStr for Runtime {
    type Err = UnknownRuntime;

    fn from_str(name: &str) -> Result<Runtime, UnknownRuntime> {
        let unknown = |message: String| UnknownRuntime { message };
        let (runtime, version) = match name.split_once('@') {
            Some((runtime, version)) => (runtime, Some(version)),
            None => (name.split(NOT_AT).next().unwrap_or(name), None),
        };
        let rows: Vec<Runtime> = Runtime::all()
            .iter()
            .filter(|row| row.name.eq_ignore_ascii_case(runtime))
            .copied()
            .collect();
        let Some(last) = rows.last() else {
            return Err(unknown(unknown_name(runtime)));
        };
        let version = version.ok_or_else(|| {
            let stated = name.split(NOT_AT).next_back();
            let version = stated.filter(|version| numbers(version).is_some());
            unknown(format!(
                "expected RUNTIME@VERSION, for instance {}@{}",
                last.name,
                version.unwrap_or(last.last)
            ))
        })?;
        let numbers = numbers(version).ok_or_else(|| {
            unknown(format!(
                "'{version}' is not a version; expected numbers such as 1.17"
            ))
        })?;
        // A newer version than the newest is treated as that one, unless the versions of the
        // runtime are not ordered.
        let newest = rows
            .last()
            .filter(|newest| rows.iter().all(|row| bound(row.last) <= bound(newest.last)));
        let newer =
            newest.filter(|newest| by_prefix(&numbers, &bound(newest.last)) == Ordering::Greater);
        let row = rows
            .iter()
            .find(|row| row.covers(&numbers))
            .or(newer)
            .copied();
        if let Some(row) = row {
            return Ok(Runtime {
                version: Version::of(&numbers),
                ..row
            });
        }
        let newest_of_major = rows
            .iter()
            .rfind(|row| numbers.len() == 1 && bound(row.last).starts_with(&numbers));
        let newest =
            newest_of_major.ok_or_else(|| unknown(unknown_version(version, &numbers, &rows)))?;
        Ok(Runtime {
            is_major: true,
            ..*newest
        })
    }
}

/// What others write between a name and a version, as in `onnxruntime==1.17`.
const NOT_AT: [char; 4] = ['=', ':', '-', ' '];

/// Other names of runtimes.
const SHORT_NAMES: &[(&str, &str)] = &[("ort", "onnxruntime"), ("trt", "tensorrt")];

fn unknown_name(runtime: &str) -> String {
    let short = SHORT_NAMES
        .iter()
        .find(|(short, _)| runtime.eq_ignore_ascii_case(short));
    let mut known: Vec<&str> = Runtime::all().iter().map(|row| row.name).collect();
    known.dedup();
    let alike = |name: &str| strsim::jaro_winkler(&runtime.to_ascii_lowercase(), name);
    let closest = known
        .iter()
        .map(|name| (alike(name), name))
        .filter(|&(alike, _)| alike >= ALIKE);
    let closest = closest
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| *name);
    let hint = match short.map(|(_, name)| *name).or(closest) {
        Some(name) => format!("did you mean {name}? "),
        None => String::new(),
    };
    format!(
        "unknown runtime '{runtime}'; {hint}known runtimes are {}",
        known.join(", ")
    )
}

/// Names that are less alike are other names.
const ALIKE: f64 = 0.8;

/// A runtime loads what its older versions load, so the hint is the last known version before the
/// unknown one.
fn unknown_version(version: &str, numbers: &[u32], rows: &[Runtime]) -> String {
    let hint = match rows
        .iter()
        .rfind(|row| bound(row.last).as_slice() < numbers)
    {
        Some(Runtime { name, last, .. }) => format!("{name}@{last} is the last before it; "),
        None => String::new(),
    };
    let known: Vec<String> = rows.iter().map(ToString::to_string).collect();
    format!(
        "unknown version '{version}'; {hint}known are {}",
        known.join(", ")
    )
}

/// A row of the table: five words, and the source.
fn read(row: &'static str) -> Option<Runtime> {
    let mut rest = row;
    let mut word = || {
        let (word, others) = rest.trim_start().split_once(' ')?;
        rest = others;
        Some(word)
    };
    let (name, first, last) = (word()?, word()?, word()?);
    let opset = word()?.parse().ok()?;
    let ir_version = match word()? {
        "-" => None,
        number => Some(number.parse().ok()?),
    };
    let version = Version::read(last)?;
    Some(Runtime {
        name,
        first,
        last,
        opset,
        ir_version,
        source: rest.trim(),
        version,
        is_major: false,
    })
}

fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// The version of a row; a test reads them all.
fn bound(version: &str) -> Vec<u32> {
    numbers(version).unwrap_or_default()
}

/// Compares as many parts as the bound has: 1.17.3 is not after 1.17.
fn by_prefix(version: &[u32], bound: &[u32]) -> Ordering {
    version[..version.len().min(bound.len())].cmp(bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_rows() {
        for (name, opset) in [
            ("onnxruntime@1.5.2", 12),
            ("onnxruntime@1.16.3", 19),
            ("ONNXRuntime@1.17", 20),
            ("onnxruntime@1.31", 26),
            ("tensorrt@8.6.1", 17),
            ("tensorrt@9.3", 19),
            ("windowsml@1903", 8),
            ("rknn@2.0", 19),
        ] {
            assert_eq!(
                name.parse().map(|runtime: Runtime| runtime.opset),
                Ok(opset),
                "{name}"
            );
        }
    }

    #[test]
    fn a_first_number_alone_is_that_of_the_newest_known_version() {
        for (name, note) in [
            (
                "onnxruntime@1",
                Some("onnxruntime 1 is read as 1.32, its newest known version"),
            ),
            (
                "tensorrt@10",
                Some("tensorrt 10 is read as 10.15, its newest known version"),
            ),
            ("tensorrt@9", None),
            ("windowsml@1903", None),
        ] {
            assert_eq!(
                name.parse::<Runtime>().unwrap().note().as_deref(),
                note,
                "{name}"
            );
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_the_nearest() {
        for (name, hint) in [
            (
                "openvino",
                "expected RUNTIME@VERSION, for instance openvino@2026.4",
            ),
            (
                "onnxruntime==1.17",
                "expected RUNTIME@VERSION, for instance onnxruntime@1.17",
            ),
            ("ort", "unknown runtime 'ort'; did you mean onnxruntime? "),
            (
                "onnxrumtime@1.17",
                "unknown runtime 'onnxrumtime'; did you mean onnxruntime? known runtimes are ",
            ),
            ("TensorRT8@8.6", "did you mean tensorrt? "),
            (
                "tflite@2",
                "unknown runtime 'tflite'; known runtimes are onnxruntime, openvino, opencv, tract, tensorrt",
            ),
            ("onnxruntime@new", "'new' is not a version"),
            ("onnxruntime@", "'' is not a version"),
            ("ort@1.17", "did you mean onnxruntime? "),
            ("TRT@10", "did you mean tensorrt? "),
            ("tensorrt@7", "unknown version '7'; "),
            (
                "onnxruntime@1.6",
                "unknown version '1.6'; onnxruntime@1.5.2 is the last before it; known are",
            ),
            ("windowsml@1909", "unknown version '1909'; "),
        ] {
            let message = name.parse::<Runtime>().unwrap_err().to_string();
            assert!(message.contains(hint), "{name}: {message}");
        }
    }

    #[test]
    fn every_row_has_a_source_and_versions_in_order() {
        for runtime in Runtime::all() {
            let (first, last) = (numbers(runtime.first), numbers(runtime.last));
            assert!(
                first.is_some() && first <= last && !runtime.source.is_empty(),
                "{runtime}"
            );
            assert!(
                (1..=crate::schemas::LATEST_OPSET).contains(&runtime.opset),
                "{runtime}"
            );
        }
    }
}
