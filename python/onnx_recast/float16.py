"""A drop-in for the modules ``float16`` of onnxconverter-common and onnxruntime.transformers. It needs onnx.

.. code-block:: python

    from onnx_recast.float16 import convert_float_to_float16

    converted = convert_float_to_float16(model, keep_io_types=True)
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx

from onnx_recast import _recast
from onnx_recast._operations.precision import convert_precision
from onnx_recast._options import is_flag, literal, names

if TYPE_CHECKING:
    from onnx_recast._operations.precision import PrecisionOptions
    from onnx_recast._options import StrPath

__all__ = ["DEFAULT_OP_BLOCK_LIST", "convert_float_to_float16", "convert_float_to_float16_model_path"]

DEFAULT_OP_BLOCK_LIST: list[str] = _recast.sensitive_operators()
"""The operators that stay FLOAT without ``op_block_list``: those of ``recast precision --policy stable``."""


def convert_float_to_float16(
    model: onnx.ModelProto | StrPath,
    min_positive_val: float | None = None,
    max_finite_val: float | None = None,
    keep_io_types: bool | Iterable[str] = False,
    disable_shape_infer: bool = False,
    op_block_list: Iterable[str] | None = None,
    node_block_list: Iterable[str] | None = None,
    *,
    check_fp16_ready: bool | None = None,
    force_fp16_initializers: bool = False,
    force_fp16_inputs: Mapping[str, Sequence[int]] | None = None,
    use_bfloat16_as_blocked_nodes_dtype: bool = False,
) -> onnx.ModelProto:
    """Convert FLOAT values of a model to FLOAT16, as the functions of this name of both packages are called.

    Constants are rounded as ``Cast`` rounds. A parameter that asks for something else is ignored with a warning that
    states why. For reports and other options, call :func:`onnx_recast.convert_precision`.

    Parameters
    ----------
    model : onnx.ModelProto or path
        The model. It is not changed.
    min_positive_val, max_finite_val : float, optional
        Ignored: constants are not clipped.
    keep_io_types : bool or iterable of str
        Whether the inputs and outputs stay FLOAT, or the names of those that do.
    disable_shape_infer : bool
        Ignored: the types are inferred from the schemas in any case.
    op_block_list : iterable of str, optional
        The operators that stay FLOAT; by default, :data:`DEFAULT_OP_BLOCK_LIST` and the patterns of the policy
        ``"stable"``. A list that contains :data:`DEFAULT_OP_BLOCK_LIST` keeps these patterns, another one does not.
        Operators without FLOAT16 in the opset of the model stay FLOAT in any case.
    node_block_list : iterable of str, optional
        Names of the nodes that stay FLOAT.
    check_fp16_ready : bool, optional
        Ignored: a model that has FLOAT16 already is not an error, since a second run changes nothing.
    force_fp16_initializers : bool
        Ignored: an initializer that a node of FLOAT uses stays FLOAT.
    force_fp16_inputs : mapping of str to sequence of int, optional
        Ignored: inputs are FLOAT16 where the schema of the operator admits it.
    use_bfloat16_as_blocked_nodes_dtype : bool
        Ignored: nodes that are kept stay FLOAT.

    Returns
    -------
    onnx.ModelProto
        The converted model. That of a path contains the tensors of its data files.

    Raises
    ------
    InvalidModelError
        The model cannot be read, or contradicts ONNX.
    TypeError
        The model is not a ``ModelProto`` or path, or another argument is of a wrong type.
    OSError
        A file cannot be read or written.

    Examples
    --------
    >>> import onnx
    >>> from onnx_recast.float16 import convert_float_to_float16
    >>> converted = convert_float_to_float16(onnx.load("models/control_flow.onnx"), keep_io_types=["x"])
    >>> [value.type.tensor_type.elem_type for value in (*converted.graph.input[:1], *converted.graph.output)]
    [1, 10]
    """
    _warn(
        min_positive_val=min_positive_val is not None,
        max_finite_val=max_finite_val is not None,
        disable_shape_infer=disable_shape_infer,
        check_fp16_ready=check_fp16_ready,
        force_fp16_initializers=force_fp16_initializers,
        force_fp16_inputs=force_fp16_inputs,
        use_bfloat16_as_blocked_nodes_dtype=use_bfloat16_as_blocked_nodes_dtype,
    )
    blocked = DEFAULT_OP_BLOCK_LIST if op_block_list is None else names("op_block_list", op_block_list)
    options: PrecisionOptions = {
        "io": _io(keep_io_types),
        "policy": "stable" if set(DEFAULT_OP_BLOCK_LIST) <= set(blocked) else "all",
        "keep_op": blocked,
        "keep_node": [literal(name) for name in names("node_block_list", node_block_list or ())],
    }
    if isinstance(model, onnx.ModelProto):
        converted: onnx.ModelProto = convert_precision(model, "FLOAT16", **options).model
        return converted
    if not isinstance(model, str | os.PathLike):
        raise TypeError(f"model: expected an onnx.ModelProto or a path, not {type(model).__name__}")
    with tempfile.TemporaryDirectory() as folder:
        # A message cannot have more than 2 GiB, a ModelProto with the tensors of data files can.
        return onnx.load(convert_precision(model, "FLOAT16", Path(folder) / "model.onnx", **options).model)


def convert_float_to_float16_model_path(
    model_path: StrPath,
    min_positive_val: float | None = None,
    max_finite_val: float | None = None,
    keep_io_types: bool | Iterable[str] = False,
) -> onnx.ModelProto:
    """Convert FLOAT values of the model in a file to FLOAT16, whatever its size.

    Parameters
    ----------
    model_path : path
        The model.
    min_positive_val, max_finite_val, keep_io_types
        See :func:`convert_float_to_float16`.

    Returns
    -------
    onnx.ModelProto
        The converted model, with the tensors of its data files.
    """
    _warn(min_positive_val=min_positive_val is not None, max_finite_val=max_finite_val is not None)
    if not isinstance(model_path, str | os.PathLike):
        raise TypeError(f"model_path: expected a path, not {type(model_path).__name__}")
    return convert_float_to_float16(model_path, keep_io_types=keep_io_types)


_IGNORED = {
    "min_positive_val": "constants are rounded as Cast rounds, and not clipped: small numbers become subnormal or zero",
    "max_finite_val": "constants are rounded as Cast rounds, and not clipped; convert_precision has on_overflow for "
    "those beyond the range of FLOAT16",
    "disable_shape_infer": "the types are inferred from the schemas of the operators in any case",
    "check_fp16_ready": "a model that has FLOAT16 already is not an error, since a second run changes nothing",
    "force_fp16_initializers": "an initializer that a node of FLOAT uses stays FLOAT, since rounding it would change "
    "the result of this node",
    "force_fp16_inputs": "inputs are FLOAT16 where the schema of the operator admits it",
    "use_bfloat16_as_blocked_nodes_dtype": "nodes that are kept stay FLOAT",
}
"""Why a parameter is ignored."""


def _warn(**given: object) -> None:
    """Warn of parameters that have an effect in the other packages, and are ignored here."""
    for name, is_given in given.items():
        if is_given:
            warnings.warn(f"{name} is ignored: {_IGNORED[name]}", UserWarning, stacklevel=3)


def _io(keep_io_types: Any) -> list[str]:
    """Return the types of the inputs and outputs, as the option ``io`` takes them."""
    if is_flag(keep_io_types):
        return ["keep" if keep_io_types else "convert"]
    return ["convert", *(f"{name}=FLOAT" for name in names("keep_io_types", keep_io_types))]
