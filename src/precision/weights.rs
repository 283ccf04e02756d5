//! The constants of a model, and what becomes of their numbers.

use std::borrow::Cow;

use super::reason::Code;
use super::survey::{Limits, Survey};
use super::types::{Types, ValueKind, Variable};
use crate::base::error::{Error, ErrorKind, Invalid, ModelPlace};
use crate::base::parallel;
use crate::graph::{
    AttributePart, Body, Edit, Model, NodeId, Origin, SparsePart, TensorIn, TensorPlace, ValueId,
};
use crate::ops::compute;
use crate::protobuf::schema::{AttributeProto, TensorProto};
use crate::tensor::{Content, Data, Tensor};
use onnx_cast::{Cast, DType, Rules, float_format::Format};

/// A constant whose type may change.
pub(super) struct Weight<'m> {
    pub value: ValueId,
    pub survey: Survey,
    /// The magnitude that finite numbers beyond the range get instead of infinity.
    pub bound: Option<f32>,
    tensor: Cow<'m, TensorProto>,
    place: WeightPlace,
}

/// The place of a constant.
#[derive(Clone, Copy)]
enum WeightPlace {
    Tensor(TensorPlace),
    /// An attribute of a node that is not a tensor, or is missing.
    Attribute(NodeId, &'static str),
}

impl WeightPlace {
    fn path(self, model: &Model) -> String {
        match self {
            WeightPlace::Tensor(place) => model.tensor_path(place),
            WeightPlace::Attribute(node, name) => format!("{}.{name}", model.node_path(node)),
        }
    }
}

impl Weight<'_> {
    /// The number of elements.
    pub fn elements(&self) -> u64 {
        Tensor::read(&self.tensor).map_or(0, |tensor| tensor.elements())
    }

    /// The path of the constant.
    pub fn path(&self, model: &Model) -> String {
        self.place.path(model)
    }
}

/// Reads the constants, and surveys their numbers. Constants whose declared type differs from the
/// stored type keep their types.
///
/// # Errors
/// If a data file cannot be read.
pub(super) fn read<'m>(types: &mut Types<'m>) -> Result<Vec<Weight<'m>>, Error> {
    let model = types.model;
    let limits = Limits::of(types.change.to).filter(|_| types.change.narrows());
    let is_constant = |value: &ValueId| {
        matches!(
            types.kinds[value.index()],
            Some(ValueKind::Constant | ValueKind::Stated)
        )
    };
    let values: Vec<ValueId> = model.values().filter(is_constant).collect();
    let read = |value: &ValueId| -> Result<Option<Weight<'m>>, Error> {
        let Some((place, tensor)) = constant(model, *value) else {
            return Ok(None);
        };
        let survey = match limits {
            Some(limits) => survey(limits, &content(model, place, &tensor)?),
            None => Survey::default(),
        };
        Ok(Some(Weight {
            value: *value,
            survey,
            bound: None,
            tensor,
            place,
        }))
    };
    let mut weights: Vec<Weight<'m>> = parallel::map(&values, read)
        .into_iter()
        .filter_map(Result::transpose)
        .collect::<Result<_, _>>()?;
    weights.retain(|weight| {
        let is_as_declared =
            DType::from_number(weight.tensor.data_type()) == types.old(weight.value);
        if !is_as_declared {
            types.fix_old(weight.value.index() as Variable, Code::Unknown);
        }
        is_as_declared
    });
    Ok(weights)
}

fn survey(limits: Limits, content: &Content) -> Survey {
    match widened(content).data() {
        Data::Numbers(numbers, casts) if casts.is_empty() && content.dtype() == DType::Double => {
            limits.survey_doubles(numbers)
        }
        Data::Numbers(numbers, casts) if casts.is_empty() => limits.survey(numbers),
        _ => Survey::default(),
    }
}

/// The numbers as FLOAT, if they are FLOAT16 or BFLOAT16.
fn widened(content: &Content) -> Cow<'_, Content> {
    let is_half = matches!(content.dtype(), DType::Float16 | DType::Bfloat16);
    let cast = Cast::new(content.dtype(), DType::Float, Rules::default())
        .ok()
        .filter(|_| is_half);
    let wide = cast.and_then(|cast| content.cast(cast).ok());
    wide.map_or(Cow::Borrowed(content), |(wide, _)| {
        Cow::Owned(wide.computed())
    })
}

fn content(model: &Model, place: WeightPlace, tensor: &TensorProto) -> Result<Content, Error> {
    let bad = |error| {
        Error::of(&Invalid::caused_by(
            ModelPlace::of_scope(place.path(model)),
            error,
        ))
    };
    model.content(tensor).map_err(bad)
}

/// The tensor of a constant, and its place.
fn constant(model: &Model, value: ValueId) -> Option<(WeightPlace, Cow<'_, TensorProto>)> {
    let scope = model.scope_of(value);
    match (model.origin(value), model.body(scope)) {
        (Origin::Initializer { index, .. }, Body::Graph(graph)) => {
            let place = WeightPlace::Tensor(TensorPlace(TensorIn::Initializer(scope, index)));
            Some((place, Cow::Borrowed(graph.initializer.get(index as usize)?)))
        }
        (Origin::SparseInitializer(index), Body::Graph(graph)) => {
            let place = WeightPlace::Tensor(TensorPlace(TensorIn::Sparse(
                scope,
                index,
                SparsePart::Values,
            )));
            Some((
                place,
                Cow::Borrowed(
                    graph
                        .sparse_initializer
                        .get(index as usize)?
                        .values
                        .as_ref()?,
                ),
            ))
        }
        (Origin::Node { node, .. }, _) if model.is_op(node, "Constant") => {
            let tensor = model.constant(value).ok()?.tensor;
            let attributes = &model.node(node).attribute;
            let place = |name: &'static str| {
                attributes
                    .iter()
                    .any(|attribute| attribute.name() == name)
                    .then_some(WeightPlace::Attribute(node, name))
            };
            let index = (0..)
                .zip(attributes)
                .find(|(_, attribute)| attribute.name() == "value")
                .map(|(index, _)| index);
            let of_tensor = index.map(|index| {
                WeightPlace::Tensor(TensorPlace(TensorIn::Attribute(
                    node,
                    index,
                    AttributePart::Single,
                )))
            });
            Some((
                of_tensor
                    .or_else(|| place("value_float"))
                    .or_else(|| place("value_floats"))?,
                tensor,
            ))
        }
        (Origin::Node { node, .. }, _) if model.is_op(node, "ConstantOfShape") => {
            let attributes = &model.node(node).attribute;
            let stated = (0..)
                .zip(attributes)
                .find(|(_, attribute)| attribute.name() == "value");
            Some(if let Some((index, attribute)) = stated {
                let place = TensorPlace(TensorIn::Attribute(node, index, AttributePart::Single));
                (
                    WeightPlace::Tensor(place),
                    Cow::Borrowed(attribute.t.as_ref()?),
                )
            } else {
                let zero = Content::new(
                    DType::Float,
                    &[1],
                    Data::Numbers(vec![0; 4].into(), Vec::new()),
                );
                (
                    WeightPlace::Attribute(node, "value"),
                    Cow::Owned(zero.into_tensor("")),
                )
            })
        }
        _ => None,
    }
}

/// The numbers of a tensor of at most this number of elements, if they can be read.
pub(super) fn floats(model: &Model, tensor: &TensorProto, most_elements: u64) -> Option<Vec<f64>> {
    let tensor = Tensor::read(tensor)
        .ok()
        .filter(|tensor| tensor.elements() <= most_elements)?;
    compute::floats(&tensor.load(model.data()).ok()?).ok()
}

/// The edit that casts a constant to types, one after the other.
///
/// # Errors
/// If a data file cannot be read.
pub(super) fn edit(model: &Model, weight: &Weight, to: &[DType]) -> Result<Edit, Error> {
    let mut content = content(model, weight.place, &weight.tensor)?;
    if let (Some(bound), Some(&to)) = (weight.bound, to.first()) {
        content = bounded(widened(&content).into_owned(), bound, to);
    }
    for &to in to {
        let cast = Cast::new(content.dtype(), to, Rules::default())
            .map_err(|error| Error::new(ErrorKind::CannotCast, error))?;
        content = content
            .cast(cast)
            .map_err(|error| Error::new(ErrorKind::CannotCast, error))?
            .0;
    }
    Ok(match weight.place {
        WeightPlace::Tensor(place) => Edit::ReplaceTensor {
            place,
            with: content.replace_in(&weight.tensor),
            check_width: false,
        },
        WeightPlace::Attribute(node, name) => {
            let with = AttributeProto::tensor("value", content.into_tensor(""));
            Edit::SetAttribute {
                node,
                name: name.into(),
                with: Box::new(with),
            }
        }
    })
}

/// Numbers of type FLOAT or DOUBLE, with a bound for the magnitude of those that are finite and
/// beyond the range of a type.
fn bounded(content: Content, bound: f32, to: DType) -> Content {
    let (Some(limits), Data::Numbers(numbers, _)) = (Limits::of(to), content.data()) else {
        return content;
    };
    let mut bounded = numbers.to_bytes().to_vec();
    if content.dtype() == DType::Double {
        for element in bounded.as_chunks_mut::<8>().0 {
            let number = f64::from_le_bytes(*element);
            if limits.overflows_double(number) {
                *element = f64::from(bound).copysign(number).to_le_bytes();
            }
        }
    } else {
        for element in bounded.as_chunks_mut::<4>().0 {
            let bits = u32::from_le_bytes(*element);
            if limits.overflows(bits) {
                *element = bound.copysign(f32::from_bits(bits)).to_le_bytes();
            }
        }
    }
    Content::new(
        content.dtype(),
        content.dims(),
        Data::Numbers(bounded.into(), Vec::new()),
    )
}

/// The least normal number of a type.
pub(super) fn least_normal(to: DType) -> f64 {
    Limits::of(to).map_or(0.0, Limits::least_normal)
}

/// The largest magnitude that becomes zero in a type.
pub(super) fn becomes_zero(to: DType) -> f64 {
    Limits::of(to).map_or(0.0, Limits::becomes_zero)
}

/// The largest finite number of a type.
pub(crate) fn largest(to: DType) -> f32 {
    match Format::of(to) {
        Some(format) if to == DType::Float16 => {
            f32::from(half::f16::from_bits(format.largest() as u16))
        }
        Some(format) if to == DType::Bfloat16 => {
            f32::from(half::bf16::from_bits(format.largest() as u16))
        }
        _ => f32::MAX,
    }
}
