"""Rewrite ONNX models exactly and losslessly: fold casts of constants, convert opsets, lint casts.

>>> import onnx_recast
>>> result = onnx_recast.fold("models/fp8_qdq.onnx")
>>> len(result.folded)
3
"""

from onnx_recast._errors import (
    Blocker,
    CastError,
    ConversionError,
    Fault,
    InvalidModelError,
    RecastError,
    VerificationError,
)
from onnx_recast._operations.cast import cast, cast_like
from onnx_recast._operations.compare_runs import compare_runs
from onnx_recast._operations.convert import CarriedValue, ConvertResult, Expansion, IrVersions, convert_version
from onnx_recast._operations.diff import Difference, diff
from onnx_recast._operations.fix import FixResult, fix
from onnx_recast._operations.fold import Computed, Folded, FoldResult, Kept, PassChange, Removal, fold
from onnx_recast._operations.inspect import (
    CastFacts,
    DifferingNode,
    FunctionFacts,
    Initializers,
    Inspection,
    LackingVersions,
    RuntimeVersions,
    TypeFacts,
    inspect,
)
from onnx_recast._operations.lint import Diagnostic, Fix, Region, lint
from onnx_recast._operations.precision import (
    AddedCast,
    AddedFunction,
    Emulation,
    KeptNode,
    LaterOpset,
    NarrowedTensor,
    Opsets,
    PrecisionResult,
    convert_precision,
)
from onnx_recast._operations.precision_error import (
    NodeError,
    PrecisionErrors,
    TunedPrecision,
    precision_error,
    tune_precision,
)
from onnx_recast._operations.ranges import ranges
from onnx_recast._operations.runs_on import MissingKernel, RunsOn, WrongResult, runs_on
from onnx_recast._operations.targets import MissingOperator, Runtime, missing_operators, targets
from onnx_recast._outcomes import OutputComparison, OutputComparisons
from onnx_recast._recast import LATEST_OPSET
from onnx_recast._recast import VERSION as __version__
from onnx_recast._rewriting import Change, DataFile, Saved, UnusedFile
from onnx_recast._verify import Verified

__all__ = [
    "LATEST_OPSET",
    "AddedCast",
    "AddedFunction",
    "Blocker",
    "CarriedValue",
    "CastError",
    "CastFacts",
    "Change",
    "Computed",
    "ConversionError",
    "ConvertResult",
    "DataFile",
    "Diagnostic",
    "Difference",
    "DifferingNode",
    "Emulation",
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
    "IrVersions",
    "Kept",
    "KeptNode",
    "LackingVersions",
    "LaterOpset",
    "MissingKernel",
    "MissingOperator",
    "NarrowedTensor",
    "NodeError",
    "Opsets",
    "OutputComparison",
    "OutputComparisons",
    "PassChange",
    "PrecisionErrors",
    "PrecisionResult",
    "RecastError",
    "Region",
    "Removal",
    "RunsOn",
    "Runtime",
    "RuntimeVersions",
    "Saved",
    "TunedPrecision",
    "TypeFacts",
    "UnusedFile",
    "VerificationError",
    "Verified",
    "WrongResult",
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
    "runs_on",
    "targets",
    "tune_precision",
]
