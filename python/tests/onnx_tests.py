"""Runs onnx's own tests of its version converter with ``onnx_recast.convert_version`` in place of it.

Run it with the wheel installed: python python/tests/onnx_tests.py. Tests that fail are rows of
conformance/onnx_tests.txt, with the reason why.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import onnx

import onnx_recast

sys.path.append(str(Path(__file__).parents[2] / "conformance"))
onnx_suite = import_module("onnx_suite")

# The command reads the model of this test from a file, beside which its data file does not exist.
IN_MEMORY_ONLY = {"TestVersionConverter.test_external_data_version_conversion"}


def convert_version(model: onnx.ModelProto, target_version: int) -> onnx.ModelProto:
    """Convert as onnx does: initializers are constants even if they are inputs, and errors are RuntimeError."""
    try:
        return onnx_recast.convert_version(model, target_version, freeze_initializers=True).model
    except (onnx_recast.RecastError, ValueError) as error:
        raise RuntimeError(str(error)) from error


def main() -> None:
    """Run the tests, and print what differs from the table."""
    failures, cases = onnx_suite.judged(convert_version)
    passing = {name for name in IN_MEMORY_ONLY if failures.get(name, "not run") is None}
    differences = [f"{name}: {problem}" for name, problem in cases if problem and name not in passing]
    differences += [f"{name}: {failures.get(name, 'not run')}" for name in sorted(IN_MEMORY_ONLY - passing)]
    print(f"{onnx_suite.passed(failures)} of {len(failures)} tests of onnx {onnx.__version__} pass")
    print(*differences, sep="\n")
    sys.exit(1 if differences or not failures else 0)


if __name__ == "__main__":
    main()
