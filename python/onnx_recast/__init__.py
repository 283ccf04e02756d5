"""Rewrite ONNX models exactly and losslessly: fold casts of constants, convert opsets, lint casts.

>>> import onnx_recast
>>> result = onnx_recast.fold("models/fp8_qdq.onnx")
>>> len(result.folded)
3
"""

from onnx_recast import results
from onnx_recast._errors import CastError, ConversionError, InvalidModelError, RecastError, VerificationError
from onnx_recast._operations.cast import cast, cast_like
from onnx_recast._operations.compare_runs import compare_runs
from onnx_recast._operations.convert import convert_version
from onnx_recast._operations.diff import diff
from onnx_recast._operations.fix import fix
from onnx_recast._operations.fold import fold
from onnx_recast._operations.inspect import inspect
from onnx_recast._operations.lint import lint
from onnx_recast._operations.precision import convert_precision
from onnx_recast._operations.precision_error import precision_error, tune_precision
from onnx_recast._operations.ranges import ranges
from onnx_recast._operations.runs_on import runs_on
from onnx_recast._operations.targets import missing_operators, targets
from onnx_recast._recast import LATEST_OPSET
from onnx_recast._recast import VERSION as __version__

__all__ = [
    "LATEST_OPSET",
    "CastError",
    "ConversionError",
    "InvalidModelError",
    "RecastError",
    "VerificationError",
    "__version__",
    "cast",
    "cast_like",
    "compare_runs",
    "convert_precision",
    "convert_version",
    "diff",
    "fix",
    "fold",
    "inspect",
    "lint",
    "missing_operators",
    "precision_error",
    "ranges",
    "results",
    "runs_on",
    "targets",
    "tune_precision",
]
