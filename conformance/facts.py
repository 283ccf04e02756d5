"""The operator facts in facts/ are what the installed onnx package says: their generator writes the same bytes again."""

import subprocess
import sys

from common import ROOT


def check(report):
    generator = ROOT / "facts" / "generate.py"
    done = subprocess.run([sys.executable, generator, "--check"], capture_output=True, text=True)
    report.case("facts/generate.py --check", done.returncode != 0 and (done.stdout + done.stderr).strip())
