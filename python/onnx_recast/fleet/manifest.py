"""The manifest: rows in Parquet files, beneath a folder that has those of all runs."""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from obstore.exceptions import AlreadyExistsError

from onnx_recast.fleet.job import Job
from onnx_recast.fleet.rows import Row, schema
from onnx_recast.fleet.storage import folder_uri, get_bytes, listed, locate, put_bytes

ROWS = 1000
"""A part is written after this many rows,"""
SECONDS = 2.0
"""or after this time: rows that were not written are lost if the run is killed."""


def new_run() -> str:
    """Return the name of a run; later runs have greater names."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


class Writer:
    """Writes the rows of a run in parts: ``run=RUN/part-NUMBER.parquet``."""

    def __init__(self, manifest: str, run: str, job: Job, *, rows: int = ROWS, seconds: float = SECONDS) -> None:
        self._folder, self.run = f"{folder_uri(manifest)}run={run}/", run
        self._rows: list[dict[str, Any]] = []
        self._most, self._seconds = rows, seconds
        self._parts, self._written = 0, time.monotonic()
        self._job = job
        put_new(self._folder + "job.json", json.dumps({"digest": job.digest, **job.to_dict()}).encode())

    def add(self, row: Row) -> None:
        """Add a row; some rows later it is written."""
        self._rows.append(row.to_dict())
        if len(self._rows) >= self._most or time.monotonic() - self._written >= self._seconds:
            self.flush()

    def flush(self) -> None:
        """Write the rows that have not been written."""
        if self._rows:
            sink = pa.BufferOutputStream()
            pq.write_table(pa.Table.from_pylist(self._rows, schema()), sink, compression="zstd")
            put_new(f"{self._folder}part-{self._parts:06}.parquet", sink.getvalue().to_pybytes())
            self._parts += 1
            self._rows.clear()
        self._written = time.monotonic()

    def finish(self, totals: dict[str, Any]) -> None:
        """Write the rest, and that the run is complete."""
        self.flush()
        put_new(self._folder + "complete.json", json.dumps({"run": self.run, "parts": self._parts, **totals}).encode())


def put_new(uri: str, content: bytes) -> None:
    """Write an object of this run; an attempt whose answer was lost may have written it."""
    try:
        put_bytes(uri, content)
    except AlreadyExistsError:
        if get_bytes(uri) != content:
            raise


def runs(manifest: str) -> dict[str, list[str]]:
    """Return the objects of each run, oldest first."""
    folder = folder_uri(manifest)
    prefix = locate(folder)[1]
    found: dict[str, list[str]] = {}
    for one in listed(folder):
        if one.obstacle is not None:
            continue
        inside = one.path.removeprefix(prefix).lstrip("/")
        name, _, rest = inside.partition("/")
        if name.startswith("run=") and rest:
            found.setdefault(name.removeprefix("run="), []).append(folder + inside)
    return {run: sorted(found[run]) for run in sorted(found)}


def job_of(objects: list[str]) -> dict[str, Any] | None:
    """Return the description of the job of a run; None if the run has not begun."""
    uri = next((uri for uri in objects if uri.endswith("/job.json")), None)
    return None if uri is None else json.loads(get_bytes(uri))


def rows_of(objects: list[str]) -> Iterator[Row]:
    """Return the rows of a run, in parts."""
    for uri in objects:
        if not uri.endswith(".parquet"):
            continue
        with tempfile.TemporaryFile() as file:
            file.write(get_bytes(uri))
            file.seek(0)
            for batch in pq.ParquetFile(file).iter_batches(batch_size=ROWS):
                yield from map(Row.from_dict, batch.to_pylist())


def earlier_rows(manifest: str, job: Job) -> Iterator[tuple[Row, bool]]:
    """Return the rows of all runs, later ones last, and whether they are of the same job. Failures are left out."""
    for objects in runs(manifest).values():
        about = job_of(objects)
        if about is not None:
            same = (about["digest"], about["source"], about["to"]) == (job.digest, job.source, job.to)
            yield from ((row, same) for row in rows_of(objects) if row.outcome in _LASTING)


_LASTING = ("ok", "findings", "refused", "invalid")
"""Outcomes that stay the same if a model is processed again."""
