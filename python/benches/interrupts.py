"""How long Ctrl-C takes to end each kind of work: a table of the worst of several runs.

Run it with the wheel installed, on an idle machine: python python/benches/interrupts.py
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

RUNS = 10

# What is done before, the work, and the seconds within which it is interrupted: at a different time in each run.
WORK = {
    "`cast` of 4 GiB, FLOAT to FLOAT8E4M3FN": ("a = np.zeros(1 << 30, np.float32)", "cast(a, 'FLOAT8E4M3FN')", 1.5),
    "`cast` of 4 GiB, FLOAT to INT8": ("a = np.zeros(1 << 30, np.float32)", "cast(a, 'INT8')", 1),
    "`cast` of 4 GiB, transposed": ("a = np.zeros((1 << 15, 1 << 15), np.float32).T", "cast(a, 'FLOAT8E4M3FN')", 3),
    "`cast` of 10 million strings to DOUBLE": ("a = np.full(10_000_000, '1.5', object)", "cast(a, 'DOUBLE')", 2),
    "`cast` of 3 million DOUBLE to strings": (
        "a = np.full(3_000_000, 1.5)",
        "cast(a, 'STRING', undefined='fold')",
        3,
    ),
    "`fold` of 4 GiB in a data file": ("", "fold('../weights.onnx', 'out.onnx')", 1.5),
    "`convert_version` of 200,000 nodes, file to file": ("", "convert_version('../nodes.onnx', 28, 'out.onnx')", 1),
    "`convert_version` of 200,000 nodes, ModelProto": ("m = onnx.load('../nodes.onnx')", "convert_version(m, 28)", 1),
    "`lint` of 200,000 nodes": ("", "lint('../nodes.onnx', select=['ALL'])", 1),
    "`inspect` of 200,000 nodes": ("", "inspect('../nodes.onnx')", 1),
    "`diff` of 200,000 nodes": ("", "diff('../nodes.onnx', '../nodes.onnx')", 1),
}

# Work that is done is done again, so that each signal interrupts something.
SCRIPT = """
import os, signal, sys
import numpy as np, onnx
from onnx_recast import *
signal.signal(signal.SIGINT, signal.default_int_handler)
{before}
print(flush=True)
try:
    while True:
        {work}
except KeyboardInterrupt:
    print(flush=True)
    os._exit(0)
"""


def save_nodes(path: Path) -> None:
    """Write a model of nodes in a row."""
    length = 200_000
    nodes = [helper.make_node("Softmax", [f"v{i}"], [f"v{i + 1}"], axis=1) for i in range(length)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("v0", f"v{length}")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def save_weights(path: Path) -> None:
    """Write a model that casts 4 GiB of weights in a data file without blocks on the disk."""
    elements = 1 << 30
    weights = TensorProto(name="w", dims=[elements], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "w.data", "offset": "0", "length": str(4 * elements)}.items():
        weights.external_data.add(key=key, value=value)
    node = helper.make_node("Cast", ["w"], ["y"], to=TensorProto.FLOAT16)
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT16, [elements])
    graph = helper.make_graph([node], "g", [], [output], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    with path.with_name("w.data").open("wb") as data:
        data.truncate(4 * elements)


def interrupt(script: str, folder: Path, after: float) -> float:
    """Return the seconds from the signal to the exception."""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == b"\n"
        return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    print("| interrupted work | worst | median |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        models = Path(name)
        save_nodes(models / "nodes.onnx")
        save_weights(models / "weights.onnx")
        for what, (before, work, within) in WORK.items():
            script = SCRIPT.format(before=before, work=work)
            seconds = []
            for run in range(RUNS):
                # No file is replaced: to free the blocks of a large file can take the system seconds.
                with tempfile.TemporaryDirectory(dir=models) as folder:
                    seconds.append(interrupt(script, Path(folder), within * (run + 0.5) / RUNS))
            print(f"| {what} | {1000 * max(seconds):.0f} ms | {1000 * np.median(seconds):.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
