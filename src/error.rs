//! The one error of a model that is not what ONNX says it should be.

/// Something in a model is wrong, at a place in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Invalid {
    /// Node path or the name of the entity: `graph/if_1.then_branch/cast_3`.
    pub place: String,
    /// What is wrong, and what to do if that is not plain.
    pub what: String,
}

impl Invalid {
    /// Something is wrong at `place`.
    pub fn at(place: impl Into<String>, what: impl ToString) -> Invalid {
        Invalid { place: place.into(), what: what.to_string() }
    }
}
