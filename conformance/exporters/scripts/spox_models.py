"""Graphs that are written by hand with spox, which has one module per opset."""

import numpy as np
import spox.opset.ai.onnx.v17 as v17
import spox.opset.ai.onnx.v18 as v18
import spox.opset.ai.onnx.v21 as v21
from common_export import write_all
from spox import Tensor, argument, build

X = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4)


def branch(op):
    x = argument(Tensor(np.float32, ("n", 3, 4)))
    big = op.greater(op.reduce_max(x, keepdims=0), op.const(np.float32(1)))
    (y,) = op.if_(big, then_branch=lambda: [op.relu(x)], else_branch=lambda: [op.neg(x)])
    return build({"x": x}, {"y": y}), [X]


def norm(op):
    x = argument(Tensor(np.float32, ("n", 3, 4)))
    y, _, _ = op.layer_normalization(x, op.const(np.ones(4, np.float32)), op.const(np.zeros(4, np.float32)))
    return build({"x": x}, {"y": op.softmax(op.add(y, x))}), [X]


def loop(op):
    x = argument(Tensor(np.float32, (3,)))
    last, rows = op.loop(op.const(4), v_initial=[x], body=lambda i, go, state: [op.const(True), op.mul(state, state), state])
    return build({"x": x}, {"last": last, "rows": rows}), [X[0, :, 0]]


def shapes(op):
    x = argument(Tensor(np.float32, ("n", "m", 4)))
    rows = op.slice(op.shape(x), op.const([0]), op.const([1]))
    flat = op.reshape(x, op.concat([rows, op.const([-1])], axis=0))
    y, index = op.top_k(flat, op.const([3]))
    return build({"x": x}, {"y": y, "index": op.gather_elements(flat, index, axis=1), "rest": op.trilu(flat, upper=1)}), [X]


def cases():
    for name, make in (("branch", branch), ("norm", norm), ("loop", loop), ("shapes", shapes)):
        for op in (v17, v18, v21):
            yield f"{name}_{op.__name__.rsplit('.v', 1)[1]}", lambda make=make, op=op: make(op)


write_all(cases())
