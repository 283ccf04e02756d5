"""Nodes of every operator, schema and type load in a version of onnxruntime exactly if facts/kernels/onnxruntime.txt says so.

The rule by which a line of the table is found for a node, which facts/kernels/README.md explains, is in support/kernel_table.py. A sample
takes a part of the schemas. The table is allowed to be stricter for operators that load by their bodies: it lists types with which every
form of the operator loads, and some forms load with more. It is never less strict.
"""

import functools
from collections import Counter

from onnx import helper

from generators.typed_nodes import all_schemas, typed_nodes
from support.kernel_table import runs
from support.onnxruntimes import Runtime, limits
from support.processes import in_processes

VERSIONS = ("1.17", "1.20", "1.23", "1.27", "1.32")
SAMPLED_SCHEMAS = 19  # One of so many.
NO_KERNEL = ("Could not find an implementation", "Failed to find kernel", "Type Error", "is not currently registered")
# Why a node is refused that has a kernel: the form is not one of this schema, which onnx.checker does not see, or this machine lacks something.
OTHER_REASONS = ("ShapeInferenceError", "mode_str ==", 'mode "linear" not supported', 'mode "cubic" not supported', "Failed to construct locale")
# The shape of a value is folded if it is static, without a kernel.
FOLDED = ("Shape",)


def check(report):
    schemas = report.sample(sorted((schema.domain, schema.name, schema.since_version) for schema in all_schemas()), SAMPLED_SCHEMAS)
    schemas, counts = set(schemas), Counter()
    for outcomes in in_processes(functools.partial(compare_with_table, schemas=schemas), VERSIONS):
        for name, kind, problem in outcomes:
            counts[kind] += 1
            report.case(name, problem)
    report.note(f"{counts['loads']} nodes load, {counts['no kernel']} have no kernel, {counts['other']} are refused for other reasons")
    report.note(f"{counts['stricter']} load by their bodies in some forms only, and are not in the table")
    for kind in ("loads", "no kernel"):
        report.count(f"nodes: {kind}", counts[kind])


def compare_with_table(version, schemas):
    """[(node, what onnxruntime does, how that differs from the table)]."""
    outcomes = []
    with Runtime(version) as runtime:
        for node in typed_nodes(lambda schema: (schema.domain, schema.name, schema.since_version) in schemas and schema.name != "Constant"):
            if node.schema.domain != "" or node.schema.since_version <= limits(version)[0]:
                outcomes.append(compare_node(runtime, node))
    return outcomes


def compare_node(runtime, node):
    schema, proto = node.schema, node.model.graph.node[0]
    opset = next((entry.version for entry in node.model.opset_import if entry.domain == ""), 1)
    attributes = {each.name: helper.get_attribute_value(each) for each in proto.attribute}
    inputs = {schema.inputs[min(number, len(schema.inputs) - 1)].type_str for number, name in enumerate(proto.input) if name}
    expected = runs(runtime.version, opset, schema, node.types, attributes, inputs)
    node.model.ir_version = min(node.model.ir_version, limits(runtime.version)[1])
    message = runtime.why_not_loaded(node.model.SerializeToString())
    name = f"{schema.name}-{schema.since_version} {node.types} {sorted(attributes)} in onnxruntime {runtime.version}"
    if message is None and not expected and (schema.has_function or schema.has_context_dependent_function):
        return name, "stricter", None
    if message is None:
        return name, "loads", not expected and schema.name not in FOLDED and "loads, but has no kernel by the table"
    if expected and not any(reason in message for reason in OTHER_REASONS):
        return name, "no kernel", f"has a kernel by the table, but: {message}"
    return name, "other" if expected else "no kernel", None
