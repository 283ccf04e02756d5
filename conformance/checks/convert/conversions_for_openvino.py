"""`convert --target openvino@V` writes what OpenVINO computes as ONNX defines it: each result is run, in a process and with packages of its own.

The models are onnx's node tests and those of facts/runs: boundaries.py, which OpenVINO computes wrong for some values of their inputs, and
branches.py, with subgraphs and a function. A sample runs all of these, the node tests of operators that facts/runs/openvino.txt calls partly
wrong or special, and one of 20 others.

A model that is right must be converted, and be right afterwards. No result may be wrong, except for infinities and NaN. The guarded casts to FLOAT8
are run on all FLOAT16 values, and on FLOAT values that include all ties; a second conversion changes nothing.
"""

import sys
from collections import Counter

import ml_dtypes
import numpy as np
import onnx

from support.common import FACTS, recast, scratch_folder

sys.path.append(str(FACTS))
from casts.runtimes import Process  # noqa: E402
from runs.running import SECONDS, outcome_of, runtime_of  # noqa: E402
from runs.tests import node_tests, only_node, values, written_tests  # noqa: E402

OPENVINO = runtime_of("openvino")
TARGET = "openvino@" + ".".join(OPENVINO.version.split(".")[:2])
OTHERS = 20
FLOAT8 = {17: ("float8e4m3fn", ml_dtypes.float8_e4m3fn), 19: ("float8e5m2", ml_dtypes.float8_e5m2)}
RANDOM_FLOATS = 1_000_000


def check(report):
    with Process(OPENVINO, SECONDS) as process:
        counts = Counter()
        for test in tests_of(report):
            before, after, again = outcomes(process, test)
            counts[before, after] += 1
            # OpenVINO may refuse what a conversion adds to a model that it computes wrong, or to one of several nodes.
            is_single = only_node(onnx.load(test.model)) is not None
            worse = before == "right" and (after != "right" and (is_single or after != "no file"))
            report.case(test.name, (worse or after == "wrong") and f"{before} before, {after} after")
            report.case(f"{test.name}, converted twice", again)
        for (before, after), count in sorted(counts.items()):
            report.details.append(f"{before:10} before, {after:10} after: {count}")
        report.count("models that become right", counts["wrong", "right"])
        for to in FLOAT8:
            report.case(f"FLOAT16 to {FLOAT8[to][0]}", guarded(process, to, np.arange(1 << 16, dtype=np.uint16).view(np.float16)))
            report.case(f"FLOAT to {FLOAT8[to][0]}", guarded(process, to, floats(to)))


def tests_of(report):
    lines = [line.split(" ") for line in (FACTS / "runs/openvino.txt").read_text().split("[runs]\n")[1].splitlines() if line and line[0] != "#"]
    operators = {line[0] for line in lines if line[2] in ("partly", "special")}

    def is_chosen(test):
        node = only_node(onnx.load(test.model))
        return node is None and "attention" in test.name or node is not None and node.op_type in operators

    tests = node_tests()
    chosen = tests if report.everything else [test for index, test in enumerate(tests) if index % OTHERS == 0 or is_chosen(test)]
    return [*written_tests("boundaries"), *written_tests("branches"), *chosen]


def outcomes(process, test):
    """What OpenVINO makes of a model, and of its conversion; and what a second conversion changes."""
    model, inputs, expected = values(test)
    before = outcome_of(process, model, inputs, expected)[0]
    with scratch_folder() as folder:
        output, second = folder / "model.onnx", folder / "second.onnx"
        done = recast("convert", test.model, "--target", TARGET, "-o", output)
        if done.returncode != 0 or not output.exists():
            return before, "no file", None
        done = recast("convert", output, "--target", TARGET, "-o", second)
        again = (done.returncode != 0 and done.stdout + done.stderr) or (second.read_bytes() != output.read_bytes() and "it changes")
        return before, outcome_of(process, onnx.load(output), inputs, expected)[0], again


def floats(to):
    """Random bit patterns, the numbers of the type and the ties between them, and the FLOAT values next to each."""
    codes = np.arange(256, dtype=np.uint8).view(FLOAT8[to][1]).astype(np.float32)
    numbers = np.sort(codes[np.isfinite(codes)])
    near = np.concatenate([numbers, (numbers[1:] + numbers[:-1]) / 2])
    beside = [np.nextafter(near, np.float32(end)) for end in (-np.inf, np.inf)]
    random = np.random.default_rng(47).integers(0, 1 << 32, RANDOM_FLOATS, np.uint32).view(np.float32)
    return np.concatenate([near, *beside, random, np.float32([np.nan, np.inf, -np.inf])])


def guarded(process, to, array):
    """What the guarded cast makes of an array, if it is not what ONNX defines: NaN is NaN, everything else is clipped and rounded."""
    name, dtype = FLOAT8[to]
    source = "float16" if array.dtype == np.float16 else "float"
    text = f'<ir_version: 10, opset_import: ["": 21]> g ({source}[N] x) => ({name}[N] y) {{ y = Cast <to = {to}> (x) }}'
    with scratch_folder() as folder:
        original, output = folder / "original.onnx", folder / "model.onnx"
        onnx.save(onnx.parser.parse_model(text), original)
        done = recast("convert", original, "--target", TARGET, "-o", output)
        if done.returncode != 0:
            return done.stdout + done.stderr
        answer = process.ask("run", output.read_bytes(), {"x": (onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape, array.tobytes())}, True)
    if isinstance(answer, str):
        return answer
    largest = float(ml_dtypes.finfo(dtype).max)
    expected = np.clip(array.astype(np.float32), -largest, largest).astype(dtype)
    found = np.frombuffer(answer[0][2], dtype)
    same = (found.view("u1") == expected.view("u1")) | (np.isnan(found.astype("f4")) & np.isnan(expected.astype("f4")))
    return not same.all() and f"{np.count_nonzero(~same)} of {len(same)} differ, the first is {array[np.argmin(same)]}"
