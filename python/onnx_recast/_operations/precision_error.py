"""precision_error and tune_precision: what a change of precision does to values, measured with onnxruntime."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_recast._errors import RecastError
from onnx_recast._models import Opened
from onnx_recast._operations.precision import PrecisionResult, convert_precision
from onnx_recast._operations.ranges import each_run, with_all_outputs
from onnx_recast._options import literal, names
from onnx_recast._rounding import subgraphs
from onnx_recast._session import Session
from onnx_recast._values import Value

if TYPE_CHECKING:
    from typing import Unpack

    from onnx_recast._operations.precision import MeasuredOptions
    from onnx_recast._operations.ranges import Runs
    from onnx_recast._recast import _Input

_MOST_RUNS = 20
"""Changes of precision that :func:`tune_precision` tries."""

_SUSPECTS = (1, 2, 4, 8, 16)
"""The nodes that are kept at first, since errors arise in them, step by step."""

_CHECKS = 4
"""Those of them that check choices of nodes."""

_MARGIN = 0.9
"""The part of an error that is not taken for the whole."""


@dataclass(frozen=True, slots=True)
class NodeError(Value):
    """What a change of precision does to the results of a node, by :func:`onnx_recast.precision_error`."""

    node: str
    """Path of the node, as ``keep_node`` takes it."""
    op: str
    """Operator."""
    value: str
    """Name of the result that differs most."""
    type: str
    """ONNX type of the result, after the change."""
    largest: float
    """The largest difference of a number, relative to the largest magnitude of the result."""
    mean: float
    """The mean difference, relative to the same."""
    not_finite: int
    """Numbers that are infinite or NaN, and are not in the model before."""
    arising: float
    """How much larger ``largest`` is than that of the node's inputs."""

    def __str__(self) -> str:
        """Return the error in one line."""
        finite = f", {self.not_finite} not finite" if self.not_finite else ""
        return f"{self.node} ({self.op}), {self.type}: {self.largest:.2g}{finite}"


@dataclass(frozen=True, slots=True)
class PrecisionErrors(Value):
    """The errors of a model whose precision was changed, by :func:`onnx_recast.precision_error`."""

    error: float
    """The largest error of an output of the model; infinite if a number is not finite that was."""
    first: NodeError | None
    """The first node whose error is above the tolerance, although those of its inputs are not."""
    nodes: tuple[NodeError, ...]
    """The nodes of the main graph with floating-point results, in the order of the model."""


@dataclass(frozen=True, slots=True)
class TunedPrecision(Value):
    """The nodes to keep, found by :func:`onnx_recast.tune_precision`."""

    result: PrecisionResult[Any]
    """The result of :func:`convert_precision` with these nodes."""
    keep_node: tuple[str, ...]
    """Patterns of the nodes that keep their types, for ``keep_node``."""
    errors: PrecisionErrors
    """The errors with these nodes."""
    runs: int
    """The changes of precision that were tried."""


def precision_error(
    model: object,
    inputs: Runs,
    to: object = "FLOAT16",
    *,
    tolerance: float = 1e-2,
    least_scale: float = 0.0,
    **options: Unpack[MeasuredOptions],
) -> PrecisionErrors:
    """Change the precision of a model, and measure what that does to the values of each node, without a GPU.

    Both models are run with onnxruntime on the CPU. Each value of FLOAT16 or BFLOAT16 is rounded, as a runtime with
    kernels of these types rounds it; operators add up in FLOAT.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model. It is not changed.
    inputs : mapping of str to array_like, or iterable of such mappings
        The inputs of one run, or of each of several runs. They should be typical of the use of the model.
    to : str, int or dtype
        The type that values get.
    tolerance : float
        The error above which a node is ``first``.
    least_scale : float
        Errors are relative to the largest magnitude of a result, or to this number if it is larger. With 0.01, a
        probability of 1e-6 is as good as 0.
    **options
        Those of :func:`convert_precision` without ``opset``, which :func:`convert_version` has, and those about files.

    Returns
    -------
    PrecisionErrors
        The largest error of an output, and a record for each node of the main graph.

    Raises
    ------
    RecastError
        onnxruntime cannot load or run a model, or see :func:`convert_precision`.
    ValueError
        An input is missing, unknown, or of another type than the model declares; there are no runs; or see
        :func:`convert_precision`.
    ImportError
        onnx or onnxruntime is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx_recast
    >>> x = np.random.default_rng(0).standard_normal((2, 32)).astype(np.float32)
    >>> errors = onnx_recast.precision_error("models/fp8_qdq.onnx", {"x": x})
    >>> errors.error < 1e-2, errors.first
    (True, None)
    """
    return _Trials(model, inputs, to, tolerance, least_scale, options).measure(()).errors


def tune_precision(
    model: object,
    inputs: Runs,
    to: object = "FLOAT16",
    *,
    tolerance: float = 1e-2,
    least_scale: float = 0.0,
    **options: Unpack[MeasuredOptions],
) -> TunedPrecision:
    """Change the precision of a model, and keep the types of as few nodes as the tolerance allows.

    Up to 31 nodes in which errors arise keep their types. If that does not suffice, parts of the model are changed
    alone, which tells how much of the error arises in them, and are halved where most of it does: errors of parts add
    up as independent ones do. The parts that the tolerance does not allow keep their types. At most 20 changes are
    tried.

    Parameters
    ----------
    model, inputs, to, least_scale, **options
        See :func:`precision_error`.
    tolerance : float
        The largest error of an output, relative to its largest magnitude.

    Returns
    -------
    TunedPrecision
        The model, and the nodes that keep their types. ``errors.error`` is above the tolerance if no choice of nodes
        that was tried is within it; it is the one with the smallest error then.

    Raises
    ------
    RecastError, ValueError, ImportError
        See :func:`precision_error`.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx_recast
    >>> x = np.random.default_rng(0).standard_normal((2, 32)).astype(np.float32)
    >>> tuned = onnx_recast.tune_precision("models/fp8_qdq.onnx", {"x": x})
    >>> tuned.keep_node, tuned.runs
    ((), 1)
    """
    trials = _Trials(model, inputs, to, tolerance, least_scale, options)
    best = _tuned(trials)
    return TunedPrecision(best.result, tuple(map(literal, best.keep)), best.errors, trials.runs)


def _tuned(trials: _Trials) -> _Trial:
    """Return the change within the tolerance that keeps the fewest nodes, or the one with the smallest error."""
    whole = best = trials.measure(())
    nodes = trials.changed(whole)
    for count in _SUSPECTS:
        if best.errors.error <= trials.tolerance:
            break
        added = [node for node in _suspects(best, set(nodes)) if node not in best.keep][:count]
        if added:
            best = trials.measure((*best.keep, *added))
    if best.errors.error <= trials.tolerance or not nodes:
        return _with_fewer(trials, best)
    return _by_parts(trials, nodes, whole.errors.error, _better(whole, best))


def _better(left: _Trial, right: _Trial) -> _Trial:
    return right if right.errors.error < left.errors.error else left


def _suspects(trial: _Trial, nodes: set[str]) -> list[str]:
    """Return those of the nodes in which errors arise, the largest first."""
    found = [node for node in trial.errors.nodes if node.node in nodes and (node.arising > 0 or node.not_finite)]
    return [node.node for node in sorted(found, key=lambda node: (-node.not_finite, -node.arising))]


def _with_fewer(trials: _Trials, best: _Trial) -> _Trial:
    """Change the types of kept nodes again, half of them first, while the error is within the tolerance."""
    size = (len(best.keep) + 1) // 2
    while size and best.errors.error <= trials.tolerance:
        parts = [(*best.keep[:start], *best.keep[start + size :]) for start in range(0, len(best.keep), size)]
        for part in parts:
            if trials.runs == _MOST_RUNS:
                return best
            trial = trials.measure(part)
            if trial.errors.error <= trials.tolerance:
                best, size = trial, min(size, (len(trial.keep) + 1) // 2)
                break
        else:
            size //= 2
    return best


def _by_parts(trials: _Trials, nodes: list[str], whole: float, best: _Trial) -> _Trial:
    """Keep the parts of the model in which most of the error arises, halved as often as there are trials for it."""
    parts = [_Part(0, len(nodes), whole)]
    limit = trials.tolerance * _MARGIN
    while trials.runs < _MOST_RUNS - _CHECKS:
        longest = max(_beyond(parts, limit, whole), key=_Part.length, default=None)
        if longest is None or longest.length() == 1:
            break
        parts.remove(longest)
        parts += _halves(trials, nodes, longest)
    for _ in range(trials.runs, _MOST_RUNS):
        kept = sorted(_beyond(parts, limit, whole), key=lambda part: part.start)
        error = math.inf
        if kept:
            trial = trials.measure(_within(nodes, kept))
            best, error = _better(best, trial), trial.errors.error
        if best.errors.error <= trials.tolerance:
            break
        limit *= max(_MARGIN * trials.tolerance / error, 0.5)
    return best


@dataclass(frozen=True)
class _Part:
    """Consecutive nodes, and the error of the outputs if only these change."""

    start: int
    end: int
    error: float

    def length(self) -> int:
        return self.end - self.start


def _within(nodes: list[str], parts: list[_Part]) -> tuple[str, ...]:
    return tuple(node for part in parts for node in nodes[part.start : part.end])


def _beyond(parts: list[_Part], limit: float, whole: float) -> list[_Part]:
    """Return the parts that have to keep their types, so that the error of the others is within the limit.

    The largest errors of parts may be those of different numbers, and add up to more than the error of the whole.
    """
    squares = sum(part.error**2 for part in parts if math.isfinite(part.error))
    allowed = limit**2 * max(squares / whole**2, 1.0)
    left = 0.0
    kept: list[_Part] = []
    for part in sorted(parts, key=lambda part: part.error**2 / part.length()):
        left += part.error**2
        if left > allowed:
            kept.append(part)
    return kept


def _halves(trials: _Trials, nodes: list[str], part: _Part) -> list[_Part]:
    """Return both halves of a part. The error of the second one is measured if that of the first may be the whole."""
    middle = (part.start + part.end) // 2

    def error_of(start: int, end: int) -> float:
        return trials.measure((*nodes[:start], *nodes[end:])).errors.error

    first = error_of(part.start, middle)
    is_whole = first >= part.error * _MARGIN
    second = error_of(middle, part.end) if is_whole else math.sqrt(part.error**2 - first**2)
    return [_Part(part.start, middle, first), _Part(middle, part.end, second)]


@dataclass(frozen=True)
class _Trial:
    """A change of precision with the paths of some nodes kept."""

    keep: tuple[str, ...]
    result: PrecisionResult[Any]
    errors: PrecisionErrors


class _Trials:
    """Changes of the precision of a model, and its values before."""

    def __init__(
        self,
        model: object,
        inputs: object,
        to: object,
        tolerance: float,
        least_scale: float,
        options: MeasuredOptions,
    ) -> None:
        if options.get("opset") is not None:
            raise ValueError("opset: convert the model first, with convert_version")
        opened = Opened(model, options.get("base_dir"))
        self.model, self.to, self.options, self.runs = model, to, options, 0
        self.tolerance, self.least_scale = tolerance, least_scale
        decoded, self.before = _all_values(opened.input, "the model")
        self.nodes = list(decoded.graph.node)
        self.paths = [_path(index, node) for index, node in enumerate(self.nodes)]
        self.outputs = [output.name for output in decoded.graph.output]
        self.feeds = [self.before.typed(feeds) for feeds in each_run(inputs)]
        self.expected = [self._values(self.before, feeds) for feeds in self.feeds]

    def measure(self, keep: tuple[str, ...]) -> _Trial:
        """Change the precision, and compare all values."""
        self.runs += 1
        kept = [*names("keep_node", self.options.get("keep_node", ())), *map(literal, keep)]
        options: Any = {**self.options, "keep_node": kept}
        changing: Any = convert_precision
        result: PrecisionResult[Any] = changing(self.model, self.to, **options)
        base = options.get("base_dir")
        _, session = _all_values(Opened(result.model, base).input, "the result")
        errors: dict[str, tuple[float, float, int]] = {}
        for feeds, expected in zip(self.feeds, self.expected, strict=True):
            for name, found in self._values(session, session.retyped(feeds)).items():
                if name in expected:
                    errors[name] = _worse(errors.get(name), _difference(expected[name], found, self.least_scale))
        types = dict(zip(session.outputs, session.output_types, strict=True))
        measured = list(self._node_errors(errors, types))
        first = next((node for node, given in measured if node.largest > self.tolerance >= given), None)
        nodes = tuple(node for node, _ in measured)
        of_outputs = [errors[name][0] for name in self.outputs if name in errors]
        return _Trial(keep, result, PrecisionErrors(max(of_outputs, default=0.0), first, nodes))

    def changed(self, trial: _Trial) -> list[str]:
        """Return the nodes with floating-point results on which outputs depend, and which do not keep their types."""
        producers = {name: index for index, node in enumerate(self.nodes) for name in node.output if name}
        waiting = list(self.outputs)
        before: set[int] = set()
        while waiting:
            index = producers.get(waiting.pop())
            if index is not None and index not in before:
                before.add(index)
                waiting.extend(_names_used(self.nodes[index]))
        used = {self.paths[index] for index in before if self.nodes[index].op_type != "Constant"}
        used -= {node.node for node in trial.result.kept}
        return [node.node for node in trial.errors.nodes if node.node in used]

    def _node_errors(
        self, errors: Mapping[str, tuple[float, float, int]], types: Mapping[str, str | None]
    ) -> Iterator[tuple[NodeError, float]]:
        """Yield the errors of each node, with the largest one of its inputs."""
        for path, node in zip(self.paths, self.nodes, strict=True):
            measured = [name for name in node.output if name in errors]
            if measured:
                name = max(measured, key=lambda name: errors[name][0])
                largest, mean, not_finite = errors[name]
                of_inputs = max((errors[name][0] for name in node.input if name in errors), default=0.0)
                arising = largest - of_inputs if largest > of_inputs else 0.0
                kind = types.get(name) or ""
                yield NodeError(path, node.op_type, name, kind, largest, mean, not_finite, arising), of_inputs

    @staticmethod
    def _values(session: Session, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Return the floating-point values of a run, as DOUBLE, by name."""
        import numpy as np

        pairs = zip(session.outputs, session.output_types, strict=True)
        floats = [name for name, kind in pairs if kind in {"FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE"}]
        arrays = zip(floats, session.run(feeds, outputs=floats), strict=True) if floats else ()
        return {name: np.asarray(array).astype(np.float64) for name, array in arrays}


def _all_values(model: _Input, name: str) -> tuple[Any, Session]:
    """Return a decoded model, and a session that gives the values of all nodes of its main graph."""
    decoded, everything = with_all_outputs(model, _not_measured)
    return decoded, Session(everything, name, _not_measured)


def _difference(expected: Any, found: Any, least_scale: float) -> tuple[float, float, int]:
    """Return the largest and the mean relative error, and the number of elements that are not finite any more."""
    import numpy as np

    if expected.shape != found.shape or not expected.size:
        return (0.0 if expected.shape == found.shape else np.inf), 0.0, 0
    finite = np.isfinite(expected)
    lost = int((finite & ~np.isfinite(found)).sum())
    both = finite & np.isfinite(found)
    scale = float(np.abs(expected[finite]).max(initial=least_scale))
    if not both.any() or not scale:
        scale = 1.0
    differences = np.abs(expected - found, where=both, out=np.zeros_like(expected)) / scale
    return (float("inf") if lost else float(differences.max())), float(differences.mean()), lost


def _worse(left: tuple[float, float, int] | None, right: tuple[float, float, int]) -> tuple[float, float, int]:
    if left is None:
        return right
    return max(left[0], right[0]), max(left[1], right[1]), left[2] + right[2]


def _names_used(node: Any) -> Iterator[str]:
    """Yield the names that a node and the graphs in its attributes use."""
    yield from node.input
    for graph in subgraphs(node):
        yield from (output.name for output in graph.output)
        for inner in graph.node:
            yield from _names_used(inner)


def _path(index: int, node: Any) -> str:
    """Return the path of a node of the main graph, as ``recast`` prints it."""
    return f"graph/{node.name or f'#{index}:{node.op_type}'}"


def _not_measured(why: str) -> RecastError:
    return RecastError(f"the errors cannot be measured: {why}", kind="not-measured")
