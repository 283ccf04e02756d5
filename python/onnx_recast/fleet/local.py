"""Processes on this machine."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import SimpleQueue

from onnx_recast.fleet.child import Bounds, Child
from onnx_recast.fleet.job import Job
from onnx_recast.fleet.rows import Row, Task


def run(job: Job, tasks: Iterable[Task], workers: int, bounds: Bounds) -> Generator[Row]:
    """Process models in as many processes, and return rows as they come. Tasks are taken as they are needed.

    Rows that come together are in the order of their tasks: a caller that stops at one has those of all tasks before it
    that are done.
    """
    children: SimpleQueue[Child] = SimpleQueue()
    started = [Child(job, bounds) for _ in range(workers)]
    for child in started:
        children.put(child)

    def work(task: Task) -> Row:
        child = children.get()
        try:
            return child.run(task)
        finally:
            children.put(child)

    tasks = iter(tasks)
    try:
        with ThreadPoolExecutor(workers) as threads:
            # One more for each worker, so that it does not wait for this thread.
            running: list[Future[Row]] = [threads.submit(work, task) for task in itertools.islice(tasks, 2 * workers)]
            try:
                while running:
                    done = wait(running, return_when=FIRST_COMPLETED).done
                    in_order = [one for one in running if one in done]
                    running = [one for one in running if one not in done]
                    for one in in_order:
                        yield one.result()
                        running.extend(threads.submit(work, task) for task in itertools.islice(tasks, 1))
            finally:
                for one in running:
                    one.cancel()
                if running:
                    for child in started:
                        child.close()
    finally:
        for child in started:
            child.close()
