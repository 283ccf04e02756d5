//! Infers the output types of ai.onnx.ml operators whose labels are integers or strings, as their
//! attributes state.

use super::view::View;
use crate::ops::schemas::ValueType;
use crate::tensor::Tensor;
use onnx_cast::DType;

/// The type of a node's output, if attributes decide it.
pub(super) fn output_type(view: &View, index: usize) -> Option<ValueType> {
    let tensor = |dtype: Option<DType>| dtype.map(ValueType::Tensor);
    match (view.schema.name, index) {
        ("LinearClassifier" | "SVMClassifier" | "TreeEnsembleClassifier", 0) => {
            tensor(label_type(view))
        }
        ("ZipMap", 0) => Some(ValueType::SequenceOfMaps {
            key: label_type(view)?,
            value: DType::Float,
        }),
        ("LabelEncoder", 0) if view.schema.since_version == 1 => {
            tensor(other_of_string_and_int(view))
        }
        ("CategoryMapper", 0) => tensor(other_of_string_and_int(view)),
        ("LabelEncoder", 0) => tensor(encoded_type(view)),
        ("CastMap", 0) => tensor(
            match view
                .attribute("cast_to")
                .map_or(Some(&b"TO_FLOAT"[..]), |to| Some(to?.s()))?
            {
                b"TO_FLOAT" => Some(DType::Float),
                b"TO_INT64" => Some(DType::Int64),
                b"TO_STRING" => Some(DType::String),
                _ => None,
            },
        ),
        ("DictVectorizer", 0) => match view.input(0).value_type? {
            ValueType::Map { value, .. } => Some(ValueType::Tensor(value)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether an attribute has elements; `None` if calls of the function give it different values.
fn has_elements(view: &View, name: &str) -> Option<bool> {
    let Some(attribute) = view.attribute(name) else {
        return Some(false);
    };
    let attribute = attribute?;
    Some(
        !(attribute.strings.is_empty() && attribute.ints.is_empty() && attribute.floats.is_empty()),
    )
}

fn label_type(view: &View) -> Option<DType> {
    Some(if has_elements(view, "classlabels_strings")? {
        DType::String
    } else {
        DType::Int64
    })
}

/// Strings become integers, and integers strings.
fn other_of_string_and_int(view: &View) -> Option<DType> {
    match view.input(0).dtype()? {
        DType::String => Some(DType::Int64),
        DType::Int64 => Some(DType::String),
        _ => None,
    }
}

fn encoded_type(view: &View) -> Option<DType> {
    if let Some(values) = view.attribute("values_tensor") {
        return Tensor::read(values?.t.as_ref()?)
            .ok()
            .map(|values| values.dtype());
    }
    for (name, dtype) in [
        ("values_strings", DType::String),
        ("values_int64s", DType::Int64),
        ("values_floats", DType::Float),
    ] {
        if has_elements(view, name)? {
            return Some(dtype);
        }
    }
    None
}
