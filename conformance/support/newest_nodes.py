"""The node tests of the installed onnx, which builds them in code for the newest opset of every operator, as files like those of the wheel."""

import os
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

from support.common import CACHE
from support.environments import name_made

FOLDER = CACHE / f"onnx-{onnx.__version__}-nodes"
# It has 1,884. Fewer means that onnx builds its tests in another way.
LEAST_MODELS = 1800


def newest_node_models():
    """A `model.onnx` for each test, beside a folder with the data of its first data set."""
    if not FOLDER.is_dir():
        part = FOLDER.with_name(f"{FOLDER.name}.part.{os.getpid()}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for case in collect_testcases(None):
                if case.model is not None:
                    write(case, part / case.name)
        name_made(part, FOLDER)
    models = sorted(FOLDER.glob("*/model.onnx"))
    if len(models) < LEAST_MODELS:
        raise RuntimeError(f"onnx {onnx.__version__} builds {len(models)} node models, fewer than {LEAST_MODELS}")
    return models


def write(case, folder):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(case.model, folder / "model.onnx")
    for kind, values, formals in zip(("input", "output"), case.data_sets[0], (case.model.graph.input, case.model.graph.output)):
        for number, (value, formal) in enumerate(zip(values, formals)):
            (data / f"{kind}_{number}.pb").write_bytes(proto_of(value, formal.type).SerializeToString())


def proto_of(value, type_proto):
    if hasattr(value, "SerializeToString"):
        return value
    if type_proto.HasField("sequence_type"):
        return numpy_helper.from_list(value)
    if type_proto.HasField("optional_type"):
        return numpy_helper.from_optional(value)
    return numpy_helper.from_array(np.asarray(value))
