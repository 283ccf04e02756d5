"""After any fault: each model has one row, each output exists once, and none is partial."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import many_nodes, models, objects, rows, save_with_data, upload
from drivers import Driver, is_alive, wait_for
from storage_server import Server

import onnx_recast
from onnx_recast import fleet

COUNT = 120


def converted(folder: str) -> dict[str, bytes]:
    """Return what the outputs of all models of a folder have to be."""
    return {name: onnx_recast.convert_version(model, 17).model for name, model in objects(folder).items()}


def convert(zoo: str, out: str, table: str, engine: str, *options: str) -> list[str]:
    return ["convert", zoo, "--to", out, "--opset", "17", "--manifest", table, "--engine", engine, *options]


def address(engine: str, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands use the cluster."""
    if engine == "ray":
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)


@pytest.fixture(autouse=True)
def commands_use_the_cluster(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "engine" in request.fixturenames and request.getfixturevalue("engine") == "ray":
        address("ray", request.getfixturevalue("cluster"), monkeypatch)


def test_a_driver_is_killed_and_the_run_resumed(server: Server, engine: str, tmp_path: Path) -> None:
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT)
    half = COUNT // 2
    server.faults(hold=half)
    command = convert(zoo, out, table, engine, "--workers", "2", "--scratch", str(tmp_path))
    with Driver(*command) as driver:
        wait_for(lambda: len(server.held()) == 2)
        workers = [one.process for one in server.held()]
        parents = [process.parent() for process in workers]
        driver.kill()
        # Those of Ray end a moment later; until then they would begin with other models.
        wait_for(lambda: not any(is_alive(one) for one in parents if one is not None))
    server.release()
    wait_for(lambda: not any(map(is_alive, workers)))
    done = server.stored()
    # The models in flight may have been stored.
    assert half <= len(done) <= half + 2
    # Ray kills the workers, which then remove nothing.
    assert engine == "ray" or list(tmp_path.iterdir()) == []
    server.faults()
    with Driver(*command) as driver:
        assert driver.wait() == 0
    found = rows(table)
    assert len(found) == COUNT
    assert {row.outcome for row in found.values()} == {"ok"}
    # No model whose output was stored is read or stored again. A worker may have ended before the storage stores the
    # output that it sent.
    log = server.log()
    read = {one["path"] for one in log if one["method"] == "GET" and one["path"].endswith(".onnx")}
    skipped = sum(row.skipped for row in found.values())
    assert len(done) <= skipped <= half + 2
    assert len(read) == COUNT - skipped
    assert set((done + server.stored()).values()) == {1}
    assert objects(out) == converted(zoo)


@pytest.mark.parametrize(
    ("engine", "victim"), [("local", "model"), ("ray", "model"), ("ray", "ray")], indirect=["engine"]
)
def test_a_worker_is_killed(server: Server, engine: str, victim: str) -> None:
    """The process that has a model, or that of Ray which has started it."""
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT)
    server.faults(hold=COUNT // 4)
    with Driver(*convert(zoo, out, table, engine, "--workers", "2")) as driver:
        wait_for(server.held)
        process = server.held()[0].process
        killed = process.parent() if victim == "ray" else process
        assert killed is not None
        killed.kill()
        wait_for(lambda: not is_alive(killed))
        server.release()
        assert driver.wait() == 0
    found = rows(table)
    assert len(found) == COUNT
    assert {row.outcome for row in found.values()} == {"ok"}
    # The process that has the model does not know that Ray's has ended, and stores it; no other stores it again.
    assert set(server.stored().values()) == {1}
    assert objects(out) == converted(zoo)


def test_a_model_needs_too_much_memory(server: Server, engine: str) -> None:
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    names = models(zoo, 20)
    upload(zoo, {"many.onnx": many_nodes(6 << 20)})
    job = fleet.Job(fleet.convert(17), zoo, out)
    totals = fleet.run(job, table, engine=engine, memory=1 << 30)  # type: ignore[arg-type]
    assert totals.to_dict()["outcomes"] == {"ok": 20, "out-of-memory": 1}
    found = rows(table)
    assert (found[zoo + "many.onnx"].outcome, found[zoo + "many.onnx"].attempts) == ("out-of-memory", 2)
    assert sorted(objects(out)) == names


def test_the_storage_is_busy_and_cuts_transfers(server: Server, engine: str, tmp_path: Path) -> None:
    """5 % of the requests are answered with 503, and 5 % of the transfers end in the middle."""
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT)
    expected = converted(zoo)
    # Several parts of a multipart upload and download.
    data = save_with_data(tmp_path, 12 << 20)
    upload(zoo + "large/", data)
    server.faults(busy=0.05, cut=0.05, seed=17)
    job = fleet.Job([fleet.convert(17)], zoo, out)
    totals = fleet.run(job, table, engine=engine, workers=2)  # type: ignore[arg-type]
    log = server.log()
    server.faults()
    assert {one["status"] for one in log} > {503, -1, 200}
    assert totals.to_dict()["outcomes"] == {"ok": COUNT + 1}
    found = objects(out)
    (name,) = (name for name in found if name.endswith(".data"))
    result = onnx_recast.convert_version(tmp_path / "m.onnx", 17, tmp_path / "out.onnx", external_data=Path(name).name)
    assert result.saved is not None
    assert found.pop(name) == (tmp_path / Path(name).name).read_bytes()
    assert found.pop("large/m.onnx") == (tmp_path / "out.onnx").read_bytes()
    assert found == expected


def test_a_job_is_started_twice_at_once(server: Server, engine: str, tmp_path: Path) -> None:
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT)
    expected = converted(zoo)
    upload(zoo, save_with_data(tmp_path, 1 << 16))
    server.faults(hold=COUNT // 4)
    command = convert(zoo, out, table, engine, "--workers", "1")
    with Driver(*command) as one, Driver(*command) as other:
        wait_for(lambda: is_contended(server))
        server.release()
        assert (one.wait(), other.wait()) == (0, 0)
    for run in (0, 1):
        found = rows(table, run)
        assert len(found) == COUNT + 1
        assert {row.outcome for row in found.values()} == {"ok"}
    results = [{uri: row.result() for uri, row in rows(table, run).items()} for run in (0, 1)]
    assert results[0] == results[1]
    assert set(server.stored().values()) == {1}
    outputs = objects(out)
    assert len([name for name in outputs if name.endswith(".data")]) == 1
    assert {name: model for name, model in outputs.items() if name in expected} == expected


def is_contended(server: Server) -> bool:
    """Whether two processes are about to store the same model."""
    return 2 in Counter(one.path for one in server.held()).values()


def test_two_jobs_write_the_same_outputs_at_once(server: Server, tmp_path: Path) -> None:
    """Each model is that of one of the jobs, with the data of the same job."""
    zoo, out = server.bucket(), server.bucket()
    for index in range(10):
        upload(f"{zoo}{index}/", save_with_data(tmp_path, 1 << 12, float(index)))
    server.faults(hold=0)
    common = [zoo, "--to", out, "--workers", "2", "--manifest"]
    with (
        Driver("fold", *common, server.bucket()) as one,
        Driver("convert", *common, server.bucket(), "--opset", "22") as other,
    ):
        wait_for(lambda: is_contended(server))
        server.release()
        assert (one.wait(), other.wait()) == (0, 0)
    found = objects(out)
    for index in range(10):
        folder = tmp_path / str(index)
        folder.mkdir()
        for name, content in found.items():
            if name.startswith(f"{index}/"):
                (folder / name.partition("/")[2]).write_bytes(content)
        save_with_data(tmp_path, 1 << 12, float(index))
        folded = onnx_recast.fold(tmp_path / "m.onnx").model
        newer = onnx_recast.convert_version(tmp_path / "m.onnx", 22).model
        differences = [onnx_recast.diff(folder / "m.onnx", one, right_base_dir=tmp_path) for one in (folded, newer)]
        assert any({one.kind for one in of_job} <= {"stored"} for of_job in differences), differences


def test_a_signal_ends_a_run(server: Server) -> None:
    """Ctrl-C leaves no process behind."""
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT)
    server.faults(hold=1)
    with Driver(*convert(zoo, out, table, "local", "--workers", "2")) as driver:
        wait_for(lambda: len(server.held()) == 2)
        workers = [one.process for one in server.held()]
        driver.process.send_signal(signal.SIGINT)
        assert driver.wait() == 130
        assert not any(map(is_alive, workers))
    server.release()
    assert len(server.stored()) == 1
