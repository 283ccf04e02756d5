"""The recipes of docs/python.md run with torch, optimum and Olive, and write valid models.

Only with --all: builds and installs the Python package beside these, into conformance/.cache.
"""

import os
import re
import shutil
import subprocess

from exporters.models import SCRIPTS, installed
from support.common import CACHE, ROOT, scratch_folder
from support.environments import is_copy, pip_install

ONLY_WITH_ALL = "builds the Python package, and needs the environments of the exporters"
# What a recipe begins with, by a word in it: a small network with random weights.
PREPARATIONS = {
    "torch.onnx.export": """
import torch
module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.LayerNorm(16), torch.nn.GELU()).half().eval()
inputs = (torch.rand(2, 8).half(),)
""",
    "optimum": """
from transformers import GPT2Config, GPT2LMHeadModel
GPT2LMHeadModel(GPT2Config(n_layer=2, n_head=2, n_embd=16, vocab_size=50, n_positions=32)).save_pretrained("MODEL")
""",
    "olive": """
import json
import onnx
from onnx import TensorProto, helper, numpy_helper
import numpy as np
weights = numpy_helper.from_array(np.eye(64, dtype=np.float32), "w")
x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 64]) for name in "xy")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weights])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "given.onnx")
config = {"input_model": {"type": "ONNXModel", "model_path": "given.onnx"}, "passes": {"half": {"type": "OnnxFloatToFloat16"}}}
Path("config.json").write_text(json.dumps({**config, "output_dir": "optimized"}))
""",
}
BEFORE = "from pathlib import Path\nimport onnx_recast\n"
AFTER = """
import onnx
models = sorted(str(path) for path in Path().glob("**/*.onnx") if ".olive-cache" not in path.parts and "cache" not in path.parts)
for path in models:
    onnx.checker.check_model(path)
print("valid:", *models)
"""


def check(report):
    python, variables = installed("torch")
    variables |= {"PYTHONPATH": str(packages(python)), "HF_HUB_OFFLINE": "1", "OLIVE_DISABLE_TELEMETRY": "1"}
    text = (ROOT / "docs/python.md").read_text().split("\n## Recipes\n")[1]
    recipes = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for word, preparation in PREPARATIONS.items():
        found = [recipe for recipe in recipes if word in recipe]
        if not report.case(word, len(found) != 1 and f"{len(found)} recipes in docs/python.md"):
            continue
        with scratch_folder() as folder:
            code = BEFORE + preparation + found[0] + AFTER
            done = subprocess.run(
                [python, "-c", code], cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600
            )
            last = (done.stdout.strip().splitlines() or [""])[-1]
            report.case(f"{word}: runs", not last.startswith("valid: ") and done.stdout[-1000:] + done.stderr[-3000:])
            report.details.append(f"{word}: {last}")
    report.case("recipes", len(recipes) != len(PREPARATIONS) and f"{len(recipes)}, of which {len(PREPARATIONS)} are run")


def packages(python):
    """The folder of the packages beside those of torch, with the Python package of this version."""
    folder, requirements = CACHE / "recipes", SCRIPTS / "recipes.txt"
    installed_file, into = folder / "installed.txt", ("--no-deps", "--target", folder)
    if not is_copy(installed_file, requirements):
        shutil.rmtree(folder, ignore_errors=True)
        pip_install(python, *into, "--requirement", requirements, check=True)
        shutil.copyfile(requirements, installed_file)
    pip_install(python, *into, "--upgrade", ROOT / "python", check=True)
    return folder
