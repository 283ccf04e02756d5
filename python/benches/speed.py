"""Casts and conversions beside numpy, ml_dtypes and onnx: medians of alternating runs, as a table.

Run it with the wheel installed, on an idle machine: python python/benches/speed.py
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import ml_dtypes
import numpy as np
import onnx
import onnx.version_converter

import onnx_recast

ELEMENTS = 1 << 26
ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def row(what: str, other: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Print the medians of both; they run in turns, so that a busy machine slows both down."""
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


if __name__ == "__main__":
    main()
