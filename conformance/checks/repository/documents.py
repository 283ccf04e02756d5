"""The documents: examples in README.md and docs/ give what they show, relative links lead somewhere, and lists of pages,
expansions, dependencies and conformance checks are complete. Pages that are read from top to bottom are short. The pictures show the
numbers of the pages.

An example is a block of `console`: lines that begin with `$ ` are commands of one shell session, the lines between are what they print;
`...` matches any lines. A command must exit with 0 unless `$ echo $?` behind it shows another number. Where no output is shown, any
is accepted. All examples of a page share a folder, which begins with the example models in `models/`.
"""

import os
import re
import subprocess
import sys
import tomllib

from support import discovery
from support.common import ROOT, copy_examples, path_with_recast, scratch_folder

BOOK = ROOT / "docs"
# `onnx` blocks and plain code hold no links; an address with a scheme leads out of the repository.
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def check(report):
    pages = sorted({*ROOT.glob("*.md"), *BOOK.rglob("*.md"), *ROOT.glob("*/README.md")})
    for page in pages:
        check_links(report, page)
    check_contents(report)
    check_lengths(report)
    check_expansions(report)
    check_pictures(report)
    check_dependencies(report)
    check_list_of_checks(report)
    examples = [(page, blocks) for page in pages if (blocks := CONSOLE.findall(page.read_text()))]
    report.case("examples", not examples and "there are none")
    for page, blocks in examples:
        check_examples(report, page, blocks)


def check_links(report, page):
    """Relative links lead to files, and their fragments to headings. One case, so that counts.txt does not change with each link."""
    problems = []
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"\w+:", target):
            continue
        path, _, fragment = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        problem = not file.exists() and "does not exist"
        if not problem and fragment and fragment not in anchors(file):
            problem = "has no such heading"
        problems += [f"{target} {problem}"] if problem else []
    report.case(f"{page.relative_to(ROOT)}: links", "; ".join(problems))


def anchors(page):
    """The anchors that GitHub and mdBook give to headings."""
    headings = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_contents(report):
    """mdBook renders only pages that SUMMARY.md lists."""
    listed = set(LINK.findall((BOOK / "SUMMARY.md").read_text()))
    pages = {page.name for page in BOOK.glob("*.md")} - {"SUMMARY.md"}
    report.case("docs/SUMMARY.md", listed != pages and f"differs from the pages: {sorted(listed ^ pages)}")


def check_lengths(report):
    """A page that is not reference has at most 1,200 words, ARCHITECTURE.md 1,500."""
    contents = re.sub(r"^# Reference\n.*?^(?=# )", "", (BOOK / "SUMMARY.md").read_text(), flags=re.MULTILINE | re.DOTALL)
    limits = {BOOK / page: 1200 for page in LINK.findall(contents)} | {ROOT / "ARCHITECTURE.md": 1500}
    for page, limit in limits.items():
        words = sum(any(map(str.isalnum, word)) for word in page.read_text().split())
        report.case(f"{page.relative_to(ROOT)}: length", words > limit and f"has {words} words, more than {limit}")


def check_expansions(report):
    """docs/conversions.md lists the operators that are expanded, by the opset that introduced them. Guards are for runtimes."""
    text = (BOOK / "conversions.md").read_text()
    files = {file.stem: file.read_text() for file in (ROOT / "src/convert/expansions").glob("*.rs")}
    of_onnxruntime = re.findall(r'"(\w+)", 1, ', files.pop("onnxruntime"))
    section = text.partition("## Operators of onnxruntime")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([A-Z][\w, ]+) \|", section, re.MULTILINE)
    stated = sorted(", ".join(rows).split(", "))
    wrong = f"lists {stated}, the source {sorted(of_onnxruntime)}"
    report.case("docs/conversions.md: operators of onnxruntime", stated != sorted(of_onnxruntime) and wrong)
    sources = "".join(files.values())
    header = re.search(r"^\| before opset \| `exact` \| `by-definition` \|\n.*\n((?:\|.*\n)*)", text, re.MULTILINE)
    rows = [line.strip("|").split("|") for line in header[1].splitlines()] if header else []
    for column, function in [(1, "exact"), (2, "by_definition")]:
        expected = {}
        for ops, version in re.findall(rf'\b{function}\(\s*"([\w ]+)",\s*(\d+)', sources):
            for op in ops.split():
                expected[op] = min(int(version), expected.get(op, int(version)))
        stated = {op: int(row[0]) for row in rows for op in re.findall(r"\w+", row[column])}
        wrong = f"differ from the source: {sorted(stated.items() ^ expected.items())}"
        report.case(f"docs/conversions.md: {function} expansions", (not expected or stated != expected) and wrong)


def check_pictures(report):
    """The pictures are those that their script draws, with the numbers of the pages."""
    done = subprocess.run([sys.executable, BOOK / "images/make.py", "--check"], capture_output=True, text=True)
    report.case("docs/images/make.py --check", done.returncode != 0 and (done.stdout + done.stderr).strip())


def check_dependencies(report):
    """CONTRIBUTING.md gives the purpose of each crate that Cargo.toml names, and of no other."""
    manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())
    tables = [manifest, *manifest.get("target", {}).values()]
    expected = {crate for table in tables for key, crates in table.items() if key.endswith("dependencies") for crate in crates}
    # The tests depend on the crate itself with the feature `internals`.
    expected -= {manifest["package"]["name"]}
    section = re.search(r"^## Dependencies\n(.*?)^Considered", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([\w, -]+) \|", section[1], re.MULTILINE) if section else []
    stated = {crate for row in rows for crate in row.split(", ")} - {"crate"}
    report.case("CONTRIBUTING.md: dependencies", stated != expected and f"differ from Cargo.toml: {sorted(stated ^ expected)}")


def check_list_of_checks(report):
    """conformance/README.md has a table for each area, with a row for each check, in their order."""
    sections = re.split(r"^##+ ", (ROOT / "conformance/README.md").read_text(), flags=re.MULTILINE)
    for area, names in discovery.areas().items():
        rows = [row for section in sections if section.startswith(f"`{area}/`") for row in re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)]
        differing = sorted(set(rows) ^ set(names)) or "the order"
        report.case(f"conformance/README.md: the checks of {area}", rows != names and f"differ from its folder: {differing}")


def check_examples(report, page, blocks):
    name = page.relative_to(ROOT)
    with scratch_folder() as folder:
        copy_examples(folder)
        environment = os.environ | {"PATH": path_with_recast(folder), "NO_COLOR": "1", "COLUMNS": "100"}
        for block in blocks:
            code = 0
            commands = list(commands_of(block))
            for index, (command, shown) in enumerate(commands):
                script = f"(exit {code})\n{command}"
                done = subprocess.run(
                    ["bash", "-c", script], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
                states_code = index + 1 < len(commands) and commands[index + 1][0] == "echo $?"
                problem = done.returncode and not states_code and f"exit code {done.returncode}, not 0: {done.stdout[-1500:]}"
                if not problem and shown and not is_shown(shown, done.stdout.splitlines()):
                    problem = f"prints\n{done.stdout[-3000:]}"
                report.case(f"{name}: {command}", problem)
                code = done.returncode


def commands_of(block):
    """(command, lines of output) of each command."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *output = part.rstrip("\n").split("\n")
        yield command, output


def is_shown(shown, printed):
    """Whether the shown lines are the printed ones, where `...` matches any lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "..." else re.escape(line.rstrip()) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed)) is not None
