"""The templates of random models: each adds one node, or a few, that fit the values of a body, or nothing.

A template knows the shape of what it makes. Which types an operator takes, and whether a list is an attribute or an input, comes from the
schemas of onnx.
"""

import numpy as np
from onnx import AttributeProto, TensorProto, helper

NUMBERS = ("FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64")
FLOATS = ("FLOAT", "DOUBLE", "FLOAT16")
INTEGERS = ("INT32", "INT64", "UINT8", "INT8", "UINT32", "UINT64", "UINT16", "INT16")
UNARY = (
    "Abs", "Neg", "Relu", "Floor", "Ceil", "Round", "Sign", "Sqrt", "Exp", "Sigmoid", "Tanh", "Not", "BitwiseNot", "IsNaN", "IsInf", "Softplus", "Erf",
    "Identity", "HardSwish", "Mish", "Gelu", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "Reciprocal", "Swish",
)  # fmt: skip
BINARY = (
    "Add", "Sub", "Mul", "Add", "Mul", "Div", "Min", "Max", "Equal", "Less", "Greater", "And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
    "LessOrEqual", "GreaterOrEqual", "PRelu", "Mod", "Sum", "Mean",
)  # fmt: skip
# onnxruntime has kernels for FLOAT. It casts FLOAT16 to it, or to and fro in each step of the definition, which depends on the version.
FLOAT_ONLY = {
    "Softplus", "Erf", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "HardSwish", "Mish", "Gelu", "Swish", "PRelu", "Mean", "Hardmax", "Sqrt", "Sum",
}  # fmt: skip
SELECTED = ("FLOAT", "DOUBLE", "INT32", "INT64", "UINT8", "STRING")  # By its Where.
COMPARISONS = ("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "IsNaN", "IsInf")
REDUCTIONS = ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp")


def cast(body):
    value = body.take(None, lambda value: value.dtype != "STRING")
    if value:
        body.cast(value, random_type(body))


def random_type(body):
    """Mostly one of the model's types."""
    types = [dtype for dtype in body.admitted("Cast") if dtype != "STRING"]
    return body.rng.choice([dtype for dtype in body.model.types if dtype in types] if body.rng.random() < 0.8 else types)


def cast_chain(body):
    """Casts with moves of data between them, of a constant or of anything."""
    value = body.constant(body.model.type(), body.model.shape()) if body.rng.random() < 0.5 else body.take()
    if value is None or value.dtype == "STRING":
        return
    for _ in range(body.rng.randint(2, 4)):
        value = body.cast(value, random_type(body)) if body.rng.random() < 0.6 else moved(body, value)


def strings(body):
    """A cast of integers to strings, and perhaps back."""
    value = body.opset >= 9 and body.take(("INT32", "INT64", "UINT8", "INT8"))
    if value:
        made = body.cast(value, "STRING")
        if body.rng.random() < 0.5:
            body.cast(made, body.rng.choice(("INT64", "FLOAT", "DOUBLE")))


def cast_like(body):
    value, like = body.take(None, lambda value: value.dtype != "STRING"), body.take(None, lambda value: value.dtype != "STRING")
    if value and like and body.admits("CastLike", 0, value.dtype) and body.admits("CastLike", 1, like.dtype):
        body.add("CastLike", [value, like], [(like.dtype, value.shape)])


def move(body):
    value = body.take()
    if value:
        moved(body, value)


def moved(body, value):
    """The value after an operator that moves data; itself, if the operator does not take it."""
    made = body.rng.choice(MOVES)(body, value)
    return made[0] if made else value


def transpose(body, value):
    perm = body.rng.sample(range(len(value.shape)), len(value.shape))
    shape = tuple(value.shape[axis] for axis in perm)
    if body.admits("Transpose", 0, value.dtype):
        return body.add("Transpose", [value], [(value.dtype, shape)], perm=perm) if perm else None


def reshape(body, value):
    if not body.admits("Reshape", 0, value.dtype):
        return None
    count, rng = int(np.prod(value.shape)), body.rng
    shape = rng.choice([value.shape, (count,), (1, count), (count, 1), value.shape[::-1]])
    if not count:
        return body.add("Reshape", [value, body.integers(value.shape)], [(value.dtype, value.shape)]) if 0 not in value.shape else None
    wanted = list(shape)
    if rng.random() < 0.4 and wanted:
        wanted[rng.randrange(len(wanted))] = -1
    elif shape == value.shape and rng.random() < 0.4:
        wanted = [0 if rng.random() < 0.5 else size for size in wanted]
    return body.add("Reshape", [value, body.integers(wanted)], [(value.dtype, shape)])


def reshape_like(body, value):
    """To the shape of another value, which is computed."""
    like = body.take(None, lambda other: int(np.prod(other.shape)) == int(np.prod(value.shape)) and 0 not in other.shape)
    if like and body.admits("Reshape", 0, value.dtype) and body.admits("Shape", 0, like.dtype):
        shape = body.add("Shape", [like], [("INT64", (len(like.shape),))])[0]
        return body.add("Reshape", [value, shape], [(value.dtype, like.shape)])


def squeeze(body, value):
    ones = [axis for axis, size in enumerate(value.shape) if size == 1]
    if not ones or not body.admits("Squeeze", 0, value.dtype):
        return None
    axes = sorted(body.rng.sample(ones, body.rng.randint(1, len(ones))))
    shape = tuple(size for axis, size in enumerate(value.shape) if axis not in axes)
    return with_list(body, "Squeeze", value, "axes", axes, [(value.dtype, shape)], 13)


def unsqueeze(body, value):
    if len(value.shape) > 3 or not body.admits("Unsqueeze", 0, value.dtype):
        return None
    axis = body.rng.randint(0, len(value.shape))
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    return with_list(body, "Unsqueeze", value, "axes", [axis], [(value.dtype, shape)], 13)


def with_list(body, op, value, name, numbers, outputs, since, **attributes):
    """A node whose list is an attribute before an opset, and an input since."""
    if body.opset < since:
        return body.add(op, [value], outputs, **{name: numbers}, **attributes)
    return body.add(op, [value, body.integers(numbers)], outputs, **attributes)


def flatten(body, value):
    if not value.shape or not body.admits("Flatten", 0, value.dtype):
        return None
    axis = body.rng.randint(0, len(value.shape))
    shape = (int(np.prod(value.shape[:axis])), int(np.prod(value.shape[axis:])))
    return body.add("Flatten", [value], [(value.dtype, shape)], axis=axis)


def expand(body, value):
    if body.opset < 8 or not body.admits("Expand", 0, value.dtype):
        return None
    shape = tuple(size if size != 1 else body.rng.choice(body.model.sizes) for size in value.shape)
    shape = (body.rng.choice(body.model.sizes), *shape) if len(shape) < 3 and body.rng.random() < 0.5 else shape
    return body.add("Expand", [value, body.integers(shape)], [(value.dtype, shape)])


def slice_(body, value):
    rank, rng = len(value.shape), body.rng
    if not rank or not body.admits("Slice", 0, value.dtype):
        return None
    axes = sorted(rng.sample(range(rank), rng.randint(1, rank)))
    starts, ends = [rng.randint(-4, 4) for _ in axes], [rng.choice((-1, 1, 2, 3, 2**31 - 1, -(2**31))) for _ in axes]
    steps = [rng.choice((1, 1, 2, -1)) for _ in axes] if body.opset >= 10 else [1] * rank
    # What ONNX says of a start below the first element and of a negative step is contested.
    starts = [max(start, -value.shape[axis]) if step < 0 else start for axis, start, step in zip(axes, starts, steps)]
    if any(step < 0 and not value.shape[axis] for axis, step in zip(axes, steps)):
        return None
    cut = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps):
        cut[axis] = slice(start, end, step)
    shape = np.empty(value.shape)[tuple(cut)].shape
    if body.opset < 10:
        return body.add("Slice", [value], [(value.dtype, shape)], axes=axes, starts=starts, ends=ends)
    inputs = [value, body.integers(starts), body.integers(ends), body.integers(axes)]
    return body.add("Slice", inputs + ([body.integers(steps)] if set(steps) != {1} else []), [(value.dtype, shape)])


def gather(body, value):
    if not value.shape or 0 in value.shape or not body.admits("Gather", 0, value.dtype):
        return None
    axis = body.rng.randrange(len(value.shape))
    shape = body.rng.choice(((), (1,), (2,), (3,), (2, 2)) if len(value.shape) < 3 else ((), (2,)))
    indices = body.constant_of("INT64", np.array(body.model.rng.choices(range(value.shape[axis]), k=int(np.prod(shape))), np.int64).reshape(shape))
    made = (*value.shape[:axis], *shape, *value.shape[axis + 1 :])
    return body.add("Gather", [value, indices], [(value.dtype, made)], axis=axis)


def concat(body, value):
    if not value.shape or not body.admits("Concat", 0, value.dtype):
        return None
    axis = body.rng.randrange(len(value.shape))
    parts = [value, *(body.want([value.dtype], value.shape) for _ in range(body.rng.randint(0, 2)))]
    size = sum(part.shape[axis] for part in parts)
    return body.add("Concat", parts, [(value.dtype, (*value.shape[:axis], size, *value.shape[axis + 1 :]))], axis=axis)


def tile(body, value):
    if not value.shape or not body.admits("Tile", 0, value.dtype):
        return None
    repeats = [body.rng.choice((1, 1, 2, 0) if body.model.has_empty else (1, 1, 2)) for _ in value.shape]
    shape = tuple(size * count for size, count in zip(value.shape, repeats))
    return body.add("Tile", [value, body.integers(repeats)], [(value.dtype, shape)])


def pad(body, value):
    if not value.shape or body.opset < 11 or not body.admits("Pad", 0, value.dtype) or value.dtype not in NUMBERS:
        return None
    pads = [body.rng.choice((0, 1, 2)) for _ in range(2 * len(value.shape))]
    shape = tuple(size + pads[axis] + pads[axis + len(value.shape)] for axis, size in enumerate(value.shape))
    fill = [body.constant(value.dtype, ())] if body.rng.random() < 0.5 else []
    return body.add("Pad", [value, body.integers(pads), *fill], [(value.dtype, shape)], mode="constant")


def split(body, value):
    """Parts, of which some are not used or have no name."""
    if not value.shape or not body.admits("Split", 0, value.dtype):
        return None
    axis, rng = body.rng.randrange(len(value.shape)), body.rng
    first = rng.randint(0 if body.model.has_empty and value.shape[axis] else min(1, value.shape[axis]), value.shape[axis])
    sizes = [first, value.shape[axis] - first] if first < value.shape[axis] or body.model.has_empty else [first]
    outputs = [(value.dtype, (*value.shape[:axis], size, *value.shape[axis + 1 :])) for size in sizes]
    return with_list(body, "Split", value, "split", sizes, outputs, 13, axis=axis)


def identity(body, value):
    return body.add("Identity", [value], [(value.dtype, value.shape)]) if body.admits("Identity", 0, value.dtype) else None


def where(body, value):
    if not body.admits("Where", 1, value.dtype) or value.dtype not in SELECTED:
        return None
    return body.add("Where", [body.want(["BOOL"], value.shape), value, body.want([value.dtype], value.shape)], [(value.dtype, value.shape)])


MOVES = (transpose, reshape, reshape, reshape_like, squeeze, unsqueeze, flatten, expand, slice_, gather, concat, tile, pad, split, identity, where)


def unary(body):
    op = body.rng.choice(UNARY)
    types = [dtype for dtype in body.admitted(op) if dtype in (("FLOAT",) if op in FLOAT_ONLY else (*NUMBERS, "BOOL", "UINT8", "INT8"))]
    if not types:
        return
    value = body.want(types)
    references, attributes = {}, {}
    if op in ("Elu", "LeakyRelu", "Swish") and "alpha" in body.attributes and body.rng.random() < 0.7:
        references["alpha"] = ("alpha", AttributeProto.FLOAT)
        body.model.constructs["attribute reference"] += 1
    elif op in ("Elu", "LeakyRelu", "HardSigmoid"):
        attributes["alpha"] = 0.25
    body.add(op, [value], [("BOOL" if op in COMPARISONS else value.dtype, value.shape)], references=references, **attributes)


def binary(body):
    op = body.rng.choice(BINARY)
    types = [dtype for dtype in body.admitted(op) if dtype in (("FLOAT",) if op in FLOAT_ONLY else (*NUMBERS, "BOOL", "UINT8"))]
    # Division by zero is not defined for integers.
    types = [dtype for dtype in types if dtype in FLOATS] if op in ("Div", "Mod") else types
    if not types:
        return
    left = body.want(types)
    shape = left.shape
    broadcasts = body.opset >= 8 or op not in ("Min", "Max", "Sum", "Mean")
    if broadcasts and body.rng.random() < 0.5:
        shape = tuple(size if body.rng.random() < 0.6 else 1 for size in shape)[body.rng.randint(0, len(shape)) if op != "Mean" else 0 :]
    right = body.want([left.dtype], shape)
    attributes = {"fmod": 1} if op == "Mod" else {}
    pair = [left, right] if op == "PRelu" or body.rng.random() < 0.7 else [right, left]
    body.add(op, pair, [("BOOL" if op in COMPARISONS else left.dtype, left.shape)], **attributes)


def reduce(body):
    op = body.rng.choice(REDUCTIONS)
    value = body.want([dtype for dtype in body.admitted(op) if dtype in NUMBERS])
    if 0 in value.shape or not value.shape:
        return
    axes = sorted(body.rng.sample(range(len(value.shape)), body.rng.randint(1, len(value.shape))))
    keep = body.rng.choice((0, 1))
    shape = tuple(1 if axis in axes else size for axis, size in enumerate(value.shape) if keep or axis not in axes)
    with_list(body, op, value, "axes", axes, [(value.dtype, shape)], 13 if op == "ReduceSum" else 18, keepdims=keep)


def softmax(body):
    op = body.rng.choice(("Softmax", "LogSoftmax", "Hardmax"))
    value = body.want(("FLOAT",) if op in FLOAT_ONLY else FLOATS)
    if not value.shape or 0 in value.shape:
        return
    if "axis" in body.attributes and body.rng.random() < 0.7:
        body.add(op, [value], [(value.dtype, value.shape)], references={"axis": ("axis", AttributeProto.INT)})
        body.model.constructs["attribute reference"] += 1
    else:
        body.add(op, [value], [(value.dtype, value.shape)], axis=body.rng.randint(0 if body.opset < 11 else -1, len(value.shape) - 1))


def matmul(body):
    value = body.want(FLOATS)
    if len(value.shape) >= 2:
        other = body.want([value.dtype], (value.shape[-1], body.rng.choice(body.model.sizes)))
        body.add("MatMul", [value, other], [(value.dtype, (*value.shape[:-1], other.shape[1]))])


def clip(body):
    value = body.want([dtype for dtype in body.admitted("Clip") if dtype in NUMBERS] if body.opset >= 12 else ["FLOAT", "FLOAT16"])
    if body.opset < 11:
        body.add("Clip", [value], [(value.dtype, value.shape)], **({"min": -0.5} if body.rng.random() < 0.5 else {"max": 1.5}))
        return
    bounds = [body.constant(value.dtype, ()) if body.rng.random() < 0.6 else "" for _ in range(2)]
    body.add("Clip", [value, *bounds], [(value.dtype, value.shape)])


def shape_of(body):
    """Shape or Size, and perhaps an element of it, cast."""
    value = body.take()
    if not value or not body.admits("Shape", 0, value.dtype):
        return
    if body.rng.random() < 0.3:
        body.add("Size", [value], [("INT64", ())])
        return
    shape = body.add("Shape", [value], [("INT64", (len(value.shape),))])[0]
    if value.shape and body.rng.random() < 0.5:
        index = body.constant_of("INT64", np.array(body.rng.randrange(len(value.shape)), np.int64))
        body.cast(body.add("Gather", [shape, index], [("INT64", ())], axis=0)[0], random_type(body))


def constant_of_shape(body):
    dtype = body.rng.choice([each for each in body.model.types if each in (*NUMBERS, "BOOL", "UINT8", "INT8")] or ["FLOAT"])
    if body.opset >= 9:
        shape = body.model.shape()
        fill = helper.make_tensor("value", TensorProto.DataType.Value(dtype), [1], [body.rng.choice((0, 1))])
        body.add("ConstantOfShape", [body.integers(shape)], [(dtype, shape)], value=fill)


def referred_constant(body):
    """A Constant whose value is an attribute of the function."""
    if body.opset < 12 or "number" not in body.attributes:
        constant_of_shape(body)
        return
    body.add("Constant", [], [("FLOAT", ())], references={"value_float": ("number", AttributeProto.FLOAT)})
    body.model.constructs["attribute reference"] += 1
    if "list" in body.attributes:
        made = body.add("Constant", [], [("@list", ())], references={"value_ints": ("list", AttributeProto.INTS)})[0]
        body.add("Size", [made], [("INT64", ())])


def top_k(body):
    value = body.want(("FLOAT", "DOUBLE", "INT64") if body.opset >= 11 else ("FLOAT",))
    if not value.shape or 0 in value.shape:
        return
    count = body.rng.randint(1, value.shape[-1])
    shape = (*value.shape[:-1], count)
    outputs = [(value.dtype, shape), ("INT64", shape)]
    if body.opset < 10:
        body.add("TopK", [value], outputs, k=count, axis=len(value.shape) - 1)
    else:
        body.add("TopK", [value, body.integers([count])], outputs, axis=len(value.shape) - 1)


def dropout(body):
    value = body.want(FLOATS)
    mask = ("BOOL" if body.opset >= 10 else value.dtype, value.shape)
    body.add("Dropout", [value], [(value.dtype, value.shape), *([mask] if body.rng.random() < 0.5 else [])])


def arg_max(body):
    value = body.want(("FLOAT", "INT32"))
    if value.shape and 0 not in value.shape:
        axis, keep = body.rng.randrange(len(value.shape)), body.rng.choice((0, 1))
        shape = tuple(1 if at == axis else size for at, size in enumerate(value.shape) if keep or at != axis)
        body.add(body.rng.choice(("ArgMax", "ArgMin")), [value], [("INT64", shape)], axis=axis, keepdims=keep)


def cum_sum(body):
    if body.opset < 11:
        return
    value = body.want(("FLOAT", "INT32", "INT64", "DOUBLE"))
    if value.shape and 0 not in value.shape:
        axis = body.constant_of("INT64", np.array(body.rng.randrange(len(value.shape)), np.int64))
        options = {"exclusive": body.rng.choice((0, 1)), "reverse": body.rng.choice((0, 1))}
        body.add("CumSum", [value, axis], [(value.dtype, value.shape)], **options)


def one_hot(body):
    if body.opset < 11:  # Before, indices could not be negative.
        return
    indices = body.want(["INT64"])
    if not indices.shape:
        return
    depth, values = body.constant_of("INT64", np.array(3, np.int64)), body.constant("FLOAT", (2,))
    body.add("OneHot", [indices, depth, values], [("FLOAT", (*indices.shape, 3))], axis=-1)


def range_(body):
    if body.opset >= 11:
        numbers = [body.constant_of("INT64", np.array(number, np.int64)) for number in (0, body.rng.randint(0, 4), 1)]
        count = int(body.constants[numbers[1].name]) if numbers[1].name in body.constants else 0
        if not any(number.name in body.given or any(number.name == each.name for each in body.inputs) for number in numbers):
            body.add("Range", numbers, [("INT64", (count,))])


def quantize(body):
    if body.opset < 10:
        return
    value, kind = body.want(["FLOAT"]), body.rng.choice(("UINT8", "INT8"))
    scale, zero = body.constant_of("FLOAT", np.array(0.25, np.float32)), body.constant_of(kind, np.array(3, kind.lower()))
    made = body.add("QuantizeLinear", [value, scale, zero], [(kind, value.shape)])[0]
    # The reference evaluator has no older one.
    if body.rng.random() < (0.6 if body.opset >= 19 else 0.2):
        body.add("DequantizeLinear", [made, scale, zero], [("FLOAT", value.shape)])


def normalize(body):
    value = body.want(["FLOAT"])
    if body.opset >= 17 and value.shape and 0 not in value.shape:
        scale = body.want(["FLOAT"], value.shape[-1:])
        outputs = [("FLOAT", value.shape), None if body.rng.random() < 0.5 else ("FLOAT", (*value.shape[:-1], 1))]
        body.add("LayerNormalization", [value, scale], outputs if body.rng.random() < 0.3 else outputs[:1])


def sequence(body):
    """A sequence that is made, read and joined."""
    value = body.take(FLOATS)
    if body.opset < 11 or not value or not value.shape:
        return
    parts = [value, body.want([value.dtype], value.shape)]
    made = body.add("SequenceConstruct", parts, [("[sequence", ())])[0]
    body.model.constructs["sequence"] += 1
    if body.rng.random() < 0.5:
        body.add("SequenceAt", [made, body.constant_of("INT64", np.array(body.rng.choice((0, 1, -1)), np.int64))], [(value.dtype, value.shape)])
    else:
        body.add("ConcatFromSequence", [made], [(value.dtype, (2, *value.shape))], axis=0, new_axis=1)


TEMPLATES = (
    *[cast] * 4, *[cast_chain] * 4, *[move] * 6, *[unary] * 3, *[binary] * 4, cast_like, cast_like, strings, reduce, softmax, matmul, clip,
    shape_of, constant_of_shape, referred_constant, referred_constant, top_k, dropout, arg_max, cum_sum, one_hot, range_, quantize, normalize, sequence,
)  # fmt: skip
