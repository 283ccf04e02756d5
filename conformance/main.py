"""Runs the conformance checks: one line for each, then what differed. `conformance/run` is the way to start it."""

import argparse
import ast
import sys
import time
import traceback

from support import counts, discovery
from support.common import Report


def main():
    arguments = parse_arguments()
    if arguments.list:
        list_checks()
        return
    failed = {}
    for check in arguments.checks or discovery.all_checks():
        report = run(check, arguments)
        if report.failed:
            failed[check] = report
        elif counts.IS_BLESSED and report.is_counted and not arguments.all:
            counts.write(check, report)
    unknown = [] if counts.IS_BLESSED else sorted(set(counts.read()) - set(discovery.all_checks()))
    if unknown:
        print(f"FAILED: counts.txt has checks that do not exist: {', '.join(unknown)}; {counts.BLESS}")
    # Once more at the end, where a long log is read first.
    for check, report in failed.items():
        print(f"FAILED: {check}  {report.summary()}", *report.failures[:3], sep="\n    ")
    count = len(failed) + bool(unknown)
    print(f"conformance: {count} checks FAILED" if count else "conformance: all checks pass")
    sys.exit(1 if count else 0)


def run(check, arguments):
    """Runs a check, and prints its line, its details and its failures."""
    report, start = Report(everything=arguments.all, seed=arguments.seed), time.monotonic()
    try:
        module = discovery.module_of(check)
        reason = why_skipped(module, check, arguments)
        if reason:
            report.skip(reason)
        else:
            report.is_counted &= arguments.all or not hasattr(module, "ONLY_IF_NAMED")
            module.check(report)
    except Exception:
        report.case("the check itself", traceback.format_exc())
    if report.is_counted and not report.failed and not counts.IS_BLESSED:
        report.failures += counts.differences(check, report)
    print(f"{check:40}  {report.summary()}  ({time.monotonic() - start:.1f} s)", flush=True)
    for detail in report.details:
        print(f"    {detail}", flush=True)
    for failure in report.failures[: None if arguments.verbose else 20]:
        print(f"    {failure}", flush=True)
    return report


def why_skipped(module, check, arguments):
    """Why a check is left out of this run; none if it runs."""
    if arguments.all:
        return None
    if hasattr(module, "ONLY_WITH_ALL"):
        return f"only with --all: {module.ONLY_WITH_ALL}"
    if hasattr(module, "ONLY_IF_NAMED") and check.split("/")[1] not in arguments.words and check not in arguments.words:
        return f"only if it is named: {module.ONLY_IF_NAMED}"
    return None


def list_checks():
    """Every area and check, with the first sentence of its docstring."""
    for area, names in discovery.areas().items():
        print(f"{area}: {first_sentence(area, '__init__')}")
        for name in names:
            print(f"    {name:34} {first_sentence(area, name)}")


def first_sentence(area, name):
    text = ast.get_docstring(ast.parse((discovery.FOLDER / area / f"{name}.py").read_text()))
    return text.split("\n\n")[0].replace("\n", " ")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="conformance/run", description="Compares recast with onnx and onnxruntime.")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--sample", action="store_true", help="a part of the slow checks, the default")
    extent.add_argument("--all", action="store_true", help="everything, files beyond 2 GiB too")
    parser.add_argument("--list", action="store_true", help="list the checks and what they verify")
    parser.add_argument("--verbose", action="store_true", help="print every failure, not the first twenty of a check")
    parser.add_argument("--seed", type=int, metavar="N", help="run one random case of the check `large_tensors`")
    parser.add_argument("words", nargs="*", metavar="CHECK", help="checks to run, by name or by area; all by default")
    arguments = parser.parse_args()
    try:
        arguments.checks = discovery.chosen(arguments.words)
    except ValueError as error:
        parser.error(str(error))
    if arguments.seed is not None and arguments.checks != ["random/large_tensors"]:
        parser.error("--seed is an option of the check large_tensors")
    return arguments


if __name__ == "__main__":
    main()
