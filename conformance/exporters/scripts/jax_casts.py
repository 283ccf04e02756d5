"""Functions of jax.numpy in mixed precision, and with integers that become floats, exported by jax2onnx."""

import jax
import jax.numpy as jnp
import numpy as np
from common_export import write_all
from jax2onnx import to_onnx

random = np.random.default_rng(0)
WEIGHT = random.normal(size=(4, 4)).astype(np.float16)


def values(*shape):
    return random.normal(size=shape).astype(np.float32)


def attention(x):
    scores = jnp.einsum("bqd,bkd->bqk", x.astype(jnp.float16), x.astype(jnp.float16)).astype(jnp.float32)
    mask = (jnp.arange(x.shape[1])[None] <= jnp.arange(x.shape[1])[:, None]).astype(jnp.float32)
    return jax.nn.softmax(scores - (1 - mask) * 1e4, -1).astype(x.dtype) @ x


def weights(x):
    return x @ jnp.asarray(WEIGHT).astype(jnp.float32) + jnp.asarray(WEIGHT).astype(jnp.float32)[0]


def positions(x):
    angles = jnp.arange(x.shape[1]).astype(jnp.float32)[:, None] / 10.0 ** jnp.arange(x.shape[2]).astype(jnp.float32)
    return x * jnp.cos(angles) + jnp.sin(angles).astype(x.dtype)


FUNCTIONS = {
    "attention": (attention, [values(2, 5, 4)]),
    "weights": (weights, [values(3, 4)]),
    "positions": (positions, [values(2, 5, 4)]),
    "counts": (lambda x: (x > 0).astype(jnp.int32).sum(1).astype(jnp.float32) / x.shape[1], [values(3, 6)]),
    "one_hot": (lambda x: jax.nn.one_hot(jnp.argmax(x, -1), 6) * x, [values(3, 6)]),
    "half_and_back": (lambda x: jnp.tanh(x.astype(jnp.float16).astype(jnp.float32)) + x.astype(jnp.float16), [values(3, 6)]),
    "wide_and_back": (lambda x: (x.astype(jnp.float16).astype(jnp.float32).astype(jnp.float16) * 2).astype(jnp.float32), [values(3, 6)]),
}


def export(function, inputs, first):
    shapes = [(first or array.shape[0], *array.shape[1:]) for array in inputs]
    return to_onnx(function, shapes), inputs


def cases():
    for name, (function, inputs) in FUNCTIONS.items():
        for suffix, first in (("", None), ("_dynamic", "B")):
            yield f"{name}{suffix}", lambda f=function, i=inputs, first=first: export(f, i, first)


write_all(cases())
