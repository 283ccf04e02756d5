"""recast beside onnx.version_converter and onnxscript's: the same models, the same opsets, the same judgement.

Only with --all, and on one of a few models: it takes about ten minutes. It makes an environment of its own, conformance/.venv-peers.
"""

from collections import Counter
from functools import cache

from checks.convert.conversions_keep_outputs import OPSETS
from peers.environment import Peer, peers_python
from support.case import Case, convert_with_recast
from support.common import scratch_folder, wheel_models
from support.processes import in_processes

ONLY_WITH_ALL = "needs conformance/.venv-peers, and takes about ten minutes"
MODELS = 3  # One of so many.
# Resize has no half_pixel_symmetric before opset 19; onnx's converter keeps it, onnx.checker does not look at it, and onnxruntime computes it.
NOT_EQUIVALENT = {("node/test_resize_downsample_scales_linear_half_pixel_symmetric", "onnx", 18)}
OUTCOMES = ("converted", "refused", "wrong", "invalid", "crash")


def check(report):
    peers_python()
    models = wheel_models()[::MODELS]
    counts = Counter()
    only_others = Counter()
    for outcomes in in_processes(convert_model, models, chunksize=4):
        counts.update(outcome[:4] for outcome in outcomes)
        only_others.update(converted_by_others_alone(outcomes))
    for target in OPSETS:
        report.details.append(f"opset {target:2}: " + "; ".join(f"{tool} {made(counts, tool, target)}" for tool in TOOLS))
    for tool in TOOLS:
        for direction in ("up", "down"):
            row = [sum(counts[tool, direction, outcome, target] for target in OPSETS) for outcome in OUTCOMES]
            words = ", ".join(f"{outcome} {count}" for outcome, count in zip(OUTCOMES, row))
            report.details.append(f"{tool:10} {direction:4} {sum(row)}: {words} ({row[0] / max(1, sum(row)):.1%} converted)")
            report.case(f"{tool} {direction}", tool == "recast" and sum(row[2:]) and words)
    report.case("what recast refuses and another tool converts", only_others and f"{only_others}")
    report.note(f"{len(models)} models, opsets {OPSETS[0]} to {OPSETS[-1]}")


def made(counts, tool, target):
    """What a tool converted to an opset, up and down, and how much of it is wrong or invalid."""
    count = lambda direction, *outcomes: sum(counts[tool, direction, outcome, target] for outcome in outcomes)
    totals = [f"{direction} {count(direction, 'converted')} of {count(direction, *OUTCOMES)}" for direction in ("up", "down")]
    faults = sum(count(direction, "wrong", "invalid", "crash") for direction in ("up", "down"))
    return f"{', '.join(totals)}, {faults} wrong or invalid"


def converted_by_others_alone(outcomes):
    """The conversions that another tool makes and recast refuses: a model, a tool and an opset."""
    refused = {opset for tool, _, outcome, opset, _ in outcomes if tool == "recast" and outcome == "refused"}
    others = {(name, tool, opset) for tool, _, outcome, opset, name in outcomes if opset in refused and outcome == "converted"}
    return others - NOT_EQUIVALENT


def convert_model(path):
    """(tool, direction, outcome, opset, model) of each tool to each opset."""
    case = Case.of(path)
    targets = [target for target in OPSETS if case and target != case.opset]
    return [
        (tool, case.direction(target), outcome_of(case, convert, target), target, case.name)
        for target in targets
        for tool, convert in TOOLS.items()
    ]


def outcome_of(case, convert, target):
    with scratch_folder() as folder:
        output = folder / "model.onnx"
        outcome, _, case.classes = convert(case.path, target, output)
        outcome, _ = (outcome, None) if outcome else case.judge(output)
        return "converted" if outcome in ("same", "unrun") else outcome


peer = cache(Peer)


def with_peer(tool):
    def convert(path, target, output):
        answers = peer("serve_conversions.py", tool).ask(str(path), target, str(output))
        if not answers:
            peer.cache_clear()
            return "crash", None, set()
        return ("refused", answers[0], set()) if answers[0] else (None, None, set())

    return convert


TOOLS = {"recast": convert_with_recast, "onnx": with_peer("onnx"), "onnxscript": with_peer("onnxscript")}
