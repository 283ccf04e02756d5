"""The table of refused downgrades in docs/conversions.md: every blocker of onnx's models is in one row, with the count that the row states.

All models of the onnx wheel are converted to all opsets from 7 to 28 in dry runs. A row counts the downgrades with at least one blocker of
its codes and operators; `others` are those that no row before it names. The text above the table also has the number with --legalize-io.
"""

import json
import re
from collections import Counter

from support.common import ROOT, batches, recast, wheel_models

PAGE = ROOT / "docs/conversions.md"
OPSETS = range(7, 29)
ROW = re.compile(r"^\| ([\d,]+) \| (`[^|]+`) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)
TOTAL = re.compile(r"Of the ([\d,]+) downgrades of onnx's own models \(\[method\]\([^)]*\)\), ([\d,]+) are refused, and ([\d,]+) with\s+`--legalize-io`")


def check(report):
    rows = [(number(count), re.findall(r"`([a-z-]+)`", codes), re.findall(r"\w+", operators)) for count, codes, operators in ROW.findall(PAGE.read_text())]
    stated = tuple(map(number, TOTAL.search(PAGE.read_text()).groups()))
    counts, total, refused, unlisted = Counter(), 0, 0, Counter()
    for blockers in downgrades():
        total, refused = total + 1, refused + bool(blockers)
        found = {(code, operator): row_of(rows, code, operator) for code, operator in blockers}
        counts.update({row for row in found.values() if row is not None})
        unlisted.update(key for key, row in found.items() if row is None)
    report.case("rows", not rows and "there are none")
    with_io = sum(map(bool, downgrades("--legalize-io")))
    found = (total, refused, with_io)
    report.case("total", stated != found and f"downgrades, refused, refused with --legalize-io: {found}, not {stated}")
    for index, (count, codes, operators) in enumerate(rows):
        report.case(f"{' '.join(codes)}: {' '.join(operators)}", counts[index] != count and f"{counts[index]}, not {count}")
    for (code, operator), count in unlisted.most_common():
        report.case(f"{code}: {operator}", f"{count} refused downgrades, and no row")
    report.note(f"{refused} of {total} downgrades refused, in {len(rows)} rows of {PAGE.name}")


def number(text):
    return int(text.replace(",", ""))


def row_of(rows, code, operator):
    """The row that names the operator, or the one for others of the code."""
    named = [index for index, (_, codes, operators) in enumerate(rows) if code in codes and operator in operators]
    others = [index for index, (_, codes, operators) in enumerate(rows) if code in codes and operators == ["others"]]
    return next(iter(named + others), None)


def downgrades(*options):
    """The codes and operators of the blockers of each downgrade; none if it is made."""
    for opset in OPSETS:
        for batch in batches(wheel_models()):
            done = recast("convert", *batch, "--opset", str(opset), *options, "--dry-run", "--format", "json")
            for model in json.loads(done.stdout)["models"]:
                if model["from"].get("ai.onnx", 0) > opset:
                    yield {(blocker["code"], blocker["op"]) for blocker in model["blockers"]}
