//! Sets back what a change of precision may change in messages: attributes, tensors and
//! declarations.

use super::compare::{Allowed, Difference, element_result};
use super::erasure::Erasure;
use super::evaluate::{Value, first_difference};
use super::fault::Fault;
use super::laws::numbers;
use super::left_out::{leave_equal_values_out, leave_values_out};
use crate::graph::{NodeId, set_element_type};
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::{AttributeProto, NodeProto, TensorProto, TypeProto, ValueInfoProto};
use crate::protobuf::{Piece, raw};
use crate::tensor::{Tensor, raw_data};
use onnx_cast::{Cast, DType, Rules};

/// The attributes that state types.
const TYPE_ATTRIBUTES: [&str; 4] = ["dtype", "output_datatype", "output_dtype", "to"];

impl Erasure<'_> {
    /// Sets the attributes of a node back.
    pub fn attributes(
        &mut self,
        node: &mut NodeProto,
        before: &mut NodeProto,
        id: NodeId,
        counterpart: NodeId,
    ) {
        let path = self.original.node_path(counterpart);
        let is_onnx = self.written.is_op(id, self.written.node(id).op_type());
        let changes_types = is_onnx && !self.is_emulated();
        let mut restored = Vec::new();
        for mut attribute in std::mem::take(&mut node.attribute) {
            let name = attribute.name().to_owned();
            let states_type = changes_types
                && TYPE_ATTRIBUTES.contains(&name.as_str())
                && self.states_type(&attribute);
            let same = before
                .attribute
                .iter_mut()
                .find(|before| before.name() == name);
            match same {
                Some(same) if *same == attribute => {}
                Some(same) if states_type => attribute = same.clone(),
                Some(same) if changes_types && attribute.tp.is_some() => {
                    if let (Some(stated), Some(before)) = (attribute.tp.as_mut(), same.tp.as_mut())
                    {
                        self.undo_type(stated, before);
                    }
                }
                Some(same) if is_onnx && attribute.t.is_some() => {
                    if let (Some(tensor), Some(before)) = (attribute.t.as_mut(), same.t.as_mut()) {
                        self.tensor(tensor, before, |_| format!("{path}.{name}"));
                    }
                }
                None if states_type
                    || (changes_types && self.is_precise_softmax(node, &attribute)) =>
                {
                    continue;
                }
                None if is_onnx && name == "value" && attribute.t.is_some() => {
                    restored.extend(self.number_attribute(&attribute, before, &path));
                    continue;
                }
                _ => {}
            }
            restored.push(attribute);
        }
        node.attribute = restored;
    }

    /// Whether an attribute keeps the Softmax of an Attention in FLOAT, as it was before the types
    /// of the node changed.
    fn is_precise_softmax(&self, node: &NodeProto, attribute: &AttributeProto) -> bool {
        let is_float = attribute.r#type() == AttributeType::Int
            && attribute.i() == i64::from(DType::Float.number());
        node.op_type() == "Attention"
            && attribute.name() == "softmax_precision"
            && is_float
            && self.report.to != DType::Float
    }

    /// Whether an attribute states one of the types.
    fn states_type(&self, attribute: &AttributeProto) -> bool {
        let stated = i32::try_from(attribute.i())
            .ok()
            .and_then(DType::from_number);
        let named = DType::from_name(&String::from_utf8_lossy(attribute.s()));
        match attribute.r#type() {
            AttributeType::Int => {
                stated.is_some_and(|dtype| dtype == self.report.to || self.is_old(dtype))
            }
            AttributeType::String => named.is_some_and(|dtype| dtype == self.report.to),
            _ => false,
        }
    }

    /// The attribute of the original whose number or numbers a tensor has: `value_float`,
    /// `value_floats`, or none for zero.
    fn number_attribute(
        &mut self,
        attribute: &AttributeProto,
        before: &NodeProto,
        path: &str,
    ) -> Option<AttributeProto> {
        let stated = before
            .attribute
            .iter()
            .find(|before| matches!(before.name(), "value_float" | "value_floats"));
        let (dims, numbers): (Vec<i64>, Vec<f32>) = match stated {
            Some(stated) if stated.name() == "value_float" => (Vec::new(), vec![stated.f()]),
            Some(stated) => (vec![stated.floats.len() as i64], stated.floats.clone()),
            None => (vec![1], vec![0.0]),
        };
        let numbers: Vec<u8> = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        let mut expected: TensorProto = raw::TensorProto {
            dims,
            data_type: Some(DType::Float.number()),
            ..raw::TensorProto::default()
        }
        .into();
        expected
            .rest_mut()
            .push(raw_data(Piece::Bytes(bytes::Bytes::from(numbers).into())));
        let mut tensor = attribute.t.clone()?;
        let name = stated.map_or("value", |stated| stated.name());
        self.tensor(&mut tensor, &mut expected, |_| format!("{path}.{name}"));
        if tensor == expected {
            stated.cloned()
        } else {
            Some(attribute.clone())
        }
    }

    /// Leaves a tensor out of both models that is the original one in the new type. `path` makes a
    /// path of its name.
    pub fn tensor(
        &mut self,
        tensor: &mut TensorProto,
        before: &mut TensorProto,
        path: impl Fn(&str) -> String,
    ) {
        let (Ok(found), Ok(expected)) = (Tensor::read(tensor), Tensor::read(before)) else {
            return;
        };
        let path = path(before.name());
        // A constant of an emulation that is not reported is as it was.
        let (to, may_differ) = if self.is_emulated() {
            (DType::Float, self.beyond.contains_key(path.as_str()))
        } else {
            (self.report.to, true)
        };
        if found.dtype() != to || !self.is_old(expected.dtype()) || !may_differ {
            return leave_equal_values_out([before, tensor], [self.original, self.written]);
        }
        let loaded = (
            Value::load(tensor, self.written.data()),
            Value::load(before, self.original.data()),
        );
        let (Ok(found), Ok(expected)) = loaded else {
            return self.faults.push(Fault::at(path, "cannot be read"));
        };
        let Some(&(beyond, bound)) = self.beyond.get(path.as_str()) else {
            return self
                .faults
                .push(Fault::at(path, "changed its type, and was not reported"));
        };
        if let Some(bound) = bound.filter(|&bound| !is_bound(self.report.to, bound)) {
            return self.faults.push(Fault::at(
                path,
                format!(
                    "numbers beyond the range of {} became ±{bound}",
                    self.report.to
                ),
            ));
        }
        if found.dims() != expected.dims() {
            return self.faults.push(Fault::at(path, "has another shape"));
        }
        let narrow = rounded(expected, self.report.to, beyond > 0, bound);
        let expected = match narrow.and_then(|narrow| {
            if narrow.dtype() == to {
                Ok(narrow)
            } else {
                rounded(narrow, to, true, None)
            }
        }) {
            Ok(expected) => expected,
            Err(why) => {
                return self
                    .faults
                    .push(Fault::at(path, format!("cannot be cast: {why}")));
            }
        };
        match first_difference(&expected, &found) {
            Some(Difference::At(index)) => {
                return self.faults.push(Fault::at(
                    path,
                    format!("element {index} is not the original, rounded"),
                ));
            }
            Some(Difference::Undefined(index, why)) => {
                return self.faults.push(Fault::at(
                    path,
                    format!("element {index} is not the original, rounded: {why}"),
                ));
            }
            None => {}
        }
        self.verified.constants += 1;
        self.verified.elements += found.elements() as u64;
        for tensor in [tensor, before] {
            leave_values_out(tensor);
            tensor.data_type = Some(to.number());
        }
    }

    pub fn declarations(&self, infos: &mut [ValueInfoProto], before: &mut [ValueInfoProto]) {
        if self.is_emulated() {
            return;
        }
        for (info, before) in infos.iter_mut().zip(before) {
            if *info == *before {
                continue;
            }
            if let (Some(stated), Some(before)) = (info.r#type.as_mut(), before.r#type.as_mut()) {
                self.undo_type(stated, before);
            }
        }
    }

    /// Sets the new element type of a declaration back to its old type. Both messages are changed:
    /// a file may state several kinds of types for one value, and a changed message has only the
    /// last one.
    fn undo_type(&self, stated: &mut TypeProto, before: &mut TypeProto) {
        if let (Some(found), Some(expected)) = (element_type(stated), element_type(before))
            && found == self.report.to
            && self.is_old(expected)
        {
            set_element_type(stated, found, expected);
            set_element_type(before, expected, expected);
        }
    }
}

/// Whether a magnitude is one that numbers beyond the range of a type get: its largest number, or
/// half of it.
fn is_bound(dtype: DType, bound: f32) -> bool {
    numbers(dtype)
        .is_some_and(|numbers| [numbers.largest, numbers.largest / 2.0].contains(&bound.into()))
}

/// A constant in another type. Finite numbers that would become infinite get the magnitude `bound`
/// instead, if there is one; otherwise none may become infinite, unless `overflow`.
fn rounded(value: Value, to: DType, overflow: bool, bound: Option<f32>) -> Result<Value, String> {
    let cast = |from, to| Cast::new(from, to, Rules::default()).map_err(|error| error.to_string());
    let direct = cast(value.dtype(), to)?;
    let Some(bound) = bound else {
        return value.cast(
            direct,
            Allowed {
                overflow,
                ..Allowed::ALL
            },
        );
    };
    let [exact, narrow, back] = [
        cast(value.dtype(), DType::Double)?,
        cast(DType::Double, to)?,
        cast(to, DType::Double)?,
    ];
    let apply = |cast, code| element_result(&cast, Allowed::ALL, code);
    let number = move |code: u128| {
        let number = f64::from_bits(apply(exact, code as u64)?);
        let result = apply(direct, code as u64)?;
        let is_beyond = number.is_finite() && f64::from_bits(apply(back, result)?).is_infinite();
        let result = if is_beyond {
            apply(narrow, f64::from(bound).copysign(number).to_bits())?
        } else {
            result
        };
        Ok(result.into())
    };
    value.mapped(to, number)
}

/// The element type of a tensor, a sequence or an optional value.
fn element_type(stated: &TypeProto) -> Option<DType> {
    use raw::type_proto::Value;
    match stated.value.as_ref()? {
        Value::TensorType(tensor) => DType::from_number(tensor.elem_type()),
        Value::SparseTensorType(tensor) => DType::from_number(tensor.elem_type()),
        Value::SequenceType(sequence) => element_type(sequence.elem_type.as_deref()?),
        Value::OptionalType(optional) => element_type(optional.elem_type.as_deref()?),
        Value::MapType(_) | Value::OpaqueType(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::TYPE_ATTRIBUTES;
    use crate::ops::operator_facts;

    #[test]
    fn the_attributes_are_those_that_the_facts_of_operators_name() {
        let named: BTreeSet<&str> = operator_facts::named_types().map(|row| row.1).collect();
        let own: BTreeSet<&str> = TYPE_ATTRIBUTES
            .into_iter()
            .chain(["softmax_precision"])
            .collect();
        assert_eq!(own, named);
    }
}
