"""What values that leave the range of FLOAT16 become with recast and with the tools of `precision_peers`: the models of
`generators/range_models.py`, with each narrow value rounded, as strongly typed runtimes do.

Only with --all. Counted for each tool: models whose outputs are right (an error of at most 2e-2), wrong, or not finite where the model's are,
and models that it does not write, or that do not run.
"""

from collections import Counter

import numpy as np
import onnx
from onnx import inliner

from checks.peers.precision_peers import TOOLS, change
from checks.precision.values_beyond_float16 import LARGEST_ERROR, relative_error
from generators.range_models import models
from peers.environment import modelopt_python, precision_python
from support.common import scratch_folder
from support.narrow import emulated, run

ONLY_WITH_ALL = "needs conformance/.venv-precision-peers and the environments of the exporters"
OUTCOMES = ("right", "wrong", "not finite", "does not run", "not written")
OURS = "recast stable"
LEAST_MODELS = 75


def check(report):
    precision_python(), modelopt_python()
    found, count = {tool: Counter() for tool in TOOLS}, 0
    for name, model, feeds, narrow in models():
        if narrow != "FLOAT16":
            continue
        count += 1
        before = run(inliner.inline_local_functions(model), feeds)
        outcomes = {tool: outcome_of(tool, model, feeds, before) for tool in TOOLS}
        report.case(name, outcomes[OURS] != "right" and outcomes[OURS])
        for tool, outcome in outcomes.items():
            found[tool][outcome] += 1
    report.at_least("models", count, LEAST_MODELS)
    report.details.append(f"| {count} models | {' | '.join(TOOLS)} |")
    report.details += [f"| {outcome} | {' | '.join(str(found[tool][outcome]) for tool in TOOLS)} |" for outcome in OUTCOMES]
    report.note(f"{count} models")


def outcome_of(tool, model, feeds, before):
    with scratch_folder() as folder:
        source, output = folder / "model.onnx", folder / "output.onnx"
        onnx.save(model, source)
        if not change(tool, source, output, feeds)[2]:
            return "not written"
        changed = onnx.load(output)
    try:
        after = run(emulated(changed), feeds)
    except Exception:  # onnxruntime has an exception for each kind of fault.
        return "does not run"
    # Some tools rename outputs.
    error = max(relative_error(expected, computed) for expected, computed in zip(before.values(), after.values()))
    return "right" if error <= LARGEST_ERROR else "wrong" if np.isfinite(error) else "not finite"
