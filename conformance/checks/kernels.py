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
OUTCOMES = ("same", "wrong", "no load", "refused", "could run", "crash")
# A locale that this machine may lack.
OF_THIS_MACHINE = "Failed to construct locale"


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
    """`same`: the result runs and computes the same. `refused`: recast refuses, and nothing that it can write runs. Everything else is wrong."""
    with scratch_folder() as folder:
        output = folder / "model.onnx"
        done = recast("convert", case.path, "--target", f"onnxruntime@{version}", "-o", output)
        if done.returncode not in (0, 1):
            return "crash", f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
        problem = done.returncode == 0 and what_differs(case, output, version)
        if done.returncode == 0 and (not problem or OF_THIS_MACHINE in problem):
            return "same", None
        opset = opset_that_runs(case, version, folder)
        if done.returncode == 0:
            hint = f"; opset {opset} runs" if opset else ""
            return ("no load" if problem.startswith("does not load") else "wrong"), f"{problem}{hint}"
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
    found = outputs_of(runtime, path, case.inputs)
    if isinstance(found, str):
        return f"does not run: {found[:300]}"
    if case.close(case.stored, found) or same_as_unconverted(case, found, runtime):
        return None
    return f"outputs differ: {str(case.stored)[:200]} expected, {str(found)[:200]} found"


def same_as_unconverted(case, found, runtime):
    """A kernel may differ from onnx's test; then it also does before the conversion."""
    before = outputs_of(runtime, case.path, case.inputs)
    return not isinstance(before, str) and case.close(before, found)


def outputs_of(runtime, path, inputs):
    reply = runtime.run(*model_and_values(onnx.load(path), inputs))
    return reply if isinstance(reply, str) else [value_of(value) for value in reply]


@functools.cache
def runtime_of(version):
    return Runtime(version)
