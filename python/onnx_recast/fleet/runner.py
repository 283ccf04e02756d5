"""A run: all models of a source, each with exactly one row."""

from __future__ import annotations

import errno
import itertools
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from obstore.exceptions import BaseError

from onnx_recast.fleet import local
from onnx_recast.fleet.child import Bounds
from onnx_recast.fleet.job import Job
from onnx_recast.fleet.ledger import Ledger
from onnx_recast.fleet.listing import models
from onnx_recast.fleet.processing import Limits
from onnx_recast.fleet.rows import FAILED, OUTCOMES, RETRIED, Row, Task
from onnx_recast.fleet.storage import DiskFull, StorageError, folder_uri, is_beneath, is_disk_full, is_empty
from onnx_recast.fleet.text import plain

LISTED = 20
"""Models that failed and are named in the totals."""


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
    loops: int = 0
    """Links to a folder that contains them, which were not followed."""
    failed: list[Row] = field(default_factory=list)
    """The first rows of models that failed, by name: of outcomes for which the exit code is 2."""

    def add(self, row: Row) -> None:
        """Count a row."""
        self.models += 1
        self.skipped += row.skipped
        self.outcomes[row.outcome] += 1
        if row.outcome in FAILED:
            self.failed = sorted([*self.failed, row], key=lambda one: one.uri)[:LISTED]

    def add_loop(self, _uri: str) -> None:
        """Count a link to a folder that contains it."""
        self.loops += 1

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values."""
        outcomes = {name: self.outcomes[name] for name in OUTCOMES if self.outcomes[name]}
        loops = {"loops": self.loops} if self.loops else {}
        return {"models": self.models, "skipped": self.skipped, **loops, "outcomes": outcomes}

    @property
    def exit_code(self) -> int:
        """0 if all models are ok, 1 if some have findings or are refused, 2 after errors."""
        others = set(+self.outcomes) - {"ok"}
        return 0 if not others else 2 if others & set(FAILED) else 1


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
    DiskFull
        A disk of a worker or of the manifest is full. The run has ended; the same call does what is left.
    ValueError
        The source has no models, or the manifest is in the way of the models or of the outputs.
    OSError
        The source does not exist, or a storage cannot be used.
    """
    try:
        return _run(job, manifest, source, engine, workers, memory, timeout, scratch, scratch_bytes, progress)
    except DiskFull:
        raise
    except Exception as error:
        if is_disk_full(error):
            raise DiskFull(errno.ENOSPC, plain(error)) from error
        if not isinstance(error, BaseError | FileNotFoundError | PermissionError) or plain(error) == str(error):
            raise
        kind = type(error) if isinstance(error, OSError) else StorageError
        raise kind(plain(error)) from None


def _run(
    job: Job,
    manifest: str,
    source: str | None,
    engine: str,
    workers: int | None,
    memory: int | None,
    timeout: float,
    scratch: str | None,
    scratch_bytes: int,
    progress: Callable[[Totals], object] | None,
) -> Totals:
    from onnx_recast.fleet.manifest import Writer, earlier_rows, new_run

    if is_beneath(folder_uri(source_folder(job, source)), folder_uri(manifest)):
        raise ValueError(f"manifest: the folder of the manifest contains that of the models, {job.source}")
    totals = Totals(new_run())
    workers_here = workers or os.cpu_count() or 1
    limits = Limits(scratch, scratch_bytes // workers_here)
    alone = Bounds(memory or _machine_memory(), timeout, replace(limits, scratch_bytes=scratch_bytes))
    ledger = Ledger()
    try:
        found = _tasks(job, source, manifest, totals)
        ledger.remember(earlier_rows(manifest, job))
        writer = Writer(manifest, totals.run, job)
        is_new = job.to is not None and is_empty(job.to)
        again: list[Task] = []
        unreadable = 0

        def add(row: Row) -> None:
            writer.add(row)
            totals.add(row)
            if progress is not None:
                progress(totals)

        def write(rows: Generator[Row]) -> None:
            with closing(rows):
                for row in rows:
                    if row.code == DiskFull.code:
                        # It would be the row of each model that follows.
                        writer.flush()
                        raise DiskFull(errno.ENOSPC, row.message, row.uri)
                    if ledger.is_first(row):
                        add(row)

        def first(rows: Generator[Row]) -> Generator[Row]:
            with closing(rows):
                for row in rows:
                    if row.outcome in RETRIED or row.code == "scratch-exceeded":
                        again.append(Task(row.uri))
                    else:
                        yield row

        def readable() -> Iterator[Task]:
            # Those that cannot be read have their rows at once: the name of one may be that of another model.
            nonlocal unreadable
            for task in found:
                if task.obstacle is None:
                    yield task
                else:
                    unreadable += 1
                    code, message = task.obstacle
                    add(Row(task.uri, "failed", code=code, message=f"{task.uri} {message}", size=task.size))

        tasks = (replace(task, is_new=is_new) for task in ledger.expect(readable()))

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
        if lost or ledger.expected() + unreadable != totals.models:
            raise RowsLost(f"{lost} of {ledger.expected()} models have no row")
        writer.finish(totals.to_dict())
    finally:
        ledger.close()
    return totals


def source_folder(job: Job, source: str | None) -> str:
    """Return the folder of the models, which a table does not have."""
    return job.source if source is None or source.endswith((".txt", ".parquet")) else source


def _tasks(job: Job, source: str | None, manifest: str, totals: Totals) -> Iterator[Task]:
    """Return the models of a source; a source without models is an error."""
    given = source or job.source
    found = models(given, without=[job.to, folder_uri(manifest)], on_loop=totals.add_loop)
    one = next(found, None)
    if one is None:
        what = "lists no models" if given.endswith((".txt", ".parquet")) else "has no models: no object ends in .onnx"
        raise ValueError(f"{given} {what}")
    return itertools.chain([one], found)


def _machine_memory() -> int:
    """Return three quarters of the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 * 3
