"""The example at the top of README.md: the cast of a constant to float8, which saturates, computed by OpenVINO before and after `recast fold`.

The reference evaluator of onnx and onnxruntime compute 448 from both models. OpenVINO computes NaN from the first one.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from support.common import FACTS, ROOT, recast, scratch_folder

sys.path.append(str(FACTS))
from casts.models import value_of  # noqa: E402
from casts.runtimes import RUNTIMES, Process  # noqa: E402

MODEL = """<ir_version: 10, opset_import: ["": 21]>
g (float[1] x) => (float[1] y) <float[1] w = {500.0}> {
  f = Cast <to = 17, saturate = 1> (w)
  c = Cast <to = 1> (f)
  y = Add (c, x)
}"""
OPENVINO = next(runtime for runtime in RUNTIMES if runtime.name == "openvino")
ONLY_WITH_ALL = "needs OpenVINO, which crates/onnx-operators/facts/casts/runtimes.py installs"


def check(report):
    with scratch_folder() as folder:
        source, folded = folder / "model.onnx", folder / "folded.onnx"
        onnx.save(onnx.parser.parse_model(MODEL), source)
        done = recast("fold", source, "-o", folded)
        report.case("the fold", done.returncode and done.stderr)
        for model, theirs in [(source, "nan"), (folded, "448.0")]:
            expected = {"onnx": "448.0", "onnxruntime": "448.0", "OpenVINO": theirs}
            computed = {tool: str(run(model)) for tool, run in RUNS.items()}
            report.case(model.name, computed != expected and computed)
        lint = recast("lint", source, "--select", "RC104", "--format", "concise")
        report.case("the finding", (lint.returncode != 1 or "RC104" not in lint.stdout) and lint.stdout + lint.stderr)
    report.case("the version in README.md", f"OpenVINO {OPENVINO.version}" not in (ROOT / "README.md").read_text() and f"is not {OPENVINO.version}")


def by_openvino(model):
    with Process(OPENVINO) as process:
        answer = process.ask("run", model.read_bytes(), {"x": value_of("FLOAT", [0])})
    if isinstance(answer, str):
        return answer
    _, _, data = answer[0]
    return np.frombuffer(data, np.float32)[0]


X = {"x": np.zeros(1, np.float32)}
RUNS = {
    "onnx": lambda model: ReferenceEvaluator(str(model)).run(None, X)[0][0],
    "onnxruntime": lambda model: onnxruntime.InferenceSession(model).run(None, X)[0][0],
    "OpenVINO": by_openvino,
}
