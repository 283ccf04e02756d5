"""facts/casts.txt is what runtimes compute for Cast, and docs/runtimes-casts.md is what the file generates. A sample runs onnx's reference
evaluator and the newest onnxruntime; --all runs the others, except those that compile each model for a second."""

import re
import shlex
import subprocess
import sys

from onnx import TensorProto
from support.cast_rules import bits_of, is_nan
from support.codes import codes
from support.common import FACTS, recast, scratch_folder

sys.path.append(str(FACTS))
from casts import kinds, page, reproductions, results  # noqa: E402
from casts.edges import edges  # noqa: E402
from casts.models import tensor_of  # noqa: E402
from casts.runtimes import RUNTIMES, Process  # noqa: E402
from casts.strings import ERROR  # noqa: E402

GENERATOR = FACTS / "generate_casts.py"
TABLE = FACTS / "casts.txt"
NEWEST_OPSET = 28
SLOW = ("iree", "tvm", "mnn")
SAMPLED = ("onnx.reference-1.23.2", "onnxruntime-1.32.0")


def check(report):
    report.case("docs/runtimes-casts.md, facts/reproductions", differences("--page"))
    for row in (row for rows in kinds.TABLES.values() for row in rows if row.source != "STRING"):
        report.case(page.command(row), other_result(row))
    check_strings(report)
    with Process(RUNTIMES[0]) as reference:
        for row in reproductions.rows():
            file = FACTS / "reproductions" / reproductions.name_of(row)
            if file.exists() and "onnx.reference" not in file.read_text():
                report.case(file.name, reproductions.problem(row, file.read_text(), reference))
    for runtime in runtimes() if report.everything else SAMPLED:
        report.case(f"facts/casts.txt: {runtime}", differences(runtime))


def runtimes():
    """The sections of the file; those that compile each model for seconds are measured when the file is written."""
    names = re.findall(r"^\[(.*) (.*)\]$", TABLE.read_text(), re.MULTILINE)
    return [f"{name}-{version}" for name, version in names if name not in SLOW]


def other_result(row):
    """What `recast cast` prints for a row, unless it is the result, or the verdict, that the page states."""
    done = recast(*shlex.split(page.command(row).strip("`"))[1:])
    wanted = printed(page.answer(row), row.target)
    return wanted not in done.stdout.partition("\n")[0] and f"prints {done.stdout + done.stderr}, not {wanted}"


def check_strings(report):
    """`recast cast` writes the strings and numbers that runtimes are compared with, by default only those that ONNX defines."""
    for target in results.STRING_TARGETS:
        for literal in results.STRINGS:
            report.case(f"{literal!r} to {target}", other_definition("STRING", target, literal))
    for source in ("BOOL", "INT8", "UINT64", "FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "FLOAT8E5M2", "FLOAT8E8M0"):
        for code in edges(source, "STRING"):
            report.case(f"{source} {code:#x} to STRING", other_definition(source, "STRING", code))


def other_definition(source, target, element):
    answer = results.answer_of(results.Cast(source, target, ""), element, NEWEST_OPSET)
    with scratch_folder() as scratch:
        (scratch / "x.pb").write_bytes(tensor_of("x", source, [element]).SerializeToString())
        given = cast_file(scratch, target, "--undefined", "fold")
        if not results.same(given, answer.text, target):
            return f"recast writes {given}, not {answer.text}"
        by_default = cast_file(scratch, target) != ERROR
        return by_default != (answer.kind == "defined") and f"recast writes it by default: {by_default}; {answer.kind}"


def cast_file(folder, target, *options):
    """The element of x.pb that `recast cast` writes."""
    if recast("cast", folder / "x.pb", "-o", folder / "y.pb", "--to", target, *options).returncode:
        return ERROR
    tensor = TensorProto.FromString((folder / "y.pb").read_bytes())
    return tensor.string_data[0].decode() if target == "STRING" else codes(tensor, bits_of(target))[0]


def printed(answer, target):
    if answer.kind != "defined":
        return answer.kind
    return "NaN " if is_nan(answer.text, target) else f"0x{answer.text:0{-(-bits_of(target) // 4)}x} "


def differences(*arguments):
    done = subprocess.run([sys.executable, GENERATOR, "--check", *arguments], capture_output=True, text=True)
    return done.returncode != 0 and (done.stdout + done.stderr).strip()
