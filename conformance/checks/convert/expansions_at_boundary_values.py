"""Expansions and exact rewrites on the values at which they could go wrong: onnxruntime computes the same before and after.

Where onnxruntime cannot run the original, or its own kernel is inexact, numpy says what is right.
"""

import numpy as np
import onnx
import onnx.parser

from support.common import recast, scratch_folder
from support.models import passes_checker
from support.runners import run_model, same_value

TOLERANCE = 2e-5  # Of expansions by definition.
TABLE_TOLERANCE = 2e-4  # Of interpolation with positions in single precision.
LARGE = 2**24  # Beyond it not every integer is a FLOAT.
RANGES = [
    (10, 6, -3), (10, 6, -2), (0, 10, 3), (0, 10, 5), (0, 10, 20), (0, -7, -1), (-3, 3, 2), (3, -3, -2),
    (5, 5, 1), (5, 4, 1), (4, 5, -1), (0, 0, -7),
    (LARGE, LARGE + 5, 1), (LARGE + 1, LARGE + 8, 2), (-LARGE - 1, -LARGE - 8, -3),
    (2**31 - 1, -(2**31), -(2**30)), (-(2**31), 2**31 - 1, 2**31 - 1),
    (2**53 + 1, 2**53 + 9, 3), (2**62, 2**62 + 10, 3), (-(2**62), -(2**62) - 10, -3), (2**63 - 5, 2**63 - 1, 2),
    (2**53 + 1, 0, -(2**51 + 3)), (2**60, 2**61, (2**60 - 1) // 3), (0, 2**62 + 1, 2**61),
]  # fmt: skip
EQUATIONS = [
    ("i,i->", [(4,), (4,)]),
    ("i,j->ij", [(4,), (3,)]),
    ("ij,jk", [(4, 3), (3, 2)]),
    ("ba,cb", [(4, 3), (2, 4)]),
    ("bij,bjk->kbi", [(2, 4, 3), (2, 3, 5)]),
    ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
    ("nhd,hdo->no", [(4, 2, 3), (2, 3, 5)]),
    ("no,hdo->nhd", [(4, 5), (2, 3, 5)]),
    ("abc,cde->abde", [(2, 3, 4), (4, 5, 6)]),
    ("abcd->db", [(2, 3, 4, 5)]),
    ("ij,ij->ji", [(2, 3), (2, 3)]),
    ("ijx,jky->k", [(2, 3, 4), (3, 5, 2)]),
    ("bte,btd,edf->btf", [(2, 3, 4), (2, 3, 5), (4, 5, 6)]),
    ("a,b,c->cab", [(2,), (3,), (4,)]),
    ("bi,bj->b", [(0, 3), (0, 4)]),
]


def check(report):
    ranges(report)
    shifts(report)
    resizes(report)
    flattens(report)
    contractions(report)
    parts(report)
    slices(report)
    pads(report)
    transforms(report)
    grids(report)
    affine_grids(report)
    quantized(report)
    sliced(report)
    reshaped(report)
    normalized(report)
    rounded(report)
    regrouped(report)
    scattered(report)
    pooled(report)
    mapped(report)
    padded(report)
    clipped(report)
    reduced(report)
    inserted(report)
    paired(report)
    trained(report)
    tables(report)


def ranges(report):
    for name, dtype in (("int16", np.int16), ("int32", np.int32), ("int64", np.int64)):
        feeds = [dict(zip("sld", (np.array(value, dtype) for value in case))) for case in RANGES if fits(case, dtype)]
        expected = [np.array(range(*(int(value) for value in feed.values())), dtype) for feed in feeds]
        compare(report, f"g ({name} s, {name} l, {name} d) => ({name}[n] y) {{ y = Range (s, l, d) }}", 11, (10, 9, 8, 7), feeds, expected)


def fits(values, dtype):
    return all(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max for value in values)


def shifts(report):
    for name, dtype in (("uint8", np.uint8), ("uint16", np.uint16), ("uint32", np.uint32), ("uint64", np.uint64)):
        bits = np.iinfo(dtype).bits
        numbers = np.array([0, 1, 3, 1 << (bits - 1), (1 << bits) - 1], dtype)[:, None]
        by = np.array([0, 1, bits - 1, bits, bits + 1, (1 << min(bits, 63)) - 1], dtype)[None]
        for direction in ("LEFT", "RIGHT"):
            expected = [[shifted(int(number), int(count), bits, direction) for count in by[0]] for number in numbers[:, 0]]
            text = f'g ({name}[n,1] x, {name}[1,m] b) => ({name}[n,m] y) {{ y = BitShift <direction = "{direction}"> (x, b) }}'
            compare(report, text, 28, (27, 13, 11), [{"x": numbers, "b": by}], [np.array(expected, dtype)])


def shifted(number, count, bits, direction):
    if count >= bits:
        return 0
    return (number << count) % 2**bits if direction == "LEFT" else number >> count


def resizes(report):
    feeds = []
    for height in (1, 2, 3, 5, 7):
        image = np.arange(2 * height * 6, dtype=np.float32).reshape(1, 2, height, 6)
        feeds += [{"x": image, "s": np.array([1, 1, a, b], np.float32)} for a in (0.4, 0.5, 1, 1.5, 2.6) for b in (0.5, 1 / 3, 1, 2, 2.5)]
    feeds = [feed for feed in feeds if int(feed["x"].shape[2] * feed["s"][2]) > 0]
    compare(report, "g (float[a,b,c,d] x, float[4] s) => (float[e,f,g,h] y) { y = Resize (x, s) }", 10, (11, 13, 18, 26), feeds)
    nearest = '<coordinate_transformation_mode = "tf_half_pixel_for_nn", mode = "nearest", nearest_mode = "floor">'
    text = f"g (float[a,b,c,d] x, float[4] s) => (float[e,f,g,h] y) <float[0] r = {{}}> {{ y = Resize {nearest} (x, r, s) }}"
    compare(report, text, 12, (13, 18, 26), feeds)


def flattens(report):
    for name in ("int64", "bool", "uint8"):
        feeds = [{"x": np.arange(batch * 6).reshape(batch, 2, 3).astype(name)} for batch in (0, 1, 4)]
        for axis in (0, 1, -2):
            compare(report, f"g ({name}[n,2,3] x) => ({name}[a,b] y) {{ y = Flatten <axis = {axis}> (x) }}", 11, (8, 7, 5), feeds)


def contractions(report):
    random = np.random.default_rng(0)
    for equation, shapes in EQUATIONS:
        # Whole numbers, whose sums are exact in any order; not zero, whose sign depends on the order.
        arrays = [random.integers(1, 9, shape).astype(np.float32) for shape in shapes]
        names = "xyz"[: len(shapes)]
        inputs = ", ".join(f"float[{','.join(map(str, shape))}] {name}" for name, shape in zip(names, shapes))
        expected = np.einsum(equation, *arrays)
        text = f'g ({inputs}) => (float[{",".join(map(str, expected.shape))}] r) {{ r = Einsum <equation = "{equation}"> ({", ".join(names)}) }}'
        text = text.replace("(float[] r)", "(float r)")
        compare(report, text, 12, (11, 9, 7), [dict(zip(names, arrays))], [expected])


def parts(report):
    data = np.arange(24, dtype=np.float32).reshape(6, 4)
    for axis, cases in ((0, ([1, 2, 3], [0, 6, 0], [6, 0, 0])), (-1, ([1, 1, 2], [4, 0, 0]))):
        feeds = [{"x": data, "s": np.array(lengths, np.int64)} for lengths in cases]
        # The concatenation of the reversed parts shows each of them.
        text = f"""g (float[6,4] x, int64[3] s) => (float[6,4] y) {{
            a, b, c = Split <axis = {axis}> (x, s) y = Concat <axis = {axis}> (c, b, a) }}"""
        compare(report, text, 13, (12, 11, 10), feeds)


def slices(report):
    data = np.arange(60, dtype=np.float32).reshape(5, 4, 3)
    cases = [(1, 5, 0, 2), (-1, -6, 0, -1), (4, -100, 0, -2), (2**63 - 1, -(2**63), 1, -3), (0, 100, -1, 2), (3, 1, 1, -1), (1, 3, 2, 4), (2, 1, 0, 2)]
    for start, end, axis, step in cases:
        lists = ", ".join(f"int64[1] {name} = {{{value}}}" for name, value in zip("bcde", (start, end, axis, step)))
        compare(report, f"g (float[5,4,3] x) => (float[p,q,r] y) <{lists}> {{ y = Slice (x, b, c, d, e) }}", 10, (9, 7), [{"x": data}])


def pads(report):
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    cases = [([1], [2, 1]), ([-1], [0, 3]), ([-1, 0], [1, 0, 2, 5]), ([2, 1, 0], [1, 2, 3, 4, 5, 6]), ([0, -2], [0, -1, 1, 0])]
    for kind, mode in (("int64", "constant"), ("int32", "constant"), ("int64", "edge")):
        feeds = [{"x": data, "p": np.array(pads, np.int64), "a": np.array(axes, kind)} for axes, pads in cases]
        text = f"""g (float[2,3,4] x, int64[p] p, {kind}[k] a) => (float[a,b,c] y) {{ y = Pad <mode = "{mode}"> (x, p, , a) }}"""
        compare(report, text, 18, (17, 13), feeds)


def transforms(report):
    """numpy computes them in double precision, which onnxruntime does not."""
    random = np.random.default_rng(0)
    lengths = (1, 2, 7, 16)
    for parts in (1, 2):
        signals = [random.normal(size=(2, length, 3, parts)).astype(np.float32) for length in lengths]
        for axis, onesided, inverse in ((1, 0, 0), (1, 1, 0), (-2, 0, 1), (2, 0, 0)):
            if parts == 2 and onesided:
                continue
            attributes = f"axis = {axis}, onesided = {onesided}, inverse = {inverse}"
            for cut in (None, 4):
                text = f"g (float[2,n,3,{parts}] x) => (float[a,b,c,2] y) {{ y = DFT <{attributes}> (x) }}"
                if cut:
                    text = text.replace("x) => (float[a,b,c,2] y) {", "x) => (float[a,b,c,2] y) <int64 n = {4}> {").replace("(x) }", "(x, n) }")
                expected = [transform(signal, cut, axis, onesided, inverse) for signal in signals]
                compare(report, text, 17, (16, 13), [{"x": signal} for signal in signals], expected, TOLERANCE)
    # A computed axis.
    signal = random.normal(size=(2, 5, 3, 1)).astype(np.float32)
    feeds = [{"x": signal, "a": np.array(axis, np.int64)} for axis in (0, 1, 2, -2, -4)]
    expected = [transform(signal, None, int(feed["a"]), 0, 0) for feed in feeds]
    compare(report, "g (float[2,5,3,1] x, int64 a) => (float[p,q,r,2] y) { y = DFT (x, , a) }", 20, (19, 17, 16), feeds, expected, TOLERANCE)


def transform(signal, length, axis, onesided, inverse):
    values = signal[..., 0] + (1j * signal[..., 1] if signal.shape[-1] == 2 else 0)
    axis = axis % signal.ndim
    result = (np.fft.ifft if inverse else np.fft.fft)(values, length, axis)
    if onesided:
        result = result.take(range(result.shape[axis] // 2 + 1), axis)
    return np.stack([result.real, result.imag], -1).astype(np.float32)


def grids(report):
    """Points inside, outside, far outside and on the borders of images, of which some are one pixel wide."""
    random = np.random.default_rng(0)
    for sizes, points in (((4, 5), (3, 6)), ((1, 4), (2, 2)), ((3, 4, 2), (2, 3, 2))):
        image = random.normal(size=(2, 3, *sizes)).astype(np.float32)
        grid = random.uniform(-1.3, 1.3, size=(2, *points, len(sizes))).astype(np.float32)
        corners = np.resize(np.array([-1, 1, 0, -3.7, 2.9, -1.2], np.float32), grid.shape)
        for mode in ("nearest", "linear", "cubic"):
            for padding in ("zeros", "border", "reflection"):
                for aligned in (0, 1):
                    if mode == "cubic" and (len(sizes) == 3 or padding == "border"):
                        continue  # No expansion.
                    if padding == "reflection" and aligned and 1 in sizes:
                        continue  # onnxruntime divides by the length of zero between the borders.
                    attributes = f'mode = "{mode}", padding_mode = "{padding}", align_corners = {aligned}'
                    dims = [f"float[n,{','.join('abcdefgh'[start : start + len(sizes) + 1])}]" for start in (0, 4)]
                    result = f"float[n,k,{','.join('xyz'[: len(sizes)])}]"
                    text = f"g ({dims[0]} x, {dims[1]} g) => ({result} y) {{ y = GridSample <{attributes}> (x, g) }}"
                    # Points that are rounded to the other pixel are as right.
                    feeds = [{"x": image, "g": each} for each in ((grid,) if mode == "nearest" else (grid, corners))]
                    compare(report, text, 20, (19, 15, 13, 11), feeds, None, TOLERANCE)


def affine_grids(report):
    random = np.random.default_rng(0)
    for sizes in ((2, 3, 4, 5), (1, 1, 2, 3), (2, 3, 4, 5, 6), (1, 2, 1, 3, 2)):
        rank = len(sizes) - 2
        feeds = [{"t": random.normal(size=(sizes[0], rank, rank + 1)).astype(np.float32), "s": np.array(sizes, np.int64)}]
        # With corners, onnxruntime puts a single layer in the middle, and ONNX's definition at the start.
        for aligned in (0, 1) if 1 not in sizes[2:] else (0,):
            dims = ",".join("abcde"[: rank + 2])
            text = f"""g (float[n,{rank},{rank + 1}] t, int64[{rank + 2}] s) => (float[{dims}] y) {{
                y = AffineGrid <align_corners = {aligned}> (t, s) }}"""
            compare(report, text, 20, (19, 17, 13), feeds, None, TOLERANCE)


def quantized(report):
    random = np.random.default_rng(0)
    halves = np.arange(-40, 41, dtype=np.float32) / 2
    values = np.concatenate([halves, random.normal(scale=300, size=60).astype(np.float32)])
    for kind, zero in (("uint8", 128), ("int8", -3), ("uint8", 0)):
        text = f"g (float[n] x) => ({kind}[n] y) <float s = {{1.0}}, {kind} z = {{{zero}}}> {{ y = QuantizeLinear (x, s, z) }}"
        compare(report, text, 10, (9, 7), [{"x": values}])
        compare(report, text.replace("{1.0}", "{0.1}"), 13, (9,), [{"x": values}])
        numbers = np.arange(-128, 128).astype(kind) if kind == "int8" else np.arange(256).astype(kind)
        text = f"g ({kind}[n] x) => (float[n] y) <float s = {{0.1}}, {kind} z = {{{zero}}}> {{ y = DequantizeLinear (x, s, z) }}"
        compare(report, text, 10, (9, 7), [{"x": numbers}])
    compare(report, "g (float[n] x) => (uint8[n] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }", 11, (10, 9, 7), [{"x": values}, {"x": np.zeros(3, np.float32)}])
    a, b = random.integers(0, 256, (2, 5, 7)).astype(np.uint8), random.integers(-128, 128, (7, 4)).astype(np.int8)
    rows, columns = np.array([1, 2, 3, 4, 250])[:, None], np.array([-5, 0, 7, 127])
    for zeros, p, q in (("uint8 p = {3}, int8 q = {-5}", 3, -5), ("uint8[5] p = {1, 2, 3, 4, 250}, int8[4] q = {-5, 0, 7, 127}", rows, columns)):
        text = f"g (uint8[2,5,7] a, int8[7,4] b) => (int32[2,5,4] y) <{zeros}> {{ y = MatMulInteger (a, b, p, q) }}"
        compare(report, text, 10, (9,), [{"a": a, "b": b}], [matmul(a, b, p, q)])
    image, weights = random.integers(0, 256, (2, 3, 6, 7)).astype(np.uint8), random.integers(0, 256, (4, 3, 3, 2)).astype(np.uint8)
    attributes = "pads = [1, 0, 2, 1], strides = [2, 1]"
    text = f"g (uint8[2,3,6,7] x, uint8[4,3,3,2] w) => (int32[a,b,c,d] y) <uint8 p = {{77}}, uint8 q = {{12}}> {{ y = ConvInteger <{attributes}> (x, w, p, q) }}"
    compare(report, text, 10, (9, 7), [{"x": image, "w": weights}])
    for zeros in ("uint8 q = {12}, float t = {0.01}", "uint8[4] q = {1, 2, 3, 4}, float[4] t = {0.01, 0.02, 0.003, 0.004}"):
        constants = f"float s = {{0.5}}, uint8 p = {{77}}, {zeros}, float u = {{25.0}}, uint8 v = {{128}}, int32[4] k = {{1, -2000, 3, 40000}}"
        if zeros.startswith("uint8[4]"):
            constants = constants.replace("{1, 2, 3, 4}", "{9, 9, 9, 9}")  # onnxruntime takes equal ones only.
        text = f"g (uint8[2,3,6,7] x, uint8[4,3,3,2] w) => (uint8[a,b,c,d] y) <{constants}> {{ y = QLinearConv <{attributes}> (x, s, p, w, t, q, u, v, k) }}"
        compare(report, text, 10, (9, 7), [{"x": image, "w": weights}])
    text = """g (uint8[2,5,7] a, int8[7,4] b) => (int8[2,5,4] y) <float s = {0.1}, uint8 p = {3}, float t = {0.2}, int8 q = {-5}, float u = {5.0}, int8 v = {1}> {
        y = QLinearMatMul (a, s, p, b, t, q, u, v) }"""
    scaled = np.rint(matmul(a, b, 3, -5).astype(np.float64) * 0.1 * 0.2 / 5) + 1
    compare(report, text, 10, (9,), [{"a": a, "b": b}], [np.clip(scaled, -128, 127).astype(np.int8)])
    blocks(report, random)


def reshaped(report):
    """Zeros in a computed shape are lengths, also in several places."""
    cases = [((2, 3), (3, 2)), ((2, 3), (-1, 2)), ((2, 0), (0, 3)), ((2, 0), (0, 0)), ((0, 3), (4, 0)), ((0, 0), (-1, 7))]
    feeds = [{"x": np.arange(a * b, dtype=np.float32).reshape(a, b), "s": np.array(shape)} for (a, b), shape in cases]
    text = "g (float[n,m] x, int64[2] s) => (float[a,b] y) { y = Reshape <allowzero = 1> (x, s) }"
    compare(report, text, 14, (13, 10, 8), feeds)
    for order in ("d, two, three", "two, d, three", "two, three, d"):
        text = f"""g (float[n,6] x, float[k,1] o) => (float[a,b,c] y) <int64[1] two = {{2}}, int64[1] three = {{3}}> {{
            d = Shape <start = 0, end = 1> (o) s = Concat <axis = 0> ({order}) y = Reshape <allowzero = 1> (x, s) }}"""
        feeds = [{"x": np.arange(n * 6, dtype=np.float32).reshape(n, 6), "o": np.ones((n, 1), np.float32)} for n in (0, 1, 5)]
        compare(report, text, 18, (13, 10, 8), feeds)
    sizes = [(2, 3), (0, 3), (2, 0), (0, 0)]
    feeds = [{"x": np.arange(n * m * 6, dtype=np.float32).reshape(n, m, 6)} for n, m in sizes]
    for order in ("n, m, two, three", "m, two, n, three"):
        text = f"""g (float[n,m,6] x) => (float[a,b,c,d] y) <int64[1] two = {{2}}, int64[1] three = {{3}}> {{
            n = Shape <start = 0, end = 1> (x) m = Shape <start = 1, end = 2> (x)
            s = Concat <axis = 0> ({order}) y = Reshape <allowzero = 1> (x, s) }}"""
        compare(report, text, 18, (13, 10, 8), feeds)
    feeds = [{"x": np.random.default_rng(0).normal(size=(n, m, k)).astype(np.float32)} for n, m in sizes for k in (0, 2)]
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (0, 1):
            text = f"g (float[n,m,k] x) => (float[a,b,c] y) {{ y = {op} <axis = {axis}> (x) }}"
            compare(report, text, 12, (13, 14), feeds)


def sliced(report):
    """A scale for each slice along an axis."""
    random = np.random.default_rng(0)
    for kind in ("int8", "uint8"):
        limits = np.iinfo(kind)
        for axis, shape in ((0, (3,)), (1, (2, 3, 4)), (-1, (2, 3)), (-3, (3, 2, 1)), (2, (1, 2, 3, 2))):
            scales, zeros = random.uniform(0.01, 3, 3).astype(np.float32), random.integers(limits.min, limits.max + 1, 3).astype(kind)
            column = [-1, *[1] * (len(shape) - 1 - axis % len(shape))]
            halves = (random.integers(-300, 300, shape) / np.float32(2)).astype(np.float32) * scales.reshape(column)
            halves.flat[0], halves.flat[1] = np.inf, -np.inf
            dims = ",".join("abcd"[: len(shape)])
            feed = {"s": scales, "z": zeros}
            text = f"g (float[{dims}] x, float[3] s, {kind}[3] z) => ({kind}[{dims}] y) {{ y = QuantizeLinear <axis = {axis}> (x, s, z) }}"
            compare(report, text, 13, (12, 10, 7), [{**feed, "x": halves}])
            numbers = random.integers(limits.min, limits.max + 1, shape).astype(kind)
            text = f"g ({kind}[{dims}] x, float[3] s, {kind}[3] z) => (float[{dims}] y) {{ y = DequantizeLinear <axis = {axis}> (x, s, z) }}"
            compare(report, text, 13, (12, 10, 7), [{**feed, "x": numbers}])


def normalized(report):
    random = np.random.default_rng(0)
    for shape in ((3, 4), (3, 2, 4), (0, 2, 3, 2)):
        dims, of_each = ",".join(map(str, shape)), ",".join(map(str, shape[1:]))
        feed = {name: random.normal(size=shape[1:]).astype(np.float32) for name in "sbm"}
        feed |= {"v": np.abs(feed["m"]), "x": random.normal(size=shape).astype(np.float32)}
        statistics = ", ".join(f"float[{of_each}] {name}" for name in "sbmv")
        text = f"g (float[{dims}] x, {statistics}) => (float[{dims}] y) {{ y = BatchNormalization <spatial = 0> (x, s, b, m, v) }}"
        compare(report, text, 7, (9, 14), [feed])
    feed = {"x": random.normal(size=(2, 6, 3)).astype(np.float32), "s": np.array([2, -1], np.float32), "b": np.array([0, 3], np.float32)}
    groups = feed["x"].reshape(2, 2, -1).astype(np.float64)
    wanted = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + 0.1) * feed["s"][:, None] + feed["b"][:, None]
    wanted = wanted.reshape(2, 6, 3).astype(np.float32)
    text = "g (float[n,c,k] x, float[2] s, float[2] b) => (float[n,c,k] y) { y = GroupNormalization <num_groups = 2, epsilon = 0.1> (x, s, b) }"
    compare(report, text, 18, (20, 17, 9), [feed], [wanted], TOLERANCE)


def matmul(a, b, p, q):
    return ((a.astype(np.int64) - p) @ (b.astype(np.int64) - q)).astype(np.int32)


def blocks(report, random):
    for kind, length, size in (("int8", 6, 2), ("uint8", 7, 3)):
        counts = -(-length // size)
        for axis in (0, 1):
            shape = (length, 4) if axis == 0 else (4, length)
            few = (counts, 4) if axis == 0 else (4, counts)
            lists = f"{few[0]},{few[1]}"
            scales = random.uniform(0.01, 2, few).astype(np.float32)
            zeros = random.integers(-20, 20, few).astype(np.int8).astype(kind) if kind == "int8" else random.integers(0, 200, few).astype(kind)
            given = random.integers(0, 127, shape).astype(kind)
            feed = {"x": given, "s": scales, "z": zeros}
            repeat = [np.repeat(each, size, axis)[: shape[0], : shape[1]] for each in (scales, zeros)]
            expected = (given.astype(np.float32) - repeat[1].astype(np.float32)) * repeat[0]
            dims = f"{shape[0]},{shape[1]}"
            text = f"g ({kind}[{dims}] x, float[{lists}] s, {kind}[{lists}] z) => (float[{dims}] y) {{ y = DequantizeLinear <axis = {axis}, block_size = {size}> (x, s, z) }}"
            compare(report, text, 21, (20, 13), [feed], [expected])
            numbers = random.normal(scale=50, size=shape).astype(np.float32)
            limits = np.iinfo(kind)
            wanted = np.clip(np.rint(numbers / repeat[0]) + repeat[1], limits.min, limits.max).astype(kind)
            text = f"g (float[{dims}] x, float[{lists}] s, {kind}[{lists}] z) => ({kind}[{dims}] y) {{ y = QuantizeLinear <axis = {axis}, block_size = {size}> (x, s, z) }}"
            compare(report, text, 21, (20, 13), [{**feed, "x": numbers}], [wanted])


def rounded(report):
    edges = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.49999997, -0.49999997, 0.50000006, 8388607.5, -8388607.5, 8388609.0, 1e30, np.inf, -np.inf, np.nan]
    for kind in ("float", "double"):
        values = np.array(edges + list(np.random.default_rng(0).normal(scale=9, size=50)), "float32" if kind == "float" else "float64")
        compare(report, f"g ({kind}[n] x) => ({kind}[n] y) {{ y = Round (x) }}", 11, (10, 9), [{"x": values}])
        compare(report, f"g ({kind}[n] x) => (bool[n] y) {{ y = IsNaN (x) }}", 9, (8, 7), [{"x": values}], [np.isnan(values)])
    values = np.array([-1.0, 0.0, 0.7, 0.70000005, 3.0, np.inf, -np.inf, np.nan], np.float32)
    compare(report, "g (float[n] x) => (float[n] y) { y = ThresholdedRelu <alpha = 0.7> (x) }", 10, (9,), [{"x": values}])
    for k in (0, 2, -1, 7):
        text = f"g (float[3,5] x) => (int64[3,5] y) {{ y = EyeLike <dtype = 7, k = {k}> (x) }}"
        compare(report, text, 9, (8, 7), [{"x": np.ones((3, 5), np.float32)}])


def regrouped(report):
    data = np.arange(2 * 12 * 4 * 6, dtype=np.float32).reshape(2, 12, 4, 6)
    for dims in ("2,12,4,6", "n,12,h,w"):
        text = f'g (float[{dims}] x) => (float[a,b,c,d] y) {{ y = DepthToSpace <blocksize = 2, mode = "CRD"> (x) }}'
        compare(report, text, 11, (10, 9, 7), [{"x": data}])
        wanted = data.reshape(2, 12, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(2, 48, 2, 3)
        text = f'g (float[{dims}] x) => (float[a,b,c,d] y) {{ y = SpaceToDepth <blocksize = 2, mode = "CRD"> (x) }}'
        compare(report, text, 28, (27, 13, 9), [{"x": data}], [wanted])


def scattered(report):
    random = np.random.default_rng(0)
    feed = {"x": random.normal(size=(4, 3)).astype(np.float32), "u": random.normal(size=(2, 3)).astype(np.float32)}
    for reduction, targets in (("add", (15, 13, 11)), ("mul", (15, 13)), ("max", (17, 15)), ("min", (17, 13))):
        opset = 16 if targets[0] == 15 else 18
        text = f"""g (float[4,3] x, float[2,3] u) => (float[4,3] y) <int64[2,3] i = {{0, 1, 3, -1, 0, 1}}> {{
            y = ScatterElements <reduction = "{reduction}"> (x, i, u) }}"""
        compare(report, text, opset, targets, [feed])
        text = f"""g (float[4,3] x, float[2,3] u) => (float[4,3] y) <int64[2,1] i = {{3, -3}}> {{
            y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
        compare(report, text, opset, targets, [feed])


def pooled(report):
    image = np.random.default_rng(0).normal(size=(2, 3, 9, 8)).astype(np.float32)
    for attributes in (
        "kernel_shape = [3, 2], dilations = [2, 3]",
        "kernel_shape = [3, 2], dilations = [2, 1], pads = [1, 0, 2, 1], strides = [2, 3]",
        "kernel_shape = [2, 3], ceil_mode = 1, strides = [2, 2]",
        "kernel_shape = [3, 3], dilations = [1, 2], ceil_mode = 1, strides = [3, 2], pads = [1, 1, 0, 1]",
    ):
        compare(report, f"g (float[2,3,9,8] x) => (float[a,b,c,d] y) {{ y = MaxPool <{attributes}> (x) }}", 10, (9, 8), [{"x": image}])
        for padded in (0, 1):
            pooled = f"AveragePool <{attributes}, count_include_pad = {padded}> (x)"
            targets = (18, 9, 8) if "ceil" not in attributes or "dilations" in attributes else (9, 8)
            compare(report, f"g (float[2,3,9,8] x) => (float[a,b,c,d] y) {{ y = {pooled} }}", 19, targets, [{"x": image}], None, TOLERANCE)


def mapped(report):
    """Names of the body occur outside too, and a tensor of the graph is captured."""
    text = """g (float[2,3] x, float[3] c) => (float[k,3] y) {
        s = SplitToSequence <axis = 0, keepdims = 0> (x)
        t = SequenceMap <body = b (float[3] e, float[3] a) => (float[3] r) { m = Mul (e, a) r = Add (m, c) }> (s, c)
        y = ConcatFromSequence <axis = 0, new_axis = 1> (t) }"""
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    compare(report, text, 17, (16, 14, 13), [{"x": data, "c": np.array([1, 2, 3], np.float32)}], [data * np.array([1, 2, 3], np.float32) + np.array([1, 2, 3], np.float32)])


def padded(report):
    """Pads, values and axes that are computed, negative pads, lengths of one, and the modes that older opsets lack."""
    data = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    cases = [(0, 0, 0, 0, 0, 0), (1, 2, 3, 4, 5, 6), (0, -1, 2, 0, 0, -3), (-1, 1, -2, 2, -1, 3), (5, 0, 0, 0, 0, 0)]
    for mode in ("constant", "edge", "reflect"):
        # onnxruntime reflects at most once, and repeats no axis without elements.
        chosen = {"constant": [*cases, (0, 0, -2, 0, 0, -2)], "edge": cases, "reflect": [(1, 2, 3, 0, 1, 2), (0, -1, -2, 0, 1, 1), (0, 0, -1, 0, 0, -2)]}[mode]
        feeds = [{"x": data, "p": np.array(pads, np.int64)} for pads in chosen]
        for shape in ("2,3,4", "a,b,c"):
            text = f'g (float[{shape}] x, int64[6] p) => (float[d,e,f] y) {{ y = Pad <mode = "{mode}"> (x, p) }}'
            compare(report, text, 11, (10,), feeds)
    for name in ("int64", "uint8", "bool"):
        opset = 13 if name == "bool" else 11
        integers = data.astype(name)
        text = f"g ({name}[a,3,c] x, {name} v) => ({name}[d,e,f] y) <int64[6] p = {{1, -1, 0, 0, 0, 3}}> {{ y = Pad (x, p, v) }}"
        compare(report, text, opset, (12, 10), [{"x": integers, "v": np.array(7, name)}])
        text = f"g ({name}[a,3,c] x, int64[6] p) => ({name}[d,e,f] y) {{ y = Pad (x, p) }}"
        compare(report, text, opset, (12, 10), [{"x": integers, "p": np.array(pads, np.int64)} for pads in cases])
    empty = np.zeros((0, 3, 4), np.float32)
    text = "g (float[a,3,4] x, int64[6] p) => (float[d,e,f] y) { y = Pad (x, p) }"
    compare(report, text, 11, (10,), [{"x": empty, "p": np.array(pads, np.int64)} for pads in ((1, 0, 0, 2, 1, 0), (0, 0, 0, 0, 0, 0))])
    for lists, feeds in (
        ("int64[6] p", [{"x": data, "p": np.array(pads, np.int64)} for pads in ((1, 2, 0, 1, 1, 3), (0, 0, 9, 2, 3, 4))]),
        ("", [{"x": data}]),
    ):
        inputs = ", ".join(["float[a,3,c] x", *filter(None, [lists])])
        constants = "" if lists else "<int64[6] p = {2, 4, 0, 0, 1, 5}>"
        text = f'g ({inputs}) => (float[d,e,f] y) {constants} {{ y = Pad <mode = "wrap"> (x, p) }}'
        expected = [wrapped(data, feed.get("p", np.array([2, 4, 0, 0, 1, 5]))) for feed in feeds]
        compare(report, text, 19, (18, 17, 13, 11), feeds, expected)
    text = 'g (float[2,3,4] x) => (float[d,e,f] y) <int64[2] p = {3, 5}, int64[1] a = {-2}> { y = Pad <mode = "wrap"> (x, p, , a) }'
    compare(report, text, 19, (18, 13, 7), [{"x": data}], [wrapped(data, [0, 3, 0, 0, 5, 0])])


def wrapped(data, pads):
    return np.pad(data, list(zip(pads[:3], pads[3:])), mode="wrap")


def clipped(report):
    """An absent bound is the largest finite value, beyond which infinity is."""
    numbers = np.array([-np.inf, -3, -0.0, 0, 1, 5, np.inf, np.nan], np.float32)
    for bounds, inputs in (("l, h", {"l": -1, "h": 2}), ("l", {"l": 0.5}), (", h", {"h": 1})):
        feed = {"x": numbers} | {key: np.array(value, np.float32) for key, value in inputs.items()}
        declared = ", ".join(["float[8] x", *(f"float {key}" for key in inputs)])
        compare(report, f"g ({declared}) => (float[8] y) {{ y = Clip (x, {bounds}) }}", 11, (10, 9, 7), [feed])


def reduced(report):
    """Several computed axes, negative ones, keepdims, empty inputs, unknown lengths."""
    random = np.random.default_rng(1)
    operators = ["L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"]
    for operator in operators:
        opset, target = (13, 12) if operator == "Sum" else (18, 17)
        for keepdims in (0, 1):
            for shape in ("2,3,4", "a,b,c"):
                data = random.integers(1, 4, (2, 3, 4)).astype(np.float32)
                feeds = [{"x": data, "a": np.array(axes, np.int64)} for axes in ((0, 1), (1, 0), (-1, 0), (1, -1), (-2, 2))]
                result = "[p,q,r]" if keepdims else "[p]"
                text = f"g (float[{shape}] x, int64[2] a) => (float{result} y) {{ y = Reduce{operator} <keepdims = {keepdims}> (x, a) }}"
                compare(report, text, opset, (target, 11), feeds)
                feeds = [{"x": data, "a": np.array([axis], np.int64)} for axis in range(-3, 3)]
                compare(report, text.replace("int64[2]", "int64[1]").replace("[p]", "[p,q]"), opset, (target, 11), feeds)
            # onnxruntime gives the result another shape if the axes of an empty input are negative.
            if operator not in ("Max", "Mean", "Min"):
                feeds = [{"x": np.zeros((2, 0, 4), np.float32), "a": np.array(axes, np.int64)} for axes in ((0, 1), (0, 2))]
                compare(report, text, opset, (target, 11), feeds)


def inserted(report):
    """Two computed axes of an Unsqueeze, also negative ones."""
    pairs = [(first, second) for first in range(-3, 3) for second in range(-3, 3) if (first - second) % 3]
    data, axes = np.array([1, 2, 3], np.float32), [np.array(pair, np.int64) for pair in pairs]
    text = "g (float[3] x, int64[2] a) => (float[p,q,r] y) { y = Unsqueeze (x, a) }"
    compare(report, text, 13, (12, 11, 7), [{"x": data, "a": pair} for pair in axes])


def paired(report):
    """What is put into an optional is taken out of it, in a branch and outside."""
    text = """g (float[3] x, bool b) => (float[3] y, bool h) {
        n = Neg (x) o = Optional (n) h = OptionalHasElement (o)
        y = If (b) <then_branch = t () => (float[3] r) { e = OptionalGetElement (o) r = Abs (e) },
                    else_branch = f () => (float[3] q) { q = OptionalGetElement (o) }> }"""
    data = np.array([1, -2, 3], np.float32)
    feeds = [{"x": data, "b": np.array(flag)} for flag in (True, False)]
    compare(report, text, 18, (17, 15, 14, 11, 9, 7), feeds, [np.abs(data), -data])


def trained(report):
    """`is_test` = 0 with one output: the statistics of the batch by the text, those of the inputs for runtimes."""
    text = "g (float[3,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[3,2] y) { y = BatchNormalization (x, s, b, m, v) }"
    data = np.array([[1, 2], [3, 5], [8, 4]], np.float32)
    feed = {"x": data} | {key: np.array(value, np.float32) for key, value in {"s": [1, 2], "b": [0, 1], "m": [3, 4], "v": [2, 5]}.items()}
    batch = (data - data.mean(0)) / np.sqrt(data.var(0) + np.float32(1e-5)) * feed["s"] + feed["b"]
    given = (data - feed["m"]) / np.sqrt(feed["v"] + np.float32(1e-5)) * feed["s"] + feed["b"]
    # onnxruntime updates the statistics of its inputs in training mode.
    for contested, expected in (("runtime", given), ("text", batch)):
        compare(report, text, 6, (7, 9, 13, 14, 15, 21), [feed], [expected], TOLERANCE, ("--contested", contested))


def tables(report):
    """Sizes and scales are constants, lengths are known: indices for neighbours, weights for interpolation."""
    image = np.random.default_rng(0).normal(size=(1, 2, 5, 7)).astype(np.float32)
    cases = [("scales", (1, 1, 2, 3)), ("scales", (1, 1, 0.6, 1.5)), ("sizes", (1, 2, 3, 11)), ("sizes", (1, 2, 10, 1))]
    for mode in ("nearest", "linear", "cubic"):
        for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
            for kind, values in cases:
                # Refused: runtimes round the length before they align its corners.
                if coordinates == "align_corners" and 0.6 in values:
                    continue
                attributes = f'mode = "{mode}", coordinate_transformation_mode = "{coordinates}"'
                constant = f"float[4] s = {{{', '.join(map(str, map(float, values)))}}}" if kind == "scales" else f"int64[4] s = {{{', '.join(map(str, values))}}}"
                operands = "x, , s" if kind == "scales" else "x, , , s"
                text = f"g (float[1,2,5,7] x) => (float[a,b,c,d] y) <{constant}> {{ y = Resize <{attributes}> ({operands}) }}"
                compare(report, text, 13, (10, 9, 7), [{"x": image}], None, 0 if mode == "nearest" else TABLE_TOLERANCE)
    for mode in ("linear", "cubic"):
        for excluded in (0, 1):
            for sizes in ((1, 2, 3, 4), (1, 2, 2, 7), (1, 2, 8, 3)):
                attributes = f'mode = "{mode}", antialias = 1, exclude_outside = {excluded}'
                text = f"g (float[1,2,5,7] x) => (float[a,b,c,d] y) <int64[4] s = {{{', '.join(map(str, sizes))}}}> {{ y = Resize <{attributes}> (x, , , s) }}"
                compare(report, text, 18, (17, 11), [{"x": image}], None, TABLE_TOLERANCE)
    for policy in ("not_larger", "not_smaller"):
        for mode in ("nearest", "linear"):
            attributes = f'mode = "{mode}", keep_aspect_ratio_policy = "{policy}", axes = [2, 3]'
            for sizes in ((10, 20), (3, 6), (7, 5)):
                text = f"g (float[1,2,5,7] x) => (float[a,b,c,d] y) <int64[2] s = {{{sizes[0]}, {sizes[1]}}}> {{ y = Resize <{attributes}> (x, , , s) }}"
                compare(report, text, 18, (17, 13), [{"x": image}], None, 0 if mode == "nearest" else TABLE_TOLERANCE)


def compare(report, graph, opset, targets, feeds, expected=None, tolerance=0, options=()):
    """Converts a graph, and runs it: the outputs are those that are expected, or those from before."""
    with scratch_folder() as folder:
        path = folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(f'<ir_version: 5, opset_import: ["": {opset}]> {graph}'), path)
        expected = expected or [run_model(path, feed, "onnxruntime")[0] for feed in feeds]
        for target in targets:
            problem = compare_converted(path, target, folder / f"{target}.onnx", feeds, expected, tolerance, options)
            report.case(f"{graph} from opset {opset} to {target} {' '.join(options)}".rstrip(), problem)


def compare_converted(path, target, output, feeds, expected, tolerance, options=()):
    done = recast("convert", path, "--opset", str(target), "-o", output, *options)
    if done.returncode != 0:
        return done.stdout + done.stderr
    if not passes_checker(output):
        return "the result is invalid"
    wrong = []
    for feed, wanted in zip(feeds, expected, strict=True):
        found = ran(output, feed)
        if not isinstance(found, np.ndarray) or not is_equal(np.asarray(wanted), found, tolerance):
            wrong.append(f"{feed}: {found}, expected {wanted}")
    return wrong and f"{len(wrong)} of {len(feeds)} differ: {wrong[0][:600]}"


def is_equal(wanted, found, tolerance):
    """To the bit, or within a tolerance."""
    if not tolerance or wanted.shape != found.shape or wanted.dtype != found.dtype:
        return same_value(wanted, found)
    return np.allclose(wanted, found, rtol=tolerance, atol=tolerance, equal_nan=True)


def ran(path, feed):
    """The output in onnxruntime, or in the reference evaluator where onnxruntime has no kernel; what either says if it fails."""
    errors = []
    for runner in ("onnxruntime", "reference"):
        try:
            return np.asarray(run_model(path, feed, runner)[0])
        except Exception as error:
            errors.append(str(error)[:200])
    return errors
