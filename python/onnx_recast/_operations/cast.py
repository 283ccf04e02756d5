"""cast and cast_like: casts of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from onnx_recast import _recast
from onnx_recast._dtypes import numpy_type, onnx_name, onnx_type
from onnx_recast._options import check_unmasked, checked, reading
from onnx_recast._progress import watcher

if TYPE_CHECKING:
    import numpy.typing as npt

    from onnx_recast._dtypes import Array, Type
    from onnx_recast._progress import Progress

_STEP = 1 << 16
"""Elements that pass through Python at a time: work that is done in one call of numpy cannot be interrupted."""


class Casting(TypedDict, total=False):
    """Options of both functions."""

    opset: int
    saturate: bool
    round_mode: Literal["up", "down", "nearest"]
    undefined: Literal["error", "fold"]
    contested: Literal["error", "text", "runtime"]


def cast(
    array: npt.ArrayLike,
    to: Type,
    *,
    opset: int = _recast.LATEST_OPSET,
    saturate: bool = True,
    round_mode: Literal["up", "down", "nearest"] = "up",
    undefined: Literal["error", "fold"] = "error",
    contested: Literal["error", "text", "runtime"] = "error",
    progress: Progress = False,
) -> Array:
    """Cast an array as ONNX's ``Cast`` does, each element rounded once.

    Parameters
    ----------
    array : array_like
        Of any shape, byte order and memory layout, with a type of numpy or ml_dtypes, or strings (``str`` or UTF-8
        ``bytes``).
    to : str, int or dtype
        Type of the result: an ONNX name in any letter case (``"FLOAT8E4M3FN"``), a number of ``TensorProto.DataType``,
        or a type of numpy or ml_dtypes. In ONNX, ``"FLOAT"`` is ``float32``, and ``"DOUBLE"`` is ``float64``.
    opset : int
        Version of the operator set whose ``Cast`` this is.
    saturate : bool
        Whether float8 results saturate on overflow; otherwise they become infinity or NaN.
    round_mode : {"up", "down", "nearest"}
        Rounding to FLOAT8E8M0.
    undefined : {"error", "fold"}
        Whether elements whose result ONNX leaves undefined are an error, or become the values that ``fold`` gives them.
    contested : {"error", "text", "runtime"}
        Whether elements on whose result ONNX's text and its node tests disagree are an error, or become what the text
        states, or what the node tests expect and runtimes compute.
    progress : bool or callable
        See :func:`fold`; it counts bytes of the result.

    Returns
    -------
    numpy.ndarray
        A new array of the shape of ``array``. Types that numpy lacks are those of ml_dtypes; their elements of 2, 4 and
        6 bits take a byte each. Strings are ``str`` objects.

    Raises
    ------
    CastError
        ``index`` is the first element that cannot be cast, ``kind`` the reason.
    ValueError
        A type or an option is not known.
    ModuleNotFoundError
        The type of the result needs ml_dtypes, which is not installed.

    Notes
    -----
    The rules are those of the text of ``Cast`` and of ONNX's technical notes on float8; docs/cast.md lists them.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx_recast
    >>> onnx_recast.cast(np.array([0.1, 448, 1e9], np.float32), "FLOAT8E4M3FN").tolist()
    [0.1015625, 448.0, 448.0]
    >>> onnx_recast.cast(["1.5", "-inf"], "FLOAT")
    array([ 1.5, -inf], dtype=float32)
    """
    arguments = locals()
    import numpy as np

    target = onnx_name(to)
    check_unmasked("array", array)
    given = np.asarray(array)
    options = checked(Casting, arguments)
    casting: _recast._Casting = {
        "to": target,
        "shape": list(given.shape),
        "opset": options["opset"],
        "saturate": options["saturate"],
        "round_mode": options["round_mode"],
        "undefined": options["undefined"] == "fold",
        "contested": reading(options["contested"]),
    }
    is_string = target == "STRING" or target.startswith("COMPLEX")
    result = np.empty(given.shape, dtype=object if is_string else numpy_type(target))
    flat = result.reshape(-1)
    out = None if is_string else flat.view(np.uint8)
    source = onnx_type(given)
    with watcher(progress) as watch:
        if source == "STRING":
            queue = _recast.Strings()
            for start in range(0, given.size, _STEP):
                queue.append(given.flat[start : start + _STEP].tolist())
            strings = _recast.cast_strings(queue, casting, out, watch)
        else:
            strings = _recast.cast_numbers(_little_endian(given), source, casting, out, watch)
    if strings is not None:
        for start in range(0, given.size, _STEP):
            flat[start : start + _STEP] = strings.take(_STEP)
    return result


def cast_like(
    array: npt.ArrayLike,
    like: npt.ArrayLike,
    *,
    opset: int = _recast.LATEST_OPSET,
    saturate: bool = True,
    round_mode: Literal["up", "down", "nearest"] = "up",
    undefined: Literal["error", "fold"] = "error",
    contested: Literal["error", "text", "runtime"] = "error",
    progress: Progress = False,
) -> Array:
    """Cast an array to the type of another one, as ONNX's ``CastLike`` does.

    Parameters
    ----------
    array : array_like
        See :func:`cast`.
    like : array_like
        The array whose type is that of the result.
    opset, saturate, round_mode, undefined, contested, progress
        See :func:`cast`.

    Returns
    -------
    numpy.ndarray
        See :func:`cast`.

    Raises
    ------
    CastError
        See :func:`cast`.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx_recast
    >>> onnx_recast.cast_like([1.5, 2.5], np.zeros(1, np.float16))
    array([1.5, 2.5], dtype=float16)
    """
    import numpy as np

    reference = np.asarray(like)
    to = onnx_type(reference)
    if reference.dtype == object and not all(isinstance(item, str | bytes) for item in reference.flat):
        raise TypeError("like: expected an array of numbers or strings")
    return cast(
        array,
        to,
        opset=opset,
        saturate=saturate,
        round_mode=round_mode,
        undefined=undefined,
        contested=contested,
        progress=progress,
    )


def _little_endian(array: Array) -> Array:
    """Return the elements as contiguous bytes; copied only if they are not."""
    import numpy as np

    is_native = array.dtype.isnative
    if not (is_native and array.flags.c_contiguous):
        contiguous = np.empty(array.shape, array.dtype if is_native else array.dtype.newbyteorder("<"))
        _copy(array, contiguous)
        array = contiguous
    return array.reshape(-1).view(np.uint8)


def _copy(source: Array, target: Array) -> None:
    """Copy an array in parts along its first axes, between which it can be interrupted."""
    if source.ndim == 0 or source.size <= 16 * _STEP:
        target[...] = source
        return
    rows = 16 * _STEP * len(source) // source.size
    if rows == 0:
        for row, target_row in zip(source, target, strict=True):
            _copy(row, target_row)
    else:
        for start in range(0, len(source), rows):
            target[start : start + rows] = source[start : start + rows]
