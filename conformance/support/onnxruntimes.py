"""The wheels of onnxruntime that PyPI has, each in a process of its own: what kernels it has, whether it loads a model, what it computes."""

import functools
import os
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support.common import CACHE, FACTS
from support.environments import name_made, pip_install
from support.servers import Server

FOLDER = CACHE / "onnxruntimes"
SERVER = Path(__file__).with_name("onnxruntime_server.py")
# The newest wheel of each minor version that facts/targets.txt lists. PyPI has none of 1.5.2 for a current Python.
WHEELS = "1.15.1 1.16.3 1.17.3 1.18.1 1.19.2 1.20.1 1.21.1 1.22.1 1.23.2 1.24.4 1.25.1 1.26.0 1.27.0 1.28.0 1.29.0 1.30.0 1.31.1 1.32.0"
WHEEL_OF = {wheel.rpartition(".")[0]: wheel for wheel in WHEELS.split()}
# The wheels before this one are compiled for numpy 1.
FIRST_WITH_NUMPY_2 = (1, 19)


def rows():
    """[(versions, opset, IR version)] of facts/targets.txt: minor versions, oldest first, all those between the ends of a row."""
    found = []
    for line in (FACTS / "targets.txt").read_text().splitlines():
        if line.startswith("onnxruntime "):
            _, first, last, opset, ir_version, _ = line.split(maxsplit=5)
            (major, low), (_, high) = parsed(first), parsed(last)
            found.append(([f"{major}.{minor}" for minor in range(low, high + 1)], int(opset), int(ir_version)))
    return found


def limits(version):
    """The newest opset and IR version that a version loads."""
    return next((opset, ir_version) for versions, opset, ir_version in rows() if version in versions)


def parsed(version):
    """(1, 17) of `1.17`."""
    return tuple(map(int, version.split(".")[:2]))


class Runtime(Server):
    """A minor version of onnxruntime: a process that is started when it is first asked, and again if a model crashes it."""

    def __init__(self, version):
        super().__init__(f"onnxruntime {version}")
        self.version = version

    def kernels(self):
        """[domain, operator, since-version, end or None, {type variable or name: types}] of the kernels of the CPU, and the
        schemas: [domain, operator, since-version, inputs, outputs], each of which is [name, type or type variable]."""
        return self.ask("kernels")

    def why_not_loaded(self, model):
        """The message with which a model, as bytes, is refused; None if it loads."""
        return self.ask("load", model)

    def run(self, model, inputs, optimized):
        """The outputs of a model for {name: value} as values of `onnxruntime_server.py`, or the message of what failed."""
        return self.ask("run", model, inputs, optimized)

    def command(self):
        return [sys.executable, SERVER], {"PYTHONPATH": os.pathsep.join(map(str, installed(self.version)))}


@functools.cache
def installed(version):
    """The folders with the packages of a version, which are installed when first needed."""
    wheel, numpy = WHEEL_OF[version], 1 if parsed(version) < FIRST_WITH_NUMPY_2 else 2
    return [install(f"onnxruntime-{wheel}", f"onnxruntime=={wheel}"), install(f"numpy-{numpy}", f"numpy=={numpy}.*")]


def install(name, requirement):
    """Packages in a folder of their own. Dependencies are left out: of those of onnxruntime, loading models needs only numpy."""
    folder = FOLDER / name
    if not folder.is_dir():
        part = folder.with_name(f"{name}.part.{os.getpid()}")
        pip_install(sys.executable, "--no-deps", "--only-binary", ":all:", "--target", part, requirement, check=True)
        name_made(part, folder)
    return folder


def model_and_values(model, inputs):
    """The bytes of a model and values for `Runtime.run`. Types that numpy lacks cannot be fed to old versions: such inputs become
    initializers."""
    values = {name: encoded(value) for name, value in inputs.items()}
    for name in [name for name, value in values.items() if isinstance(value, TensorProto)]:
        model.graph.initializer.append(values.pop(name))
        model.graph.initializer[-1].name = name
        inputs_left = [each for each in model.graph.input if each.name != name]
        del model.graph.input[:]
        model.graph.input.extend(inputs_left)
    return model.SerializeToString(), values


def encoded(value):
    """A value of `onnxruntime_server.py`, or a tensor for what numpy lacks."""
    if value is None or isinstance(value, list):
        return value and [encoded(each) for each in value]
    array = np.asarray(value)
    if array.dtype.kind in "OUS":
        return TensorProto.STRING, array.shape, [each.decode() if isinstance(each, bytes) else str(each) for each in array.ravel()]
    if array.dtype.isbuiltin != 1:
        return numpy_helper.from_array(array)
    return helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.tobytes()


def value_of(reply):
    """The array, list or None of a value of `onnxruntime_server.py`."""
    if reply is None or isinstance(reply, (list, dict)):
        return [value_of(each) for each in reply] if isinstance(reply, list) else reply
    number, shape, data = reply
    if number == TensorProto.STRING:
        return np.array(data, dtype=object).reshape(shape)
    return numpy_helper.to_array(TensorProto(data_type=number, dims=shape, raw_data=data))
