"""`convert --target onnxruntime@V` writes what V runs: each version is asked, in a process and with packages of its own.

The models are onnx's node tests, of the wheel and as the installed version builds them. Those that V computes correctly in some opset are
converted to a model that loads, runs and computes the same. A result that is claimed to run does. Where recast refuses, V runs the model in
none of the opsets that recast can convert it to. `conversions_for_onnxruntime.txt` has a row for each that fails for its data, with the reason.
"""

import functools
from collections import Counter
from pathlib import Path

import onnx

from support.case import Case
from support.common import CACHE, WHEEL_DATA, recast, scratch_folder, wheel_models
from support.kernel_table import is_listed
from support.newest_nodes import newest_node_models
from support.onnxruntimes import Runtime, limits, model_and_values, value_of
from support.processes import in_child, in_processes

VERSIONS = ("1.17", "1.20", "1.23", "1.27", "1.32")
SAMPLED_MODELS = 41  # One of so many.
OUTCOMES = ("same", "unlike onnx", "known", "wrong", "no run", "no load", "refused", "could run", "crash")
KNOWN = Path(__file__).with_suffix(".txt")
# A locale that this machine may lack, and optional values that Python cannot feed.
OF_THIS_MACHINE = ("Failed to construct locale", "CreateGenericMLValue")


def check(report):
    models = [model for model in wheel_models() if model.is_relative_to(WHEEL_DATA / "node")]
    counts = judge_all(report, report.sample([*models, *newest_node_models()], SAMPLED_MODELS))
    for outcome in ("same", "unlike onnx", "known", "refused"):
        report.count(outcome, sum(counts[version, outcome] for version in VERSIONS))


def judge_all(report, models):
    """The number of models by version and outcome."""
    counts = Counter()
    for outcomes in in_processes(run_everywhere, models, chunksize=8):
        for name, version, outcome, problem in outcomes:
            counts[version, outcome] += 1
            report.case(f"{name} for onnxruntime {version}", problem)
    report.details.append(f"{'onnxruntime':12}" + "".join(f"{outcome:>12}" for outcome in OUTCOMES))
    for version in VERSIONS:
        report.details.append(f"{version:12}" + "".join(f"{counts[version, outcome]:12}" for outcome in OUTCOMES))
    return counts


def run_everywhere(path):
    """[(model, version, outcome, problem)]; nothing for models without opset, or of onnx's training operators. Exported models are judged by
    the outputs that onnxruntime computes here."""
    case = Case.of(path)
    if case and path.is_relative_to(CACHE / "exports"):
        case.stored = in_child(lambda: case.computed("onnxruntime"))
    if case is None or case.stored is None:
        return []
    case.name = path.parent.name
    case.classes = {"by-definition"}  # Results of an expansion are compared as their types need it.
    return [(case.name, version, *convert_for(case, version)) for version in VERSIONS]


def convert_for(case, version):
    """The outcome, and what is wrong with it.

    same         the result loads, runs and computes the same
    unlike onnx  the result loads, and the version fails or computes something else than onnx's test, whatever the opset
    known        a row of conversions_for_onnxruntime.txt
    refused      recast refuses, and nothing that it can write runs
    wrong        the result computes something else, but not in another opset
    no run       the result loads and does not run, but does in another opset
    no load      the result does not load
    could run    recast refuses, but the result for some opset runs
    """
    with scratch_folder() as folder:
        output = folder / "model.onnx"
        done = convert(case.path, "--target", f"onnxruntime@{version}", "-o", output)
        if done.returncode not in (0, 1):
            return "crash", f"exit code {done.returncode}: {one_line(done.stderr)}"
        outcome, detail = what_happens(case, output, version) if done.returncode == 0 else ("refused", "")
        if outcome == "same":
            return outcome, None
        opset = opset_that_runs(case, version, folder)
        if opset is None and outcome != "no load":
            return ("refused" if outcome == "refused" else "unlike onnx"), None
        if is_known(case.name, version):
            return "known", None
        hint = f"opset {opset} runs" if opset else "it runs in no opset"
        return ("could run", f"refused, but {hint}: {one_line(done.stdout)}") if outcome == "refused" else (outcome, f"{outcome}, {hint}: {detail}")


def convert(path, *arguments):
    """Converts a model; without its metadata, if the IR version of the target has none and recast says so."""
    done = recast("convert", path, *arguments)
    return recast("convert", path, *arguments, "--drop-metadata") if "use --drop-metadata" in done.stderr else done


def is_known(test, version):
    rows = (line.split(maxsplit=2) for line in KNOWN.read_text().splitlines() if not line.startswith("#"))
    return any(test == name and is_listed(version, versions) for name, versions, _ in rows)


def one_line(text):
    return " ".join(text.split())[:300]


def opset_that_runs(case, version, folder):
    """The newest opset in which a version computes the model correctly; none if there is no such opset."""
    for opset in range(limits(version)[0], 0, -1):
        output = folder / f"opset-{opset}.onnx"
        done = convert(case.path, "--opset", str(opset), "-o", output)
        if done.returncode == 0 and what_happens(case, output, version)[0] == "same":
            return opset
    return None


def what_happens(case, path, version):
    """Whether a version computes what the case states: `same`, `wrong`, `no run` or `no load`, and a message."""
    runtime = runtime_of(version)
    message = runtime.why_not_loaded(path.read_bytes())
    found = outputs_of(runtime, path, case.inputs, optimized=True) if message is None else message
    if isinstance(found, str) and any(words in found for words in OF_THIS_MACHINE):
        return "same", None
    if isinstance(found, str):
        return ("no run" if message is None else "no load"), one_line(found)
    if case.close(case.stored, found) or same_without_optimizations(case, path, runtime):
        return "same", None
    return "wrong", f"{one_line(str(case.stored))} expected, {one_line(str(found))} found"


def same_without_optimizations(case, path, runtime):
    """Fused operators round differently. A kernel may differ from onnx's test; then it also does so before the conversion."""
    after, before = (outputs_of(runtime, each, case.inputs, optimized=False) for each in (path, case.path))
    return any(not isinstance(each, str) and not isinstance(after, str) and case.close(each, after) for each in (case.stored, before))


def outputs_of(runtime, path, inputs, optimized):
    reply = runtime.run(*model_and_values(onnx.load(path), inputs), optimized)
    return reply if isinstance(reply, str) else [value_of(value) for value in reply]


@functools.cache
def runtime_of(version):
    return Runtime(version)
