"""Runs onnx's own tests of its version converter with ``onnx_recast.version_converter`` in place of it.

Run it with the wheel installed: python python/tests/onnx_tests.py. Tests that fail are rows of
conformance/checks/convert/onnx_converter_tests.txt, with the reason why.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import onnx

from onnx_recast.version_converter import convert_version

sys.path.append(str(Path(__file__).parents[2] / "conformance"))
onnx_suite = import_module("support.onnx_suite")

# The table is that of the command, which reads the model of the first test from a file, beside which its data file
# does not exist. The others expect a ConvertError.
ONLY_HERE = {
    f"TestVersionConverter.{name}"
    for name in ("test_external_data_version_conversion", "test_undefined_output", "test_undefined_input")
}


def main() -> None:
    """Run the tests, and print what differs from the table."""
    failures, cases = onnx_suite.judged(convert_version)
    passing = {name for name in ONLY_HERE if failures.get(name, "not run") is None}
    differences = [f"{name}: {problem}" for name, problem in cases if problem and name not in passing]
    differences += [f"{name}: {failures.get(name, 'not run')}" for name in sorted(ONLY_HERE - passing)]
    print(f"{onnx_suite.passed(failures)} of {len(failures)} tests of onnx {onnx.__version__} pass")
    print(*differences, sep="\n")
    sys.exit(1 if differences or not failures else 0)


if __name__ == "__main__":
    main()
