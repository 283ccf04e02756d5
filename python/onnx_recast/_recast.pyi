"""The native half of the package. It takes and returns plain values; reports are JSON."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypedDict, final

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

__all__ = [
    "LATEST_OPSET",
    "VERSION",
    "Strings",
    "apply",
    "cast_numbers",
    "cast_strings",
    "convert",
    "convert_precision",
    "diff",
    "fix",
    "fold",
    "inspect",
    "lint",
    "missing_operators",
    "run_command",
    "runs_on",
    "sensitive_operators",
    "set_threads",
    "targets",
]

LATEST_OPSET: int
VERSION: str

# Before Python 3.12, arrays do not declare that they are buffers.
_Bytes: TypeAlias = Buffer | npt.NDArray[np.uint8]

class _Input(TypedDict):
    source: bytes | str
    base_dir: str | None

class _Output(TypedDict):
    path: str | None
    external_data: str

class _Preparation(TypedDict):
    freeze_initializers: bool
    drop_metadata: list[str]

class _Folding(TypedDict):
    passes: list[str] | None
    undefined: bool
    contested: str | None
    max_growth: int | None
    prepare: _Preparation

class _Converting(TypedDict):
    opset: int
    target: str | None
    from_opset: int | None
    ir_version: int | str
    explicit: str
    no_expand: bool
    exact_only: bool
    expand: str
    no_legalize: bool
    legalize_io: bool
    contested: str | None
    strict: bool
    prepare: _Preparation

class _Changing(TypedDict):
    to: str
    from_type: str | None
    io: str
    signature: list[tuple[str, str]]
    policy: str
    keep_op: list[str]
    keep_node: list[str]
    keep_value: list[str]
    also_op: list[str]
    also_node: list[str]
    assume: list[str]
    only_op: list[str]
    only_node: list[str]
    weights_only: bool
    emulate: bool
    on_overflow: str
    on_underflow: str
    quantized: str
    ranges: dict[str, tuple[float, float, float | None]]
    range_limit: float | None
    target: str | None
    opset: int | str | None
    prepare: _Preparation

class _Linting(TypedDict):
    select: list[str] | None
    ignore: list[str]
    config: str | None

class _Casting(TypedDict):
    to: str
    shape: list[int]
    opset: int
    saturate: bool
    round_mode: str
    undefined: bool
    contested: str | None

# Called with what is done, the total, and the unit.
_Watch: TypeAlias = Callable[[int, int, str], object] | None

@final
class Strings:
    def __new__(cls) -> Strings: ...
    def append(self, strings: list[object]) -> None: ...
    def take(self, count: int) -> list[str]: ...

def run_command(arguments: Sequence[str]) -> int: ...
def fold(
    input: _Input, output: _Output, options: _Folding, verify: bool, watch: _Watch
) -> tuple[str, bytes | None]: ...
def convert(
    input: _Input, output: _Output, options: _Converting, verify: bool, watch: _Watch
) -> tuple[str, bytes | None]: ...
def convert_precision(
    input: _Input, output: _Output, options: _Changing, verify: bool, watch: _Watch
) -> tuple[str, bytes | None]: ...
def lint(input: _Input, options: _Linting, watch: _Watch) -> str: ...
def fix(
    input: _Input, output: _Output, options: _Linting, unsafe_fixes: bool, verify: bool, watch: _Watch
) -> tuple[str, bytes | None]: ...
def inspect(input: _Input) -> str: ...
def sensitive_operators() -> list[str]: ...
def targets() -> str: ...
def missing_operators(target: str) -> str: ...
def runs_on(input: _Input, target: str) -> str: ...
def set_threads(threads: int) -> None: ...
def apply(
    input: _Input,
    output: _Output | None,
    steps: Sequence[tuple[str, _Folding | _Converting | _Changing | _Linting | None]],
    verify: bool,
    fetch: Callable[[list[str]], str | None] | None,
    watch: _Watch,
) -> tuple[str, bytes | None]: ...
def diff(left: _Input, right: _Input) -> str: ...
def cast_numbers(
    source: _Bytes, from_type: str, casting: _Casting, out: _Bytes | None, watch: _Watch
) -> Strings | None: ...
def cast_strings(strings: Strings, casting: _Casting, out: _Bytes | None, watch: _Watch) -> Strings | None: ...
