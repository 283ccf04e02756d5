//! Runtimes, and the newest opset and IR version that they load: `facts/targets.txt`.

use std::cmp::Ordering;
use std::fmt;
use std::sync::OnceLock;

use serde::Serialize;

/// Consecutive versions of a runtime that load the same models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The name of the runtime.
    pub runtime: &'static str,
    /// The first version.
    pub first: &'static str,
    /// The last version; later releases of the same version are included.
    pub last: &'static str,
    /// The newest opset of ai.onnx.
    pub opset: i64,
    /// The newest IR version, if the source states it.
    pub ir: Option<i64>,
    /// Where the numbers come from.
    pub source: &'static str,
}

impl Target {
    /// Whether a model that imports this opset, in this IR version, is loaded.
    #[must_use]
    pub fn loads(&self, opset: Option<i64>, ir_version: i64) -> bool {
        opset.is_none_or(|opset| opset <= self.opset) && self.ir.is_none_or(|newest| ir_version <= newest)
    }

    /// The newest opset whose release has an IR version that is loaded.
    #[must_use]
    pub fn newest_opset(&self) -> i64 {
        let is_loaded = |&opset: &i64| super::ir_of_opset(opset).is_some_and(|ir| self.loads(Some(opset), ir));
        (1..=self.opset).rev().find(is_loaded).unwrap_or(1)
    }

    fn covers(&self, version: &[u32]) -> bool {
        let bound = |text: &str| numbers(text).unwrap_or_default();
        let (first, last) = (bound(self.first), bound(self.last));
        version >= first.as_slice() && by_prefix(version, &last) != Ordering::Greater
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => write!(f, "{} {}", self.runtime, self.first),
            false => write!(f, "{} {} to {}", self.runtime, self.first, self.last),
        }
    }
}

/// All targets, by runtime, oldest first.
#[must_use]
pub fn targets() -> &'static [Target] {
    static TARGETS: OnceLock<Vec<Target>> = OnceLock::new();
    TARGETS.get_or_init(|| {
        let rows = include_str!("../../facts/targets.txt").lines().filter(|line| !line.starts_with('#'));
        rows.map(|row| read(row).unwrap_or_else(|| panic!("facts/targets.txt is tested, but: {row}"))).collect()
    })
}

/// A row of the table: five words, and the source.
fn read(row: &'static str) -> Option<Target> {
    let mut rest = row;
    let mut word = || {
        let (word, others) = rest.trim_start().split_once(' ')?;
        rest = others;
        Some(word)
    };
    let (runtime, first, last) = (word()?, word()?, word()?);
    let opset = word()?.parse().ok()?;
    let ir = match word()? {
        "-" => None,
        number => Some(number.parse().ok()?),
    };
    Some(Target { runtime, first, last, opset, ir, source: rest.trim() })
}

/// The target of a name such as `onnxruntime@1.17` or `onnxruntime@1.17.3`.
///
/// # Errors
/// If the runtime or its version is not in the table, with those that are.
pub fn target(name: &str) -> Result<&'static Target, String> {
    let (runtime, version) =
        name.split_once('@').ok_or_else(|| "expected RUNTIME@VERSION, for instance onnxruntime@1.17".to_owned())?;
    let rows: Vec<&Target> = targets().iter().filter(|target| target.runtime.eq_ignore_ascii_case(runtime)).collect();
    if rows.is_empty() {
        let mut runtimes: Vec<&str> = targets().iter().map(|target| target.runtime).collect();
        runtimes.dedup();
        return Err(format!("unknown runtime '{runtime}'; known runtimes are {}", runtimes.join(", ")));
    }
    let numbers = numbers(version).ok_or_else(|| format!("'{version}' is not a version; expected numbers such as 1.17"))?;
    rows.iter().find(|target| target.covers(&numbers)).copied().ok_or_else(|| {
        let known: Vec<String> = rows.iter().map(ToString::to_string).collect();
        format!("unknown version '{version}'; known are {}", known.join(", "))
    })
}

fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
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
            assert_eq!(target(name).map(|target| target.opset), Ok(opset), "{name}");
        }
        for name in
            ["onnxruntime", "onnxruntime@1.6", "onnxruntime@1.32", "onnxruntime@new", "onnxruntime@1", "tflite@2", "tensorrt@10.2"]
        {
            assert!(target(name).is_err(), "{name}");
        }
    }

    #[test]
    fn every_row_has_a_source_and_versions_in_order() {
        for target in targets() {
            let (first, last) = (numbers(target.first), numbers(target.last));
            assert!(first.is_some() && first <= last && !target.source.is_empty(), "{target}");
            assert!((1..=crate::facts::LATEST_OPSET).contains(&target.opset), "{target}");
        }
    }
}
