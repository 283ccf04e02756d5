"""Work in a process of its own, which a model can end without ending anything else."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import IO, TYPE_CHECKING

from onnx_recast.fleet.processing import Limits
from onnx_recast.fleet.rows import Row, Task
from onnx_recast.fleet.storage import PARALLEL, object_uri

if TYPE_CHECKING:
    from onnx_recast.fleet.job import Job

_OUT_OF_MEMORY = 2
_SHOWN = 500
"""Characters of standard error that are kept."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a process may use."""

    memory: int = 2 << 30
    """Bytes that it may allocate; 0 for no limit."""
    timeout: float = 900.0
    """Seconds for one model."""
    limits: Limits = field(default_factory=Limits)
    """The limits of :func:`onnx_recast.fleet.process`."""


class Child:
    """A worker process, which is started when it is needed and again when it has ended."""

    def __init__(self, job: Job, bounds: Bounds) -> None:
        self._job = json.dumps(job.to_dict())
        self._bounds = bounds
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._folder: str | None = None

    def run(self, task: Task) -> Row:
        """Process a model. That the process ends, or takes too long, is a row too."""
        try:
            return self._run(task)
        except BaseException:
            # An answer that was not taken would be taken for that of the next model.
            self.close()
            raise

    def _run(self, task: Task) -> Row:
        process = self._started()
        limits = replace(self._bounds.limits, scratch=self._folder)
        request = {"job": self._job, "task": asdict(task), "limits": asdict(limits)}
        began = time.perf_counter()
        answer = self._ask(process, json.dumps(request).encode() + b"\n")
        if answer.endswith(b"\n"):
            row = Row.from_json(answer.decode())
            if row.outcome == "out-of-memory":
                self.close()
            return row
        row = Row(task.uri, attempts=1, worker=str(process.pid))
        if answer == _LATE:
            self.close()
            row.outcome, row.code = "timeout", "timeout"
            row.message = f"the work took longer than {self._bounds.timeout:g} s"
        else:
            self._explain(row, process.wait())
            self.close()
        row.seconds = round(time.perf_counter() - began, 6)
        return row

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._folder = tempfile.mkdtemp(prefix="recast-fleet-", dir=self._bounds.limits.scratch)
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115
            command = [sys.executable, "-P", "-m", "onnx_recast.fleet.worker", str(self._bounds.memory)]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=self._errors, start_new_session=True, env=_environment()
            )
        return self._process

    def _ask(self, process: subprocess.Popen[bytes], request: bytes) -> bytes:
        """Return the answer, a line; part of one if the process has ended, or :data:`_LATE`."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(request)
            process.stdin.flush()
        except BrokenPipeError:
            return b""
        answer, output = b"", process.stdout.fileno()
        end = time.monotonic() + self._bounds.timeout
        while not answer.endswith(b"\n"):
            if not select.select([output], [], [], max(0.0, end - time.monotonic()))[0]:
                return _LATE
            part = os.read(output, 1 << 16)
            if not part:
                return answer
            answer += part
        return answer

    def _explain(self, row: Row, code: int) -> None:
        """State why the process has ended."""
        assert self._errors is not None
        self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, self._errors.tell() - 4 * _SHOWN))
        said = self._errors.read().decode(errors="replace").strip()[-_SHOWN:]
        if code == _OUT_OF_MEMORY or "memory allocation of" in said:
            row.outcome, row.code = "out-of-memory", "out-of-memory"
            row.message = f"the worker has reached its memory limit of {self._bounds.memory} bytes"
            return
        row.outcome, row.code = "killed", "killed"
        reason = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        row.message = f"the worker has ended with {reason}" + (f": {said}" if said else "")

    def close(self) -> None:
        """End the process, and remove its temporary files."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()
        if self._errors is not None:
            self._errors.close()
            self._errors = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


def _environment() -> dict[str, str]:
    """Return the environment of a worker, which imports what this process imports, and nothing else from its folder."""
    given = os.environ.get("PYTHONPATH")
    here = [path or os.getcwd() for path in sys.path]  # noqa: PTH109
    paths = os.pathsep.join([given, *here] if given else here)
    # A thread for each core of the machine, times as many workers, would use the memory of the models for stacks.
    return {"TOKIO_WORKER_THREADS": str(PARALLEL), **os.environ, "PYTHONPATH": paths}


_LATE = b"late"


class _Pool:
    """The processes that wait for work of this process; each is used by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._name: object = None
        self._waiting: list[Child] = []

    @contextmanager
    def lent(self, job: Job, bounds: Bounds) -> Iterator[Child]:
        """Return a process for a job that no other thread uses."""
        # One worker of an engine does the same work again and again; processes for other work are not kept.
        name = (job.digest + json.dumps(job.to_dict()), bounds)
        with self._lock:
            others = [] if name == self._name else self._waiting
            if name != self._name:
                self._name, self._waiting = name, []
            child = self._waiting.pop() if self._waiting else Child(job, bounds)
        for other in others:
            other.close()
        try:
            yield child
        finally:
            with self._lock:
                is_kept = name == self._name
                if is_kept:
                    self._waiting.append(child)
            if not is_kept:
                child.close()


_pool = _Pool()


def _forget() -> None:
    """Begin anew in a process that was forked: those that wait are children of its parent, which may use them."""
    global _pool
    _inherited.append(_pool)  # Not freed: that would wait for processes of another one.
    _pool = _Pool()


_inherited: list[_Pool] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def isolated(job: Job, task: Task | str, bounds: Bounds | None = None) -> Row:
    """Process a model like :func:`onnx_recast.fleet.process`, in a process that this one keeps for the next model.

    It is what an engine calls that has workers of its own: Ray, Dask, Spark. A model that ends the process, or takes
    too long, becomes a row. Each thread that calls it at the same time has a process of its own.
    """
    with lent(job, bounds or Bounds()) as child:
        return child.run(Task(object_uri(task)) if isinstance(task, str) else task)


def lent(job: Job, bounds: Bounds) -> AbstractContextManager[Child]:
    """Return a process for a job, which no other thread uses until the context ends."""
    return _pool.lent(job, bounds)


def needs(task: Task) -> tuple[int, int]:
    """Return the number of cores and the memory that a model needs, estimated from its size."""
    size = task.size + task.beside
    cores = 1 if size < (256 << 20) else 2
    return cores, (512 << 20) + 4 * min(task.size, 1 << 30)
