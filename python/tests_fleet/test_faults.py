"""After any fault: each model has one row, each output exists once, and none is partial."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import Server, chain, models, objects, rows, save_with_data, start, upload, wait_for

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


def test_a_driver_is_killed_and_the_run_resumed(server: Server, engine: str) -> None:
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT, 400)
    server.faults()
    command = convert(zoo, out, table, engine, "--workers", "2")
    with start(*command) as driver:
        wait_for(lambda: len(server.stored()) >= COUNT // 2)
        driver.kill()
        driver.communicate()
    wait_for(lambda: not any(is_worker(one, driver.pid) for one in psutil.process_iter()))
    done = server.stored()
    assert COUNT // 2 <= len(done) < COUNT
    server.faults()
    with start(*command) as driver:
        printed = driver.communicate()
    assert driver.returncode == 0, printed
    found = rows(table)
    assert len(found) == COUNT
    assert {row.outcome for row in found.values()} == {"ok"}
    # What was stored is neither read nor stored again.
    log = server.log()
    read = {one["path"] for one in log if one["method"] == "GET" and one["path"].endswith(".onnx")}
    assert len(read) == COUNT - len(done)
    assert set((done + server.stored()).values()) == {1}
    assert sum(row.skipped for row in found.values()) == len(done)
    assert objects(out) == converted(zoo)


def is_worker(process: psutil.Process, driver: int) -> bool:
    """Whether a process works for a driver that has ended; those of Ray belong to the cluster."""
    try:
        return process.ppid() in (1, driver) and "onnx_recast.fleet.worker" in process.cmdline()
    except psutil.Error:
        return False


@pytest.mark.parametrize("victim", ["onnx_recast.fleet.worker", "ray::"])
def test_a_worker_is_killed(server: Server, engine: str, victim: str) -> None:
    """A process for models, or one of Ray's."""
    if (engine, victim) == ("local", "ray::"):
        return
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    models(zoo, COUNT, 400)
    server.faults()
    with start(*convert(zoo, out, table, engine, "--workers", "2")) as driver:
        wait_for(lambda: len(server.stored()) >= COUNT // 4)
        victims = [one for one in psutil.process_iter() if is_victim(one, victim)]
        assert victims
        victims[0].kill()
        printed = driver.communicate()
    assert driver.returncode == 0, printed
    found = rows(table)
    assert len(found) == COUNT
    assert {row.outcome for row in found.values()} == {"ok"}
    assert set(server.stored().values()) == {1}
    assert objects(out) == converted(zoo)


def is_victim(process: psutil.Process, name: str) -> bool:
    try:
        command = " ".join(process.cmdline())
    except psutil.Error:
        return False
    return "MapBatches" in command if name == "ray::" else name in command


def test_a_model_needs_too_much_memory(server: Server, engine: str) -> None:
    zoo, out, table = server.bucket(), server.bucket(), server.bucket()
    names = models(zoo, 20)
    upload(zoo, {"many.onnx": chain(400_000)})
    job = fleet.Job(fleet.convert(17), zoo, out)
    totals = fleet.run(job, table, engine=engine, memory=192 << 20)  # type: ignore[arg-type]
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
    server.faults()
    command = convert(zoo, out, table, engine)
    if engine == "ray":
        command += ["--workers", "1"]
    with start(*command) as one, start(*command) as other:
        printed = one.communicate(), other.communicate()
    assert (one.returncode, other.returncode) == (0, 0), printed
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


def test_two_jobs_write_the_same_outputs_at_once(server: Server, tmp_path: Path) -> None:
    """Each model is that of one of the jobs, with the data of the same job."""
    zoo, out = server.bucket(), server.bucket()
    for index in range(10):
        upload(f"{zoo}{index}/", save_with_data(tmp_path, 1 << 12, float(index)))
    commands = [["fold"], ["convert", "--opset", "22"]]
    tables = [server.bucket(), server.bucket()]
    running = [
        start(command[0], zoo, "--to", out, "--manifest", table, *command[1:])
        for command, table in zip(commands, tables, strict=True)
    ]
    printed = [process.communicate() for process in running]
    assert all(process.returncode in (0, 2) for process in running), printed
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
    models(zoo, COUNT, 400)
    server.faults()
    with start(*convert(zoo, out, table, "local")) as driver:
        wait_for(lambda: server.stored())
        driver.send_signal(signal.SIGINT)
        driver.communicate()
    assert driver.returncode == 130
    assert not any(is_worker(one, driver.pid) for one in psutil.process_iter())
