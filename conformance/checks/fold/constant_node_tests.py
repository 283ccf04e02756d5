"""Folding a node whose inputs are constants computes what ONNX's own node tests expect, to the bit.

The node tests of every operator that `fold-constants` computes, with their inputs made initializers, are folded with
`--passes fold-constants`. The output is the one that the test expects, unless the node is kept with a reason. `Neg`, `Abs` and `Sign`
have no tests of integers; tests/suite/compute.rs has.
"""

import json
from collections import Counter

import onnx
from onnx import numpy_helper

from support.common import WHEEL_DATA, recast, scratch_folder
from support.runners import same_value

OPERATORS = """
    Reshape Squeeze Unsqueeze Flatten Transpose Slice Split Gather Expand Tile Concat GatherElements GatherND Pad Trilu OneHot
    Where NonZero ConstantOfShape Range Shape Size EyeLike Add Sub Mul Div Mod Max Min Equal Less LessOrEqual Greater
    GreaterOrEqual And Or Xor Not BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitShift CumSum
""".split()

# Node tests that are kept: arithmetic of floats, modes of Pad, and results that ONNX does not define.
MOST_KEPT = 48


def check(report):
    with scratch_folder() as scratch:
        cases = {}
        for folder in sorted(WHEEL_DATA.glob("node/test_*")):
            case = constant_case(folder, scratch)
            if case:
                cases[case[0]] = case[1]
        done = recast("fold", *cases, "--out-dir", scratch / "out", "--passes", "fold-constants", "--format", "json")
        if not report.case("recast fold of all tests", done.returncode != 0 and done.stderr):
            return
        facts = {model["path"]: model for model in json.loads(done.stdout)["models"]}
        reasons, operators = Counter(), Counter()
        for path, expected in cases.items():
            kept = facts[str(path)]["skipped"]
            reasons.update(one["code"] for one in kept)
            model = onnx.load(scratch / "out" / path.name)
            if not kept:
                operators.update(node.op_type for node in onnx.load(path).graph.node)
            report.case(path.stem, problem(model, expected, kept))
        missing = set(OPERATORS) - set(operators)
        report.case("every operator", missing and f"no test of {sorted(missing)} folds")
        report.case("kept", sum(reasons.values()) > MOST_KEPT and f"{sum(reasons.values())} nodes are kept: {reasons}")
        report.count("folded nodes", sum(operators.values()))
        report.count("nodes that are kept", sum(reasons.values()))
        report.note(f"{sum(operators.values())} of {len(cases)} node tests fold; kept: {dict(reasons)}")


def constant_case(folder, destination):
    """The node test with its inputs as initializers, and its outputs; nothing for other operators, and inputs that are no tensors."""
    model = onnx.load(folder / "model.onnx")
    nodes = model.graph.node
    if len(nodes) != 1 or nodes[0].op_type not in OPERATORS or nodes[0].domain:
        return None
    if any(not value.type.HasField("tensor_type") for value in [*model.graph.input, *model.graph.output]):
        return None
    for index, value in enumerate(model.graph.input):
        tensor = onnx.load_tensor(folder / f"test_data_set_0/input_{index}.pb")
        tensor.name = value.name
        model.graph.initializer.append(tensor)
    del model.graph.input[:]
    expected = {
        value.name: onnx.load_tensor(folder / f"test_data_set_0/output_{index}.pb") for index, value in enumerate(model.graph.output)
    }
    path = destination / f"{folder.name}.onnx"
    onnx.save(model, path)
    return path, expected


def problem(model, expected, kept):
    found = {tensor.name: tensor for tensor in model.graph.initializer}
    if kept:
        return len(model.graph.node) != 1 and "a node that is kept is gone"
    for name, tensor in expected.items():
        if name not in found:
            return f"{name} is not folded"
        if not same_value(numpy_helper.to_array(found[name]), numpy_helper.to_array(tensor)):
            return f"{name} is {numpy_helper.to_array(found[name])}, not {numpy_helper.to_array(tensor)}"
    return None
