"""The kernels equal the exact path, and that equals big integers: crates/onnx-cast/tests/exhaustive with optimization, on a part of the codes of FLOAT.

With --all on all of them, which takes a good half hour on two cores.
"""

import os
import re
import subprocess

from support.common import ROOT

# Another share than powers of two: the blocks that are tried differ in the low bits of their codes.
SAMPLE = 127


def check(report):
    share = 1 if report.everything else SAMPLE
    command = ["cargo", "test", "--quiet", "--release", "--package", "onnx-cast", "--test", "exhaustive"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"EXHAUSTIVE": str(share)}, capture_output=True, text=True)
    passed = re.search(r"(\d+) passed; 0 failed", done.stdout)
    report.case("the proof", not (passed and done.returncode == 0) and f"exit code {done.returncode}: {done.stdout}{done.stderr}"[-3000:])
    report.count("tests", int(passed[1]) if passed else 0)
    report.note(f"{passed[1] if passed else 0} tests, one in {share} blocks of FLOAT codes")
