//! A term, and casts of it that are no terms themselves.

use super::term::{Effect, TermId};
use super::terms::Terms;
use onnx_cast::DType;

/// A term, and casts of it: the last one first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct WithCasts {
    pub term: TermId,
    pub casts: Vec<TermId>,
}

impl From<TermId> for WithCasts {
    fn from(term: TermId) -> WithCasts {
        WithCasts {
            term,
            casts: Vec::new(),
        }
    }
}

impl WithCasts {
    /// The term is a cast of another one, which is cast first.
    pub fn inside(mut self, of: TermId) -> WithCasts {
        self.casts.push(self.term);
        WithCasts { term: of, ..self }
    }

    /// The casts, applied to an input of a data movement.
    pub fn of_input(&self, term: TermId) -> WithCasts {
        WithCasts {
            term,
            casts: self.casts.clone(),
        }
    }

    /// The input of the last cast, and that cast.
    pub fn without_last(&self) -> Option<(WithCasts, TermId)> {
        let (&last, before) = self.casts.split_first()?;
        Some((
            WithCasts {
                term: self.term,
                casts: before.to_vec(),
            },
            last,
        ))
    }

    /// The element type, if it is known.
    pub fn dtype(&self, terms: &Terms) -> Option<DType> {
        self.casts.first().map_or_else(
            || terms.dtype(self.term),
            |&cast| terms.effect(cast).map(|effect| effect.to),
        )
    }

    /// The term in one form, in which equal casts are equal.
    pub fn reduced(&self, terms: &Terms) -> (TermId, Vec<Effect>) {
        terms.reduced(
            self.term,
            self.casts
                .iter()
                .rev()
                .filter_map(|&cast| terms.effect(cast)),
        )
    }
}
