"""Ray Data: a table of paths, mapped to rows by tasks that declare what they need. Paths travel, models do not."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from onnx_recast.fleet.child import Bounds, isolated, needs
from onnx_recast.fleet.job import Job
from onnx_recast.fleet.rows import Row, Task

PIPELINE = 20_000
"""Tasks of one pipeline: memory of the driver does not grow beyond those."""
BLOCK = 32
"""Tasks that one call of Ray processes, if they need one core: calls take longer than small models."""


def run(job: Job, tasks: Iterable[Task], workers: int | None, bounds: Bounds) -> Iterator[Row]:
    """Process models on the cluster that is connected, or on this machine if none is.

    Ray repeats the task of a worker that has died. What was finished in it is then found by its key.
    """
    import ray  # pyright: ignore[reportMissingImports]

    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    nodes: Any = ray.nodes  # It has no annotations.
    largest = max(int(node["Resources"].get("CPU", 0)) for node in nodes() if node["Alive"])
    tasks = iter(tasks)
    while batch := list(itertools.islice(tasks, PIPELINE)):
        yield from _pipeline(job, batch, workers, bounds, max(1, largest))


def _pipeline(job: Job, tasks: list[Task], workers: int | None, bounds: Bounds, cores: int) -> Iterator[Row]:
    """Process models of equal needs by one operator each, all at a time."""
    groups: dict[tuple[int, int], list[Task]] = {}
    for task in tasks:
        needed, memory = needs(task)
        # Powers of two: as many operators as sizes would have nothing to share.
        group = min(needed, cores), bounds.memory or 1 << (memory - 1).bit_length()
        groups.setdefault(group, []).append(task)
    branches = [
        _branch(job, some, workers, replace(bounds, memory=memory), needed)
        for (needed, memory), some in sorted(groups.items(), reverse=True)
    ]
    rows = branches[0].union(*branches[1:]) if branches[1:] else branches[0]
    for batch in rows.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
        yield from map(Row.from_json, batch.column("row").to_pylist())


def _branch(job: Job, tasks: list[Task], workers: int | None, bounds: Bounds, cores: int) -> Any:
    """Return a dataset of rows."""
    import pyarrow as pa
    import ray  # pyright: ignore[reportMissingImports]

    limits = replace(bounds.limits, threads=cores)
    work = _Map(json.dumps(job.to_dict()), replace(bounds, limits=limits))
    size = BLOCK if cores == 1 else 1
    table = pa.table({"task": [json.dumps(asdict(task)) for task in tasks]})
    blocks = [table.slice(start, size) for start in range(0, len(tasks), size)]
    options: dict[str, Any] = {"num_cpus": cores, "memory": bounds.memory}
    if workers is not None:
        options["compute"] = ray.data.TaskPoolStrategy(size=workers)
    return ray.data.from_arrow(blocks).map_batches(work.batch, batch_size=None, batch_format="pyarrow", **options)


class _Map:
    """What each call of Ray does."""

    def __init__(self, job: str, bounds: Bounds) -> None:
        self._job, self._bounds = job, bounds

    def batch(self, tasks: Any) -> Any:
        import pyarrow as pa

        job = Job.from_dict(json.loads(self._job))
        given = [Task(**json.loads(task)) for task in tasks.column("task").to_pylist()]
        return pa.table({"row": [isolated(job, task, self._bounds).to_json() for task in given]})
