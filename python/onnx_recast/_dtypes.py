"""Element types: those of ONNX, numpy and ml_dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_recast._options import is_flag, text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Type: TypeAlias = str | int | npt.DTypeLike

NUMPY = {
    "FLOAT": "float32",
    "UINT8": "uint8",
    "INT8": "int8",
    "UINT16": "uint16",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "BOOL": "bool",
    "FLOAT16": "float16",
    "DOUBLE": "float64",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "COMPLEX64": "complex64",
    "COMPLEX128": "complex128",
}
"""The types of numpy, by ONNX name."""

ML_DTYPES = {
    "BFLOAT16": "bfloat16",
    "FLOAT8E4M3FN": "float8_e4m3fn",
    "FLOAT8E4M3FNUZ": "float8_e4m3fnuz",
    "FLOAT8E5M2": "float8_e5m2",
    "FLOAT8E5M2FNUZ": "float8_e5m2fnuz",
    "UINT4": "uint4",
    "INT4": "int4",
    "FLOAT4E2M1": "float4_e2m1fn",
    "FLOAT8E8M0": "float8_e8m0fnu",
    "UINT2": "uint2",
    "INT2": "int2",
    "FLOAT6E2M3": "float6_e2m3fn",
    "FLOAT6E3M2": "float6_e3m2fn",
}
"""The types of ml_dtypes, by ONNX name."""

_ONNX = {name: onnx for onnx, name in {**NUMPY, **ML_DTYPES}.items()}

NUMBERS = [
    "FLOAT",
    "UINT8",
    "INT8",
    "UINT16",
    "INT16",
    "INT32",
    "INT64",
    "STRING",
    "BOOL",
    "FLOAT16",
    "DOUBLE",
    "UINT32",
    "UINT64",
    "COMPLEX64",
    "COMPLEX128",
    "BFLOAT16",
    "FLOAT8E4M3FN",
    "FLOAT8E4M3FNUZ",
    "FLOAT8E5M2",
    "FLOAT8E5M2FNUZ",
    "UINT4",
    "INT4",
    "FLOAT4E2M1",
    "FLOAT8E8M0",
    "UINT2",
    "INT2",
    "FLOAT6E2M3",
    "FLOAT6E3M2",
]
"""The names of ``TensorProto.DataType``, from 1."""


def onnx_name(to: Type, option: str = "to") -> str:
    """Return the ONNX name of a type, the value of an option; a string is checked by the native module."""
    import numpy as np

    if isinstance(to, str):
        return text(option, to).upper()
    if isinstance(to, int | np.integer) and not is_flag(to):
        if 1 <= to <= len(NUMBERS):
            return NUMBERS[int(to) - 1]
        raise ValueError(f"{to} is not an element type of ONNX")
    dtype: Any = to
    try:
        if to is None:  # It would be float64.
            raise TypeError
        found = np.dtype(dtype)
    except TypeError:
        expected = "expected an ONNX type such as 'FLOAT16', its number, or a dtype"
        raise TypeError(f"{option}: {expected}, not {type(to).__name__}") from None
    return onnx_type(np.empty(0, dtype=found))


def onnx_type(array: Array) -> str:
    """Return the ONNX name of the type of an array."""
    dtype = array.dtype
    if dtype.kind in "OSUT":
        return "STRING"
    try:
        return _ONNX[dtype.name]
    except KeyError:
        raise ValueError(f"ONNX has no element type for {dtype}") from None


def is_float(name: str) -> bool:
    """Whether an ONNX name is that of a floating-point type."""
    return "FLOAT" in name or name == "DOUBLE"


def numpy_type(name: str) -> np.dtype[Any]:
    """Return the type of numpy or ml_dtypes of an ONNX name."""
    import numpy as np

    if name in NUMPY:
        return np.dtype(NUMPY[name])
    if name not in ML_DTYPES:
        return np.dtype(np.uint8)  # The native module states the error.
    try:
        import ml_dtypes
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{name} needs the package ml_dtypes: pip install ml_dtypes", name="ml_dtypes"
        ) from error
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, ML_DTYPES[name]))
    except AttributeError:
        raise ValueError(f"{name} needs a newer ml_dtypes than {ml_dtypes.__version__}") from None
    return dtype
