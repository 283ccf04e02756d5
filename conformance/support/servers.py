"""Processes of other Pythons that answer requests, one after the other: pickled, each after its length in eight bytes."""

import contextlib
import os
import pickle
import select
import struct
import subprocess


class Server:
    """A process that is started when it is first asked, and again if a request crashes it or takes longer than `seconds`."""

    def __init__(self, name, seconds=None):
        self.name, self.seconds, self.process = name, seconds, None

    def command(self):
        """The command, and environment variables in addition to those of this process."""
        raise NotImplementedError

    def ask(self, *request):
        try:
            self.send(request)
            if not self.answers():
                has_ended = self.process.poll() is not None
                self.close()
                return f"{self.name} crashed" if has_ended else f"{self.name} did not answer within {self.seconds} seconds"
            length = self.process.stdout.read(8)
            return pickle.loads(self.process.stdout.read(struct.unpack("<Q", length)[0]))
        except (BrokenPipeError, EOFError, struct.error):
            self.close()
            return f"{self.name} crashed"

    def answers(self):
        """Whether there is an answer, before the time is over or the process ends. Processes that it started may hold its end of the pipe."""
        waited = 0
        while self.seconds is None or waited < self.seconds:
            if select.select([self.process.stdout], [], [], 1)[0]:
                return True
            if self.process.poll() is not None:
                return False
            waited += 1
        return False

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
            self.process.wait()
            # Processes that a runtime starts may hold its end of the pipes: nothing is read to the end.
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
