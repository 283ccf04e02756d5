"""What a run has found: counts, blockers, the slowest and the largest models."""

from __future__ import annotations

import heapq
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnx_recast.fleet.page import Table, page
from onnx_recast.fleet.rows import FAILED, OUTCOMES, Row
from onnx_recast.fleet.text import shown

_LISTED = 20
"""Models, blockers and findings of each list."""


@dataclass(slots=True)
class Summary:
    """A run, summarised; made by :func:`summary`."""

    run: str
    """Name of the run."""
    complete: bool
    """Whether each model has a row."""
    steps: list[list[Any]]
    """The steps of the job, with their options."""
    models: int = 0
    """Number of rows."""
    skipped: int = 0
    """Rows whose results are those of an earlier run."""
    retried: int = 0
    """Models that were processed more than once."""
    seconds: float = 0.0
    """Time of all workers."""
    read_bytes: int = 0
    """Bytes that were read from the storage."""
    written_bytes: int = 0
    """Bytes that were written to the storage."""
    memory: int = 0
    """Largest resident memory of a worker."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Rows by outcome."""
    errors: Counter[str] = field(default_factory=Counter)
    """Rows by code of the error."""
    blockers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Nodes that cannot be converted, by operator, step between opsets, and code."""
    blocked_models: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Models with such nodes."""
    findings: Counter[str] = field(default_factory=Counter)
    """Findings by code."""
    slowest: list[tuple[float, str]] = field(default_factory=list)
    """Seconds and URIs."""
    largest: list[tuple[int, str]] = field(default_factory=list)
    """Bytes, with data files, and URIs."""
    failed: list[tuple[str, str, str]] = field(default_factory=list)
    """URI, outcome and message of the models that failed, the first by name."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """URI and reason of the models that are refused, the first by name."""

    def add(self, row: Row) -> None:
        """Count a row."""
        self.models += 1
        self.skipped += row.skipped
        self.retried += row.attempts > 1
        self.seconds += row.seconds
        self.read_bytes += row.read_bytes
        self.written_bytes += row.written_bytes
        self.memory = max(self.memory, row.memory)
        self.outcomes[row.outcome] += 1
        if row.code is not None:
            self.errors[row.code] += 1
        kinds = [(one["op"], " to ".join(map(str, one["step"])), one["code"]) for one in row.blockers]
        self.blockers.update(kinds)
        self.blocked_models.update(set(kinds))
        self.findings.update(one["code"] for one in row.findings)
        size = (row.size or 0) + sum(one["size"] or 0 for one in row.data)
        _keep(self.slowest, (row.seconds, row.uri))
        _keep(self.largest, (size, row.uri))
        if row.outcome in FAILED:
            self.failed = sorted([*self.failed, (row.uri, row.outcome, row.message or "")])[:_LISTED]
        if row.outcome == "refused":
            self.refused = sorted([*self.refused, (row.uri, _reason(row))])[:_LISTED]

    def tables(self) -> list[Table]:
        """Return titles, columns and rows, as they are shown. A title says how many rows were left out."""
        blockers = [(*kind, count, self.blocked_models[kind]) for kind, count in _most(self.blockers)]
        failed = sum(self.outcomes[name] for name in FAILED)
        refused = self.outcomes["refused"]
        tables: list[Table] = [
            _first("Failed models", ["model", "outcome", "error"], self._failures(), failed),
            _first("Refused models", ["model", "error"], list(self.refused), refused),
            (
                "Outcomes",
                ["outcome", "models"],
                [(name, self.outcomes[name]) for name in OUTCOMES if self.outcomes[name]],
            ),
            _first("Errors", ["code", "models"], _most(self.errors)),
            _first("Blockers", ["operator", "opset", "code", "nodes", "models"], blockers),
            _first("Findings", ["code", "findings"], _most(self.findings)),
            ("Slowest models", ["seconds", "model"], [(f"{time:.3f}", uri) for time, uri in _sorted(self.slowest)]),
            ("Largest models", ["size", "model"], [(_size(size), uri) for size, uri in _sorted(self.largest)]),
        ]
        return [table for table in tables if table[2]]

    def _failures(self) -> list[tuple[object, ...]]:
        """Return models, outcomes and messages, which do not name the model again."""
        return [(uri, outcome, message.removeprefix(f"{uri}: ")) for uri, outcome, message in self.failed]

    def facts(self) -> list[tuple[str, str]]:
        """Return names and values of the run as a whole, as they are shown."""
        steps = ", ".join(_step(name, options) for name, options in self.steps)
        return [
            ("run", self.run if self.complete else f"{self.run} (not complete)"),
            ("steps", steps),
            ("models", f"{self.models:,}"),
            ("skipped", f"{self.skipped:,}"),
            ("processed again", f"{self.retried:,}"),
            ("time of all workers", f"{self.seconds:,.1f} s"),
            ("read", _size(self.read_bytes)),
            ("written", _size(self.written_bytes)),
            ("memory of a worker", _size(self.memory)),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        names = (
            "run",
            "complete",
            "steps",
            "models",
            "skipped",
            "retried",
            "seconds",
            "read_bytes",
            "written_bytes",
            "memory",
        )
        blockers = [
            {"op": op, "step": step, "code": code, "nodes": count, "models": self.blocked_models[op, step, code]}
            for (op, step, code), count in _most(self.blockers)
        ]
        return {
            "version": 1,
            **{name: getattr(self, name) for name in names},
            "outcomes": {name: self.outcomes[name] for name in OUTCOMES if self.outcomes[name]},
            "errors": dict(_most(self.errors)),
            "blockers": blockers,
            "findings": dict(_most(self.findings)),
            "slowest": [{"uri": uri, "seconds": time} for time, uri in _sorted(self.slowest)],
            "largest": [{"uri": uri, "bytes": size} for size, uri in _sorted(self.largest)],
            "failed": [{"uri": uri, "outcome": outcome, "message": message} for uri, outcome, message in self.failed],
            "refused": [{"uri": uri, "reason": reason} for uri, reason in self.refused],
        }

    def to_json(self) -> str:
        """Return the summary as a JSON document."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def to_text(self) -> str:
        """Return the summary as tables for a terminal."""
        lines = [f"{name}: {shown(value)}" for name, value in self.facts()]
        for title, columns, rows in self.tables():
            lines += ["", title, *_aligned(columns, rows)]
        return "\n".join(lines) + "\n"

    def to_html(self) -> str:
        """Return the summary as a page that needs no other file."""
        return page(self.run, self.outcomes, self.facts(), self.tables())


def summary(manifest: str, *, run: str | None = None) -> Summary:
    """Summarise a run.

    Parameters
    ----------
    manifest : str
        The URI of the folder of the manifest.
    run : str, optional
        Name of a run; by default, the last complete one, or the last if none is complete.

    Returns
    -------
    Summary
        The counts.

    Raises
    ------
    ValueError
        There is no such run.
    """
    from onnx_recast.fleet import manifest as manifests

    runs = manifests.runs(manifest)
    complete = [name for name, objects in runs.items() if any(uri.endswith("/complete.json") for uri in objects)]
    chosen = run or (complete or list(runs) or [""])[-1]
    if chosen not in runs:
        raise ValueError(f"{manifest} has no run {run}" if run else f"{manifest} has no runs")
    job = manifests.job_of(runs[chosen]) or {"steps": []}
    return summarised(chosen, chosen in complete, job["steps"], manifests.rows_of(runs[chosen]))


def summarised(run: str, complete: bool, steps: list[list[Any]], rows: Iterable[Row]) -> Summary:
    """Summarise rows."""
    found = Summary(run, complete, steps)
    for row in rows:
        found.add(row)
    return found


def _reason(row: Row) -> str:
    """Return the first blocker of a model that is refused, and how many more there are; or else its error."""
    if not row.blockers:
        return (row.message or row.code or "").removeprefix(f"{row.uri}: ")
    first, others = row.blockers[0], len(row.blockers) - 1
    more = f", and {others} more" if others else ""
    return f"{first['node']} ({first['op']}): {first['reason']}{more}"


def _first(title: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]], count: int | None = None) -> Table:
    """Return the table of the first of so many rows; by default, of all that are given."""
    count = len(rows) if count is None else count
    shown = list(rows[:_LISTED])
    return (title if count == len(shown) else f"{title} ({len(shown)} of {count:,})"), columns, shown


def _most(counts: Counter[Any]) -> list[tuple[Any, int]]:
    """Return counts, the largest first: in the same order, whatever the order of the rows."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def _keep(list_: list[Any], item: Any) -> None:
    heapq.heappush(list_, item)
    if len(list_) > _LISTED:
        heapq.heappop(list_)


def _sorted(list_: list[Any]) -> list[Any]:
    return sorted(list_, key=lambda item: (-item[0], item[1]))


def _step(name: str, options: dict[str, Any]) -> str:
    given = ", ".join(f"{key}={value}" for key, value in options.items() if value not in ([], None))
    return f"{name}({given})"


def _size(size: int) -> str:
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{size} B" if unit == "B" else f"{value:.1f} {unit}"


def _aligned(columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> list[str]:
    cells = [[shown(cell) for cell in row] for row in [tuple(columns), *rows]]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
