"""Ray Data: a table of paths, mapped to rows by tasks that declare what they need. Paths travel, models do not."""

from __future__ import annotations

import itertools
import json
from collections.abc import Generator, Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

from onnx_recast.fleet.child import Bounds, lent, needs
from onnx_recast.fleet.job import Job
from onnx_recast.fleet.rows import Row, Task

PIPELINE = 20_000
"""Tasks of one pipeline: memory of the driver does not grow beyond those."""
BLOCK, BLOCK_BYTES = 256, 64 << 20
"""Tasks that one call of Ray processes at most, and the length of their models. Between two calls, a worker waits for
the driver, which takes as long as many small models."""
BLOCKS = 8
"""Calls for each worker, if there are so many tasks: the last ones end at about the same time."""


def run(job: Job, tasks: Iterable[Task], workers: int | None, bounds: Bounds) -> Generator[Row]:
    """Process models on the cluster that is connected, or on this machine if none is.

    Ray repeats the task of a worker that has died. What was finished in it is then found by its key.
    """
    import ray  # pyright: ignore[reportMissingImports]

    if not ray.is_initialized():
        ray.init(log_to_driver=False, include_dashboard=False)
    nodes: Any = ray.nodes  # It has no annotations.
    cores = [int(node["Resources"].get("CPU", 0)) for node in nodes() if node["Alive"]]
    tasks = iter(tasks)
    while batch := list(itertools.islice(tasks, PIPELINE)):
        most = min(BLOCK, -(-len(batch) // (BLOCKS * (workers or max(1, sum(cores))))))
        yield from _pipeline(job, batch, workers, bounds, max(1, *cores), most)


def _pipeline(job: Job, tasks: list[Task], workers: int | None, bounds: Bounds, cores: int, most: int) -> Iterator[Row]:
    """Process models of equal needs by one operator each, all at a time, and at most so many by one call."""
    groups: dict[tuple[int, int], list[Task]] = {}
    for task in tasks:
        needed, memory = needs(task)
        # Powers of two: as many operators as sizes would have nothing to share.
        group = min(needed, cores), bounds.memory or 1 << (memory - 1).bit_length()
        groups.setdefault(group, []).append(task)
    branches = [
        _branch(job, some, workers, replace(bounds, memory=memory), needed, most if needed == 1 else 1)
        for (needed, memory), some in sorted(groups.items(), reverse=True)
    ]
    rows = branches[0].union(*branches[1:]) if branches[1:] else branches[0]
    for batch in rows.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
        yield from map(Row.from_json, batch.column("row").to_pylist())


def _branch(job: Job, tasks: list[Task], workers: int | None, bounds: Bounds, cores: int, most: int) -> Any:
    """Return a dataset of rows."""
    import pyarrow as pa
    import ray  # pyright: ignore[reportMissingImports]

    limits = replace(bounds.limits, threads=cores)
    work = _Map(json.dumps(job.to_dict()), replace(bounds, limits=limits))
    given = [pa.table({"task": [json.dumps(asdict(task)) for task in block]}) for block in blocks(tasks, most)]
    options: dict[str, Any] = {"num_cpus": cores, "memory": bounds.memory}
    if workers is not None:
        options["compute"] = ray.data.TaskPoolStrategy(size=workers)
    return ray.data.from_arrow(given).map_batches(work.batch, batch_size=None, batch_format="pyarrow", **options)


def blocks(tasks: Iterable[Task], most: int) -> Iterator[list[Task]]:
    """Divide tasks into blocks of at most so many, whose models are not long; of unknown length, there are few."""
    block: list[Task] = []
    length = 0
    for task in tasks:
        size = task.size + task.beside or BLOCK_BYTES // 32
        if block and (len(block) == most or length + size > BLOCK_BYTES):
            yield block
            block, length = [], 0
        block.append(task)
        length += size
    if block:
        yield block


class _Map:
    """What each call of Ray does."""

    def __init__(self, job: str, bounds: Bounds) -> None:
        self._job, self._bounds = job, bounds

    def batch(self, tasks: Any) -> Any:
        import pyarrow as pa

        job = Job.from_dict(json.loads(self._job))
        given = [Task(**json.loads(task)) for task in tasks.column("task").to_pylist()]
        with lent(job, self._bounds) as child:
            return pa.table({"row": [child.run(task).to_json() for task in given]})
