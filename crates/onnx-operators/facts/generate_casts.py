#!/usr/bin/env python3
"""Writes facts/casts.txt, what runtimes compute for Cast, and from it the page docs/runtimes-casts.md and the models of facts/reproductions.

    python facts/generate_casts.py [RUNTIME]...          measures these runtimes again, all by default, and writes all files
    python facts/generate_casts.py --page                writes the page and the models from facts/casts.txt
    python facts/generate_casts.py --check [RUNTIME]...  exits 1 when facts/casts.txt differs from what these runtimes compute, or the
                                                         others from what they are generated from

A RUNTIME is the name of a section of facts/casts.txt with `-` for the space, such as onnxruntime-1.32.0. The interpreter must have the onnx
version that generate.py names. The other packages are installed into conformance/.cache. casts.txt explains its format.
"""

import argparse
import difflib
import os
import pathlib
import sys

import onnx
from generate import ONNX_VERSION

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
sys.path.append(str(ROOT / "conformance"))
os.environ.setdefault("RECAST", "recast")  # A conformance run says where it is; nothing here runs it.
from casts import kinds, page, reading, reproductions, text  # noqa: E402
from casts.results import outcomes  # noqa: E402
from casts.runtimes import RUNTIMES, Process  # noqa: E402

FACTS = FOLDER / "casts.txt"
REPRODUCTIONS = FOLDER / "reproductions"
PAGE = ROOT / "docs/runtimes-casts.md"
NAMED = {f"{runtime.name}-{runtime.version}": runtime for runtime in RUNTIMES}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is not up to date")
    arguments.add_argument("--page", action="store_true", help="measure nothing")
    arguments.add_argument("runtimes", nargs="*", choices=[[], *NAMED], metavar="RUNTIME", help=f"one of {', '.join(NAMED)}")
    options = arguments.parse_args()
    if onnx.__version__ != ONNX_VERSION:
        sys.exit(f"this script needs onnx {ONNX_VERSION}, not {onnx.__version__}")
    measured = {} if options.page else {name: measure(NAMED[name]) for name in options.runtimes or NAMED}
    present = text.sections_of(FACTS.read_text()) if FACTS.exists() else {}
    sections = {name: measured.get(name) or present.get(name) for name in NAMED}
    facts = text.joined({name: listed(NAMED[name], section) for name, section in sections.items() if section})
    sys.exit(write(facts, options.check, options.page))


def write(contents, check, page_only):
    """Writes facts/casts.txt and what is generated from it, or only says what differs; whether anything does."""
    facts = reading.parse(contents)
    files = {FACTS: contents, PAGE: page.render(facts)}
    files |= {REPRODUCTIONS / name: text for name, text in reproductions.files(facts).items()}
    wrong = False
    for file in sorted({*files, *REPRODUCTIONS.glob("*.onnxtxt")}):
        old, new = file.read_text() if file.exists() else "", files.get(file, "")
        if check and old != new:
            print(*difflib.unified_diff(old.splitlines(), new.splitlines(), file.name, "generated", n=0, lineterm=""), sep="\n")
            wrong = True
        elif old != new and not (page_only and file == FACTS):
            file.parent.mkdir(exist_ok=True)
            file.write_text(new) if new else file.unlink()
    return wrong


def listed(runtime, section):
    return text.brief(section, [row for rows in kinds.TABLES.values() for row in rows]) if runtime.brief else section


def measure(runtime):
    print(f"{runtime.name} {runtime.version}", file=sys.stderr, flush=True)
    with Process(runtime) as process:
        return text.section(f"{runtime.name} {runtime.version}", runtime.notes, outcomes(process))


if __name__ == "__main__":
    main()
