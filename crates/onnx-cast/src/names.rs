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
