"""Runs of two models with onnxruntime, compared bit for bit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_recast._dtypes import NUMPY, numpy_type
from onnx_recast._operations.cast import cast
from onnx_recast._outcomes import OutputComparison, OutputComparisons, compare, worst
from onnx_recast._session import Session, listed, not_comparable

if TYPE_CHECKING:
    import numpy as np

    from onnx_recast._dtypes import Array
    from onnx_recast._recast import _Input
    from onnx_recast._session import Feeds

    Inputs: TypeAlias = Feeds | Sequence[Feeds] | None
    """The inputs of one run, or of each of several runs; random ones if None."""


def compare_inputs(
    left: _Input,
    right: _Input,
    inputs: Inputs,
    *,
    seed: int = 0,
    names: tuple[str, str] = ("the original", "the result"),
) -> OutputComparisons:
    """Do the work of :func:`compare_runs`."""
    first, second = Session(left, names[0]), Session(right, names[1])
    if first.outputs != second.outputs:
        raise not_comparable(f"{names[0]} has the outputs {listed(first.outputs)}; {names[1]} {listed(second.outputs)}")
    if inputs is None:
        runs = [_random_feeds(first, seed)]
    else:
        runs = [first.typed(feeds) for feeds in _feeds_of(inputs)]
        if not runs:
            raise ValueError("inputs: the sequence is empty; must have the inputs of one run at least")
    compared: list[tuple[OutputComparison, ...]] = []
    for feeds in runs:
        remedy = "; pass inputs on which it can be run" if inputs is None else ""
        expected, found = first.run(feeds, remedy), second.run(second.retyped(feeds))
        compared.append(tuple(map(compare, first.outputs, expected, found)))
        if any(one.outcome != "equal" for one in compared[-1]):
            again = map(compare, first.outputs, expected, first.run(feeds))
            if unsteady := [one.name for one in again if one.outcome != "equal"]:
                raise not_comparable(f"{names[0]} gives different results each time: {listed(unsteady)}")
    return OutputComparisons(worst(of_output) for of_output in zip(*compared, strict=True))


def _feeds_of(inputs: object) -> list[Feeds]:
    """Return the inputs of each run, or raise an error that names the argument."""
    if isinstance(inputs, Mapping):
        return [inputs]
    if isinstance(inputs, Iterable):
        runs = list(inputs)
        if all(isinstance(feeds, Mapping) for feeds in runs):
            return runs
    raise TypeError("inputs: expected a mapping of names to arrays, or a sequence of such mappings")


def _random_feeds(session: Session, seed: int) -> dict[str, Any]:
    import numpy as np

    random, sizes = np.random.default_rng(seed), dict[str, int]()
    feeds: dict[str, Any] = {}
    for name, (kind, dims) in session.inputs.items():
        if kind is None:
            raise not_comparable(f"the input '{name}' of {session.name} is not a tensor; pass inputs")
        feeds[name] = _random_array(random, kind, [_size(dim, sizes) for dim in dims])
    return feeds


def _size(dim: int | str | None, sizes: dict[str, int]) -> int:
    if isinstance(dim, str):
        return sizes.setdefault(dim, 2 + len(sizes) % 2)
    return 2 if dim is None or dim < 0 else dim


def _random_array(random: np.random.Generator, kind: str, shape: list[int]) -> Array:
    import numpy as np

    if kind == "STRING":
        return random.choice(np.array(["", "a", "b"], dtype=object), shape)
    if kind == "BOOL":
        return random.integers(0, 2, shape).astype(np.bool_)
    dtype = numpy_type(kind)
    if "INT" in kind:
        # Narrow integers are quantized values; wide ones are often indices, which have to exist.
        bits = int(kind.removeprefix("U").removeprefix("INT"))
        least = 0 if bits > 16 or kind.startswith("U") else -(1 << (bits - 1))
        most = 1 if bits > 16 else least + (1 << bits) - 1
        return np.asarray(random.integers(least, most, shape, endpoint=True)).astype(dtype)
    numbers = np.asarray(random.standard_normal(shape))
    if kind in NUMPY:
        return numbers.astype(dtype)
    return cast(numbers.astype(np.float32), kind, undefined="fold", contested="runtime")
