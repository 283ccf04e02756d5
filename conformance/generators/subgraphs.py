"""The templates of random models that have bodies of their own: If, Loop and Scan, and calls of functions."""

import numpy as np
from onnx import TensorProto

from generators.nodes import random_type

LARGEST_NESTED = 4  # Nodes that a subgraph begins with.


def if_(body):
    """Two branches that return values of equal types and shapes, some of them casts or values of the graphs around."""
    rng = body.rng
    condition = random_condition(body)
    wanted = [(body.model.type(), body.model.shape(2)) for _ in range(rng.randint(1, 2))]
    branches, inners = {}, []
    for name in ("then_branch", "else_branch"):
        inner = body.inner()
        inner.grow(rng.randint(0, LARGEST_NESTED))
        returned = [inner.own(inner.reshaped(*each)) for each in wanted]
        returned = [each if each not in returned[:index] else copied(inner, each) for index, each in enumerate(returned)]
        branches[name] = inner.graph(name, [], returned)
        inners.append(inner)
    # Only now, so that both branches have the same names.
    for inner in inners:
        body.finished(inner)
    body.add("If", [condition], wanted, **branches)
    body.model.constructs["If"] += 1
    body.model.constructs["nested"] += bool(body.depth)


def random_condition(body):
    """A BOOL scalar: a constant, an input, or computed."""
    if body.rng.random() < 0.4:
        return body.want(["BOOL"], ())
    number = body.want(["FLOAT"], ())
    return body.add(body.rng.choice(("Less", "Greater")), [number, body.constant("FLOAT", ())], [("BOOL", ())])[0]


def copied(body, value):
    return body.add("Identity", [value], [(value.dtype, value.shape)])[0]


def loop(body):
    """States of several types and outputs that are stacked; bodies need not use what they are given."""
    rng, inner = body.rng, body.inner()
    count = rng.choice((0, 1, 2, 3) if body.model.has_empty else (1, 2, 3))
    # A state keeps its shape here, as it had to before opset 13. The loop ends by its count, or in the first round by its condition.
    by_condition = count > 0 and rng.random() < 0.2
    states = [body.take(None, lambda value: value.dtype != "STRING") or body.constant("FLOAT", ()) for _ in range(rng.randint(1, 2))]
    iteration, condition = inner.entered("INT64", ()), inner.entered("BOOL", ())
    entered = [inner.entered(state.dtype, state.shape) for state in states]
    inner.grow(rng.randint(0, LARGEST_NESTED))
    if by_condition:
        count = 1
        goes_on = inner.own(inner.constant_of("BOOL", np.array(False)))
    else:
        goes_on = inner.own(condition) if rng.random() < 0.6 else inner.own(inner.constant_of("BOOL", np.array(True)))
    returned = [goes_on]
    for state in states:
        returned.append(distinct(inner, inner.reshaped(state.dtype, state.shape), returned))
    stacked = []
    for _ in range(rng.randint(0, 1)):
        value = inner.take(None, lambda value: value.dtype != "STRING")
        if value and body.admits("Identity", 0, value.dtype):
            stacked.append(distinct(inner, value, returned))
            returned.append(stacked[-1])
    graph = inner.graph("body", [iteration, condition, *entered], returned)
    body.finished(inner)
    trips = "" if by_condition and rng.random() < 0.5 else body.constant_of("INT64", np.array(3 if by_condition else count, np.int64))
    start = body.constant_of("BOOL", np.array(True)) if rng.random() < 0.5 else ""
    outputs = [(state.dtype, state.shape) for state in states] + [(value.dtype, (count, *value.shape)) for value in stacked]
    body.add("Loop", [trips, start, *states], outputs, body=graph)
    body.model.constructs["Loop"] += 1
    body.model.constructs["nested"] += bool(body.depth)


def distinct(body, value, returned):
    """A value of the body that is not returned yet."""
    value = body.own(value)
    return value if value not in returned else copied(body, value)


def scan(body):
    """Over one or two values, along some axis, in some direction; with states or without."""
    rng, inner = body.rng, body.inner()
    if body.opset < 9:
        return
    first = body.take(None, lambda value: value.shape and value.shape[0] and value.dtype != "STRING")
    if first is None:
        return
    # onnxruntime ends the process if it transposes empty tensors here.
    axis = 0 if 0 in first.shape else rng.randrange(len(first.shape))
    count = first.shape[axis]
    scanned = [first, *([body.want([body.model.type()], (count, *body.model.shape(1)))] if rng.random() < 0.5 else [])]
    states = [body.take(None, lambda value: value.dtype != "STRING") for _ in range(rng.randint(0, 2))]
    entered = [inner.entered(state.dtype, state.shape) for state in states]
    slices = [inner.entered(first.dtype, first.shape[:axis] + first.shape[axis + 1 :])]
    slices += [inner.entered(each.dtype, each.shape[1:]) for each in scanned[1:]]
    inner.grow(rng.randint(0, LARGEST_NESTED))
    returned = []
    for state in states:
        returned.append(distinct(inner, inner.reshaped(state.dtype, state.shape), returned))
    stacked = []
    for _ in range(rng.randint(0 if states else 1, 2)):
        value = inner.take(None, lambda value: value.dtype != "STRING")
        stacked.append(distinct(inner, value, returned))
        returned.append(stacked[-1])
    graph = inner.graph("body", [*entered, *slices], returned)
    body.finished(inner)
    attributes = {"scan_input_directions": [rng.choice((0, 1)) for _ in scanned]} if rng.random() < 0.4 else {}
    if stacked and rng.random() < 0.3:
        attributes["scan_output_directions"] = [rng.choice((0, 1)) for _ in stacked]
    if axis:
        attributes["scan_input_axes"] = [axis, *[0 for _ in scanned[1:]]]
    axes = [rng.randint(0, len(value.shape)) if 0 not in value.shape and rng.random() < 0.2 else 0 for value in stacked]
    if any(axes):
        attributes["scan_output_axes"] = axes
    shapes = [(*value.shape[:at], count, *value.shape[at:]) for value, at in zip(stacked, axes)]
    outputs = [(state.dtype, state.shape) for state in states] + [(value.dtype, shape) for value, shape in zip(stacked, shapes)]
    body.add("Scan", [*states, *scanned], outputs, body=graph, num_scan_inputs=len(scanned), **attributes)
    body.model.constructs["Scan"] += 1
    body.model.constructs["nested"] += bool(body.depth)


def call(body):
    """A call of a function, whose attributes are given, left to their defaults, or passed on."""
    functions = body.model.functions
    if not functions:
        return
    function = body.rng.choice(functions)
    inputs = [body.want([each.dtype], each.shape) for each in function.inputs]
    attributes, references, to = {}, {}, None
    for name, is_required in function.attributes.items():
        kind, values = body.model.attribute_values(name)
        if name == "to":
            to = random_type(body)
            attributes[name] = TensorProto.DataType.Value(to)
        elif name in body.attributes and body.rng.random() < 0.5:
            references[name] = (name, kind)
            body.model.constructs["attribute passed on"] += 1
        elif is_required or body.rng.random() < 0.5:
            attributes[name] = body.rng.choice(values)
    outputs = [(to if each.dtype == "@to" else each.dtype, each.shape) for each in function.outputs]
    if len(outputs) > 1 and body.rng.random() < 0.2:
        outputs[body.rng.randrange(len(outputs))] = None
    body.add(function.name, inputs, outputs, "local", references, **attributes)
    body.model.constructs["call"] += 1
    body.model.constructs["call in a function"] += body.is_function


CONTROL_FLOW = (if_, loop, scan)
