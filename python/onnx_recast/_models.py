"""Recognises the kinds of models that callers pass, and returns models of the same kind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from onnx_recast._options import StrPath, check_unmasked, path

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer

    from onnx_recast._recast import _Input

    class SupportsRead(Protocol):
        """A binary file object."""

        def read(self) -> bytes:
            """Return the rest of the file."""
            ...

    Encoded: TypeAlias = StrPath | Buffer | npt.NDArray[np.generic] | SupportsRead
    """A path, the bytes of a model, or a binary file object."""

    class Message(Protocol):
        """A message of protobuf."""

        def SerializeToString(self) -> bytes:
            """Return the bytes of the message."""
            ...

    Kind = TypeVar("Kind")
    # Without type stubs of protobuf, a ModelProto seems to be of every other type too.
    Proto = TypeVar("Proto", bound=Message)


class Opened:
    """A model as the native module takes it, and a function that makes an object of the caller's kind of bytes."""

    __slots__ = ("input", "restore")

    input: _Input
    restore: Callable[[bytes], Any]

    def __init__(self, model: Any, base_dir: StrPath | None) -> None:
        source: bytes | str
        self.restore = _itself
        folder = None if base_dir is None else path("base_dir", base_dir)
        if isinstance(model, str | os.PathLike):
            source = path("model", model)
        elif isinstance(model, bytes):
            source = model
        elif _is_model_proto(model):
            source = model.SerializeToString()
            self.restore = type(model).FromString
        elif _is_ir_model(model):
            ir = sys.modules["onnx_ir"]
            folder = _base_dir_of(ir, model) if folder is None else folder
            proto = ir.to_proto(model)
            source = proto.SerializeToString()
            self.restore = _ir_restorer(ir, type(proto), folder)
        elif hasattr(model, "read"):
            source = model.read()
            if not isinstance(source, bytes):
                raise TypeError("the file is not opened in binary mode; use open(path, 'rb')")
        else:
            source = _bytes_of(model)
        self.input = {"source": source, "base_dir": folder}


def _itself(model: bytes) -> bytes:
    return model


def _is_model_proto(model: object) -> bool:
    """Whether this is an ``onnx.ModelProto``, of any version and implementation of protobuf."""
    descriptor = getattr(type(model), "DESCRIPTOR", None)
    return getattr(descriptor, "full_name", None) == "onnx.ModelProto"


def _is_ir_model(model: object) -> bool:
    classes = type(model).__mro__
    return any(one.__name__ == "Model" and one.__module__.partition(".")[0] == "onnx_ir" for one in classes)


def _base_dir_of(ir: Any, model: Any) -> str | None:
    """Return the folder of the first tensor in a data file."""
    for value in model.graph.initializers.values():
        if isinstance(value.const_value, ir.ExternalTensor):
            return str(value.const_value.base_dir)
    return None


def _ir_restorer(ir: Any, proto_class: Any, base_dir: str | None) -> Callable[[bytes], Any]:
    def restore(model: bytes) -> Any:
        restored = ir.from_proto(proto_class.FromString(model))
        if base_dir is not None:
            ir.external_data.set_base_dir(restored.graph, base_dir)
        return restored

    return restore


def _bytes_of(model: Any) -> bytes:
    """Copy a buffer, unless its bytes cannot change."""
    check_unmasked("model", model)
    try:
        view = memoryview(model)
    except TypeError:
        expected = "expected a path, bytes, a binary file, an onnx.ModelProto or an onnx_ir.Model"
        raise TypeError(f"{expected}, not {type(model).__name__}") from None
    if type(view.obj) is bytes and view.contiguous and view.nbytes == len(view.obj):
        return view.obj
    return view.tobytes()
