"""Expansions and exact rewrites on the values at which they could go wrong: onnxruntime computes the same before and after.

Where onnxruntime cannot run the original, or its own kernel is inexact, numpy says what is right.
"""

import numpy as np
import onnx
import onnx.parser

from common import passes_checker, recast, run_model, same_value, scratch_folder

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


def compare(report, graph, opset, targets, feeds, expected=None):
    """Converts a graph, and runs it: the outputs are those that are expected, or those from before."""
    with scratch_folder() as folder:
        path = folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(f'<ir_version: 5, opset_import: ["": {opset}]> {graph}'), path)
        expected = expected or [run_model(path, feed, "onnxruntime")[0] for feed in feeds]
        for target in targets:
            problem = compare_converted(path, target, folder / f"{target}.onnx", feeds, expected)
            report.case(f"{graph} from opset {opset} to {target}", problem)


def compare_converted(path, target, output, feeds, expected):
    done = recast("convert", path, "--opset", str(target), "-o", output)
    if done.returncode != 0:
        return done.stdout + done.stderr
    if not passes_checker(output):
        return "the result is invalid"
    wrong = []
    for feed, wanted in zip(feeds, expected):
        found = ran(output, feed)
        if not isinstance(found, np.ndarray) or not same_value(np.asarray(wanted), found):
            wrong.append(f"{feed}: {found}, expected {wanted}")
    return wrong and f"{len(wrong)} of {len(feeds)} differ: {wrong[0][:600]}"


def ran(path, feed):
    """The output in onnxruntime, or in the reference evaluator where onnxruntime has no kernel; what either says if it fails."""
    errors = []
    for runner in ("onnxruntime", "reference"):
        try:
            return np.asarray(run_model(path, feed, runner)[0])
        except Exception as error:
            errors.append(str(error)[:200])
    return errors
