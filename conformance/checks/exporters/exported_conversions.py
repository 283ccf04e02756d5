"""Models of real exporters with random weights: converted to the newest opset, down to older ones, back to where they came from, and in
chains of five random opsets.

Only with --all: the exporters are installed into environments of their own in conformance/.cache, which take 7 GB. Each result is valid,
runs in onnxruntime and computes the same. onnx's version converter gets the same models; inference is compared with onnx's.
"""

import json
import subprocess
import sys
from collections import Counter

import numpy as np

from checks.convert.conversion_chains import chain
from checks.inspect import inferred_types
from exporters.models import EXPORTERS, exported
from support.case import Case, convert_with_recast
from support.common import recast, scratch_folder
from support.processes import in_processes
from support.runners import NEWEST_THAT_RUNS

ONLY_WITH_ALL = "installs the environments of the exporters, 7 GB, into conformance/.cache"
NEWEST = 28
OLDER = (20, 17, 15, 13, 11)
CHAINED = range(11, NEWEST_THAT_RUNS + 1)
LEAST_MODELS, LEAST_DOWN, LEAST_BACK = 60, 0.7, 0.99
LEAST_TYPES, LEAST_RANKS = 0.99, 0.99
CONVERT_WITH_ONNX = """
import sys, onnx, onnx.version_converter
onnx.save(onnx.version_converter.convert_version(onnx.load(sys.argv[1]), int(sys.argv[2])), sys.argv[3])
"""


def check(report):
    models = [(exporter, path) for exporter in EXPORTERS for path in exported(*EXPORTERS[exporter])]
    report.note(f"{len(models)} models of {len(EXPORTERS)} exporters")
    report.at_least("models", len(models), LEAST_MODELS)
    counts, refusals, unfit = Counter(), Counter(), []
    for exporter, name, results in in_processes(convert_model, models):
        unfit += [] if results else [f"{exporter}: {name}"]
        for tool, direction, outcome, problem in results:
            counts[exporter, tool, direction, outcome] += 1
            if tool == "recast":
                is_fault = outcome in ("wrong", "invalid", "crash") or (outcome == "refused" and direction not in ("down", "chain"))
                report.case(f"{exporter}: {name}: {direction}", is_fault and (problem or outcome))
                refusals.update(problem.splitlines() if outcome == "refused" and problem else [])
    report.details += table(counts)
    report.details.append(f"left out, without an opset of ai.onnx or not valid: {', '.join(sorted(unfit))}")
    report.details += [f"refused {count} times: {reason}" for reason, count in refusals.most_common(15)]
    for direction, least in (("up", 1), ("down", LEAST_DOWN), ("back", LEAST_BACK)):
        done, total = totals(counts, None, "recast", direction)
        report.note(f"{direction} {done} of {total} ({done / max(total, 1):.1%})")
        report.at_least_share(direction, done, total, least)
    check_inference(report, [path for _, path in models])


def convert_model(exported_model):
    """(exporter, name, [(tool, direction, outcome, problem)]); nothing for what is no valid model, or states no opset."""
    exporter, path = exported_model
    name, case = path.parent.name, Case.of(path)
    if case is None or not (case.is_valid or case.computed("onnxruntime")):
        return exporter, name, []
    targets = [target for target in (NEWEST, NEWEST_THAT_RUNS) if target > case.opset] + [target for target in OLDER if target < case.opset]
    results = []
    for target in targets:
        direction = case.direction(target)
        with scratch_folder() as folder:
            there, back = folder / "there.onnx", folder / "back.onnx"
            outcome, problem = judged(case, path, target, there, convert_with_recast)
            results.append(("recast", direction, outcome, problem))
            if outcome in DONE:
                outcome, problem = judged(case, there, case.opset, back, convert_with_recast)
                results.append(("recast", "back", outcome, problem))
            outcome, problem = judged(case, path, target, folder / "onnx.onnx", convert_with_onnx)
            results.append(("onnx", direction, outcome, problem))
    # The name gives each model a chain of its own.
    for _, outcome, problem in chain(case, name, CHAINED):
        results.append(("recast", "chain", "not run" if outcome == "unrun" else "equal" if outcome == "same" else outcome, problem))
    return exporter, name, results


# `other runner`: as by the reference evaluator; `not run`: valid, but no runner knows its operators.
DONE = ("equal", "by value", "last digits", "other runner", "not run")


def judged(case, path, target, output, convert):
    """How the result compares with the model; a refusal with its reasons, one a line."""
    outcome, problem, case.classes = convert(path, target, output)
    if outcome == "refused":
        return outcome, problem or reasons(path, target)
    if outcome:
        return outcome, problem
    outcome, problem = case.judge(output)
    if outcome != "same":
        return ("not run" if outcome == "unrun" else outcome), problem
    before, after = case.computed("onnxruntime"), case.run(output, "onnxruntime")
    if before is None or after is None:
        return "other runner", None
    return how_close(before, after), None


def how_close(before, after):
    if all(map(is_equal, before, after)):
        return "equal"
    same = all(isinstance(a, np.ndarray) and np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(before, after))
    return "by value" if same else "last digits"


def is_equal(left, right):
    both = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
    return left.dtype == right.dtype and left.tobytes() == right.tobytes() if both and left.dtype.kind != "O" else str(left) == str(right)


def reasons(path, target):
    """The operators that block, each with the kind of reason."""
    done = recast("convert", path, "--opset", str(target), "--dry-run", "--format", "json")
    blockers = json.loads(done.stdout)["models"][0]["blockers"]
    return "\n".join(sorted({f"{blocker['op']} {'to'.join(map(' {} '.format, blocker['opset_step']))}: {blocker['code']}" for blocker in blockers}))


def convert_with_onnx(path, target, output):
    done = subprocess.run([sys.executable, "-c", CONVERT_WITH_ONNX, path, str(target), output], capture_output=True, text=True)
    if done.returncode == 0:
        return None, None, set()
    return ("crash" if done.returncode < 0 else "refused"), (done.stderr.strip().splitlines() or [""])[-1], set()


def totals(counts, exporter, tool, direction):
    chosen = {key: count for key, count in counts.items() if key[1:3] == (tool, direction) and exporter in (None, key[0])}
    return sum(count for key, count in chosen.items() if key[3] in DONE), sum(chosen.values())


def table(counts):
    """One line for each exporter and tool."""
    lines = []
    for exporter in EXPORTERS:
        for tool in ("recast", "onnx"):
            parts = []
            for direction in ("up", "down", "back", "chain") if tool == "recast" else ("up", "down"):
                done, total = totals(counts, exporter, tool, direction)
                outcomes = {key[3]: count for key, count in sorted(counts.items()) if key[:3] == (exporter, tool, direction)}
                parts.append(f"{direction} {done} of {total} {outcomes}")
            lines.append(f"{exporter:22} {tool:7} {'; '.join(parts)}")
    return lines


def check_inference(report, paths):
    counts, missed = inferred_types.compare_all(report, paths)
    for kind, least in (("type", LEAST_TYPES), ("rank", LEAST_RANKS)):
        known, ours = counts[kind, "onnx"], counts[kind, "both"]
        report.note(f"of {known} {kind}s that onnx infers, {ours} ({ours / max(known, 1):.2%})")
        report.case(f"{kind}s", ours < least * known and f"fewer than {least:.0%}; most missed: {missed.most_common(12)}")
    report.details.append(f"types and ranks that are missed: {missed.most_common(12)}")
