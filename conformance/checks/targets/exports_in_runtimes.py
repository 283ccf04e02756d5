"""`convert --target` of models of real exporters, for OpenVINO, OpenCV and tract: each result is run, and is right if it was right before. No
result is wrong or refused, unless the conversion notes that it is not known.

Only with --all. The models are those of `exported_folds`, with their random inputs; the expected outputs are those of onnxruntime without
optimizations.
"""

from collections import Counter

from checks.targets.shipped_models_in_runtimes import outcomes, problem
from exporters.models import exported_models
from support.case import test_inputs
from support.models import readable
from support.processes import in_processes
from support.runners import run_model
from support.target import Target

ONLY_WITH_ALL = "needs the environments of the exporters"
# Results that a runtime refuses, as it refuses the models: {name: its message}.
REFUSED = {
    "openvino": {},
    "opencv": {
        "tensorflow_models/lstm_18": "activations.size() == 3",
        "torch_models_dynamo/gru": "perm.size() == (size_t)inpShape.dims",
        "torch_models_dynamo/gru_dynamic": "perm.size() == (size_t)inpShape.dims",
        **{f"torch_casts_legacy/sizes_{form}": "All inputs should have equal types" for form in ("dynamic", "static", "unfolded")},
        "torch_casts_legacy/tables_unfolded": "the process ends",
    },
    "tract": {},
}


def check(report):
    models = [path for _, path in exported_models()]
    for counts, cases in in_processes(run_in, [(runtime, models) for runtime in REFUSED]):
        for name, problem in cases:
            report.case(name, problem)
        report.details += counts


def run_in(task):
    runtime, models = task
    counts, cases = Counter(), []
    with Target(runtime) as target:
        for path in models:
            name = f"{path.parent.parent.name}/{path.parent.name}"
            feeds = test_inputs(path, readable(path))
            expected = computed(path, feeds)
            if expected is None:
                counts["onnxruntime does not run it"] += 1
                continue
            before, after, is_noted = outcomes(target, path, feeds, expected)
            is_known = is_noted or name in REFUSED[runtime] and after == "refused"
            cases.append((f"{target.name}: {name}", problem(before, after, is_known)))
            counts["noted as not known" if is_noted else f"{before} before, {after} after"] += 1
    return [f"{target.name}: {outcome}: {count}" for outcome, count in sorted(counts.items())], cases


def computed(path, feeds):
    """The outputs of a model in onnxruntime; none if it does not run it."""
    try:
        return run_model(path, feeds, "onnxruntime")
    except Exception:
        return None
