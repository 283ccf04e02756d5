#!/usr/bin/env python3
"""Writes facts/runs/RUNTIME.txt: what runtimes compute for the operators of ONNX, established by running models, and facts/runs/RUNTIME-VERSION.txt
for older versions. Writes a page about each runtime, docs/runtimes-RUNTIME.md, and models that show the wrong results, facts/reproductions/RUNTIME.

    python facts/generate_runs.py [RUNTIME]...          runs what was not run yet, all runtimes by default, and writes their files and pages
    python facts/generate_runs.py --pages [RUNTIME]...  runs nothing, and writes the pages of the files that are there
    python facts/generate_runs.py --check [--pages] …   exits 1 when a file differs from the results, or a page from its file

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
from runs import page, reproductions, text  # noqa: E402
from runs.running import results, versions_of  # noqa: E402
from runs.runtimes import ALL  # noqa: E402

RUNTIMES = tuple(ALL)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is not up to date")
    arguments.add_argument("--pages", action="store_true", help="run nothing; the pages alone")
    arguments.add_argument("runtimes", nargs="*", choices=[[], *RUNTIMES], metavar="RUNTIME", help=f"one of {', '.join(RUNTIMES)}")
    options = arguments.parse_args()
    if onnx.__version__ != ONNX_VERSION:
        sys.exit(f"this script needs onnx {ONNX_VERSION}, not {onnx.__version__}")
    targets = [row.split()[0] for row in (FOLDER / "targets.txt").read_text().splitlines() if not row.startswith("#")]
    differing = False
    if not options.runtimes and not options.pages:
        differing |= write(reproduced("onnxruntime", reproductions.of_onnxruntime()), options)
    for name in options.runtimes or RUNTIMES:
        found = None if options.pages else {runtime: results(runtime) for runtime in versions_of(name)}
        if found:
            contents = text.files(found)
        else:
            contents = {path.name: path.read_text() for path in sorted((FOLDER / "runs").glob(f"{name}*.txt"), reverse=True)}
        newest, *older = contents.values()
        files = {FOLDER / "runs" / file_name: lines for file_name, lines in contents.items()}
        files[ROOT / f"docs/runtimes-{name}.md"] = page.render(name, newest, older, name in targets)
        if found:
            files |= reproduced(name, reproductions.files(*next(iter(found.items()))))
        differing |= write(files, options)
    sys.exit(differing)


def reproduced(name, models):
    """The files of models that show wrong results of a runtime, and those that are there, empty."""
    folder = FOLDER / "reproductions" / name
    return dict.fromkeys(folder.glob("*.onnxtxt"), "") | {folder / file_name: model for file_name, model in models.items()}


def write(files, options):
    """Writes files, or only says which differ; whether any does."""
    differing = False
    for path, expected in files.items():
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(expected) if expected else path.unlink()
        elif not path.exists() or expected != path.read_text():
            differing = True
            print(f"{path.name} is not what {'its file gives' if options.pages else 'the results give'}", file=sys.stderr)
    return differing


if __name__ == "__main__":
    main()
