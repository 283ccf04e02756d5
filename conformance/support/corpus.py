"""The models that folding is judged by: models/, the cases of fold_cases.txt, and the onnx wheel's. Folded once for all checks."""

import atexit
import functools
import tempfile
from collections import namedtuple
from pathlib import Path

from support import fold_cases
from support.common import EXAMPLES, Report, batches, copy_with_unique_names, fold_all, wheel_models

# folded: {input: output} of `recast fold` without options; originals: {input: the file that it copies};
# casts: {input: how many casts must stay}
Corpus = namedtuple("Corpus", "folder folded originals casts failures")


@functools.cache
def folded_corpus():
    """Every model of the corpus, folded; `failures` says what could not be."""
    scratch = tempfile.TemporaryDirectory(prefix="recast-conformance-")
    atexit.register(scratch.cleanup)
    folder = Path(scratch.name)
    originals = copy_with_unique_names([*EXAMPLES, *wheel_models()], folder / "in")
    casts = fold_cases.write_all(folder / "in")
    report, folded = Report(everything=True), {}
    for batch in batches([*originals, *casts]):
        folded |= fold_all(report, batch, folder / "out")
    return Corpus(folder, folded, originals, casts, report.failures)


def changed(folded):
    """The {input: output} that differ."""
    return {before: after for before, after in folded.items() if before.read_bytes() != after.read_bytes()}
