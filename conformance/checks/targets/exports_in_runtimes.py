"""`convert --target` of models of real exporters, for OpenVINO, OpenCV and tract: each result is run, and is right if it was right before. No
result is wrong or refused, unless the conversion notes that it is not known.

Only with --all. The models are those of `exported_folds`, with their random inputs; the expected outputs are those of onnxruntime without
optimizations.
"""

from collections import Counter

from checks.targets.shipped_models_in_runtimes import outcomes
from exporters.models import exported_models
from support.case import test_inputs
from support.models import readable
from support.processes import in_processes
from support.runners import run_model
from support.target import Target

ONLY_WITH_ALL = "needs the environments of the exporters"
RUNTIMES = ("openvino", "opencv", "tract")


def check(report):
    models = [path for _, path in exported_models()]
    for counts, cases in in_processes(run_in, [(runtime, models) for runtime in RUNTIMES]):
        for name, problem in cases:
            report.case(name, problem)
        report.details += counts


def run_in(task):
    runtime, models = task
    counts, cases = Counter(), []
    with Target(runtime) as target:
        for path in models:
            name = f"{target.name}: {path.parent.parent.name}/{path.parent.name}"
            feeds = test_inputs(path, readable(path))
            before, after, is_noted = outcomes(target, path, feeds, run_model(path, feeds, "onnxruntime"))
            is_bad = before == "right" and after != "right" or after in ("wrong", "refused")
            cases.append((name, (is_bad and not is_noted) and f"{before} before, {after} after"))
            counts["noted as not known" if is_noted else f"{before} before, {after} after"] += 1
    return [f"{target.name}: {outcome}: {count}" for outcome, count in sorted(counts.items())], cases
