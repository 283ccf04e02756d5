"""Conversions of operators that move elements to, or from, places that the model computes, and of scans: onnxruntime computes the same before
and after.

The places are negative, beyond the axis, equal to one another, none, or all; scans run backward, along any axis, and over nothing.
"""

import itertools

import numpy as np

from checks.convert.expansions_at_boundary_values import compare

SEED = 0


def check(report):
    random = np.random.default_rng(SEED)
    scans(report, random)
    slices(report, random)
    selections(report, random)
    scatters(report, random)
    tuples(report, random)
    orders(report, random)
    repeats(report, random)
    comparisons(report)
    sequences(report, random)


def scans(report, random):
    body = "step (float[2] a, float[2] b) => (float[2] c, float[2] d) { c = Add (a, b) d = Mul (c, b) }"
    feeds = [{"s": numbers(random, [2]), "x": numbers(random, [2, length]), "z": numbers(random, [length, 2])} for length in (1, 4)]
    for input_axis, output_axis, backward, reverse in itertools.product((0, 1), (0, 1), (0, 1), (0, 1)):
        attributes = f"scan_input_axes = [{input_axis}], scan_output_axes = [{output_axis}], scan_input_directions = [{backward}], scan_output_directions = [{reverse}]"
        given, lengths = ("x", "2,N") if input_axis else ("z", "N,2")
        shape = "2,N" if output_axis else "N,2"
        for result in ("y", "f"):
            declared = f"float[{shape}] y" if result == "y" else "float[2] f"
            graph = f"g (float[2] s, float[{lengths}] {given}) => ({declared}) {{ f, y = Scan <num_scan_inputs = 1, {attributes}, body = {body}> (s, {given}) }}"
            compare(report, graph, 11, (8, 7), [{"s": feed["s"], given: feed[given]} for feed in feeds])
    body = "step (float[2] b) => (float[2] d) { d = Mul (b, b) }"
    for reverse in (0, 1):
        graph = f"g (float[N,2] z) => (float[N,2] y) {{ y = Scan <num_scan_inputs = 1, scan_output_directions = [{reverse}], body = {body}> (z) }}"
        compare(report, graph, 11, (8, 7), [{"z": feed["z"]} for feed in feeds])


def slices(report, random):
    x = numbers(random, [4, 5])
    bounds = (-(2**63), -5, -2, -1, 0, 3, 5, 2**63 - 1)
    feeds = [{"x": x, "s": np.array([start]), "e": np.array([end])} for start in bounds for end in bounds]
    for axis, step, declared in ((1, 1, "4,5"), (-1, 2, "N,M"), (1, 2**63 - 1, "N,M")):
        graph = f"g (float[{declared}] x, int64[1] s, int64[1] e) => (float[a,b] y) <int64[1] t = {{{step}}}, int64[1] i = {{{axis}}}> {{ y = Slice (x, s, e, i, t) }}"
        compare(report, graph, 10 if axis > 0 else 11, (9, 8, 7), feeds)
    graph = "g (float[N,M] x, int32[2] s) => (float[a,b] y) <int32[2] e = {9, 4}> { y = Slice (x, s, e) }"
    compare(report, graph, 13, (9, 7), [{"x": x, "s": np.int32([start, end])} for start in (-3, 0, 2) for end in (-5, 1, 4)])
    for start, end, step in ((0, 9, 2), (1, -1, 3), (-1, -9, -2), (2, -(2**63), -1), (2, 0, -1), (9, 1, -3)):
        graph = f"g (float[N,M] x) => (float[a,b] y) <int64[1] s = {{{start}}}, int64[1] e = {{{end}}}, int64[1] i = {{1}}, int64[1] t = {{{step}}}> {{ y = Slice (x, s, e, i, t) }}"
        compare(report, graph, 13, (9, 8, 7), [{"x": x}, {"x": x[:, :1]}])


def selections(report, random):
    for shape in ((6,), (3, 4), (2, 3, 2), (2, 0, 3)):
        patterns = [random.integers(0, 2, shape), np.zeros(shape, np.int64), np.ones(shape, np.int64)]
        for declared in (",".join(map(str, shape)), ",".join("NMK"[: len(shape)])):
            for name, dtype in (("float", np.float32), ("bool", np.bool_), ("int32", np.int32)):
                feeds = [{"x": pattern.astype(dtype)} for pattern in patterns]
                compare(report, f"g ({name}[{declared}] x) => (int64[r,n] y) {{ y = NonZero (x) }}", 9, (8, 7), feeds)
    for axis, length in ((", axis = 0", 3), (", axis = 1", 2), (", axis = 1", 4), ("", 7)):
        attributes = f"<{axis[2:]}>" if axis else ""
        feeds = [{"x": numbers(random, [3, 4]), "c": chosen} for chosen in (np.arange(length) % 2 == 0, np.ones(length, np.bool_), np.zeros(length, np.bool_))]
        for declared in (str(length), "C"):
            compare(report, f"g (float[3,4] x, bool[{declared}] c) => (float[r] y) {{ y = Compress {attributes} (x, c) }}".replace("float[r]", "float[r,s]" if axis else "float[r]"), 11, (8, 7), feeds)
    for axis, depth in itertools.product((-1, 0, 1), ("<int64 d = {4}>", "")):
        argument = "" if depth else ", int64 d"
        # By the text of opset 9, no negative index counts from the end, as it does in onnxruntime.
        for opset, places in ((9, [[0, 3, 1], [2, 4, 5]]), (11, [[0, 3, 1], [-1, 4, -5]])):
            feeds = [{"i": np.array(places), "v": np.float32([-0.5, 2])} | ({} if depth else {"d": np.array(4)})]
            compare(report, f"g (int64[2,3] i{argument}, float[2] v) => (float[a,b,c] y) {depth} {{ y = OneHot <axis = {axis}> (i, d, v) }}", opset, (8, 7), feeds)


def scatters(report, random):
    for op, opset, targets in (("Scatter", 9, (8, 7)), ("ScatterElements", 11, (10, 8, 7))):
        for axis, (data, index) in itertools.product((0, 1), (((4, 3), (2, 3)), ((3, 5), (3, 2)), ((3, 3), (3, 3)))):
            length = data[axis]
            first = -length if op == "ScatterElements" else 0
            # No element twice: ONNX leaves open which update it keeps.
            places = [random.permuted(np.tile(np.arange(length), (index[1 - axis], 1)), axis=1)[:, : index[axis]] for _ in range(3)]
            feeds = [{"x": numbers(random, data), "i": place if axis else place.T, "u": numbers(random, index)} for place in places]
            for feed in feeds:
                feed["i"] = np.ascontiguousarray(feed["i"] + (random.integers(0, 2, index) * first))
            lengths = ",".join(map(str, index))
            text = f"(float[{data[0]},{data[1]}] x, int64[{lengths}] i, float[{lengths}] u) => (float[{data[0]},{data[1]}] y)"
            compare(report, f"g {text} {{ y = {op} <axis = {axis}> (x, i, u) }}", opset, targets, feeds)
    for data, index in (((4, 3), [[1], [3]]), ((4, 3), [[1, 2], [0, 0], [-1, -3]]), ((3, 4, 2), [[[1], [0]]]), ((3, 4, 2), [[2, -1]]), ((5,), [[4], [0], [2]])):
        index = np.array(index)
        updates = [*index.shape[:-1], *data[index.shape[-1] :]]
        shapes = [",".join(map(str, shape)) for shape in (data, index.shape, updates)]
        for opset in (11, 13, 18):
            graph = f"g (float[{shapes[0]}] x, int64[{shapes[1]}] i, float[{shapes[2]}] u) => (float[{shapes[0]}] y) {{ y = ScatterND (x, i, u) }}"
            compare(report, graph, opset, (10, 9, 8, 7), [{"x": numbers(random, data), "i": index, "u": numbers(random, updates)} for _ in range(2)])


def tuples(report, random):
    for batch_dims, data, index in ((1, (2, 3, 4), (2, 1)), (1, (2, 3, 4), (2, 5, 2)), (2, (2, 3, 4), (2, 3, 2, 1)), (1, (3, 5), (3, 4, 1))):
        feeds = [{"x": numbers(random, data), "i": random.integers(-3, 3, index)} for _ in range(2)]
        shapes = [",".join(map(str, shape)) for shape in (data, index)]
        declared = ",".join("abcd"[: len(index) - 1 + len(data) - batch_dims - index[-1]])
        graph = f"g (float[{shapes[0]}] x, int64[{shapes[1]}] i) => (float[{declared}] y) {{ y = GatherND <batch_dims = {batch_dims}> (x, i) }}"
        compare(report, graph, 13, (11, 10, 7), feeds)


def orders(report, random):
    edges = {"int64": np.int64([-(2**63), 2**63 - 1, 2**53, 2**53 + 1, 0, 0, -1]), "uint64": np.uint64([0, 2**64 - 1, 2**63, 2**53 + 1, 2**53, 7, 7])}
    for name, given in (("float", numbers(random, [3, 7])), *edges.items()):
        x = given if name == "float" else np.stack([random.permutation(given) for _ in range(3)])
        for axis, largest, count in itertools.product((0, 1), (0, 1), (1, 3, None)):
            if axis and count is None:
                continue
            constant, argument = (f"<int64[1] k = {{{count}}}>", "") if count else ("", ", int64[1] k")
            feeds = [{"x": x}] if count else [{"x": x, "k": np.array([k])} for k in (0, 2, 3)]
            # Equal elements are given by their indices: in order.
            order = np.argsort(x if largest == 0 else ~x if name != "float" else -x, axis=axis, kind="stable")
            taken = [np.take(order, range(count or feed["k"][0]), axis) for feed in feeds]
            for output, expected in ((f"{name}[a,b] v", [np.take_along_axis(x, place, axis) for place in taken]), ("int64[a,b] i", taken)):
                graph = f"g ({name}[3,7] x{argument}) => ({output}) {constant} {{ v, i = TopK <axis = {axis}, largest = {largest}> (x, k) }}"
                compare(report, graph, 11, (10, 9, 8, 7), feeds, expected)


def repeats(report, random):
    for given, wanted in (((3, 1), (2, 1, 6)), ((3, 1), (3, 4)), ((3, 4), (1,)), ((1,), (2, 0)), ((), (2, 3)), ((2, 3), (2, 3)), ((0, 1), (1, 4))):
        declared = ",".join("NMK"[: len(given)])
        result = ",".join("abcd"[: max(len(given), len(wanted))])
        graph = f"g (float{declared and f'[{declared}]'} x, int64[{len(wanted)}] s) => (float[{result}] y) {{ y = Expand (x, s) }}"
        compare(report, graph, 8, (7,), [{"x": numbers(random, given), "s": np.array(wanted)}])


def sequences(report, random):
    for time, shape in itertools.product((0, 1), ((4, 3), (5, 2, 3), (2, 3, 2, 0))):
        batch = 1 - time
        graph = f"g (float[{','.join(map(str, shape))}] x, int64[{shape[batch]}] n) => (float[{','.join('abcd'[: len(shape)])}] y) {{ y = ReverseSequence <time_axis = {time}, batch_axis = {batch}> (x, n) }}"
        feeds = [{"x": numbers(random, shape), "n": random.integers(0, shape[time] + 1, shape[batch])} for _ in range(3)]
        compare(report, graph, 10, (9, 8, 7), feeds)


def comparisons(report):
    numbers = np.uint64([0, 1, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1])
    feed = {"x": np.repeat(numbers, len(numbers)), "y": np.tile(numbers, len(numbers))}
    for op, compared in (("Less", np.less), ("Greater", np.greater)):
        compare(report, f"g (uint64[N] x, uint64[N] y) => (bool[N] z) {{ z = {op} (x, y) }}", 9, (8, 7), [feed], [compared(*feed.values())])


def numbers(random, shape):
    return np.asarray(random.standard_normal(shape), np.float32)
