//! Tensors as serialized `TensorProto`s.

use bytes::Bytes;

use super::elements::{Array, Data, Failure, Spread};
use crate::dtype::DType;
use crate::tensor::{self, RAW_DATA, Tensor, without_values};
use crate::wire::schema::TensorProto;
use crate::wire::{DataFolder, Field, LARGEST_MESSAGE, Layout, Piece, Value, raw};

pub(super) fn read(bytes: &Bytes, stored: Option<DType>, folder: &DataFolder) -> Result<Array, Failure> {
    let proto =
        TensorProto::from_bytes(bytes.clone()).map_err(|error| Failure(format!("is no .npy file and no TensorProto: {error}")))?;
    let tensor = Tensor::read(&proto).map_err(|error| Failure(format!("is no .npy file and no sound TensorProto: {error}")))?;
    if let Some(stored) = stored.filter(|&stored| stored != tensor.dtype()) {
        return Err(Failure(format!(
            "holds {}, not {stored}; leave --from away, a TensorProto says what it holds",
            tensor.dtype()
        )));
    }
    let data = match tensor.load(folder).map_err(Failure::new)? {
        tensor::Data::Numbers(values, _) => Data::Numbers(values, Spread::Packed, None),
        tensor::Data::Strings(strings) => Data::Strings(strings),
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
    let mut proto = match &array.message {
        Some(message) => without_values(message),
        None => TensorProto::from(raw::TensorProto::default()),
    };
    proto.dims = array.dims;
    proto.data_type = Some(array.dtype.number());
    proto.data_location = None;
    proto.string_data.clear();
    match (piece, array.data) {
        (None, Data::Strings(strings)) => proto.string_data = strings,
        (Some(Piece::Made(recipe)), _) => proto.rest_mut().push(Field { tag: RAW_DATA, value: Value::Made(recipe) }),
        (Some(Piece::Bytes(bytes)), _) => proto.rest_mut().push(Field { tag: RAW_DATA, value: Value::Len(bytes) }),
        (None, Data::Numbers(..)) => unreachable!("numbers make a piece"),
    }
    let layout = Layout::of(&proto);
    if layout.bytes() > LARGEST_MESSAGE {
        return Err(Failure(format!(
            "would be a TensorProto of {} bytes, more than protobuf's 2 GiB; write a .npy file",
            layout.bytes()
        )));
    }
    Ok(layout)
}
