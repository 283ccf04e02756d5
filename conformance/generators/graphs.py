"""Random models from the schemas of onnx, for tests of conversions.

Nodes are added one by one: an operator of the opset, inputs of types that it takes, and random attributes. A node that onnxruntime does
not run on the values so far is left out, so that every model runs. Equal seeds give equal models.
"""

import random

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, defs, helper, numpy_helper

OPSETS = range(7, 27)
MOST_NODES, MOST_TRIES, MOST_ELEMENTS = 8, 60, 2048
LARGEST = 1e4  # Conversions of larger numbers to integers are not defined.
LEFT_OUT = {
    "Bernoulli", "Dropout", "EyeLike", "ImageDecoder", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
    "RandomUniformLike", "NonMaxSuppression", "Constant",
}  # fmt: skip
STRINGS = {
    "approximate": ["none", "tanh"],
    "auto_pad": ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"],
    "coordinate_transformation_mode": ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "output_half_pixel"],
    "direction": ["LEFT", "RIGHT", "forward", "reverse"],
    "equation": ["ij,jk->ik", "ij->ji", "i,i->", "ijk->ik"],
    "interpolation_mode": ["linear", "nearest", "cubic"],
    "mode": ["constant", "edge", "reflect", "wrap", "nearest", "linear", "cubic", "bilinear", "DCR", "CRD", "avg", "max"],
    "nearest_mode": ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"],
    "padding_mode": ["zeros", "border", "reflection"],
    "reduction": ["none", "add", "mul", "mean", "sum"],
}
LISTS = ([0], [1], [2], [-1], [0, 1], [1, 2], [0, -1], [-1, 4], [3, 4], [2, 3, 4], [1, 1, 1], [1, 2, 1], [1, 0, 0, 1], [1, 1, 2, 2], [0, 1, 0, 0, 1, 0])


def random_model(seed):
    """A model, its inputs and its opset; none if nothing runs."""
    rng = random.Random(seed)
    opset = rng.choice(OPSETS)
    schemas = schemas_of(opset)
    values = first_values(rng)
    given, nodes, used = set(values), [], set()
    for _ in range(MOST_TRIES):
        node = random_node(rng, rng.choice(schemas), values, len(nodes))
        outputs = node and computed(node, values, opset)
        if outputs:
            nodes.append(node)
            used.update(node.input)
            values.update(outputs)
        if len(nodes) == MOST_NODES:
            break
    if not nodes:
        return None
    inputs = {name: values[name] for name in sorted(given & used) if not name.startswith("c")}
    constants = [numpy_helper.from_array(values[name], name) for name in sorted(given & used) if name.startswith("c")]
    results = [name for node in nodes for name in node.output if name]
    graph = helper.make_graph(
        nodes, "g", [declared(rng, name, value) for name, value in inputs.items()], [declared(None, name, values[name]) for name in results], constants
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model, inputs, opset


def schemas_of(opset):
    latest = {}
    for schema in sorted(defs.get_all_schemas_with_history(), key=lambda schema: (schema.name, schema.since_version)):
        if schema.domain == "" and schema.since_version <= opset:
            latest[schema.name] = schema
    kinds = (defs.OpSchema.AttrType.GRAPH, defs.OpSchema.AttrType.TYPE_PROTO)
    fits = lambda schema: not schema.deprecated and not any(each.type in kinds for each in schema.attributes.values())
    return [schema for name, schema in sorted(latest.items()) if fits(schema) and name not in LEFT_OUT]


def first_values(rng):
    """Inputs of several types and shapes, and constants: lists of integers, and some more."""
    values = {}
    for index, (dtype, shape) in enumerate([
        ("float32", (2, 3, 4)), ("float32", (3, 4)), ("float32", (4,)), ("float32", (1, 3, 4, 4)), ("float32", (3, 3, 2, 2)), ("float32", ()),
        ("float64", (3, 4)), ("float16", (2, 3, 4)), ("int64", (3, 4)), ("int64", (2, 3, 4)), ("int32", (3, 4)), ("bool", (3, 4)),
        ("uint8", (3, 4)), ("int8", (3, 4)), ("uint32", (3, 4)), ("int64", ()), ("int64", (2,)),
    ]):  # fmt: skip
        name = f"{rng.choice(['x', 'x', 'c'])}{index}"
        numbers = [rng.uniform(-2, 2) if dtype.startswith("float") else rng.randint(0, 3) for _ in range(int(np.prod(shape)))]
        values[name] = np.array(numbers).reshape(shape).astype(dtype)
    for index, numbers in enumerate(LISTS):
        values[f"c_list{index}"] = np.array(numbers, np.int64)
    for index, number in enumerate((0.0, 1.0, -1.5)):
        values[f"c_float{index}"] = np.array(number, np.float32)
    return values


def random_node(rng, schema, values, index):
    chosen = []
    variables = {}
    for formal in schema.inputs:
        optional = formal.option == defs.OpSchema.FormalParameterOption.Optional
        if optional and rng.random() < 0.5:
            chosen.append("")
            continue
        count = rng.randint(1, 3) if formal.option == defs.OpSchema.FormalParameterOption.Variadic else 1
        for _ in range(count):
            allowed = variables.get(formal.type_str, formal.types)
            names = [name for name, value in values.items() if type_name(value) in allowed]
            # Values of the last nodes are preferred.
            name = rng.choice(names[-6:] if names and rng.random() < 0.4 else names) if names else None
            if name is None:
                return None
            if formal.is_homogeneous:
                variables[formal.type_str] = {type_name(values[name])}
            chosen.append(name)
    while chosen and not chosen[-1]:
        chosen.pop()
    if is_undefined(schema.name, [values[name] for name in chosen if name]):
        return None
    first = values[chosen[0]] if chosen and chosen[0] else np.zeros(())
    attributes = {}
    for name, attribute in sorted(schema.attributes.items()):
        if attribute.required or rng.random() < 0.4:
            value = random_attribute(rng, attribute, first)
            if value is not None:
                attributes[name] = value
    few = max(schema.min_output, 1)
    count = rng.randint(few, min(max(schema.max_output, few), 3))
    return helper.make_node(schema.name, chosen, [f"y{index}_{output}" for output in range(count)], f"n{index}", **attributes)


def is_undefined(op, arrays):
    """Whether ONNX does not define the result, or onnxruntime ends the process."""
    if (op in ("ArgMax", "ArgMin") and arrays[0].ndim == 0) or (op == "MeanVarianceNormalization" and arrays[0].ndim != 4):
        return True  # Not valid, but onnxruntime runs it.
    if op in ("Div", "Mod", "BitShift") and arrays[0].dtype.kind in "iu":
        return any(np.any(array <= 0) or np.any(array > 5) for array in arrays[1:])
    if op == "Pow" and any(array.dtype.kind in "iu" for array in arrays):
        return True
    return op in ("Cast", "CastLike", "QuantizeLinear") and any(np.any(np.abs(array.astype(np.float64)) > 100) for array in arrays[:1])


def random_attribute(rng, attribute, first):
    kind, name = attribute.type, attribute.name
    kinds = defs.OpSchema.AttrType
    spatial = max(first.ndim - 2, 1)
    if kind == kinds.INT:
        if name in ("to", "dtype", "output_datatype"):
            return rng.choice((1, 6, 7, 9, 10, 11))
        return rng.choice((0, 1, 2, -1)) if "axis" in name else rng.choice((0, 1))
    if kind == kinds.FLOAT:
        return rng.choice((0.5, 1.0, 2.0, 0.01))
    if kind == kinds.STRING:
        return rng.choice(STRINGS[name]) if name in STRINGS else None
    if kind == kinds.INTS:
        if name == "perm":
            return rng.sample(range(first.ndim), first.ndim) or None
        if name == "axes":
            return rng.sample(range(first.ndim), rng.randint(1, max(first.ndim, 1))) if first.ndim else None
        if name == "kernel_shape":
            return [rng.randint(1, 3)] * spatial
        if name == "pads":
            return [rng.randint(0, 1) for _ in range(2 * spatial)]
        return [rng.randint(1, 2) for _ in range(spatial)]
    if kind == kinds.FLOATS:
        return [rng.choice((0.5, 1.0, 2.0))]
    if kind == kinds.TENSOR:
        return helper.make_tensor("value", TensorProto.FLOAT, [1], [rng.choice((0.0, 2.5))])
    return None


def computed(node, values, opset):
    """The outputs of a node that runs, whose numbers are neither too many nor too large; none otherwise."""
    inputs = {name: values[name] for name in node.input if name}
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", [declared(None, name, value) for name, value in inputs.items()], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    try:
        model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        arrays = session.run(None, inputs)
    except Exception:
        return None
    is_fit = lambda array: (
        isinstance(array, np.ndarray)
        and array.dtype.kind in "fiub"
        and 0 < array.size <= MOST_ELEMENTS
        and np.all(np.isfinite(array))
        and np.all(np.abs(array.astype(np.float64)) < LARGEST)
    )
    return dict(zip(node.output, arrays)) if all(map(is_fit, arrays)) else None


def declared(rng, name, value):
    """The type of a value, and its shape, of which some dimensions are names."""
    shape = value.shape if rng is None else [f"d{size}" if rng.random() < 0.2 else size for size in value.shape]
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), shape)


def type_name(value):
    return f"tensor({TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(value.dtype)).lower()})"
