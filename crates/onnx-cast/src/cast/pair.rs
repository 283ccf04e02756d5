//! A cast: two types that an opset supports, with its rules.

use super::rules::Rules;
use crate::dtype::DType;

/// `Cast` of the opset does not support a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Cast does not support {dtype} {}", match .since {
    Some(since) => format!("before opset {since}; the opset is {opset}"),
    None => "in any opset".to_owned(),
})]
pub struct Unsupported {
    /// The unsupported type.
    pub dtype: DType,
    /// The requested opset.
    pub opset: u32,
    /// The first opset that supports the type.
    pub since: Option<u32>,
}

/// A cast from one type to another under the rules of an opset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    pub(super) from: DType,
    pub(super) to: DType,
    pub(super) rules: Rules,
}

impl Cast {
    /// Creates a cast that the opset supports.
    ///
    /// # Errors
    /// If `Cast` of the opset does not support one of the types.
    pub fn new(from: DType, to: DType, rules: Rules) -> Result<Cast, Unsupported> {
        for dtype in [from, to] {
            let since = dtype.cast_since();
            if since.is_none_or(|since| rules.opset < since) {
                return Err(Unsupported {
                    dtype,
                    opset: rules.opset,
                    since,
                });
            }
        }
        Ok(Cast { from, to, rules })
    }

    /// The type of the source.
    #[must_use]
    pub fn from(&self) -> DType {
        self.from
    }

    /// The type of the target.
    #[must_use]
    pub fn to(&self) -> DType {
        self.to
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    pub(super) fn check_source(&self, source: &[u8], elements: usize) {
        let needed = self
            .from
            .raw_bytes(elements as u64)
            .expect("the source is numeric");
        assert!(
            source.len() as u64 >= needed,
            "{elements} elements of {} need {needed} bytes, not {}",
            self.from,
            source.len()
        );
    }

    pub(super) fn check_target(&self, elements: usize, target: &[u8]) {
        let needed = self
            .to
            .raw_bytes(elements as u64)
            .expect("the target is numeric");
        assert!(
            target.len() as u64 == needed,
            "{elements} elements of {} take {needed} bytes, not {}",
            self.to,
            target.len()
        );
    }
}
