"""The operator facts in facts/ are what the installed onnx and onnxruntime packages say: their generators write the same bytes again."""

import subprocess
import sys

from support.common import ROOT


def check(report):
    for name in ("generate.py", "generate_microsoft.py"):
        done = subprocess.run([sys.executable, ROOT / "facts" / name, "--check"], capture_output=True, text=True)
        report.case(f"facts/{name} --check", done.returncode != 0 and (done.stdout + done.stderr).strip())
