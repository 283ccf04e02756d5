"""Values of types that an older opset lacks get wider types: the outputs are those of before, to the bit.

Constants of INT4, UINT4, INT2, UINT2, FLOAT4E2M1, FLOAT8 and BFLOAT16; QuantizeLinear to the integers; casts and QuantizeLinear to float8 types,
of all numbers of FLOAT16, those of the type, those halfway between, the neighbours of these in FLOAT, and random ones. onnxruntime runs both
models; where it lacks a kernel for the original, ml_dtypes says what is right.
"""

import json

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

from support.common import recast, scratch_folder
from support.models import passes_checker
from support.runners import run_model, same_value

# The opset that introduces a type, and those below to which it is converted.
INTEGERS = {"INT4": (21, (20, 13, 10)), "UINT4": (21, (20, 13, 10)), "INT2": (25, (24, 20)), "UINT2": (25, (24, 20))}
# The numpy type, and the first opset whose cast with saturation is not contested.
FLOATS = {
    "FLOAT8E4M3FN": (ml_dtypes.float8_e4m3fn, 19),
    "FLOAT8E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 24),
    "FLOAT8E5M2": (ml_dtypes.float8_e5m2, 19),
    "FLOAT8E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 24),
}
# Where onnxruntime 1.31 computes something else than ONNX defines, before the conversion.
UNLIKE_ONNX = {
    **{f"quantization to {name}": "large numbers do not saturate" for name in ("INT2", "UINT2")},
    "casts to FLOAT8E4M3FN, saturate 0": "480 to 496 become 448, not NaN",
    "casts to FLOAT8E5M2, saturate 0": "61440 becomes NaN, not infinite",
}
ORIGINALS = []  # Whether onnxruntime runs each.
RANDOM, RANDOM_OF_SAMPLE = 5_000_000, 200_000


def check(report):
    numbers = RANDOM if report.everything else RANDOM_OF_SAMPLE
    for name, (opset, targets) in INTEGERS.items():
        report.attempt(f"constants of {name}", lambda: constants(report, name, opset, targets))
        report.attempt(f"quantization to {name}", lambda: quantized(report, name, opset, targets))
    for name in FLOATS:
        report.attempt(f"constants of {name}", lambda: float_constants(report, name))
        for saturate in (1, 0):
            report.attempt(f"casts to {name}", lambda: casts(report, name, saturate, numbers))
        report.attempt(f"quantization to {name}", lambda: float_quantized(report, name, numbers))
    report.attempt("constants of FLOAT4E2M1", lambda: four_bits(report))
    report.attempt("BFLOAT16", lambda: bfloat16(report, numbers))
    report.count("originals that onnxruntime runs", sum(ORIGINALS))
    report.count("originals", len(ORIGINALS))


def constants(report, name, opset, targets):
    """All numbers of the type, dequantized with a zero point, in blocks, and cast."""
    low, high = integer_range(name)
    values = list(range(low, high + 1))
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["y"]),
        helper.make_node("Transpose", ["w"], ["t"]),
        helper.make_node("DequantizeLinear", ["t", "blocks"], ["b"], axis=0, block_size=2),
        helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT),
    ]
    initializers = [
        tensor("w", name, [1, len(values)], values),
        tensor("z", name, [], [high - 1]),
        tensor("s", "FLOAT", [], [0.3]),
        tensor("blocks", "FLOAT", [len(values) // 2, 1], [0.1 * (each + 1) for each in range(len(values) // 2)]),
    ]
    exact = np.array(values, np.float32)
    scales = np.array([0.1 * (each + 1) for each in range(len(values) // 2)], np.float32).repeat(2)
    expected = [
        (exact - np.float32(high - 1))[None] * np.float32(0.3),
        (exact * scales)[:, None],
        exact[None],
    ]
    compare(report, f"constants of {name}", graph(nodes, [], ["y", "b", "c"], initializers, 2), opset, targets, {}, expected)


def quantized(report, name, opset, targets):
    """Numbers within the range, beyond it and halfway between two integers."""
    low, high = integer_range(name)
    data = np.concatenate([np.arange(-300, 300, 0.25), [np.inf, -np.inf, 1e30, -1e30]]).astype(np.float32)
    for zero in (0, high):
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"])]
        initializers = [tensor("s", "FLOAT", [], [0.5]), tensor("z", name, [], [zero])]
        whole = np.clip(np.rint(data / np.float32(0.5)) + zero, low, high)
        expected = [((whole - zero) * np.float32(0.5)).astype(np.float32) + np.float32(0)]
        compare(report, f"quantization to {name}, zero point {zero}", graph(nodes, ["x"], ["y"], initializers), opset, targets, {"x": data}, expected)


def float_constants(report, name):
    """All codes of a float8 type except NaN, dequantized and cast."""
    dtype, _ = FLOATS[name]
    codes = np.arange(256, dtype=np.uint8)
    numbers = codes.view(dtype).astype(np.float32)
    codes, numbers = codes[np.isfinite(numbers)], numbers[np.isfinite(numbers)]
    stored = helper.make_tensor("w", getattr(TensorProto, name), [1, len(codes)], codes.tobytes(), raw=True)
    initializers = [stored, tensor("s", "FLOAT", [], [0.3]), tensor("a", "FLOAT", [1], [0.7])]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["y"]),
        helper.make_node("DequantizeLinear", ["w", "a"], ["p"], axis=0),
        helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT),
    ]
    expected = [numbers[None] * np.float32(0.3), numbers[None] * np.float32(0.7), numbers[None]]
    compare(report, f"constants of {name}", graph(nodes, [], ["y", "p", "c"], initializers, 2), 19, (18, 13), {}, expected)


def four_bits(report):
    codes = np.arange(16, dtype=np.uint8)
    numbers = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    packed = (codes[::2] | codes[1::2] << 4).astype(np.uint8)
    stored = helper.make_tensor("w", TensorProto.FLOAT4E2M1, [16], packed.tobytes(), raw=True)
    scales = np.array([0.3, 0.7], np.float32)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["y"], axis=0, block_size=8),
        helper.make_node("Cast", ["w"], ["c"], to=TensorProto.FLOAT),
    ]
    initializers = [stored, tensor("s", "FLOAT", [2], list(scales))]
    compare(report, "constants of FLOAT4E2M1", graph(nodes, [], ["y", "c"], initializers), 23, (22, 18, 13), {}, [numbers * scales.repeat(8), numbers])


def casts(report, name, saturate, count):
    """A cast to a float8 type and back. ml_dtypes rounds like Cast, and does not saturate."""
    dtype, opset = FLOATS[name]
    opset = opset if saturate else 19
    data = arguments(dtype, count)
    nodes = [
        helper.make_node("Cast", ["x"], ["q"], to=getattr(TensorProto, name), saturate=saturate),
        helper.make_node("Cast", ["q"], ["y"], to=TensorProto.FLOAT),
    ]
    expected = [rounded(data, dtype, saturate)]
    compare(report, f"casts to {name}, saturate {saturate}", graph(nodes, ["x"], ["y"], []), opset, (18, 13), {"x": data}, expected)


def float_quantized(report, name, count):
    dtype, opset = FLOATS[name]
    data = arguments(dtype, count)
    zero = helper.make_tensor("z", getattr(TensorProto, name), [], b"\0", raw=True)
    scale = np.float32(0.3)
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["y"])]
    with np.errstate(all="ignore"):
        expected = [rounded(data / scale, dtype, 1) * scale]
    compare(report, f"quantization to {name}", graph(nodes, ["x"], ["y"], [zero, tensor("s", "FLOAT", [], [scale])]), opset, (18, 13), {"x": data}, expected)


def bfloat16(report, count):
    data = arguments(ml_dtypes.bfloat16, count)
    with np.errstate(all="ignore"):
        expected = [data.astype(ml_dtypes.bfloat16).astype(np.float32)]
    nodes = [helper.make_node("Cast", ["x"], ["q"], to=TensorProto.BFLOAT16), helper.make_node("Cast", ["q"], ["y"], to=TensorProto.FLOAT)]
    compare(report, "casts to BFLOAT16", graph(nodes, ["x"], ["y"], []), 13, (12, 9), {"x": data}, expected)


def rounded(data, dtype, saturate):
    """The numbers of a type that are nearest, as FLOAT."""
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    with np.errstate(all="ignore"):
        if saturate:
            data = np.where(np.isnan(data), data, np.clip(data, -largest, largest))
        return data.astype(dtype).astype(np.float32)


def arguments(dtype, count):
    """Numbers of FLOAT: those of FLOAT16 and of the type, those halfway between, their neighbours, and random ones."""
    width = np.dtype(dtype).itemsize * 8
    every = np.arange(2**width, dtype=f"uint{width}").view(dtype).astype(np.float32)
    halfs = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)
    finite = np.sort(every[np.isfinite(every) & ~np.signbit(every)])
    steps = np.append(finite, 2 * finite[-1].astype(np.float64) - finite[-2]).astype(np.float64)
    halves = ((steps[:-1] + steps[1:]) / 2).astype(np.float32)
    near = np.concatenate([halves, np.nextafter(halves, np.float32(np.inf)), np.nextafter(halves, np.float32(0))])
    bits = np.random.default_rng(0).integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    return np.concatenate([every, halfs, near, -near, bits])


def integer_range(name):
    bits = int(name[-1])
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if name.startswith("INT") else (0, (1 << bits) - 1)


def tensor(name, dtype, dims, values):
    return helper.make_tensor(name, getattr(TensorProto, dtype), dims, values)


def graph(nodes, inputs, outputs, initializers, rank=1):
    values = [helper.make_tensor_value_info(each, TensorProto.FLOAT, ["n"]) for each in inputs]
    results = [helper.make_tensor_value_info(each, TensorProto.FLOAT, ["a", "b"][2 - rank :]) for each in outputs]
    return helper.make_graph(nodes, "g", values, results, initializers)


def compare(report, name, content, opset, targets, feeds, expected):
    """Converts a graph, and runs it: the outputs are those that are expected, and those of onnxruntime before, if it runs the original."""
    with scratch_folder() as folder:
        path = folder / "model.onnx"
        imports = [helper.make_opsetid("", opset)]
        onnx.save(helper.make_model(content, opset_imports=imports, ir_version=helper.find_min_ir_version_for(imports)), path)
        try:
            before = run_model(path, feeds, "onnxruntime")
        except Exception:
            before = None
        ORIGINALS.append(before is not None)
        if before is not None and name.split(", zero")[0] not in UNLIKE_ONNX:
            report.case(f"{name}, before", different(expected, before))
        for target in targets:
            report.case(f"{name} from opset {opset} to {target}", judged(path, target, folder / f"{target}.onnx", feeds, expected))


def judged(path, target, output, feeds, expected):
    done = recast("convert", path, "--opset", str(target), "-o", output, "--format", "json")
    if done.returncode != 0:
        return done.stdout + done.stderr
    carried = json.loads(done.stdout)["models"][0]["carried"]
    if not carried or any(each["class"] != "exact" for each in carried):
        return f"reported as carried: {carried}"
    if not passes_checker(output):
        return "the result is invalid"
    return different(expected, run_model(output, feeds, "onnxruntime"))


def different(expected, found):
    """The first difference to the bit. All NaN are equal."""
    for wanted, got in zip(expected, found, strict=True):
        if wanted.shape == got.shape and same_value(np.where(np.isnan(wanted), np.float32(0), wanted), np.where(np.isnan(got), np.float32(0), got)):
            if np.array_equal(np.isnan(wanted), np.isnan(got)):
                continue
        if wanted.shape != got.shape:
            return f"the shape is {got.shape}, expected {wanted.shape}"
        wrong = np.flatnonzero((wanted.view(np.uint32) != got.view(np.uint32)) & ~(np.isnan(wanted) & np.isnan(got)))
        first = wrong[0]
        return f"{len(wrong)} elements differ, the first at {first}: {got.flat[first]}, expected {wanted.flat[first]}"
    return None
