"""The file of a runtime, from its results."""

import functools
import itertools
import re
import sys
from collections import Counter, defaultdict

from generators.typed_nodes import normal
from onnx import TensorProto, defs
from support.models import readable

from runs.branches import FUNCTION
from runs.features import features_of, type_name
from runs.lines import lines
from runs.runtimes import ALL
from runs.tests import WRITTEN, all_tests, node_tests, only_node

HEADER = """\
# What {name} {version} computes for the operators of ONNX, measured by facts/generate_runs.py; do not edit.
# {notes}
#
# Models of one node were run: the node tests of onnx {onnx}, those of the wheel of onnx 1.22.0, what `recast convert` makes of the first in the last
# opset of each older version of their operators, and those of {written}
# in facts/runs.
# Those of combinations.py have several nodes, of which the last one, or a reduction, counts. The values are inputs of the model, with few exceptions.
#   right    the outputs have the expected types, shapes and elements: floats within a share of the expected one, and another share of the
#            largest one ({tolerances}); results of quantization within 1; of random operators, types and shapes alone
#   special  right, except where an infinity or NaN is expected or cast. Lines count these nodes as right; they are listed at the end
#   wrong    other outputs, without an error
#   refused  the model does not load or run within {seconds} seconds
#
# Of {total:,} node tests of onnx {onnx}: {counts}. Of all {all:,}: {all_counts}.
#
# A line is OPERATOR VERSIONS OUTCOME COUNT CONDITION... : WORDS. The first line for a node of which all conditions hold decides. VERSIONS are
# those of the operator, COUNT is the number of tests. The name of a condition is a type variable; `input:` or `output:` and the name of
# one that the node has (*) or lacks (-); or an attribute, whose value or default is one of the values, any (*), none (-), or not this one (!);
# or `rank`, that of the first input; `value:` and the name of an input, the numbers of a constant (- if it is not one); `last_window`, where that of a
# pooling begins; `branches`, whether the results of the two have the same ranks (`alike`) or not (`apart`);
# `scaled_length`, whether lengths times scales are whole numbers; `captures`, whether a body reads outer values; `vectors`, how
# many inputs of MatMul have rank 1; `empty`, whether the first input has no elements; `indices`, whether those of GatherND and ScatterND are
# constants that count from the `front`, or that is `unknown`; `gates`, whether the activations
# of GRU, LSTM and RNN are those of the `default`, or `other` ones; `steps`, whether all strides are `one`, or some are `more`; `batches`, whether the second
# input of MatMul has batches, but `fewer` axes than the first one; `slope`, whether that of PRelu has an element for each of the
# `channels`, or other `elements`, with its last axis on that of the input; `reduced`, which axes a reduction names; `rows`, whether images have
# `one` row and several columns; `combination`, the operator that the node looks like with the nodes before it, though they compute something else,
# or `Elementwise` for a reduction of integers with such an operator behind it (facts/runs/features.py).
# Besides right, wrong and refused, an outcome is
#   partly    some values of the inputs give other outputs: WORDS
#   special   infinities and NaN give other outputs: WORDS
#   constant  right if all inputs after the first, and that of ConstantOfShape, are initializers; else refused or wrong, or right for some values
#   unknown   some are right and some are not, and no condition tells them apart
#
# [calls] is the outcome of a call of a function of the model. [elements] names the element types that nodes cannot have: `refused` in every test, as
# an input or output; `unknown`, of inputs that the interface of Python cannot give. Lines leave out the tests of such types. With a type that a version
# of an operator admits, but that no test of it has, it counts as refused if the next version always is, and else as unknown if that is not always right.
"""
OLDER_HEADER = """\
# What {name} {version} computes for the operators of ONNX, measured by facts/generate_runs.py; do not edit. {name}.txt explains the format. Its lines
# also hold for the operators that this file does not list.
#{notes}
# Of {all:,} models: {all_counts}.
"""


def files(all_results):
    """{name: text} of the files of a runtime, from the results of its versions, newest first."""
    (runtime, results), *older = all_results.items()
    # Right on one processor or in one run, and wrong on another.
    results = results | {name: {**results[name], "outcome": "wrong", "detail": detail} for name, detail in ALL[runtime.name].VARYING.items()}
    groups, special, left, _ = grouped(runtime, results)
    rows = rows_by_operator(groups)
    found = {f"{runtime.name}.txt": render(runtime, results, rows, special, left)}
    for each, results_of_older in older:
        found[f"{each.name}-{minor(each)}.txt"] = render_older(each, results_of_older, groups, rows)
    return found


def render(runtime, results, rows, special, left):
    from runs.running import SECONDS, TOLERANCES

    nodes = [results[test.name] for test in node_tests() if test.name in results]
    tolerances = ", ".join(f"{relative:g} and {absolute:g} for {name.upper()}" for name, (relative, absolute) in TOLERANCES.items())
    head = HEADER.format(
        name=runtime.name,
        version=runtime.version,
        notes=" ".join(runtime.notes),
        onnx=newest(),
        tolerances=tolerances,
        written=", ".join(f"{name}.py" for name in WRITTEN),
        seconds=SECONDS,
        total=len(nodes),
        counts=counted(nodes),
        all=len(results),
        all_counts=counted(results.values()),
    )
    tail = ["", "# Special:", *(f"#   {line}" for line in special), "", "# Wrong, and no line says so:", *(f"#   {line}" for line in left)]
    return "\n".join([head, *sections(runtime, results, itertools.chain(*rows.values())), *tail]) + "\n"


def render_older(runtime, results, groups_of_newest, rows_of_newest):
    """The file of an older version, with the operators whose rows are not those of the newest one."""
    groups = grouped(runtime, results)[0]
    for key, versions in groups_of_newest.items():
        # What only the newest version was asked for is unknown.
        unasked = set(versions) - set(groups.get(key, ()))
        if unasked:
            groups[key] = groups.get(key, {}) | dict.fromkeys(unasked, [("unknown", 0, {}, "")])
    same = lambda rows, others: list(map(without_count, rows)) == list(map(without_count, others))
    rows = [rows for key, rows in rows_by_operator(groups).items() if not same(rows, rows_of_newest.get(key, ()))]
    head = OLDER_HEADER.format(
        name=runtime.name,
        version=runtime.version,
        notes="".join(f"\n# {note}" for note in runtime.notes),
        all=len(results),
        all_counts=counted(results.values()),
    )
    return "\n".join([head, *sections(runtime, results, itertools.chain(*rows))]) + "\n"


def sections(runtime, results, rows):
    elements = [" ".join([outcome, *sorted(names)]) for outcome, names in elements_of(results).items()]
    return ["[versions]", f"{minor(runtime)} {runtime.version}", "", "[calls]", results[FUNCTION]["outcome"], "", "[elements]", *elements, "", "[runs]", *rows]


def elements_of(results):
    """{outcome: element types} of those that are refused in every test, and of those that no input can have in Python, if there are any."""
    of_inputs, of_all = defaultdict(set), defaultdict(set)
    for test in all_tests():
        inputs, outputs = elements_in(test)
        for name in inputs:
            of_inputs[name].add(results[test.name]["outcome"])
        for name in inputs | outputs:
            of_all[name].add(results[test.name]["outcome"])
    refused = {name for name, outcomes in of_all.items() if outcomes == {"refused"}}
    unknown = {name for name, outcomes in of_inputs.items() if "unknown" in outcomes and outcomes <= {"unknown", "refused"}}
    return {outcome: names for outcome, names in (("refused", refused), ("unknown", unknown)) if names}


@functools.cache
def elements_in(test):
    """The element types of the inputs and constants of a test, and of its outputs, as the tables write them."""
    model = readable(test.model)
    elements = lambda values: {found for value in values if (found := re.sub(r".*\(|\)", "", type_name(value.type))) != "other"}
    constants = {TensorProto.DataType.Name(tensor.data_type).lower() for tensor in model.graph.initializer}
    return elements(model.graph.input) | constants, elements(model.graph.output)


def minor(runtime):
    return ".".join(runtime.version.split(".")[:2])


def without_count(row):
    head, _, words = row.partition(" : ")
    parts = head.split(" ")
    return parts[:3], parts[4:], words


def rows_by_operator(groups):
    """{(domain, operator): rows}"""
    return {key: list(rows_of(*key, versions)) for key, versions in sorted(groups.items())}


def newest():
    import onnx

    return onnx.__version__


def counted(rows):
    counts = Counter(row["outcome"] for row in rows)
    return ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in ("right", "special", "wrong", "refused"))


def grouped(runtime, results):
    """{(domain, operator): {version: lines}}, special results, wrong ones that no line states, and {words: tests} of those that a line states."""
    nodes, special, left, of_types, stated = defaultdict(list), defaultdict(set), [], Counter(), defaultdict(list)
    elements = elements_of(results)
    for test in all_tests():
        row = results[test.name]
        inputs, outputs = elements_in(test)
        decides = (inputs | outputs) & elements.get("refused", set()) or inputs & elements.get("unknown", set())
        if row["since"] and row["outcome"] != "unknown" and not decides:
            model = readable(test.model)
            node = only_node(model)
            domain = "" if node.domain == "ai.onnx" else node.domain
            features, outcome = features_of(model, node, row["since"]), outcome_of(row, model, node)
            # An older version may refuse another of the nodes.
            if outcome == "refused" and features.get("combination", "-") != "-" and not is_newest(runtime):
                continue
            nodes[domain, node.op_type, row["since"]].append((test.name, features, outcome))
            if row["outcome"] == "special":
                special[qualified(domain, node.op_type)].add(row["detail"].split(": ", 1)[-1].split(", ")[0])
    add_untried_types(nodes)
    groups = defaultdict(dict)
    for (domain, op, since), each in nodes.items():
        groups[domain, op][since], unexplained, explained = lines_of(runtime, op, since, with_given(each))
        for words, names in explained.items():
            stated[words] += names
        for name in unexplained:
            if name.startswith("types_"):
                of_types[qualified(domain, op)] += 1
            elif "@" not in name:
                left.append(f"{name} ({op}-{since}): {results[name]['detail'][:90]}")
    if of_types:
        left.append(f"of types.py: {', '.join(f'{op} {count}' for op, count in sorted(of_types.items()))}")
    return groups, [f"{op}: {'; '.join(sorted(details)[:3])}" for op, details in sorted(special.items())], sorted(set(left)), stated


def add_untried_types(nodes):
    """Adds a node for each type that a version of an operator admits, with which it was not tried, and of which the next version is not always right: refused
    if that always is, else unknown."""
    by_operator = defaultdict(list)
    for domain, op, since in nodes:
        by_operator[domain, op].append(since)
    for (domain, op), versions in by_operator.items():
        newest, *older = sorted(versions, reverse=True)
        for newer, since in zip([newest, *older], older):
            known = outcomes_of_types(nodes[domain, op, since])
            admitted = {each.type_param_str: {normal(kind) for kind in each.allowed_type_strs} for each in defs.get_schema(op, since, domain).type_constraints}
            for (variable, kind), outcomes in outcomes_of_types(nodes[domain, op, newer]).items():
                if (variable, kind) in known or kind not in admitted.get(variable, ()) or outcomes <= {"right", "given", "special"}:
                    continue
                outcome = "refused" if outcomes == {"refused"} else "unknown"
                nodes[domain, op, since].append((f"types_untried_{since}", {variable: kind}, outcome))


def outcomes_of_types(nodes):
    """{(type variable, type): outcomes} of nodes of a version of an operator."""
    found = defaultdict(set)
    for _, features, outcome in nodes:
        for variable, kind in features.items():
            if variable[0].isupper():
                found[variable, kind].add(outcome)
    return found


def is_newest(runtime):
    return runtime == next(iter(ALL[runtime.name].VERSIONS))


def outcome_of(row, model, node):
    if row["outcome"] in ("wrong", "refused") and row.get("constant") == "right":
        return "constant"
    given = {tensor.name for tensor in model.graph.initializer}
    others = [name for name in node.input[1:] if name]
    return "given" if row["outcome"] == "right" and others and given.issuperset(others) else row["outcome"]


def with_given(nodes):
    """Nodes of a version of an operator. Those that are right with constants as the models give them, `given`, are right for constants if others are,
    and otherwise right."""
    given = "constant" if any(outcome == "constant" for _, _, outcome in nodes) else "right"
    return [(name, features, given if outcome == "given" else outcome) for name, features, outcome in nodes]


def lines_of(runtime, op, since, nodes):
    """The lines of a version of an operator: what is wrong and why, then the others; the tests that are wrong for unknown reasons, and {words: tests}
    of those that are wrong for known ones."""
    found, rest, explained = [], nodes, {}
    known = ALL[runtime.name]
    for outcome, entries in (("refused", known.REFUSED), ("unknown", known.UNKNOWN)):
        for ops, conditions in entries:
            conditions = conditions_of(conditions)
            covered = [node for node in rest if op in ops.split() and holds(conditions, node[1])]
            if is_shown(outcome, covered, f"{op}-{since} {conditions}", is_newest(runtime)):
                found.append((outcome, len(covered), conditions, "", False))
                rest = [node for node in rest if node not in covered]
    for outcome, entries in (("wrong", known.INSTEAD), ("partly", known.PARTLY), ("partly", known.ENDS), ("special", known.SPECIAL)):
        for ops, conditions, words in entries:
            if op not in ops.split():
                continue
            conditions = conditions_of(conditions)
            covered = [node for node in rest if holds(conditions, node[1])]
            if entries is known.ENDS:
                covered = [(name, features, "wrong" if found == "refused" else found) for name, features, found in covered]
            refused = [node for node in covered if node[2] == "refused"]
            if not is_shown(outcome, covered, f"{op}-{since} {words}", is_newest(runtime)):
                continue
            found.append((outcome, len(covered) - len(refused), conditions, words, bool(refused)))
            explained[words] = [name for name, _, each in covered if each in ("wrong", "special")]
            names = {name for name, _, _ in covered}
            rest = [node for node in rest if node[0] not in names or node in refused]
    unexplained = [name for name, _, outcome in rest if outcome == "wrong"]
    plain = {"wrong": "unknown", "special": "right"}
    rest = [(name, features, plain.get(outcome, outcome)) for name, features, outcome in rest]
    others = [(outcome, count, {name: "|".join(sorted(values)) for name, values in conditions.items()}, "") for outcome, count, conditions, _ in lines(rest)]
    # The first line decides: a wrong one that also covers refused nodes comes after theirs.
    after = next((index for index, line in enumerate(others) if line[0] not in ("unknown", "refused") or not line[2]), len(others))
    first, second = ([line[:4] for line in found if line[4] == has_refused] for has_refused in (False, True))
    return [*first, *others[:after], *second, *others[after:]], unexplained, explained


def is_shown(outcome, covered, what, warns):
    """Whether the tests that a line covers, refused ones apart, have its outcome: all are wrong, or some are if this depends on values. All of
    a refused line are refused, some of an unknown one."""
    if outcome == "refused":
        return bool(covered) and all(found == "refused" for _, _, found in covered)
    if outcome == "unknown":
        return any(found == "refused" for _, _, found in covered)
    present = {outcome for _, _, outcome in covered if outcome != "refused"}
    if outcome != "wrong":
        return bool(present & {"wrong", "special", "constant"})
    others = [(name, other) for name, _, other in covered if other not in ("wrong", "special", "refused")]
    for name, other in others:
        # An older version may be right in its own way.
        if warns:
            print(f"{name} is {other}, but {what}", file=sys.stderr)
    return bool(present) and not others


def conditions_of(text):
    return dict(condition.split("=", 1) for condition in text.split())


def holds(conditions, features):
    def one(name, values):
        value = features.get(name)
        if values.startswith("!"):
            return value not in (values[1:], None, "-")
        return value is not None and value in values.split("|")

    return all(one(name, values) for name, values in conditions.items())


def rows_of(domain, op, versions):
    """The rows of an operator; versions with the same lines share them."""
    shared = defaultdict(list)
    for since, each in sorted(versions.items()):
        shared[tuple((outcome, tuple(sorted(conditions.items(), key=rank)), words) for outcome, _, conditions, words in each)].append((since, each))
    for key, members in shared.items():
        numbers = ",".join(str(since) for since, _ in members)
        for index, (outcome, conditions, words) in enumerate(key):
            count = sum(each[index][1] for _, each in members)
            parts = [qualified(domain, op), numbers, outcome, str(count), *(f"{name}={values}" for name, values in conditions)]
            yield " ".join(parts) + (f" : {words}" if words else "")


def rank(condition):
    return not condition[0][0].isupper(), condition[0]


def qualified(domain, op):
    return f"{domain}:{op}" if domain else op
