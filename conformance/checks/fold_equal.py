"""A folded model is as valid as it was and computes the same.

After `recast fold` without options, over models/, the cases of fold_cases.txt and the models of the onnx wheel: onnx.checker with
full_check passes where it passed before; onnxruntime gives the same outputs to the bit, or onnx's reference evaluator where
onnxruntime cannot tell; folding again changes nothing.
"""

from collections import Counter

import onnx
from onnx import TensorProto, numpy_helper

from support.common import batches, compare_outputs, count_casts, fold_all, passes_checker, sample_inputs
from support.corpus import changed, folded_corpus

# Nodes that are not a function of their inputs.
RANDOM = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def check(report):
    corpus = folded_corpus()
    report.case("recast fold of all models", "; ".join(corpus.failures))
    judges = Counter()
    changed_models = changed(corpus)
    for before, after in changed_models.items():
        judges[compare(report, before, after, corpus.originals.get(before))] += 1
    for batch in batches(changed_models.values()):
        for after, again in fold_all(report, batch, corpus.folder / "again").items():
            report.case(
                f"{after.stem}, folded again", after.read_bytes() != again.read_bytes() and "the second fold changes the model"
            )
    for before, casts in corpus.casts.items():
        left = count_casts(onnx.load(corpus.folded.get(before, before)))
        report.case(f"{before.stem}, casts", left != casts and f"{left} casts stay, expected {casts}")
    judged = ", ".join(f"{judge}: {count}" for judge, count in judges.most_common())
    report.note(f"{len(changed_models)} of {len(corpus.folded)} models changed; judged by {judged}")


def compare(report, before, after, original):
    """Checks one changed model; says what judged its outputs."""
    if passes_checker(before):
        report.attempt(f"{before.stem}, onnx.checker", lambda: onnx.checker.check_model(after, full_check=True))
    model = onnx.load(before)
    if any(node.op_type in RANDOM for node in model.graph.node):
        return "nothing, random"
    judge, difference = compare_outputs(before, after, test_inputs(model, original))
    report.case(f"{before.stem}, outputs", difference)
    return judge or "nothing, none runs them"


def test_inputs(model, original):
    """The inputs that a backend test brings, sample inputs where there are none."""
    if original is None:
        return sample_inputs(model)
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
