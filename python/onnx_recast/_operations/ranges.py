"""ranges: the least and the greatest number of the values of a model, measured with onnxruntime."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_recast._errors import RecastError
from onnx_recast._models import Opened
from onnx_recast._session import Session, packages

if TYPE_CHECKING:
    from onnx_recast._options import StrPath
    from onnx_recast._recast import _Input
    from onnx_recast._session import Feeds

    Runs: TypeAlias = Feeds | Iterable[Feeds]
    """The inputs of one run, or of each of several runs."""


def ranges(model: object, inputs: Runs, *, base_dir: StrPath | None = None) -> dict[str, list[float]]:
    """Measure the least and the greatest number of each FLOAT value of a model, and the least magnitude.

    The result is what :func:`convert_precision` takes as ``ranges``. Written as JSON, it is the file of ``recast
    precision --ranges``.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model. It is not changed.
    inputs : mapping of str to array_like, or iterable of such mappings
        The inputs of one run, or of each of several runs, which are taken one at a time. They should be typical of the
        use of the model.
    base_dir : path, optional
        Folder of the data files of a model that is not a path.

    Returns
    -------
    dict of str to list of float
        The least and the greatest finite number of all runs, and the least magnitude other than 0, by the name of the
        value: of the inputs, and of the outputs of all nodes of the main graph except Constant. A value that is always
        0 has two numbers. Infinities and NaN are left out, since FLOAT16 has them too; so are values without other
        numbers. Values within subgraphs and functions are not measured, nor are constants, for which ``on_overflow``
        and ``on_underflow`` decide.

    Raises
    ------
    RecastError
        onnxruntime cannot load or run the model.
    ValueError
        An input is missing, unknown, or of another type than the model declares; there are no runs.
    ImportError
        onnx or onnxruntime is not installed.

    Notes
    -----
    The model is run on the CPU without graph optimizations. Each run holds all values of the main graph in memory.

    Examples
    --------
    >>> import numpy as np
    >>> import onnx_recast
    >>> choice = {"use_bias": np.array(True), "steps": np.array(2)}
    >>> runs = [{"x": np.full(4, number, np.float32), **choice} for number in (3, -5)]
    >>> onnx_recast.ranges("models/control_flow.onnx", runs)["x"]
    [-5.0, 3.0, 3.0]
    """
    _, everything = with_all_outputs(Opened(model, base_dir).input, _not_measured)
    session = Session(everything, "the model", _not_measured)
    measured = [name for name, kind in zip(session.outputs, session.output_types, strict=True) if kind == "FLOAT"]
    found: dict[str, list[float]] = {}
    for feeds in each_run(inputs):
        typed = session.typed(feeds)
        values = zip(measured, session.run(typed, outputs=measured), strict=True) if measured else ()
        for name, array in (*typed.items(), *values):
            _extend(found, name, array)
    return found


def with_all_outputs(model: _Input, failed: Callable[[str], RecastError]) -> tuple[Any, _Input]:
    """Return a decoded model, and one whose outputs are those of all nodes of the main graph."""
    onnx, _ = packages()
    source, folder = model["source"], model["base_dir"]
    encoded = Path(source).read_bytes() if isinstance(source, str) else source
    try:
        decoded = onnx.ModelProto.FromString(encoded)
    except Exception as error:
        raise failed(f"the model cannot be decoded: {error}") from error
    if folder is None and isinstance(source, str):
        folder = str(Path(source).parent)
    everything = onnx.ModelProto()
    everything.CopyFrom(decoded)
    known = {output.name for output in decoded.graph.output}
    for node in decoded.graph.node:
        if (node.domain, node.op_type) != ("", "Constant"):
            everything.graph.output.extend(
                onnx.ValueInfoProto(name=name) for name in node.output if name not in {"", *known}
            )
    return decoded, {"source": everything.SerializeToString(), "base_dir": folder}


def each_run(inputs: object) -> Iterator[Feeds]:
    """Return the inputs of each run, or raise an error that names the argument."""
    expected = "inputs: expected a mapping of names to arrays, or an iterable of such mappings"
    runs = [inputs] if isinstance(inputs, Mapping) else inputs
    if not isinstance(runs, Iterable) or isinstance(runs, str | bytes):
        raise TypeError(f"{expected}, not {type(runs).__name__}")
    feeds = None
    for feeds in runs:
        if not isinstance(feeds, Mapping):
            raise TypeError(f"{expected}, not of {type(feeds).__name__}")
        yield feeds
    if feeds is None:
        raise ValueError("inputs: there are none; must have the inputs of one run at least")


def _extend(found: dict[str, list[float]], name: str, array: Any) -> None:
    """Extend the range of a value by the finite elements of an array of FLOAT."""
    import numpy as np

    if getattr(array, "dtype", None) != np.float32:
        return
    finite = array[np.isfinite(array)]
    if finite.size:
        least, greatest = float(finite.min()), float(finite.max())
        magnitudes = np.abs(finite[finite != 0])
        before = found.get(name, [least, greatest])
        known = [*before[2:], *([float(magnitudes.min())] if magnitudes.size else [])]
        found[name] = [min(before[0], least), max(before[1], greatest), *([min(known)] if known else [])]


def _not_measured(why: str) -> RecastError:
    return RecastError(f"the ranges cannot be measured: {why}", kind="not-measured")
