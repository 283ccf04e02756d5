//! What ONNX says of the elements of a cast: defined, undefined, or contested.

/// What ONNX says of one element's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The text says what the result is.
    Defined,
    /// The text says nothing, or says that the result is undefined.
    Undefined(&'static str),
    /// The text says one thing; ONNX's own node tests and the runtimes do another.
    Contested(&'static str),
}

/// Elements of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// The index of the first.
    pub first: Option<u64>,
    /// Why the first is of this kind; empty if there is none.
    pub why: &'static str,
}

/// The elements of a cast that ONNX does not define.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Elements whose result the text leaves open.
    pub undefined: Tally,
    /// Elements whose result the text and the runtimes disagree on.
    pub contested: Tally,
}

impl Summary {
    /// Whether ONNX defines every element.
    #[must_use]
    pub fn is_defined(&self) -> bool {
        self.undefined.count == 0 && self.contested.count == 0
    }

    /// Counts one element; indices come in rising order.
    pub(super) fn add(&mut self, index: u64, verdict: Verdict) {
        match verdict {
            Verdict::Defined => {}
            Verdict::Undefined(why) => self.undefined.add(index, why),
            Verdict::Contested(why) => self.contested.add(index, why),
        }
    }

    /// Joins the summary of a tensor's next part, which begins at element `offset`.
    #[must_use]
    pub fn followed_by(self, offset: u64, next: Summary) -> Summary {
        Summary {
            undefined: self.undefined.followed_by(offset, next.undefined),
            contested: self.contested.followed_by(offset, next.contested),
        }
    }
}

impl Tally {
    /// A tally of which only the count is known.
    pub(super) fn of(count: u32) -> Tally {
        Tally { count: count.into(), ..Tally::default() }
    }

    /// Whether `next` has the first of its kind.
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
            Some(_) => Tally { count: self.count + next.count, ..self },
            None => Tally { first: next.first.map(|first| offset + first), ..next },
        }
    }
}
