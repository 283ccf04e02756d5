"""What `recast precision --to FLOAT16` writes computes the FLOAT model with a rounding to FLOAT16 after each node that became narrow.

The FLOAT model, with two casts after each value that is FLOAT16 in the output and before each use in FLOAT16, is run by onnxruntime without
optimizations: operators are computed in FLOAT, and their results rounded once. Each node of the output is run by onnx's reference evaluator
on these values, with the types and under the names of the output. Elements have to be equal to the bit, or within the bound of
`rounded_node_outputs.txt`, which states the reason for each operator. Models of the onnx wheel and the node tests of the installed onnx, `--policy
all`, at their own opset; without --all, every twelfth.
"""

import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from checks.precision.valid_narrow_models import distinct, has_floats
from support.case import Case, name_of
from support.common import recast, scratch_folder, wheel_models
from support.models import RANDOM, all_graphs, subgraphs
from support.narrow import copied, rounding, widened
from support.newest_nodes import newest_node_models
from support.processes import in_child, in_processes
from support.runners import session_of

BOUNDS = Path(__file__).with_suffix(".txt")
EXACT = "Add Sub Mul Div Sqrt".split()
# A node of more multiplications takes the reference evaluator minutes.
MOST_WORK = 2**24
# Of what stays FLOAT, the reference evaluator and onnxruntime differ in the last digits.
WIDE_TOLERANCE = 1e-3
LONGEST = 240  # Seconds for one model.


def check(report):
    models = report.sample(distinct(model for model in [*wheel_models(), *newest_node_models()] if has_floats(model)), 12)
    outcomes, nodes = judge_all(report, models)
    report.count("models that were compared", outcomes["compared"])
    report.count("operators that were compared", len(nodes))
    report.count(f"equal nodes of {', '.join(EXACT)}", sum(nodes[name]["equal"] for name in EXACT))


def judge_all(report, models):
    """The outcomes of models, and what was compared by operator: `equal` to the bit, or `close`."""
    outcomes, nodes, largest = Counter(), defaultdict(Counter), Counter()
    for name, outcome, found, problems in in_processes(judge, models):
        outcomes[outcome] += 1
        report.case(name, "; ".join(problems[:3]))
        for operator, kind, distance in found:
            nodes[operator][kind] += 1
            largest[operator] = max(largest[operator], distance)
    total = sum(nodes.values(), Counter())
    report.note(f"{len(models)} models: {dict(outcomes)}; {sum(total.values())} nodes of {len(nodes)} operators: {dict(total)}")
    inexact = {name: f"{largest[name]:.3g}" for name in sorted(nodes) if largest[name]}
    others = {name: count["another kernel"] for name, count in nodes.items() if count["another kernel"]}
    report.details.append(f"onnxruntime computes something else than the evaluator, in FLOAT too: {others}")
    report.details.append(f"largest differences, as `{BOUNDS.name}` counts them: {inexact}")
    return outcomes, nodes


def judge(path):
    """(name, outcome, [(operator, kind, distance)], problems) of a model."""
    model, case = onnx.load(path), Case.of(path)
    operators = {node.op_type for graph in all_graphs(model) for node in graph.node}
    if case is None or model.functions or operators & RANDOM:
        return name_of(path), "with functions or random", [], []
    with scratch_folder() as folder:
        output = folder / "output.onnx"
        done = recast("precision", path, "--to", "FLOAT16", "--policy", "all", "-o", output, "--format", "json")
        if done.returncode != 0:
            return name_of(path), "failed", [], [f"exit code {done.returncode}: {done.stderr.strip()}"]
        report, after = json.loads(done.stdout)["models"][0], onnx.load(output)
    if report["casts_removed"] or not report["changed_values"]:
        return name_of(path), "with casts" if report["casts_removed"] else "unchanged", [], []
    found = in_child(lambda: compared(model, after, {cast["output"] for cast in report["casts_added"]}, case.inputs), LONGEST)
    return (name_of(path), *(found or ("the process ends", [], [])))


def compared(before, after, casts, inputs):
    """The outcome, [(operator, kind, distance)] and the problems."""
    before, after = onnx.shape_inference.infer_shapes(before), onnx.shape_inference.infer_shapes(after)
    emulated = Emulation(casts).model(before, after)
    names = [name for node in emulated.graph.node for name in node.output if name]
    del emulated.graph.output[:]
    emulated.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    try:
        values = dict(zip(names, session_of(emulated.SerializeToString(), threads=1).run(None, inputs)))
    except Exception:
        return "not run by onnxruntime", [], []
    found, problems = Steps(after, casts, inputs, values, before).run()
    return ("compared" if found else "no node evaluated"), found, problems


class Emulation:
    """The FLOAT model with a rounding of each value that is FLOAT16 in the output."""

    def __init__(self, casts):
        self.casts = casts

    def model(self, before, after):
        emulated = onnx.ModelProto()
        emulated.CopyFrom(before)
        self.graph(emulated.graph, before.graph, after.graph, {}, {})
        return emulated

    def graph(self, emulated, before, after, outer_before, outer_after):
        """Inserts the roundings; types are those of the graphs, and of the graphs around them."""
        types, narrow_types = outer_before | types_of(before), outer_after | types_of(after)
        tensors = {tensor.name: tensor for tensor in after.initializer}
        for tensor in emulated.initializer:
            if is_narrowed(tensor.data_type, tensors[tensor.name].data_type):
                tensor.CopyFrom(widened(tensors[tensor.name], tensor.name))
        nodes, rounded = [], {}
        for node, twin in zip(emulated.node, without_casts(after, self.casts), strict=True):
            for inner, new in zip(subgraphs(node), subgraphs(twin), strict=True):
                given = onnx.GraphProto()
                given.CopyFrom(inner)
                self.graph(inner, given, new, types, narrow_types)
            for index, (name, new) in enumerate(zip(node.input, twin.input, strict=True)):
                if is_narrowed(types.get(name), narrow_types.get(new)):
                    if name not in rounded:
                        rounded[name] = f"{name}__rounded_{id(emulated)}"
                        nodes += rounding(name, rounded[name], TensorProto.FLOAT16)
                    node.input[index] = rounded[name]
            nodes.append(node)
            for index, (name, new) in enumerate(zip(node.output, twin.output, strict=True)):
                if is_narrowed(types.get(name), narrow_types.get(new)):
                    node.output[index] = f"{name}__exact"
                    nodes += rounding(f"{name}__exact", name, TensorProto.FLOAT16)
            for attribute, new in zip(node.attribute, twin.attribute):
                if attribute.HasField("t") and new.HasField("t") and is_narrowed(attribute.t.data_type, new.t.data_type):
                    attribute.t.CopyFrom(widened(new.t, attribute.t.name))
        nodes = [copied(node) for node in nodes]
        del emulated.node[:]
        emulated.node.extend(nodes)
        del emulated.value_info[:]


def without_casts(graph, casts):
    return [node for node in graph.node if not (node.op_type == "Cast" and node.output[0] in casts)]


def is_narrowed(before, after):
    return before == TensorProto.FLOAT and after == TensorProto.FLOAT16


def types_of(graph):
    """{value: element type} of a graph with inferred types, without those around it."""
    values = {value.name: value.type.tensor_type.elem_type for value in [*graph.value_info, *graph.input, *graph.output]}
    return values | {tensor.name: tensor.data_type for tensor in graph.initializer}


class Steps:
    """Runs the nodes of the output one by one. Each gets the values of the emulation, so that no difference grows."""

    def __init__(self, after, casts, inputs, emulated, before):
        self.after, self.casts, self.emulated = after, casts, emulated
        self.values = dict(inputs) | {tensor.name: numpy_helper.to_array(tensor) for tensor in after.graph.initializer}
        self.originals = dict(inputs) | {tensor.name: numpy_helper.to_array(tensor) for tensor in before.graph.initializer}
        self.types = types_of(after.graph)
        self.types_before = types_of(before.graph)
        self.twins = dict(zip(map(key, without_casts(after.graph, casts)), before.graph.node, strict=True))

    def run(self):
        found, problems = [], []
        for node in self.after.graph.node:
            if node.op_type == "Cast" and node.output[0] in self.casts:
                self.values[node.output[0]] = self.cast(node)
                continue
            results = self.evaluate(node)
            original = self.twins[key(node)]
            for index, (name, in_float) in enumerate(zip(node.output, original.output)):
                if name:
                    expected = self.emulated[in_float]
                    is_narrow = self.types.get(name) == TensorProto.FLOAT16 and getattr(expected, "dtype", None) == np.float32
                    self.values[name] = expected.astype(np.float16) if is_narrow else expected
                    # A value whose type onnx does not infer in the FLOAT model was not rounded.
                    is_known = self.types_before.get(in_float) or not is_narrow
                    if results and isinstance(expected, np.ndarray) and is_known:
                        self.judge(node, original, index, is_narrow, results[index], found, problems)
        return found, problems

    def cast(self, node):
        to = helper.tensor_dtype_to_np_dtype(node.attribute[0].i)
        with np.errstate(over="ignore"):
            return self.values[node.input[0]].astype(to)

    def judge(self, node, original, index, is_narrow, result, found, problems):
        expected, operator = self.emulated[original.output[index]], node.op_type
        kind, distance = how_far(operator, is_narrow, expected, result)
        if kind == "far":
            # Some kernels of onnxruntime compute something else than onnx's evaluator, in FLOAT too.
            in_float = self.evaluate(original)
            in_float = in_float and in_float[index]
            if isinstance(in_float, np.ndarray):
                in_float = in_float.astype(np.float16) if is_narrow else in_float
                if how_far(operator, is_narrow, in_float, result)[0] != "far":
                    kind, distance = "another kernel", 0
        if is_narrow or kind == "far":
            found.append((operator, kind, distance))
        if kind == "far":
            what = f"differs by {distance:.3g}" if is_narrow else "keeps its type, and differs"
            problems.append(f"{operator} {node.output[index]}: {what}: {shown(expected)} emulated, {shown(result)} by the evaluator")

    def evaluate(self, node):
        """The results of the reference evaluator; none if it cannot run the node, or not in a reasonable time."""
        values = {name: self.value(name, node) for name in dict.fromkeys([*node.input, *captured(node)])}
        values = {name: value for name, value in values.items() if value is not None}
        if work_of(node, [values[name] for name in node.input if name in values]) > MOST_WORK:
            return None
        outputs = [name for name in node.output if name]
        formal = lambda name: helper.make_tensor_value_info(name, self.types.get(name) or TensorProto.FLOAT, None)
        graph = helper.make_graph([node], "step", list(map(formal, values)), list(map(formal, outputs)))
        model = helper.make_model(graph, opset_imports=list(self.after.opset_import), ir_version=self.after.ir_version)
        try:
            with np.errstate(all="ignore"):
                results = dict(zip(outputs, ReferenceEvaluator(model).run(None, values)))
        except Exception:
            return None
        return [results.get(name) for name in node.output]

    def value(self, name, node):
        """A value of the output; for nodes of the FLOAT model, which has other types, that of the emulation, or a constant."""
        if key(node) in self.twins:
            return self.values.get(name)
        return self.emulated.get(name, self.originals.get(name))


def key(node):
    """Nodes have no unique names: a node of the output is identified by its bytes, which contain its outputs."""
    return node.SerializeToString(deterministic=True)


def captured(node):
    return [name for graph in subgraphs(node) for inner in graph.node for name in [*inner.input, *captured(inner)]]


def work_of(node, inputs):
    """About the number of multiplications of convolutions and products, for each of which numpy has only a slow loop in FLOAT16."""
    if node.op_type not in ("Conv", "ConvTranspose", "Gemm", "MatMul") or len(inputs) < 2:
        return 0
    return inputs[0].size * inputs[1].size // max(1, inputs[0].shape[1] if inputs[0].ndim > 1 else 1)


def how_far(operator, is_narrow, expected, result):
    """`equal`, `close` or `far`, and by how much for FLOAT16. Of some operators the evaluator computes FLOAT, which is rounded."""
    if getattr(result, "shape", None) != expected.shape:
        return "far", np.inf
    if not is_narrow:
        return ("close" if is_close(expected, result) else "far"), 0
    distance = distance_of(operator, expected.astype(np.float64), result.astype(np.float16).astype(np.float64))
    return ("equal" if not distance else "close" if distance <= bounds()[operator][1] else "far"), distance


def is_close(expected, result):
    if expected.dtype.kind in "OUS" or result.dtype.kind in "OUS":
        return expected.astype(str).tolist() == result.astype(str).tolist()
    if expected.dtype.kind != "f":
        return bool((expected == result).all())
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1e-3)
    return np.allclose(expected, result, rtol=WIDE_TOLERANCE, atol=WIDE_TOLERANCE * scale, equal_nan=True)


def distance_of(operator, expected, result):
    """The largest difference, in steps of FLOAT16 at the expected number, or for `largest` at the largest number; infinite for others than
    finite ones."""
    same = (expected == result) | (np.isnan(expected) & np.isnan(result))
    # A rounding to zero has the sign of the number that was rounded.
    same &= (expected != 0) | np.isnan(expected) | (np.signbit(expected) == np.signbit(result)) | (bounds()[operator][1] > 0)
    if same.all():
        return 0
    left, right = expected[~same], result[~same]
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        # Infinity is the step after the largest number.
        left, right = (np.where(np.isinf(each), np.sign(each) * 65536, each) for each in (left, right))
    if np.isnan(left).any() or np.isnan(right).any():
        return np.inf
    at = np.abs(left) if bounds()[operator][0] == "each" else np.abs(expected[np.isfinite(expected)]).max(initial=0)
    step = np.spacing(np.minimum(at, 65504).astype(np.float16)).astype(np.float64)
    return max(float((np.abs(left - right) / step).max()), np.finfo(float).tiny)


def bounds():
    """{operator: (at which number steps are counted, most steps)}; others are equal to the bit."""
    if not BOUNDS_OF:
        for line in BOUNDS.read_text().splitlines():
            if line and not line.startswith("#"):
                operator, at, most, _ = line.split(maxsplit=3)
                BOUNDS_OF[operator] = at, float(most)
    return BOUNDS_OF


BOUNDS_OF = defaultdict(lambda: ("each", 0.0))


def shown(array):
    return " ".join(np.array2string(np.asarray(array).ravel()[:6]).split())
