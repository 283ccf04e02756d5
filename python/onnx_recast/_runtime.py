"""Runs of two models with onnxruntime, compared bit for bit."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_recast._arrays import check_unmasked
from onnx_recast._cast import _NUMBERS, _NUMPY, _numpy_type, _onnx_type, cast
from onnx_recast._errors import VerificationError
from onnx_recast._models import Opened
from onnx_recast._options import whole
from onnx_recast._outcomes import compare, worst
from onnx_recast._results import OutputComparison
from onnx_recast._rounding import has_rounded_types, round_all

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from onnx_recast._models import StrPath
    from onnx_recast._recast import _Input

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
    Feeds: TypeAlias = Mapping[str, npt.ArrayLike]
    Inputs: TypeAlias = Feeds | Sequence[Feeds] | None
    """The inputs of one run, or of each of several runs; random ones if None."""


def compare_runs(
    left: object,
    right: object,
    inputs: Inputs = None,
    *,
    seed: int = 0,
    base_dir: StrPath | None = None,
) -> tuple[OutputComparison, ...]:
    """Run two models with onnxruntime on the same inputs, and compare their outputs bit for bit.

    Both models are run on the CPU, without graph optimizations.

    Parameters
    ----------
    left, right : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The models. They must have outputs of the same names.
    inputs : mapping of str to array_like, or sequence of such mappings, optional
        The inputs of one run, or of each of several runs. By default, one run with random inputs of the declared types
        and shapes: each named dimension becomes 2 or 3; integers of 32 and 64 bits are 0 or 1.
    seed : int
        Seed of the random inputs.
    base_dir : path, optional
        Folder of the data files of models that are not paths.

    Returns
    -------
    tuple of OutputComparison
        One per output, in the order of ``left``; of several runs, the one that differs most.

    Raises
    ------
    VerificationError
        The models cannot be compared: onnxruntime cannot run one of them, their outputs have other names, or ``left``
        gives different results each time.
    ValueError
        An input is missing, unknown, or of another type than the model declares.
    ImportError
        onnx or onnxruntime is not installed.

    Notes
    -----
    On a CPU, onnxruntime drops casts to FLOAT16, depending on the nodes around them, even without graph optimizations.
    Models with FLOAT16 or BFLOAT16 are run with an ``Identity`` after each node, so that every value is rounded.

    Examples
    --------
    >>> import onnx_recast
    >>> folded = onnx_recast.fold("models/transformer_fp16.onnx").model
    >>> [(output.name, output.outcome) for output in onnx_recast.compare_runs("models/transformer_fp16.onnx", folded)]
    [('y', 'equal')]
    """
    names = ("the left model", "the right model")
    number = whole("seed", seed, most=(1 << 63) - 1)
    return compare_inputs(Opened(left, base_dir).input, Opened(right, base_dir).input, inputs, seed=number, names=names)


def compare_inputs(
    left: _Input,
    right: _Input,
    inputs: Inputs,
    *,
    seed: int = 0,
    names: tuple[str, str] = ("the original", "the result"),
) -> tuple[OutputComparison, ...]:
    """Do the work of :func:`compare_runs`."""
    first, second = _Session(left, names[0]), _Session(right, names[1])
    if first.outputs != second.outputs:
        raise _not_comparable(
            f"{names[0]} has the outputs {_listed(first.outputs)}; {names[1]} {_listed(second.outputs)}"
        )
    if inputs is None:
        runs = [_random_feeds(first, seed)]
    else:
        runs = [first.typed(feeds) for feeds in _feeds_of(inputs)]
        if not runs:
            raise ValueError("inputs: the sequence is empty; must have the inputs of one run at least")
    compared: list[tuple[OutputComparison, ...]] = []
    for feeds in runs:
        remedy = "; pass inputs on which it can be run" if inputs is None else ""
        expected, found = first.run(feeds, remedy), second.run(feeds)
        compared.append(tuple(map(compare, first.outputs, expected, found)))
        if any(one.outcome != "equal" for one in compared[-1]):
            again = map(compare, first.outputs, expected, first.run(feeds))
            if unsteady := [one.name for one in again if one.outcome != "equal"]:
                raise _not_comparable(f"{names[0]} gives different results each time: {_listed(unsteady)}")
    return tuple(worst(of_output) for of_output in zip(*compared, strict=True))


def _feeds_of(inputs: object) -> list[Feeds]:
    """Return the inputs of each run, or raise an error that names the argument."""
    if isinstance(inputs, Mapping):
        return [inputs]
    if isinstance(inputs, Iterable):
        runs = list(inputs)
        if all(isinstance(feeds, Mapping) for feeds in runs):
            return runs
    raise TypeError("inputs: expected a mapping of names to arrays, or a sequence of such mappings")


def packages() -> tuple[Any, Any]:
    """Return the modules onnx and onnxruntime, or raise an ImportError that states how to install them."""
    found = []
    for name in ("onnx", "onnxruntime"):
        try:
            found.append(importlib.import_module(name))
        except ImportError as error:
            text = f"{name} is not installed, or cannot be loaded: pip install {name} ({error})"
            raise ImportError(text, name=name) from error
    return found[0], found[1]


class _Session:
    """A model that onnxruntime has loaded."""

    def __init__(self, model: _Input, name: str) -> None:
        _, ort = packages()
        self.ort, self.name = ort, name
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.use_deterministic_compute = True
        options.log_severity_level = 4  # Errors are raised as well.
        source, folder = _rounding(model, name)
        if isinstance(source, bytes) and folder is not None:
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
        try:
            self.session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise _not_comparable(f"onnxruntime {ort.__version__} cannot load {name}: {error}") from error
        self.inputs = {value.name: (_type_name(value.type), value.shape) for value in self.session.get_inputs()}
        overridable = self.session.get_overridable_initializers()
        self.optional = {value.name: (_type_name(value.type), value.shape) for value in overridable}
        self.outputs = [value.name for value in self.session.get_outputs()]
        outputs = [_type_name(value.type) for value in self.session.get_outputs()]
        self.has_types_of_numpy = all(map(_is_of_numpy, [*outputs, *(kind for kind, _ in self.inputs.values())]))

    def run(self, feeds: Mapping[str, Any], remedy: str = "") -> list[Any]:
        """Return the outputs: arrays, lists, dictionaries or None, as onnxruntime does."""
        try:
            if self.has_types_of_numpy:
                return list(self.session.run(None, dict(feeds)))
            values = {name: self._value(array) for name, array in feeds.items()}
            return [_array(value) for value in self.session.run_with_ort_values(None, values)]
        except ModuleNotFoundError:
            raise
        except Exception as error:
            text = f"onnxruntime {self.ort.__version__} cannot run {self.name}: {error}"
            raise _not_comparable(text + remedy) from error

    def _value(self, array: Array) -> Any:
        kind = _onnx_type(array)
        if kind in _NUMPY:
            return self.ort.OrtValue.ortvalue_from_numpy(array)
        return self.ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, _NUMBERS.index(kind) + 1)

    def typed(self, feeds: Feeds) -> dict[str, Any]:
        """Return inputs as arrays of the declared types."""
        import numpy as np

        known = {**self.inputs, **self.optional}
        for missing in self.inputs.keys() - feeds.keys():
            raise ValueError(f"inputs: '{missing}' of {self.name} is missing")
        typed: dict[str, Any] = {}
        for name, value in feeds.items():
            if name not in known:
                raise ValueError(f"inputs: {self.name} has no input '{name}'; it has {_listed(list(known))}")
            kind = known[name][0]
            check_unmasked(f"inputs: '{name}'", value)
            if kind is None or kind == "STRING":
                typed[name] = value if kind is None else np.asarray(value, dtype=object)
                continue
            expected = _numpy_type(kind)
            typed[name] = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=expected)
            if typed[name].dtype != expected:
                raise ValueError(f"inputs: '{name}' is {typed[name].dtype}; must be {expected}")
        return typed


def _rounding(model: _Input, name: str) -> tuple[str | bytes, str | None]:
    """Return a model that rounds FLOAT16 values in onnxruntime, and the folder of its data files."""
    onnx, _ = packages()
    source, folder = model["source"], model["base_dir"]
    try:
        encoded = Path(source).read_bytes() if isinstance(source, str) else source
        decoded = onnx.ModelProto.FromString(encoded)
    except OSError:
        raise
    except Exception as error:
        raise _not_comparable(f"{name} cannot be decoded: {error}") from error
    if not has_rounded_types(decoded):
        return source, folder
    round_all(decoded)
    if folder is None and isinstance(source, str):
        folder = str(Path(source).parent)
    return decoded.SerializeToString(), folder


def _random_feeds(session: _Session, seed: int) -> dict[str, Any]:
    import numpy as np

    random, sizes = np.random.default_rng(seed), dict[str, int]()
    feeds: dict[str, Any] = {}
    for name, (kind, dims) in session.inputs.items():
        if kind is None:
            raise _not_comparable(f"the input '{name}' of {session.name} is not a tensor; pass inputs")
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
    dtype = _numpy_type(kind)
    if "INT" in kind:
        # Narrow integers are quantized values; wide ones are often indices, which have to exist.
        bits = int(kind.removeprefix("U").removeprefix("INT"))
        least = 0 if bits > 16 or kind.startswith("U") else -(1 << (bits - 1))
        most = 1 if bits > 16 else least + (1 << bits) - 1
        return np.asarray(random.integers(least, most, shape, endpoint=True)).astype(dtype)
    numbers = np.asarray(random.standard_normal(shape))
    if kind in _NUMPY:
        return numbers.astype(dtype)
    return cast(numbers.astype(np.float32), kind, undefined="fold", contested="runtime")


def _type_name(text: str) -> str | None:
    """Return the ONNX name of a type of onnxruntime, such as ``tensor(float16)``; None if it is not a tensor."""
    element = re.fullmatch(r"tensor\((\w+)\)", text)
    return element[1].upper() if element else None


def _is_of_numpy(kind: str | None) -> bool:
    return kind is None or kind == "STRING" or kind in _NUMPY


def _array(value: Any) -> Array:
    """Copy a tensor, also of a type that numpy lacks."""
    import numpy as np

    kind = _type_name(value.data_type())
    if kind is None:
        raise TypeError(f"{value.data_type()} beside types that numpy lacks is not supported")
    if kind in _NUMPY:
        return np.array(value.numpy())
    shape, dtype = value.shape(), _numpy_type(kind)
    stored = np.frombuffer(ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes()), np.uint8)
    count = int(np.prod(shape, dtype=np.int64))
    bits = int(found[1]) if (found := re.search(r"INT(\d)", kind)) else 8
    if bits < 8:
        # The first element is in the low bits; ml_dtypes extends the sign.
        parts = [(stored >> shift) & ((1 << bits) - 1) for shift in range(0, 8, bits)]
        stored = np.stack(parts, axis=-1).reshape(-1)[:count]
        if kind.startswith("INT"):
            stored = ((stored ^ (1 << (bits - 1))) - (1 << (bits - 1))).astype(np.uint8)
    elif kind == "FLOAT4E2M1":
        stored = np.stack([stored & 15, stored >> 4], axis=-1).reshape(-1)[:count]
    return stored.view(dtype).reshape(shape)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _not_comparable(why: str) -> VerificationError:
    return VerificationError(f"the models cannot be compared: {why}")
