"""The environment of the other tools, and processes that run them."""

import json
import subprocess
from pathlib import Path

from support.common import ROOT
from support.environments import make_environment

FOLDER = Path(__file__).parent
# Field 1007 of ModelProto, which no schema declares.
UNKNOWN_FIELD = b"\xfa\x3e\x05hello"


def peers_python():
    """The Python of the environment, which is made if its versions changed."""
    return make_environment(ROOT / "conformance/.venv-peers", FOLDER / "peers.txt")


class Peer:
    """A tool in a process of its own, which answers a line of JSON with one."""

    def __init__(self, script, *arguments):
        command = [peers_python(), FOLDER / script, *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, *request):
        """The lines of the answer, one decoded; none if the tool crashed."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return [json.loads(answer)] if answer else []
