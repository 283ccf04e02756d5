"""Tensors and arrays of every element type as bit patterns."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


def bits(array):
    """The bit patterns of an array, as unsigned integers of its width."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}") if array.dtype.itemsize <= 8 else array


def array_of_codes(type_name, element_codes, width):
    """An array with these bit patterns; narrow integers are sign-extended, as numpy's users expect them."""
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(type_name)))
    if type_name in ("INT2", "INT4"):
        element_codes = [code | 0x100 - (1 << width) if code >> (width - 1) else code for code in element_codes]
    return np.array(element_codes, f"u{dtype.itemsize}").view(dtype)


def codes(tensor, width):
    """The bit patterns of a tensor's elements as integers, for every kind of storage; `width` in bits."""
    return array_codes(numpy_helper.to_array(tensor), width)


def array_codes(array, width):
    """The bit patterns of an array's elements."""
    return [code & ((1 << width) - 1) for code in bits(array).flatten().tolist()]


def tensor_of_codes(name, type_name, shape, element_codes, width):
    """A tensor with these bit patterns in raw_data."""
    tensor = TensorProto(name=name, data_type=TensorProto.DataType.Value(type_name), dims=shape)
    stream = sum(code << (index * width) for index, code in enumerate(element_codes))
    tensor.raw_data = stream.to_bytes((len(element_codes) * width + 7) // 8, "little")
    return tensor
