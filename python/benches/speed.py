"""Casts, folds, conversions and imports beside other packages: medians of alternating runs, as a table.

Run it with the wheel, onnxruntime and onnxscript installed, on an idle machine: python python/benches/speed.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx.version_converter

import onnx_recast

ELEMENTS = 1 << 26
ROUNDS = 5
TENSORS = 8
IMPORTS = 21


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(what: str, other: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Print the medians of both, after a run that does not count; they run in turns, so that load slows both down."""
    ours()
    theirs()
    runs = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    mine, others = (statistics.median(times) for times in zip(*runs, strict=True))
    print(f"| {what} | {mine:.3f} s | {others:.3f} s ({other}) | {others / mine:.1f} |", flush=True)


def chain(length: int) -> onnx.ModelProto:
    """Return a model of nodes in a row."""
    nodes = [onnx.helper.make_node("Softmax", [f"v{i}"], [f"v{i + 1}"], axis=1) for i in range(length)]
    value = onnx.helper.make_tensor_value_info
    ends = [value("v0", 1, [2, 3])], [value(f"v{length}", 1, [2, 3])]
    graph = onnx.helper.make_graph(nodes, "g", *ends)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)


def weights() -> onnx.ModelProto:
    """Return a model with 1 GiB of FLOAT weights, which are cast to FLOAT16."""
    helper, half = onnx.helper, onnx.TensorProto.FLOAT16
    values = np.random.default_rng(1).standard_normal((4096, 8192), np.float32)
    tensors = [onnx.numpy_helper.from_array(values, f"w{i}") for i in range(TENSORS)]
    nodes = [helper.make_node("Cast", [f"w{i}"], [f"h{i}"], to=half) for i in range(TENSORS)]
    nodes += [helper.make_node("MatMul", ["x", f"h{i}"], [f"y{i}"]) for i in range(TENSORS)]
    outputs = [helper.make_tensor_value_info(f"y{i}", half, [1, 8192]) for i in range(TENSORS)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", half, [1, 4096])], outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def fold_with_onnxruntime(model: Path, output: Path) -> None:
    """Fold a file; the session writes the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(output)
    options.log_severity_level = 4
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def fold_with_onnxscript(model: Path, output: Path) -> None:
    """Fold a file, without the limits of size."""
    from onnxscript import ir, optimizer

    loaded = ir.load(model)
    optimizer.optimize(loaded, input_size_limit=1 << 40, output_size_limit=1 << 40)
    ir.save(loaded, output)


def convert_with_onnx(model: Path, output: Path) -> None:
    """Convert a file."""
    onnx.save(onnx.version_converter.convert_version(onnx.load(model), 21), output)


def imports() -> None:
    """Print how long new processes take that import modules."""
    times: dict[str, list[float]] = {"onnx_recast": [], "numpy": [], "numpy, onnx_recast": []}
    for _ in range(IMPORTS):
        for modules, runs in times.items():
            command = [sys.executable, "-c", f"import {modules}"]
            runs.append(seconds(lambda command=command: subprocess.run(command, check=True)))  # type: ignore[misc]
    ours, other, both = (1000 * statistics.median(runs) for runs in times.values())
    print(f"\nimport in a new process: onnx_recast {ours:.0f} ms, numpy {other:.0f} ms, both {both:.0f} ms")
    print(f"onnx_recast after numpy: {both - other:.0f} ms")


def files() -> None:
    """Print the rows of a file of 1 GiB."""
    with tempfile.TemporaryDirectory() as name:
        model, ours, theirs = (Path(name) / f"{part}.onnx" for part in ("model", "ours", "theirs"))
        onnx.save(weights(), model)

        def fold() -> None:
            onnx_recast.fold(model, ours)

        def convert() -> None:
            onnx_recast.convert_version(model, 21, ours)

        row("`convert_version` of a file of 1 GiB, 17 to 21", "onnx", convert, lambda: convert_with_onnx(model, theirs))
        row("`fold` of a file of 1 GiB", "onnxruntime", fold, lambda: fold_with_onnxruntime(model, theirs))
        assert all(tensor.data_type == onnx.TensorProto.FLOAT16 for tensor in onnx.load(theirs).graph.initializer)
        row("`fold` of a file of 1 GiB", "onnxscript", fold, lambda: fold_with_onnxscript(model, theirs))


def main() -> None:
    """Print the table."""
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f} at the start; {ELEMENTS >> 20} Mi elements\n")
    print("| | onnx_recast | other | ratio |\n|---|---|---|---|")
    floats = np.random.default_rng(1).standard_normal(ELEMENTS, np.float32)
    f8 = floats.astype(ml_dtypes.float8_e4m3fn)
    casts = [
        ("FLOAT to FLOAT16", floats, np.float16, "numpy"),
        ("FLOAT to FLOAT8E4M3FN", floats, ml_dtypes.float8_e4m3fn, "ml_dtypes"),
        ("FLOAT8E4M3FN to FLOAT", f8, np.float32, "ml_dtypes"),
    ]
    for what, array, dtype, other in casts:

        def ours(array: object = array, dtype: object = dtype) -> object:
            return onnx_recast.cast(array, dtype)  # type: ignore[arg-type]

        def theirs(array: np.ndarray = array, dtype: object = dtype) -> object:  # type: ignore[type-arg]
            return array.astype(dtype)  # type: ignore[call-overload, no-any-return]

        row(f"`cast` {what}, {array.nbytes >> 20} MiB", other, ours, theirs)
    model = chain(20_000)
    row(
        "`convert_version` of 20,000 nodes, 13 to 21, ModelProto",
        "onnx",
        lambda: onnx_recast.convert_version(model, 21),
        lambda: onnx.version_converter.convert_version(model, 21),
    )
    files()
    imports()


if __name__ == "__main__":
    main()
