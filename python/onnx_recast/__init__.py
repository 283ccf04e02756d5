"""Rewrite ONNX models exactly and losslessly: fold casts of constants, convert opsets, lint casts.

>>> import onnx_recast
>>> result = onnx_recast.fold("models/fp8_qdq.onnx")
>>> len(result.folded)
3
"""

from onnx_recast._cast import cast, cast_like
from onnx_recast._errors import CastError, ConversionError, InvalidModelError, RecastError, VerificationError
from onnx_recast._functions import convert_version, diff, fix, fold, inspect, lint, targets
from onnx_recast._recast import LATEST_OPSET
from onnx_recast._recast import VERSION as __version__
from onnx_recast._results import (
    Blocker,
    CastFacts,
    Change,
    Computed,
    ConvertResult,
    DataFile,
    Diagnostic,
    Difference,
    Expansion,
    Fault,
    Fix,
    FixResult,
    Folded,
    FoldResult,
    FunctionFacts,
    Initializers,
    Inspection,
    Kept,
    OutputComparison,
    Runtime,
    RuntimeVersions,
    Saved,
    TypeFacts,
    Verified,
)
from onnx_recast._runtime import compare_runs

__all__ = [
    "LATEST_OPSET",
    "Blocker",
    "CastError",
    "CastFacts",
    "Change",
    "Computed",
    "ConversionError",
    "ConvertResult",
    "DataFile",
    "Diagnostic",
    "Difference",
    "Expansion",
    "Fault",
    "Fix",
    "FixResult",
    "FoldResult",
    "Folded",
    "FunctionFacts",
    "Initializers",
    "Inspection",
    "InvalidModelError",
    "Kept",
    "OutputComparison",
    "RecastError",
    "Runtime",
    "RuntimeVersions",
    "Saved",
    "TypeFacts",
    "VerificationError",
    "Verified",
    "__version__",
    "cast",
    "cast_like",
    "compare_runs",
    "convert_version",
    "diff",
    "fix",
    "fold",
    "inspect",
    "lint",
    "targets",
]
