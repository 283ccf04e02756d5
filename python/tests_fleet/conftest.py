"""A storage server, a cluster of Ray, and models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import obstore
import onnx
import pytest
from onnx import helper

from onnx_recast import fleet
from onnx_recast.fleet import manifest, storage

SERVER = Path(__file__).with_name("server.py")


class Server:
    """The storage, and what was requested of it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }
        self._buckets = 0

    def bucket(self) -> str:
        """Make a bucket, and return its URI."""
        self._buckets += 1
        self._put(f"/bucket{self._buckets}", b"")
        return f"s3://bucket{self._buckets}/"

    def faults(self, **faults: Any) -> None:
        """Set the faults, and empty the log."""
        self._put("/-", json.dumps(faults).encode())

    def log(self) -> list[dict[str, Any]]:
        """Return the requests since faults were set."""
        with urllib.request.urlopen(self.address + "/-") as answer:
            return json.load(answer)  # type: ignore[no-any-return]

    def stored(self, suffix: str = ".onnx") -> Counter[str]:
        """Return how often each object was stored."""
        done = (one for one in self.log() if one["method"] == "PUT" and one["status"] == 200)
        return Counter(one["path"] for one in done if one["path"].endswith(suffix))

    def _put(self, path: str, content: bytes) -> None:
        urllib.request.urlopen(urllib.request.Request(self.address + path, content, method="PUT")).close()

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="session")
def storage_server() -> Iterator[Server]:
    """Start the storage; processes that are started inherit its address."""
    server = Server()
    os.environ.update(server.environment)
    yield server
    server.close()


@pytest.fixture
def server(storage_server: Server) -> Iterator[Server]:
    storage_server.faults()
    yield storage_server
    storage_server.faults()


@pytest.fixture(scope="session")
def cluster(storage_server: Server) -> Iterator[Any]:
    """Start a cluster of a driver and two machines of one core each."""
    import ray
    from ray.cluster_utils import Cluster

    assert storage_server.environment["AWS_ENDPOINT_URL"] == os.environ["AWS_ENDPOINT_URL"]
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=1, memory=8 << 30)
    ray.init(address=cluster.address, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(params=["local", "ray"])
def engine(request: pytest.FixtureRequest) -> str:
    """Name both engines; the cluster exists for the one that needs it."""
    if request.param == "ray":
        request.getfixturevalue("cluster")
    return str(request.param)


def chain(length: int, name: str = "g") -> bytes:
    """Return a model of nodes in a row, which opsets 13 to 17 have."""
    nodes = [helper.make_node("Softmax", [f"v{i}"], [f"v{i + 1}"], axis=1) for i in range(length)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, name, [value("v0", 1, [2, 3])], [value(f"v{length}", 1, [2, 3])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return bytes(model.SerializeToString())


def upload(folder: str, objects: dict[str, bytes]) -> None:
    """Store objects."""
    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(storage.put_bytes, folder + name, content) for name, content in objects.items()]:
            done.result()


def models(folder: str, count: int, length: int = 20) -> list[str]:
    """Store models that differ, and return their names."""
    objects = {f"{index % 7}/{index:05}.onnx": chain(length, f"g{index}") for index in range(count)}
    upload(folder, objects)
    return sorted(objects)


def objects(folder: str) -> dict[str, bytes]:
    """Return all objects of a folder."""
    store, prefix = storage.locate(folder)
    pages: Any = obstore.list(store, prefix or None)
    names = [one["path"] for page in pages for one in page]
    return {name.removeprefix(prefix).lstrip("/"): bytes(obstore.get(store, name).bytes()) for name in names}


def rows(folder: str, run: int = -1) -> dict[str, fleet.Row]:
    """Return the rows of a run, by URI; each model has one."""
    found = list(manifest.rows_of(list(manifest.runs(folder).values())[run]))
    by_uri = {row.uri: row for row in found}
    assert len(by_uri) == len(found)
    return by_uri


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start the command."""
    command = [sys.executable, "-m", "onnx_recast.fleet", *arguments, "--quiet"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def save_with_data(folder: Path, elements: int, value: float = 1.0) -> dict[str, bytes]:
    """Return a model that casts weights in a data file, and the data file."""
    import numpy as np
    from onnx import TensorProto, numpy_helper

    tensor = numpy_helper.from_array(np.full(elements, value, np.float32), "w")
    node = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT16)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT16, [elements])
    graph = helper.make_graph([node], "g", [], [output], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    return {name: (folder / name).read_bytes() for name in ("m.onnx", "m.data")}
