"""Drivers in processes of their own, which tests kill."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Self

import psutil

PATIENCE = 900.0
"""Seconds after which a test fails that waits: no test measures time."""


class Driver:
    """The command. Leaving the context kills it; what it printed is printed, which pytest shows if the test fails."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments
        self._printed = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        command = [sys.executable, "-m", "onnx_recast.fleet", *arguments, "--quiet"]
        self.process = subprocess.Popen(command, stdout=self._printed, stderr=subprocess.STDOUT, text=True)

    def __enter__(self) -> Self:
        return self

    def wait(self) -> int:
        """Wait until it ends, and return its exit code."""
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        """End it as a lost machine would."""
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._printed.seek(0)
        print(f"{' '.join(self._arguments)}: exit code {self.process.returncode}\n{self._printed.read()}")
        self._printed.close()


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_alive(process: psutil.Process) -> bool:
    """Whether a process works; one that has ended may still be in the table of processes."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
