"""targets: the runtimes that are known, what they load, and which operators they lack."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from onnx_recast import _recast
from onnx_recast._values import Value, key


def named_versions(name: str, first: str, last: str, newest: bool = False) -> str:
    """Return the name of a runtime with its versions; later ones are included if the last is the newest."""
    if newest:
        return f"{name} {first} or later" + ("" if first == last else f" (known to {last})")
    return f"{name} {first}" if first == last else f"{name} {first} to {last}"


@dataclass(frozen=True, slots=True)
class Runtime(Value):
    """Consecutive versions of a runtime that load the same models; see :func:`onnx_recast.targets`."""

    name: str = field(metadata=key("runtime"))
    """Name of the runtime; with ``@`` and a version, the ``target`` of :func:`onnx_recast.convert_version`."""
    first: str
    """The first version."""
    last: str
    """The last version; later releases of the same version are included."""
    opset: int
    """The newest opset of ai.onnx."""
    ir_version: int | None = field(metadata=key("ir"))
    """The newest IR version, if the source states it."""
    source: str
    """Where the numbers come from."""

    def __str__(self) -> str:
        """Return the name and the versions."""
        return named_versions(self.name, self.first, self.last)


def targets() -> list[Runtime]:
    """List the runtimes that ``target`` of :func:`convert_version` knows.

    Returns
    -------
    list of Runtime
        By name, oldest version first; each is a range of versions that load the same models.

    Examples
    --------
    >>> import onnx_recast
    >>> [str(runtime) for runtime in onnx_recast.targets() if runtime.opset == 21]
    ['onnxruntime 1.18 to 1.20']
    """
    return [Runtime.from_dict(facts) for facts in json.loads(_recast.targets())]


@dataclass(frozen=True, slots=True)
class MissingOperator(Value):
    """An operator for which a runtime has no kernel in any type."""

    operation: str
    """The operator with its version: ``"GlobalLpPool-22"``."""
    opset: int | None
    """The newest opset in which the runtime has a kernel for the operator; None if there is none."""


def missing_operators(target: str) -> list[MissingOperator] | None:
    """List the operators of ai.onnx, in the newest opset that a runtime loads, for which it has no kernel in any type.

    Parameters
    ----------
    target : str
        The runtime with its version, such as ``"onnxruntime@1.31"``.

    Returns
    -------
    list of MissingOperator or None
        None if the kernels of the runtime are not known.

    Raises
    ------
    ValueError
        The runtime is not known.

    Examples
    --------
    >>> import onnx_recast
    >>> [missing.opset for missing in onnx_recast.missing_operators("onnxruntime@1.31")
    ...     if missing.operation == "GlobalLpPool-22"]
    [21]
    """
    facts = json.loads(_recast.missing_operators(target))
    return None if facts is None else [MissingOperator.from_dict(one) for one in facts]
