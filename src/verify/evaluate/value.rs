//! A constant: an element type, a shape, and a function from places to elements.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::super::compare::{Allowed, CONTRADICTION, element_result, is_text_confirmed};
use super::grid::Grid;
use crate::base::parallel;
use crate::base::stored::Stored;
use crate::files::DataFolder;
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Tensor, Values, element_count};
use onnx_cast::{Cast, Class, DType, format_strings, parse_strings};

/// The bits of an element, or why ONNX does not define it.
pub type Number = Result<u128, &'static str>;

/// The source of the element at a place: the number of a tensor, and an index.
type Source = dyn Fn(&[usize]) -> (usize, usize) + Send + Sync;

/// The element at a place.
type Compute = dyn Fn(&[usize]) -> Number + Send + Sync;

/// Values of at most this many elements are computed at once, and so are those that depend on more
/// than `DEEP` others: an element of any value costs a bounded number of steps.
const FEW: usize = 1 << 12;
const DEEP: usize = 16;

/// Elements that one thread computes at a time: a multiple of 8, so that they begin at a byte.
pub const PART: usize = 1 << 14;

/// A constant.
#[derive(Clone, Debug)]
pub struct Value {
    dtype: DType,
    dims: Vec<i64>,
    elements: usize,
    /// The number of values that an element is computed from, one after the other.
    depth: usize,
    form: Form,
}

#[derive(Clone)]
enum Form {
    /// In the layout of `raw_data`.
    Numbers(Stored),
    Texts(Arc<[Bytes]>),
    Cast(Arc<Value>, Cast, Allowed),
    Picked(Arc<[Value]>, Grid, Arc<Source>),
    Computed(Grid, Arc<Compute>),
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Numbers(_) => "Numbers",
            Form::Texts(_) => "Texts",
            Form::Cast(..) => "Cast",
            Form::Picked(..) => "Picked",
            Form::Computed(..) => "Computed",
        })
    }
}

impl Value {
    fn new(dtype: DType, dims: &[i64], depth: usize, form: Form) -> Result<Value, String> {
        let elements = element_count(dims).and_then(|elements| usize::try_from(elements).ok());
        let elements = elements.ok_or_else(|| format!("there is no tensor of shape {dims:?}"))?;
        Ok(Value {
            dtype,
            dims: dims.to_vec(),
            elements,
            depth,
            form,
        })
    }

    /// The values of a stored tensor.
    pub fn load(proto: &TensorProto, folder: &DataFolder) -> Result<Value, String> {
        let tensor = Tensor::read(proto).map_err(|error| error.to_string())?;
        let form = match tensor.values().map_err(|error| error.to_string())? {
            Values::Raw(bytes) => Form::Numbers(bytes.into()),
            Values::Strings(strings) => Form::Texts(strings.into()),
            Values::External(reference) => Form::Numbers(
                reference
                    .bytes(tensor.raw_bytes(), folder)
                    .map_err(|error| error.to_string())?,
            ),
        };
        Value::new(tensor.dtype(), tensor.dims(), 0, form)
    }

    /// Numbers in the layout of `raw_data`.
    pub fn of_bytes(dtype: DType, dims: &[i64], bytes: impl Into<Stored>) -> Result<Value, String> {
        Value::new(dtype, dims, 0, Form::Numbers(bytes.into()))
    }

    /// The numbers with these bits.
    pub fn of_bits(
        dtype: DType,
        dims: &[i64],
        numbers: impl IntoIterator<Item = u128>,
    ) -> Result<Value, String> {
        let numbers: Vec<u128> = numbers.into_iter().collect();
        Value::of_bytes(dtype, dims, pack(dtype, &numbers))
    }

    /// Integers of the type INT64.
    pub fn of_int64s(
        dims: &[i64],
        numbers: impl IntoIterator<Item = i64>,
    ) -> Result<Value, String> {
        Value::of_bits(
            DType::Int64,
            dims,
            numbers
                .into_iter()
                .map(|number| number.cast_unsigned().into()),
        )
    }

    /// Strings.
    pub fn of_texts(dims: &[i64], texts: Vec<Bytes>) -> Result<Value, String> {
        Value::new(DType::String, dims, 0, Form::Texts(texts.into()))
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The strings, if these are strings.
    pub fn texts(&self) -> Option<&[Bytes]> {
        match &self.form {
            Form::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// The numbers, if they are stored.
    pub(super) fn stored(&self) -> Option<&Stored> {
        match &self.form {
            Form::Numbers(stored) => Some(stored),
            _ => None,
        }
    }

    /// The value that is cast, and the casts in sequence; none of a value that is not a cast.
    pub(super) fn without_casts(&self) -> (&Value, Vec<(Cast, Allowed)>) {
        let (mut value, mut casts) = (self, Vec::new());
        while let Form::Cast(of, cast, allowed) = &value.form {
            casts.push((*cast, *allowed));
            value = of;
        }
        casts.reverse();
        (value, casts)
    }

    /// The elements in another shape.
    pub fn reshaped(&self, dims: &[i64]) -> Result<Value, String> {
        match element_count(dims) {
            Some(elements) if elements == self.elements as u64 => Ok(Value {
                dims: dims.to_vec(),
                ..self.clone()
            }),
            _ => Err(format!(
                "{} elements do not have the shape {dims:?}",
                self.elements
            )),
        }
    }

    /// The elements after a cast.
    pub fn cast(&self, cast: Cast, allowed: Allowed) -> Result<Value, String> {
        let undefined = |why: &str| format!("ONNX does not define it: {why}");
        match (self.dtype, cast.to()) {
            (DType::String, DType::String) => Ok(self.clone()),
            (DType::String, to) => {
                let texts: Vec<&[Bytes]> = self.texts().unwrap_or(&[]).chunks(PART).collect();
                let mut bytes = Vec::new();
                for (texts, part) in texts
                    .iter()
                    .zip(parallel::map(&texts, |part| parse_strings(&cast, part)))
                {
                    let (part, summary) = part.map_err(|error| error.to_string())?;
                    allowed.check_all(&summary).map_err(undefined)?;
                    let is_confirmed = |(index, text): (usize, &Bytes)| {
                        is_text_confirmed(
                            to,
                            cast.rules().saturate,
                            text,
                            bits_at(to.bits(), &part, index) as u64,
                        )
                    };
                    let is_defined = summary.undefined.count + summary.contested.count == 0;
                    if is_defined && !texts.iter().enumerate().all(is_confirmed) {
                        return Err(CONTRADICTION.to_owned());
                    }
                    bytes.extend(part);
                }
                Value::of_bytes(to, &self.dims, bytes)
            }
            (_, DType::String) => {
                let mut texts = Vec::with_capacity(self.elements);
                for range in self.ranges() {
                    let numbers = self
                        .numbers(range)
                        .into_iter()
                        .collect::<Result<Vec<u128>, _>>()
                        .map_err(undefined)?;
                    let (part, summary) =
                        format_strings(&cast, &pack(self.dtype, &numbers), numbers.len());
                    allowed.check_all(&summary).map_err(undefined)?;
                    let is_confirmed = |(text, &number): (&String, &u128)| {
                        is_text_confirmed(self.dtype, false, text.as_bytes(), number as u64)
                    };
                    if !part.iter().zip(&numbers).all(is_confirmed) {
                        return Err(CONTRADICTION.to_owned());
                    }
                    texts.extend(part.into_iter().map(Bytes::from));
                }
                Value::of_texts(&self.dims, texts)
            }
            (_, to) => Value::new(
                to,
                &self.dims,
                self.depth + 1,
                Form::Cast(self.clone().into(), cast, allowed),
            )?
            .settled(),
        }
    }

    /// Elements of several values of one type: `source` gives the number of the value and the index
    /// of the element there.
    pub fn picked(
        from: Vec<Value>,
        dims: &[i64],
        source: impl Fn(&[usize]) -> (usize, usize) + Send + Sync + 'static,
    ) -> Result<Value, String> {
        let Some(first) = from.first() else {
            return Err("there are no inputs".to_owned());
        };
        let dtype = first.dtype;
        if from.iter().any(|other| other.dtype != dtype) {
            return Err("the inputs differ in type".to_owned());
        }
        let depth = Value::depth_of(&from.iter().collect::<Vec<_>>());
        let grid = Grid::of(dims);
        if dtype == DType::String {
            let text = |place: &[usize]| {
                let (value, index) = source(place);
                from[value]
                    .texts()
                    .map(|texts| texts[index].clone())
                    .unwrap_or_default()
            };
            let elements = element_count(dims).and_then(|elements| usize::try_from(elements).ok());
            let elements =
                elements.ok_or_else(|| format!("there is no tensor of shape {dims:?}"))?;
            return Value::of_texts(dims, grid.each(0..elements, text));
        }
        let from = from.into_iter().map(Value::in_memory).collect();
        Value::new(
            dtype,
            dims,
            depth,
            Form::Picked(from, grid, Arc::new(source)),
        )?
        .settled()
    }

    /// Numbers that a function computes.
    pub fn computed(
        dtype: DType,
        dims: &[i64],
        depth: usize,
        number: impl Fn(&[usize]) -> Number + Send + Sync + 'static,
    ) -> Result<Value, String> {
        Value::new(
            dtype,
            dims,
            depth,
            Form::Computed(Grid::of(dims), Arc::new(number)),
        )?
        .settled()
    }

    /// Numbers that a function computes of the elements, one by one.
    pub fn mapped(
        self,
        to: DType,
        number: impl Fn(u128) -> Number + Send + Sync + 'static,
    ) -> Result<Value, String> {
        let source = self.in_memory();
        let (grid, dims, depth) = (
            Grid::of(&source.dims),
            source.dims.clone(),
            source.depth + 1,
        );
        Value::computed(to, &dims, depth, move |place| {
            number(source.number(grid.index(place))?)
        })
    }

    /// The depth of a value that is computed from these.
    pub fn depth_of(values: &[&Value]) -> usize {
        1 + values.iter().map(|value| value.depth).max().unwrap_or(0)
    }

    /// A file that is read in ranges is read once, if single elements of it are needed.
    pub fn in_memory(mut self) -> Value {
        if let Form::Numbers(stored) = &self.form
            && stored.in_memory().is_none()
        {
            self.form = Form::Numbers(stored.to_bytes().into());
        }
        self
    }

    /// Computes small values, and those that depend on many others.
    fn settled(self) -> Result<Value, String> {
        if self.elements > FEW && self.depth <= DEEP {
            return Ok(self);
        }
        let undefined = |why: &str| format!("ONNX does not define it: {why}");
        let size = self
            .dtype
            .raw_bytes(self.elements as u64)
            .and_then(|size| usize::try_from(size).ok());
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(size.unwrap_or(usize::MAX))
            .map_err(|_| "it is too large to compute".to_owned())?;
        for range in self.ranges() {
            let numbers = self
                .numbers(range)
                .into_iter()
                .collect::<Result<Vec<u128>, _>>()
                .map_err(undefined)?;
            bytes.extend(pack(self.dtype, &numbers));
        }
        Value::of_bytes(self.dtype, &self.dims, bytes)
    }

    /// All elements, in parts.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let elements = self.elements;
        (0..elements)
            .step_by(PART)
            .map(move |first| first..elements.min(first + PART))
    }

    /// The numbers of a range of elements; none of strings.
    pub fn numbers(&self, range: Range<usize>) -> Vec<Number> {
        match &self.form {
            Form::Numbers(stored) => {
                let bits = self.dtype.bits();
                // Eight elements begin at a byte.
                let first = range.start / 8 * 8;
                let bytes =
                    stored.part(bytes_of(bits, first) as u64..bytes_of(bits, range.end) as u64);
                range
                    .map(|index| Ok(bits_at(bits, &bytes, index - first)))
                    .collect()
            }
            Form::Texts(_) => Vec::new(),
            Form::Cast(of, cast, allowed) => of
                .numbers(range)
                .into_iter()
                .map(|number| converted(cast, *allowed, number?))
                .collect(),
            Form::Picked(from, grid, source) => grid.each(range, |place| {
                let (value, index) = source(place);
                from[value].number(index)
            }),
            Form::Computed(grid, number) => grid.each(range, |place| number(place)),
        }
    }

    /// The number of one element.
    pub fn number(&self, index: usize) -> Number {
        match &self.form {
            Form::Numbers(stored) => match stored.in_memory() {
                Some(bytes) => Ok(bits_at(self.dtype.bits(), bytes, index)),
                None => self.numbers(index..index + 1)[0],
            },
            Form::Texts(_) => Err("a string is not a number"),
            Form::Cast(of, cast, allowed) => converted(cast, *allowed, of.number(index)?),
            Form::Picked(from, grid, source) => {
                let (value, index) = source(&grid.place(index));
                from[value].number(index)
            }
            Form::Computed(grid, number) => number(&grid.place(index)),
        }
    }

    /// All elements of a tensor of integers or truth values.
    pub fn integers(&self) -> Result<Vec<i128>, String> {
        if !is_integer_or_bool(self.dtype) {
            return Err(format!("it is computed from {}", self.dtype));
        }
        let mut integers = Vec::with_capacity(self.elements);
        for range in self.ranges() {
            for number in self.numbers(range) {
                integers.push(integer(self.dtype, number?));
            }
        }
        Ok(integers)
    }

    /// All elements of a tensor of integers, as numbers of 64 bits.
    pub fn list(&self) -> Result<Vec<i64>, String> {
        let too_large = |number: i128| format!("{number} is too large");
        self.integers()?
            .into_iter()
            .map(|number| i64::try_from(number).map_err(|_| too_large(number)))
            .collect()
    }
}

/// Whether a type is of integers or truth values.
pub fn is_integer_or_bool(dtype: DType) -> bool {
    matches!(dtype.class(), Class::Bool | Class::Signed | Class::Unsigned)
}

/// The integer with these bits.
pub fn integer(dtype: DType, bits: u128) -> i128 {
    let sign = 1_u128 << (dtype.bits() - 1);
    match dtype.class() {
        Class::Bool => i128::from(bits != 0),
        Class::Signed => (bits ^ sign).cast_signed() - sign.cast_signed(),
        _ => bits.cast_signed(),
    }
}

fn converted(cast: &Cast, allowed: Allowed, number: u128) -> Number {
    element_result(cast, allowed, number as u64).map(u128::from)
}

/// The bits of one element in the layout of `raw_data`.
fn bits_at(bits: usize, bytes: &[u8], index: usize) -> u128 {
    match bits {
        8 => bytes[index].into(),
        16 => u16::from_le_bytes(bytes.as_chunks().0[index]).into(),
        32 => u32::from_le_bytes(bytes.as_chunks().0[index]).into(),
        64 => u64::from_le_bytes(bytes.as_chunks().0[index]).into(),
        128 => u128::from_le_bytes(bytes.as_chunks().0[index]),
        _ => (0..bits).fold(0, |number, bit| {
            let at = bits * index + bit;
            number | u128::from(bytes[at / 8] >> (at % 8) & 1) << bit
        }),
    }
}

/// The bytes of elements in the layout of `raw_data`.
fn bytes_of(bits: usize, elements: usize) -> usize {
    (bits * elements).div_ceil(8)
}

/// Numbers in the layout of `raw_data`.
fn pack(dtype: DType, numbers: &[u128]) -> Vec<u8> {
    let bits = dtype.bits();
    if bits.is_multiple_of(8) {
        return numbers
            .iter()
            .flat_map(|number| number.to_le_bytes().into_iter().take(bits / 8))
            .collect();
    }
    let mut bytes = vec![0; bytes_of(bits, numbers.len())];
    for (index, number) in numbers.iter().enumerate() {
        for bit in 0..bits {
            let at = bits * index + bit;
            bytes[at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
        }
    }
    bytes
}
