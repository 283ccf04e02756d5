# ruff: noqa: E501, E402
"""Networks of Keras with random weights and functions of TensorFlow, exported by tf2onnx."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["CUDA_VISIBLE_DEVICES"] = "3", "-1"

import keras
import numpy as np
import tensorflow as tf
import tf2onnx
from common_export import write_all
from keras import layers

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)


def values(*shape):
    return random.random(shape).astype(np.float32)


def transformer():
    x = keras.Input((6, 8))
    y = layers.MultiHeadAttention(2, 4)(x, x)
    y = layers.LayerNormalization()(x + y)
    z = layers.Dense(8)(layers.Dense(16, activation="gelu")(y))
    return keras.Model(x, layers.LayerNormalization()(y + z))


NETWORKS = {
    "dense": (lambda: keras.Sequential([keras.Input((6,)), layers.Dense(8, "selu"), layers.Dense(3, "softmax")]), values(2, 6)),
    "cnn": (lambda: keras.Sequential([keras.Input((16, 16, 3)), layers.Conv2D(4, 3, 2, "same"), layers.BatchNormalization(), layers.ReLU(6.0), layers.MaxPooling2D(), layers.Flatten(), layers.Dense(3)]), values(2, 16, 16, 3)),
    "separable": (lambda: keras.Sequential([keras.Input((8, 8, 4)), layers.SeparableConv2D(6, 3, padding="same", activation="swish"), layers.GlobalAveragePooling2D()]), values(1, 8, 8, 4)),
    "upsample": (lambda: keras.Sequential([keras.Input((4, 4, 2)), layers.UpSampling2D(interpolation="bilinear"), layers.Conv2DTranspose(3, 3, 2), layers.UpSampling2D(2)]), values(1, 4, 4, 2)),
    "lstm": (lambda: keras.Sequential([keras.Input((5, 4)), layers.Bidirectional(layers.LSTM(3, return_sequences=True)), layers.Dense(2)]), values(2, 5, 4)),
    "gru": (lambda: keras.Sequential([keras.Input((5, 4)), layers.GRU(3), layers.Dense(2, "tanh")]), values(2, 5, 4)),
    "embedding": (lambda: keras.Sequential([keras.Input((5,), dtype="int32"), layers.Embedding(9, 4), layers.GlobalMaxPooling1D()]), random.integers(0, 9, (2, 5)).astype(np.int32)),
    "transformer": (transformer, values(2, 6, 8)),
}
FUNCTIONS = {
    "topk": (lambda x: tf.math.top_k(x, 3), values(2, 6)),
    "strided": (lambda x: x[:, ::-1, 1:3] * tf.reduce_prod(x, [1, 2], True), values(2, 5, 4)),
    "einsum": (lambda x: tf.einsum("bij,bkj->bik", x, x), values(2, 5, 4)),
    "where": (lambda x: tf.where(x > 0.5, tf.math.floormod(x, 0.3), tf.nn.elu(x)), values(2, 5)),
    # With scales that FLOAT represents: the reference evaluator multiplies them in DOUBLE, and rounds lengths down.
    "resize": (lambda x: tf.image.resize(x, (3, 10), "nearest"), values(1, 4, 4, 2)),
    "cumsum": (lambda x: tf.cumsum(x, 1) + tf.cast(tf.argmin(x, 1)[:, None], tf.float32), values(2, 5)),
}


def export(function, array, opset):
    spec = [tf.TensorSpec((None, *array.shape[1:]), array.dtype)]
    model, _ = tf2onnx.convert.from_function(tf.function(function, input_signature=spec), input_signature=spec, opset=opset)
    return model, [array]


def network(make, array, opset):
    built = make()
    return export(lambda x: built(x, training=False), array, opset)


def cases():
    for opset in (18, 12):
        for name, (make, array) in NETWORKS.items():
            yield f"{name}_{opset}", lambda make=make, array=array, opset=opset: network(make, array, opset)
        for name, (function, array) in FUNCTIONS.items():
            yield f"{name}_{opset}", lambda f=function, array=array, opset=opset: export(f, array, opset)


write_all(cases())
