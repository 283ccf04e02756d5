"""A storage server, a cluster of Ray, and models."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import obstore
import onnx
import pytest
from onnx import helper
from storage_server import Server

from onnx_recast import fleet
from onnx_recast.fleet import manifest, storage

# A shell ignores the signal for programs that it starts in the background, and so do the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Ray would kill its workers if other programs of the machine needed its memory.
os.environ.update(RAY_memory_monitor_refresh_ms="0")


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


def many_nodes(count: int) -> bytes:
    """Return a model of equal nodes, made quickly: in memory, a node takes more than twenty times its 13 bytes."""

    def message(field: int, content: bytes) -> bytes:
        return bytes([field << 3 | 2]) + varint(len(content)) + content

    def varint(number: int) -> bytes:
        return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + varint(number >> 7)

    rest = helper.make_model(helper.make_graph([], "g", [], []), opset_imports=[helper.make_opsetid("", 13)])
    rest.ClearField("graph")
    node = helper.make_node("Relu", ["x"], [""]).SerializeToString()
    return bytes(rest.SerializeToString()) + message(7, count * message(1, node))


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
