"""onnx's own tests of its version converter, with `recast convert` in its place: each that fails is a row of onnx_converter_tests.txt, with the reason.

The tests are those of the source distribution of the installed onnx; they go to conformance/.cache.
"""

import onnx
import onnx.version_converter

from support.common import recast, scratch_folder
from support.onnx_suite import TABLE, failures_with, judged, passed


def check(report):
    failures, cases = judged(convert_version)
    for name, problem in cases:
        report.case(name, problem)
    report.count("tests that pass", passed(failures))
    with_onnx = failures_with(onnx.version_converter.convert_version)
    report.note(f"{passed(failures)} of {len(failures)} tests of onnx {onnx.__version__} pass, the others are rows of {TABLE.name}")
    report.note(f"{passed(with_onnx)} pass with onnx's converter")


def convert_version(model, target_version):
    """`recast convert` with the interface of onnx: any refusal is a RuntimeError. onnx takes initializers as constants, even if they are inputs."""
    with scratch_folder() as folder:
        path, output = folder / "model.onnx", folder / "converted.onnx"
        path.write_bytes(model.SerializeToString())
        done = recast("convert", path, "--opset", str(target_version), "-o", output, "--freeze-initializers")
        if done.returncode != 0:
            raise RuntimeError(done.stdout + done.stderr)
        return onnx.load(output)
