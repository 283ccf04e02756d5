"""onnx's own tests of its version converter, from the source distribution of the installed onnx, with another converter in its place."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
import onnx.version_converter
import pytest

from support.environments import name_made

CONFORMANCE = Path(__file__).resolve().parents[1]
TESTS = CONFORMANCE / f".cache/onnx-{onnx.__version__}-tests"
FILES = ("version_converter_test.py", "version_converter/automatic_upgrade_test.py", "version_converter/automatic_downgrade_test.py")
TABLE = CONFORMANCE / "checks/convert/onnx_converter_tests.txt"


def judged(convert):
    """{test: why it fails, or None}, and what differs from the table: [(test, problem or None)]."""
    download_tests()
    failures = failures_with(convert)
    expected = dict(line.split(maxsplit=1) for line in TABLE.read_text().splitlines() if line and not line.startswith("#"))
    cases = []
    for name, message in failures.items():
        if message is None:
            cases.append((name, name in expected and f"passes, but is a row of {TABLE.name}"))
        else:
            cases.append((name, name not in expected and message))
    cases += [(name, f"a row of {TABLE.name}, but not a test") for name in sorted(set(expected) - set(failures))]
    return failures, cases


def download_tests():
    """pip unpacks the source distribution before it asks for the tools to build it, which are not needed."""
    if TESTS.is_dir():
        return
    with tempfile.TemporaryDirectory(prefix="onnx-tests-") as name:
        folder = Path(name)
        pip = [sys.executable, "-m", "pip", "download", "--no-clean", "--no-build-isolation", "--no-deps", "--no-binary", ":all:"]
        done = subprocess.run(
            [*pip, "--dest", folder, f"onnx=={onnx.__version__}"], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(folder)}
        )
        found = list(folder.glob("*/*/tests/python"))
        if len(found) != 1:
            raise RuntimeError(f"no source distribution of onnx {onnx.__version__}: {done.stderr}")
        TESTS.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="onnx-tests-", dir=TESTS.parent) as part:
            copy = shutil.copytree(found[0], Path(part) / TESTS.name)
            # The tests of the Python package may make them at the same time.
            name_made(copy, TESTS)


def passed(failures):
    return sum(message is None for message in failures.values())


class Results:
    """Collects the outcome of each test: {test: why it fails, or None}."""

    def __init__(self):
        self.failures = {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.split("::", 1)[-1].replace("::", ".").replace(" ", "_")
        if report.failed:
            self.failures[name] = self.failures.get(name) or last_line(report.longreprtext)
        elif report.when == "call" and report.passed:
            self.failures.setdefault(name)

    def pytest_collectreport(self, report):
        if report.failed:
            self.failures[report.nodeid] = last_line(report.longreprtext)


def last_line(text):
    """What the exception says: the last lines that pytest marks."""
    return " ".join(line[1:].strip() for line in text.splitlines() if line.startswith("E "))[:600] or text[-300:]


def failures_with(convert):
    original, results = onnx.version_converter.convert_version, Results()
    onnx.version_converter.convert_version = convert
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["-q", "-p", "no:cacheprovider", "--rootdir", str(TESTS), *[str(TESTS / file) for file in FILES]], plugins=[results])
    finally:
        onnx.version_converter.convert_version = original
    return results.failures
