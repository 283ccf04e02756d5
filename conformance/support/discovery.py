"""The checks, by the folders that they are in.

Each folder of `checks/` is an area, and each of its modules a check: its name says what it verifies, its docstring how, and its
`check(report)` verifies it. A module may also state:

ONLY_WITH_ALL   why it runs only with --all
ONLY_IF_NAMED   why it runs only if it is named, or with --all
"""

import difflib
import importlib
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "checks"


def areas():
    """{area: the names of its checks}."""
    folders = sorted(file.parent for file in FOLDER.glob("*/__init__.py"))
    return {folder.name: sorted(file.stem for file in folder.glob("*.py") if file.stem != "__init__") for folder in folders}


def all_checks():
    """Every check as area/name."""
    return [f"{area}/{name}" for area, names in areas().items() for name in names]


def chosen(words):
    """The checks that are named by name, by area/name, or by area. A ValueError for a word that names none."""
    checks, names = all_checks(), []
    for word in words:
        found = [check for check in checks if word in (check, *check.split("/"))]
        if not found:
            known = {part for check in checks for part in ([check] if "/" in word else check.split("/"))}
            close = difflib.get_close_matches(word, sorted(known))
            hint = f"; did you mean {' or '.join(close)}?" if close else "; --list lists all"
            raise ValueError(f"no such check: {word}{hint}")
        names += [check for check in found if check not in names]
    return names


def module_of(check):
    return importlib.import_module(f"checks.{check.replace('/', '.')}")
