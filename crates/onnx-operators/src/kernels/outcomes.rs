//! What a runtime computes, established by running models: right, wrong or refused.
//!
//! A line of `facts/runs/` is `OPERATOR NUMBERS OUTCOME COUNT CONDITION… : WORDS`. The first line
//! for an operation of which all conditions are true decides, unless a line about element types,
//! `OUTCOME TYPE…`, does.

use super::operation::Operation;
use super::ranges::{is_in, ranges};
use crate::hash::HashMap;
use crate::schemas::{self, Schema};
use onnx_cast::DType;

/// What a runtime makes of operations.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// By domain and operator, in the order of the file.
    lines: HashMap<(&'static str, &'static str), Vec<Line>>,
    /// The element types of which no input or output is run.
    refused: Vec<DType>,
    /// The element types of which it is not known whether an input is run.
    unknown: Vec<DType>,
}

#[derive(Debug)]
struct Line {
    /// The versions of the operator: the first and the last of each range.
    numbers: Vec<(i64, i64)>,
    outcome: Outcome,
    conditions: Vec<(&'static str, &'static str)>,
}

/// What a runtime makes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The results are those that ONNX defines.
    Right,
    /// The results are others; what it computes instead.
    Wrong(&'static str),
    /// The results are others for some values of the inputs; what it computes then.
    Partly(&'static str),
    /// Only infinities and NaN may be others; what it computes instead.
    Special(&'static str),
    /// The results are those that ONNX defines if all inputs after the first one are constants.
    Constant,
    /// It does not load or run the node.
    Refused,
    /// It was not run, or depends on more than the types, attributes and number of inputs.
    Unknown,
}

impl Outcomes {
    /// Adds a line; none if it is not one.
    pub fn add(&mut self, text: &'static str) -> Option<()> {
        let (line, words) = text.split_once(" : ").unwrap_or((text, ""));
        let mut parts = line.split(' ');
        let (operator, numbers) = (parts.next()?, ranges(parts.next()?)?);
        let outcome = match parts.next()? {
            "right" => Outcome::Right,
            "wrong" if !words.is_empty() => Outcome::Wrong(words),
            "partly" if !words.is_empty() => Outcome::Partly(words),
            "special" if !words.is_empty() => Outcome::Special(words),
            "refused" => Outcome::Refused,
            "constant" => Outcome::Constant,
            "unknown" => Outcome::Unknown,
            _ => return None,
        };
        parts.next()?.parse::<u32>().ok()?;
        let conditions = parts
            .map(|word| word.split_once('='))
            .collect::<Option<_>>()?;
        let (domain, op) = operator.split_once(':').unwrap_or(("", operator));
        self.lines.entry((domain, op)).or_default().push(Line {
            numbers,
            outcome,
            conditions,
        });
        Some(())
    }

    /// Adds a line about element types, `OUTCOME TYPE…`; none if it is not one.
    pub fn add_elements(&mut self, text: &'static str) -> Option<()> {
        let (outcome, names) = text.split_once(' ')?;
        let elements = names.split(' ').map(DType::from_name);
        let elements: Vec<DType> = elements.collect::<Option<_>>()?;
        match outcome {
            "refused" => self.refused = elements,
            "unknown" => self.unknown = elements,
            _ => return None,
        }
        Some(())
    }

    /// Whether the runtime is known to run no node with an input or output of an element type.
    pub fn lacks(&self, dtype: DType) -> bool {
        self.refused.contains(&dtype)
    }

    /// What the runtime makes of an operation, never [`Outcome::Constant`]; none if no line is about
    /// the operator.
    pub fn of(&self, operation: &Operation) -> Option<Outcome> {
        if operation.has_element(|_, dtype| self.lacks(dtype)) {
            return Some(Outcome::Refused);
        }
        if operation.has_element(|is_output, dtype| !is_output && self.unknown.contains(&dtype)) {
            return Some(Outcome::Unknown);
        }
        let lines = self.lines.get(&(operation.domain(), operation.op()))?;
        Some(match outcome_in(lines, operation) {
            Outcome::Constant if operation.has_constant_inputs() => Outcome::Right,
            Outcome::Constant => Outcome::Unknown,
            outcome => outcome,
        })
    }

    /// Whether lines are about an operator.
    pub fn has(&self, schema: &Schema) -> bool {
        let domain = schemas::canonical_domain(schema.domain);
        self.lines.contains_key(&(domain, schema.name))
    }

    /// Whether some node of a version of an operator is run, or none was tried.
    pub fn runs_some(&self, schema: &Schema) -> bool {
        let lines = self
            .lines
            .get(&(schemas::canonical_domain(schema.domain), schema.name));
        let mut known = lines
            .into_iter()
            .flatten()
            .filter(|line| is_in(schema.since_version, &line.numbers))
            .peekable();
        known.peek().is_none() || known.any(|line| line.outcome != Outcome::Refused)
    }
}

/// The outcome of the line that decides. A condition on a type that is not known makes it unknown.
fn outcome_in(lines: &[Line], operation: &Operation) -> Outcome {
    let known = lines
        .iter()
        .filter(|line| is_in(operation.since(), &line.numbers));
    for line in known {
        let mut is_true = Some(true);
        for &(name, values) in &line.conditions {
            match operation.satisfies(name, values) {
                Some(false) => {
                    is_true = Some(false);
                    break;
                }
                None => is_true = None,
                Some(true) => {}
            }
        }
        match is_true {
            Some(true) => return line.outcome,
            None => return Outcome::Unknown,
            Some(false) => {}
        }
    }
    Outcome::Unknown
}
