"""`convert --target` of the models that packages of PyPI ship, for OpenVINO, OpenCV and tract: each result is run, and is right if it was right
before. No result is wrong, unless the conversion notes that it is not known.

Only with --all: it needs 100 MB of packages. The inputs are those of `models_from_pypi`, the expected outputs those of onnxruntime without
optimizations.
"""

from collections import Counter

import numpy as np
import onnx

from checks.precision.models_from_pypi import LEAST_SCALE, PACKAGES, inputs_of, shipped
from checks.precision.values_beyond_float16 import relative_error
from support.common import scratch_folder
from support.runners import session_of
from support.target import Target, notes_unknown

ONLY_WITH_ALL = "needs 100 MB of packages"
LARGEST_ERROR, LARGEST_ERROR_OF_16_BITS = 1e-3, 1e-2
OWN_DIMENSIONS = "names of dimensions, which it does not unify with lengths"
# Results that a runtime refuses, as it refuses the models.
REFUSED = {
    "openvino": {},
    "opencv": {"model.onnx": "a Gemm whose third input has rank 3, made by its own fusion"},
    "tract": {"PP-OCRv6_det_small.onnx": OWN_DIMENSIONS, "PP-OCRv6_rec_small.onnx": OWN_DIMENSIONS},
}


def check(report):
    models = {path.name: path for package in PACKAGES for path in shipped(package)}
    feeds = {name: inputs_of(onnx.load(path), name) for name, path in models.items()}
    expected = {name: session_of(path).run(None, feeds[name]) for name, path in models.items()}
    for runtime, refused in REFUSED.items():
        counts = Counter()
        with Target(runtime) as target:
            for name, path in sorted(models.items()):
                before, after, is_noted = outcomes(target, path, feeds[name], expected[name])
                report.case(f"{target.name}: {name}", problem(before, after, is_noted or name in refused))
                counts[after] += 1
        report.count(f"right in {runtime}", counts["right"])
        report.details.append(f"{target.name}: {dict(counts)}")
    report.note(f"{len(models)} models")


def problem(before, after, is_known):
    """What is wrong with a conversion, if something is; a result that `is_known` may be wrong or refused if the model was, too."""
    is_worse = before == "right" and after != "right"
    is_silent = after in ("wrong", "refused") and not is_known
    return (is_worse or is_silent) and f"{before} before, {after} after"


def outcomes(target, path, feeds, expected):
    """What a runtime makes of a model and of its conversion, and whether the conversion notes that this is not known."""
    before = outcome(target, path, feeds, expected)
    with scratch_folder() as folder:
        output = folder / "model.onnx"
        done = target.convert(path, output)
        if done.returncode != 0:
            return before, "no file", False
        return before, outcome(target, output, feeds, expected), notes_unknown(done)


def outcome(target, path, feeds, expected):
    found = target.run(path, feeds)
    if isinstance(found, str):
        return "refused"
    has_shapes = [array.shape for array in found] == [array.shape for array in expected]
    largest = LARGEST_ERROR_OF_16_BITS if any(array.dtype == np.float16 for array in expected) else LARGEST_ERROR
    return "right" if has_shapes and max(map(error, expected, found)) <= largest else "wrong"


def error(expected, found):
    return relative_error(expected, found, LEAST_SCALE) if expected.size else np.float64(0)
