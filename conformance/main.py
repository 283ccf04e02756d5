"""Runs the conformance checks: one line for each, then what differed. `conformance/run` is the way to start it."""

import argparse
import importlib
import sys
import time
import traceback

from support.common import Report

# Each name is a module of the folder that is named above it; its docstring says what it verifies, its `check(report)` verifies it.
AREAS = {
    "checks": [
        "schema",
        "facts",
        "models",
        "roundtrip",
        "fold_cast",
        "constants",
        "odd_nodes",
        "cast_file",
        "proof",
        "fold_equal",
        "fold_exact",
        "metamorphic",
        "bystanders",
        "header",
        "pairs",
        "strings",
        "field",
        "external",
        "inference",
        "own_operators",
        "targets",
        "kernel_table",
        "kernels",
        "kernel_passes",
        "convert",
        "verified",
        "precision",
        "emulation",
        "rounding",
        "narrow_numbers",
        "shipped_numbers",
        "tuned_numbers",
        "chains",
        "random_models",
        "again",
        "accepted",
        "sizes",
        "refusals",
        "rewrites",
        "onnx_tests",
        "lint",
        "lint_reports",
        "ci_files",
        "documents",
    ],
    "exporters": [
        "exports",
        "export_passes",
        "export_precision",
        "export_quantized",
        "export_kernels",
        "recipes",
    ],
    "peers": [
        "fold_peers",
        "pass_peers",
        "precision_peers",
        "range_peers",
        "convert_peers",
        "convert_speed",
        "growth",
        "verified_cost",
        "big",
    ],
}
CHECKS = {name: f"{area}.{name}" for area, names in AREAS.items() for name in names}
# Run if they are named, or with --all: .ci/run has steps for them.
OWN_STEPS = ["sizes"]


def main():
    arguments = parse_arguments()
    failed = {}
    for name in arguments.checks or default_checks(arguments.all):
        report, start = Report(everything=arguments.all, seed=arguments.seed), time.monotonic()
        try:
            importlib.import_module(CHECKS[name]).check(report)
        except Exception:
            report.case("the check itself", traceback.format_exc())
        print(f"{name:10}  {report.summary()}  ({time.monotonic() - start:.1f} s)", flush=True)
        for detail in report.details:
            print(f"    {detail}", flush=True)
        for failure in report.failures[: None if arguments.verbose else 20]:
            print(f"    {failure}", flush=True)
        if report.failed:
            failed[name] = report
    # Once more at the end, where a long log is read first.
    for name, report in failed.items():
        print(f"FAILED: {name}  {report.summary()}", *report.failures[:3], sep="\n    ")
    print(f"conformance: {len(failed)} checks FAILED" if failed else "conformance: all checks pass")
    sys.exit(1 if failed else 0)


def default_checks(everything):
    return [name for name in CHECKS if everything or name not in OWN_STEPS]


def parse_arguments():
    parser = argparse.ArgumentParser(prog="conformance/run", description="Compares recast with onnx and onnxruntime.")
    extent = parser.add_mutually_exclusive_group()
    extent.add_argument("--sample", action="store_true", help="a part of the slow checks, the default")
    extent.add_argument("--all", action="store_true", help="everything, files beyond 2 GiB too")
    parser.add_argument("--verbose", action="store_true", help="print every failure, not the first twenty of a check")
    parser.add_argument("--seed", type=int, metavar="N", help="run one random case of the check `sizes`")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"which checks to run: {', '.join(CHECKS)}")
    arguments = parser.parse_args()
    unknown = set(arguments.checks) - set(CHECKS)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    if arguments.seed is not None and arguments.checks != ["sizes"]:
        parser.error("--seed is an option of the check sizes")
    return arguments


if __name__ == "__main__":
    main()
