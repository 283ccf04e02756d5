"""The work on one model: a function of a job and a URI, whatever calls it."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from obstore.exceptions import BaseError

from onnx_recast import _recast
from onnx_recast._errors import InvalidModelError, RecastError
from onnx_recast.fleet import inputs, results, storage
from onnx_recast.fleet.inputs import Inputs, ScratchExceeded, make_folder_of
from onnx_recast.fleet.outputs import Output
from onnx_recast.fleet.rows import Row, Task
from onnx_recast.fleet.storage import Traffic
from onnx_recast.fleet.text import plain

if TYPE_CHECKING:
    from onnx_recast.fleet.job import Job, NativeStep

_ATTEMPTS = 3
"""How often the work is done anew if the model or its output changes meanwhile."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the work on one model may use."""

    scratch: str | None = None
    """Folder for temporary files; by default, that of the system."""
    scratch_bytes: int = 64 << 30
    """Length of all temporary files of the model."""
    threads: int = 0
    """Threads; 0 for as many as there are cores."""


def process(job: Job, task: Task | str, limits: Limits | None = None) -> Row:
    """Process a model: read it, apply the steps of the job, write the output. Errors are rows.

    Parameters
    ----------
    job : Job
        What to do.
    task : Task or str
        The model, or its URI.
    limits : Limits, optional
        What the work may use.

    Returns
    -------
    Row
        The result. The same model, job and version of the package give the same result, and the same bytes.
    """
    task = Task(storage.object_uri(task)) if isinstance(task, str) else task
    limits = limits or Limits()
    started = time.perf_counter()
    traffic = Traffic()
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # Begins to measure memory anew.
    worker = f"{platform.node()}:{os.getpid()}"
    row = Row(task.uri, worker=worker)
    for attempt in range(_ATTEMPTS):
        row = Row(task.uri, worker=worker)
        try:
            with _Scratch(limits.scratch) as scratch:
                _attempt(job, task, limits, row, traffic, scratch, task.is_new and attempt == 0)
            break
        except storage.Changed as error:
            row.outcome, row.code, row.message = "failed", "changed", str(error)
        except OSError as error:
            _record(row, error, plain(error))
            break
    row.seconds = round(time.perf_counter() - started, 6)
    row.read_bytes, row.written_bytes, row.requests = traffic.read_bytes, traffic.written_bytes, traffic.requests
    row.memory = _peak()
    return row


class _Scratch:
    """A temporary folder, which is made when it is needed: small models need none."""

    def __init__(self, parent: str | None) -> None:
        self._path = Path(parent or tempfile.gettempdir()) / f"recast-fleet-{secrets.token_hex(8)}"

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *_: object) -> None:
        if self._path.exists():
            shutil.rmtree(self._path)


def _attempt(job: Job, task: Task, limits: Limits, row: Row, traffic: Traffic, folder: Path, is_new: bool) -> None:
    """Process a model with temporary files in this folder."""
    target = job.output_of(task.uri)
    name = PurePosixPath(task.uri).name
    path, written = folder / "in" / name, folder / "out" / name

    def named(text: str) -> str:
        return text.replace(str(path), task.uri).replace(str(written), target or task.uri)

    try:
        storage.locate(task.uri)  # The error of a name is that of the model, not of its output.
        known = None if task.known is None else Row.from_json(task.known)
        model = Inputs(path, row, job.reads_weights, limits.scratch_bytes, traffic)
        output = None
        if target is not None:
            may_replace = job.overwrite or task.written == target
            output = Output(target, row, job.digest, traffic, is_new=is_new, may_replace=may_replace)
            known = known if known and output.is_made(known) else output.known()
        if known and inputs.is_unchanged(known, model.about, traffic):
            row.restore(known)
            return
        model.fetch_model(task.size)
        _recast.set_threads(limits.threads)
        _apply(job, row, model, output, written, named)
    except storage.Changed:
        raise
    except Exception as error:
        _record(row, error, named(plain(error)))


def _apply(
    job: Job, row: Row, model: Inputs, output: Output | None, written: Path, named: Callable[[str], str]
) -> None:
    """Apply the steps in one opening of the model, and write the output."""

    def fetch(locations: list[str]) -> str | None:
        model.fetch_data(locations)
        row.key = job.key(model.model_digest, model.data_digests)
        if output is None:
            return None
        # The output has at most the bytes of the model and its data.
        model.reserve(model.about.size + sum(file["size"] or 0 for file in row.data))
        return output.data_name if row.data else None

    steps = [step.native() for step in job.steps]
    if model.may_have_data():
        report, content = _native(model, output, written, steps, job.verify, fetch)
    else:
        fetch([])
        report, content = _native(model, output, written, steps, job.verify, None)
    results.take(row, job, report, named, model.unread)
    if output is None:
        return
    if row.outcome == "refused" and job.keep_failed:
        report, content = _native(model, output, written, [], False, lambda _: output.data_name if row.data else None)
        if report["error"] is not None:
            raise RecastError(named(report["error"]["text"]), kind=report["error"]["kind"])
    if report["error"] is None:
        output.store(written if content is None else content, report["saved"])


def _native(
    model: Inputs,
    output: Output | None,
    written: Path,
    steps: list[NativeStep],
    verify: bool,
    fetch: Callable[[list[str]], str | None] | None,
) -> tuple[Any, bytes | None]:
    """Apply steps, in memory if the model is there and has no data files. The output is then returned."""
    if fetch is None and model.content is not None:
        with contextlib.suppress(RecastError, ValueError):  # The error of a file names the file.
            given: _recast._Input = {"source": model.content, "base_dir": None}
            text, content = _recast.apply(given, _placed(output, None), steps, verify, None, None)
            report = json.loads(text)
            if report["error"] is None:
                return report, content
            if report["error"]["kind"] in results.REFUSED:
                report["error"]["text"] = f"{model.path}: {report['error']['text']}"
                return report, None
    model.to_file()
    if output is not None:
        make_folder_of(written)
    given = {"source": str(model.path), "base_dir": None}
    text, _ = _recast.apply(given, _placed(output, written), steps, verify, fetch, None)
    return json.loads(text), None


def _placed(output: Output | None, path: Path | None) -> _recast._Output | None:
    if output is None:
        return None
    return {"path": None if path is None else str(path), "external_data": "keep"}


def _record(row: Row, error: Exception, message: str) -> None:
    """Put an error into a row."""
    row.message = message
    if isinstance(error, MemoryError):
        row.outcome, row.code, row.message = "out-of-memory", "out-of-memory", "the worker has reached its memory limit"
    elif isinstance(error, ScratchExceeded):
        row.outcome, row.code = "failed", "scratch-exceeded"
    elif storage.is_disk_full(error):
        row.outcome, row.code = "failed", storage.DiskFull.code
    elif isinstance(error, FileNotFoundError):
        row.outcome, row.code = "failed", "not-found"
    elif isinstance(error, storage.BadName):
        row.outcome, row.code = "failed", "bad-name"
    elif isinstance(error, RecastError):
        row.outcome, row.code = "invalid" if isinstance(error, InvalidModelError) else "failed", error.kind
    else:
        is_storage = isinstance(error, OSError | BaseError)
        row.outcome, row.code = "failed", "storage" if is_storage else type(error).__name__


def _peak() -> int:
    """Return the largest resident memory since it was last reset, in bytes; 0 if the system does not count it."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
