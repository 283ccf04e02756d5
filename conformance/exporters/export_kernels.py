"""Models of real exporters, converted for onnxruntime 1.17, 1.20, 1.23, 1.27 and 1.32: as `kernels` judges them.

Only with --all. The models are those of `export_passes`. Those that a version runs in some opset, with the outputs that onnxruntime 1.31
computes, are converted to a model that loads, runs and computes the same.
"""

from checks import kernels
from exporters.export_passes import exported_models

LEAST_SAME = 1200


def check(report):
    if not report.everything:
        report.skip("only with --all")
        return
    counts = kernels.judge_all(report, [path for _, path in exported_models()])
    report.at_least("models that compute the same", sum(counts[version, "same"] for version in kernels.VERSIONS), LEAST_SAME)
