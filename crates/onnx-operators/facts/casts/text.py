"""The text of facts/casts.txt, from outcomes."""

import re
from collections import defaultdict

from support.cast_rules import FLOAT8, INTEGERS

from casts.results import NONE, OTHER_TYPE, REFUSED, TYPES, casts

HEADER = """\
# What runtimes compute for Cast, measured by facts/generate_casts.py; do not edit.
#
# One model per pair of types casts edge values on a CPU (x86-64 with AVX-512): NaN, infinities, -0, subnormal numbers, ties, numbers next to
# ties, ends of ranges and beyond, fractions, negative numbers. They are compared with what docs/cast.md says, at opset 24 or the first that
# admits both types (onnxruntime 1.17: 20). A NaN equals every NaN.
#
# The lines of a runtime that begin with letters have one for each source, in the order of the line `sources`, and then the targets:
#   =  all results are as defined               ?  others only where ONNX leaves the result undefined or contested
#   x  a defined result is another              !  even 1 becomes another number; its results are not listed
#   t  the result has another type              -  refused: the model does not load or run
# `saturate=0` and `nearest` (saturate=0, round_mode=nearest) are attributes; without them, both have their defaults.
# Lines `constants` list the sources, or pairs, whose values the runtime takes as initializers only; else they are an input.
# Then come the results that differ, by target: `sources > target: value result`. Lines that begin with `constant` are for values of an
# initializer, if the rule or a defined result is another than for an input (`none`: all of these are as defined).
#   wrong      a defined result is another; the defined one follows
#   contested  ONNX's text and its node tests disagree; all results are listed
#   rule       all results are those of the rule of facts/casts/rules.py with this name: to integers, a rounding, a type on the way, and what
#              becomes of what does not fit; else a type on the way
#   undefined  ONNX leaves the result undefined; results that equal those of `recast cast --undefined fold` are left out
#
# Of iree, tvm and mnn, the lines wrong, contested and undefined have the values of docs/runtimes-casts.md alone.
#
# Also tried, and not measured:
#   ncnn 1.0.20261020       refuses: pnnx 20261020 writes Cast as the layer Tensor.to, which ncnn does not have
#   onnx2tf 1.29.24         converts in 10 seconds per model, to LiteRT 2.1.0, but not float8 (KeyError). FLOAT to INT8: 300 becomes 127, by
#                           vector instructions; elements beyond the last full vector get the low bits
"""
KINDS = ("wrong", "contested", "undefined")
# How a line with values begins.
LISTS = (*KINDS, *(f"constant {kind}" for kind in KINDS))
# Names of several types, the longer ones first.
SETS = {
    "integers": tuple(INTEGERS),
    "integers16": ("INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"),
    "integers32": ("INT32", "UINT32", "INT64", "UINT64"),
    "floats": ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16"),
    "float8": tuple(FLOAT8),
    "float6": ("FLOAT6E2M3", "FLOAT6E3M2"),
}


def joined(sections):
    """The whole text, of {key of a runtime: its section}."""
    sets = (f"{name} = {' '.join(members)}" for name, members in SETS.items())
    return "\n".join([HEADER, "sources " + " ".join(TYPES), *sets, *sections.values()]) + "\n"


def sections_of(text):
    """{key of a runtime, `name-version`: its section} of the whole text."""
    parts = re.split(r"\n(?=\n\[)", text.removesuffix("\n"))[1:]
    return {part[2 : part.index("]")].replace(" ", "-"): part for part in parts}


def section(name, notes, outcomes):
    """The section of a runtime: {cast: outcome} after its notes."""
    lines = ["", f"[{name}]", *(f"# {note}" for note in notes)]
    lines += letters(outcomes)
    lines += (f"constants {pairs}" for pairs in only_constants(outcomes))
    lines += following_rules("", {cast: outcome.rule for cast, outcome in outcomes.items()})
    lines += differing("", {cast: outcome.differences for cast, outcome in outcomes.items() if not outcome.rule})
    lines += following_rules("constant ", {cast: outcome.constant_rule for cast, outcome in outcomes.items()})
    lines += differing("constant ", {cast: outcome.in_constant for cast, outcome in outcomes.items() if not outcome.constant_rule})
    return "\n".join(lines)


def brief(section, rows):
    """A section without the results of values that are not in rows; rules and letters stay."""
    lines = (line if not line.startswith(LISTS) else with_values(line, rows) for line in section.split("\n"))
    return "\n".join(line for line in lines if line is not None)


def with_values(line, rows):
    start, _, rest = line.partition(" > ")
    targets, _, items = rest.partition(": ")
    sources = {source for word in start.split() for source in SETS.get(word, [word])}
    values = {row.value for row in rows if row.source in sources and target_of(row) in targets.split(", ")}
    kept = [item for item in items.split("; ") if item.split(" ")[0].strip('"') in values]
    return f"{start} > {targets}: {'; '.join(kept)}" if kept else None


def letters(outcomes):
    """The lines with a letter for each source; targets with the same letters share one."""
    rows = defaultdict(str)
    for cast in casts():
        rows[target_of(cast)] += outcomes[cast].letter
    targets = defaultdict(list)
    for target, found in rows.items():
        targets[found].append(target)
    return [f"{found} {', '.join(those)}" for found, those in targets.items()]


def target_of(cast):
    return f"{cast.target} {cast.attributes}".rstrip()


def only_constants(outcomes):
    """Sources that are taken as constants only, with all targets; and pairs."""
    done = {cast: outcome.only_constant for cast, outcome in outcomes.items() if outcome.letter not in (REFUSED, OTHER_TYPE)}
    others = {cast.source for cast, only in done.items() if not only}
    if sources := {cast.source: None for cast in done if cast.source not in others}:
        yield shortened(sorted(sources, key=TYPES.index))
    targets = defaultdict(list)
    for cast, only in done.items():
        if only and cast.source in others:
            targets[cast.source].append(target_of(cast))
    sources = defaultdict(list)
    for source, those in targets.items():
        sources[", ".join(those)].append(source)
    yield from (f"{shortened(those)} > {joined_targets}" for joined_targets, those in sources.items())


def following_rules(prefix, rules):
    """The lines for {cast: rule or None}."""
    sources, targets = defaultdict(list), defaultdict(list)
    for cast, rule in rules.items():
        if rule:
            sources[rule, target_of(cast)].append(cast.source)
    for (rule, target), names in sources.items():
        targets[rule, shortened(names)].append(target)
    for (rule, names), those in targets.items():
        yield f"{prefix}rule {names} > {', '.join(those)}: {rule}"


def differing(prefix, differences):
    """The lines for {cast: differences}: values are grouped by the sources that share them, then targets by values and sources."""
    for kind in (*KINDS, NONE.kind):
        sources = defaultdict(list)
        for cast, found in differences.items():
            for item in found:
                if item.kind == kind:
                    sources[target_of(cast), written(item)].append(cast.source)
        items = defaultdict(list)
        for (target, item), names in sources.items():
            items[target, shortened(names)].append(item)
        targets = defaultdict(list)
        for (target, names), found in items.items():
            targets[names, "; ".join(found)].append(target)
        for (names, found), those in targets.items():
            yield f"{prefix}{kind} {names} > {', '.join(those)}: {found}".removesuffix(": ")


def shortened(names):
    """Types as text, with the names of SETS for those of which it has all."""
    names = list(names)
    for name, members in SETS.items():
        if set(members) <= set(names):
            names = [each for each in names if each not in members] + [name]
    return " ".join(names)


def written(difference):
    if difference == NONE:
        return ""
    wanted = f" not {difference.expected}" if difference.kind == "wrong" else ""
    return f"{difference.value} {difference.result}{wanted}"
