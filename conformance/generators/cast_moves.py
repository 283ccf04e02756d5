"""Models of casts around operators that move elements: after it, before it, and on both sides; in all types."""

import itertools

from onnx import parser

from generators.typed_nodes import NUMBERS, history, normal

# An operator on an input of shape [1, 4, 2, 2], and the shape of its output.
MOVES = {
    "Concat": ("Concat<axis = 0>(@, @)", [2, 4, 2, 2]),
    "DepthToSpace": ("DepthToSpace<blocksize = 2>(@)", [1, 1, 4, 4]),
    "Expand": ("Expand(@, ones)", [1, 4, 2, 2]),
    "Flatten": ("Flatten(@)", [1, 16]),
    "Gather": ("Gather<axis = 1>(@, zero)", [1, 1, 2, 2]),
    "GatherElements": ("GatherElements(@, index)", [1, 1, 1, 1]),
    "GatherND": ("GatherND(@, pair)", [2, 2]),
    "Identity": ("Identity(@)", [1, 4, 2, 2]),
    "Reshape": ("Reshape(@, square)", [4, 4]),
    "Slice": ("Slice(@, zero, one, one)", [1, 1, 2, 2]),
    "SpaceToDepth": ("SpaceToDepth<blocksize = 2>(@)", [1, 16, 1, 1]),
    "Split": ("Split<axis = 1>(@, four)", [1, 4, 2, 2]),
    "Squeeze": ("Squeeze(@, zero)", [4, 2, 2]),
    "Tile": ("Tile(@, ones)", [1, 4, 2, 2]),
    "Transpose": ("Transpose<perm = [0, 2, 3, 1]>(@)", [1, 2, 2, 4]),
    "Unsqueeze": ("Unsqueeze(@, zero)", [1, 1, 4, 2, 2]),
}
CONSTANTS = {
    "ones": "int64[4] ones = {1, 1, 1, 1}",
    "zero": "int64[1] zero = {0}",
    "one": "int64[1] one = {1}",
    "four": "int64[1] four = {4}",
    "square": "int64[2] square = {4, 4}",
    "index": "int64[1,1,1,1] index = {0}",
    "pair": "int64[2] pair = {0, 0}",
}
# `{s}` and `{m}` are element types, @ is the input of the move.
FORMS = {
    "cast move": ("{m}", "h = Cast<to = {to_m}>(x) y = {move}", "h"),
    "move cast": ("{m}", "h = {move} y = Cast<to = {to_m}>(h)", "x"),
    "cast move cast": ("{s}", "h = Cast<to = {to_m}>(x) i = {move} y = Cast<to = {to_s}>(i)", "h"),
}


def cast_moves(opset):
    """The names of all models: (form, operator, type, other type)."""
    cast = max((schema for schema in history("", "Cast") if schema.since_version <= opset), key=lambda schema: schema.since_version)
    types = sorted(normal(kind) for kind in cast.type_constraints[0].allowed_type_strs)
    return [(form, move, *pair) for form in FORMS for move in MOVES for pair in itertools.permutations(types, 2)]


def cast_move(opset, ir_version, form, move, kind, other):
    """The bytes of a model. Types that the operator does not allow in this opset make it one that no runtime loads."""
    result, body, source = FORMS[form]
    call, shape = MOVES[move]
    words = {"s": kind, "m": other, "to_s": NUMBERS[kind], "to_m": NUMBERS[other], "move": call.replace("@", source)}
    used = ", ".join(text for name, text in CONSTANTS.items() if name in call)
    text = f"""<ir_version: {ir_version}, opset_import: ["" : {opset}]>
    g ({kind}[1,4,2,2] x) => ({result.format(**words)}{shape} y) <{used}> {{ {body.format(**words)} }}"""
    return parser.parse_model(text).SerializeToString()
