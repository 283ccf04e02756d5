"""The environments of the other tools, and processes that run them."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from exporters.models import installed
from support.common import CACHE, ROOT
from support.environments import is_copy, make_environment, pip_install

FOLDER = Path(__file__).parent
# Field 1007 of ModelProto, which no schema declares.
UNKNOWN_FIELD = b"\xfa\x3e\x05hello"


def peers_python():
    """The Python of the environment, which is made if its versions changed."""
    return make_environment(ROOT / "conformance/.venv-peers", FOLDER / "peers.txt")


def precision_python():
    """The same for the tools that change precision."""
    return make_environment(ROOT / "conformance/.venv-precision-peers", FOLDER / "precision_peers.txt")


def modelopt_python():
    """The Python with torch of the exporters, and the variables with which it finds modelopt, in a folder of its own."""
    python, variables = installed("torch")
    folder, requirements = CACHE / "modelopt", FOLDER / "modelopt_peer.txt"
    if not is_copy(folder / "installed.txt", requirements):
        shutil.rmtree(folder, ignore_errors=True)
        pip_install(python, "--no-deps", "--target", folder, "--requirement", requirements, check=True)
        shutil.copyfile(requirements, folder / "installed.txt")
    return python, variables | {"PYTHONPATH": str(folder)}


class Peer:
    """A tool in a process of its own, which answers a line of JSON with one."""

    def __init__(self, script, *arguments, python=None, variables=None):
        command = [python or peers_python(), FOLDER / script, *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        # Some tools write files into the working folder.
        self.folder = tempfile.TemporaryDirectory(prefix="recast-conformance-")
        self.process = subprocess.Popen(command, env={**os.environ, **(variables or {})}, cwd=self.folder.name, **pipes)

    def ask(self, *request):
        """The lines of the answer, one decoded; none if the tool crashed."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return [json.loads(answer)] if answer else []
