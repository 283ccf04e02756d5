"""After all exact passes a model is as valid as it was and computes the same, to the bit.

`recast fold --passes exact` over models/, the cases of fold_cases.txt and the models of the onnx wheel: onnx.checker with full_check passes
where it passed before; onnxruntime without optimizations gives the same outputs to the bit, or onnx's reference evaluator where
onnxruntime cannot tell; running the passes again changes nothing. Each result passes `--verify`. Without --all, every third of the models that change.
"""

from collections import Counter

import onnx

from checks.fold_equal import compare
from support.common import all_graphs, batches, count_casts, fold_all
from support.corpus import folded_corpus


def check(report):
    corpus = folded_corpus()
    exact = {}
    for batch in batches(corpus.folded):
        exact |= fold_all(report, batch, corpus.folder / "exact", "--passes", "exact", "--verify")
    changed = {before: after for before, after in exact.items() if before.read_bytes() != after.read_bytes()}
    judged = dict(list(changed.items())[:: 1 if report.everything else 3])
    judges, before_and_after = Counter(), Counter()
    for before, after in judged.items():
        judges[compare(report, before, after, corpus.originals.get(before))] += 1
        for when, path in (("before", before), ("after", after)):
            model = onnx.load(path)
            before_and_after[f"nodes {when}"] += sum(len(graph.node) for graph in all_graphs(model))
            before_and_after[f"casts {when}"] += count_casts(model)
    for batch in batches(changed.values()):
        for after, again in fold_all(report, batch, corpus.folder / "exact-again", "--passes", "exact").items():
            report.case(
                f"{after.stem}, again", after.read_bytes() != again.read_bytes() and "running the passes again changes the model"
            )
    counts = ", ".join(f"{what}: {count}" for what, count in sorted(before_and_after.items(), reverse=True))
    report.note(f"{len(changed)} of {len(exact)} models changed; {counts}; judged by {dict(judges)}")
