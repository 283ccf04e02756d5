//! The status of the elements of a cast in ONNX: defined, undefined or contested.

/// The status of the result of one element in ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The text defines the result.
    Defined,
    /// The text is silent, or states that the result is undefined.
    Undefined(&'static str),
    /// The text contradicts ONNX's node tests and the runtimes.
    Contested(&'static str),
}

/// The elements with one status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of elements.
    pub count: u64,
    /// The index of the first.
    pub first: Option<u64>,
    /// The reason for the status of the first; empty if there is none.
    pub why: &'static str,
}

/// The elements of a cast that ONNX does not define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Elements whose result the text leaves undefined.
    pub undefined: Tally,
    /// Elements on whose result the text and the runtimes disagree.
    pub contested: Tally,
}

impl Summary {
    /// Whether ONNX defines every element.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        self.undefined.count == 0 && self.contested.count == 0
    }

    /// Counts one element; indices must be ascending.
    pub(super) fn add(&mut self, index: u64, verdict: Verdict) {
        match verdict {
            Verdict::Defined => {}
            Verdict::Undefined(why) => self.undefined.add(index, why),
            Verdict::Contested(why) => self.contested.add(index, why),
        }
    }

    /// Merges the summary of the next part of a tensor, which starts at element `offset`.
    #[must_use]
    pub fn followed_by(self, offset: u64, next: Summary) -> Summary {
        Summary {
            undefined: self.undefined.followed_by(offset, next.undefined),
            contested: self.contested.followed_by(offset, next.contested),
        }
    }
}

impl Tally {
    /// A tally with only a count.
    pub(super) fn of(count: u32) -> Tally {
        Tally {
            count: count.into(),
            ..Tally::default()
        }
    }

    /// Whether the first element with the status is in `next`.
    pub(super) fn is_new(&self, next: Tally) -> bool {
        self.count == 0 && next.count > 0
    }

    fn add(&mut self, index: u64, why: &'static str) {
        if self.first.is_none() {
            (self.first, self.why) = (Some(index), why);
        }
        self.count += 1;
    }

    fn followed_by(self, offset: u64, next: Tally) -> Tally {
        match self.first {
            Some(_) => Tally {
                count: self.count + next.count,
                ..self
            },
            None => Tally {
                first: next.first.map(|first| offset + first),
                ..next
            },
        }
    }
}
