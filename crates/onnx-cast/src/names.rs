//! Values that are chosen by name.

/// A name that is not one of an option's values.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct UnknownName {
    expected: String,
}

impl UnknownName {
    /// The error that lists the names that are known.
    #[must_use]
    pub fn among(known: &[&str]) -> UnknownName {
        let expected = match known {
            [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
            all => all.concat(),
        };
        UnknownName { expected }
    }
}

/// Gives an enum its names, in this crate and in those that are built on it: `NAMES` and `FromStr`.
#[doc(hidden)]
#[macro_export]
macro_rules! choice {
    ($visibility:vis $type:ident { $($name:literal => $value:ident),+ }) => {
        impl $type {
            /// The names of all values.
            $visibility const NAMES: &[&str] = &[$($name),+];
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            fn from_str(name: &str) -> Result<$type, Self::Err> {
                match name {
                    $($name => Ok($type::$value),)+
                    _ => Err($crate::UnknownName::among($type::NAMES)),
                }
            }
        }
    };
}
