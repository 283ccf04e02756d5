"""The 300 models on which mutants run: the examples of models/, and random ones from fixed seeds."""

import random
import shutil
import tempfile
from pathlib import Path

import numpy as np
import onnx

from checks.fold.string_casts import float_constants, integer_constants, to_string_constants, write_model
from checks.fold.unusual_nodes import MAKERS, as_constants, random_node
from generators import bodies, graphs
from generators.cast_moves import cast_move, cast_moves
from generators.large_models import COMMANDS, write_large_model
from support.common import EXAMPLES
from support.models import all_graphs

COUNT = 300
# Models with large constants, by what they are made for.
LARGE = {name: 12 if command.verb == "fold" else 4 for name, command in COMMANDS.items()}
MOST_BYTES, MOST_BYTES_OF_FEW = 4_000_000, 24_000_000
FEW = ("fold", "exact passes", "FLOAT to FLOAT16", "BFLOAT16 to FLOAT")
NODES_OF_OPERATOR = 3
FLOAT_LITERALS, INTEGER_LITERALS, STRINGS = 14, 4, 6
MOVES, MOVES_OPSET, MOVES_IR_VERSION = 14, 25, 12
RANDOM_GRAPHS = 14


def write_models(folder):
    """Writes the models; returns their paths. Data files have the name of their model in theirs."""
    for example in EXAMPLES:
        shutil.copy(example, folder)
    large = [(command, MOST_BYTES) for command, count in LARGE.items() for _ in range(count)]
    for number, (command, most_bytes) in enumerate([*large, *((command, MOST_BYTES_OF_FEW) for command in FEW)]):
        write_large(number, command, most_bytes, folder)
    for operator in MAKERS:
        for seed in range(NODES_OF_OPERATOR):
            model, inputs = random_node(operator, random.Random(f"{operator} {seed}"))
            onnx.save(as_constants(model, inputs), folder / f"node_{operator}_{seed}.onnx")
    casts = [(float_constants, FLOAT_LITERALS), (integer_constants, INTEGER_LITERALS), (to_string_constants, STRINGS)]
    for function, count in casts:
        for number, (values, target, _) in enumerate(random.Random(0).sample(list(function()), count)):
            write_model(folder / f"{function.__name__}_{number}.onnx", values, target)
    names = cast_moves(MOVES_OPSET)
    for number, name in enumerate(random.Random(0).sample(names, MOVES)):
        (folder / f"move_{number}.onnx").write_bytes(cast_move(MOVES_OPSET, MOVES_IR_VERSION, *name))
    for seed in range(RANDOM_GRAPHS):
        model, *_ = graphs.random_model(seed)
        onnx.save(model, folder / f"graph_{seed}.onnx")
    for seed in range(COUNT - len(list(folder.glob("*.onnx")))):
        onnx.save(bodies.random_model(seed)[0], folder / f"bodies_{seed}.onnx")
    return sorted(folder.glob("*.onnx"))


def write_large(number, command, most_bytes, folder):
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        write_large_model(np.random.default_rng(number), command, made, most_bytes)
        model = onnx.load(made / "model.onnx", load_external_data=False)
        for entry in [entry for graph in all_graphs(model) for tensor in graph.initializer for entry in tensor.external_data]:
            if entry.key == "location":
                entry.value = f"large_{number}.{entry.value}"
        (folder / f"large_{number}.onnx").write_bytes(model.SerializeToString())
        for data in made.glob("*.bin"):
            shutil.copy(data, folder / f"large_{number}.{data.name}")
