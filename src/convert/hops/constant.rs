//! `Constant` across opsets: a tensor since version 1, sparse ones since 11, plain numbers and strings since 12.

use super::super::hop::Action::Run;
use super::super::hop::{Hop, Reason, hop};
use super::super::make;
use super::super::site::Site;
use crate::dtype::DType;
use crate::graph::{Body, ConstantValue};

pub(super) const HOPS: &[Hop] = &[
    hop(&["Constant"], 9).down(&[Run(most_types_become_initializers)]),
    hop(&["Constant"], 11),
    hop(&["Constant"], 12).down(&[Run(plain_values_become_tensors)]),
];

/// Before version 9 the value is of one of three types.
fn most_types_become_initializers(site: &mut Site) -> Result<(), Reason> {
    if matches!(site.output_dtype(0)?, DType::Double | DType::Float | DType::Float16) {
        return Ok(());
    }
    let name = site.node.output[0].clone();
    if matches!(site.place.model.body(site.place.id.scope), Body::Function(_)) {
        return Err(format!("the constant '{name}' would have to be an initializer before opset 9, which a function cannot have"));
    }
    let mut tensor =
        site.attribute("value")?.and_then(|attribute| attribute.t.clone()).ok_or("the attribute `value` is missing")?;
    tensor.name = Some(name.clone());
    site.record.notes.push(format!("'{name}' became an initializer"));
    site.initializer = Some(tensor);
    Ok(())
}

const PLAIN: [&str; 6] = ["value_float", "value_floats", "value_int", "value_ints", "value_string", "value_strings"];

fn plain_values_become_tensors(site: &mut Site) -> Result<(), Reason> {
    for name in PLAIN {
        if let Some(attribute) = site.attribute(name)?
            && let Some(value) = ConstantValue::of_attribute(&attribute)
        {
            let tensor = value.tensor().map_err(|reason| reason.to_string())?.into_owned();
            site.remove_attribute(name);
            site.set_attribute(make::tensor("value", tensor));
        }
    }
    Ok(())
}
