"""Runs models in onnxruntime, in onnx's reference evaluator, and in that evaluator with casts and OneHot as ONNX defines them.

A runner gives arrays. onnxruntime takes and gives types that numpy lacks as bits.
"""

import contextlib
import ctypes
from collections import Counter

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops import _op_list, op_cast, op_cast_like, op_one_hot, op_scan

from support import cast_rules
from support.codes import array_codes, array_of_codes, bits

# Warnings of kernels, which no session's options suppress.
onnxruntime.set_default_logger_severity(4)
# The bits of an element in raw_data, where they are not those of numpy's type.
BITS = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}
# What an expansion by definition may differ from a fused kernel, by the width of the type.
CLOSE, CLOSE_16_BIT = 1e-4, 2e-2
# The newest opset that the onnxruntime of the requirements runs.
NEWEST_THAT_RUNS = 26


def run_model(path, inputs, runner):
    """The outputs of a model as arrays; the runner is `onnxruntime` or `reference`."""
    if runner == "reference":
        model = onnx.load(path)
        named_casts = [CastByName] if model.opset_import[0].version < 6 else []
        return ReferenceEvaluator(model, new_ops=named_casts).run(None, inputs)
    return session_of(path).run(None, {name: onnxruntime_input(value) for name, value in inputs.items()})


def session_of(model, threads=0):
    """A session of a file or of bytes. Fused and repacked operators round differently, and some are wrong for odd shapes: nothing is optimized."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.disable_prepacking", "1")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def onnxruntime_input(value):
    """Element types that numpy lacks go in as bits."""
    if not isinstance(value, np.ndarray) or value.dtype.isbuiltin:
        return value
    return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits(value), helper.np_dtype_to_tensor_dtype(value.dtype))


def compare_outputs(before, after, inputs):
    """Runs both models on the same inputs. Returns what judged them, None if neither runner can run the first, and what differs.

    onnxruntime decides where its outputs are equal to the bit. On a CPU it drops casts to FLOAT16 in front of operators without a
    FLOAT16 kernel, so that constants are not rounded before a fold and are after it: where outputs are merely close, the reference
    evaluator decides.
    """
    close_in_onnxruntime = False
    for runner in ("onnxruntime", "reference"):
        try:
            expected = run_model(before, inputs, runner)
        except Exception:
            continue
        try:
            actual = run_model(after, inputs, runner)
        except Exception as error:
            return runner, f"runs in {runner} before, not after: {error}"
        if all(map(same_value, expected, actual)):
            return runner, None
        close_in_onnxruntime = runner == "onnxruntime" and all(map(close_value, expected, actual))
        if not close_in_onnxruntime:
            return runner, f"outputs differ in {runner}: {expected} before, {actual} after"
    return ("onnxruntime, closely", None) if close_in_onnxruntime else (None, None)


def same_value(left, right):
    """Equality to the bit, NaN as NaN; sequences and absent optionals too."""
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same_value, left, right))
    if left is None or right is None:
        return left is right
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.dtype.kind in "OUS":
        return bool((left == right).all())
    return bool(((bits(left) == bits(right)) | ((left != left) & (right != right))).all())


def close_value(left, right):
    """Equality of floats up to the rounding of FLOAT16."""
    if not isinstance(left, np.ndarray) or left.dtype.kind != "f" or left.dtype != right.dtype or left.shape != right.shape:
        return same_value(left, right)
    tolerance = 2.0**-7
    return np.allclose(left, right, rtol=tolerance, atol=tolerance * np.nanmax(np.abs(left), initial=0), equal_nan=True)


class CastByName(OpRun):
    """Cast before opset 6, whose `to` is a name; onnx's reference evaluator has only the later ones."""

    op_domain = ""

    def _run(self, x, to=None, **defaults_of_later_versions):
        return (x.astype(helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(to))),)


CastByName.__name__ = "Cast"  # The reference evaluator finds an operator by the name of its class.


class Scan(op_scan.Scan):
    """Scan along any axes and in both directions, from opset 9 on; onnx's reference evaluator has only the first axis, forwards."""

    op_domain = ""
    LISTS = "scan_input_axes", "scan_input_directions", "scan_output_axes", "scan_output_directions"

    def __init__(self, node, run_params):
        if run_params["opsets"][""] < 9:
            raise RuntimeError("Scan of opset 8 is not implemented")
        plain = onnx.NodeProto()
        plain.CopyFrom(node)
        del plain.attribute[:]
        plain.attribute.extend(attribute for attribute in node.attribute if attribute.name not in self.LISTS)
        super().__init__(plain, run_params)
        self.lists = {attribute.name: attribute.ints for attribute in node.attribute if attribute.name in self.LISTS}

    def _run(self, *inputs, **attributes):
        states = len(inputs) - self.num_scan_inputs
        scanned = [
            np.flip(moved, 0) if is_reverse else moved
            for array, axis, is_reverse in self.with_lists(inputs[states:], "input")
            for moved in [np.moveaxis(array, axis, 0)]
        ]
        results = super()._run(*inputs[:states], *scanned, **attributes)
        outputs = [
            np.moveaxis(np.flip(array, 0) if is_reverse else array, 0, axis)
            for array, axis, is_reverse in self.with_lists(results[states:], "output")
        ]
        return (*results[:states], *outputs)

    def with_lists(self, arrays, kind):
        """(array, axis, whether the direction is reverse) of the scanned inputs or outputs."""
        axes, directions = (self.lists.get(f"scan_{kind}_{name}") or [0] * len(arrays) for name in ("axes", "directions"))
        return zip(arrays, axes, directions)


_op_list.Scan = Scan  # The evaluator collects its operators when it runs the first one.


def run_in_onnxruntime(path, inputs):
    session = session_of(path, threads=1)
    numbers = [element_type(value.type) for value in session.get_outputs()]
    if all(helper.tensor_dtype_to_np_dtype(number).isbuiltin == 1 for number in numbers):
        return [np.asarray(array) for array in session.run(None, {name: ort_value(value) for name, value in inputs.items()})]
    results = session.run_with_ort_values(None, {name: ort_value(value) for name, value in inputs.items()})
    return [ort_array(value, number) for value, number in zip(results, numbers)]


def element_type(name):
    """The number of a type such as `tensor(float)`."""
    return TensorProto.DataType.Value(name.removeprefix("tensor(").removesuffix(")").upper())


def ort_value(array):
    """Types that numpy lacks are copied as bits."""
    if array.dtype.isbuiltin == 1:
        return array if array.dtype.kind == "O" else onnxruntime.OrtValue.ortvalue_from_numpy(array)
    tensor = numpy_helper.from_array(array)
    value = onnxruntime.OrtValue.ortvalue_from_shape_and_type(array.shape, tensor.data_type)
    ctypes.memmove(value.data_ptr(), tensor.raw_data, len(tensor.raw_data))
    return value


def ort_array(value, number):
    dtype = helper.tensor_dtype_to_np_dtype(number)
    if dtype.isbuiltin == 1:
        return value.numpy()
    shape = value.shape()
    tensor = TensorProto(data_type=number, dims=shape)
    bits = BITS.get(TensorProto.DataType.Name(number), 8 * dtype.itemsize)
    tensor.raw_data = ctypes.string_at(value.data_ptr(), (int(np.prod(shape)) * bits + 7) // 8) if np.prod(shape) else b""
    return numpy_helper.to_array(tensor)


def run_in_reference(path, inputs):
    arrays = [np.asarray(array) for array in ReferenceEvaluator(onnx.load(path)).run(None, inputs)]
    # Strings have one type here, and any number of them in numpy.
    return [array.astype(object) if array.dtype.kind in "US" else array for array in arrays]


def run_exactly(path, inputs):
    """The outputs of the reference evaluator with casts by `cast_rules.py` and OneHot by its definition, and how many elements were not defined by ONNX."""
    model, kinds = onnx.load(path), Counter()
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    with replaced(lambda *arguments: exact_cast(opset, kinds, *arguments)):
        outputs = run_in_reference(path, inputs)
    return outputs, kinds["undefined"] + kinds["contested"]


@contextlib.contextmanager
def replaced(cast):
    """Cast and CastLike of the reference evaluator call this function of an array, a type, `saturate` and `round_mode`; OneHot is exact."""
    original_cast, original_one_hot = op_cast.cast_to, op_one_hot.OneHot._run
    op_cast.cast_to = op_cast_like.cast_to = lambda x, to, saturate=True, round_mode="up": cast(original_cast, x, to, saturate, round_mode)
    op_one_hot.OneHot._run = lambda self, indices, depth, values, axis=None: exact_one_hot(indices, depth, values, axis)
    try:
        yield
    finally:
        op_cast.cast_to = op_cast_like.cast_to = original_cast
        op_one_hot.OneHot._run = original_one_hot


def exact_one_hot(indices, depth, values, axis):
    """One of the two values; the evaluator computes (on - off) * x + off, which rounds."""
    return (np.where(op_one_hot._one_hot(indices, depth, axis, bool), values[1], values[0]),)


def exact_cast(opset, kinds, original, array, to, saturate, round_mode):
    """What ONNX defines; for elements of which it says nothing, and for strings, what the reference evaluator gives."""
    given = original(array, to, saturate, round_mode)
    target = TensorProto.DataType.Name(to)
    if "STRING" in (target, source := "STRING" if array.dtype.kind in "OUS" else type_of(array)) or source == target:
        return given
    codes = array_codes(array, cast_rules.bits_of(source))
    answers = [cast_rules.cast(code, source, target, opset, bool(saturate), round_mode) for code in codes]
    kinds.update(answer.kind for answer in answers)
    known = array_codes(given, cast_rules.bits_of(target))
    results = [answer.text if answer.kind == "defined" else other for answer, other in zip(answers, known)]
    return array_of_codes(target, results, cast_rules.bits_of(target)).reshape(array.shape)


def type_of(array):
    return TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(array.dtype))


RUNNERS = {"onnxruntime": run_in_onnxruntime, "reference": run_in_reference}


def same_outputs(expected, found, is_same=None):
    return len(expected) == len(found) and all(map(is_same or same_value, expected, found))


def is_close(left, right):
    if left.dtype.kind in "fV" and left.dtype == right.dtype and left.shape == right.shape:
        tolerance = CLOSE if left.dtype.itemsize > 2 else CLOSE_16_BIT
        return np.allclose(left.astype(np.float64), right.astype(np.float64), rtol=tolerance, atol=tolerance / 10, equal_nan=True)
    return same_value(left, right)
