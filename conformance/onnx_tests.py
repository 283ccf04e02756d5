"""onnx's own tests of its version converter, with `recast convert` in its place: each that fails is a row of onnx_tests.txt, with the reason.

The tests are those of the source distribution of the installed onnx; they go to conformance/.cache.
"""

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import onnx
import onnx.version_converter
import pytest

from common import ROOT, recast, scratch_folder

TESTS = ROOT / f"conformance/.cache/onnx-{onnx.__version__}-tests"
FILES = ("version_converter_test.py", "version_converter/automatic_upgrade_test.py", "version_converter/automatic_downgrade_test.py")
TABLE = ROOT / "conformance/onnx_tests.txt"


def check(report):
    download_tests()
    with_onnx = failures_with(onnx.version_converter.convert_version)
    failures = failures_with(convert_version)
    rows = [line.split(maxsplit=1) for line in TABLE.read_text().splitlines() if line and not line.startswith("#")]
    expected = dict(rows)
    for name, message in failures.items():
        if message is None:
            report.case(name, name in expected and f"passes, but is a row of {TABLE.name}")
        else:
            report.case(name, name not in expected and message)
    for name in sorted(set(expected) - set(failures)):
        report.case(name, f"a row of {TABLE.name}, but not a test")
    report.note(f"{passed(failures)} of {len(failures)} tests of onnx {onnx.__version__} pass, the others are rows of {TABLE.name}")
    report.note(f"{passed(with_onnx)} pass with onnx's converter")


def download_tests():
    """pip unpacks the source distribution before it asks for the tools to build it, which are not needed."""
    if TESTS.is_dir():
        return
    with scratch_folder() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--no-clean", "--no-build-isolation", "--no-deps", "--no-binary", ":all:"]
        done = subprocess.run(
            [*pip, "--dest", folder, f"onnx=={onnx.__version__}"], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(folder)}
        )
        found = list(folder.glob("*/*/tests/python"))
        if len(found) != 1:
            raise RuntimeError(f"no source distribution of onnx {onnx.__version__}: {done.stderr}")
        part = TESTS.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(found[0], part)
        part.rename(TESTS)


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


def convert_version(model, target_version):
    """`recast convert` with the interface of onnx: any refusal is a RuntimeError. onnx takes initializers as constants, even if they are inputs."""
    with scratch_folder() as folder:
        path, output = folder / "model.onnx", folder / "converted.onnx"
        path.write_bytes(model.SerializeToString())
        done = recast("convert", path, "--opset", str(target_version), "-o", output, "--freeze-initializers")
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        return onnx.load(output)
