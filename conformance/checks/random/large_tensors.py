"""Models with constants of 0.1 to 24 MB, and tensors of these sizes, are rewritten right, element by element.

`generators/large_models.py` makes the models, in which constants begin at any offset. They are folded, with the default and with the exact
passes, and changed in precision, and written in every way: by the command, the Python module and a fleet. Every element of every constant
is compared with numpy and ml_dtypes, and the rest of the model with what it was. `recast cast` casts one tensor of each pair of types, from
and to .npy files and TensorProtos. Before, the casts of numpy and ml_dtypes are compared with `cast_rules.py`.

The page of web/ is left out, because it needs a browser, which .ci/web has. The Python package is that of `support/package.py`.
`conformance/run large_tensors --seed N` runs one case again: seeds below 625 are casts, one of each pair of types.
"""

import functools
import subprocess
import sys
from collections import Counter, namedtuple

import numpy as np
import onnx
from onnx import TensorProto

from checks.cast.tensor_files import NUMPY
from generators.large_models import COMMANDS, random_arrays, stored_tensor, text, write_large_model
from support import cast_rules, elements
from support.cast_rules import NUMERIC, bits_of
from support.common import RECAST, recast, scratch_folder
from support.package import use_package
from support.processes import in_processes
from support.ways import WAYS

ONLY_IF_NAMED = "needs the wheel of the Python package; .ci/run has a step for it"
MODELS, ALL_MODELS = 300, 3_000
PAIRS = [(source, target) for source in NUMERIC for target in NUMERIC]
# Where `recast cast` reads from and writes to; "-" is standard output, which has the form of the input.
FORMS = [("pb", "pb"), ("pb", "npy"), ("npy", "pb"), ("npy", "npy"), ("pb", "-"), ("npy", "-")]
# What is compared, at least.
LEAST = {"elements": 4_500_000_000, "bytes": 6_400_000_000, "in models": 610, "in data files": 285}
CHECKED_ELEMENTS = 40
PROGRESS = 100

Outcome = namedtuple("Outcome", "seed name problem counts")


def check(report):
    use_package()
    if report.seed is not None:
        outcomes = [outcome_of(report.seed)]
    else:
        check_oracle(report)
        count = len(PAIRS) + (ALL_MODELS if report.everything else MODELS)
        outcomes = with_progress(in_processes(outcome_of, range(count)), count)
    counts, wrong = Counter(), Counter()
    for outcome in sorted(outcomes):
        counts += outcome.counts
        kind = "tensors" if outcome.seed < len(PAIRS) else "models"
        counts[kind] += 1
        wrong[kind] += bool(outcome.problem)
        repeat = f"; to repeat it: conformance/run large_tensors --seed {outcome.seed}"
        report.case(f"seed {outcome.seed}, {outcome.name}", outcome.problem and outcome.problem + repeat)
    for kind in ("models", "tensors"):
        report.note(f"{wrong[kind]} of {counts[kind]} {kind} are wrong")
    report.note(f"{counts['elements'] / 1e6:.0f} million elements, {counts['bytes'] / 1e6:.0f} MB, compared")
    report.note(f"{counts['in models']} constants in models, {counts['in data files']} in data files")
    if report.seed is None:
        for what, least in LEAST.items():
            report.at_least(what, counts[what], least)


def check_oracle(report):
    """The casts of numpy and ml_dtypes are those of cast_rules.py, and are defined."""
    for source, target in PAIRS:
        given, results = elements.drawn(np.random.default_rng(0), [source, target], CHECKED_ELEMENTS)
        answers = [cast_rules.cast(code, source, target, 28) for code in given.tolist()]
        found = [(answer.kind, answer.text) for answer in answers]
        expected = [("defined", code) for code in results.tolist()]
        report.case(f"casts of {source} to {target} by numpy", found != expected and f"{expected}, by cast_rules.py {found}")


def with_progress(outcomes, count):
    for done, outcome in enumerate(outcomes, 1):
        if done % PROGRESS == 0:
            print(f"sizes: {done} of {count} cases", file=sys.stderr, flush=True)
        yield outcome


def outcome_of(seed):
    counts = Counter()
    rng = np.random.default_rng(seed)
    if seed < len(PAIRS):
        source, target = PAIRS[seed]
        form, result = FORMS[rng.integers(len(FORMS))]
        name = f"cast {source} to {target}, {form} to {result}"
        run = functools.partial(problem_of_cast, rng, source, target, form, result, counts)
    else:
        index = seed - len(PAIRS)
        command, way = list(COMMANDS)[index % len(COMMANDS)], list(WAYS)[index // len(COMMANDS) % len(WAYS)]
        name = f"{command}, {way}"
        run = functools.partial(problem_of_model, rng, command, way, counts)
    with scratch_folder() as folder:
        try:
            problem = run(folder)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
    return Outcome(seed, name, problem, counts)


def problem_of_model(rng, command_name, way, counts, folder):
    """What is wrong with the model that a command writes; None if nothing is."""
    before, after = folder / "before", folder / "after"
    before.mkdir()
    after.mkdir()
    expected = write_large_model(rng, command_name, before)
    command = COMMANDS[command_name]
    output = WAYS[way](command.verb, command.options, before / "model.onnx", after)
    found = onnx.load(output, load_external_data=False)
    if problem := wrong_constant(expected.constants, found.graph.initializer, output.parent, counts):
        return problem
    del found.graph.initializer[:]
    if command.options.get("weights_only"):
        remove_casts(found.graph, command.types[0])
    if found != expected.model:
        return f"the rest of the model differs: {differing_fields(expected.model, found)}"
    return None


def wrong_constant(expected, tensors, folder, counts):
    names = [tensor.name for tensor in tensors]
    if sorted(names) != sorted(expected):
        return f"constants {sorted(names)}, expected {sorted(expected)}"
    for tensor in tensors:
        type_name, codes, doc_string = expected[tensor.name]
        found_type = TensorProto.DataType.Name(tensor.data_type)
        if (found_type, tuple(tensor.dims), tensor.doc_string) != (type_name, codes.shape, doc_string):
            return f"{tensor.name} is of type {found_type} and shape {list(tensor.dims)}, expected {type_name} and {codes.shape}"
        counts["in data files" if tensor.external_data else "in models"] += 1
        if problem := wrong_elements(codes, elements.content(tensor, folder), type_name, counts):
            return f"{tensor.name} of type {type_name}: {problem}"
    return None


def wrong_elements(codes, found, type_name, counts):
    """Compares the bytes of all elements."""
    expected = elements.packed(codes, type_name)
    counts["elements"] += codes.size
    counts["bytes"] += expected.size
    if found.size != expected.size:
        return f"{found.size} bytes, expected {expected.size}"
    differing = np.flatnonzero(found != expected)
    if not differing.size:
        return None
    places = np.unique(differing * 8 // elements.stored_bits(type_name))
    return f"{places.size} of {codes.size} elements are wrong, at {', '.join(map(str, places[:3]))}"


def remove_casts(graph, to):
    """Takes away the casts of constants to a type that `--weights-only` adds."""
    casts = [node for node in graph.node if node.op_type == "Cast" and node.attribute[0].i == elements.number_of(to)]
    inputs = {node.output[0]: node.input[0] for node in casts}
    for node in casts:
        graph.node.remove(node)
    for node in graph.node:
        node.input[:] = [inputs.get(name, name) for name in node.input]


def differing_fields(expected, found):
    """The fields of the model, or of its graph, that differ."""
    both = [(expected, found), (expected.graph, found.graph)]
    return [field.name for left, right in both for field in left.DESCRIPTOR.fields if getattr(left, field.name) != getattr(right, field.name)]


def problem_of_cast(rng, source, target, form, result, counts, folder):
    """What is wrong with the tensor that `recast cast` writes; None if nothing is."""
    codes, results = random_arrays(rng, [source, target])
    given = folder / f"in.{form}"
    if form == "npy":
        np.save(given, codes.view(NUMPY.get(source, codes.dtype)))
    else:
        tensor = stored_tensor(rng, text(rng), source, codes, folder)
        given.write_bytes(tensor.SerializeToString())
    options = ["--from", source] if form == "npy" and source not in NUMPY else []
    if result == "-":
        written = folder / f"out.{form}"
        with open(written, "wb") as file:
            done = subprocess.run([RECAST, "cast", given, "-o", "-", "--to", target, *options], stdout=file, stderr=subprocess.PIPE, text=True)
    else:
        written = folder / f"out.{result}"
        done = recast("cast", given, "-o", written, "--to", target, *options)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()}"
    if written.suffix == ".pb":
        tensor = onnx.load_tensor(written)
        shape, found_type, found = tuple(tensor.dims), TensorProto.DataType.Name(tensor.data_type), elements.content(tensor, folder)
    else:
        array = np.load(written)
        if array.dtype != NUMPY.get(target, f"uint{max(bits_of(target), 8)}"):
            return f"an array of {array.dtype}"
        shape, found_type = array.shape, target
        found = elements.packed(array.view(elements.unsigned(target)), target)
    if (shape, found_type) != (codes.shape, target):
        return f"type {found_type} and shape {shape}, expected {codes.shape}"
    return wrong_elements(results, found, target, counts)
