"""Models in ONNX text that show each wrong result of a runtime: for each thing that it computes otherwise than ONNX defines it, the smallest model
that was run, of those that onnxruntime computes as ONNX defines them, if there are some. Comments have the numbers, as ONNX text writes tensors."""

import itertools
import re

import numpy as np
import onnx
from casts.page import NAMES
from casts.runtimes import Process, newest
from onnx import TensorProto, helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator
from support.models import readable

from runs.running import SECONDS, decode, difference, encode, name_of, read_as
from runs.runtimes import ALL
from runs.tests import all_tests, only_node, since_of, values
from runs.text import grouped

# Larger ones are no help to a reader.
MOST_ELEMENTS = 400
# Of the models that onnxruntime computes as ONNX defines them, which are preferred.
MOST_TRIED = 3
# As they are for the runtime itself, without those of its interface.
TYPES = "float double float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
TENSOR = re.compile(r"# (\S+) = (\w+)\[([\d, ]*)\] \{(.*)\}( in .*| by ONNX's definition)?$")
DEFINED = " by ONNX's definition"
# {name of the file: (what it computes, the model, its input)}.
ONNXRUNTIME = {
    "add-14-takes-a-fourth-power-for-a-square.onnxtxt": (
        "takes it and the nodes before it for LayerNormalization, though the power is the fourth one, unless optimizations are disabled",
        """<ir_version: 8, opset_import: ["": 17]>
        g (float[2,3] x) => (float[2,3] y) <float four = {4.0}, float eps = {0.00001}, float[3] scale = {1.0, 2.0, 3.0}, float[3] bias = {3.0, 2.0, 1.0}> {
            m = ReduceMean <axes = [1]> (x) d = Sub (x, m) q = Pow (d, four) v = ReduceMean <axes = [1]> (q) w = Add (v, eps)
            r = Sqrt (w) n = Div (d, r) u = Mul (n, scale) y = Add (u, bias)
        }""",
        np.array([[1, 2, 4], [0, -1, 3]], np.float32),
    )
}


def files(runtime, results):
    """{name: text} of a runtime, from its results."""
    found = {}
    with Process(runtime, SECONDS) as process, Process(newest("onnxruntime")) as other:
        for words, tests in smallest_first(runtime, results).items():
            agreed = (test for test in tests if is_computed(other, test))
            shown = ((test, text(process, values(test), words)) for test in [*itertools.islice(agreed, MOST_TRIED), *tests])
            test, contents = next((pair for pair in shown if pair[1]), (None, None))
            if contents:
                found[name_for(readable(test.model), words)] = contents
    return found


def of_onnxruntime():
    """{name: text} of what was found in onnxruntime, which has no file of results."""
    found = {}
    with Process(newest("onnxruntime")) as process:
        for file_name, (words, contents, x) in ONNXRUNTIME.items():
            model = parser.parse_model(contents)
            found[file_name] = text(process, (model, {"x": x}, ReferenceEvaluator(model).run(None, {"x": x})), words)
    return found


def is_computed(process, test):
    """Whether a runtime computes what ONNX defines."""
    model, inputs, expected = values(test)
    results = results_of(process, model, inputs)
    return results is not None and not any(difference(model, *pair) for pair in zip(expected, results))


def results_of(process, model, inputs):
    """The results of a model; none if the runtime refuses it."""
    answer = process.ask("run", model.SerializeToString(), {name: encode(value) for name, value in inputs.items()}, True)
    return None if isinstance(answer, str) else [decode(value) for value in answer]


def smallest_first(runtime, results):
    """{what the runtime computes: the tests that show it}, without large ones."""
    stated, found = grouped(runtime, results)[3], {}
    tests = {test.name: test for test in all_tests()}
    for words, names in sorted(stated.items()):
        sizes = sorted(size for name in names if name not in ALL[runtime.name].VARYING and (size := size_of(tests[name])))
        if sizes:
            found[words] = [tests[name] for _, name in sizes]
    return found


def size_of(test):
    """The number of elements of the inputs and outputs, and the name; none if there are too many, or some of other types."""
    model, inputs, expected = values(test)
    arrays = [*inputs.values(), *expected, *map(numpy_helper.to_array, model.graph.initializer)]
    if not all(isinstance(array, np.ndarray) and type_of(array) in TYPES for array in arrays):
        return None
    elements = sum(array.size for array in arrays)
    return (elements, test.name) if elements <= MOST_ELEMENTS else None


def text(process, case, words):
    """A model, its inputs and expected outputs as a file; none if the runtime gives no numbers for an output."""
    model, inputs, expected = case
    results = results_of(process, model, inputs)
    if results is None:
        return None
    if process.runtime.name in ALL:
        results = [read_as(ALL[process.runtime.name].VERSIONS[process.runtime], *pair) for pair in zip(expected, results)]
    if not all(type_of(result) in TYPES for result in results) or not any(difference(model, *pair) for pair in zip(expected, results)):
        return None
    runtime = f"{NAMES[process.runtime.name]} {process.runtime.version}"
    names = [value.name for value in model.graph.output]
    node = only_node(model) or model.graph.node[-1]
    lines = [f"{node.op_type}-{since_of(model, node)}: {runtime} {words}.", *(f"{name} = {written(array)}" for name, array in inputs.items())]
    for name, array, result in zip(names, expected, results):
        lines.append(f"{name} = {written(array)}{DEFINED}")
        if difference(model, array, result):
            lines.append(f"{name} = {written(result)} in {runtime}")
    return "".join(f"# {line}\n" for line in lines) + plain_text(model)


def plain_text(model):
    """ONNX text without what does not matter."""
    for name in ("producer_name", "producer_version", "domain", "model_version", "doc_string", "metadata_props"):
        model.ClearField(name)
    for node in model.graph.node:
        node.ClearField("name")
        node.ClearField("doc_string")
    model.graph.ClearField("doc_string")
    model.graph.name = "g"
    contents = onnx.printer.to_text(model).rstrip() + "\n"
    parser.parse_model(contents)
    return contents


def name_for(model, words):
    """Of the first clause."""
    node = only_node(model)
    clause = re.split("[,:]", words)[0]
    return re.sub(r"[^a-z0-9]+", "-", f"{node.op_type} {since_of(model, node)} {clause}".lower()).strip("-") + ".onnxtxt"


def written(array):
    numbers = ", ".join(str(int(element)) if array.dtype.kind in "iub" else str(element) for element in np.ravel(array))
    return f"{type_of(array)}[{', '.join(map(str, array.shape))}] {{{numbers}}}"


def type_of(array):
    return name_of(array).lower()


def tensors(contents):
    """[(name, array, what it is)] of the comments of a file."""
    found = (TENSOR.match(line) for line in contents.splitlines())
    return [(name, read(dtype, shape, numbers), what or "") for name, dtype, shape, numbers, what in (match.groups() for match in found if match)]


def read(dtype, shape, numbers):
    dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(dtype.upper()))
    elements = [int(number) if dtype.kind in "iub" else float(number) for number in numbers.split(", ") if number]
    return np.array(elements, dtype).reshape([int(length) for length in shape.split(",") if length.strip()])


def problem(contents, process):
    """What is wrong with a file, if a runtime computes the model: it has to be what ONNX defines, and not what the file says that another computes."""
    model, given = parser.parse_model(contents), tensors(contents)
    inputs = {name: array for name, array, what in given if not what}
    defined = {name: array for name, array, what in given if what == DEFINED}
    others = {name: array for name, array, what in given if what.startswith(" in ")}
    results = results_of(process, model, inputs)
    if results is None:
        return "refused"
    if not others:
        return "no result of the runtime"
    for output, result in zip(model.graph.output, results):
        different = difference(model, defined[output.name], result)
        if different:
            return f"{output.name}: {different}"
        if output.name in others and not difference(model, others[output.name], result):
            return f"{output.name} is what the runtime computes"
    return None
