"""The models of real exporters, and the environments that the exporters run in."""

import hashlib
import os
import shutil
import subprocess
import sys

from support.common import CACHE, ROOT
from support.environments import make_environment

SCRIPTS = ROOT / "conformance/exporters/scripts"
# An exporter: its environment, its script and arguments.
EXPORTERS = {
    "skl2onnx, onnxmltools": ("sklearn", "sklearn_models.py"),
    "spox": ("sklearn", "spox_models.py"),
    "jax2onnx": ("jax", "jax_models.py"),
    "tf2onnx": ("tensorflow", "tensorflow_models.py"),
    "torch, legacy": ("torch", "torch_models.py", "legacy"),
    "torch, dynamo": ("torch", "torch_models.py", "dynamo"),
}
# The same for networks in FLOAT16 and mixed precision, with many casts.
CAST_HEAVY = {
    "skl2onnx, onnxmltools": ("sklearn", "sklearn_casts.py"),
    "jax2onnx": ("jax", "jax_casts.py"),
    "tf2onnx": ("tensorflow", "tensorflow_casts.py"),
    "torch, legacy": ("torch", "torch_casts.py", "legacy"),
    "torch, dynamo": ("torch", "torch_casts.py", "dynamo"),
}


def exported_models():
    """(exporter, path) of every model."""
    commands = [*EXPORTERS.items(), *CAST_HEAVY.items()]
    return [(exporter, path) for exporter, command in commands for path in exported(*command)]


def exported(environment, script, *arguments):
    """The models of an exporter, which are made again when their script or the versions change."""
    files = [SCRIPTS / name for name in (f"{environment}.txt", script, "common_export.py", "torch_stubs.py")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    output = CACHE / "exports" / "_".join([script.removesuffix(".py"), *arguments])
    if not (output / digest).is_file():
        python, variables = installed(environment)
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        with open(output / "log", "w") as log:
            command = [python, SCRIPTS / script, output, *arguments]
            subprocess.run(command, check=True, stdout=log, stderr=log, env={**os.environ, **variables}, timeout=1200)
        (output / digest).touch()
    return sorted(output.glob("*/model.onnx"))


def installed(name):
    """The Python of an environment, and the variables that it needs."""
    folder, requirements = CACHE / f"exporter-{name}", SCRIPTS / f"{name}.txt"
    if name != "torch":
        return make_environment(folder, requirements), {}
    stubs = folder / "stubs"

    def make_stubs():
        [package] = folder.glob("lib/python*/site-packages/torch")
        subprocess.run([sys.executable, SCRIPTS / "torch_stubs.py", package, stubs], check=True)

    return make_environment(folder, requirements, "--no-deps", finish=make_stubs), {"LD_LIBRARY_PATH": str(stubs)}
