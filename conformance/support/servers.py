"""Processes of other Pythons that answer requests, one after the other: pickled, each after its length in eight bytes."""

import os
import pickle
import struct
import subprocess


class Server:
    """A process that is started when it is first asked, and again if a request crashes it."""

    def __init__(self, name):
        self.name, self.process = name, None

    def command(self):
        """The command, and environment variables in addition to those of this process."""
        raise NotImplementedError

    def ask(self, *request):
        try:
            self.send(request)
            length = self.process.stdout.read(8)
            return pickle.loads(self.process.stdout.read(struct.unpack("<Q", length)[0]))
        except (BrokenPipeError, EOFError, struct.error):
            self.close()
            return f"{self.name} crashed"

    def send(self, request):
        if self.process is None:
            command, variables = self.command()
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            self.process = subprocess.Popen(command, env={**os.environ, **variables}, **pipes)
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
