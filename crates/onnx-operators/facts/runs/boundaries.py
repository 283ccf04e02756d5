"""Models for which a runtime computes something else for some values of the inputs only, or in an attribute, and which the node tests lack in
versions of their operators. The expected outputs are those of numpy, of onnx's reference evaluator, or of onnxruntime."""

import math

import numpy as np
import onnxruntime
from onnx import defs, helper, numpy_helper, parser, save
from onnx.reference import ReferenceEvaluator


REDUCTIONS = [f"Reduce{name}" for name in ("L1", "L2", "Mean", "Prod", "SumSquare", "LogSum", "LogSumExp", "Max", "Min", "Sum")]


# An opset of which onnxruntime knows all operators.
NEWEST = 20
# The activations of recurrent operators that ONNX defines as the default.
GATES = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "RNN": ["Tanh"]}


def versions_of(op):
    """The first opset of each version of an operator of ai.onnx."""
    return sorted(schema.since_version for schema in defs.get_all_schemas_with_history() if schema.domain == "" and schema.name == op)


def write(folder):
    """A `model.onnx` for each, beside a folder with its data."""
    write_models(folder, models())


def write_models(folder, models):
    for name, opset, graph, inputs, expected in models:
        model = parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> g {graph}')
        model.ir_version = 10 if opset > 20 else 8
        outputs = expected(model, inputs) if callable(expected) else expected
        save_test(folder / f"{name}_{opset}", model, inputs.values(), outputs)


def save_test(folder, model, inputs, outputs):
    """A model, and the arrays of its inputs and outputs, as onnx stores its tests."""
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    save(model, folder / "model.onnx")
    for kind, arrays in (("input", inputs), ("output", outputs)):
        for index, array in enumerate(arrays):
            (data / f"{kind}_{index}.pb").write_bytes(numpy_helper.from_array(array).SerializeToString())


def models():
    yield from batches()
    yield from bit_shifts()
    yield from divisions()
    yield from equal_elements()
    yield from fourier()
    yield from infinities()
    yield from means()
    yield from overlaps()
    yield from paddings()
    yield from recurrences()
    yield from reductions()
    yield from slopes()
    yield from reshapes()
    yield from resizes()
    yield from resizes_by_scales()
    yield from celus()
    yield from crops()
    yield from swishes()
    yield from tiles()
    yield from upsamples()
    yield from windows()


def by_onnxruntime(model, inputs):
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)


def by_reference(model, inputs):
    return ReferenceEvaluator(model).run(None, inputs)


def batches():
    """Products with matrices of fewer batches, constant and computed."""
    a, b = (np.random.default_rng(seed).random(shape).astype(np.float32) for seed, shape in ((0, (2, 3, 2, 4)), (1, (3, 4, 2))))
    numbers = ",".join(map(repr, map(float, b.ravel())))
    for opset in versions_of("MatMul"):
        y = [a @ b]
        yield "matmul_of_fewer_batches", opset, f"(float[2,3,2,4] a) => (float[2,3,2,2] y) <float[3,4,2] b = {{{numbers}}}> {{ y = MatMul (a, b) }}", {"a": a}, y
        yield "matmul_of_fewer_batches_computed", opset, "(float[2,3,2,4] a, float[3,4,2] b) => (float[2,3,2,2] y) { y = MatMul (a, b) }", {"a": a, "b": b}, y


def paddings():
    """With kernels and strides for which the padding of both sides differs."""
    x = np.random.default_rng(0).standard_normal((1, 1, 6, 9)).astype(np.float32)
    for op in ("AveragePool", "Conv", "MaxPool"):
        for auto_pad, kernel, strides in (("SAME_UPPER", (3, 4), (2, 3)), ("SAME_UPPER", (2, 2), (1, 1)), ("SAME_LOWER", (2, 4), (1, 1)), ("SAME_LOWER", (3, 4), (2, 3))):
            weights = np.random.default_rng(1).standard_normal((1, 1, *kernel)).astype(np.float32)
            numbers = ",".join(map(repr, map(float, weights.ravel())))
            constant, argument = (f"<float[1,1,{kernel[0]},{kernel[1]}] w = {{{numbers}}}>", ", w") if op == "Conv" else ("", "")
            attributes = f'auto_pad = "{auto_pad}", kernel_shape = [{kernel[0]},{kernel[1]}], strides = [{strides[0]},{strides[1]}]'
            graph = f"(float[1,1,6,9] x) => (float[1,1,{-(-6 // strides[0])},{-(-9 // strides[1])}] y) {constant} {{ y = {op} <{attributes}> (x{argument}) }}"
            name = f"{op.lower()}_{auto_pad.lower()}_kernel_{kernel[0]}_{kernel[1]}_steps_{strides[0]}_{strides[1]}"
            yield from in_all_versions(op, name, graph, {"x": x})


def recurrences():
    """With `clip`, with other activations than the default, and with these."""
    rng = np.random.default_rng(0)
    for op, parts, activations in (("GRU", 3, ["Sigmoid", "Relu"]), ("LSTM", 4, ["Sigmoid", "Relu", "Tanh"]), ("RNN", 1, ["Relu"])):
        shapes = {"x": (2, 1, 3), "w": (1, 2 * parts, 3), "r": (1, 2 * parts, 2)}
        inputs = {name: 3 * rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        signature = ", ".join(f"float[{','.join(map(str, shape))}] {name}" for name, shape in shapes.items())
        for name, attribute in (("clip", "clip = 0.5"), ("activations", of_strings(activations)), ("stated_activations", of_strings(GATES[op]))):
            graph = f"({signature}) => (float[1,1,2] y) {{ , y = {op} <hidden_size = 2, {attribute}> (x, w, r) }}"
            yield from in_all_versions(op, f"{op.lower()}_{name}", graph, inputs)


def of_strings(activations):
    return "activations = [" + ",".join(f'"{name}"' for name in activations) + "]"


def in_all_versions(op, name, graph, inputs, first=1):
    """A graph in all versions of its operator from the first one on that has what it states."""
    outputs = by_newest(graph, inputs)
    for opset in versions_of(op):
        if opset >= first:
            yield name, opset, graph, inputs, outputs


def by_newest(graph, inputs):
    """What onnxruntime computes for a graph in an opset whose operators compute what older versions do, too."""
    return by_onnxruntime(parser.parse_model(f'<ir_version: 8, opset_import: ["": {NEWEST}]> g {graph}'), inputs)


def divisions():
    """Of integers, with lengths that are known at run time."""
    x, y = np.arange(100), np.arange(100) % 7 + 1
    for dtype in ("int8", "uint8"):
        graph = f"({dtype}[N] x, {dtype}[N] y) => ({dtype}[N] z) {{ z = Div (x, y) }}"
        inputs = {"x": x.astype(dtype), "y": y.astype(dtype)}
        yield from in_all_versions("Div", f"div_{dtype}_of_unknown_length", graph, inputs, first=14)


def bit_shifts():
    for name in ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"):
        dtype, bits = np.dtype(name), np.iinfo(name).bits
        # OpenVINO computes integers of 64 bits with 32, whatever the operator is.
        highest = min(np.iinfo(name).max, 2**31 - 1)
        numbers = [1, 3, highest, highest // 2 + 1, highest - 1, 100] + ([-1, -3, -highest] if dtype.kind == "i" else [])
        for opset in (11, 28) if dtype.kind == "u" else (28,):
            for direction in ("LEFT", "RIGHT"):
                pairs = [(x, by) for x in numbers for by in (0, 1, 3, bits // 2 + 1, bits - 1, *((bits, bits + 5) if opset == 28 else ()))]
                if bits == 64 and direction == "LEFT":
                    pairs = [(x, by) for x, by in pairs if abs(x << by) < 2**31 or by >= bits]
                results = [(0 if by >= bits else x << by) if direction == "LEFT" else x >> min(by, 127) for x, by in pairs]
                wrapped = [result % 2**bits - (2**bits if dtype.kind == "i" and result % 2**bits >= 2 ** (bits - 1) else 0) for result in results]
                x, by = (np.array(column, dtype) for column in zip(*pairs))
                graph = f'({name}[n] x, {name}[n] by) => ({name}[n] y) {{ y = BitShift <direction = "{direction}"> (x, by) }}'
                yield f"bitshift_{direction.lower()}_{name}", opset, graph, {"x": x, "by": by}, [np.array(wrapped, dtype)]


def equal_elements():
    x = np.random.default_rng(0).integers(0, 3, (3, 70)).astype(np.float32)
    for opset, axis, largest, k in [(1, 1, 1, 40), (10, 1, 1, 40), *((opset, axis, largest, k) for opset in (11, 24) for axis, k in ((1, 1), (-1, 40), (0, 2)) for largest in (0, 1))]:
        order = np.argsort(-x if largest else x, axis=axis, kind="stable")
        indices = np.take(order, range(k), axis=axis)
        count = f"<int64[1] k = {{{k}}}>" if opset > 1 else ""
        choice = f", largest = {largest}" if opset > 10 else f", k = {k}" if opset == 1 else ""
        graph = f"(float[3,70] x) => (float[a,b] v, int64[a,b] i) {count} {{ v, i = TopK <axis = {axis}{choice}> (x{', k' if count else ''}) }}"
        yield f"topk_axis_{axis}_largest_{largest}_k_{k}", opset, graph, {"x": x}, [np.take_along_axis(x, indices, axis), indices]


def fourier():
    x = np.random.default_rng(0).random((2, 4, 6, 2)).astype(np.float32)
    for axis in (0, 1, 2, -3, None):
        constant, name = ("", "") if axis is None else (f"<int64 a = {{{axis}}}>", ", , a")
        result = np.fft.fft(x[..., 0] + 1j * x[..., 1], axis=2 if axis is None else axis % 4)
        graph = f"(float[2,4,6,2] x) => (float[a,b,c,d] y) {constant} {{ y = DFT (x{name}) }}"
        yield f"dft_axis_{axis}", 20, graph, {"x": x}, [np.stack([result.real, result.imag], -1).astype(np.float32)]


def infinities():
    for op, end in (("ReduceMax", -np.inf), ("ReduceMin", np.inf)):
        x = np.array([[end, end], [end, 2], [1, -3]], np.float32)
        y = (np.max if op == "ReduceMax" else np.min)(x, axis=1, keepdims=True)
        for opset in (1, 11, 12, 13, 18, 20):
            axes = ("<int64[1] a = {1}>", "", ", a") if opset >= 18 else ("", "<axes = [1]>", "")
            graph = f"(float[3,2] x) => (float[3,1] y) {axes[0]} {{ y = {op} {axes[1]} (x{axes[2]}) }}"
            yield f"{op.lower()}_of_infinities", opset, graph, {"x": x}, [y]


def means():
    """Of integers, which are truncated."""
    x = np.array([[1, 2, 2], [-1, -2, -2], [7, 8, 9], [1, 1, 0]])
    for dtype in ("int32", "int64"):
        inputs = {"x": x.astype(dtype)}
        for opset in versions_of("ReduceMean"):
            body = "<int64[1] axes = {1}> { y = ReduceMean (x, axes) }" if opset >= 18 else "{ y = ReduceMean <axes = [1]> (x) }"
            yield f"reducemean_{dtype}", opset, f"({dtype}[4,3] x) => ({dtype}[4,1] y) {body}", inputs, [np.array([[1], [-1], [8], [0]], dtype)]


def overlaps():
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.5], [0, 5, 1, 6]]], np.float32)
    scores = np.array([[[0.9, 0.8, 0.7]]], np.float32)
    for opset in (10, 11):
        for threshold in (0.0, 0.25, 0.5, 0.75, 1.0):
            graph = f"""(float[1,3,4] b, float[1,1,3] s) => (int64[n,3] y) <int64[1] k = {{3}}, float[1] t = {{{threshold}}}> {{
                y = NonMaxSuppression (b, s, k, t) }}"""
            yield f"nonmaxsuppression_threshold_{threshold}", opset, graph, {"b": boxes, "s": scores}, by_onnxruntime


def reductions():
    """Along three axes, in each version of an operator: apart, with unknown lengths, and at the end or all of another type than FLOAT. The newest
    one also along axes where OpenCV is right, as far as it is, and of other types."""
    few = [("few", "float", [2, 2, 3, 4], (0, 1, 2)), ("two", "float", [3, 3, 2, 4], (0, 2)), ("last", "float16", [2, 3, 4, 2], (1, 2, 3))]
    more = [*few, ("apart", "float16", [3, 2, 4, 2], (0, 2, 3)), ("last", "int32", [2, 3, 2, 2], (1, 2, 3)), ("backwards", "float", [2, 2, 3, 4], (2, 1, 0))]
    each = [
        ("apart", "float", [3, 2, 4, 2], (0, 2, 3)),
        ("unknown", "float", [3, 2, 4, 2], (0, 2, 3)),
        ("last", "float", [2, 3, 4, 2], (1, 2, 3)),
        ("last", "double", [2, 3, 4, 2], (1, 2, 3)),
        ("all", "float", [3, 2, 2], (0, 1, 2)),
        ("all", "double", [3, 2, 2], (0, 1, 2)),
    ]
    for op in REDUCTIONS:
        opsets = versions_of(op)
        for opset in opsets:
            for name, dtype, shape, axes in [*each, *(more if opset == opsets[-1] else [])]:
                # ONNX does not say how a logarithm is rounded to an integer.
                if not (dtype == "int32" and "Log" in op):
                    yield reduction(op, opset, name, dtype, shape, axes)


def reduction(op, opset, name, dtype, shape, axes):
    x = np.arange(1, math.prod(shape) + 1).reshape(shape) / (1 if dtype == "int32" else 32)
    # OpenCV leaves out the last elements.
    x = (x[::-1, ::-1, ::-1] if op == "ReduceMin" else x).astype(np.float32 if dtype == "float" else dtype)
    reduced = [1 if axis in axes else length for axis, length in enumerate(shape)]
    declared, result = ("a,b,c,d", "a,b,c,d") if name == "unknown" else (",".join(map(str, shape)), ",".join(map(str, reduced)))
    numbers = ",".join(map(str, axes))
    has_input = opset >= (13 if op == "ReduceSum" else 18)
    constant, attribute, argument = (f"<int64[{len(axes)}] a = {{{numbers}}}>", "", ", a") if has_input else ("", f"<axes = [{numbers}]>", "")
    graph = f"({dtype}[{declared}] x) => ({dtype}[{result}] y) {constant} {{ y = {op} {attribute} (x{argument}) }}"
    # The evaluator computes some integers in another type.
    return f"{op.lower()}_{name}_{dtype}", opset, graph, {"x": x}, lambda *model: [y.astype(x.dtype) for y in by_reference(*model)]


def slopes():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)
    for opset in (7, 9, 16):
        for shape, is_of_channels in (((), True), ((1,), True), ((3, 1, 1), True), ((1, 3, 1, 1), True), ((5,), False), ((4, 1), False)):
            slope = np.random.default_rng(1).random(shape).astype(np.float32)
            lengths = ",".join(map(str, shape))
            numbers = ",".join(map(repr, map(float, slope.ravel())))
            y = [np.where(x < 0, x * slope, x)]
            name = f"prelu_slope_{'x'.join(map(str, shape)) or 'scalar'}"
            declared = f"float[{lengths}] s" if shape else "float s"
            yield f"{name}_computed", opset, f"(float[2,3,4,5] x, {declared}) => (float[2,3,4,5] y) {{ y = PRelu (x, s) }}", {"x": x, "s": slope}, y
            # OpenCV refuses slopes that are computed, and takes the other constants for those of channels. A line has one outcome.
            if is_of_channels:
                yield name, opset, f"(float[2,3,4,5] x) => (float[2,3,4,5] y) <{declared} = {{{numbers}}}> {{ y = PRelu (x, s) }}", {"x": x}, y


def reshapes():
    """With `allowzero` = 1, as exporters write it for every shape."""
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    for opset in (14, 19, 21, 23, 24, 25):
        graph = "(float[2,3,4] x, int64[2] s) => (float[4,6] y) { y = Reshape <allowzero = 1> (x, s) }"
        yield "reshape_allowzero", opset, graph, {"x": x, "s": np.array([4, -1])}, [x.reshape(4, 6)]


def resizes():
    """Of one row with `align_corners`, and of two with `half_pixel`."""
    for mode in ("linear", "cubic", "nearest"):
        for opset in (11, 13, 18, 19):
            for length, scale, exclude in ((4, 0.6, 0), (5, 1.5, 0), (4, 2.0, 0), (5, 0.8, 0), *([(4, 0.6, 1)] if mode == "cubic" else [])):
                for rows in (1, 2):
                    corners = "half_pixel" if exclude or rows == 2 else "align_corners"
                    name = f"resize_{mode}_{'' if rows == 1 else '2_rows_'}{length}_by_{scale}_exclude_{exclude}"
                    yield name, opset, *resize((rows, length), f"1,1,1,{scale}", f'mode = "{mode}", coordinate_transformation_mode = "{corners}", exclude_outside = {exclude}')
        yield f"resize_{mode}_half_pixel_symmetric", 19, *resize((2, 2), "1,1,2,3", f'mode = "{mode}", coordinate_transformation_mode = "half_pixel_symmetric"')


def resize(lengths, scales, attributes):
    """The graph, the inputs, and what computes the outputs."""
    x = np.arange(math.prod(lengths), dtype=np.float32).reshape(1, 1, *lengths) ** 2
    graph = f"""(float[1,1,{lengths[0]},{lengths[1]}] x) => (float[a,b,c,d] y) <float[8] r = {{0,0,0,0,1,1,1,1}}, float[4] s = {{{scales}}}> {{
        y = Resize <{attributes}> (x, r, s) }}"""
    return graph, {"x": x}, by_reference


def resizes_by_scales():
    """Before opset 11, `Resize` has scales alone."""
    x = np.arange(24, dtype=np.float32).reshape(1, 1, 4, 6) ** 2
    for mode in ("linear", "nearest"):
        for scale in (0.5, 0.75, 1.5, 2.0):
            graph = f"""(float[1,1,4,6] x) => (float[a,b,c,d] y) <float[4] s = {{1,1,{scale},{scale}}}> {{ y = Resize <mode = "{mode}"> (x, s) }}"""
            yield f"resize_{mode}_by_{scale}", 10, graph, {"x": x}, by_onnxruntime


def crops():
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4) ** 2
    for opset in (11, 13):
        graph = """(float[1,1,4,4] x) => (float[1,1,3,3] y) <float[8] r = {0,0,0.4,0.6,1,1,0.6,0.8}, float[0] s = {}, int64[4] z = {1,1,3,3}> {
            y = Resize <mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"> (x, r, s, z) }"""
        yield "resize_crop", opset, graph, {"x": x}, by_onnxruntime


def celus():
    x = np.linspace(-4, 4, 9, dtype=np.float32)
    for opset in versions_of("Celu"):
        yield "celu_alpha_2", opset, "(float[9] x) => (float[9] y) { y = Celu <alpha = 2.0> (x) }", {"x": x}, [np.where(x < 0, 2 * np.expm1(x / 2), x)]


def swishes():
    x = np.linspace(-4, 4, 9, dtype=np.float32)
    for alpha in (0.5, 1.0, 2.0):
        graph = f"(float[9] x) => (float[9] y) {{ y = Swish <alpha = {alpha}> (x) }}"
        yield f"swish_alpha_{alpha}", 24, graph, {"x": x}, [x / (1 + np.exp(-alpha * x))]


def tiles():
    x = np.random.default_rng(0).random((2, 3, 4, 5)).astype(np.float32)
    for opset in (6, 13):
        repeats = np.array([7, 6, 4, 2], np.int64)
        graph = "(float[2,3,4,5] x, int64[4] r) => (float[a,b,c,d] y) { y = Tile (x, r) }"
        yield "tile_computed", opset, graph, {"x": x, "r": repeats}, [np.tile(x, repeats)]
        graph = "(float[2,3,4,5] x) => (float[a,b,c,d] y) <int64[4] r = {7,6,4,2}> { y = Tile (x, r) }"
        yield "tile_constant", opset, graph, {"x": x}, [np.tile(x, repeats)]


def upsamples():
    """As Resize defines it, with coordinates without an offset, and the neighbours before them."""
    for mode in ("nearest", "linear"):
        for opset in (1, 7, 9):
            for scale in (2, 3):
                constant, scales, argument = ("<float[4] s = {1,1,%d,%d}>" % (scale, scale), "", ", s") if opset == 9 else ("", f"scales = [1.0,1.0,{scale}.0,{scale}.0]", "")
                if opset == 1:
                    scales = f"height_scale = {scale}.0, width_scale = {scale}.0"
                name = "bilinear" if opset == 1 and mode == "linear" else mode
                attributes = f'mode = "{name}"' + (f", {scales}" if scales else "")
                graph = f"(float[1,1,4,6] x) => (float[1,1,{4 * scale},{6 * scale}] y) {constant} {{ y = Upsample <{attributes}> (x{argument}) }}"
                resized, inputs, _ = resize((4, 6), f"1,1,{scale},{scale}", f'mode = "{mode}", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"')
                model = parser.parse_model(f'<ir_version: 8, opset_import: ["": 19]> g {resized}')
                yield f"upsample_{mode}_by_{scale}", opset, graph, inputs, by_reference(model, inputs)


def windows():
    for length, kernel, step, pads in ((3, 2, 2, (1, 1)), (4, 1, 2, (0, 0)), (5, 3, 2, (1, 1)), (4, 3, 2, (0, 0)), (5, 2, 3, (0, 1)), (2, 1, 2, (0, 0))):
        x = np.arange(length * length, dtype=np.float32).reshape(1, 1, length, length)
        for opset in (10, 11, 12, 22):
            graph = f"""(float[1,1,{length},{length}] x) => (float[1,1,a,b] y) {{
                y = MaxPool <kernel_shape = [{kernel},{kernel}], strides = [{step},{step}], pads = [{pads[0]},{pads[0]},{pads[1]},{pads[1]}], ceil_mode = 1> (x) }}"""
            yield f"maxpool_{length}_kernel_{kernel}_step_{step}_pads_{pads[0]}_{pads[1]}", opset, graph, {"x": x}, by_onnxruntime
