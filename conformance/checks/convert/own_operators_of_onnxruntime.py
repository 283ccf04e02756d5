"""The operators that onnxruntime has in the domain ai.onnx, in the types that it runs: types and shapes are those of the computed arrays, and
converted models compute the same.

A node is converted to opsets that keep it, to opsets that lack it, and for other runtimes.
"""

import json

import numpy as np
import onnx
from onnx import helper, parser

from support.common import recast, scratch_folder
from support.runners import is_close, run_model

# The opset of the model, inputs, and a node; `T` is each of the types that follow.
NODES = [
    (9, "T[1,2,5,6] x", "y = Affine <alpha = 2.0, beta = 0.5> (x)", "float float16"),
    (8, "T[1,2,5,6] x", "y = Crop <border = [1, 0, 2, 1]> (x)", "float float16"),
    (8, "T[1,2,5,6] x", "y = Crop <border = [1, 1, 9, 9], scale = [2, 3]> (x)", "float float16"),
    (8, "T[1,2,5,6] x", "y = Crop <border = [3, 0, 3, 0]> (x)", "float"),
    (9, "T[1,2,5,6] x, int64[2] i, int64[2] j", "y = DynamicSlice (x, i, j)", "float double float16 int8 bool"),
    (9, "T[1,2,5,6] x", "y = ImageScaler <scale = 2.0, bias = [1.0, -3.0]> (x)", "float float16"),
    (8, "T[1,2,5,6] x", "y = MeanVarianceNormalization <across_channels = 1> (x)", "float float16"),
    (8, "T[1,2,5,6] x", "y = MeanVarianceNormalization <normalize_variance = 0> (x)", "float float16"),
    (9, "T[1,2,5,6] x", "y = ParametricSoftplus <alpha = 2.0, beta = 0.5> (x)", "float float16"),
    (9, "T[1,2,5,6] x", "y = Scale <scale = 0.3> (x)", "float float16"),
    (9, "T[1,2,5,6] x", "y = ScaledTanh <alpha = 2.0, beta = 0.5> (x)", "float float16"),
    (9, "T[1,2,5,6] x", "y = ThresholdedRelu <alpha = 0.5> (x)", "float float16"),
    (12, "T[2,3,4] x, T[4] s", "y = SimplifiedLayerNormalization (x, s)", "float double float16"),
    (12, "T[2,3,4] x, T[3,4] s", "y = SimplifiedLayerNormalization <axis = 1, epsilon = 0.5> (x, s)", "float double float16"),
    (12, "T[2,3,4] x, T[4] s", "y, i = SimplifiedLayerNormalization (x, s)", "float double float16"),
    (12, "float16[2,3,4] x, T[4] s", "y = SimplifiedLayerNormalization (x, s)", "float"),
    (12, "float[2,3,4] x, T[4] s", "y = SimplifiedLayerNormalization (x, s)", "float16"),
    (12, "T[2,3,4] x, T[4] s, T[4] b", "y = LayerNormalization (x, s, b)", "float double float16"),
    (12, "T[2,3,4] x, T[4] s, T[4] b", "y, m, i = LayerNormalization (x, s, b)", "float float16"),
    (12, "float16[2,3,4] x, T[4] s", "y, m, i = LayerNormalization (x, s)", "float"),
    (14, "T[2,3,4] x, T[3,4] s", "y = LayerNormalization <axis = -2, epsilon = 0.5> (x, s)", "float double float16"),
]
CONVERSIONS = [
    *(("--opset", opset) for opset in ("11", "16", "17", "23", "25")),
    *(("--target", target) for target in ("tensorrt@10.15", "windowsml@2004", "rknn@1.6", "onnxruntime@1.18")),
]
LEAST_COMPARED = 350


def check(report):
    compared = 0
    for opset, inputs, node, types in NODES:
        for kind in types.split():
            compared += check_node(report, opset, inputs.replace("T[", f"{kind}["), node)
    report.at_least("results compared", compared, LEAST_COMPARED)


def check_node(report, opset, inputs, node):
    outputs = node.split(" = ")[0]
    source = f'<ir_version: 8, opset_import: ["": {opset}]> g ({inputs}) => ({outputs}) {{ {node} }}'
    with scratch_folder() as folder:
        path, converted = folder / "model.onnx", folder / "converted.onnx"
        model = parser.parse_model(source)
        onnx.save(model, path)
        types = {entry["value"]: entry for entry in json.loads(recast("inspect", path, "--types", "--format", "json").stdout)["types"]}
        declare(model, types)
        onnx.save(model, path)
        feeds = values(model)
        expected = run_model(path, feeds, "onnxruntime")
        for name, array in zip(outputs.split(", "), expected):
            wanted = helper.tensor_dtype_to_string(helper.np_dtype_to_tensor_dtype(array.dtype)).removeprefix("TensorProto.").lower()
            found = types[name]
            agrees = all(dim in (size, None) for dim, size in zip(found["shape"], array.shape, strict=True))
            problem = (found["type"] != f"tensor({wanted})" or not agrees) and f"{found}, but {wanted} {array.shape} in onnxruntime"
            report.case(f"{source}: {name}", problem)
        return sum(compare(report, f"{source} {' '.join(options)}", (path, converted), options, feeds, expected) for options in CONVERSIONS)


def declare(model, types):
    """onnxruntime infers the shapes of outputs, but not all types."""
    for output in model.graph.output:
        number = onnx.TensorProto.DataType.Value(types[output.name]["type"].removeprefix("tensor(").removesuffix(")").upper())
        output.type.tensor_type.elem_type = number


def values(model):
    random, feeds = np.random.default_rng(3), {}
    for value in model.graph.input:
        dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        bounds = {"i": [0, 1], "j": [9, -1]}.get(value.name)
        feeds[value.name] = (random.standard_normal(shape) * 3).astype(dtype) if bounds is None else np.array(bounds, dtype)
    return feeds


def compare(report, name, paths, options, feeds, expected):
    path, converted = paths
    converted.unlink(missing_ok=True)
    done = recast("convert", path, "-o", converted, *options)
    if done.returncode != 0:
        # Before opset 10 the bounds of Slice are attributes. TensorRT has no DOUBLE.
        is_known = "DynamicSlice" in name and options[0] == "--target" or "double" in name and "tensorrt" in options[1]
        is_known &= done.returncode == 1
        report.case(name, not is_known and done.stdout + done.stderr)
        return 0
    try:
        found = run_model(converted, feeds, "onnxruntime")
    except Exception as error:
        report.case(name, f"does not run: {error}")
        return 0
    same = all(map(is_close, expected, found))
    report.case(name, not same and f"{found}, but {expected} before")
    return 1
