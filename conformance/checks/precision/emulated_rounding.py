"""What `recast precision --emulate` writes rounds as a cast does, and computes what the narrow model computes.

1. The functions: all 65,536 numbers of the type, those halfway between neighbours, the neighbours of these in FLOAT, and random bits, against
   numpy and ml_dtypes; in onnxruntime with and without optimizations and in onnx's reference evaluator, to the bit.
2. The models of `generators/range_models.py`, with both policies: the outputs are, to the bit, those of the model that the command writes
   without `--emulate`, where each narrow value is rounded by casts (`support/narrow.py`).
3. The example models: the emulation is valid, onnxruntime loads it, and a second run writes the same bytes.
"""

import json
from collections import Counter

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, inliner
from onnx.reference import ReferenceEvaluator

from generators.range_models import models
from support.common import EXAMPLES, recast, scratch_folder
from support.narrow import emulated, run
from support.runners import session_of

TYPES = {"FLOAT16": np.dtype(np.float16), "BFLOAT16": np.dtype(ml_dtypes.bfloat16)}
# BFLOAT16 has casts since opset 13.
OPSETS = {"FLOAT16": [9, 13, 21], "BFLOAT16": [13, 21]}
RANDOM, RANDOM_OF_SAMPLE = 20_000_000, 2_000_000


def check(report):
    numbers = RANDOM if report.everything else RANDOM_OF_SAMPLE
    for narrow in TYPES:
        values = arguments(narrow, numbers)
        for opset in OPSETS[narrow]:
            report.attempt(f"{narrow}, opset {opset}", lambda: compare_function(report, narrow, opset, values))
    report.note(f"{len(values)} numbers")
    counts = Counter()
    for name, model, feeds, narrow in models():
        for policy in ("stable", "all"):
            report.attempt(f"{name}, {policy}", lambda: compare_model(model, feeds, narrow, policy, counts))
    report.note(f"{counts['models']} models with {counts['roundings']} roundings")
    report.count("models", counts["models"])
    report.count("roundings", counts["roundings"])
    for path in EXAMPLES:
        report.attempt(path.name, lambda: judge_example(path))


def arguments(narrow, count):
    """Numbers of FLOAT: those of the type, those halfway between, their neighbours, and random ones."""
    dtype = TYPES[narrow]
    every = np.arange(2**16, dtype=np.uint16).view(dtype).astype(np.float32)
    finite = np.sort(every[np.isfinite(every) & ~np.signbit(every)])
    halves = (finite[:-1].astype(np.float64) + finite[1:]) / 2
    beyond = finite[-1].astype(np.float64) + (finite[-1].astype(np.float64) - finite[-2]) / 2
    halves = np.append(halves, beyond).astype(np.float32)
    near = np.concatenate([halves, np.nextafter(halves, np.float32(np.inf)), np.nextafter(halves, np.float32(0))])
    bits = np.random.default_rng(0).integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    return np.concatenate([every, near, -near, bits])


def compare_function(report, narrow, opset, values):
    """The function of a model, called on all values."""
    with np.errstate(all="ignore"):
        expected = values.astype(TYPES[narrow]).astype(np.float32)
    text = f'<ir_version: 8, opset_import: ["": {opset}]> g (float[N] x) => (float[N] y) {{ y = Add (x, x) }}'
    after, changed = written(onnx.parser.parse_model(text), narrow)
    call = helper.make_node(changed["emulation"]["function"].split(":")[1], ["x"], ["y"], domain="onnx_recast")
    del after.graph.node[:]
    after.graph.node.append(call)
    for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        session = ort.InferenceSession(after.SerializeToString(), options, providers=["CPUExecutionProvider"])
        report.case(f"{narrow}, opset {opset}, onnxruntime, {level.name}", different(values, expected, session.run(None, {"x": values})[0]))
    with np.errstate(all="ignore"):
        found = ReferenceEvaluator(after).run(None, {"x": values})[0]
    report.case(f"{narrow}, opset {opset}, the reference evaluator", different(values, expected, found))


def different(values, expected, found):
    """Which of the numbers differ, in a bit or in being NaN."""
    same = (expected.view(np.uint32) == found.view(np.uint32)) | (np.isnan(expected) & np.isnan(found))
    if same.all():
        return None
    first = int(np.argmin(same))
    return f"{int((~same).sum())} numbers; {values[first]!r} becomes {found[first]!r}, not {expected[first]!r}"


def compare_model(model, feeds, narrow, policy, counts):
    """The outputs of an emulation, and those of the narrow model with its values rounded."""
    changed, _ = written(model, narrow, "--policy", policy, emulate=False)
    after, report = written(model, narrow, "--policy", policy)
    onnx.checker.check_model(after, full_check=True)
    counts["models"] += 1
    counts["roundings"] += len(report["emulation"]["roundings"])
    expected = run(emulated(changed), feeds)
    for found in (run(after, feeds), run(inliner.inline_local_functions(after), feeds)):
        for name, array in expected.items():
            assert np.array_equal(array, found[name], equal_nan=True), f"{name}: {array.ravel()[:4]}, emulated {found[name].ravel()[:4]}"


def judge_example(path):
    model = onnx.load(path)
    opset = next((each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 1)
    with scratch_folder() as folder:
        output = folder / "output.onnx"
        done = recast("precision", path, "--to", "FLOAT16", "--emulate", "-o", output)
        if opset < 9:
            assert done.returncode == 2 and "use --opset 9" in done.stderr, done.stderr
            return
        assert done.returncode == 0, done.stderr
        again = folder / "again.onnx"
        done = recast("precision", output, "--to", "FLOAT16", "--emulate", "-o", again)
        assert (done.returncode, output.read_bytes()) == (0, again.read_bytes()), done.stderr
        onnx.checker.check_model(output, full_check=opset <= 23)
        if path.stem not in {"subbyte_quant"}:  # onnxruntime does not load its opset.
            session_of(output.read_bytes(), threads=1)


def written(model, narrow, *options, emulate=True):
    """The model that `recast precision` writes, and its report."""
    with scratch_folder() as folder:
        source, output = folder / "model.onnx", folder / "output.onnx"
        onnx.save(model, source)
        done = recast(
            "precision", source, "--to", narrow, *options, *(["--emulate"] if emulate else []), "-o", output, "--format", "json"
        )
        assert done.returncode == 0, done.stderr
        return onnx.load(output), json.loads(done.stdout)["models"][0]
