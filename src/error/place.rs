//! Places in a model file.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// A place in a model file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// The path of a node, value or other part of the model: `graph/if_1.then_branch/cast_3`, `graph initializer 'w'`.
    Path(String),
    /// A byte of the file.
    Byte {
        /// Its offset.
        offset: u64,
        /// The innermost field that contains it, `graph.node[3].attribute[0].t`; empty if it belongs to no field.
        field: String,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Path(path) => f.write_str(path),
            Place::Byte { offset, field } if field.is_empty() => write!(f, "byte {offset}"),
            Place::Byte { offset, field } => write!(f, "`{field}` at byte {offset}"),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Characters of a name that a path shows.
const LONGEST_NAME: usize = 200;

/// A name as it is in a path. The paths of everything inside repeat it: their total length would be quadratic in the size of the model
/// if one name could be as long as the model.
pub(crate) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}
