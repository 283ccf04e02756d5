"""Conversions of the models of the onnx wheel to opsets 28, 17 and 11 pass `--verify`, or are refused as they are without it.

Without --all, every fourth model. Folds are verified by the check `exact_passes_keep_outputs`; tests/suite/verify.rs shows that faults are found.
"""

from collections import Counter

from support.common import recast, scratch_folder, wheel_models
from support.processes import in_processes

OPSETS = (28, 17, 11)


def check(report):
    models = report.sample(wheel_models(), 4)
    outcomes = Counter()
    for name, opset, code, message in in_processes(convert, [(model, opset) for model in models for opset in OPSETS]):
        outcomes["verified" if code == 0 else "refused"] += code in (0, 1)
        report.case(f"{name} to {opset}", code not in (0, 1) and message)
    for outcome in ("verified", "refused"):
        report.count(outcome, outcomes[outcome])
    report.note(f"{outcomes['verified']} conversions verified, {outcomes['refused']} refused")


def convert(case):
    model, opset = case
    with scratch_folder() as folder:
        done = recast("convert", model, "--opset", str(opset), "-o", folder / "converted.onnx", "--verify", "--quiet")
        code, message = done.returncode, done.stderr.strip()
    return f"{model.parent.name}/{model.name}", opset, code, message
