//! Tensors as serialized `TensorProto`s.

use bytes::Bytes;

use super::elements::{Array, Data, Failure, Spread};
use crate::dtype::DType;
use crate::tensor::{Tensor, Values};
use crate::wire::schema::TensorProto;
use crate::wire::{Field, Layout, Piece, Value};

const RAW_DATA: u32 = 9;

/// The fields that hold values: `float_data`, `int32_data`, `int64_data`, `raw_data`, `double_data`, `uint64_data`.
const VALUES: [u32; 6] = [4, 5, 7, RAW_DATA, 10, 11];

pub(super) fn read(bytes: &Bytes, stored: Option<DType>) -> Result<Array, Failure> {
    let proto =
        TensorProto::from_bytes(bytes.clone()).map_err(|error| Failure(format!("is no .npy file and no TensorProto: {error}")))?;
    let tensor = Tensor::read(&proto).map_err(|error| Failure(format!("is no .npy file and no sound TensorProto: {error}")))?;
    if let Some(stored) = stored.filter(|&stored| stored != tensor.dtype()) {
        return Err(Failure(format!(
            "holds {}, not {stored}; leave --from away, a TensorProto says what it holds",
            tensor.dtype()
        )));
    }
    let data = match tensor.values().map_err(Failure::new)? {
        Values::Raw(raw) => Data::Numbers(raw, Spread::Packed, None),
        Values::Strings(strings) => Data::Strings(strings),
        Values::External(reference) => {
            return Err(Failure(format!(
                "its values are in another file, '{}'; store them in the tensor itself",
                reference.location
            )));
        }
    };
    Ok(Array { dims: tensor.dims().to_vec(), fortran_order: false, dtype: tensor.dtype(), data, message: Some(proto) })
}

pub(super) fn layout(array: Array) -> Result<Layout, Failure> {
    if array.fortran_order && array.dims.len() > 1 {
        return Err(Failure::new(
            "is in Fortran order, which a TensorProto does not know; save it with numpy.ascontiguousarray first",
        ));
    }
    let piece = array.piece(Spread::Packed);
    let mut proto = array.message.unwrap_or_else(|| TensorProto::from(crate::wire::raw::TensorProto::default()));
    proto.dims = array.dims;
    proto.data_type = Some(array.dtype.number());
    proto.string_data.clear();
    proto.rest_mut().retain(|field| !VALUES.contains(&field.tag));
    match (piece, array.data) {
        (None, Data::Strings(strings)) => proto.string_data = strings,
        (Some(Piece::Made(recipe)), _) => proto.rest_mut().push(Field { tag: RAW_DATA, value: Value::Made(recipe) }),
        (Some(Piece::Bytes(bytes)), _) => proto.rest_mut().push(Field { tag: RAW_DATA, value: Value::Len(bytes) }),
        (None, Data::Numbers(..)) => unreachable!("numbers make a piece"),
    }
    Ok(Layout::of(&proto))
}
