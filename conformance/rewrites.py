"""Expansions and exact rewrites on the values at which they could go wrong: onnxruntime computes the same before and after.

Where onnxruntime cannot run the original, or its own kernel is inexact, numpy says what is right.
"""

import numpy as np
import onnx
import onnx.parser

from common import passes_checker, recast, run_model, same_value, scratch_folder

TOLERANCE = 2e-5  # Of expansions by definition.
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


def compare(report, graph, opset, targets, feeds, expected=None, tolerance=0):
    """Converts a graph, and runs it: the outputs are those that are expected, or those from before."""
    with scratch_folder() as folder:
        path = folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(f'<ir_version: 5, opset_import: ["": {opset}]> {graph}'), path)
        expected = expected or [run_model(path, feed, "onnxruntime")[0] for feed in feeds]
        for target in targets:
            problem = compare_converted(path, target, folder / f"{target}.onnx", feeds, expected, tolerance)
            report.case(f"{graph} from opset {opset} to {target}", problem)


def compare_converted(path, target, output, feeds, expected, tolerance):
    done = recast("convert", path, "--opset", str(target), "-o", output)
    if done.returncode != 0:
        return done.stdout + done.stderr
    if not passes_checker(output):
        return "the result is invalid"
    wrong = []
    for feed, wanted in zip(feeds, expected):
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
