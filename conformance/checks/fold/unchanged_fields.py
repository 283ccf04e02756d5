"""A fold changes nothing but the casts that it folds, what led to them, their constants, their results, and who reads one of two
equal results.

From the model before, the folded casts are taken away, the nodes that computed nothing but their inputs, and the constants that went
with them; from the model after, the results.
What is left of both has to be the same message: names, order, types, doc strings, metadata, annotations, functions, at every level.
"""

import onnx

from checks.fold.constant_node_tests import OPERATORS
from support.corpus import changed, folded_corpus
from support.models import CASTS, subgraphs


def check(report):
    changed_models = changed(folded_corpus().folded)
    for before, after in changed_models.items():
        report.case(before.stem, problem(onnx.load(before), onnx.load(after)))
    report.count("changed models", len(changed_models))
    report.note(f"{len(changed_models)} models changed")


def problem(before, after):
    """What else than a fold tells the two models apart; None if nothing does. Takes both models apart."""
    suspects = []
    inputs_list_constants = before.ir_version < 4
    leading = remove_leading(before.graph, after.graph, suspects)
    shared = Shared(before.graph, after.graph, leading)
    reduce_graph(before.graph, after.graph, inputs_list_constants, suspects, shared)
    for left, right in zip(before.functions, after.functions):
        leading = remove_leading(left, right, suspects)
        reduce_graph(left, right, inputs_list_constants, suspects, Shared(left, right, leading))
    suspects += [f"{name} is new, and no cast's result" for name, cast in shared.new.items() if cast is None]
    if suspects:
        return "; ".join(suspects)
    if before != after:
        fields = [field.name for field, _ in before.ListFields() if getattr(before, field.name) != getattr(after, field.name)]
        return f"differs in {fields or 'a field that the model lacked'}"
    return None


def remove_leading(before, after, suspects):
    """Takes away the nodes of a graph, and of its subgraphs, that only computed the inputs of casts. Equal ones are taken for one, and
    an Identity for its input. Returns what they read."""
    defined = {name for graph in graphs(after) for node in graph.node for name in node.output}
    defined |= {name for graph in graphs(after) for name in initializer_names(graph)}
    gone = lambda node: node.op_type not in (*CASTS, "Constant") and not defined.intersection(node.output)
    removed = [node for graph in graphs(before) for node in graph.node if gone(node)]
    outputs = {name for node in removed for name in node.output}
    read, equal, renamed = set(), {}, {}
    for node in removed:
        if node.op_type not in OPERATORS and node.op_type != "Identity":
            suspects.append(f"{node.op_type} {list(node.output)} is gone")
        inputs = [renamed.get(name, name) for name in node.input]
        attributes = b"".join(sorted(attribute.SerializeToString() for attribute in node.attribute))
        for index, name in enumerate(node.output):
            renamed[name] = inputs[0] if node.op_type == "Identity" else equal.setdefault((node.op_type, *inputs, attributes, index), name)
        read.update(inputs)
    for graph in graphs(before):
        users = [node for node in graph.node if outputs.intersection(node.input) and node.op_type not in CASTS and not gone(node)]
        suspects += [f"{list(node.output)} reads what is gone" for node in users]
        remove(graph.node, gone)
        remove(graph.value_info, lambda value: value.name in outputs)
    rename_inputs(before, renamed)
    return read


class Shared:
    """Results that nodes of several graphs read in place of equal ones of their own: of a cast around them, or of a new name."""

    def __init__(self, before, after, leading):
        self.leading = leading
        self.casts = {node.output[0]: cast_of(node) for graph in graphs(before) for node in graph.node if node.op_type in CASTS}
        known = {name for graph in graphs(before) for node in graph.node for name in node.output}
        known |= {name for graph in graphs(before) for name in initializer_names(graph)}
        self.new = {name: None for graph in graphs(after) for name in initializer_names(graph) if name not in known}

    def rename_inputs(self, before, after):
        """Changes what the nodes before read to what those after read, where both are results of one cast."""
        for left, right in zip(before.node, after.node):
            for index, (old, new) in enumerate(zip(left.input, right.input)):
                cast = self.casts.get(old)
                if old == new or cast is None:
                    continue
                if new in self.new:
                    self.new[new] = self.new[new] or cast
                if cast == self.new.get(new, self.casts.get(new)):
                    left.input[index] = new


def reduce_graph(before, after, inputs_list_constants, suspects, shared):
    """Takes away what a fold may change in a graph or function body, and in their subgraphs."""
    kept_casts = {node.output[0] for node in after.node if node.op_type in CASTS}
    folded = [node for node in before.node if node.op_type in CASTS and node.output[0] not in kept_casts]
    results, sources = {node.output[0] for node in folded}, {node.input[0] for node in folded}
    defined_after = {node.output[0] for node in after.node if node.output} | initializer_names(after)
    gone = {name for name in constants(before) if name not in defined_after}
    # A constant may go with a cast in a subgraph that alone used it; but it must have been some cast's.
    suspects += [f"{before.name}: {name} is gone" for name in gone - sources - nested_sources(before) - shared.leading]
    for graph, names in ((before, gone), (after, results | shared.new.keys())):
        remove(graph.node, lambda node: node.op_type == "Constant" and node.output[0] in names)
        if hasattr(graph, "initializer"):
            remove(graph.initializer, lambda tensor: tensor.name in names)
            if inputs_list_constants:
                remove(graph.input, lambda value: value.name in names)
    remove(before.node, lambda node: node.op_type in CASTS and node.output[0] in results)
    rename_inputs(before, shared_results(folded, defined_after))
    shared.rename_inputs(before, after)
    for left, right in zip(inner_graphs(before), inner_graphs(after)):
        reduce_graph(left, right, inputs_list_constants, suspects, shared)


def cast_of(node):
    """What decides a cast's result."""
    return node.op_type, tuple(node.input), b"".join(sorted(attribute.SerializeToString() for attribute in node.attribute))


def graphs(graph):
    """A graph or function body and all graphs in it."""
    return [graph] + [inner for subgraph in inner_graphs(graph) for inner in graphs(subgraph)]


def shared_results(folded, defined_after):
    """{result that is gone: result of an equal cast}: equal casts of one constant share one result."""
    equal_casts = {}
    for node in folded:
        equal_casts.setdefault(cast_of(node), []).append(node.output[0])
    shared = {}
    for results in equal_casts.values():
        there = [result for result in results if result in defined_after]
        shared |= {result: there[0] for result in results if there and result not in defined_after}
    return shared


def rename_inputs(graph, new_names):
    """Changes which values the nodes read, in subgraphs too."""
    for node in graph.node:
        for index, name in enumerate(node.input):
            node.input[index] = new_names.get(name, name)
    for subgraph in inner_graphs(graph):
        rename_inputs(subgraph, new_names)


def constants(graph):
    return {node.output[0] for node in graph.node if node.op_type == "Constant"} | initializer_names(graph)


def initializer_names(graph):
    return {tensor.name for tensor in getattr(graph, "initializer", [])}


def inner_graphs(graph):
    return [subgraph for node in graph.node for subgraph in subgraphs(node)]


def nested_sources(graph):
    """What casts in subgraphs read, at any depth."""
    found = set()
    for subgraph in inner_graphs(graph):
        found |= {node.input[0] for node in subgraph.node if node.op_type in CASTS} | nested_sources(subgraph)
    return found


def remove(repeated, unwanted):
    """Deletes entries of a repeated field."""
    for index in reversed(range(len(repeated))):
        if unwanted(repeated[index]):
            del repeated[index]
