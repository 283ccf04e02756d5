"""A worker process of :mod:`onnx_recast.fleet.child`: takes a model from standard input, and answers with its row."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from onnx_recast.fleet.job import Job
from onnx_recast.fleet.processing import Limits, process
from onnx_recast.fleet.rows import Task


def main() -> None:
    """Answer until standard input ends: that is also so if the parent is killed."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    # What else is printed, must not become an answer.
    os.dup2(2, 1)
    limit_memory(int(sys.argv[1]))
    jobs: dict[str, Job] = {}
    scratch: str | None = None
    for line in sys.stdin:
        request = json.loads(line)
        text = request["job"]
        if text not in jobs:
            jobs[text] = Job.from_dict(json.loads(text))
        limits = Limits(**request["limits"])
        scratch = limits.scratch
        try:
            row = process(jobs[text], Task(**request["task"]), limits)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        try:
            answers.write(row.to_json() + "\n")
            answers.flush()
        except BrokenPipeError:
            break
        if row.outcome == "out-of-memory":
            os._exit(OUT_OF_MEMORY)
    # The parent has ended, and removes nothing any more.
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
    # What could not be written would be written again at the end.
    os._exit(0)


OUT_OF_MEMORY = 2
"""Exit code after the memory limit was reached; the allocator of the native module ends the process with the same."""


def limit_memory(size: int) -> None:
    """Limit the memory that the process can allocate; files that are mapped do not count."""
    if size and Path("/proc/self/status").exists():
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (size, size))


if __name__ == "__main__":
    main()
