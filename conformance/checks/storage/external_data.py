"""Models whose weights lie in other files: every output loads in onnx and onnxruntime, and computes the same.

The examples and a larger model are stored with external data, then folded to every kind of output that the command line offers.
"""

import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support.common import EXAMPLES, recast, scratch_folder
from support.models import all_graphs, count_casts, passes_checker, sample_inputs
from support.runners import compare_outputs


def check(report):
    with scratch_folder() as scratch:
        originals = [*EXAMPLES, write_larger_model(scratch / "larger.onnx")]
        for original in originals:
            folder = scratch / original.stem
            store_external(original, folder / "in")
            for name, arguments, output in outputs(folder):
                check_output(report, f"{original.stem}, {name}", original, arguments, output)
            check_shared_data(report, original, folder / "shared")


def outputs(folder):
    """(what, arguments of `recast fold`, the output) for every kind of output; the input is folder/in/model.onnx."""
    source = folder / "in" / "model.onnx"
    beside = folder / "in" / "folded.onnx"
    elsewhere = folder / "elsewhere" / "folded.onnx"
    elsewhere.parent.mkdir()
    yield "beside the input", [source, "-o", beside], beside
    yield "in another folder", [source, "-o", elsewhere], elsewhere
    for choice in ("keep", "inline", "new.data"):
        target = folder / f"with {choice}" / "folded.onnx"
        target.parent.mkdir()
        yield f"--external-data {choice}", [source, "-o", target, "--external-data", choice], target
    shutil.copytree(folder / "in", folder / "in place")
    yield "in place", [folder / "in place" / "model.onnx", "--in-place"], folder / "in place" / "model.onnx"


def check_output(report, name, original, arguments, output):
    done = recast("fold", *arguments)
    if not report.case(f"{name}, exit code", done.returncode != 0 and f"{done.returncode}: {done.stderr.strip()}"):
        return
    report.attempt(f"{name}, onnx.load", lambda: onnx.load(output))
    if passes_checker(original):
        report.attempt(f"{name}, onnx.checker", lambda: onnx.checker.check_model(output, full_check=True))
    if "inline" in arguments:
        report.case(f"{name}, self-contained", [tensor.name for tensor in tensors(output) if tensor.external_data])
    left = count_casts(onnx.load(output, load_external_data=False))
    # One of the examples has no casts.
    before = count_casts(onnx.load(original))
    report.case(f"{name}, folded", left >= before > 0 and "no cast was folded")
    judge, difference = compare_outputs(original, output, sample_inputs(onnx.load(original)))
    report.case(f"{name}, outputs", difference or judge is None and "nothing runs them")


def check_shared_data(report, original, folder):
    """Two models with one data file: folding one in place leaves the other as it was."""
    store_external(original, folder)
    shutil.copyfile(folder / "model.onnx", folder / "other.onnx")
    done = recast("fold", folder / "model.onnx", "--in-place")
    name = f"{original.stem}, in place beside a model with the same data"
    report.case(f"{name}, exit code", done.returncode != 0 and f"{done.returncode}: {done.stderr.strip()}")
    for model in ("model.onnx", "other.onnx"):
        judge, difference = compare_outputs(original, folder / model, sample_inputs(onnx.load(original)))
        report.case(f"{name}, outputs of {model}", difference or judge is None and "nothing runs them")


def store_external(original, folder):
    """folder/model.onnx with all its initializers in folder/weights.data."""
    folder.mkdir(parents=True)
    model = onnx.load(original)
    onnx.save_model(model, folder / "model.onnx", save_as_external_data=True, location="weights.data", size_threshold=0)


def tensors(path):
    """The initializers of a model at any depth, without their data."""
    model = onnx.load(path, load_external_data=False)
    return [tensor for graph in all_graphs(model) if hasattr(graph, "initializer") for tensor in graph.initializer]


def write_larger_model(path):
    """Weights of more than a page, some cast, one not, and a result that is larger than its source."""
    kept, halved, widened = (np.sin(np.arange(64 * 96, dtype=np.float64) + phase).reshape(64, 96) for phase in range(3))
    nodes = [
        helper.make_node("Cast", ["halved"], ["half"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["widened"], ["wide"], to=TensorProto.DOUBLE),
        helper.make_node("Add", ["x", "kept"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["sum_half"], to=TensorProto.FLOAT16),
        helper.make_node("Mul", ["sum_half", "half"], ["y"]),
        helper.make_node("Cast", ["x"], ["x_wide"], to=TensorProto.DOUBLE),
        helper.make_node("Mul", ["x_wide", "wide"], ["z"]),
    ]
    constants = {"kept": kept.astype(np.float32), "halved": halved.astype(np.float32), "widened": widened.astype(np.float16)}
    graph = helper.make_graph(
        nodes,
        "larger",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 96])],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT16, [64, 96]),
            helper.make_tensor_value_info("z", TensorProto.DOUBLE, [64, 96]),
        ],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), path)
    return Path(path)
