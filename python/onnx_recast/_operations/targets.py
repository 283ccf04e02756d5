"""targets: the runtimes that are known, and what they load."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from onnx_recast import _recast
from onnx_recast._values import Value, key


def named_versions(name: str, first: str, last: str) -> str:
    """Return the name of a runtime with its first and last version."""
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
