"""A run: all models of a source, each with exactly one row."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from onnx_recast.fleet import local
from onnx_recast.fleet.child import Bounds
from onnx_recast.fleet.job import Job
from onnx_recast.fleet.ledger import Ledger
from onnx_recast.fleet.listing import models
from onnx_recast.fleet.processing import Limits
from onnx_recast.fleet.rows import OUTCOMES, RETRIED, Row, Task
from onnx_recast.fleet.storage import folder_uri, is_empty


@dataclass(slots=True)
class Totals:
    """The result of a run."""

    run: str
    """Name of the run in the manifest."""
    models: int = 0
    """Number of rows."""
    skipped: int = 0
    """Rows whose results are those of an earlier run."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Rows by outcome."""

    def add(self, row: Row) -> None:
        """Count a row."""
        self.models += 1
        self.skipped += row.skipped
        self.outcomes[row.outcome] += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        outcomes = {name: self.outcomes[name] for name in OUTCOMES if self.outcomes[name]}
        return {"models": self.models, "skipped": self.skipped, "outcomes": outcomes}

    @property
    def exit_code(self) -> int:
        """0 if all models are ok, 1 if some have findings or cannot be converted, 2 after errors."""
        others = set(+self.outcomes) - {"ok"}
        return 0 if not others else 1 if others <= {"findings", "refused"} else 2


class RowsLost(RuntimeError):
    """The engine has not returned a row for each model."""


def run(
    job: Job,
    manifest: str,
    *,
    source: str | None = None,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    memory: int | None = None,
    timeout: float = 900.0,
    scratch: str | None = None,
    scratch_bytes: int = 64 << 30,
    progress: Callable[[Totals], object] | None = None,
) -> Totals:
    """Process all models of a source, and write a row for each to the manifest.

    Parameters
    ----------
    job : Job
        What to do.
    manifest : str
        The URI of the folder of the manifest. Rows of earlier runs of the same job in it are used again, if neither the
        model nor its output has changed.
    source : str, optional
        A text or Parquet file with URIs; by default, all objects beneath the source of the job that end in ``.onnx``.
    engine : {"local", "ray"}
        Processes on this machine, or Ray Data.
    workers : int, optional
        Models that are processed at a time: by default, as many as there are cores (local), or as the cluster has room
        for (Ray).
    memory : int, optional
        Bytes that a worker may allocate. By default, an estimate from the size of the model (Ray), or an equal part of
        three quarters of the memory of the machine (local).
    timeout : float
        Seconds for one model.
    scratch : str, optional
        Folder for temporary files.
    scratch_bytes : int
        Length of all temporary files of a machine.
    progress : callable, optional
        Called with the totals after each row.

    Returns
    -------
    Totals
        The number of rows by outcome.

    Raises
    ------
    RowsLost
        Models have no row, although they were processed again. The manifest is then not complete.
    """
    from onnx_recast.fleet.manifest import Writer, earlier_rows, new_run

    totals = Totals(new_run())
    workers_here = workers or os.cpu_count() or 1
    limits = Limits(scratch, scratch_bytes // workers_here)
    alone = Bounds(memory or _machine_memory(), timeout, replace(limits, scratch_bytes=scratch_bytes))
    ledger = Ledger()
    try:
        ledger.remember(earlier_rows(manifest, job))
        writer = Writer(manifest, totals.run, job)
        is_new = job.to is not None and is_empty(job.to)
        tasks = (replace(task, is_new=is_new) for task in ledger.expect(_tasks(job, source, manifest)))
        again: list[Task] = []

        def write(rows: Iterable[Row]) -> None:
            for row in rows:
                if ledger.is_first(row):
                    writer.add(row)
                    totals.add(row)
                    if progress is not None:
                        progress(totals)

        def first(rows: Iterable[Row]) -> Iterator[Row]:
            for row in rows:
                if row.outcome in RETRIED or row.code == "scratch-exceeded":
                    again.append(Task(row.uri))
                else:
                    yield row

        if engine == "ray":
            from onnx_recast.fleet import ray_data

            write(first(ray_data.run(job, tasks, workers, Bounds(memory or 0, timeout, limits))))
        else:
            shared = memory or _machine_memory() // workers_here
            write(first(local.run(job, tasks, workers_here, Bounds(shared, timeout, replace(limits, threads=1)))))
        write(replace(row, attempts=2) for row in local.run(job, again, 1, alone))
        # An engine that loses rows is not trusted with them again.
        write(local.run(job, list(ledger.missing()), 1, alone))
        lost = sum(1 for _ in ledger.missing())
        if lost or ledger.expected() != totals.models:
            raise RowsLost(f"{lost} of {ledger.expected()} models have no row")
        writer.finish(totals.to_dict())
    finally:
        ledger.close()
    return totals


def _tasks(job: Job, source: str | None, manifest: str) -> Iterator[Task]:
    return models(source or job.source, without=[job.to, folder_uri(manifest)])


def _machine_memory() -> int:
    """Return three quarters of the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 * 3
