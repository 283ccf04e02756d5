"""Models whose values leave the range of FLOAT16 and come back (`generators/range_models.py`), after `recast precision`: with each narrow
value rounded, as strongly typed runtimes do, the outputs are close to those of the FLOAT model, and finite where these are."""

from collections import Counter

import numpy as np
import onnx
from onnx import inliner

from generators.range_models import models
from support.common import recast, scratch_folder
from support.narrow import emulated, run

LARGEST_ERROR = 2e-2


def check(report):
    casts, errors = Counter(), {}
    count = 0
    for name, model, feeds, narrow in models():
        count += 1
        report.attempt(name, lambda: errors.update({name: compare(model, feeds, narrow, casts)}))
        if name in errors:
            report.case(f"{name}: outputs", problem(errors[name]))
    report.count("models", count)
    report.note(f"{count} models; largest error {max(errors.values(), default=0):.2g}; {casts['casts']} casts")


def problem(error):
    return error > LARGEST_ERROR and f"relative error {error:.2g}, more than {LARGEST_ERROR}"


def compare(model, feeds, narrow, casts):
    """The largest error of an output, relative to its largest number; infinite if it is not finite."""
    with scratch_folder() as folder:
        source, output = folder / "model.onnx", folder / "narrow.onnx"
        onnx.save(model, source)
        done = recast("precision", source, "--to", narrow, "-o", output)
        assert done.returncode == 0, done.stderr
        changed = onnx.load(output) if output.exists() else model
    onnx.checker.check_model(changed, full_check=True)
    casts["casts"] += sum(node.op_type == "Cast" for node in inliner.inline_local_functions(changed).graph.node)
    return largest_error(model, changed, feeds)


def largest_error(model, changed, feeds, least_scale=0.0):
    """The largest error of an output of a model that was changed, where each narrow value is rounded."""
    before, after = run(inliner.inline_local_functions(model), feeds), run(emulated(changed), feeds)
    return max(relative_error(before[name], after[name], least_scale) for name in before)


def relative_error(before, after, least_scale=0.0):
    """The largest difference of two numbers, relative to the largest one of `before`; infinite if one is not finite where the other is."""
    before, after = before.astype(np.float64), after.astype(np.float64)
    if not np.array_equal(np.isfinite(before), np.isfinite(after)):
        return np.inf
    finite = np.isfinite(before)
    scale = np.abs(before[finite]).max(initial=least_scale)
    return np.abs(before - after)[finite].max(initial=0) / scale if scale else np.abs(after[finite]).max(initial=0)
