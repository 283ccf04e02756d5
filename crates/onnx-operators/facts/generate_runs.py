#!/usr/bin/env python3
"""Writes facts/runs/RUNTIME.txt: what runtimes compute for the operators of ONNX, established by running models.

    python facts/generate_runs.py [RUNTIME]...          runs what was not run yet, all runtimes by default, and writes their files
    python facts/generate_runs.py --check [RUNTIME]...  exits 1 when a file differs from the results

The results are kept in conformance/.cache/runs: remove a file there to run its models again, which takes minutes. The interpreter must have the
onnx version that generate.py names; RECAST names the binary that converts tests to older versions of their operators. A runtime is installed into
conformance/.cache. The files explain their format.
"""

import argparse
import os
import pathlib
import sys

import onnx
from generate import ONNX_VERSION

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
sys.path.append(str(ROOT / "conformance"))
os.environ.setdefault("RECAST", str(ROOT / "target/release/recast"))
from runs import text  # noqa: E402
from runs.running import results, runtime_of  # noqa: E402
from runs.runtimes import ALL  # noqa: E402

RUNTIMES = tuple(ALL)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is not up to date")
    arguments.add_argument("runtimes", nargs="*", choices=[[], *RUNTIMES], metavar="RUNTIME", help=f"one of {', '.join(RUNTIMES)}")
    options = arguments.parse_args()
    if onnx.__version__ != ONNX_VERSION:
        sys.exit(f"this script needs onnx {ONNX_VERSION}, not {onnx.__version__}")
    differing = False
    for name in options.runtimes or RUNTIMES:
        file = FOLDER / f"runs/{name}.txt"
        contents = text.render(runtime_of(name), results(name))
        if not options.check:
            file.write_text(contents)
        elif contents != file.read_text():
            differing = True
            print(f"{file.name} is not what the results give", file=sys.stderr)
    sys.exit(differing)


if __name__ == "__main__":
    main()
