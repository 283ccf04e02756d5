"""Comparison of two values of one output, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from onnx_recast._dtypes import is_float, onnx_type
from onnx_recast._html import table_of
from onnx_recast._values import Value

if TYPE_CHECKING:
    from onnx_recast._dtypes import Array

Outcome: TypeAlias = Literal["equal", "equal by value", "last digits", "different"]
"""How much two values differ, least first."""

_ORDER: tuple[Outcome, ...] = get_args(Outcome)

_UNITS = 16
"""Units in the last place by which an element may differ in its last digits; fewer for types with short mantissas."""


@dataclass(frozen=True, slots=True)
class OutputComparison(Value):
    """An output of two models that were run on the same inputs, by :func:`onnx_recast.compare_runs`."""

    name: str
    """Name of the output."""
    type: str
    """ONNX type, of ``left``."""
    shape: tuple[int, ...] | None
    """Shape, of ``left``; None if it is not a tensor."""
    outcome: Outcome
    """``"equal"``: the same bits; ``"equal by value"``: zeros of other signs or NaN of other bits; ``"last digits"``:
    floating-point numbers that differ by 16 units in the last place at most, of BFLOAT16 by 2, of shorter types by 1;
    ``"different"``."""
    largest_difference: float | None
    """The largest difference of two elements; None if they have none, as strings, or if the types differ, other than
    floating-point types, or the shapes."""
    mean_difference: float | None = None
    """The mean difference of the elements of a floating-point tensor; None for others."""
    relative_error: float | None = None
    """``largest_difference`` relative to the largest magnitude of the tensor of ``left``; infinite if an element is not
    finite that was. None if ``mean_difference`` is."""

    def __str__(self) -> str:
        """Return the comparison in one line."""
        difference = f" by up to {self.largest_difference:.6g}" if self.largest_difference else ""
        relative = f", relative error {self.relative_error:.2g}" if difference and self.relative_error else ""
        return f"{self.name} ({self.description}): {self.outcome}{difference}{relative}"

    @property
    def description(self) -> str:
        """The type and the shape, such as ``FLOAT[2,3]``."""
        return self.type if self.shape is None else f"{self.type}[{','.join(map(str, self.shape))}]"


class OutputComparisons(tuple[OutputComparison, ...]):
    """The comparisons of all outputs; printed, they are a table."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return a table with a line for each output."""
        head = ("output", "type", "outcome", "largest", "mean", "relative error")
        numbers = ("largest_difference", "mean_difference", "relative_error")
        rows = [
            (one.name, one.description, one.outcome, *(_number(getattr(one, number)) for number in numbers))
            for one in self
        ]
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in (head, *rows)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return table_of("outputs", self) if self else ""


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def compare(name: str, left: Any, right: Any) -> OutputComparison:
    """Compare two values as onnxruntime returns them: arrays, or lists or dictionaries of arrays."""
    left_arrays, right_arrays = _arrays(left), _arrays(right)
    kind, shape = _description(left, left_arrays)
    is_same = (kind, shape) == _description(right, right_arrays)
    if shape is not None and _are_comparable_floats(left_arrays, right_arrays):
        outcome: Outcome = _compare(left_arrays[0], right_arrays[0])[0] if is_same else "different"
        differences = (0.0, 0.0, 0.0) if outcome == "equal" else _differences(left_arrays[0], right_arrays[0])
        return OutputComparison(name, kind, shape, outcome, *differences)
    if not is_same:
        return OutputComparison(name, kind, shape, "different", None)
    compared = [_compare(*pair) for pair in zip(left_arrays, right_arrays, strict=True)]
    outcome = _ORDER[max((_ORDER.index(one) for one, _ in compared), default=0)]
    largest = [difference for _, difference in compared if difference is not None]
    return OutputComparison(name, kind, shape, outcome, max(largest, default=None))


def worst(comparisons: tuple[OutputComparison, ...]) -> OutputComparison:
    """Return the comparison of the run that differs most."""

    def order(one: OutputComparison) -> tuple[int, float, float]:
        return _ORDER.index(one.outcome), one.relative_error or 0.0, one.largest_difference or 0.0

    return max(comparisons, key=order)


def _are_comparable_floats(left: list[Array], right: list[Array]) -> bool:
    """Whether both values are one floating-point tensor of the same shape."""
    if len(left) != 1 or len(right) != 1:
        return False
    return left[0].shape == right[0].shape and all(is_float(onnx_type(array)) for array in (left[0], right[0]))


def _differences(left: Array, right: Array) -> tuple[float, float, float]:
    """Return the largest and the mean difference, and the largest one relative to the largest magnitude of ``left``."""
    import numpy as np

    left, right = left.astype(np.float64).ravel(), right.astype(np.float64).ravel()
    is_equal = (left == right) | (np.isnan(left) & np.isnan(right))
    if is_equal.all():
        return 0.0, 0.0, 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        apart = np.where(is_equal, 0.0, np.abs(left - right))
    if not np.isfinite(apart).all():
        return float("inf"), float("inf"), float("inf")
    largest, scale = float(apart.max()), float(np.abs(left[np.isfinite(left)]).max())
    return largest, float(apart.mean()), largest / scale if scale else float("inf")


def _arrays(value: Any) -> list[Array]:
    import numpy as np

    if value is None:
        return []
    if isinstance(value, Mapping):
        return _arrays(list(value)) + _arrays(list(value.values()))
    if isinstance(value, list):
        return [array for item in value for array in _arrays(item)]
    return [np.asarray(value)]


def _description(value: Any, arrays: list[Array]) -> tuple[str, tuple[int, ...] | None]:
    """Return the type and the shape; the shape is None if the value is not a tensor."""
    kinds = [f"{onnx_type(array)}{list(array.shape)}" for array in arrays]
    if value is None:
        return "none", None
    if isinstance(value, Mapping | list):
        return f"{'map' if isinstance(value, Mapping) else 'sequence'} of {', '.join(kinds) or 'nothing'}", None
    return onnx_type(arrays[0]), arrays[0].shape


def _compare(left: Array, right: Array) -> tuple[Outcome, float | None]:
    """Compare arrays of one type and shape: the outcome, and the largest difference of numbers."""
    import numpy as np

    kind = onnx_type(left)
    if kind == "STRING":
        return ("equal" if left.tolist() == right.tolist() else "different"), None
    if kind.startswith("COMPLEX"):
        part = np.float32 if kind == "COMPLEX64" else np.float64
        left, right = (np.ascontiguousarray(array).view(part) for array in (left, right))
    left_bits, right_bits = _bits(left), _bits(right)
    differ = left_bits != right_bits
    if not differ.any():
        return "equal", 0.0
    left, right, left_bits, right_bits = (
        left.ravel()[differ],
        right.ravel()[differ],
        left_bits[differ],
        right_bits[differ],
    )
    if kind == "BOOL":
        return "different", None
    if "INT" in kind:
        wide = np.uint64 if kind == "UINT64" else np.int64
        left, right = left.astype(wide), right.astype(wide)
        # Differences of signed integers of 64 bits exceed their type.
        larger, smaller = (choose(left, right).view(np.uint64) for choose in (np.maximum, np.minimum))
        return "different", float((larger - smaller).max())
    return _compare_floats(left, right, left_bits, right_bits)


def _compare_floats(left: Array, right: Array, left_bits: Array, right_bits: Array) -> tuple[Outcome, float]:
    """Compare floating-point numbers whose bits differ."""
    import numpy as np

    units = _units_in_the_last_place(left_bits, right_bits)
    limit = max(1, min(_UNITS, (1 << _mantissa_bits(left)) >> 6))
    left, right = left.astype(np.float64), right.astype(np.float64)
    is_equal = (left == right) | (np.isnan(left) & np.isnan(right))
    if is_equal.all():
        return "equal by value", 0.0
    left, right, units = left[~is_equal], right[~is_equal], units[~is_equal]
    is_finite = np.isfinite(left) & np.isfinite(right)
    if not is_finite.all():
        return "different", float("inf")
    with np.errstate(over="ignore"):
        largest = float(np.abs(left - right).max())
    return ("last digits" if (units <= limit).all() else "different"), largest


def _bits(array: Array) -> Array:
    import numpy as np

    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
    return np.ascontiguousarray(array).reshape(-1).view(unsigned[array.dtype.itemsize])


def _units_in_the_last_place(left: Array, right: Array) -> Array:
    """Return how many numbers of the type two numbers are apart, by their bits: a sign and a magnitude."""
    import numpy as np

    sign = np.uint64(1 << (8 * left.dtype.itemsize - 1))
    left, right = left.astype(np.uint64), right.astype(np.uint64)
    left_size, right_size = left & ~sign, right & ~sign
    apart = np.maximum(left_size, right_size) - np.minimum(left_size, right_size)
    units: Array = np.where((left & sign) == (right & sign), apart, left_size + right_size)
    return units


def _mantissa_bits(array: Array) -> int:
    import numpy as np

    if array.dtype.kind == "f":
        return int(np.finfo(array.dtype).nmant)
    import ml_dtypes

    return int(ml_dtypes.finfo(array.dtype).nmant)  # type: ignore[no-untyped-call]
