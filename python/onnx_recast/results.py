"""The types of results, and of their parts: immutable values, for annotations and tests of kinds."""

from onnx_recast._errors import Blocker, Fault
from onnx_recast._operations.convert import CarriedValue, ConvertResult, Expansion, IrVersions
from onnx_recast._operations.diff import Difference
from onnx_recast._operations.fix import FixResult
from onnx_recast._operations.fold import Computed, Folded, FoldResult, Kept, PassChange, Removal
from onnx_recast._operations.inspect import (
    CastFacts,
    DifferingNode,
    FunctionFacts,
    Initializers,
    Inspection,
    LackingVersions,
    RuntimeVersions,
    TypeFacts,
)
from onnx_recast._operations.lint import Diagnostic, Fix, Region
from onnx_recast._operations.precision import (
    AddedCast,
    AddedFunction,
    Emulation,
    KeptNode,
    LaterOpset,
    NarrowedTensor,
    Opsets,
    PrecisionResult,
)
from onnx_recast._operations.precision_error import NodeError, PrecisionErrors, TunedPrecision
from onnx_recast._operations.runs_on import MissingKernel, RunsOn, WrongResult
from onnx_recast._operations.targets import MissingOperator, Runtime
from onnx_recast._outcomes import OutputComparison, OutputComparisons
from onnx_recast._rewriting import Change, DataFile, Saved, UnusedFile
from onnx_recast._verify import Verified

__all__ = [
    "AddedCast",
    "AddedFunction",
    "Blocker",
    "CarriedValue",
    "CastFacts",
    "Change",
    "Computed",
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
    "Region",
    "Removal",
    "RunsOn",
    "Runtime",
    "RuntimeVersions",
    "Saved",
    "TunedPrecision",
    "TypeFacts",
    "UnusedFile",
    "Verified",
    "WrongResult",
]
