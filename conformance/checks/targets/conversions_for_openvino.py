"""`convert --target openvino@V` writes what OpenVINO computes as ONNX defines it.

The guarded casts to FLOAT8 are run on all FLOAT16 values, and on FLOAT values that include all ties, in OpenVINO and in onnxruntime. TopK, which
writes to other memory along some axes, is run along all axes of several shapes.
"""

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto

from support.common import scratch_folder
from support.runners import run_in_onnxruntime
from support.target import Target

# In a sample, one of so many tests of the operators that OpenVINO computes right.
OTHERS = 20
FLOAT8 = {17: ml_dtypes.float8_e4m3fn, 18: ml_dtypes.float8_e4m3fnuz, 19: ml_dtypes.float8_e5m2, 20: ml_dtypes.float8_e5m2fnuz}
RANDOM_FLOATS = 1_000_000
# Of the inputs of TopK: few elements are behind some of the axes.
SHAPES = [(3, 4, 3), (4, 3, 2), (2, 3, 4, 2), (3, 5)]


def check(report):
    with Target("openvino") as target:
        target.check(report, OTHERS)
        for runtime, run in (("OpenVINO", target.run), ("onnxruntime", run_in_onnxruntime)):
            for to in FLOAT8:
                name = TensorProto.DataType.Name(to)
                report.case(f"{runtime}: FLOAT16 to {name}", guarded(target, run, to, np.arange(1 << 16, dtype=np.uint16).view(np.float16)))
                report.case(f"{runtime}: FLOAT to {name}", guarded(target, run, to, floats(to)))
        for shape in SHAPES:
            for axis in range(len(shape)):
                report.case(f"TopK along axis {axis} of {shape}", two_largest(target, shape, axis))


def computed(target, run, text, inputs):
    """The outputs of what a model is converted to, by a runtime, or the message of a refusal."""
    with scratch_folder() as folder:
        original, output = folder / "original.onnx", folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), original)
        done = target.convert(original, output)
        return run(output, inputs) if done.returncode == 0 else done.stdout + done.stderr


def two_largest(target, shape, axis):
    """What the guarded TopK makes of random numbers, if they are not the two largest ones."""
    x = np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)
    declared, result = (",".join(map(str, lengths)) for lengths in (shape, [*shape[:axis], 2, *shape[axis + 1 :]]))
    signature = f"(float[{declared}] x) => (float[{result}] v, int64[{result}] i)"
    text = f'<ir_version: 10, opset_import: ["": 21]> g {signature} <int64[1] k = {{2}}> {{ v, i = TopK <axis = {axis}> (x, k) }}'
    found = computed(target, target.run, text, {"x": x})
    order = np.take(np.argsort(-x, axis=axis, kind="stable"), range(2), axis=axis)
    expected = [np.take_along_axis(x, order, axis), order]
    same = not isinstance(found, str) and all(map(np.array_equal, expected, found))
    return not same and f"{found}, not {expected}"


def floats(to):
    """Random bit patterns, the numbers of the type and the ties between them, and the FLOAT values next to each."""
    codes = np.arange(256, dtype=np.uint8).view(FLOAT8[to]).astype(np.float32)
    numbers = np.sort(codes[np.isfinite(codes)])
    near = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2])
    beside = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    random = np.random.default_rng(47).integers(0, 1 << 32, RANDOM_FLOATS, np.uint32).view(np.float32)
    return np.concatenate([near, *beside, random, np.float32([np.nan, np.inf, -np.inf])])


def guarded(target, run, to, array):
    """What casts to FLOAT8 and back make of an array, guarded or in wider types, if it is not what ONNX defines: NaN is NaN, everything else is clipped
    and rounded."""
    source = "float16" if array.dtype == np.float16 else "float"
    text = f'<ir_version: 11, opset_import: ["": 24]> g ({source}[N] x) => (float[N] y) {{ c = Cast <to = {to}> (x) y = Cast <to = 1> (c) }}'
    found = computed(target, run, text, {"x": array})
    if isinstance(found, str):
        return found
    largest = float(ml_dtypes.finfo(FLOAT8[to]).max)
    expected = np.clip(array.astype(np.float32), -largest, largest).astype(FLOAT8[to]).astype(np.float32)
    [found] = found
    same = (found.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(found) & np.isnan(expected))
    return not same.all() and f"{np.count_nonzero(~same)} of {len(same)} differ, the first is {array[np.argmin(same)]}"
