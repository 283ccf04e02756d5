"""compare_runs: two models, run with onnxruntime on the same inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_recast._models import Opened
from onnx_recast._options import whole
from onnx_recast._runtime import compare_inputs

if TYPE_CHECKING:
    from onnx_recast._options import StrPath
    from onnx_recast._outcomes import OutputComparisons
    from onnx_recast._runtime import Inputs


def compare_runs(
    left: object,
    right: object,
    inputs: Inputs = None,
    *,
    seed: int = 0,
    base_dir: StrPath | None = None,
) -> OutputComparisons:
    """Run two models with onnxruntime on the same inputs, and compare their outputs bit for bit.

    Both models are run on the CPU, without graph optimizations. Floating-point inputs are cast to the type that
    ``right`` declares, if it is another one.

    Parameters
    ----------
    left, right : path, bytes-like, binary file, onnx.ModelProto or onnx_ir.Model
        The models. They must have outputs of the same names.
    inputs : mapping of str to array_like, or sequence of such mappings, optional
        The inputs of one run, or of each of several runs. By default, one run with random inputs of the declared types
        and shapes: each named dimension becomes 2 or 3; integers of 32 and 64 bits are 0 or 1.
    seed : int
        Seed of the random inputs.
    base_dir : path, optional
        Folder of the data files of models that are not paths.

    Returns
    -------
    OutputComparisons
        A tuple with an :class:`OutputComparison` for each output, in the order of ``left``; of several runs, the one
        that differs most. Printed, or in a notebook, it is a table.

    Raises
    ------
    VerificationError
        The models cannot be compared: onnxruntime cannot run one of them, their outputs have other names, or ``left``
        gives different results each time.
    ValueError
        An input is missing, unknown, or of another type than the model declares.
    ImportError
        onnx or onnxruntime is not installed.

    Notes
    -----
    On a CPU, onnxruntime drops casts to FLOAT16, depending on the nodes around them, even without graph optimizations.
    Models with FLOAT16 or BFLOAT16 are run with two ``Identity`` after each node, so that every value is rounded.

    Examples
    --------
    >>> import onnx_recast
    >>> folded = onnx_recast.fold("models/transformer_fp16.onnx").model
    >>> [(output.name, output.outcome) for output in onnx_recast.compare_runs("models/transformer_fp16.onnx", folded)]
    [('y', 'equal')]
    """
    names = ("the left model", "the right model")
    number = whole("seed", seed)
    return compare_inputs(Opened(left, base_dir).input, Opened(right, base_dir).input, inputs, seed=number, names=names)
