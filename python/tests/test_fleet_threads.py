"""Rows of fleet.isolated are those of their models: from threads, after interruptions and after forks."""

from __future__ import annotations

import json
import os
import select
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import onnx
import pytest
from conftest import chain

import onnx_recast
from onnx_recast import fleet


def of_length(length: int) -> bytes:
    return bytes(chain(length).SerializeToString())


def test_rows_are_those_of_the_models_also_from_threads(tmp_path: Path) -> None:
    """Each model differs in its number of nodes; a row of another model would have another number."""
    models = {}
    for length in range(1, 49):
        path = tmp_path / "zoo" / f"{length}.onnx"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(of_length(length))
        models[str(path)] = length
    jobs = [
        fleet.Job(fleet.inspect(), str(tmp_path / "zoo")),
        fleet.Job(fleet.convert(17), str(tmp_path / "zoo"), str(tmp_path / "out")),
    ]
    start = threading.Barrier(8)

    def work(thread: int) -> None:
        start.wait()
        for path in list(models)[thread::8]:
            for job in jobs:
                row = fleet.isolated(job, path)
                assert (row.uri, row.outcome) == (f"file://{path}", "ok")
                assert row.size == len(of_length(models[path]))
                if job.to is None:
                    assert json.loads(str(row.inspection))["inspection"]["nodes"] == models[path]
                else:
                    output = onnx.load(str(row.output).removeprefix("file://"))
                    assert len(output.graph.node) == models[path]
                    assert row.output_size == len(onnx_recast.convert_version(path, 17).model)

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(work, thread) for thread in range(8)]:
            done.result()


def test_an_answer_that_was_not_taken_is_not_that_of_the_next_model(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after Ctrl-C in a notebook."""
    job = fleet.Job(fleet.inspect(), str(zoo))
    (zoo / "long.onnx").write_bytes(of_length(20))
    assert fleet.isolated(job, str(zoo / "0.onnx")).outcome == "ok"
    original = select.select

    def interrupted(*given: Any) -> Any:
        original(*given)  # The answer is there.
        raise KeyboardInterrupt

    monkeypatch.setattr(select, "select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fleet.isolated(job, str(zoo / "long.onnx"))
    monkeypatch.undo()
    row = fleet.isolated(job, str(zoo / "0.onnx"))
    assert (row.uri, row.size) == (f"file://{zoo}/0.onnx", len(of_length(3)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_has_workers_of_its_own(zoo: Path, tmp_path: Path) -> None:
    """It neither uses those of its parent nor removes their temporary files."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    job, bounds = fleet.Job(fleet.inspect(), str(zoo)), fleet.Bounds(limits=fleet.Limits(str(scratch)))
    first = str(fleet.isolated(job, str(zoo / "0.onnx"), bounds).worker)
    before = set(scratch.iterdir())
    assert before
    forked = os.fork()
    if forked == 0:
        row = fleet.isolated(job, str(zoo / "1.onnx"), bounds)
        os._exit(0 if row.outcome == "ok" and row.worker != first else 1)
    assert os.waitpid(forked, 0)[1] == 0
    assert before <= set(scratch.iterdir())
    assert fleet.isolated(job, str(zoo / "2.onnx"), bounds).worker == first
