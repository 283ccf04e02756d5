"""Nodes of every operator, schema and type load in a version of onnxruntime exactly if facts/kernels/onnxruntime.txt says so.

The rule by which a line of the table is found for a node, which facts/kernels/README.md explains, is in support/kernel_table.py. A sample
takes a part of the schemas.

And `recast lint --target` reports a node that loads and fails, of those that the table was made from, in every type; and none that runs.
"""

import functools
import json
import sys
from collections import Counter

from onnx import defs, helper, save

from generators.typed_nodes import all_schemas, typed_nodes
from support.common import FACTS, recast, scratch_folder
from support.kernel_table import loads
from support.onnxruntimes import Runtime, limits
from support.processes import in_processes

sys.path.append(str(FACTS))
from kernel_limits import FAILURES, KIND, model_of, outcome_of  # noqa: E402

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
    for kind in ("loads", "no kernel"):
        report.count(f"nodes: {kind}", counts[kind])
    for outcomes in in_processes(compare_with_lint, VERSIONS):
        for name, outcome, problem in outcomes:
            counts[outcome] += 1
            report.case(name, problem)
    report.count("nodes that load and fail", counts["fails"])


def compare_with_lint(version):
    """[(node, whether it runs, how lint differs)] of the nodes of the table's failures, in all types."""
    outcomes = []
    with Runtime(version) as runtime, scratch_folder() as folder:
        nodes = {f"{number}.onnx": node for number, node in enumerate(failing_nodes(limits(version)[0]))}
        for name, (_, model) in nodes.items():
            save(model, folder / name)
        command = ["lint", folder, "--isolated", "--exit-zero", "--select", "RC502", "--target", f"onnxruntime@{version}", "--format", "json"]
        reported = {finding["path"].rpartition("/")[2] for finding in json.loads(recast(*command).stdout)["findings"]}
        for name, (what, model) in nodes.items():
            outcome = outcome_of(runtime, model)
            differs = (outcome == "runs") == (name in reported)
            outcomes.append((f"{what} in onnxruntime {version}", outcome, differs and f"{outcome}; reported by lint: {name in reported}"))
    return outcomes


def failing_nodes(newest_opset):
    """(name, model) of a node in each type."""
    for operator, sinces, conditions, variable, text in FAILURES:
        for since in (since for since in sinces if since <= newest_opset):
            constraints = defs.get_schema(operator, since, "").type_constraints
            kinds = next(each.allowed_type_strs for each in constraints if each.type_param_str == variable)
            for kind in sorted(kind.removeprefix("tensor(").removesuffix(")") for kind in kinds):
                yield f"{operator}-{since} {conditions} {variable}={kind}", model_of(since, text.replace(KIND, kind))


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
    inputs, outputs = present(schema.inputs, proto.input), present(schema.outputs, proto.output)
    expected = loads(runtime.version, opset, schema, node.types, attributes, inputs, outputs)
    node.model.ir_version = min(node.model.ir_version, limits(runtime.version)[1])
    message = runtime.why_not_loaded(node.model.SerializeToString())
    name = f"{schema.name}-{schema.since_version} {node.types} {sorted(attributes)} in onnxruntime {runtime.version}"
    if message is None:
        return name, "loads", not expected and schema.name not in FOLDED and "loads, but has no kernel by the table"
    if expected and not any(reason in message for reason in OTHER_REASONS):
        return name, "no kernel", f"has a kernel by the table, but: {message}"
    return name, "other" if expected else "no kernel", None


def present(formals, names):
    """The formal inputs or outputs that a node has."""
    return [formals[min(number, len(formals) - 1)] for number, name in enumerate(names) if name]
