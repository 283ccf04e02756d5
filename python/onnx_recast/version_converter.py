"""A drop-in for ``onnx.version_converter``; this module needs the package onnx.

.. code-block:: python

    from onnx_recast.version_converter import ConvertError, convert_version

    converted = convert_version(model, 17)
"""

from __future__ import annotations

import operator
from typing import Any

import onnx
import onnx.version_converter

from onnx_recast._errors import ConversionError, RecastError
from onnx_recast._operations import convert

__all__ = ["ConvertError", "convert_version"]

_OfOnnx: Any = onnx.version_converter.ConvertError


class ConvertError(RuntimeError, _OfOnnx):  # type: ignore[misc]
    """A model cannot be converted, or is invalid.

    It is a ``RuntimeError`` and a ``ConvertError`` of onnx, so that code which catches either catches it too.
    ``__cause__`` is the error of :func:`onnx_recast.convert_version`, with the blockers.
    """


def convert_version(model: onnx.ModelProto, target_version: int) -> onnx.ModelProto:
    """Convert a model to another opset of ai.onnx, as ``onnx.version_converter.convert_version`` is called.

    Initializers that are also graph inputs stay overridable, where the conversion does not depend on their values.
    Otherwise they become constants, as for the converter of onnx, and are no longer inputs. For options and reports,
    call :func:`onnx_recast.convert_version`.

    Parameters
    ----------
    model : onnx.ModelProto
        The model. It is not changed.
    target_version : int
        Opset to convert to, older or newer.

    Returns
    -------
    onnx.ModelProto
        The converted model.

    Raises
    ------
    ConvertError
        Nodes cannot be converted, the model is invalid, or there is no such opset.
    TypeError
        The model is not a ``ModelProto``, or the opset not an integer.

    Examples
    --------
    >>> import onnx
    >>> from onnx_recast.version_converter import convert_version
    >>> convert_version(onnx.load("models/transformer_fp16.onnx"), 21).opset_import[0].version
    21
    """
    if not isinstance(model, onnx.ModelProto):
        raise TypeError(f"model: expected an onnx.ModelProto, not {type(model).__name__}")
    try:
        opset = operator.index(target_version)
    except TypeError:
        raise TypeError(f"target_version: expected an integer, not {type(target_version).__name__}") from None
    try:
        return _converted(model, opset)
    except (RecastError, ValueError) as error:
        raise ConvertError(str(error)) from error


def _converted(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    try:
        return convert.convert_version(model, opset).model
    except ConversionError:
        if not _has_overridable(model):
            raise
    return convert.convert_version(model, opset, freeze_initializers=True).model


def _has_overridable(model: onnx.ModelProto) -> bool:
    """Whether an initializer is also a graph input."""
    inputs = {one.name for one in model.graph.input}
    return any(one.name in inputs for one in model.graph.initializer)
