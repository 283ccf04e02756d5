"""A model with casts around an operator that moves elements, which a version of onnxruntime loads, also loads after `fold --passes exact`.

The passes move casts across these operators, and so change the type in which an operator runs. All operators and types are tried.
"""

from collections import Counter

from generators.cast_moves import cast_move, cast_moves
from support.common import batches, fold_all, scratch_folder
from support.onnxruntimes import Runtime, limits

VERSIONS = ("1.17", "1.23", "1.32")
OPSETS = (13, 20, 23, 26)
SAMPLED = 97  # One of so many.


def check(report):
    counts = Counter()
    for opset in OPSETS:
        for names in batches(report.sample(cast_moves(opset), SAMPLED)):
            with scratch_folder() as folder:
                models = write(names, opset, folder)
                folded = fold_all(report, models.values(), folder / "out", "--passes", "exact")
                compare(report, counts, {name: (path, folded[path]) for name, path in models.items() if path in folded}, opset)
    report.note(f"{counts['models']} models, {counts['changed']} changed, {counts['loaded']} of these loaded in a version")
    for version in VERSIONS:
        report.note(f"{version}: {counts[version, True]} still load, {counts[version, False]} do not")
    for what in ("changed", "loaded"):
        report.count(f"models that are {what}", counts[what])


def write(names, opset, folder):
    ir_version = min(ir_version for limit, ir_version in map(limits, VERSIONS) if opset <= limit)
    models = {name: folder / f"{'_'.join(name).replace(' ', '-')}.onnx" for name in names}
    for name, path in models.items():
        path.write_bytes(cast_move(opset, ir_version, *name))
    return models


def compare(report, counts, pairs, opset):
    changed = {name: pair for name, pair in pairs.items() if pair[0].read_bytes() != pair[1].read_bytes()}
    counts["models"] += len(pairs)
    counts["changed"] += len(changed)
    loaded = set()
    for version in VERSIONS:
        if opset > limits(version)[0]:
            continue
        with Runtime(version) as runtime:
            for name, (before, after) in changed.items():
                if runtime.why_not_loaded(before.read_bytes()) is None:
                    message = runtime.why_not_loaded(after.read_bytes())
                    loaded.add(name)
                    counts[version, message is None] += 1
                    report.case(f"{' '.join(name)} of opset {opset} in onnxruntime {version}", message and message.replace("\n", " ")[:200])
    counts["loaded"] += len(loaded)
