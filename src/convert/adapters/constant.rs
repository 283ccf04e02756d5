//! `Constant` across opsets: a tensor since version 1, sparse ones since 11, plain numbers and
//! strings since 12.

use super::super::context::Context;
use super::super::reason::{NodeInvalid, Reason, TypeUnsupported};
use super::adapter::{Adapter, Run, adapter};
use crate::graph::{Body, ConstantValue};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Constant", 9).down(&[Run(most_types_become_initializers)]),
    adapter("Constant", 11),
    adapter("Constant", 12).down(&[Run(plain_values_become_tensors)]),
];

/// Before version 9 the value is of one of three types.
fn most_types_become_initializers(cx: &mut Context) -> Result<(), Reason> {
    if matches!(
        cx.output_dtype(0)?,
        DType::Double | DType::Float | DType::Float16
    ) {
        return Ok(());
    }
    let name = cx.node.output[0].clone();
    if matches!(cx.source.model.body(cx.source.id.scope), Body::Function(_)) {
        return Err(Reason::new(
            TypeUnsupported,
            format!(
                "before opset 9 the constant '{name}' must be an initializer, which functions do not have"
            ),
        ));
    }
    let mut tensor = cx.required("value", |value| value.t.clone())?;
    tensor.name = Some(name.clone());
    cx.record
        .notes
        .push(format!("'{name}' became an initializer"));
    cx.initializer = Some(tensor);
    Ok(())
}

const PLAIN: [&str; 6] = [
    "value_float",
    "value_floats",
    "value_int",
    "value_ints",
    "value_string",
    "value_strings",
];

fn plain_values_become_tensors(cx: &mut Context) -> Result<(), Reason> {
    for name in PLAIN {
        if let Some(attribute) = cx.attribute(name)?
            && let Some(value) = ConstantValue::of_attribute(&attribute)
        {
            let tensor = value
                .tensor()
                .map_err(|reason| Reason::new(NodeInvalid, reason.to_string()))?
                .into_owned();
            cx.remove_attribute(name);
            cx.set_attribute(AttributeProto::tensor("value", tensor));
        }
    }
    Ok(())
}
