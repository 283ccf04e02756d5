"""Expansions of reductions of scatters, deformed convolutions, powers, signs, windows of pooling, real signals of half a spectrum, hyperbolic
functions, determinants, and statistics of a batch: onnxruntime, or numpy, computes the same before and after.

The indices of the scatters are equal in part, and count from the end; the places of the convolutions are partly outside of the image; and with
`ceil_mode`, the windows start in the padding, or do not.
"""

import itertools

import numpy as np

from checks.convert.expansions_at_boundary_values import compare

TOLERANCE = 2e-5
# Of coordinates that are divided by the length of the image.
SAMPLE_TOLERANCE = 2e-4
SEED = 0


def check(report):
    random = np.random.default_rng(SEED)
    for reduction in ("add", "mul", "max", "min"):
        scattered_elements(report, random, reduction)
        scattered_slices(report, random, reduction)
    deformed(report, random)
    powers(report, random)
    signs(report)
    windows(report, random)
    real_signals(report, random)
    hyperbolic(report, random)
    determinants(report, random)
    batches(report, random)
    masks(report, random)
    transposed(report, random)


def scattered_elements(report, random, reduction):
    for dtype, name in ((np.float32, "float"), (np.int64, "int64")):
        for axis in (0, 1, -1):
            before, behind = [4, 3, 2][: axis % 3], [4, 3, 2][axis % 3 + 1 :]
            shapes = [[*before, length, *behind] for length in (0, 1, 5)]
            feeds = [{"x": numbers(random, (4, 3, 2), dtype), "i": random.integers(-2, 2, shape), "u": numbers(random, shape, dtype)} for shape in shapes]
            lengths = ",".join(map(str, [*before, "N", *behind]))
            text = f"({name}[4,3,2] x, int64[{lengths}] i, {name}[{lengths}] u) => ({name}[4,3,2] y)"
            graph = f'g {text} {{ y = ScatterElements <axis = {axis}, reduction = "{reduction}"> (x, i, u) }}'
            compare(report, graph, 18, (17, 15, 13, 11), feeds)


def scattered_slices(report, random, reduction):
    for data, index in itertools.product(([4, 3], [3, 4, 2]), ([1], [5, 1], [5, 2], [2, 3, 1])):
        updates = [*index[:-1], *data[index[-1] :]]
        feeds = [{"x": numbers(random, data, np.float32), "i": random.integers(-2, 2, index), "u": numbers(random, updates, np.float32)} for _ in range(2)]
        shapes = [",".join(map(str, shape)) for shape in (data, index, updates)]
        types = [f"float[{shape}]" if shape else "float" for shape in shapes]
        text = f"({types[0]} x, int64[{shapes[1]}] i, {types[2]} u) => ({types[0]} y)"
        compare(report, f'g {text} {{ y = ScatterND <reduction = "{reduction}"> (x, i, u) }}', 18, (17, 15, 11), feeds)


def numbers(random, shape, dtype):
    return random.standard_normal(shape).astype(dtype) if dtype == np.float32 else random.integers(-5, 6, shape)


def deformed(report, random):
    for group, offset_group, strides, pads, dilations in (
        (1, 1, (1, 1), (0, 0, 0, 0), (1, 1)),
        (2, 1, (2, 1), (1, 0, 2, 1), (1, 2)),
        (1, 2, (1, 2), (2, 2, 0, 0), (2, 1)),
        (2, 2, (1, 1), (1, 1, 1, 1), (1, 1)),
    ):
        image, kernel = (7, 9), (3, 2)
        height, width = ((image[axis] + pads[axis] + pads[axis + 2] - (kernel[axis] - 1) * dilations[axis] - 1) // strides[axis] + 1 for axis in (0, 1))
        area = kernel[0] * kernel[1]
        shapes = {
            "x": (2, 4, *image),
            "w": (6, 4 // group, *kernel),
            "o": (2, 2 * area * offset_group, height, width),
            "b": (6,),
            "m": (2, area * offset_group, height, width),
        }
        feeds = [{name: (random.standard_normal(shape) * (spread if name == "o" else 1)).astype(np.float32) for name, shape in shapes.items()} for spread in (0.5, 4)]
        lists = {"strides": strides, "pads": pads, "dilations": dilations}
        attributes = ", ".join(f"{name} = [{','.join(map(str, values))}]" for name, values in lists.items())
        signature = ", ".join(f"float[{','.join(map(str, shape))}] {name}" for name, shape in shapes.items())
        graph = f"g ({signature}) => (float[2,6,{height},{width}] y) {{ y = DeformConv <group = {group}, offset_group = {offset_group}, {attributes}> (x, w, o, b, m) }}"
        compare(report, graph, 22, (18, 16, 13), feeds, tolerance=SAMPLE_TOLERANCE)


def powers(report, random):
    bases = {"float": np.float32([-3, -1, -0.5, 0, 0.5, 2, np.inf, np.nan]), "int32": np.int32([-3, -1, 0, 1, 2, 7, 46340, -46340])}
    exponents = {"float": np.float32([0, 0.5, 1, 2, 3]), "int32": np.int32([0, 1, 2, 3])}
    for (base, x), (exponent, y) in itertools.product(bases.items(), exponents.items()):
        if (base, exponent) == ("float", "float"):
            continue
        # The squares of the integers are in their range.
        feeds = [{"x": x, "y": np.full(len(x), value, y.dtype)} for value in y if base == "float" or value in (0, 1, 2)]
        compare(report, f"g ({base}[N] x, {exponent}[N] y) => ({base}[N] z) {{ z = Pow (x, y) }}", 15, (11, 8), feeds, tolerance=TOLERANCE)


def signs(report):
    numbers = np.float32([-np.inf, -3, -1.5, -1.25, -0.0, 0, 1e-40, 1.25, 1.5, 2, np.inf])
    for node in ("Sign (x)", "Shrink <lambd = 1.25, bias = 0.75> (x)", "Shrink <lambd = 0.5, bias = -1.0> (x)"):
        compare(report, f"g (float[11] x) => (float[11] y) {{ y = {node} }}", 9, (8, 7), [{"x": numbers}])


def windows(report, random):
    for op, attributes in (("MaxPool", ""), ("AveragePool", ""), ("AveragePool", ", count_include_pad = 1"), ("LpPool", ", p = 3")):
        for length, kernel, stride, pads in ((5, 2, 3, (1, 1)), (6, 3, 4, (1, 2)), (5, 3, 3, (0, 2)), (7, 2, 2, (1, 1)), (4, 3, 2, (2, 2))):
            feeds = [{"x": random.standard_normal((2, 2, length)).astype(np.float32)} for _ in range(2)]
            settings = f"ceil_mode = 1, kernel_shape = [{kernel}], strides = [{stride}], pads = [{pads[0]},{pads[1]}]{attributes}"
            compare(report, f"g (float[2,2,{length}] x) => (float[2,2,n] y) {{ y = {op} <{settings}> (x) }}", 22, (21, 19), feeds, tolerance=TOLERANCE)
    feeds = [{"x": random.standard_normal((2, 3, 9, 8)).astype(np.float32)} for _ in range(2)]
    for settings in ("dilations = [2,3]", "dilations = [1,2], strides = [2,1], pads = [1,0,1,1], p = 1", "dilations = [2,2], ceil_mode = 1, strides = [2,3], p = 3"):
        graph = f"g (float[2,3,9,8] x) => (float[2,3,n,m] y) {{ y = LpPool <kernel_shape = [2,2], {settings}> (x) }}"
        compare(report, graph, 22, (17, 11), feeds, tolerance=TOLERANCE)


def real_signals(report, random):
    for shape, axis in (((5, 2), 0), ((3, 5, 2), 1), ((3, 5, 4, 2), -2), ((2, 6, 3, 2), 1)):
        x = random.standard_normal(shape).astype(np.float32)
        for length in (None, 4, 7, 8):
            expected = np.fft.irfft(x[..., 0] + 1j * x[..., 1], length, axis % x.ndim)[..., None].astype(np.float32)
            declared = ",".join(map(str, shape))
            constant, argument = (f"<int64 n = {{{length}}}>", ", n") if length else ("", "")
            graph = f"g (float[{declared}] x) => (float[{','.join(map(str, expected.shape))}] y) {constant} {{ y = DFT <axis = {axis}, inverse = 1, onesided = 1> (x{argument}) }}"
            compare(report, graph, 17, (16, 13), [{"x": x}], [expected], TOLERANCE)


def hyperbolic(report, random):
    """Rounded once: the errors of numpy in double precision are far less than those of a float."""
    edges = [0.0, -0.0, 1e-45, 1e-38, 1e-7, 9.99e-4, 1e-3, 1.01e-3, 0.5, 0.99999994, 1, 1.0000001, 1.5, 2, 20, 88, 89, 100, 3e38, np.inf, np.nan]
    numbers = np.concatenate([edges, -np.array(edges), random.standard_normal(1000) * 3, random.uniform(-1, 1, 1000), 10.0 ** random.uniform(-30, 30, 1000)])
    for name, dtype in (("float", np.float32), ("float16", np.float16)):
        with np.errstate(all="ignore"):
            x = numbers.astype(dtype)
            for op, function in (("Sinh", np.sinh), ("Cosh", np.cosh), ("Asinh", np.arcsinh), ("Acosh", np.arccosh), ("Atanh", np.arctanh)):
                expected = function(x.astype(np.float64)).astype(dtype)
                graph = f"g ({name}[N] x) => ({name}[N] y) {{ y = {op} (x) }}"
                compare(report, graph, 9, (8, 7), [{"x": x}], [expected])


def determinants(report, random):
    for shape in ((1, 1), (2, 2), (3, 3), (4, 2, 2), (2, 3, 3, 3)):
        feeds = [{"x": random.standard_normal(shape).astype(np.float32)} for _ in range(3)]
        given, result = (",".join(map(str, dims)) for dims in (shape, shape[:-2]))
        graph = f"g (float[{given}] x) => (float{result and f'[{result}]'} y) {{ y = Det (x) }}"
        compare(report, graph, 11, (10, 7), feeds, [np.linalg.det(feed["x"].astype(np.float64)).astype(np.float32) for feed in feeds], TOLERANCE)


def batches(report, random):
    """The outputs of training: the batch normalized by itself, and the statistics that run."""
    for shape in ((3, 2), (4, 3, 5), (2, 3, 4, 5)):
        channels = shape[1]
        x = random.normal(2, 3, shape).astype(np.float32)
        feed = {"x": x} | {name: random.uniform(0.5, 2, channels).astype(np.float32) for name in "sbmv"}
        axes = tuple(axis for axis in range(len(shape)) if axis != 1)
        mean, variance = x.astype(np.float64).mean(axes), x.astype(np.float64).var(axes)
        column = [1, channels, *[1] * (len(shape) - 2)]
        normalized = (x - mean.reshape(column)) / np.sqrt(variance.reshape(column) + 1e-2) * feed["s"].reshape(column) + feed["b"].reshape(column)
        results = {"y": normalized, "p": feed["m"] * 0.75 + mean * 0.25, "q": feed["v"] * 0.75 + variance * 0.25}
        given = ",".join(map(str, shape))
        for name, result in results.items():
            declared = given if name == "y" else str(channels)
            inputs = ", ".join(f"float[{channels}] {one}" for one in "sbmv")
            node = "y, p, q = BatchNormalization <training_mode = 1, momentum = 0.75, epsilon = 0.01> (x, s, b, m, v) unused = Add (p, q)"
            graph = f"g (float[{given}] x, {inputs}) => (float[{declared}] {name}) {{ {node} }}"
            compare(report, graph, 15, (13, 9, 7), [feed], [result.astype(np.float32)], TOLERANCE)


def masks(report, random):
    x = random.standard_normal((2, 3)).astype(np.float32)
    for node in ("y, z = Dropout (x)", "y, z = Dropout <seed = 1> (x, r)", "y, z = Dropout (x, r, t)"):
        for output, expected in (("float[2,3] y", x), ("bool[2,3] z", np.ones((2, 3), np.bool_))):
            graph = f"g (float[2,3] x) => ({output}) <float r = {{0.75}}, bool t = {{0}}> {{ {node} }}"
            compare(report, graph, 13, (11, 9, 8, 7), [{"x": x}], [expected])


def transposed(report, random):
    """Padding that follows from the shape of the output: odd, even, and less than none."""
    for length, kernel, settings in itertools.product((4, 5), (2, 3, 4), ('auto_pad = "SAME_UPPER"', 'auto_pad = "SAME_LOWER"', "output_shape = [9]")):
        feeds = [{"x": random.standard_normal((1, 2, length)).astype(np.float32), "w": random.standard_normal((2, 3, kernel)).astype(np.float32)}]
        for strides in (1, 2):
            # More than the strides is no `output_padding`.
            if "auto_pad" in settings or strides * (length - 1) + kernel > 9 - strides:
                graph = f"g (float[1,2,{length}] x, float[2,3,{kernel}] w) => (float[1,3,n] y) {{ y = ConvTranspose <strides = [{strides}], {settings}> (x, w) }}"
                compare(report, graph, 11, (10, 7), feeds, tolerance=TOLERANCE)
