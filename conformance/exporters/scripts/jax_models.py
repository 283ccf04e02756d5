# ruff: noqa: E501
"""Functions of jax.numpy and networks of flax with random weights, exported by jax2onnx."""

import jax
import jax.numpy as jnp
import numpy as np
from common_export import write_all
from flax import nnx
from jax2onnx import to_onnx

random = np.random.default_rng(0)
KEYS = nnx.Rngs(0)


def values(*shape):
    return random.normal(size=shape).astype(np.float32)


def attention(x):
    scores = jnp.einsum("bqd,bkd->bqk", x, x) / 2
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    return jax.nn.softmax(jnp.where(mask, scores, -1e9), -1) @ x


def count(x):
    return jax.lax.fori_loop(0, 3, lambda i, y: y * 0.5 + i, x)


FUNCTIONS = {
    "gelu": (jax.nn.gelu, [values(3, 4)]),
    "layer_norm": (nnx.LayerNorm(8, rngs=KEYS), [values(2, 8)]),
    "rms_norm": (nnx.RMSNorm(8, rngs=KEYS), [values(2, 8)]),
    "linear": (nnx.Sequential(nnx.Linear(8, 16, rngs=KEYS), jax.nn.silu, nnx.Linear(16, 3, rngs=KEYS), jax.nn.log_softmax), [values(2, 8)]),
    "conv": (nnx.Sequential(nnx.Conv(3, 4, (3, 3), rngs=KEYS), jax.nn.relu), [values(1, 8, 8, 3)]),
    "attention": (attention, [values(2, 5, 4)]),
    "heads": (nnx.MultiHeadAttention(num_heads=2, in_features=8, qkv_features=8, decode=False, rngs=KEYS), [values(2, 5, 8)]),
    "loop": (count, [values(4)]),
    "sort": (lambda x: jnp.sort(x, -1), [values(3, 6)]),
    "cumulative": (lambda x: (jnp.cumsum(x, axis=1), jnp.argmax(x, -1), jnp.roll(x, 1, 0)), [values(3, 6)]),
    "window": (lambda x: jnp.clip(jnp.pad(x, ((1, 1), (0, 2))), -1, 1)[::2], [values(3, 6)]),
    "statistics": (lambda x: (jnp.std(x, 1), jnp.var(x, 0), jnp.mean(x), jax.scipy.special.logsumexp(x, 1)), [values(3, 6)]),
}


def export(function, inputs, first):
    shapes = [(first or array.shape[0], *array.shape[1:]) for array in inputs]
    return to_onnx(function, shapes), inputs


def cases():
    for name, (function, inputs) in FUNCTIONS.items():
        for suffix, first in (("", None), ("_dynamic", "B")):
            yield f"{name}{suffix}", lambda f=function, i=inputs, first=first: export(f, i, first)


write_all(cases())
