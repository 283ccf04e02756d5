"""The wheels of onnxruntime that PyPI has, each in a process of its own: what kernels it has, whether it loads a model, what it computes."""

import functools
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

from support.common import CACHE, ROOT
from support.environments import pip_install

FOLDER = CACHE / "onnxruntimes"
SERVER = Path(__file__).with_name("onnxruntime_server.py")
# The wheels of these are compiled for numpy 1; the oldest one has none for a current Python.
FIRST_WITH_NUMPY_2 = (1, 19)
OLD_PYTHON, LAST_OF_OLD_PYTHON = "python3.8", (1, 14)


class NotInstalled(Exception):
    """PyPI has no wheel of a version for the Pythons of this machine."""


def listed_versions():
    """The minor versions that facts/targets.txt has rows for, oldest first; all those between the ends of a row."""
    rows = [line.split() for line in (ROOT / "facts/targets.txt").read_text().splitlines() if line.startswith("onnxruntime ")]
    versions = []
    for _, first, last, *_ in rows:
        (major, low), (_, high) = parsed(first), parsed(last)
        versions += [f"{major}.{minor}" for minor in range(low, high + 1)]
    return versions


def parsed(version):
    """(1, 17) of `1.17` and of `1.17.3`."""
    return tuple(map(int, version.split(".")[:2]))


class Runtime:
    """A version of onnxruntime: a process that is started when it is first asked, and again if a model crashes it."""

    def __init__(self, version):
        self.version, self.process = version, None

    def kernels(self):
        """[domain, operator, since-version, end or None, {type variable or name: types}] of the kernels of the CPU, and the
        schemas: [domain, operator, since-version, inputs, outputs], each of which is [name, type or type variable]."""
        return self.ask("kernels")

    def why_not_loaded(self, model):
        """The message with which a model, as bytes, is refused; None if it loads."""
        return self.ask("load", model)

    def run(self, model, inputs):
        """The outputs of a model for {name: value} as values of `onnxruntime_server.py`, or the message of what failed."""
        return self.ask("run", model, inputs)

    def ask(self, *request):
        try:
            self.send(request)
            length = self.process.stdout.read(8)
            return pickle.loads(self.process.stdout.read(struct.unpack("<Q", length)[0]))
        except (BrokenPipeError, EOFError, struct.error):
            self.close()
            return f"onnxruntime {self.version} crashed"

    def send(self, request):
        if self.process is None:
            python, packages = installed(self.version)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, packages))}
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen([python, SERVER], env=environment, **pipes)
        data = pickle.dumps(request, protocol=4)
        self.process.stdin.write(struct.pack("<Q", len(data)) + data)
        self.process.stdin.flush()

    def close(self):
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@functools.cache
def installed(version):
    """The Python for a version, and the folders with its packages; they are installed when first needed."""
    old = parsed(version) <= LAST_OF_OLD_PYTHON
    python = shutil.which(OLD_PYTHON) if old else sys.executable
    if python is None:
        raise NotInstalled(f"onnxruntime {version} needs {OLD_PYTHON}")
    wanted = f"onnxruntime=={version}" if version.count(".") > 1 else f"onnxruntime=={version}.*"
    first_numpy = parsed(version) < FIRST_WITH_NUMPY_2
    numpy = install(python, f"numpy-{'old' if old else 1 if first_numpy else 2}", "numpy<2" if first_numpy else "numpy>=2")
    return python, [install(python, version, wanted), numpy]


def install(python, name, requirement):
    """Packages in a folder of their own. Dependencies are left out: of those of onnxruntime, loading models needs only numpy."""
    folder = FOLDER / re.sub(r"\W+", "-", name)
    if not folder.is_dir():
        part = folder.with_name(f"{folder.name}.part.{os.getpid()}")
        done = pip_install(python, "--no-deps", "--only-binary", ":all:", "--target", part, requirement, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise NotInstalled(f"{requirement}: {done.stderr.decode().strip()[-300:]}")
        part.rename(folder)
    return folder
