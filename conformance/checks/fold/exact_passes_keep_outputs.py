"""After all exact passes a model is as valid as it was and computes the same, to the bit.

`recast fold --passes exact` over models/, the cases of fold_cases.txt and the models of the onnx wheel: onnx.checker with full_check passes
where it passed before; onnxruntime without optimizations gives the same outputs to the bit, or onnx's reference evaluator where
onnxruntime cannot tell; running the passes again changes nothing. Each result passes `--verify`. Without --all, every third of the models that change.
"""

from collections import Counter

import onnx

from checks.fold.default_passes_keep_outputs import compare, count_judges, fold_again
from support.common import batches, fold_all
from support.corpus import changed, folded_corpus
from support.models import count_casts, count_nodes



def check(report):
    corpus = folded_corpus()
    exact = {}
    for batch in batches(corpus.folded):
        exact |= fold_all(report, batch, corpus.folder / "exact", "--passes", "exact", "--verify")
    changed_models = changed(exact)
    judged = dict(report.sample(list(changed_models.items()), 3))
    judges, before_and_after = Counter(), Counter()
    for before, after in judged.items():
        judges[compare(report, before, after, corpus.originals.get(before))] += 1
        for when, path in (("before", before), ("after", after)):
            model = onnx.load(path)
            before_and_after[f"nodes {when}"] += count_nodes(model)
            before_and_after[f"casts {when}"] += count_casts(model)
    count_judges(report, judges)
    fold_again(report, changed_models, corpus.folder / "exact-again", "--passes", "exact")
    counts = ", ".join(f"{what}: {count}" for what, count in sorted(before_and_after.items(), reverse=True))
    report.note(f"{len(changed_models)} of {len(exact)} models changed; {counts}; judged by {dict(judges)}")
