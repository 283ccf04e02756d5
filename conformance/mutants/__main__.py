"""The steps of `run`."""

import argparse
import os
from pathlib import Path

from mutants import build, judge, outputs, table, tests

STEPS = {
    "build": (build.build, "compile the command with the mutants of the sample"),
    "prepare": (outputs.prepare, "write the models, and find the mutants that each command reaches on each model"),
    "outputs": (outputs.compare_all, "compare what mutants write with what the command writes"),
    "judge": (judge.judge_all, "show that outputs that differ are right, or list them"),
    "compile": (tests.compile_tests, "compile the tests with the mutants of the sample"),
    "reach": (tests.reach_all, "find the mutants that each test reaches"),
    "tests": (tests.try_all, "find a test that fails for each mutant"),
    "table": (table.print_tables, "print what was found"),
}


def main():
    steps = "\n".join(f"  {name:9}{text}" for name, (_, text) in STEPS.items())
    parser = argparse.ArgumentParser(
        prog="conformance/mutants/run",
        description="Tries mutants of recast.",
        epilog=f"steps, in order:\n{steps}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", nargs="?", choices=STEPS, metavar="STEP", help="all steps without one")
    parser.add_argument(
        "numbers", nargs="*", type=int, metavar="NUMBER", help="mutants of `outputs`, `judge` and `tests`, also if they are done"
    )
    arguments = parser.parse_args()
    folder = Path(os.environ["MUTANTS"])
    for name in [arguments.step] if arguments.step else STEPS:
        function, _ = STEPS[name]
        function(folder, *([arguments.numbers] if name in ("outputs", "judge", "tests") else []))


if __name__ == "__main__":
    main()
