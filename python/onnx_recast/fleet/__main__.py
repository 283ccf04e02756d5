"""The command line: ``recast fleet``, or ``python -m onnx_recast.fleet``."""

from __future__ import annotations

import argparse
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from obstore.exceptions import BaseError

from onnx_recast import RecastError, _recast, fleet
from onnx_recast.fleet.rows import FAILED
from onnx_recast.fleet.text import plain, shown

_EXAMPLES = """\
examples:
  recast fleet convert zoo --to zoo17 --opset 17 --manifest manifest
  recast fleet convert s3://zoo/ --to s3://zoo17/ --target onnxruntime@1.17 --engine ray --manifest s3://zoo-manifest/
  recast fleet precision zoo --to zoo16 --type FLOAT16 --manifest manifest
  recast fleet lint,fold,convert s3://zoo/ --to s3://zoo17/ --opset 17 --manifest s3://zoo-manifest/
  recast fleet summary s3://zoo-manifest/ --html night.html

exit codes:
  0  all models are ok
  1  some models have findings or are refused
  2  a model or the run failed
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["summary"]:
            return _summary(given[1:])
        return _run(given)
    except KeyboardInterrupt:
        return 130
    except fleet.DiskFull as error:
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}the disk is full ({error.code}): {error.strerror}; run the same command again to resume"
        print(f"fleet: {shown(text)}", file=sys.stderr)
        return 2
    except (BaseError, OSError, RecastError, RuntimeError, TypeError, ValueError, ImportError, sqlite3.Error) as error:
        print(f"fleet: {shown(plain(error))}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="recast fleet",
        description="Process all models of a folder or table, and write a row for each to a manifest.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"onnx_recast.fleet {_recast.VERSION}")
    add = parser.add_argument
    steps = "fold, convert, precision, lint, inspect, or a list such as lint,fold,convert"
    add("steps", help=f"{steps}; or summary (see summary --help)")
    add("source", help="folder of models: a path, s3://, gs://, az:// ...; or a .txt or .parquet file with URIs")
    add("--manifest", required=True, metavar="URI", help="folder of the manifest")
    add(
        "--root",
        metavar="URI",
        help="folder of the models in a .txt or .parquet file; outputs have the same paths beneath --to",
    )
    job = parser.add_argument_group("job")
    add = job.add_argument
    add("--to", metavar="URI", help="folder of the outputs, for fold, convert and precision")
    add("--keep-failed", action="store_true", help="store a model that is refused without changes")
    add("--overwrite", action="store_true", help="replace outputs that were not made from the same model")
    add("--no-weights", action="store_true", help="lint without reading weights")
    add("--no-verify", action="store_true", help="write outputs without verifying them against their models")
    add("--opset", type=_opset, metavar="N", help="convert to this opset; latest is the newest")
    add("--target", metavar="RUNTIME", help="convert to what a runtime loads, such as onnxruntime@1.17")
    add("--type", metavar="TYPE", help="type that precision gives to values: FLOAT16, BFLOAT16 or FLOAT")
    add("--select", type=_list, default=[], metavar="CODES", help="rules of lint")
    add("--ignore", type=_list, default=[], metavar="CODES", help="rules that lint ignores")
    add(
        "--option",
        action="append",
        default=[],
        metavar="STEP.NAME=VALUE",
        type=_option,
        help="another option of the function of the module, such as fold.undefined=fold; repeatable: an option that is"
        " repeated has all of its values",
    )
    engine = parser.add_argument_group("engine")
    add = engine.add_argument
    add("--engine", choices=["local", "ray"], default="local", help="default: local")
    add(
        "--workers",
        type=int,
        metavar="N",
        help="models at a time; default: the number of cores, or what the cluster has room for",
    )
    add("--memory", type=_bytes, metavar="BYTES", help="memory of a worker; accepts the suffixes K, M and G")
    add("--timeout", type=float, default=900.0, metavar="SECONDS", help="for one model; default: 900")
    add("--scratch", metavar="DIR", help="folder for temporary files")
    add(
        "--scratch-bytes",
        type=_bytes,
        default=64 << 30,
        metavar="BYTES",
        help="length of all temporary files of a machine; default: 64G",
    )
    add("--quiet", action="store_true", help="print no progress")
    return parser


def _run(arguments: Sequence[str]) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    _check_options(parser, options)
    is_table = options.source.endswith((".txt", ".parquet"))
    job = fleet.Job(
        [_step(name, options) for name in options.steps.split(",")],
        options.root or (options.source.rpartition("/")[0] or "." if is_table else options.source),
        options.to,
        keep_failed=options.keep_failed,
        overwrite=options.overwrite,
        weights=not options.no_weights,
        verify=not options.no_verify,
    )
    progress = None if options.quiet else _Progress()
    try:
        totals = fleet.run(
            job,
            options.manifest,
            source=options.source,
            engine=options.engine,
            workers=options.workers,
            memory=options.memory,
            timeout=options.timeout,
            scratch=options.scratch,
            scratch_bytes=options.scratch_bytes,
            progress=progress,
        )
    finally:
        if progress is not None:
            progress.end()
    _name_failed(totals, options.manifest)
    print(_line(totals))
    return totals.exit_code


def _name_failed(totals: fleet.Totals, manifest: str) -> None:
    for row in totals.failed:
        message = (row.message or "").removeprefix(row.uri).removeprefix(":").strip()
        print(f"fleet: {shown(f'{row.uri}: {row.outcome} ({row.code}): {message}')}", file=sys.stderr)
    more = sum(totals.outcomes[name] for name in FAILED) - len(totals.failed)
    if more:
        print(f"fleet: and {more} more, which have rows in {shown(manifest)}", file=sys.stderr)


def _check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End with a usage error if an option is missing, or has no effect."""
    steps = options.steps.split(",")
    named = {option for step, option, _ in options.option if step == "convert"}
    if "convert" in steps and options.opset is None and options.target is None and not named & {"opset", "target"}:
        parser.error("convert needs --opset N or --target RUNTIME")
    if "precision" in steps and options.type is None:
        parser.error("precision needs --type TYPE")
    if options.keep_failed and not {"convert", "precision"} & {*steps}:
        parser.error("--keep-failed is for convert and precision, which are not steps")
    used = {"convert": ("opset", "target"), "precision": ("type",), "lint": ("select", "ignore", "no_weights")}
    for step, names in used.items():
        for name in names:
            if step not in steps and getattr(options, name):
                parser.error(f"--{name.replace('_', '-')} is for {step}, which is not a step")
    for step, option, _ in options.option:
        if step not in steps:
            parser.error(f"--option {shown(step)}.{shown(option)}: {shown(step)} is not a step")


def _step(name: str, options: argparse.Namespace) -> fleet.Step:
    others = _others(name, options)
    if name == "convert":
        named = {"opset": options.opset, "target": options.target}
        return fleet.Step(name, {**{key: value for key, value in named.items() if value is not None}, **others})
    if name == "precision":
        return fleet.precision(options.type, **others)
    if name == "lint":
        return fleet.Step(name, {"select": options.select, "ignore": options.ignore, **others})
    return fleet.Step(name, others)


def _others(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a step that ``--option`` gives; one that is repeated has a list of values."""
    values: dict[str, list[Any]] = {}
    for step, option, value in options.option:
        if step == name:
            values.setdefault(option, []).append(value)
    return {option: given[0] if len(given) == 1 else given for option, given in values.items()}


def _line(totals: fleet.Totals) -> str:
    counts = totals.to_dict()
    outcomes = ", ".join(f"{count} {name}" for name, count in counts["outcomes"].items())
    skipped = f" ({counts['skipped']} skipped)" if counts["skipped"] else ""
    loops = f"; {totals.loops} links to a folder that contains them, not followed" if totals.loops else ""
    return f"{counts['models']} models{skipped}: {outcomes or 'none'}{loops}"


class _Progress:
    """A line on a terminal; elsewhere, a line every half minute."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._next = time.monotonic() + self._interval

    @property
    def _interval(self) -> float:
        return 0.2 if self._is_terminal else 30.0

    def __call__(self, totals: fleet.Totals) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._interval
            text = f"\r{_line(totals)}\033[K" if self._is_terminal else f"{_line(totals)}\n"
            print(text, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _summary(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="recast fleet summary", description="Summarise a run.")
    parser.add_argument("manifest", help="folder of the manifest")
    parser.add_argument("--run", help="name of a run; default: the last complete one, or else the last")
    parser.add_argument("--format", choices=["text", "json"], default="text", help="default: text")
    parser.add_argument("--html", metavar="FILE", type=Path, help="also write a page, which needs no other file")
    options = parser.parse_args(arguments)
    found = fleet.summary(options.manifest, run=options.run)
    if options.html is not None:
        options.html.write_text(found.to_html(), encoding="utf-8")
    print(found.to_json() if options.format == "json" else found.to_text(), end="")
    return 0


def _list(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _opset(text: str) -> int | str:
    try:
        return text if text == "latest" else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected an opset such as 21, or latest, not {shown(text)!r}") from None


def _bytes(text: str) -> int:
    factors = {"K": 10, "M": 20, "G": 30}
    shift = factors.get(text[-1:].upper())
    try:
        number = int(text) if shift is None else int(text[:-1]) << shift
    except ValueError:
        number = 0
    if number <= 0:
        raise argparse.ArgumentTypeError(f"expected a number of bytes such as 512M, not {shown(text)!r}")
    return number


def _option(text: str) -> tuple[str, str, Any]:
    name, has_value, value = text.partition("=")
    step, has_name, option = name.partition(".")
    if not (has_value and has_name and option):
        raise argparse.ArgumentTypeError(f"expected STEP.NAME=VALUE, not {shown(text)!r}")
    plain: dict[str, Any] = {"true": True, "false": False}
    return step, option, plain.get(value, int(value) if value.lstrip("-").isdecimal() else value)


if __name__ == "__main__":
    sys.exit(main())
