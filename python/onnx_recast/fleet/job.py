"""What is done to each model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_recast import _recast
from onnx_recast._dtypes import onnx_name
from onnx_recast._operations.convert import Converting, convert_version, native_converting
from onnx_recast._operations.fold import Folding, native_folding
from onnx_recast._operations.fold import fold as fold_model
from onnx_recast._operations.lint import Linting, native_linting
from onnx_recast._operations.lint import lint as lint_model
from onnx_recast._operations.precision import Changing, convert_precision, native_changing, read_ranges
from onnx_recast._options import defaults
from onnx_recast.fleet.storage import folder_uri, is_beneath
from onnx_recast.fleet.text import shown

if TYPE_CHECKING:
    from onnx_recast._dtypes import Type
    from onnx_recast._operations.convert import Opset

    Options: TypeAlias = _recast._Folding | _recast._Converting | _recast._Changing | _recast._Linting | None
    NativeStep: TypeAlias = tuple[str, Options]


@dataclass(frozen=True)
class Step:
    """An operation with its options; made by the function of its name."""

    name: str
    """``"fold"``, ``"convert"``, ``"precision"``, ``"lint"`` or ``"inspect"``."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options, by the names that they have in the module."""

    def __post_init__(self) -> None:
        # The native module checks the names of passes, rules, runtimes and types; otherwise each model would have this
        # error. The names of inputs and outputs are those of the models.
        error = _usage_error(self.native())
        if error is not None and "io" in self.options:
            error = _usage_error(self.native(io="keep"))
        if error is not None:
            raise ValueError(error)

    def native(self, **others: Any) -> NativeStep:
        """Return the step as the native module takes it, with other options; an invalid option is an error."""
        if self.name not in _OPTIONS:
            raise ValueError(f"step: expected fold, convert, precision, lint or inspect, not {shown(self.name)!r}")
        native, known = _OPTIONS[self.name]
        for option in self.options:
            if option not in known:
                has = f"; it has {', '.join(known)}" if known else ""
                raise ValueError(f"{self.name} has no option {shown(option)!r}{has}")
        return self.name, None if native is None else native({**known, **self.options, **others})


def _usage_error(step: NativeStep) -> str | None:
    """Return the error of the options of a step, if they are wrong for every model."""
    report, _ = _recast.apply({"source": _EMPTY, "base_dir": None}, None, [step], False, None, None)
    error = json.loads(report)["error"]
    return error["text"] if error is not None and error["kind"] == "usage" else None


_EMPTY = bytes([0x08, 10, 0x3A, 0x00, 0x42, 2, 0x10, 21])
"""A model of IR version 10 and opset 21 without nodes."""

_OPTIONS: dict[str, tuple[Callable[[Mapping[str, Any]], Any] | None, Mapping[str, Any]]] = {
    "fold": (native_folding, defaults(fold_model, Folding)),
    "convert": (native_converting, defaults(convert_version, Converting, "opset")),
    "precision": (native_changing, defaults(convert_precision, Changing, "to", "from_type", "io", "ranges")),
    "lint": (native_linting, defaults(lint_model, Linting)),
    "inspect": (None, {}),
}
"""For each step what makes its options those of the native module, and the default values of the options."""


def fold(**options: Any) -> Step:
    """Fold casts of constants; the options are those of :func:`onnx_recast.fold` that do not concern files."""
    return Step("fold", options)


def convert(opset: Opset | None = None, **options: Any) -> Step:
    """Convert to another opset; the options are those of :func:`onnx_recast.convert_version` except files."""
    return Step("convert", options if opset is None else {"opset": opset, **options})


def precision(to: Type = "FLOAT16", **options: Any) -> Step:
    """Change the precision; the options are those of :func:`onnx_recast.convert_precision` except files.

    A file of ``ranges`` is read at once: workers may be on other machines.
    """
    if "ranges" in options:
        options["ranges"] = read_ranges(options["ranges"])
    if options.get("from_type") is not None:
        options["from_type"] = onnx_name(options["from_type"], "from_type")
    if isinstance(options.get("io"), Mapping):
        options["io"] = {name: onnx_name(one, "io") for name, one in options["io"].items()}
    return Step("precision", {"to": onnx_name(to), **options})


def lint(*, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Step:
    """Lint casts; see :func:`onnx_recast.lint`."""
    return Step("lint", {"select": list(select), "ignore": list(ignore)})


def inspect() -> Step:
    """Summarise the model; see :func:`onnx_recast.inspect`."""
    return Step("inspect")


@dataclass(frozen=True)
class Job:
    """What is done to each model, and where the results go.

    Parameters
    ----------
    steps : Step or sequence of Step
        Applied in this order, in one opening of the model.
    source : str
        The URI of the folder of the models. An output has the same path beneath ``to`` as its model has beneath
        ``source``; a model elsewhere has its bucket and whole path.
    to : str, optional
        The URI of the folder of the outputs. A job that folds, converts or changes precision needs it, a job that only
        analyses must not have it.
    keep_failed : bool
        Store a model that is refused without changes, instead of leaving it out.
    overwrite : bool
        Replace objects that were not made from the same model by this package. Others are replaced in any case.
    weights : bool
        Whether ``lint`` reads the weights. Without them, rules about values report nothing.
    verify : bool
        Whether outputs are verified against their models before they are stored.
    """

    steps: tuple[Step, ...]
    source: str
    to: str | None = None
    keep_failed: bool = False
    overwrite: bool = False
    weights: bool = True
    verify: bool = True

    def __init__(
        self,
        steps: Step | Sequence[Step],
        source: str,
        to: str | None = None,
        *,
        keep_failed: bool = False,
        overwrite: bool = False,
        weights: bool = True,
        verify: bool = True,
    ) -> None:
        values = {
            "steps": (steps,) if isinstance(steps, Step) else tuple(steps),
            "source": folder_uri(source),
            "to": None if to is None else folder_uri(to),
            "keep_failed": keep_failed,
            "overwrite": overwrite,
            "weights": weights,
            "verify": verify,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not self.steps:
            raise ValueError("steps: the job is empty")
        rewrites = any(step.name in ("fold", "convert", "precision") for step in self.steps)
        if rewrites != (self.to is not None):
            raise ValueError(
                "to: fold, convert and precision need an output folder" if rewrites else "to: the job writes no models"
            )
        if self.to is not None and is_beneath(self.source, self.to):
            where = (
                "is that of the models"
                if is_beneath(self.to, self.source)
                else f"contains that of the models, {source}"
            )
            raise ValueError(f"to: the folder of the outputs {where}")

    @property
    def reads_weights(self) -> bool:
        """Whether tensor values are read; otherwise only the ranges around them."""
        return self.to is not None or (self.weights and any(step.name == "lint" for step in self.steps))

    @property
    def identity(self) -> str:
        """The job as text: equal for jobs with equal results."""
        steps = [[step.name, dict(step.options)] for step in self.steps]
        facts = {"steps": steps, "keep_failed": self.keep_failed, "reads_weights": self.reads_weights}
        return json.dumps(facts, sort_keys=True, default=list)

    @property
    def digest(self) -> str:
        """A short name of :attr:`identity` and the version of the package."""
        return hashlib.sha256(f"{_recast.VERSION} {self.identity}".encode()).hexdigest()[:16]

    def key(self, model: str, data: Sequence[tuple[str, str]]) -> str:
        """Return the key of a result: of the digest of the model, and the name and digest of each data file."""
        facts = [_recast.VERSION, self.identity, model, sorted(data)]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def output_of(self, uri: str) -> str | None:
        """Return the URI of the output of a model."""
        if self.to is None:
            return None
        inside = uri.removeprefix(self.source)
        return self.to + (inside if inside != uri else uri.partition("://")[2].lstrip("/"))

    def to_dict(self) -> dict[str, Any]:
        """Return the job as plain values."""
        steps = [[step.name, dict(step.options)] for step in self.steps]
        names = ("source", "to", "keep_failed", "overwrite", "weights", "verify")
        return {"steps": steps, **{name: getattr(self, name) for name in names}}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Job:
        """Make a job from :meth:`to_dict`."""
        options = dict(facts)
        return cls([Step(name, given) for name, given in options.pop("steps")], **options)
