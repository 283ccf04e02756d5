"""The models of models/ are what their script writes, are valid, and run."""

import subprocess
import sys

import onnx

from support.common import EXAMPLES, ROOT
from support.models import sample_inputs
from support.runners import run_model

# onnxruntime lists the types that a Cast by name may have, and then refuses the name; folding removes these casts.
NOT_IN_ONNXRUNTIME = ["opset1_string_to"]
LARGEST_FILE = 100_000


def check(report):
    done = subprocess.run([sys.executable, ROOT / "models" / "make.py", "--check"], capture_output=True, text=True)
    report.case("models/make.py --check", done.returncode != 0 and (done.stdout + done.stderr).strip())
    for path in EXAMPLES:
        report.attempt(f"{path.name}: onnx.checker", lambda: onnx.checker.check_model(path, full_check=True))
        report.case(f"{path.name}: size", path.stat().st_size > LARGEST_FILE and f"larger than {LARGEST_FILE} bytes")
        model = onnx.load(path)
        runner = "reference" if path.stem in NOT_IN_ONNXRUNTIME else "onnxruntime"
        report.attempt(f"{path.name}: {runner}", lambda: run_model(path, sample_inputs(model), runner))
