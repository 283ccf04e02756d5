"""The facts in facts/ are what the installed onnx and onnxruntime packages, and the wheels of onnxruntime, say: their generators write
the same again. The pages about runtimes are those of their files. A sample reads the kernels of one wheel."""

import subprocess
import sys

from support.common import FACTS

SAMPLED_VERSIONS = ("1.32",)


def check(report):
    versions = () if report.everything else SAMPLED_VERSIONS
    generators = {
        "generate.py": (),
        "generate_microsoft.py": (),
        "generate_onnxruntime.py": (),
        "generate_kernels.py": versions,
        "generate_runs.py": ("--pages",),
    }
    for name, arguments in generators.items():
        done = subprocess.run([sys.executable, FACTS / name, "--check", *arguments], capture_output=True, text=True)
        report.case(f"facts/{name} --check", done.returncode != 0 and (done.stdout + done.stderr).strip())
