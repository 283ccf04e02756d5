"""The small models of fold_cases.txt."""

import re
from pathlib import Path

import onnx
from onnx import TensorProto, helper, parser

HEADER = '<ir_version: 10, opset_import: ["": 21]>'
CASE = re.compile(r"^## (\w+): (\d+)\n(.*?)(?=^#|\Z)", re.MULTILINE | re.DOTALL)


def write_all(folder):
    """Writes every case to folder/NAME.onnx; returns {path: how many casts must stay}."""
    folder.mkdir(parents=True, exist_ok=True)
    casts_that_stay = {}
    for name, casts, text in CASE.findall((Path(__file__).parent / "fold_cases.txt").read_text()):
        model = parser.parse_model(text if text.startswith("<") else f"{HEADER} {text}")
        if name in COMPLETIONS:
            COMPLETIONS[name](model)
        path = folder / f"{name}.onnx"
        onnx.save(model, path)
        casts_that_stay[path] = int(casts)
    return casts_that_stay


def add_sparse_constant(model):
    values = helper.make_tensor("w", TensorProto.FLOAT, [2], [0.1, 0.2])
    indices = helper.make_tensor("w_indices", TensorProto.INT64, [2], [1, 3])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))


COMPLETIONS = {"sparse_constant": add_sparse_constant}
