"""Results: immutable values that can be compared, pickled and printed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

_Model = TypeVar("_Model", covariant=True)

Outcome: TypeAlias = Literal["equal", "equal by value", "last digits", "different"]
"""How much two values differ, least first."""


def _plain(value: Any) -> Any:
    """Convert a value to one that JSON has."""
    if isinstance(value, _Value):
        return value.to_dict()
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


class _Value:
    """Conversions that all results have."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value as a dictionary of plain values, without the model."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        return {field.name: _plain(getattr(self, field.name)) for field in fields if field.name != "model"}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns; keys of later versions are ignored."""
        names = (field.name for field in dataclasses.fields(cls))  # type: ignore[arg-type]
        return cls(**{name: facts[name] for name in names if name in facts})

    def _repr_html_(self) -> str:
        from onnx_recast._html import result_html

        return result_html(self)


@dataclass(frozen=True, slots=True)
class Folded(_Value):
    """A cast that was replaced by its result."""

    node: str
    """Path of the node."""
    input: str
    """Name of the value that was cast."""
    from_type: str
    """ONNX type of the input."""
    to_type: str
    """ONNX type of the constant."""
    elements: int
    """Number of elements."""


@dataclass(frozen=True, slots=True)
class Computed(_Value):
    """An output of a node other than a cast, and the constant that replaced it."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    output: str
    """Name of the output."""
    type: str
    """ONNX type of the constant."""
    elements: int
    """Number of elements."""


@dataclass(frozen=True, slots=True)
class Kept(_Value):
    """A cast, or another node with constant inputs, that was not folded."""

    node: str
    """Path of the node."""
    code: str
    """Stable code of the reason, such as ``"not-constant"``."""
    reason: str
    """The reason."""


@dataclass(frozen=True, slots=True)
class Change(_Value):
    """A change of a node, or a warning."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    what: str
    """The change."""


@dataclass(frozen=True, slots=True)
class Expansion(_Value):
    """An operator that was replaced by several nodes."""

    node: str
    """Path of the original node."""
    op: str
    """Operator."""
    exactness: str
    """``"exact"``: equal to the bit; ``"by-definition"``: a runtime's own kernel may differ in the last digits."""
    nodes: int
    """Number of nodes that replace it."""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        return cls(facts["node"], facts["op"], facts["class"], facts["nodes"])


@dataclass(frozen=True, slots=True)
class Blocker(_Value):
    """A node that cannot be converted."""

    node: str
    """Path of the node."""
    op: str
    """Operator."""
    opset_step: tuple[int, int]
    """The opsets before and after the step that is not possible."""
    code: str
    """Stable code of the reason, such as ``"attribute-unsupported"``."""
    reason: str
    """The reason."""

    def __str__(self) -> str:
        """Return the blocker in one line."""
        return f"{self.node} ({self.op}), opset {self.opset_step[0]} to {self.opset_step[1]}: {self.reason}"

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        before, after = facts["opset_step"]
        return cls(facts["node"], facts["op"], (before, after), facts["code"], facts["reason"])


@dataclass(frozen=True, slots=True)
class Fix(_Value):
    """A fix of a finding."""

    safety: str
    """``"safe"``: preserves the meaning of the model; ``"unsafe"``: requires review."""
    what: str
    """The fix, as an instruction."""

    def __str__(self) -> str:
        """Return the fix in one line."""
        return f"{self.what} ({self.safety})"


@dataclass(frozen=True, slots=True)
class Diagnostic(_Value):
    """A finding of a lint rule."""

    path: str
    """The model file; ``"model"`` if the model is not a file."""
    code: str
    """Code of the rule, such as ``"RC101"``."""
    name: str
    """Name of the rule."""
    severity: str
    """``"info"``, ``"warning"`` or ``"error"``."""
    message: str
    """The problem."""
    scope: str | None
    """Path of the scope; None for the model as a whole."""
    node: str | None
    """Path of the node, if the finding is about a node."""
    op: str | None
    """Operator of the node."""
    value: str | None
    """Path of the value, if the finding is about a value."""
    fingerprint: str
    """Identifier that stays the same while the model changes elsewhere."""
    fix: Fix | None
    """The fix, if there is one."""

    @property
    def place(self) -> str:
        """The path of the node or value; ``"model"`` for the model as a whole."""
        return self.node or self.value or "model"

    def __str__(self) -> str:
        """Return the finding in one line, as ``recast lint --format concise`` does."""
        return f"{self.path}: {self.place}: {self.code} {self.severity}: {self.message}"

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        fix = None if facts["fix"] is None else Fix.from_dict(facts["fix"])
        names = (field.name for field in dataclasses.fields(cls) if field.name != "fix")
        return cls(**{name: facts[name] for name in names}, fix=fix)


@dataclass(frozen=True, slots=True)
class Difference(_Value):
    """A difference between two models."""

    path: str
    """Path of the field or item, such as ``"graph/cast_1.to"``."""
    kind: str
    """``"removed"``, ``"added"``, ``"changed"``, ``"reordered"`` or ``"stored"`` (equal values, different storage)."""
    left: str | None
    """The value in the left model, if present."""
    right: str | None
    """The value in the right model, if present."""


@dataclass(frozen=True, slots=True)
class DataFile(_Value):
    """A file with values of tensors."""

    path: str
    """Path of the file."""
    bytes: int
    """Length in bytes."""


@dataclass(frozen=True, slots=True)
class Saved(_Value):
    """The files that were written."""

    bytes: int
    """Length of the model file."""
    data_file: DataFile | None
    """The data file that was made for the model."""
    copied_files: tuple[DataFile, ...]
    """Data files that were copied with the model."""
    removed_files: tuple[str, ...]
    """Unused data files that were removed."""
    unused_files: tuple[DataFile, ...]
    """Unused data files that were kept."""
    notes: tuple[str, ...]
    """Side effects that were not requested."""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        return cls(
            bytes=facts["bytes"],
            data_file=None if facts["data_file"] is None else DataFile.from_dict(facts["data_file"]),
            copied_files=tuple(DataFile.from_dict(file) for file in facts["copied_files"]),
            removed_files=tuple(facts["removed_files"]),
            unused_files=tuple(DataFile.from_dict(file) for file in facts["unused_files"]),
            notes=tuple(facts["notes"]),
        )


@dataclass(frozen=True, slots=True)
class Fault(_Value):
    """What could not be verified."""

    path: str
    """Path of the node, value or field in the result."""
    what: str
    """What is wrong there."""

    def __str__(self) -> str:
        """Return the fault in one line."""
        return f"{self.path}: {self.what}"


@dataclass(frozen=True, slots=True)
class OutputComparison(_Value):
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
    """The largest difference of two elements; None if they have none, as strings, or if the types or shapes differ."""

    def __str__(self) -> str:
        """Return the comparison in one line."""
        shape = "" if self.shape is None else f"[{','.join(map(str, self.shape))}]"
        difference = f" by up to {self.largest_difference:.6g}" if self.largest_difference else ""
        return f"{self.name} ({self.type}{shape}): {self.outcome}{difference}"


@dataclass(frozen=True, slots=True)
class Verified(_Value):
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
        outputs = f", {len(self.outputs)} outputs in onnxruntime" if self.outputs else ""
        return f"{self.nodes} nodes, {self.constants} constants of {self.elements} elements{outputs}"


@dataclass(frozen=True)
class FoldResult(_Value, Generic[_Model]):
    """Result of :func:`onnx_recast.fold`."""

    model: _Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    folded: tuple[Folded, ...]
    """Casts that were replaced by their results."""
    computed: tuple[Computed, ...]
    """Other nodes that were replaced by their results, per output."""
    changes: tuple[Change, ...]
    """Nodes that were changed."""
    kept: tuple[Kept, ...]
    """Casts that were not folded, and other nodes with constant inputs that the passes could fold, with the reason."""
    removed: tuple[str, ...]
    """Paths of nodes that passes removed, and of constants that are no longer used."""
    saved: Saved | None
    """The files that were written; None without ``output``."""
    verified: Verified | None = None
    """The extent of the verification; None without ``verify``."""


@dataclass(frozen=True)
class ConvertResult(_Value, Generic[_Model]):
    """Result of :func:`onnx_recast.convert_version`."""

    model: _Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    from_version: int | None
    """Opset of ai.onnx before; None if the model neither imports nor uses ai.onnx."""
    to_version: int
    """Requested opset."""
    from_ir_version: int
    """IR version before."""
    to_ir_version: int
    """IR version after."""
    changes: tuple[Change, ...]
    """Nodes that changed."""
    expansions: tuple[Expansion, ...]
    """Operators that were replaced by several nodes."""
    warnings: tuple[Change, ...]
    """Warnings about converted nodes."""
    saved: Saved | None
    """The files that were written; None without ``output``."""
    verified: Verified | None = None
    """The extent of the verification; None without ``verify``."""


@dataclass(frozen=True)
class FixResult(_Value, Generic[_Model]):
    """Result of :func:`onnx_recast.fix`."""

    model: _Model = field(repr=False)
    """The model: of the kind of the argument, or the path of the output."""
    fixed: tuple[Diagnostic, ...]
    """Findings that were fixed."""
    remaining: tuple[Diagnostic, ...]
    """Findings of the fixed model."""
    saved: Saved | None
    """The files that were written; None without ``output``."""


@dataclass(frozen=True, slots=True)
class CastFacts(_Value):
    """A ``Cast`` or ``CastLike`` node."""

    node: str
    """Path of the node."""
    scope: str
    """Path of its scope."""
    from_type: str | None
    """ONNX type of the input, if it is declared or can be inferred."""
    to_type: str | None
    """ONNX type of the output, if it is declared or can be inferred."""
    saturate: bool | None
    """``saturate``, if set explicitly."""
    round_mode: str | None
    """``round_mode``, if set explicitly."""
    constant: bool
    """Whether the input is a constant, or becomes one when casts are folded."""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        names = ("node", "scope", "from", "to", "saturate", "round_mode", "constant")
        return cls(*(facts[name] for name in names))


@dataclass(frozen=True, slots=True)
class TypeFacts(_Value):
    """The initializers of one type."""

    count: int
    """Number of initializers."""
    bytes: int
    """Bytes of their values."""


@dataclass(frozen=True, slots=True)
class Initializers(_Value):
    """The initializers of all graphs."""

    count: int
    """Number of initializers."""
    bytes: int
    """Bytes of their values, wherever they are stored."""
    by_type: Mapping[str, TypeFacts]
    """By ONNX type."""


@dataclass(frozen=True, slots=True)
class FunctionFacts(_Value):
    """A model-local function."""

    name: str
    """Domain, name and overload."""
    nodes: int
    """Number of nodes in its body."""
    callers: int
    """Number of nodes that call it."""


def _versions(name: str, first: str, last: str) -> str:
    return f"{name} {first}" if first == last else f"{name} {first} to {last}"


@dataclass(frozen=True, slots=True)
class Runtime(_Value):
    """Consecutive versions of a runtime that load the same models; see :func:`onnx_recast.targets`."""

    name: str
    """Name of the runtime; with ``@`` and a version, the ``target`` of :func:`onnx_recast.convert_version`."""
    first: str
    """The first version."""
    last: str
    """The last version; later releases of the same version are included."""
    opset: int
    """The newest opset of ai.onnx."""
    ir_version: int | None
    """The newest IR version, if the source states it."""
    source: str
    """Where the numbers come from."""

    def __str__(self) -> str:
        """Return the name and the versions."""
        return _versions(self.name, self.first, self.last)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        return cls(*(facts[name] for name in ("runtime", "first", "last", "opset", "ir", "source")))


@dataclass(frozen=True, slots=True)
class RuntimeVersions(_Value):
    """The versions of a runtime that support the opset and IR version of a model."""

    runtime: str
    """Name of the runtime."""
    first: str
    """The first version."""
    last: str
    """The last version that is known."""

    def __str__(self) -> str:
        """Return the name and the versions."""
        return _versions(self.runtime, self.first, self.last)


@dataclass(frozen=True, slots=True)
class Inspection(_Value):
    """Summary of a model, made by :func:`onnx_recast.inspect`."""

    ir_version: int
    """IR version."""
    opsets: Mapping[str, int]
    """Imported opset versions by domain."""
    producer: str
    """Name and version of the producer."""
    nodes: int
    """Number of nodes in all scopes."""
    ops: Mapping[str, int]
    """Number of nodes by operator."""
    casts: tuple[CastFacts, ...]
    """Every ``Cast`` and ``CastLike``."""
    initializers: Initializers
    """Initializers of all graphs."""
    functions: tuple[FunctionFacts, ...]
    """Model-local functions."""
    external_data: tuple[str, ...]
    """Data files of the model."""
    targets: tuple[RuntimeVersions, ...]
    """Runtimes that support the opset and IR version; they may lack operators of other domains."""
    errors: tuple[str, ...]
    """What is invalid in the model."""

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Make a value from the dictionary that the native module returns."""
        summary, all_initializers = facts["inspection"], facts["inspection"]["initializers"]
        by_type = {name: TypeFacts.from_dict(of_type) for name, of_type in all_initializers["by_type"].items()}
        return cls(
            ir_version=summary["ir_version"],
            opsets=summary["opsets"],
            producer=summary["producer"],
            nodes=summary["nodes"],
            ops=summary["ops"],
            casts=tuple(CastFacts.from_dict(cast) for cast in summary["casts"]),
            initializers=Initializers(all_initializers["count"], all_initializers["bytes"], by_type),
            functions=tuple(FunctionFacts.from_dict(function) for function in summary["functions"]),
            external_data=tuple(summary["external_data"]),
            targets=tuple(map(RuntimeVersions.from_dict, summary["targets"])),
            errors=tuple(facts["errors"]),
        )
