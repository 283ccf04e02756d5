"""The rows of facts/targets.txt for onnxruntime are what its wheels load: models of every opset and IR version are tried.

Only with --all: each version that PyPI has for this Python is installed into conformance/.cache.
"""

import json
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

from support.common import CACHE, ROOT, scratch_folder
from support.environments import pip_install

OPSETS, IR_VERSIONS = range(7, 29), range(3, 15)
TRY = """
import json, sys
import onnxruntime
def loads(path):
    try:
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return True
    except Exception:
        return False
print(json.dumps([path for path in sys.argv[1:] if loads(path)]))
"""


def check(report):
    if not report.everything:
        report.skip("only with --all")
        return
    rows = [line.split(maxsplit=5) for line in (ROOT / "facts/targets.txt").read_text().splitlines() if line.startswith("onnxruntime ")]
    tried = []
    with scratch_folder() as folder:
        opsets = {str(write(folder, opset, 3)): opset for opset in OPSETS}
        ir_versions = {str(write(folder, 7, ir_version)): ir_version for ir_version in IR_VERSIONS}
        for _, first, last, opset, ir_version, _ in rows:
            for version in sorted({first, last}):
                packages = installed(version)
                if packages is None:
                    continue
                loaded = set(loaded_by(packages, [*opsets, *ir_versions]))
                found = [max(number for path, number in models.items() if path in loaded) for models in (opsets, ir_versions)]
                tried.append(version)
                report.case(f"onnxruntime {version}", found != [int(opset), int(ir_version)] and f"loads opset {found[0]} and IR version {found[1]}")
    report.note(f"tried {', '.join(tried)}")


def write(folder, opset, ir_version):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values[:1], values[1:])
    path = folder / f"{opset}_{ir_version}.onnx"
    onnx.save(helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)]), path)
    return path


def installed(version):
    """The folder of a version; None if PyPI has no wheel of it for this Python."""
    folder = CACHE / f"onnxruntime-{version}"
    if not folder.is_dir():
        wanted = f"onnxruntime=={version}" if version.count(".") > 1 else f"onnxruntime=={version}.*"
        numpy = "numpy<2" if tuple(map(int, version.split(".")[:2])) < (1, 19) else "numpy"
        done = pip_install(sys.executable, "--only-binary", ":all:", "--target", folder, wanted, numpy, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return None
    return folder


def loaded_by(packages, paths):
    """Which models a version loads, in a process of its own."""
    environment = {"PYTHONPATH": str(packages), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", TRY, *paths], capture_output=True, text=True, env=environment)
    return json.loads(done.stdout) if done.returncode == 0 else []
