"""Seconds and memory of a command, and what a copy takes beside it."""

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

from support.common import RECAST

# A process counts the memory of the one that started it as its own until it runs a program: so a small one starts recast.
MEASURE = """
import os, resource, sys, time
start = time.monotonic()
with open(sys.argv[1], "wb") as out:
    child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
status, usage = os.wait4(child, 0)[1:]
kibibytes = usage.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
seconds = time.monotonic() - start
print(os.waitstatus_to_exitcode(status), seconds, usage.ru_utime + usage.ru_stime, kibibytes * 1024 / 1e6)
"""

Run = namedtuple("Run", "code seconds processor_seconds megabytes")


def measured(command, output):
    """Runs a command, its stdout into a file: exit code, seconds, and the most memory it held."""
    done = subprocess.run([sys.executable, "-S", "-c", MEASURE, output, *command], capture_output=True, text=True, check=True)
    code, *figures = done.stdout.split()
    return Run(int(code), *map(float, figures))


def run(command):
    """Runs a command: exit code, seconds, and the peak of memory in MiB that is not backed by a file."""
    start = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while child.poll() is None:
        peak = max(peak, anonymous_kibibytes(child.pid))
        time.sleep(0.001)
    return child.returncode, time.monotonic() - start, peak / 1024


def anonymous_kibibytes(process):
    """The system's statistics of a running process; 0 if there are none."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon:")), 0)


# A copy whose bytes are on the disk when the command ends, as those of recast are.
COPY = 'cp "$1" "$2" && sync -d "$2"'


def beside_cp(command, data, folder, runs):
    """Runs a command of recast that writes `out.onnx` into a folder, in turn with a copy of the file that holds the data there: exit code,
    medians, most memory."""
    ours, theirs, codes, peaks = [], [], [], []
    for _ in range(runs):
        theirs.append(into_empty(folder, ["sh", "-c", COPY, "sh", data, folder / "copy"])[1])
        code, seconds, peak = into_empty(folder, [RECAST, *command, "-o", folder / "out.onnx", "--quiet"])
        ours, codes, peaks = [*ours, seconds], [*codes, code], [*peaks, peak]
    return max(codes), statistics.median(ours), statistics.median(theirs), max(peaks)


def into_empty(folder, command):
    """Runs a command that writes into a folder, with nothing of the run before left there or on its way to the disk."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    os.sync()
    return run(command)
