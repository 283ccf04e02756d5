"""Answers requests to run a model: on standard input and output, in the Python of a runtime.

A request is ("run", model, {name: value}), and its reply the list of outputs or a message. A value is (element type, shape, bytes), or for strings
(8, shape, list). Types are numbers of TensorProto.
"""

import os
import pickle
import struct
import sys

import numpy as np

STRING = 8
NUMPY = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4", 13: "u8"}

# The names of ml_dtypes for types of 8 bits and more.
OTHER_TYPES = {16: "bfloat16", 17: "float8_e4m3fn", 18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz", 24: "float8_e8m0fnu"}

NUMBERS = {np.dtype(name).name: number for number, name in NUMPY.items()} | {name: number for number, name in OTHER_TYPES.items()}


REPLIES = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)  # What a runtime prints is not a reply.


def serve(run):
    while True:
        length = sys.stdin.buffer.read(8)
        if not length:
            return
        _, model, inputs, *_ = pickle.loads(sys.stdin.buffer.read(struct.unpack("<Q", length)[0]))
        try:
            answer = run(model, inputs)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        reply = pickle.dumps(answer, protocol=4)
        REPLIES.write(struct.pack("<Q", len(reply)) + reply)
        REPLIES.flush()


def array_of(value):
    number, shape, data = value
    if number == STRING:
        return np.array(data, dtype=object).reshape(shape)
    return np.frombuffer(data, NUMPY[number]).reshape(shape)


def value_of(array):
    array = np.asarray(array)
    if array.dtype.kind in "OUS":
        return STRING, array.shape, [str(each) for each in array.ravel().tolist()]
    number = NUMBERS.get(array.dtype.name, 0)
    return number, array.shape, array.tobytes()
