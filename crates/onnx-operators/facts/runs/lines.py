"""Lines of the facts from results: for each version of an operator, the conditions that tell right, wrong and refused nodes apart.

Conditions are found by a greedy cover: of all conjunctions of up to three features that hold for nodes of one outcome only, the one that holds
for most of them, and of these the shortest. Types are preferred to attributes.
"""

import itertools
from collections import Counter, defaultdict

MOST_CONDITIONS = 3
# Of conditions that are written by hand alone.
BY_HAND = ("batches", "branches", "gates", "indices", "rank", "reduced", "rows", "steps")


def lines(nodes):
    """[(outcome, count, conditions, tests)] of one version of an operator, from [(test, features, outcome)]; the first line of which all
    conditions hold decides. `unknown` is the outcome of nodes that have the features of others, and another outcome."""
    if not nodes:
        return []
    outcomes = Counter(outcome for _, _, outcome in nodes)
    default = max(outcomes, key=lambda outcome: (outcome == "right", outcomes[outcome]))
    found, left = [], nodes
    for outcome in sorted(set(outcomes) - {default}, key=["unknown", "wrong", "refused", "constant", "right"].index):
        for conditions in cover(outcome, left):
            covered = [node for node in left if holds(conditions, node[1])]
            found.append((common(covered), len(covered), conditions, [node[0] for node in covered]))
            left = [node for node in left if node not in covered]
    found = merged(found)
    if not left:
        return found
    last, tests = common(left), [node[0] for node in left]
    # What the last line says, those directly before it need not say.
    while found and found[-1][0] == last:
        tests += found.pop()[3]
    return [*found, (last, len(tests), {}, tests)]


def common(nodes):
    """The outcome of nodes that no condition tells apart. All inputs of those that are right may be constants."""
    outcomes = {outcome for _, _, outcome in nodes}
    if len(outcomes) == 1:
        return outcomes.pop()
    return "constant" if outcomes == {"right", "constant"} else "unknown"


def holds(conditions, features):
    return all(features.get(name) in values for name, values in conditions.items())


def cover(outcome, nodes):
    """Conditions that hold for all nodes with an outcome, and for no others, if there are such conditions; else all features of a node."""
    wanted = [features for _, features, other in nodes if other == outcome]
    others = [features for _, features, other in nodes if other != outcome]
    while wanted:
        if not others:
            yield {}
            return
        best = max(candidates(wanted, others), key=lambda each: score(each, wanted), default=None)
        best = best or {name: {value} for name, value in wanted[0].items() if name not in BY_HAND and any(other.get(name) != value for other in others)}
        yield best
        before = len(wanted)
        wanted = [features for features in wanted if not holds(best, features)]
        if len(wanted) == before:
            return


def candidates(wanted, others):
    varying = {name for features in [*wanted, *others] for name in features if name not in BY_HAND and len({each.get(name) for each in [*wanted, *others]}) > 1}
    tried = set()
    for length in range(1, MOST_CONDITIONS + 1):
        for features in wanted:
            pairs = sorted((name, value) for name, value in features.items() if name in varying)
            for chosen in itertools.combinations(pairs, length):
                if chosen in tried:
                    continue
                tried.add(chosen)
                conditions = {name: {value} for name, value in chosen}
                if not any(holds(conditions, other) for other in others):
                    yield conditions
        if length > 1 and len(tried) > 20_000:
            return


def score(conditions, wanted):
    kinds = sum(not name[0].isupper() for name in conditions)
    return sum(holds(conditions, features) for features in wanted), -len(conditions), -kinds, sorted(map(str, conditions))


def merged(found):
    """Lines that differ in one value are one line."""
    groups = defaultdict(list)
    result = []
    for outcome, count, conditions, tests in found:
        for index, (other, others, known, names) in enumerate(result):
            different = [name for name in conditions if known.get(name) != conditions[name]]
            if other == outcome and set(known) == set(conditions) and len(different) == 1:
                name = different[0]
                result[index] = (outcome, others + count, {**known, name: known[name] | conditions[name]}, names + tests)
                break
        else:
            result.append((outcome, count, conditions, tests))
    del groups
    return result
