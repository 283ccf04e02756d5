"""A folded model is as valid as it was and computes the same.

After `recast fold` without options, over models/, the cases of fold_cases.txt and the models of the onnx wheel: onnx.checker with
full_check passes where it passed before; onnxruntime gives the same outputs to the bit, or onnx's reference evaluator where
onnxruntime cannot tell; folding again changes nothing.
"""

from collections import Counter

import onnx

from support.case import test_inputs
from support.common import batches, fold_all
from support.corpus import changed, folded_corpus
from support.models import RANDOM, count_casts, passes_checker
from support.runners import compare_outputs

RUNNERS_THAT_JUDGE = ("onnxruntime", "onnxruntime, closely", "reference")


def check(report):
    corpus = folded_corpus()
    report.case("recast fold of all models", "; ".join(corpus.failures))
    judges = Counter()
    changed_models = changed(corpus.folded)
    for before, after in changed_models.items():
        judges[compare(report, before, after, corpus.originals.get(before))] += 1
    fold_again(report, changed_models, corpus.folder / "again")
    for before, casts in corpus.casts.items():
        left = count_casts(onnx.load(corpus.folded.get(before, before)))
        report.case(f"{before.stem}, casts", left != casts and f"{left} casts stay, expected {casts}")
    count_judges(report, judges)
    judged = ", ".join(f"{judge}: {count}" for judge, count in judges.most_common())
    report.note(f"{len(changed_models)} of {len(corpus.folded)} models changed; judged by {judged}")


def count_judges(report, judges):
    """Counts the models by the runner that compared their outputs; onnxruntime decides on some to the bit on one processor, closely on another."""
    by_onnxruntime = sum(judges[judge] for judge in RUNNERS_THAT_JUDGE if judge.startswith("onnxruntime"))
    report.count("models judged by onnxruntime", by_onnxruntime)
    report.count("models judged by the reference evaluator", judges["reference"])
    report.count("models that nothing judges", sum(judges.values()) - by_onnxruntime - judges["reference"])


def fold_again(report, changed_models, folder, *options):
    """A second fold changes nothing."""
    for batch in batches(changed_models.values()):
        for after, again in fold_all(report, batch, folder, *options).items():
            report.case(f"{after.stem}, again", after.read_bytes() != again.read_bytes() and "the second fold changes the model")


def compare(report, before, after, original):
    """Checks one changed model; says what judged its outputs."""
    if passes_checker(before):
        report.attempt(f"{before.stem}, onnx.checker", lambda: onnx.checker.check_model(after, full_check=True))
    model = onnx.load(before)
    if any(node.op_type in {*RANDOM, "Dropout"} for node in model.graph.node):
        return "nothing, random"
    judge, difference = compare_outputs(before, after, test_inputs(original or before, model))
    report.case(f"{before.stem}, outputs", difference)
    return judge or "nothing, none runs them"
