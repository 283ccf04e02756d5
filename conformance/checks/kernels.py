"""`convert --target onnxruntime@V` writes what V runs: each version is asked, in a process and with packages of its own.

The models are onnx's node tests, of the wheel and as the installed version builds them. Those that V computes correctly in some opset are
converted to a model that loads, runs and computes the same. A result that is claimed to run does. Where recast refuses, V runs the model in
none of the opsets that recast can convert it to.
"""

import functools
from collections import Counter

import onnx

from support.case import Case
from support.common import WHEEL_DATA, recast, scratch_folder, wheel_models
from support.newest_nodes import newest_node_models
from support.onnxruntimes import Runtime, limits, model_and_values, value_of
from support.processes import in_processes

VERSIONS = ("1.17", "1.20", "1.23", "1.27", "1.32")
SAMPLED_MODELS = 41  # One of so many.
LEAST_SAME = 250
OUTCOMES = ("same", "unlike onnx", "wrong", "no run", "no load", "refused", "could run", "crash")
# A locale that this machine may lack.
OF_THIS_MACHINE = "Failed to construct locale"
DIFFERENT = "outputs differ"


def check(report):
    models = [model for model in wheel_models() if model.is_relative_to(WHEEL_DATA / "node")]
    models = report.sample([*models, *newest_node_models()], SAMPLED_MODELS)
    counts = Counter()
    for outcomes in in_processes(run_everywhere, models, chunksize=8):
        for name, version, outcome, problem in outcomes:
            counts[version, outcome] += 1
            report.case(f"{name} for onnxruntime {version}", problem)
    report.details.append(f"{'onnxruntime':12}" + "".join(f"{outcome:>12}" for outcome in OUTCOMES))
    for version in VERSIONS:
        report.details.append(f"{version:12}" + "".join(f"{counts[version, outcome]:12}" for outcome in OUTCOMES))
    report.at_least("models that compute the same", sum(counts[version, "same"] for version in VERSIONS), LEAST_SAME)


def run_everywhere(path):
    """[(model, version, outcome, problem)]; nothing for models without opset, or of onnx's training operators."""
    case = Case.of(path)
    if case is None or case.stored is None:
        return []
    case.classes = {"by-definition"}  # Results of an expansion are compared as their types need it.
    return [(case.name, version, *convert_for(case, version)) for version in VERSIONS]


def convert_for(case, version):
    """The outcome, and what is wrong with it.

    same         the result loads, runs and computes the same
    unlike onnx  the result runs, and the version computes something else than onnx's test, whatever the opset
    refused      recast refuses, and nothing that it can write runs
    wrong        the result computes something else, but not in another opset
    no run       the result loads and does not run
    no load      the result does not load
    could run    recast refuses, but the result for some opset runs
    """
    with scratch_folder() as folder:
        output = folder / "model.onnx"
        done = recast("convert", case.path, "--target", f"onnxruntime@{version}", "-o", output)
        if done.returncode not in (0, 1):
            return "crash", f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
        problem = done.returncode == 0 and what_differs(case, output, version)
        if done.returncode == 0 and (not problem or OF_THIS_MACHINE in problem):
            return "same", None
        opset = opset_that_runs(case, version, folder)
        if done.returncode == 0 and problem.startswith(DIFFERENT) and opset is None:
            return "unlike onnx", None
        if done.returncode == 0:
            outcome = next((known for words, known in (("does not load", "no load"), ("does not run", "no run")) if problem.startswith(words)), "wrong")
            return outcome, f"{problem}; opset {opset} runs" if opset else problem
        return ("could run", f"refused, but opset {opset} runs: {done.stdout.strip()[:300]}") if opset else ("refused", None)


def opset_that_runs(case, version, folder):
    """The newest opset in which a version computes the model correctly; none if there is no such opset."""
    for opset in range(limits(version)[0], 0, -1):
        output = folder / f"opset-{opset}.onnx"
        done = recast("convert", case.path, "--opset", str(opset), "-o", output)
        if done.returncode == 0 and what_differs(case, output, version) is None:
            return opset
    return None


def what_differs(case, path, version):
    """Why a model is not what the case asks for in a version; none if it computes the same."""
    runtime = runtime_of(version)
    message = runtime.why_not_loaded(path.read_bytes())
    if message is not None:
        return f"does not load: {message[:300]}"
    found = outputs_of(runtime, path, case.inputs, optimized=True)
    if isinstance(found, str):
        return f"does not run: {found[:300]}"
    if case.close(case.stored, found) or same_without_optimizations(case, path, runtime):
        return None
    return f"{DIFFERENT}: {str(case.stored)[:200]} expected, {str(found)[:200]} found"


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
