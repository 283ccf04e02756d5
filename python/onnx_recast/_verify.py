"""Operations whose results are verified before they replace files."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from onnx_recast._errors import Fault, VerificationError
from onnx_recast._options import is_flag, number
from onnx_recast._outcomes import Outcome, OutputComparison, OutputComparisons
from onnx_recast._runtime import compare_inputs
from onnx_recast._session import packages
from onnx_recast._values import Value

if TYPE_CHECKING:
    from onnx_recast._recast import _Input, _Output
    from onnx_recast._runtime import Inputs

Verify: TypeAlias = bool | Literal["onnxruntime"]


@dataclass(frozen=True, slots=True)
class Verified(Value):
    """The extent of a successful verification."""

    nodes: int
    """Nodes of the result."""
    constants: int
    """New constants whose values were computed again, by another path."""
    elements: int
    """Elements of these constants."""
    outputs: tuple[OutputComparison, ...] = ()
    """The outputs of the original and the result in onnxruntime, with ``verify="onnxruntime"``."""

    def __str__(self) -> str:
        """Return the extent in one line."""
        constants = f"{_counted(self.constants, 'constant')} of {_counted(self.elements, 'element')}"
        outputs = f", {_counted(len(self.outputs), 'output')} in onnxruntime" if self.outputs else ""
        return f"{_counted(self.nodes, 'node')}, {constants}{outputs}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def verified_by(
    operation: Callable[[_Output, bool], tuple[str, bytes | None]],
    original: _Input,
    output: _Output,
    verify: Verify,
    inputs: Inputs,
    allowed: tuple[Outcome, ...],
    tolerance: float | None,
) -> tuple[dict[str, Any], bytes | None]:
    """Do an operation, and return its report and the bytes of the model, if it is not written to a file.

    ``operation`` is given the output and whether to verify. Outputs of the original and the result in onnxruntime may
    only differ as ``allowed``, or by a relative error of ``tolerance``; nothing is replaced if they differ more.
    """
    if not is_flag(verify) and not isinstance(verify, str):
        raise TypeError(f"verify: expected True, False or 'onnxruntime', not {type(verify).__name__}")
    if isinstance(verify, str) and verify != "onnxruntime":
        raise ValueError(f"verify: expected True, False or 'onnxruntime', not {verify!r}")
    if inputs is not None and verify != "onnxruntime":
        raise ValueError("inputs: they are used with verify='onnxruntime' only")
    if tolerance is not None and verify != "onnxruntime":
        raise ValueError("tolerance: it is used with verify='onnxruntime' only")
    permitted = _Permitted(allowed, None if tolerance is None else number("tolerance", tolerance))
    outputs = OutputComparisons()
    path = output["path"]
    if verify == "onnxruntime":
        packages()
    if verify == "onnxruntime" and path is not None:
        folder = Path(path).parent
        with tempfile.TemporaryDirectory(prefix=".recast-", dir=folder) as temporary:
            trial = str(Path(temporary) / Path(path).name)
            operation({**output, "path": trial}, False)
            outputs = _compare(original, {"source": trial, "base_dir": None}, path, inputs, permitted)
    report, encoded = operation(output, bool(verify))
    if verify == "onnxruntime" and encoded is not None:
        source = original["source"]
        folder_of_data = original["base_dir"]
        if isinstance(source, str) and folder_of_data is None:
            folder_of_data = str(Path(source).parent)
        outputs = _compare(original, {"source": encoded, "base_dir": folder_of_data}, None, inputs, permitted)
    facts: dict[str, Any] = json.loads(report)
    if facts.get("verified") is not None:
        facts["verified"]["outputs"] = outputs
    return facts, encoded


@dataclass(frozen=True, slots=True)
class _Permitted:
    """How outputs may differ."""

    outcomes: tuple[Outcome, ...]
    tolerance: float | None

    def __contains__(self, one: OutputComparison) -> bool:
        error = one.relative_error
        return one.outcome in self.outcomes or (
            self.tolerance is not None and error is not None and error <= self.tolerance
        )

    def __str__(self) -> str:
        return "" if self.tolerance is None else f" by more than the tolerance of {self.tolerance:g}"


def _compare(
    original: _Input, result: _Input, path: str | None, inputs: Inputs, permitted: _Permitted
) -> OutputComparisons:
    try:
        outputs = compare_inputs(original, result, inputs)
    except VerificationError as error:
        error.path = path
        raise
    different = [one for one in outputs if one not in permitted]
    if different:
        lines = "".join(f"\n  {line}" for line in str(outputs).splitlines())
        what = f"the outputs of the original and the result differ in onnxruntime{permitted}"
        message = f"{what}, and nothing was written:{lines}"
        named = message if path is None else f"{path}: {message}"
        faults = tuple(Fault(f"graph/{one.name}", f"{one} in onnxruntime") for one in different)
        raise VerificationError(named, path=path, faults=faults, outputs=outputs)
    return outputs
