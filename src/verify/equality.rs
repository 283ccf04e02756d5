//! Which values of the two models are equal: by their terms and, of constants, by their values.

use super::contents::{self, Contents, Unequal};
use super::evaluate::Value;
use super::fault::Fault;
use super::matching::are_same;
use super::movement::is_shape_of;
use super::new_messages::NewMessages;
use super::term::{ModelSide, Term, TermId};
use super::terms::Terms;
use super::unchanged_fields::{compare_nodes, of_passes};
use super::verified::Verified;
use super::with_casts::WithCasts;
use super::{constants, laws};
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{NodeId, Origin, ScopeId, ValueId};
use crate::passes::Options;

/// Decides which values of the two models are equal.
pub(super) struct Equality<'m, 'p> {
    terms: &'m Terms<'m>,
    contents: Contents<'m>,
    /// If lossy passes were run, the same without law 4: exact passes may have folded casts of
    /// constants before.
    exact: Option<Box<Equality<'m, 'p>>>,
    new_messages: &'m NewMessages<'p>,
    /// Terms whose values were compared: the number of elements, or what differs.
    compared: HashMap<(WithCasts, WithCasts), Result<u64, String>>,
    /// Terms that were shown to be equal, so that a chain of casts is followed once, not once for
    /// each of its values.
    equal: HashSet<(TermId, TermId)>,
}

impl<'m, 'p> Equality<'m, 'p> {
    pub fn new(
        terms: &'m Terms<'m>,
        new_messages: &'m NewMessages<'p>,
        options: Options,
    ) -> Equality<'m, 'p> {
        let contents = Contents::new(terms, options);
        Equality {
            terms,
            contents,
            exact: None,
            new_messages,
            compared: HashMap::default(),
            equal: HashSet::default(),
        }
    }

    /// The comparison, which also accepts values that are equal by the terms of `exact`.
    pub fn or(self, exact: Option<Equality<'m, 'p>>) -> Equality<'m, 'p> {
        Equality {
            exact: exact.map(Box::new),
            ..self
        }
    }

    /// Adds what another comparison of the same terms found.
    pub fn extend(&mut self, other: Equality<'m, 'p>) {
        self.contents.extend(other.contents);
        self.compared.extend(other.compared);
        self.equal.extend(other.equal);
        if let (Some(exact), Some(other)) = (&mut self.exact, other.exact) {
            exact.extend(*other);
        }
    }

    /// Adds the constants whose values were compared, and their elements.
    pub fn count(&self, verified: &mut Verified) {
        #[expect(clippy::disallowed_methods, reason = "sums")]
        for elements in self.compared.values().flatten() {
            verified.constants += 1;
            verified.elements += elements;
        }
    }
}

impl Equality<'_, '_> {
    /// Compares a node with its counterpart.
    pub fn node(&mut self, node: NodeId) -> Vec<Fault> {
        let matching = self.terms.matching;
        let (original, written) = (matching.original, matching.written);
        let path = || written.node_path(node);
        let counterpart = matching.node(node);
        if counterpart.is_some_and(|counterpart| self.is_unchanged(counterpart, node)) {
            return Vec::new();
        }
        let is_known = self.terms.is_known(node);
        let is_same = |counterpart: &NodeId| {
            original.node(*counterpart).op_type == written.node(node).op_type
        };
        let Some(counterpart) = counterpart.filter(|counterpart| !is_known || is_same(counterpart))
        else {
            return if is_known {
                self.new_messages.node(node)
            } else {
                vec![Fault::at(path(), "the original has no such node")]
            };
        };
        let protos = [original.node(counterpart), written.node(node)];
        let mut faults = compare_nodes(matching, path, protos, of_passes);
        if is_known && !faults.is_empty() && self.is_renamed(node) {
            faults.clear();
        }
        if protos[0].input.len() != protos[1].input.len() {
            faults.push(Fault::at(
                path(),
                format!(
                    "has {} inputs; must have {}",
                    protos[1].input.len(),
                    protos[0].input.len()
                ),
            ));
        }
        // Values of the same name are compared, too; a cast that moved has a result of another
        // name.
        if is_known
            && !protos[1]
                .output
                .iter()
                .any(|name| protos[0].output.contains(name))
        {
            return faults;
        }
        faults.extend(self.renamed_results(counterpart, node));
        if is_known {
            return faults;
        }
        for index in 0..protos[0].input.len().max(protos[1].input.len()) as u32 {
            let values = (
                original.input(counterpart, index),
                written.input(node, index),
            );
            if let Err(what) = self.values(values) {
                faults.push(Fault::at(path(), format!("input {index}: {what}")));
            }
        }
        faults
    }

    /// Whether a node has the bytes of its counterpart, and inputs with equal terms.
    fn is_unchanged(&self, counterpart: NodeId, node: NodeId) -> bool {
        let (original, written) = (self.terms.matching.original, self.terms.matching.written);
        if !are_same([original.node(counterpart), written.node(node)]) {
            return false;
        }
        // Both list the inputs in the order in which they were read.
        let (mut before, mut after) = (original.inputs(counterpart), written.inputs(node));
        loop {
            match (before.next(), after.next()) {
                (None, None) => return true,
                (Some((index, left)), Some((same, right))) if index == same => {
                    let (left, right) = (
                        self.terms.of(ModelSide::Original, left),
                        self.terms.of(ModelSide::Written, right),
                    );
                    if left.is_none() || left != right {
                        return false;
                    }
                }
                _ => return false,
            }
        }
    }

    /// Whether a cast or data movement is one of the original whose result got the name of an equal
    /// value.
    fn is_renamed(&mut self, node: NodeId) -> bool {
        let (new_messages, terms) = (self.new_messages, self.terms);
        let of = |side, value: Option<ValueId>| value.and_then(|value| terms.of(side, value));
        let found = of(ModelSide::Written, terms.matching.written.output(node, 0));
        new_messages.renamed(node).iter().any(|&renamed| {
            let expected = of(
                ModelSide::Original,
                terms.matching.original.output(renamed, 0),
            );
            expected
                .zip(found)
                .is_some_and(|(left, right)| self.equal(left, right).is_ok())
        })
    }

    /// The faults of values: a value that differs from the value of the same name, used or not, and
    /// a new value without uses. A value next to a cast that moved may have the type before or
    /// after the cast.
    pub fn named(&mut self, values: &[ValueId]) -> Vec<Fault> {
        let (terms, matching) = (self.terms, self.terms.matching);
        let mut faults = Vec::new();
        for &value in values {
            let is_made = matches!(
                matching.written.origin(value),
                Origin::Node { .. } | Origin::Initializer { .. }
            );
            if !is_made || matching.written.name(value).is_empty() {
                continue;
            }
            let found = match (matching.value(value), terms.of(ModelSide::Written, value)) {
                (None, _) if !constants::is_used(matching.written, value) => {
                    Err("was added, but nothing uses it".to_owned())
                }
                (Some(same), Some(right)) => match terms.of(ModelSide::Original, same) {
                    Some(left) if left == right => Ok(()),
                    Some(left) => self.equal_but_for_casts(left, right),
                    None => Ok(()),
                },
                _ => Ok(()),
            };
            if let Err(what) = found {
                let scope = matching
                    .written
                    .scope_path(matching.written.scope_of(value));
                faults.push(Fault::at(
                    format!("{scope}/{}", matching.written.name(value)),
                    what,
                ));
            }
        }
        faults
    }

    fn equal_but_for_casts(&mut self, original: TermId, written: TermId) -> Result<(), String> {
        if original == written {
            return Ok(());
        }
        let (left, right) = (self.terms.uncast(original), self.terms.uncast(written));
        let is_cast = (left, right) != (original, written);
        self.equal(original, written).or_else(|what| {
            if is_cast && self.equal(left, right).is_ok() {
                Ok(())
            } else {
                Err(what)
            }
        })
    }

    /// Results of a node that have another name than in the original, where that is not the name of
    /// an equal value.
    fn renamed_results(&mut self, counterpart: NodeId, node: NodeId) -> Option<Fault> {
        let (terms, matching) = (self.terms, self.terms.matching);
        let (expected, found) = (
            &matching.original.node(counterpart).output,
            &matching.written.node(node).output,
        );
        let mut is_same = |index: usize| {
            if expected[index] == found[index] {
                return true;
            }
            let of = |value: Option<ValueId>| {
                value.and_then(|value| terms.of(ModelSide::Original, value))
            };
            let named = matching
                .written
                .output(node, index as u32)
                .and_then(|value| matching.value(value));
            let (left, right) = (
                of(matching.original.output(counterpart, index as u32)),
                of(named),
            );
            matches!((left, right), (Some(left), Some(right)) if self.equal(right, left).is_ok())
        };
        let are_same = expected.len() == found.len() && (0..found.len()).all(&mut is_same);
        (!are_same).then(|| {
            let what = format!(
                "the results are '{}'; must be '{}'",
                found.join("', '"),
                expected.join("', '")
            );
            Fault::at(matching.written.node_path(node), what)
        })
    }

    /// Compares the outputs of a scope, which have the same names: other fields are compared
    /// elsewhere.
    pub fn outputs(&mut self, scope: ScopeId, counterpart: ScopeId) -> Vec<Fault> {
        let (original, written) = (self.terms.matching.original, self.terms.matching.written);
        let mut faults = Vec::new();
        for name in original.body(counterpart).output_names() {
            let values = (
                original.lookup(counterpart, name),
                written.lookup(scope, name),
            );
            if let Err(what) = self.values(values) {
                faults.push(Fault::at(
                    written.scope_path(scope),
                    format!("output: {what}"),
                ));
            }
        }
        faults
    }

    /// Compares two values that must be equal.
    fn values(
        &mut self,
        (original, written): (Option<ValueId>, Option<ValueId>),
    ) -> Result<(), String> {
        let (left, right) = match (original, written) {
            (None, None) => return Ok(()),
            (Some(original), Some(written)) => (original, written),
            (Some(value), None) => {
                return Err(format!(
                    "'{}' is missing",
                    self.terms.matching.original.name(value)
                ));
            }
            (None, Some(value)) => {
                return Err(format!(
                    "'{}' was added",
                    self.terms.matching.written.name(value)
                ));
            }
        };
        let names = || {
            (
                self.terms.matching.written.name(right),
                self.terms.matching.original.name(left),
            )
        };
        let differ = |what: &str| match names() {
            (found, expected) if found == expected => format!("'{found}' {what}"),
            (found, expected) => {
                format!("'{found}', in place of '{expected}' of the original, {what}")
            }
        };
        let terms = (
            self.terms.of(ModelSide::Original, left),
            self.terms.of(ModelSide::Written, right),
        );
        let (Some(left), Some(right)) = terms else {
            return Err(differ("is not defined"));
        };
        self.equal(left, right).map_err(|what| differ(&what))
    }

    /// Shows that two terms are equal.
    fn equal(&mut self, original: TermId, written: TermId) -> Result<(), String> {
        if original == written {
            return Ok(());
        }
        let shown = self.equal_terms(original, written);
        shown.or_else(|what| {
            if self.equal_exactly(original, written) {
                Ok(())
            } else {
                Err(what)
            }
        })
    }

    /// Whether values with two terms are equal without law 4.
    fn equal_exactly(&mut self, original: TermId, written: TermId) -> bool {
        let (terms, Some(exact)) = (self.terms, self.exact.as_mut()) else {
            return false;
        };
        let of = |id: TermId, side: ModelSide| {
            terms
                .values(id)
                .iter()
                .filter(move |(of, _)| *of == side)
                .map(|&(_, value)| value)
        };
        of(original, ModelSide::Original).any(|left| {
            of(written, ModelSide::Written).any(|right| {
                let ids = (
                    exact.terms.of(ModelSide::Original, left),
                    exact.terms.of(ModelSide::Written, right),
                );
                matches!(ids, (Some(left), Some(right)) if exact.equal(left, right).is_ok())
            })
        })
    }

    fn equal_terms(&mut self, original: TermId, written: TermId) -> Result<(), String> {
        let terms = self.terms;
        let mut pairs = vec![(WithCasts::from(original), WithCasts::from(written))];
        while let Some((left, right)) = pairs.pop() {
            if left == right || self.is_shown(&left, &right) {
                continue;
            }
            match (terms.term(left.term), terms.term(right.term)) {
                (_, Term::Constant(..)) => {
                    let key = (left, right);
                    if !self.compared.contains_key(&key) {
                        let result = self.compare(&key.0, &key.1);
                        self.compared.insert(key.clone(), result);
                    }
                    if let Err(what) = &self.compared[&key] {
                        return Err(what.clone());
                    }
                }
                _ if left.reduced(terms) == right.reduced(terms) => {}
                (
                    Term::Cast { of, effect },
                    Term::Cast {
                        of: other,
                        effect: same,
                    },
                ) if effect == same
                    && terms.dtype(*of) == terms.dtype(*other)
                    && left.casts.is_empty()
                    && right.casts.is_empty() =>
                {
                    pairs.push(((*of).into(), (*other).into()));
                }
                // Casts of moves are compared input by input: of constants that were cast, only the
                // move is left.
                (Term::Cast { of, .. }, _) => pairs.push((left.inside(*of), right)),
                (_, Term::Cast { of, .. }) => pairs.push((left, right.inside(*of))),
                (Term::Move(moved), other)
                    if !other.has_shape(&moved.inputs) && self.keeps_shape(left.term) =>
                {
                    pairs.extend(
                        moved
                            .inputs
                            .first()
                            .copied()
                            .flatten()
                            .map(|input| (left.of_input(input), right)),
                    );
                }
                (other, Term::Move(moved))
                    if !other.has_shape(&moved.inputs) && self.keeps_shape(right.term) =>
                {
                    pairs.extend(
                        moved
                            .inputs
                            .first()
                            .copied()
                            .flatten()
                            .map(|input| (left, right.of_input(input))),
                    );
                }
                (Term::Move(moved), Term::Move(same)) if moved.is_like(same) => {
                    for (index, inputs) in moved.inputs.iter().zip(&same.inputs).enumerate() {
                        match inputs {
                            (Some(one), Some(other)) if index < moved.data => {
                                pairs.push((left.of_input(*one), right.of_input(*other)))
                            }
                            (Some(one), Some(other)) => {
                                pairs.push(((*one).into(), (*other).into()))
                            }
                            (None, None) => {}
                            _ => return Err("is computed from other inputs".to_owned()),
                        }
                    }
                }
                _ => return Err("cannot be verified to be equal".to_owned()),
            }
        }
        self.equal.insert((original, written));
        Ok(())
    }

    /// Whether two terms, with no casts of them, were shown to be equal.
    fn is_shown(&self, left: &WithCasts, right: &WithCasts) -> bool {
        left.casts.is_empty()
            && right.casts.is_empty()
            && self.equal.contains(&(left.term, right.term))
    }

    /// Whether a `Reshape` whose shape is computed from constants is to the shape that its input
    /// has, as far as either model knows it.
    fn keeps_shape(&mut self, id: TermId) -> bool {
        let (terms, Term::Move(moved)) = (self.terms, self.terms.term(id)) else {
            return false;
        };
        if moved.operator != "Reshape" {
            return false;
        }
        let [Some(input), Some(shape)] = &moved.inputs[..] else {
            return false;
        };
        if !moved.attributes.is_empty() {
            return false;
        }
        let Ok(wanted) = self.contents.of(*shape).and_then(|shape| shape.list()) else {
            return false;
        };
        let its_input = terms.node(id).and_then(|(side, node)| {
            let input = terms.model(side).input(node, 0)?;
            Some((side, input))
        });
        // Casts keep the shape.
        terms
            .values_but_for_casts(*input)
            .iter()
            .copied()
            .chain(its_input)
            .any(|(side, value)| {
                let dims = terms.inferred(side).of(value).shape.as_ref();
                dims.is_some_and(|dims| is_shape_of(&wanted, dims))
            })
    }

    /// Computes the values of a term and of casts of it again, and compares them with a constant.
    fn compare(&mut self, original: &WithCasts, written: &WithCasts) -> Result<u64, String> {
        let undefined =
            |why: String| format!("is a constant that cannot be computed from the original: {why}");
        let (expected, found) = (self.content(original), self.content(written));
        let result = match (&expected, &found) {
            (Ok(expected), Ok(found)) => contents::same(expected, found),
            (_, Err(why)) => Err(Unequal::Undefined(why.clone())),
            (Err(why), Ok(_)) => Err(Unequal::Undefined(undefined(why.clone()))),
        };
        let result = match result {
            Ok(elements) => Ok(elements),
            Err(Unequal::Differ(what)) => Err(what),
            Err(Unequal::Undefined(what)) => self
                .before_equal_casts(original, written)
                .unwrap_or(Err(what)),
        };
        result.or_else(|what| self.compare_exactly(original, written).ok_or(what))
    }

    /// Compares without law 4, for the values of the original that have the term. Returns the
    /// number of compared elements.
    fn compare_exactly(&mut self, original: &WithCasts, written: &WithCasts) -> Option<u64> {
        self.exact.as_ref()?;
        let found = self.content(written).ok()?;
        self.terms
            .values(original.term)
            .iter()
            .filter(|(side, _)| *side == ModelSide::Original)
            .find_map(|&(_, value)| {
                let expected = self.exact.as_mut()?.contents.of_original(value);
                contents::same(&self.with_casts(expected, &original.casts).ok()?, &found).ok()
            })
    }

    fn content(&mut self, WithCasts { term, casts }: &WithCasts) -> Result<Value, String> {
        let content = self.contents.of(*term);
        self.with_casts(content, casts)
    }

    /// Values after casts, the last one of which comes first.
    fn with_casts(
        &self,
        content: Result<Value, String>,
        casts: &[TermId],
    ) -> Result<Value, String> {
        casts
            .iter()
            .rev()
            .fold(content, |content, &cast| self.contents.cast(cast, content?))
    }

    /// A cast that ONNX leaves undefined for its constant stays: equal casts of equal values are
    /// equal. By law 2 the values may have two types.
    fn before_equal_casts(
        &mut self,
        original: &WithCasts,
        written: &WithCasts,
    ) -> Option<Result<u64, String>> {
        let (left, last) = original.without_last()?;
        let (right, same) = written.without_last()?;
        let effect = self
            .terms
            .effect(last)
            .filter(|effect| self.terms.effect(same) == Some(*effect))?;
        let (from, middle) = (left.dtype(self.terms)?, right.dtype(self.terms)?);
        if from == middle {
            return Some(self.compare(&left, &right));
        }
        let (narrow, wide, middle) = match effect.to {
            to if laws::are_one_cast(from, middle, to) => (left, right, middle),
            to if laws::are_one_cast(middle, from, to) => (right, left, from),
            _ => return None,
        };
        let widened = self
            .content(&narrow)
            .and_then(|content| contents::widened(&content, middle));
        let result = widened.and_then(|widened| {
            contents::same(&widened, &self.content(&wide)?)
                .map_err(|(Unequal::Differ(what) | Unequal::Undefined(what))| what)
        });
        Some(result)
    }
}
