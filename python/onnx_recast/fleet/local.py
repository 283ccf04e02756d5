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
    """Process models in as many processes, and return rows as they come. Tasks are taken as they are needed."""
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
            running: set[Future[Row]] = {threads.submit(work, task) for task in itertools.islice(tasks, 2 * workers)}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for one in done:
                        yield one.result()
                        running.update(threads.submit(work, task) for task in itertools.islice(tasks, 1))
            finally:
                for one in running:
                    one.cancel()
                if running:
                    for child in started:
                        child.close()
    finally:
        for child in started:
            child.close()
