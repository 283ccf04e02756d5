//! What happens to an operator between two of its versions, as data.

use super::make;
use super::site::Site;
use crate::facts::infer::MOST_DIMENSIONS;
use crate::wire::schema::AttributeProto;

/// Why a node cannot move.
pub(super) type Reason = String;

/// One version step of operators that change in the same way: from the version before `to` to the version `to`, and back.
pub(super) struct Hop {
    /// The operators.
    pub ops: &'static [&'static str],
    /// The newer of the two versions; the older one is the version before it in the facts.
    pub to: i64,
    /// What a node needs on its way to the newer version.
    pub up: &'static [Action],
    /// What it needs on its way back.
    pub down: &'static [Action],
}

/// A step of these operators to their version `to`, at first without any action: what a node uses is compared with the facts of
/// its new version in any case.
pub(super) const fn hop(ops: &'static [&'static str], to: i64) -> Hop {
    Hop { ops, to, up: &[], down: &[] }
}

impl Hop {
    /// What a node needs on its way to the newer version.
    pub const fn up(self, up: &'static [Action]) -> Hop {
        Hop { up, ..self }
    }

    /// What a node needs on its way back to the older version.
    pub const fn down(self, down: &'static [Action]) -> Hop {
        Hop { down, ..self }
    }
}

/// One thing to do to a node; the reusable shapes first.
pub(super) enum Action {
    /// The attribute had no effect: it goes.
    Drop(&'static str),
    /// The attribute goes if the node has it with this value, which is what the other version does without it.
    DropIf(&'static str, Value),
    /// The attribute is written out where it is absent, for its default differs between the versions.
    Write(&'static str, Value),
    /// The attribute has another name.
    Rename(&'static str, &'static str),
    /// The attribute becomes the input at this index.
    ToInput(&'static str, usize, Kind),
    /// The constant input at this index becomes the attribute.
    ToAttribute(usize, &'static str, Kind),
    /// The attribute must count dimensions from the front: negative ones are counted anew.
    CountFromFront(&'static str),
    /// The operator has another name.
    Becomes(&'static str),
    /// Anything else.
    Run(fn(&mut Site) -> Result<(), Reason>),
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    Float(f32),
    String(&'static str),
    /// A list of ones, of any length.
    Ones,
}

impl Value {
    /// Whether an attribute has this value. Floats are compared as numbers.
    fn is(self, attribute: &AttributeProto) -> bool {
        match self {
            Value::Int(value) => attribute.i == Some(value) || (attribute.i.is_none() && value == 0),
            Value::Float(value) => attribute.f() == value,
            Value::String(value) => attribute.s() == value.as_bytes(),
            Value::Ones => attribute.ints.iter().all(|&value| value == 1),
        }
    }
}

/// How an attribute and an input hold the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `INT` and a scalar of int64.
    Int,
    /// `INT` and a list of one int64.
    IntInList,
    /// `INTS` and a list of int64.
    Ints,
    /// `FLOATS` and a list of float.
    Floats,
}

impl Action {
    /// Does it.
    pub fn apply(&self, site: &mut Site) -> Result<(), Reason> {
        match *self {
            Action::Drop(name) => {
                site.remove_attribute(name);
                Ok(())
            }
            Action::DropIf(name, value) => match site.attribute(name)? {
                Some(attribute) if value.is(&attribute) => {
                    site.remove_attribute(name);
                    Ok(())
                }
                Some(_) => Err(format!("`{name}` has an effect that opset {} cannot express", site.to)),
                None => Ok(()),
            },
            Action::Write(name, value) => {
                if site.attribute(name)?.is_none() {
                    site.write(name, value);
                }
                Ok(())
            }
            Action::Rename(old, new) => {
                site.rename_attribute(old, new);
                Ok(())
            }
            Action::ToInput(name, index, kind) => to_input(site, name, index, kind),
            Action::ToAttribute(index, name, kind) => to_attribute(site, index, name, kind),
            Action::CountFromFront(name) => count_from_front(site, name),
            Action::Becomes(name) => {
                site.rename_operator(name);
                Ok(())
            }
            Action::Run(run) => run(site),
        }
    }
}

fn to_input(site: &mut Site, name: &'static str, index: usize, kind: Kind) -> Result<(), Reason> {
    let Some(attribute) = site.attribute(name)? else { return Ok(()) };
    if site.input(index).is_some() {
        return Err(format!("it has both the attribute `{name}` and an input in its place"));
    }
    let value = match kind {
        Kind::Int => site.constant_ints(name, &[], &[attribute.i()]),
        Kind::IntInList => site.constant_ints(name, &[1], &[attribute.i()]),
        Kind::Ints => site.constant_int_list(name, &attribute.ints),
        Kind::Floats => site.constant_float_list(name, &attribute.floats),
    };
    site.remove_attribute(name);
    site.set_input(index, &value);
    Ok(())
}

fn to_attribute(site: &mut Site, index: usize, name: &'static str, kind: Kind) -> Result<(), Reason> {
    if site.input(index).is_none() {
        return Ok(());
    }
    // Many nodes may share a constant, and each gets an attribute of its own.
    let most = site.node.output.len().max(2 * MOST_DIMENSIONS);
    if let Some([length]) = site.known_input(index).static_shape().as_deref()
        && usize::try_from(*length).is_ok_and(|length| length > most)
    {
        return Err(format!("its input {index} holds {length} numbers, more than there are dimensions or outputs"));
    }
    match kind {
        Kind::Int | Kind::IntInList => match site.read_ints(index)?.as_slice() {
            [only] => site.set_int(name, *only),
            other => return Err(format!("its input {index} holds {} numbers, but `{name}` is one number", other.len())),
        },
        Kind::Ints => {
            let ints = site.read_ints(index)?;
            site.set_ints(name, ints);
        }
        Kind::Floats => {
            let floats = site.read_floats(index)?;
            site.set_attribute(make::floats(name, floats));
        }
    }
    site.take_input(index);
    Ok(())
}

fn count_from_front(site: &mut Site, name: &'static str) -> Result<(), Reason> {
    let Some(attribute) = site.attribute(name)? else { return Ok(()) };
    let is_list = attribute.i.is_none();
    let counted = if is_list { attribute.ints.clone() } else { vec![attribute.i()] };
    if counted.iter().all(|&axis| axis >= 0) {
        return Ok(());
    }
    let counted = site.axes_from_front(counted)?;
    match is_list {
        true => site.set_ints(name, counted),
        false => site.set_int(name, counted[0]),
    }
    Ok(())
}
