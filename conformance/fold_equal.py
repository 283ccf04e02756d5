"""A folded model is as valid as it was and computes the same.

After `recast fold` without options, over models/, the cases of fold_cases.txt and the models of the onnx wheel: onnx.checker with
full_check passes where it passed before; onnxruntime gives the same outputs to the bit, or onnx's reference evaluator where
onnxruntime cannot tell; folding again changes nothing.
"""

from collections import Counter

import onnx
from onnx import TensorProto, numpy_helper

import fold_cases
from common import (
    EXAMPLES,
    batches,
    compare_outputs,
    copy_with_unique_names,
    count_casts,
    fold_all,
    passes_checker,
    sample_inputs,
    scratch_folder,
    wheel_models,
)

# Nodes that are not a function of their inputs.
RANDOM = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def check(report):
    with scratch_folder() as scratch:
        examples = copy_with_unique_names(EXAMPLES, scratch / "in")
        cases = fold_cases.write_all(scratch / "in")
        wheel = copy_with_unique_names(wheel_models(), scratch / "in")
        judges = Counter()
        for batch in batches([*examples, *cases, *wheel]):
            outputs = fold_all(report, batch, scratch / "out")
            changed = {before: after for before, after in outputs.items() if before.read_bytes() != after.read_bytes()}
            for before, after in changed.items():
                judges[compare(report, before, after, wheel.get(before))] += 1
            for after, again in fold_all(report, outputs.values(), scratch / "again").items():
                report.case(
                    f"{after.stem}, folded again", after.read_bytes() != again.read_bytes() and "the second fold changes the model"
                )
            for before in sorted(cases.keys() & outputs.keys()):
                left = count_casts(onnx.load(outputs[before]))
                report.case(f"{before.stem}, casts", left != cases[before] and f"{left} casts stay, expected {cases[before]}")
        report.note(f"{judges.total()} models changed; judged by {', '.join(f'{judge}: {n}' for judge, n in judges.most_common())}")


def compare(report, before, after, original):
    """Checks one changed model; says what judged its outputs."""
    if passes_checker(before):
        report.attempt(f"{before.stem}, onnx.checker", lambda: onnx.checker.check_model(after, full_check=True))
    model = onnx.load(before)
    if any(node.op_type in RANDOM for node in model.graph.node):
        return "nothing, random"
    judge, difference = compare_outputs(before, after, test_inputs(model, original) if original else sample_inputs(model))
    report.case(f"{before.stem}, outputs", difference)
    return judge or "nothing, none runs them"


def test_inputs(model, original):
    """The inputs that the backend test brings, sample inputs where it brings none."""
    inputs = {}
    initialized = {tensor.name for tensor in model.graph.initializer}
    values = [value for value in model.graph.input if model.ir_version < 4 or value.name not in initialized]
    for index, value in enumerate(values):
        path = original.parent / "test_data_set_0" / f"input_{index}.pb"
        if not path.is_file():
            return sample_inputs(model)
        inputs[value.name] = read_value(path, value.type)
    return inputs


def read_value(path, declared_type):
    contents = path.read_bytes()
    if declared_type.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(contents))
    if declared_type.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(contents))
    return numpy_helper.to_array(TensorProto.FromString(contents))
