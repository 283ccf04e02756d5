"""docs/runtimes-RUNTIME.md, from facts/runs/RUNTIME.txt."""

import re
from collections import defaultdict
from typing import NamedTuple

from casts.page import NAMES, table

INTRODUCTION = """\
# What {name} computes

{name} {version} was run on {models} models of one node, or of a few that look like one operator:
onnx's node tests, the same in older versions of their operators and with other element types, and values at boundaries.
{counts}
{use}

Operators without a row were [right](#right) in every test. Floats may differ from the expected ones by a share of 0.001, FLOAT16 by 0.01 and BFLOAT16
by 0.02; quantized numbers by 1. `crates/onnx-operators/facts/runs/{runtime}.txt` states more about the measurement, which row decides if several
apply to a node, and the results that no condition explains; `crates/onnx-operators/facts/reproductions/{runtime}/` has a small model of each wrong
result, with the numbers.{notes}
"""

# What the facts are for, if the library reads them.
USE = """\
`recast` knows these results: `--target {runtime}@{minor}` of [convert](convert.md#runtimes), [precision](precision.md) and [lint](lint.md) uses
them, and `recast inspect` names nodes for which the runtime computes something else."""
NO_USE = "`recast` does not know these results yet: {name} is no `--target`."

# Outcomes of lines: the title of their section, and what it says.
SECTIONS = {
    "wrong": ("Wrong", "The runtime loads these nodes, and computes something else without an error."),
    "partly": ("Wrong for some values", "The results are right for other values of the inputs."),
    "special": ("Wrong for infinities and NaN", "The results are right for all other numbers."),
    "unknown": (
        "Undecided",
        "Some tests are right and some are not, and no condition tells them apart; or no test of these versions has these types, with which the next\n"
        "version is not always right. `recast convert` notes such nodes.",
    ),
    "constant": ("Right for constants", "Right if all inputs after the first are constants; otherwise refused, or wrong."),
    "refused": ("Refused", "The runtime reports an error for these nodes."),
}
ATTRIBUTES = {
    "captures": {"*": "a body reads values of outer graphs", "-": "no body reads values of outer graphs"},
    "last_window": {"padding|unknown": "the last window begins in the padding, or may begin there"},
    "reduced": {
        "all": "it names all axes",
        "apart": "it names three or more axes, of which those before the last two have more than two elements together",
        "apart|few|last|unknown": "it does not name all axes",
        "last": "it names three or more axes, the last ones or beside lengths of 1, of which those before the last two have more than two elements together",
        "unknown": "it names three or more axes of unknown lengths",
    },
    "branches": {"apart": "results of the two branches have different ranks"},
    "batches": {"fewer": "the second input has batches, and fewer axes than the first one"},
    "gates": {"other": "`activations` are not those of the default"},
    "indices": {"unknown": "`indices` are computed, or some are negative"},
    "rows": {"one": "images have one row, and several columns"},
    "slope": {"elements": "`slope`, with its last axis on that of the input, has elements along other axes than the channels"},
    "steps": {"more": "a stride is not 1"},
    "scaled_length": {"fraction": "a length times its scale is a fraction", "whole": "lengths times scales are whole numbers"},
}


class Line(NamedTuple):
    operator: str
    versions: str
    outcome: str
    tests: int
    conditions: list
    instead: str


# Of an older version.
OLDER = """\
## {name} {version}

{version} was run on the same models. {counts}{notes}
The tables below list the operators for which {version} differs. For all others, the tables above apply.
"""


def render(name, text, older, is_target):
    """The page of a runtime, of its file, those of older versions, and of whether facts/targets.txt has the runtime."""
    lines = lines_in(text)
    minor, version = re.search(r"\[versions\]\n(\S+) (\S+)", text).groups()
    all_counts = re.search(r"Of all ([\d,]+): (.*)\.", text)
    notes = text.split("\n# \n")[0].split("\n#\n")[0].splitlines()[1:]
    use = (USE if is_target else NO_USE).format(name=NAMES[name], runtime=name, minor=minor)
    head = INTRODUCTION.format(
        use=use,
        name=NAMES[name],
        runtime=name,
        version=version,
        models=all_counts[1],
        counts=counted(all_counts[2]),
        notes="".join(f"\n\n{note.removeprefix('# ')}" for note in notes if note.strip("# ")),
    )
    return "\n".join([head, *sections(lines, text, "##"), *(older_version(name, each) for each in older)])


def older_version(name, text):
    version = re.search(r"\[versions\]\n\S+ (\S+)", text)[1]
    notes, counts = re.search(r"\n#\n((?:# .*\n)*)# Of [\d,]+ models: (.*)\.", text).groups()
    head = OLDER.format(name=NAMES[name], version=version, counts=counted(counts), notes=notes.rstrip().replace("# ", "\n"))
    return "\n".join([head, *sections(lines_in(text), text, "###")])


def sections(lines, text, mark):
    """A section for each outcome that lines have, and one for operators that are right; `mark` begins their titles."""
    return [*(section(lines, outcome, mark) for outcome in SECTIONS if any(line.outcome == outcome for line in lines)), right(lines, text, mark)]


def counted(text):
    counts = dict(reversed(part.split(" ", 1)) for part in text.split(", "))
    return f"{counts['right']} are right, {counts['special']} are right but for infinities and NaN, {counts['wrong']} are wrong, {counts['refused']} refused."


def lines_in(text):
    """The lines of the file of a runtime."""
    return [line_of(line) for line in text.split("[runs]\n")[1].splitlines() if line and not line.startswith("#")]


def line_of(text):
    line, _, instead = text.partition(" : ")
    operator, versions, outcome, tests, *conditions = line.split(" ")
    return Line(operator, versions, outcome, int(tests), conditions, instead)


def section(lines, outcome, mark):
    title, words = SECTIONS[outcome]
    chosen = merged(line for line in lines if line.outcome == outcome)
    states = any(line.instead for line in chosen)
    head = ("operator", "versions", "if", *(["instead"] if states else []), "tests")
    rows = [(", ".join(f"`{operator}`" for operator in line.operator.split()), ranges(line.versions), condition_text(line), *([line.instead] if states else []), str(line.tests)) for line in chosen]
    return f"{mark} {title}\n\n{words}\n\n{table([head, *rows])}\n"


def merged(lines):
    """Lines of an operator that differ in the versions alone are one, and then those that differ in the operator alone."""
    by_operator = joined(lines, "versions", ",")
    return joined(by_operator, "operator", " ")


def joined(lines, name, separator):
    """Lines that differ in one field alone, apart from the number of tests, are one."""
    found = {}
    for line in lines:
        key = str(line._replace(**{name: "", "tests": 0}))
        known = found.get(key)
        found[key] = known._replace(**{name: getattr(known, name) + separator + getattr(line, name), "tests": known.tests + line.tests}) if known else line
    return found.values()


def right(lines, text, mark):
    operators = defaultdict(list)
    for line in lines:
        operators[line.operator].append(line)
    always = [f"`{operator}`" for operator, each in operators.items() if all(line.outcome == "right" for line in each)]
    calls = re.search(r"\[calls\]\n(\S+)", text)[1]
    ending = "\n\n".join([f"Calls of functions of a model are {calls}.", *elements(text)])
    return f"{mark} Right\n\nThese operators were right in every test, in all versions that were tried: {', '.join(always)}.\n\n{ending}\n"


def elements(text):
    """Sentences about the element types that the runtime lacks."""
    for line in text.split("[elements]\n")[1].split("\n\n")[0].splitlines():
        outcome, *names = line.split(" ")
        listed = ", ".join(map(str.upper, names))
        if outcome == "refused":
            yield f"Inputs and outputs of {listed} are refused in every test. The tables leave them out."
        else:
            yield f"Inputs of {listed} cannot be given to its interface in Python: what becomes of them is not known."


def ranges(versions):
    return ", ".join(sorted(versions.split(","), key=int))


def condition_text(line):
    return ", ".join(words_of(*condition.split("=", 1)) for condition in line.conditions) or "always"


def words_of(name, values):
    if name in ATTRIBUTES and values in ATTRIBUTES[name]:
        return ATTRIBUTES[name][values]
    kind, _, formal = name.rpartition(":")
    if kind in ("input", "output"):
        return f"with {kind} `{formal}`" if values == "*" else f"without {kind} `{formal}`"
    if kind == "value":
        return {"-": f"`{formal}` is no constant", "*": f"`{formal}` is a constant"}.get(values, f"`{formal}` is {alternatives(values)}")
    if name == "combination" and values == "Elementwise":
        return "an elementwise operator follows"
    if name == "combination":
        return "with no such nodes before it" if values == "-" else f"with the nodes before it, it looks like {alternatives(values)}"
    if name == "rank":
        return f"the rank of the first input is {alternatives(values)}"
    if name == "empty":
        return "the first input has no elements" if values == "*" else "the first input has elements"
    if name == "vectors":
        return f"{alternatives(values)} inputs have rank 1"
    if values in ("*", "-"):
        return f"with `{name}`" if values == "*" else f"without `{name}`"
    return f"`{name}` is {alternatives(values)}"


def alternatives(values):
    if values.startswith("!"):
        return f"not {values[1:]}"
    *others, last = values.split("|")
    return f"{', '.join(others)} or {last}" if others else last
