"""A model that onnxruntime runs."""

from __future__ import annotations

import ctypes
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_recast._dtypes import NUMBERS, NUMPY, is_float, numpy_type, onnx_type
from onnx_recast._errors import RecastError, VerificationError
from onnx_recast._options import check_unmasked
from onnx_recast._rounding import has_rounded_types, round_all

if TYPE_CHECKING:
    import numpy.typing as npt

    from onnx_recast._dtypes import Array
    from onnx_recast._recast import _Input

    Feeds: TypeAlias = Mapping[str, npt.ArrayLike]


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


class Session:
    """A model that onnxruntime has loaded."""

    def __init__(self, model: _Input, name: str, failed: Callable[[str], RecastError] | None = None) -> None:
        _, ort = packages()
        self.ort, self.name, self.failed = ort, name, failed or not_comparable
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.use_deterministic_compute = True
        options.log_severity_level = 4  # Errors are raised as well.
        source, folder = _rounding(model, name, self.failed)
        if isinstance(source, bytes) and folder is not None:
            options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
        try:
            self.session = ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise self.failed(f"onnxruntime {ort.__version__} cannot load {name}: {error}") from error
        self.inputs = {value.name: (_type_name(value.type), value.shape) for value in self.session.get_inputs()}
        overridable = self.session.get_overridable_initializers()
        self.optional = {value.name: (_type_name(value.type), value.shape) for value in overridable}
        self.outputs = [value.name for value in self.session.get_outputs()]
        self.output_types = [_type_name(value.type) for value in self.session.get_outputs()]
        types = [*self.output_types, *(kind for kind, _ in self.inputs.values())]
        self.has_types_of_numpy = all(map(_is_of_numpy, types))

    def run(self, feeds: Mapping[str, Any], remedy: str = "", outputs: Sequence[str] | None = None) -> list[Any]:
        """Return all outputs, or these: arrays, lists, dictionaries or None, as onnxruntime does."""
        try:
            if self.has_types_of_numpy:
                return list(self.session.run(outputs, dict(feeds)))
            values = {name: self._value(array) for name, array in feeds.items()}
            return [_array(value) for value in self.session.run_with_ort_values(outputs, values)]
        except ModuleNotFoundError:
            raise
        except Exception as error:
            text = f"onnxruntime {self.ort.__version__} cannot run {self.name}: {error}"
            raise self.failed(text + remedy) from error

    def _value(self, array: Array) -> Any:
        kind = onnx_type(array)
        if kind in NUMPY:
            return self.ort.OrtValue.ortvalue_from_numpy(array)
        return self.ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, NUMBERS.index(kind) + 1)

    def typed(self, feeds: Feeds) -> dict[str, Any]:
        """Return inputs as arrays of the declared types."""
        import numpy as np

        known = {**self.inputs, **self.optional}
        for missing in self.inputs.keys() - feeds.keys():
            raise ValueError(f"inputs: '{missing}' of {self.name} is missing")
        typed: dict[str, Any] = {}
        for name, value in feeds.items():
            if name not in known:
                raise ValueError(f"inputs: {self.name} has no input '{name}'; it has {listed(list(known))}")
            kind = known[name][0]
            check_unmasked(f"inputs: '{name}'", value)
            if kind is None or kind == "STRING":
                typed[name] = value if kind is None else np.asarray(value, dtype=object)
                continue
            expected = numpy_type(kind)
            typed[name] = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=expected)
            if typed[name].dtype != expected:
                raise ValueError(f"inputs: '{name}' is {typed[name].dtype}; must be {expected}")
        return typed

    def retyped(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs of another model, floating-point arrays in the types that this model declares."""
        known = {**self.inputs, **self.optional}
        return {name: _retyped(value, known[name][0] if name in known else None) for name, value in feeds.items()}


def _retyped(value: Any, kind: str | None) -> Any:
    import numpy as np

    if kind is None or not is_float(kind) or not isinstance(value, np.ndarray) or value.dtype == numpy_type(kind):
        return value
    with np.errstate(over="ignore"):
        return value.astype(numpy_type(kind))


def _rounding(model: _Input, name: str, failed: Callable[[str], RecastError]) -> tuple[str | bytes, str | None]:
    """Return a model that rounds FLOAT16 values in onnxruntime, and the folder of its data files."""
    onnx, _ = packages()
    source, folder = model["source"], model["base_dir"]
    try:
        encoded = Path(source).read_bytes() if isinstance(source, str) else source
        decoded = onnx.ModelProto.FromString(encoded)
    except OSError:
        raise
    except Exception as error:
        raise failed(f"{name} cannot be decoded: {error}") from error
    if not has_rounded_types(decoded):
        return source, folder
    round_all(decoded)
    if folder is None and isinstance(source, str):
        folder = str(Path(source).parent)
    return decoded.SerializeToString(), folder


def _type_name(text: str) -> str | None:
    """Return the ONNX name of a type of onnxruntime, such as ``tensor(float16)``; None if it is not a tensor."""
    element = re.fullmatch(r"tensor\((\w+)\)", text)
    return element[1].upper() if element else None


def _is_of_numpy(kind: str | None) -> bool:
    return kind is None or kind == "STRING" or kind in NUMPY


def _array(value: Any) -> Array:
    """Copy a tensor, also of a type that numpy lacks."""
    import numpy as np

    kind = _type_name(value.data_type())
    if kind is None:
        raise TypeError(f"{value.data_type()} beside types that numpy lacks is not supported")
    if kind in NUMPY:
        return np.array(value.numpy())
    shape, dtype = value.shape(), numpy_type(kind)
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


def listed(names: Sequence[str]) -> str:
    """Return names in quotes."""
    return ", ".join(f"'{name}'" for name in names)


def not_comparable(why: str) -> VerificationError:
    """Return the error of two models that cannot be compared."""
    return VerificationError(f"the models cannot be compared: {why}")
