//! Tensors as serialized `TensorProto`s.

use bytes::Bytes;

use super::array::{Array, Failure, Remedy};
use crate::files::DataFolder;
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{LARGEST_MESSAGE, Layout, raw};
use crate::tensor::{BadTensor, Data, Packing, Tensor, raw_data, without_values};
use onnx_cast::DType;

pub(super) fn read(
    bytes: &Bytes,
    stored: Option<DType>,
    folder: &DataFolder,
) -> Result<Array, Failure> {
    let proto = TensorProto::from_bytes(bytes.clone()).map_err(|error| {
        Failure::new(format!("is neither a .npy file nor a TensorProto: {error}"))
    })?;
    let tensor = Tensor::read(&proto).map_err(|error| {
        Failure::new(format!(
            "is neither a .npy file nor a valid TensorProto: {error}"
        ))
    })?;
    if let Some(stored) = stored.filter(|&stored| stored != tensor.dtype()) {
        return Err(Failure::new(format!(
            "has the type {}, not {stored}: a TensorProto states its type",
            tensor.dtype()
        ))
        .with(Remedy::OmitType));
    }
    let content = tensor.load(folder).map_err(|error| {
        let is_outside = matches!(&error, BadTensor::Location(location) if location.is_outside());
        Failure {
            remedy: is_outside.then_some(Remedy::AllowFolder),
            ..Failure::new(error)
        }
    })?;
    Ok(Array {
        content,
        fortran_order: false,
        message: Some(proto),
    })
}

pub(super) fn layout(array: Array) -> Result<Layout, Failure> {
    if array.fortran_order && array.content.dims().len() > 1 {
        return Err(Failure::new(
            "is in Fortran order, which TensorProto does not support; convert it with numpy.ascontiguousarray",
        ));
    }
    let mut proto = match &array.message {
        Some(message) => without_values(message),
        None => TensorProto::from(raw::TensorProto::default()),
    };
    proto.dims = array.content.dims().to_vec();
    proto.data_type = Some(array.dtype().number());
    proto.data_location = None;
    proto.string_data.clear();
    match array.content.data() {
        Data::Strings(strings) => proto.string_data.clone_from(strings),
        Data::Numbers(..) => proto
            .rest_mut()
            .extend(array.content.piece(Packing::Packed).map(raw_data)),
    }
    let layout = Layout::of(&proto);
    if layout.bytes() > LARGEST_MESSAGE {
        return Err(Failure::new(format!(
            "the TensorProto would have {} bytes, more than protobuf's limit of 2 GiB; write a .npy file",
            layout.bytes()
        )));
    }
    Ok(layout)
}
