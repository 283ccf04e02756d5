"""The runtimes of facts/casts.txt, each with packages of its own, and how to ask one for the result of a cast. A new one needs a row of
RUNTIMES and a server."""

import functools
import os
import pathlib
import sys
from collections import namedtuple

import numpy as np
from onnx import TensorProto
from support.cast_rules import bits_of
from support.common import CACHE
from support.environments import name_made, pip_install
from support.onnxruntimes import SERVER, installed
from support.servers import Server

from casts.models import cast_model, elements_of, number_of, opset_for, value_of

FOLDER = CACHE / "casts"
SERVERS = pathlib.Path(__file__).parent / "servers"

# Packages, pinned, of a runtime; the server that runs its models; the newest opset that is asked of it; what a reader has to know;
# whether only the values of docs/runtimes-casts.md are listed, because most casts of some types are wrong.
Runtime = namedtuple("Runtime", "name version packages server opset notes brief", defaults=[False])
ALL_OPSETS = 28
RUNTIMES = [
    Runtime("onnx.reference", "1.23.2", (), "reference.py", ALL_OPSETS, ()),
    Runtime("onnxruntime", "1.32.0", (), "", ALL_OPSETS, ("CPUExecutionProvider, default optimizations.",)),
    Runtime("onnxruntime", "1.17.3", (), "", 20, ("CPUExecutionProvider, default optimizations.",)),
    Runtime("openvino", "2026.4.1", ("openvino==2026.4.1",), "openvino_cpu.py", ALL_OPSETS, ("CPU, INFERENCE_PRECISION_HINT f32.",)),
    Runtime(
        "opencv",
        "5.0.0.93",
        ("opencv-python-headless==5.0.0.93",),
        "opencv.py",
        ALL_OPSETS,
        ("cv2.dnn with its default engine. Results FLOAT16 are read as FLOAT, BFLOAT16 as UINT16.",),
    ),
    Runtime(
        "tract",
        "0.23.9",
        ("tract==0.23.9",),
        "tract_cpu.py",
        ALL_OPSETS,
        ("Results INT64 have the type TDim, which its Python interface refuses to give.",),
    ),
    Runtime(
        "iree",
        "3.13.0",
        ("iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0", "onnx==1.23.2"),
        "iree_cpu.py",
        ALL_OPSETS,
        ("llvm-cpu for a generic CPU, local-sync. The numbers of a DOUBLE input are misread, those of a constant are not.",),
        brief=True,
    ),
    Runtime(
        "tvm",
        "0.27.0.post1",
        ("apache-tvm==0.27.0.post1", "onnx==1.23.2"),
        "tvm_cpu.py",
        ALL_OPSETS,
        ("tvm.relax.frontend.onnx, target llvm. The frontend computes casts of constants with numpy and ml_dtypes.",),
        brief=True,
    ),
    Runtime(
        "mnn",
        "3.6.1",
        ("MNN==3.6.1",),
        "mnn_cpu.py",
        ALL_OPSETS,
        ("Models of its own converter, high precision. Results BOOL are read as INT32.",),
        brief=True,
    ),
]


def newest(name):
    """The newest version of a runtime, which is the first."""
    return next(runtime for runtime in RUNTIMES if runtime.name == name)


def older(name, version):
    """An older version of a runtime, with the server of the newest one."""
    known = newest(name)
    packages = tuple(f"{package.partition('==')[0]}=={version}" for package in known.packages)
    return known._replace(version=version, packages=packages)


class Process(Server):
    """A process that runs models in a runtime."""

    def __init__(self, runtime, seconds=None):
        super().__init__(f"{runtime.name} {runtime.version}", seconds)
        self.runtime = runtime

    def command(self):
        """onnxruntime and the reference evaluator run in this Python, the others in an environment of their own."""
        if self.runtime.name == "onnxruntime":
            paths = installed(self.runtime.version.rpartition(".")[0])
            return [sys.executable, SERVER], {"PYTHONPATH": os.pathsep.join(map(str, paths))}
        folders = map(str, packages_of(self.runtime)) if self.runtime.packages else ()
        # Memory to which nothing was written has no numbers that may be right by chance.
        variables = {"PYTHONPATH": os.pathsep.join(folders), "RUST_BACKTRACE": "0", "MALLOC_PERTURB_": "165"}
        return [sys.executable, SERVERS / self.runtime.server], variables

    def cast(self, source, target, attributes, elements, constant):
        """The elements of the result, or the message of a refusal."""
        opset = opset_for(source, target, self.runtime.opset)
        if opset is None:
            return f"needs an opset after {self.runtime.opset}"
        model = cast_model(source, target, attributes, len(elements), opset, elements if constant else None)
        answer = self.ask("run", model, {} if constant else {"x": value_of(source, elements)}, True)
        if isinstance(answer, str):
            return answer
        value = in_python(answer[0], target)
        if value[0] != number_of(target):
            return f"the result has type {value[0]}"
        found = elements_of(value, bits_of(target))
        return found if len(found) == len(elements) else f"the result has {len(found)} elements"


def in_python(value, target):
    """A result in its own type, if Python got it in another: OpenCV gives FLOAT16 as FLOAT, and BFLOAT16 as UINT16; MNN
    gives BOOL as INT32."""
    number, shape, data = value
    if target == "BFLOAT16" and number == TensorProto.UINT16:
        return TensorProto.BFLOAT16, shape, data
    if target == "FLOAT16" and number == TensorProto.FLOAT:
        floats = np.frombuffer(data, "f4")
        with np.errstate(over="ignore"):
            halves = floats.astype("f2")
        if np.array_equal(halves.astype("f4"), floats, equal_nan=True):
            return TensorProto.FLOAT16, shape, halves.tobytes()
    if target == "BOOL" and number == TensorProto.INT32:
        return TensorProto.BOOL, shape, (np.frombuffer(data, "i4") != 0).tobytes()
    return value


@functools.cache
def packages_of(runtime):
    """A folder with the packages of a runtime and what they need, made when first used."""
    folder = FOLDER / f"{runtime.name}-{runtime.version}"
    if not folder.is_dir():
        part = folder.with_name(f"{folder.name}.part.{os.getpid()}")
        pip_install(sys.executable, "--only-binary", ":all:", "--target", part, *runtime.packages, check=True)
        name_made(part, folder)
    return [folder]
