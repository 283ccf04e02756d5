"""diff: every field in which two models differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_recast import _recast
from onnx_recast._models import Opened
from onnx_recast._options import path
from onnx_recast._values import Value

if TYPE_CHECKING:
    from onnx_recast._options import StrPath


@dataclass(frozen=True, slots=True)
class Difference(Value):
    """A difference between two models."""

    path: str
    """Path of the field or item, such as ``"graph/cast_1.to"``."""
    kind: str
    """``"removed"``, ``"added"``, ``"changed"``, ``"reordered"`` or ``"stored"`` (equal values, different storage)."""
    left: str | None
    """The value in the left model, if present."""
    right: str | None
    """The value in the right model, if present."""


def diff(
    left: object, right: object, *, base_dir: StrPath | None = None, right_base_dir: StrPath | None = None
) -> list[Difference]:
    """List every field in which two models differ; tensors by value, regardless of their storage.

    Parameters
    ----------
    left, right : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The models.
    base_dir : path, optional
        Folder of the data files of models that are not paths.
    right_base_dir : path, optional
        That of ``right``, if it is another one.

    Returns
    -------
    list of Difference
        Empty if the models are equal.

    Raises
    ------
    InvalidModelError
        A model cannot be read, or a tensor cannot be compared.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import onnx_recast
    >>> folded = onnx_recast.fold("models/fp8_qdq.onnx").model
    >>> onnx_recast.diff("models/fp8_qdq.onnx", folded)[0].kind
    'removed'
    """
    right_folder = base_dir if right_base_dir is None else path("right_base_dir", right_base_dir)
    found = _recast.diff(Opened(left, base_dir).input, Opened(right, right_folder).input)
    return [Difference.from_dict(one) for one in json.loads(found)]
