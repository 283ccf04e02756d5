"""`counts.txt`: what each check tries, as it was committed, so that a check that tries less is a difference.

A check is a line with its name, and below it a line for each count, or why the check is left out of a run without --all.
"""

import os
from pathlib import Path

from support.discovery import all_checks

FILE = Path(__file__).resolve().parents[1] / "counts.txt"
IS_BLESSED = os.environ.get("RECAST_BLESS") == "1"
BLESS = "RECAST_BLESS=1 rewrites counts.txt"


def read():
    """{check: its lines}."""
    counts, check = {}, None
    for line in FILE.read_text().splitlines() if FILE.exists() else ():
        if line.startswith("    "):
            counts[check].append(line.strip())
        elif line and not line.startswith("#"):
            check = line
            counts[check] = []
    return counts


def write(check, report):
    """Replaces the lines of a check, and leaves out checks that no longer exist."""
    header = [line for line in FILE.read_text().splitlines() if line.startswith("#")]
    counts = read() | {check: lines_of(report)}
    lines = [line for known in all_checks() if known in counts for line in (known, *(f"    {count}" for count in counts[known]))]
    FILE.write_text("\n".join([*header, "", *lines]) + "\n")


def differences(check, report):
    """How the counts of a report differ from those that were committed. With --all, none may be less."""
    stated = read().get(check)
    if stated is None:
        return [] if report.everything else [f"it has no counts; {BLESS}"]
    if not report.everything:
        found = lines_of(report)
        lost, new = [line for line in stated if line not in found], [line for line in found if line not in stated]
        return [f"counted {', '.join(new) or 'nothing'} in place of {', '.join(lost) or 'nothing'}; {BLESS}"] if lost or new else []
    least = {what: int(number) for number, _, what in (line.partition(" ") for line in stated) if number.isdigit()}
    found = report.counts | {"cases": report.cases}
    return [f"{found.get(what, 0)} {what}, fewer than the {number} of a sample" for what, number in least.items() if found.get(what, 0) < number]


def lines_of(report):
    """What the file says about a check."""
    return report.skipped or [f"{number} {what}" for what, number in {"cases": report.cases, **report.counts}.items()]
