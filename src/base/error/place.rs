//! Places in a model file.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

/// A place in a model file.
///
/// ```
/// use onnx_recast::{ConvertOptions, Model};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let mut model = Model::from_text(
///     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { [add] y = Add (x, missing) }"#,
/// )?;
/// let error = model.convert(&ConvertOptions::to(22)).unwrap_err();
/// let place = error.place().unwrap();
/// assert_eq!((place.scope(), place.node(), place.value()), (Some("graph"), Some("add"), Some("missing")));
/// assert_eq!(place.to_string(), "graph/add");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A part of the model.
    Model(ModelPlace),
    /// A byte of the file.
    Byte {
        /// Its offset.
        offset: u64,
        /// The innermost field that contains it, `graph.node[3].attribute[0].t`; empty if it
        /// belongs to no field.
        field: String,
    },
}

impl Place {
    /// The path of the graph, subgraph or function: `graph/if_1.then_branch`,
    /// `function/my.domain:Fn`.
    #[must_use]
    pub fn scope(&self) -> Option<&str> {
        self.in_model()?.names.scope.as_deref()
    }

    /// The node, as it is named in paths: its name, or `#12:Cast` if it has none.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.in_model()?.names.node.as_deref()
    }

    /// The name of the value.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.in_model()?.names.value.as_deref()
    }

    fn in_model(&self) -> Option<&ModelPlace> {
        match self {
            Place::Model(place) => Some(place),
            Place::Byte { .. } => None,
        }
    }
}

/// A part of a model: its path and, if they are known, its scope, node and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelPlace {
    /// `graph/if_1.then_branch/cast_3`, `graph initializer 'w'`.
    path: String,
    /// Boxed, since errors are results of most functions.
    names: Box<Names>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Names {
    scope: Option<String>,
    node: Option<String>,
    value: Option<String>,
}

impl ModelPlace {
    /// A graph, subgraph or function.
    pub(crate) fn of_scope(path: String) -> ModelPlace {
        let names = Names {
            scope: Some(path.clone()),
            ..Names::default()
        };
        ModelPlace {
            path,
            names: Box::new(names),
        }
    }

    /// A node of a scope.
    pub(crate) fn of_node(scope: &str, node: &str) -> ModelPlace {
        let names = Names {
            scope: Some(scope.to_owned()),
            node: Some(node.to_owned()),
            value: None,
        };
        ModelPlace {
            path: format!("{scope}/{node}"),
            names: Box::new(names),
        }
    }

    /// A value of a scope; `kind` is a word such as `initializer`.
    pub(crate) fn of_value(scope: &str, kind: &str, name: &str) -> ModelPlace {
        let names = Names {
            scope: Some(scope.to_owned()),
            node: None,
            value: Some(name.to_owned()),
        };
        ModelPlace {
            path: format!("{scope} {kind} '{name}'"),
            names: Box::new(names),
        }
    }

    /// The place with the value that is at fault; the path stays.
    #[must_use]
    pub(crate) fn about_value(mut self, name: &str) -> ModelPlace {
        self.names.value = Some(name.to_owned());
        self
    }

    /// A part of the place, such as an attribute of its node; it is added to the path.
    #[must_use]
    pub(crate) fn part(self, name: &str) -> ModelPlace {
        ModelPlace {
            path: format!("{}.{name}", self.path),
            ..self
        }
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl From<String> for ModelPlace {
    fn from(path: String) -> ModelPlace {
        ModelPlace {
            path,
            names: Box::default(),
        }
    }
}

impl From<&str> for ModelPlace {
    fn from(path: &str) -> ModelPlace {
        path.to_owned().into()
    }
}

impl fmt::Display for ModelPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Model(place) => place.fmt(f),
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

/// A name as it is in a path. The paths of everything inside repeat it: their total length would be
/// quadratic in the size of the model if one name could be as long as the model.
pub(crate) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}
