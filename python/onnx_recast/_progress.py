"""Progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias

from onnx_recast._options import is_flag

Progress: TypeAlias = bool | Callable[[int, int], object]
"""``True`` for a bar of tqdm, or a function that is called with what is done and the total."""

Watcher: TypeAlias = Callable[[int, int, str], object]
"""What the native module calls: with what is done, the total, and the unit."""


@contextmanager
def watcher(progress: Progress) -> Iterator[Watcher | None]:
    """Make what the native module calls, and end a bar in any case."""
    if callable(progress):
        yield lambda done, total, _: progress(done, total)
        return
    if not is_flag(progress):
        raise TypeError(f"progress: expected True, False or a function, not {type(progress).__name__}")
    bar = _Bar.new() if progress else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()


class _Bar:
    """A bar of tqdm for each unit that is counted."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    @classmethod
    def new(cls) -> _Bar | None:
        """Make a bar, if tqdm is installed."""
        try:
            return cls(import_module("tqdm.auto").tqdm)
        except ModuleNotFoundError:
            return None

    def __call__(self, done: int, total: int, unit: str) -> None:
        if self._bar is None or self._bar.unit != unit or self._bar.total != total:
            self.close()
            is_bytes = unit == "B"
            self._bar = self._tqdm(
                total=total, unit=unit, unit_scale=is_bytes, unit_divisor=1024 if is_bytes else 1000, leave=False
            )
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
