"""Fleets beside plain loops and copies: ``python python/benches/fleet.py [loops] [bytes] [s3] [workers] [growth]``.

Run it with the wheel, onnx, moto and ray installed, on an idle machine. Each part is measured side by side in one run.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import obstore
import onnx
from onnx import helper, numpy_helper

import onnx_recast
from onnx_recast import fleet
from onnx_recast.fleet import manifest, storage

SMALL = 400
"""Models of the loops: this many nodes each, in S3."""
LARGE, LARGE_BYTES = 20, 200 << 20
"""Number of large models, and the length of their weights."""
GROWTH = (200, 2_000, 6_000, 20_000)
ROUNDS = 3


def chain(length: int, name: str) -> bytes:
    """Return a model of nodes in a row."""
    nodes = [helper.make_node("Softmax", [f"v{i}"], [f"v{i + 1}"], axis=1) for i in range(length)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, name, [value("v0", 1, [2, 3])], [value(f"v{length}", 1, [2, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(model.SerializeToString())


def write_models(folder: Path, count: int, length: int) -> None:
    """Write models that differ in the names of their graphs."""
    folder.mkdir()
    template = onnx.load_from_string(chain(length, "g"))
    for index in range(count):
        template.graph.name = f"g{index}"
        (folder / f"{index:05}.onnx").write_bytes(template.SerializeToString())


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(*columns: str) -> None:
    """Print the head of a table."""
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


@contextmanager
def s3() -> Iterator[Callable[[], str]]:
    """Start a server, and return a function that makes buckets."""
    script = Path(__file__).parents[1] / "tests_fleet" / "server.py"
    with subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}"
        keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}
        os.environ.update({"AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", **keys})
        names = (f"bucket{index}" for index in range(1000))

        def bucket() -> str:
            import urllib.request

            name = next(names)
            urllib.request.urlopen(urllib.request.Request(f"{address}/{name}", b"", method="PUT")).close()
            return f"s3://{name}/"

        yield bucket
        server.communicate()


def run(
    zoo: str, out: str | None, step: fleet.Step, engine: str, workers: int, scratch: str | None = None
) -> tuple[float, list[fleet.Row]]:
    """Return how long a run takes, and its rows."""
    job = fleet.Job(step, zoo, out)
    with tempfile.TemporaryDirectory() as records:
        took = seconds(lambda: fleet.run(job, records, engine=engine, workers=workers, scratch=scratch))  # type: ignore[arg-type]
        rows = list(manifest.rows_of(list(manifest.runs(records).values())[-1]))
    assert {row.outcome for row in rows} == {"ok"}
    return took, rows


def objects(folder: str) -> Iterator[str]:
    """Return the names of objects."""
    store, prefix = storage.locate(folder)
    pages: Any = obstore.list(store, prefix or None)
    return (one["path"] for page in pages for one in page)


def loop(zoo: str, out: str, convert: Callable[[bytes], bytes]) -> None:
    """Read, convert and write one model after the other."""
    store, target = storage.locate(zoo)[0], storage.locate(out)[0]
    for name in list(objects(zoo)):
        obstore.put(target, name, convert(bytes(obstore.get(store, name).bytes())))


def by_onnx(model: bytes) -> bytes:
    """Convert a model with the package onnx."""
    from onnx import version_converter

    converted = version_converter.convert_version(onnx.load_from_string(model), 17)
    return bytes(converted.SerializeToString())


def loops() -> None:
    """Print models a second of small and of larger models in S3."""
    table("models in S3", "fleet, 2 workers", "fleet, 1 worker", "loop over onnx_recast", "loop over onnx")
    with s3() as bucket, tempfile.TemporaryDirectory() as folder:
        for count, length in ((SMALL, 20), (SMALL // 4, 5_000)):
            write_models(Path(folder) / str(length), count, length)
            zoo = bucket()
            for path in (Path(folder) / str(length)).iterdir():
                storage.put_bytes(zoo + path.name, path.read_bytes())
            ways: list[Callable[[str], object]] = [
                lambda out, zoo=zoo: run(zoo, out, fleet.convert(17), "local", 2),
                lambda out, zoo=zoo: run(zoo, out, fleet.convert(17), "local", 1),
                lambda out, zoo=zoo: loop(zoo, out, lambda model: onnx_recast.convert_version(model, 17).model),
                lambda out, zoo=zoo: loop(zoo, out, by_onnx),
            ]
            times = [[seconds(lambda way=way: way(bucket())) for way in ways] for _ in range(ROUNDS)]  # type: ignore[misc]
            speeds = [count / statistics.median(of_way) for of_way in zip(*times, strict=True)]
            cells = " | ".join(f"{speed:.0f} models/s" for speed in speeds)
            print(f"| {count} of {length} nodes | {cells} |", flush=True)


def large_models(folder: Path) -> None:
    """Write models with weights in the model file."""
    folder.mkdir()
    values = np.random.default_rng(1).standard_normal(LARGE_BYTES // 4, np.float32)
    tensor = numpy_helper.from_array(values, "w")
    node = helper.make_node("Add", ["x", "w"], ["y"])
    value = helper.make_tensor_value_info
    ends = [value("x", 1, [len(values)])], [value("y", 1, [len(values)])]
    model = helper.make_model(
        helper.make_graph([node], "g", *ends, [tensor]), opset_imports=[helper.make_opsetid("", 13)]
    )
    for index in range(LARGE):
        model.graph.name = f"g{index}"
        (folder / f"{index:05}.onnx").write_bytes(model.SerializeToString())


def copies(zoo: Path, out: Path, folder: Path) -> None:
    """Copy each file to a temporary one, and that to the output."""
    for path in zoo.iterdir():
        shutil.copyfile(path, folder / "copy")
        shutil.copyfile(folder / "copy", out / path.name)


def bytes_() -> None:
    """Print GB a second of large models in a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large_models(folder / "zoo")
        zoo = f"file://{folder}/zoo/"
        moved = LARGE * LARGE_BYTES / 1e9
        rows: list[fleet.Row] = []

        def fleet_run(workers: int, scratch: str | None = None) -> None:
            rows.extend(run(zoo, f"file://{folder}/out/", fleet.convert(17), "local", workers, scratch)[1])

        table(f"{LARGE} models of 200 MiB", "GB/s")
        ways: dict[str, Callable[[], object]] = {
            "two copies of one file after the other": lambda: copies(folder / "zoo", folder / "out", folder),
            "fleet, 1 worker": lambda: fleet_run(1),
            "fleet, 2 workers": lambda: fleet_run(2),
            "fleet, 2 workers, temporary files in /dev/shm": lambda: fleet_run(2, "/dev/shm"),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for way in [*ways, *ways]:
            (folder / "out").mkdir()
            os.sync()
            times[way].append(seconds(lambda work=ways[way]: (work(), os.sync())))  # type: ignore[misc]
            shutil.rmtree(folder / "out")
        for way, took in times.items():
            print(f"| {way} | {moved / statistics.median(took):.2f} |", flush=True)
        print(f"\nmemory of a worker: {max(row.memory for row in rows) >> 20} MiB, mapped files included")
        reading, rows = run(zoo, None, fleet.inspect(), "local", 1)
        read = sum(row.read_bytes for row in rows)
        print(f"inspect: {read} of {LARGE * LARGE_BYTES} bytes are read, in {reading:.2f} s")


def transfers(zoo: str, out: str, folder: Path) -> None:
    """Download each object to a file, and upload the file, one after the other."""
    source, target = storage.locate(zoo)[0], storage.locate(out)[0]
    for name in list(objects(zoo)):
        with (folder / "copy").open("wb") as file:
            for part in obstore.get(source, name).stream(min_chunk_size=storage.PART):
                file.write(part)
        obstore.put(target, name, folder / "copy", chunk_size=storage.PART)


def s3_bytes() -> None:
    """Print GB a second of large models in S3."""
    with s3() as bucket, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large_models(folder / "zoo")
        zoo = bucket()
        for path in (folder / "zoo").iterdir():
            obstore.put(storage.locate(zoo)[0], path.name, path)
        shutil.rmtree(folder / "zoo")
        table(f"{LARGE} models of 200 MiB in S3", "GB/s")
        ways: dict[str, Callable[[str], object]] = {
            "download and upload, one after the other": lambda out: transfers(zoo, out, folder),
            "fleet, 1 worker": lambda out: run(zoo, out, fleet.convert(17), "local", 1),
            "fleet, 2 workers": lambda out: run(zoo, out, fleet.convert(17), "local", 2),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for way in [*ways, *ways]:
            out = bucket()
            times[way].append(seconds(lambda work=ways[way], out=out: work(out)))  # type: ignore[misc]
            obstore.delete(storage.locate(out)[0], list(objects(out)))
        for way, took in times.items():
            print(f"| {way} | {LARGE * LARGE_BYTES / 1e9 / statistics.median(took):.2f} |", flush=True)


ENGINE = """
import json, sys, time
from pathlib import Path
from onnx_recast import fleet
zoo, out, table, engine, workers = sys.argv[1:]
if engine == "ray":
    import ray
    from ray.cluster_utils import Cluster
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(int(workers)):
        cluster.add_node(num_cpus=1, memory=4 << 30)
    ray.init(address=cluster.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    # Processes of Ray start with the first work.
    warm = Path(table + "-warm")
    warm.mkdir()
    for name in list(Path(zoo).iterdir())[:64]:
        (warm / name.name).write_bytes(name.read_bytes())
    fleet.run(fleet.Job(fleet.inspect(), str(warm)), table + "-warm-manifest", engine=engine, workers=int(workers))
start = time.perf_counter()
fleet.run(fleet.Job(fleet.convert(17), zoo, out), table, engine=engine, workers=int(workers))
took = time.perf_counter() - start
status = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps([took, peak]), flush=True)
if engine == "ray":
    # In this order; at the end of the process, the machines would end before the driver, which is an error.
    ray.shutdown()
    cluster.shutdown()
"""


def measured(folder: Path, zoo: Path, engine: str, workers: int) -> tuple[float, float, list[fleet.Row]]:
    """Return the time of a run in a new process, its peak memory in MiB, and its rows."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        arguments = [str(zoo), f"{name}/out", f"{name}/table", engine, str(workers)]
        command = [sys.executable, "-c", ENGINE, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr[-2000:])
        took, peak = json.loads(done.stdout.splitlines()[-1])
        rows = list(manifest.rows_of(list(manifest.runs(f"{name}/table").values())[-1]))
        assert {row.outcome for row in rows} == {"ok"}
        return took, peak / 1024, rows


def workers() -> None:
    """Print the time of one worker and of two, for models whose conversion takes longer than their transfer."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_models(folder / "zoo", 200, 20_000)
        table("200 models of 20,000 nodes", "1 worker", "2 workers", "ratio", "memory of a worker")
        for engine in ("local", "ray"):
            one, two = (measured(folder, folder / "zoo", engine, count) for count in (1, 2))
            memory = max(row.memory for row in two[2]) >> 20
            print(f"| {engine} | {one[0]:.1f} s | {two[0]:.1f} s | {one[0] / two[0]:.2f} | {memory} MiB |", flush=True)


def growth() -> None:
    """Print the time and the memory of the driver for more and more models, and the part that grows with them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for count in GROWTH:
            write_models(folder / str(count), count, 5)
        for engine in ("local", "ray"):
            runs = [[grown(folder, engine, count) for count in GROWTH] for _ in range(ROUNDS)]
            print_growth(engine, np.median(np.array(runs), axis=0))


def grown(folder: Path, engine: str, count: int) -> tuple[float, float, float]:
    """Return the time of a run, the part of it in which two workers had a model, and the memory of the driver."""
    took, peak, rows = measured(folder, folder / str(count), engine, 2)
    return took, sum(row.seconds for row in rows) / 2, peak


def print_growth(engine: str, results: npt.NDArray[np.float64]) -> None:
    """Print times, their fit to a start and a time per model, and the time per model between two counts."""
    counts, times = np.array(GROWTH), results[:, 0]
    # Relative errors are equally likely.
    columns = np.stack([np.ones(len(counts)), counts], axis=1) / times[:, None]
    start, each = np.linalg.lstsq(columns, np.ones(len(counts)), rcond=None)[0]
    print(f"\n{engine}: {start:.2f} s + {1000 * each:.2f} ms per model")
    table("models", "time", "difference to the fit", "ms per model beyond the row above", "of these, engine", "driver")
    beyond = np.diff(results[:, :2], axis=0, prepend=0) / np.diff(counts, prepend=0)[:, None] * 1000
    for count, (took, _, peak), (whole, inside) in zip(GROWTH, results, beyond, strict=True):
        each_beyond = "| " if count == GROWTH[0] else f"{whole:.2f} | {whole - inside:.2f}"
        print(
            f"| {count:,} | {took:.2f} s | {100 * (took / (start + each * count) - 1):+.0f} % | {each_beyond} ", end=""
        )
        print(f"| {peak:.0f} MiB |", flush=True)


def main() -> None:
    """Measure the parts that are named, or all."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start")
    parts = {"loops": loops, "bytes": bytes_, "s3": s3_bytes, "workers": workers, "growth": growth}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
