"""runs_on: the runtimes that run a model, and the nodes for which one has no kernel."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from onnx_recast import _recast
from onnx_recast._models import Opened
from onnx_recast._operations.inspect import RuntimeVersions, inspect
from onnx_recast._values import Value

if TYPE_CHECKING:
    from onnx_recast._options import StrPath


@dataclass(frozen=True, slots=True)
class MissingKernel(Value):
    """A node for which a runtime has no kernel."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    operation: str
    """The operator with its version and types: ``"RoiAlign-22 of tensor(float), tensor(int64)"``."""
    opset: int | None
    """The closest opset in which the runtime has a kernel for it, if there is one."""
    versions: str
    """The versions of the runtime that have a kernel for it; empty if no known one has."""


@dataclass(frozen=True, slots=True)
class WrongResult(Value):
    """A node for which a runtime computes something else than ONNX defines."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    operation: str
    """The operator with its version and types: ``"Softmax-11 of tensor(float)"``."""
    instead: str
    """What the runtime computes: ``"does not saturate: numbers beyond 448 become NaN"``."""
    opset: int | None
    """The closest opset in which the runtime computes what ONNX defines, if there is one."""


@dataclass(frozen=True, slots=True)
class RunsOn(Value):
    """Whether a runtime runs a model, and what it lacks; true if it runs the model, and no node is wrong."""

    runs: bool
    """Whether the runtime loads the model and has a kernel for every node; unknown kernels count as present."""
    loads: bool
    """Whether it loads the opset and the IR version."""
    kernels_known: bool
    """Whether its kernels are known."""
    missing: tuple[MissingKernel, ...]
    """The nodes for which it has no kernel, in document order."""
    wrong: tuple[WrongResult, ...]
    """The nodes that it runs, but for which it computes something else than ONNX defines."""
    undecided_nodes: int
    """Number of nodes whose kernels are not known: their types, or the operators of their domain, are unknown."""
    note: str | None
    """What the version is treated as, if it is newer than the known ones."""

    def __bool__(self) -> bool:
        """Return whether the runtime runs the model, as far as is known with the results that ONNX defines."""
        return self.runs and not self.wrong


@overload
def runs_on(model: object, target: None = None, *, base_dir: StrPath | None = None) -> tuple[RuntimeVersions, ...]: ...
@overload
def runs_on(model: object, target: str, *, base_dir: StrPath | None = None) -> RunsOn: ...
def runs_on(
    model: object, target: str | None = None, *, base_dir: StrPath | None = None
) -> tuple[RuntimeVersions, ...] | RunsOn:
    """Tell which runtimes run a model, or whether one does, and for which nodes it has no kernel.

    Parameters
    ----------
    model : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The model.
    target : str, optional
        The runtime with its version, such as ``"onnxruntime@1.31"``. :func:`targets` lists the runtimes.
    base_dir : path, optional
        Folder of the data files of a model that is not a path.

    Returns
    -------
    tuple of RuntimeVersions, or RunsOn
        Without a target the runtimes that run the model, as ``inspect(model).targets``; with one, whether it does.

    Raises
    ------
    InvalidModelError
        The model cannot be read.
    ValueError
        The runtime is not known.
    OSError
        A file cannot be read.

    Examples
    --------
    >>> import onnx_recast
    >>> found = onnx_recast.runs_on("models/transformer_fp16.onnx", "onnxruntime@1.31")
    >>> found.runs, found.missing
    (True, ())
    """
    if target is None:
        return inspect(model, base_dir=base_dir).targets
    return RunsOn.from_dict(json.loads(_recast.runs_on(Opened(model, base_dir).input, target)))
