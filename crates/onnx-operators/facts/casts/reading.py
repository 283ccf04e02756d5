"""Reads facts/casts.txt, whose format text.py explains."""

import re

from casts.numbers import text_of
from casts.results import GARBAGE, LETTERS, OTHER_TYPE, REFUSED, TYPES, Cast, options, written
from casts.rules import result
from casts.text import KINDS


class Facts:
    """What the text says of one runtime."""

    def __init__(self):
        self.rules, self.constant_rules = {}, {}
        self.letters, self.results, self.constants, self.other_as_constant = {}, {}, {}, set()

    def results_of(self, cast, code):
        """The results for an input, and for a constant if it is known to be another: see `result`."""
        found = [self.result(cast, code, False)]
        return [*found, self.result(cast, code, True)] if cast in self.other_as_constant else found

    def result(self, cast, code, other):
        """The text of a result if it is another than the definition's; "" if it is that; None if the cast is refused."""
        if self.letters[cast] in (GARBAGE, REFUSED, OTHER_TYPE):
            return None
        rules, results = (self.constant_rules, self.constants) if other else (self.rules, self.results)
        if cast in rules:
            return text_of(result(rules[cast], code, cast.source, cast.target, *options(cast)), cast.target)
        return results.get((cast, written(code, cast.source)), "")


def parse(text):
    """{name of a runtime: Facts}."""
    found, sets = {}, {}
    for line in text.splitlines():
        words = line.split()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            facts = found[line[1:-1]] = Facts()
        elif words[0] == "sources" or words[1] == "=":
            sets[words[0]] = words[1 + (words[1] == "=") :]
        elif set(words[0]) <= set(LETTERS):
            targets = targets_of(line.partition(" ")[2])
            facts.letters |= {Cast(source, *target): letter for target in targets for source, letter in zip(TYPES, words[0], strict=True)}
        elif words[0] in (*KINDS, "rule", "constant"):
            read_line(line, facts, sets)
    return found


def read_line(line, facts, sets):
    constant = line.startswith("constant ")
    names, _, rest = line.removeprefix("constant ").partition(" ")[2].partition(" > ")
    targets, _, items = rest.partition(": ")
    sources = [source for name in names.split() for source in sets.get(name, [name])]
    into = facts.constants if constant else facts.results
    if constant:
        facts.other_as_constant |= {Cast(source, *target) for source in sources for target in targets_of(targets)}
    if "rule" in line.split(maxsplit=2)[:2]:
        rules = facts.constant_rules if constant else facts.rules
        rules |= {Cast(source, *target): items for source in sources for target in targets_of(targets)}
        return
    for item in filter(None, items.split("; ")):
        value, result = re.match(r'("(?:[^"\\]|\\.)*"|\S+) ("(?:[^"\\]|\\.)*"|\S+)', item).groups()
        into |= {(Cast(source, *target), value): result for source in sources for target in targets_of(targets)}


def targets_of(text):
    """[(target, attributes)] of `FLOAT8E8M0 nearest, INT8`."""
    return [(words[0], words[1] if len(words) > 1 else "") for words in map(str.split, text.split(", "))]
