"""Folding computes every numeric pair of types as cast_rules.py does, under every saturate and round_mode.

One model for each pair: its constants hold defined, undefined and contested values apart, so that each folds or stays for its own
reason.
"""

from collections import namedtuple

import onnx
from onnx import TensorProto, helper

from support import cast_rules
from support.cast_values import answers_of, difference, interesting_codes, variants
from support.codes import codes, tensor_of_codes
from support.common import batches, fold_all, scratch_folder

# Opset 28 admits every type. 22 has the older text about infinities in FNUZ types.
OPSETS = {28: 14, 22: 10}

OPTIONS = {
    "default": [],
    "text": ["--undefined", "fold", "--contested", "text"],
    "runtime": ["--undefined", "fold", "--contested", "runtime"],
}

Cast = namedtuple("Cast", "output kind target source_codes answers")


def check(report):
    with scratch_folder() as scratch:
        (scratch / "in").mkdir()
        models = {}
        for opset, ir_version in OPSETS.items():
            for source, target in pairs(opset):
                path = scratch / "in" / f"{source}_to_{target}_opset{opset}.onnx"
                models[path] = write_model(path, source, target, opset, ir_version, 70_000 if report.everything else 600)
        for run, options in OPTIONS.items():
            # A fold of a wider type is meant to grow; only the values count here.
            for batch in batches(models):
                for path, output in fold_all(report, batch, scratch / run, "--max-growth", "1000000000", *options).items():
                    model = onnx.load(output)
                    for cast in models[path]:
                        report.case(f"{path.stem} {cast.output}, {run}", problem(run, model, cast))
        values = sum(len(cast.source_codes) for casts in models.values() for cast in casts)
        report.count("values", values)
        report.note(f"{len(models)} pairs, {values} values, {len(OPTIONS)} runs")


def pairs(opset):
    """Every numeric pair that this version of Cast admits; for the older version, those whose text has changed since."""
    admitted = [name for name in cast_rules.NUMERIC if cast_rules.ADMITTED_SINCE.get(name, 1) <= opset]
    targets = admitted if opset == max(OPSETS) else [name for name in cast_rules.FLOAT8 if name.endswith("FNUZ")]
    return [(source, target) for source in admitted for target in targets]


def write_model(path, source, target, opset, ir_version, count):
    """A model that casts constants of one type to another; returns its casts."""
    values = interesting_codes(source, target, count)
    casts, nodes, constants, outputs = [], [], [], []
    for attributes in variants(target):
        answers = dict(zip(values, answers_of(values, source, target, opset, attributes)))
        for kind in ("defined", "undefined", "contested"):
            chosen = [code for code in values if answers[code].kind == kind]
            if not chosen:
                continue
            name = "_".join([kind, *(f"{key}_{value}" for key, value in attributes.items())])
            casts.append(Cast(name, kind, target, chosen, [answers[code] for code in chosen]))
            constants.append(tensor_of_codes(f"{name}_constant", source, [len(chosen)], chosen, cast_rules.bits_of(source)))
            number = TensorProto.DataType.Value(target)
            nodes.append(helper.make_node("Cast", [f"{name}_constant"], [name], to=number, **attributes))
            outputs.append(helper.make_tensor_value_info(name, number, [len(chosen)]))
    graph = helper.make_graph(nodes, "pair", [], outputs, constants)
    onnx.save(helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)]), path)
    return casts


def problem(run, model, cast):
    """What is wrong with one cast of a folded model; None if nothing is."""
    stays = any(cast.output in node.output for node in model.graph.node)
    must_stay = run == "default" and cast.kind != "defined"
    if stays or must_stay:
        return stays != must_stay and ("the cast stays" if stays else f"{cast.kind} values were folded")
    tensor = next(tensor for tensor in model.graph.initializer if tensor.name == cast.output)
    if TensorProto.DataType.Name(tensor.data_type) != cast.target:
        return f"the folded tensor is {TensorProto.DataType.Name(tensor.data_type)}"
    return difference(cast.source_codes, cast.answers, codes(tensor, cast_rules.bits_of(cast.target)), cast.target, by_runtimes=run == "runtime")
