//! `Split` across opsets: versions 1 2 11 13 18.

use super::super::hop::Action::{Run, ToAttribute, ToInput, Write};
use super::super::hop::{Hop, Kind, Reason, Value, hop};
use super::super::site::Site;

pub(super) const HOPS: &[Hop] = &[
    hop(&["Split"], 2).up(&[Run(lengths_become_attribute)]).down(&[Write("axis", Value::Int(0))]),
    hop(&["Split"], 13).up(&[ToInput("split", 1, Kind::Ints)]).down(&[ToAttribute(1, "split", Kind::Ints)]),
    hop(&["Split"], 18).up(&[Run(count_outputs)]).down(&[Run(parts_must_be_equal)]),
];

/// Version 1 takes the lengths as numbers of the tensor's own type too, and does not say which axis it splits by itself.
fn lengths_become_attribute(site: &mut Site) -> Result<(), Reason> {
    if site.attribute("axis")?.is_none() {
        return Err("opset 1 does not say which axis is split when `axis` is absent".to_owned());
    }
    if site.input(1).is_some() {
        let lengths = site.read_doubles(1)?;
        if lengths.iter().any(|length| length.fract() != 0.0) {
            return Err(format!("the lengths {lengths:?} are no integers"));
        }
        site.take_input(1);
        site.set_ints("split", lengths.into_iter().map(|length| length as i64).collect());
    }
    Ok(())
}

/// Equal parts must be asked for since version 18.
fn count_outputs(site: &mut Site) -> Result<(), Reason> {
    if site.input(1).is_none() {
        site.set_int("num_outputs", site.node.output.len() as i64);
    }
    Ok(())
}

/// Before version 18 equal parts are what happens without lengths; a last part that is smaller needs them.
fn parts_must_be_equal(site: &mut Site) -> Result<(), Reason> {
    let Some(parts) = site.int("num_outputs")? else { return Ok(()) };
    site.remove_attribute("num_outputs");
    if site.input(1).is_some() {
        return Ok(());
    }
    let outputs = site.node.output.len() as i64;
    if parts != outputs {
        return Err(format!("`num_outputs` = {parts}, but the number of its outputs is {outputs}"));
    }
    let axis = site.int_or("axis", 0)?;
    let axis = usize::try_from(site.axes_from_front(vec![axis])?[0]).map_err(|error| error.to_string())?;
    let length = site.known_input(0).shape.and_then(|shape| shape.get(axis).copied().flatten());
    let length = length.ok_or("the length of the split axis must be known, for older versions split into equal parts only")?;
    if length % parts == 0 {
        return Ok(());
    }
    let part = length / parts + 1;
    // The other parts may be longer than the axis, but not than an axis can be.
    let last = part.checked_mul(parts - 1).map(|others| length - others).filter(|&last| last >= 0);
    let last = last.ok_or_else(|| format!("{length} cannot be split into {parts} parts of {part}"))?;
    let lengths: Vec<i64> = (1..parts).map(|_| part).chain([last]).collect();
    let name = site.constant_int_list("split", &lengths);
    site.set_input(1, &name);
    Ok(())
}
