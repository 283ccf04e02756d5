"""What became of the mutants, by area."""

import json
from collections import Counter, defaultdict

from mutants.build import area_of
from mutants.judge import LOOK
from mutants.outputs import is_compared


def print_tables(folder):
    mutants = json.loads((folder / "mutants.json").read_text())
    fit = [mutant for mutant in mutants if "why_not" not in mutant]
    print(f"{len(fit)} of {len(mutants)} mutants are chosen at run time; the others:")
    for reason, number in Counter(mutant["why_not"].partition(":")[0] for mutant in mutants if "why_not" in mutant).items():
        print(f"  {number}: {reason}")
    print("\nOutputs, without tests:")
    print_rows(fit, lambda mutant: outcome_of_outputs(mutant, read(folder / "results", mutant)))
    print("\nTests:")
    print_rows(fit, lambda mutant: outcome_of_tests(read(folder / "caught", mutant)))


def read(folder, mutant):
    path = folder / f"{mutant['number']}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def print_rows(mutants, outcome_of):
    """A row for each area, a column for each outcome, and the names of what is to be looked at."""
    rows, listed = defaultdict(Counter), defaultdict(list)
    for mutant in mutants:
        outcome = outcome_of(mutant)
        if outcome:
            rows[area_of(mutant)][outcome] += 1
            listed[outcome].append(mutant)
    outcomes = list(listed)
    print("| area | mutants |", " | ".join(outcomes), "|")
    print("|---|---:|", *("---:|" for _ in outcomes))
    for area, counts in [*rows.items(), ("all", sum(rows.values(), Counter()))]:
        print(f"| {area} | {counts.total()} |", " | ".join(str(counts[outcome]) for outcome in outcomes), "|")
    for outcome in ("to be looked at", "not caught"):
        for mutant in listed[outcome]:
            print(f"{outcome}: {mutant['number']} {mutant['name']}")


def outcome_of_outputs(mutant, result):
    if not is_compared(mutant):
        return None
    if result is None:
        return "not tried"
    counts = result["counts"]
    if not counts:
        return "not reached"
    if result["differing"]:
        return "to be looked at" if result.get("verdicts", {LOOK: 1}).get(LOOK) else "other outputs, which are right"
    return "refused or stopped" if counts.get("refused") or counts.get("killed") else "same outputs"


def outcome_of_tests(result):
    if result is None:
        return "not tried"
    return "caught" if result["caught"] else "not caught"
