# ruff: noqa: E501, E402
"""Networks of Keras in mixed precision, and functions of TensorFlow with casts, exported by tf2onnx."""

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
TABLE = tf.constant(np.arange(24).reshape(4, 6), tf.int64)


def values(*shape):
    return random.random(shape).astype(np.float32)


def in_half(*network):
    """A network whose weights are FLOAT, and are cast to FLOAT16 where they are used."""

    def make():
        return keras.Sequential([layer(dtype="mixed_float16") for layer in network])

    return make


def masked(x):
    lengths = tf.reduce_sum(tf.cast(tf.cast(x > 0.5, tf.int32), tf.int64), 1)
    mask = tf.cast(tf.sequence_mask(lengths, 5), tf.float32)
    return x * mask / tf.cast(tf.maximum(lengths, 1), tf.float32)[:, None]


def positions(x):
    length = tf.shape(x)[1]
    angles = tf.cast(tf.range(length), tf.float32)[:, None] / tf.pow(10.0, tf.cast(tf.range(4), tf.float32))
    return x + tf.sin(angles) / tf.sqrt(tf.cast(length, tf.float32))


NETWORKS = {
    "half_dense": (in_half(lambda **o: layers.Dense(8, "relu", **o), lambda **o: layers.Dense(3, **o), lambda **_: layers.Activation("softmax", dtype="float32")), values(2, 6)),
    "half_cnn": (in_half(lambda **o: layers.Conv2D(4, 3, 2, **o), lambda **o: layers.BatchNormalization(**o), lambda **o: layers.ReLU(**o), lambda **o: layers.Flatten(**o), lambda **_: layers.Dense(3, dtype="float32")), values(2, 8, 8, 3)),
    "half_lstm": (in_half(lambda **o: layers.LSTM(3, unroll=True, **o), lambda **_: layers.Dense(2, dtype="float32")), values(2, 5, 4)),
}
FUNCTIONS = {
    "masked": (masked, values(2, 5)),
    "positions": (positions, values(2, 5, 4)),
    "table": (lambda x: x @ tf.cast(tf.transpose(TABLE)[:, 1:], tf.float32) + tf.cast(tf.gather(TABLE, [1, 2], axis=0), tf.float32)[0, :3], values(2, 6)),
    "sizes": (lambda x: tf.image.resize(x, tf.cast(tf.cast(tf.shape(x)[1:3], tf.float32) * 2.0, tf.int32), "nearest"), values(1, 4, 4, 2)),
    "one_hot": (lambda x: tf.one_hot(tf.cast(tf.argmax(x, 1), tf.int32), 5) * x, values(2, 5)),
    "same": (lambda x: tf.cast(tf.cast(tf.cast(x, tf.float16), tf.float32), tf.float16) + tf.cast(x, tf.float16), values(2, 5)),
    "wide": (lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32) + tf.cast(tf.round(x * 9), tf.float32), values(2, 5)),
}


def export(function, array, opset):
    spec = [tf.TensorSpec((None, *array.shape[1:]), array.dtype)]
    model, _ = tf2onnx.convert.from_function(tf.function(function, input_signature=spec), input_signature=spec, opset=opset)
    return model, [array]


def network(make, array, opset):
    built = make()
    built(array)
    return export(lambda x: built(x, training=False), array, opset)


def cases():
    for opset in (18, 12):
        for name, (make, array) in NETWORKS.items():
            yield f"{name}_{opset}", lambda make=make, array=array, opset=opset: network(make, array, opset)
        for name, (function, array) in FUNCTIONS.items():
            yield f"{name}_{opset}", lambda f=function, array=array, opset=opset: export(f, array, opset)


write_all(cases())
