"""Models of real exporters, converted for onnxruntime 1.17, 1.20, 1.23, 1.27 and 1.32: as `conversions_for_onnxruntime` judges them.

Only with --all. The models are those of `exported_folds`. Those that a version runs in some opset, with the outputs that onnxruntime 1.31
computes, are converted to a model that loads, runs and computes the same.
"""

from checks.targets import conversions_for_onnxruntime
from exporters.models import exported_models

ONLY_WITH_ALL = "needs the environments of the exporters"
LEAST_SAME = 1200


def check(report):
    counts = conversions_for_onnxruntime.judge_all(report, [path for _, path in exported_models()])
    report.at_least("models that compute the same", sum(counts[version, "same"] for version in conversions_for_onnxruntime.VERSIONS), LEAST_SAME)
