"""The models that runtimes run: node tests of onnx, and what `recast convert` makes of them in the older versions of their operators.

A test is a model with one node, or an expanded function, beside a folder with the inputs and the outputs that onnx computed for it. Those of
the installed onnx use the newest version of every operator. Those of the wheel of onnx 1.22.0, which are stored, have older ones too.
"""

import functools
import hashlib
import os
import pathlib
import re
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import onnx
from onnx import defs
from support.case import stored_outputs, test_inputs
from support.common import CACHE, WHEEL_DATA, recast
from support.environments import name_made
from support.models import readable
from support.newest_nodes import newest_node_models

from runs import boundaries, branches, combinations, extremes, flattening, types

OLDER = CACHE / f"onnx-{onnx.__version__}-nodes-older"
WRITTEN = {
    module.__name__.rpartition(".")[2]: module for module in (flattening, boundaries, branches, combinations, extremes, types)
}
WHEEL_FOLDERS = ("node", "pytorch-converted", "pytorch-operator")

# The name, the file, and where the values are.
Test = namedtuple("Test", "name model data")


def node_tests():
    return [Test(path.parent.name, path, path) for path in newest_node_models()]


def all_tests():
    """Those of the installed onnx, the others of the wheel, and the conversions. Equal models are one test."""
    wheel = [Test(f"{folder}/{path.parent.name}", path, path) for folder in WHEEL_FOLDERS for path in sorted((WHEEL_DATA / folder).glob("*/model.onnx"))]
    tests, seen = [], set()
    written = [test for name in WRITTEN for test in written_tests(name)]
    for test in [*node_tests(), *wheel, *written, *older_tests()]:
        key = essence(test)
        if key and key not in seen:
            seen.add(key)
            tests.append(test)
    return tests


def written_tests(name):
    """The models that a module of this folder writes: again, if one of these modules is another."""
    folder = CACHE / "runs" / f"{name}-{digest()}"
    if not folder.is_dir():
        part = folder.with_name(f"{name}.part.{os.getpid()}")
        WRITTEN[name].write(part)
        name_made(part, folder)
    return [Test(path.parent.name, path, path) for path in sorted(folder.glob("*/model.onnx"))]


@functools.cache
def digest():
    sources = [pathlib.Path(module.__file__).read_bytes() for module in WRITTEN.values()]
    return hashlib.sha256(b"".join(sources)).hexdigest()[:8]


def essence(test):
    """What makes a model of a test another: not its names and its producer, nor the opset, but the version of the operator."""
    model = readable(test.model)
    if model is None:
        return None
    node = only_node(model)
    if node is None:
        return test.name if test.model == test.data and "/" not in test.name else None
    name = re.sub(r"@.*", "", test.name.rpartition("/")[2])
    return name, node.op_type, since_of(model, node)


def only_node(model):
    """The node of a model that has one, constants and functions apart; that which a combination tests."""
    if combinations.combination(model):
        return combinations.node_of(model)
    nodes = [node for node in model.graph.node if node.op_type != "Constant"] or list(model.graph.node)
    return nodes[0] if len(nodes) == 1 and not model.functions else None


def since_of(model, node):
    """The version of its operator; none if ONNX does not define it."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    opsets = {"" if entry.domain == "ai.onnx" else entry.domain: entry.version for entry in model.opset_import}
    try:
        return defs.get_schema(node.op_type, opsets[domain], domain).since_version
    except (KeyError, defs.SchemaError):
        return None


def older_tests():
    """The tests of the installed onnx in the last opset of each older version of their operator, if recast converts them and the operator
    is still the only one."""
    if not OLDER.is_dir():
        part = OLDER.with_name(f"{OLDER.name}.part")  # A run that ends is continued.
        wanted = [(test, opset) for test in node_tests() for opset in older_opsets(test)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda each: convert(*each, part), wanted))
        name_made(part, OLDER)
    return [Test(f"{path.stem}", path, newest_of(path)) for path in sorted(OLDER.glob("*.onnx"))]


def newest_of(path):
    name = path.stem.rpartition("@")[0]
    return CACHE / f"onnx-{onnx.__version__}-nodes" / name / "model.onnx"


def older_opsets(test):
    model = readable(test.model)
    node = only_node(model)
    if node is None or node.domain not in ("", "ai.onnx"):
        return []
    present = since_of(model, node) or 0
    return [after - 1 for after in boundaries.versions_of(node.op_type) if 1 < after <= present]


def convert(test, opset, folder):
    output = folder / f"{test.name}@{opset}.onnx"
    if output.exists():
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    done = recast("convert", test.model, "--opset", str(opset), "-o", output)
    if done.returncode == 0:
        model = readable(output)
        node = only_node(model)
        if node is None or node.op_type != only_node(readable(test.model)).op_type or model.graph.node[0].op_type == "Constant":
            output.unlink()


def values(test):
    """{name: array} of the inputs, and the expected outputs."""
    model = onnx.load(test.model)
    inputs, outputs = test_inputs(test.data, readable(test.data)), stored_outputs(test.data, model)
    names = [value.name for value in model.graph.input if value.name not in {tensor.name for tensor in model.graph.initializer}]
    return model, {name: inputs[name] for name in names if name in inputs}, outputs
