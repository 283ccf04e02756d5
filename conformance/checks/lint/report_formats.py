"""The reports of `recast lint`: one valid document per run, by the schema or the rules of its consumer."""

import json
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jsonschema
from onnx import parser

from support.common import EXAMPLES, ROOT, recast, scratch_folder

SARIF_CRATE = "serde-sarif"  # It carries the schema of SARIF 2.1.0 as OASIS publishes it.
SARIF_VERSION = "0.8.0"

SILENT = """<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y, float16[4] z)
    { [quantize] y = Cast <to = 17> (x) z = Cast <saturate = 1, to = 10> (x) }"""


def check(report):
    with scratch_folder() as folder:
        odd = folder / "with blank, 100% & <odd>.onnx"
        odd.write_bytes(parser.parse_model(SILENT).SerializeToString())
        broken = folder / "broken.onnx"
        broken.write_bytes(b"\x08\x09\x3a\xff")
        clean = folder / "clean.onnx"
        clean.write_bytes(parser.parse_model(SILENT.replace("<to = 17>", "<saturate = 1, to = 17>")).SerializeToString())
        runs = {"all": [*EXAMPLES, odd, clean, broken], "clean": [clean], "broken": [broken]}
        schema = sarif_schema(folder)
        for name, paths in runs.items():
            findings = json.loads(lint("json", paths))["findings"]
            broken_files = sum(path == broken for path in paths)
            for format_name, judge in [("sarif", judge_sarif(schema)), ("gitlab", judge_gitlab), ("junit", judge_junit), ("github", judge_github)]:
                text = lint(format_name, paths)
                report.attempt(f"{format_name}, {name}", lambda judge=judge, text=text: judge(text, findings, broken_files))
            lines = [json.loads(line) for line in lint("jsonl", paths).splitlines()]
            report.case(f"jsonl, {name}", len(lines) != len(findings) + broken_files and f"{len(lines)} lines")


def lint(format_name, paths):
    return recast("lint", "--isolated", "--select", "ALL", "--format", format_name, *paths).stdout


def sarif_schema(folder):
    """The schema, out of the crate that cargo downloads."""
    (folder / "lib.rs").touch()
    (folder / "Cargo.toml").write_text(
        f'[package]\nname = "schema"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\n{SARIF_CRATE} = "={SARIF_VERSION}"\n'
    )
    done = subprocess.run(["cargo", "metadata", "--format-version", "1"], cwd=folder, capture_output=True, text=True, check=True)
    packages = json.loads(done.stdout)["packages"]
    manifest = next(package["manifest_path"] for package in packages if package["name"] == SARIF_CRATE)
    return json.loads((Path(manifest).parent / "src/schema.json").read_text())


# The properties that GitHub requires of an upload to code scanning: https://docs.github.com/en/code-security/code-scanning/
# integrating-with-code-scanning/sarif-support-for-code-scanning. A required property is present and not empty. `[]` is each item of a list.
GITHUB_REQUIRES = [
    "$schema",
    "version",
    "runs[].tool.driver.name",
    "runs[].tool.driver.rules[].id",
    "runs[].tool.driver.rules[].shortDescription.text",
    "runs[].tool.driver.rules[].fullDescription.text",
    "runs[].tool.driver.rules[].help.text",
    "runs[].results[].message.text",
    "runs[].results[].locations[].physicalLocation.artifactLocation.uri",
    "runs[].results[].locations[].physicalLocation.region.startLine",
    "runs[].results[].locations[].physicalLocation.region.startColumn",
    "runs[].results[].locations[].physicalLocation.region.endLine",
    "runs[].results[].locations[].physicalLocation.region.endColumn",
    "runs[].results[].partialFingerprints.primaryLocationLineHash",
]
# Lists that have to be there, and may be empty; and one that has to have an item.
GITHUB_REQUIRES_LISTS = {"runs[].tool.driver.rules": 0, "runs[].results": 0, "runs[].results[].locations": 1}
# The characters, and the items, that are kept.
GITHUB_KEEPS = {
    "runs[].tool.driver.rules[].name": 255,
    "runs[].tool.driver.rules[].shortDescription.text": 1024,
    "runs[].tool.driver.rules[].fullDescription.text": 1024,
    "runs[].results[].locations": 10,
    "runs[].results": 25_000,
    "runs[].tool.driver.rules": 25_000,
}
# Not required, but shown: where to read more. Left out while Cargo.toml has no public address.
SHOWN = ["runs[].tool.driver.informationUri", "runs[].tool.driver.rules[].helpUri"]
IS_PUBLIC = "/OWNER/" not in (ROOT / "Cargo.toml").read_text()


def values_at(value, path):
    """The values at a path, None where it ends early."""
    if not path:
        return [value]
    name, _, rest = path.partition(".")
    plain = name.removesuffix("[]")
    value = value.get(plain) if isinstance(value, dict) else None
    if value is None or not name.endswith("[]"):
        return values_at(value, rest) if value is not None else [None]
    return [found for item in value for found in values_at(item, rest)]


def judge_github_upload(document):
    """By GitHub's documentation of the SARIF that it supports."""
    for path in [*GITHUB_REQUIRES, *(SHOWN if IS_PUBLIC else [])]:
        assert all(value not in (None, "") for value in values_at(document, path)), f"{path} is missing or empty"
    for path, least in GITHUB_REQUIRES_LISTS.items():
        assert all(isinstance(value, list) and len(value) >= least for value in values_at(document, path)), path
    for path, most in GITHUB_KEEPS.items():
        assert all(len(value) <= most for value in values_at(document, path)), f"{path} is too long"
    assert document["version"] == "2.1.0"
    for uri in values_at(document, "runs[].tool.driver.rules[].helpUri"):
        assert is_page(uri) if IS_PUBLIC else uri is None, uri
    for region in values_at(document, "runs[].results[].locations[].physicalLocation.region"):
        start, end = (region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"])
        assert (1, 1) <= start < end, region


def is_page(uri):
    """Whether an address is that of a file in the repository, perhaps with an anchor."""
    return (ROOT / re.fullmatch(r"https://[^/]+/[^/]+/[^/]+/blob/v[^/]+/([^#]+)(#.+)?", uri)[1]).is_file()


def judge_sarif(schema):
    validator = jsonschema.validators.validator_for(schema)(schema)

    def judge(text, findings, broken_files):
        document = json.loads(text)
        validator.validate(document)
        judge_github_upload(document)
        (run,) = document["runs"]
        assert len(run["results"]) == len(findings), "a result a finding"
        assert run["invocations"][0]["executionSuccessful"] == (broken_files == 0)
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert len(set(rules)) == len(rules), "each rule once"
        fingerprints = set()
        for result in run["results"]:
            assert rules[result["ruleIndex"]] == result["ruleId"]
            fingerprints.add(result["partialFingerprints"]["recast/v1"])
        assert len(fingerprints) == len(findings), "a fingerprint a finding"

    return judge


def judge_gitlab(text, findings, broken_files):
    """By GitLab's documentation of the code quality report."""
    entries = json.loads(text)
    assert len(entries) == len(findings) + broken_files
    assert len({entry["fingerprint"] for entry in entries}) == len(entries), "fingerprints must differ"
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert entry["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert isinstance(entry["location"]["path"], str) and entry["location"]["lines"]["begin"] >= 1


def judge_junit(text, findings, broken_files):
    """By the elements and counts that readers of JUnit's XML rely on."""
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    cases = root.findall("testsuite/testcase")
    failures, errors = root.findall("testsuite/testcase/failure"), root.findall("testsuite/testcase/error")
    assert (int(root.get("tests")), int(root.get("failures")), int(root.get("errors"))) == (len(cases), len(failures), len(errors))
    assert len(failures) == sum(finding["severity"] != "info" for finding in findings) and len(errors) == broken_files
    for suite in root.findall("testsuite"):
        assert int(suite.get("tests")) == len(suite.findall("testcase"))
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    for case in cases:
        assert case.get("name") and case.get("classname")


GITHUB_COMMAND = re.compile(r"::(error|warning|notice) file=([^,:]+),title=([^,:]+)::(.+)")


def judge_github(text, findings, broken_files):
    """By GitHub's documentation of workflow commands: a command a line, properties with `%`, `,` and `:` escaped."""
    lines = text.splitlines()
    assert len(lines) == len(findings) + broken_files
    for line in lines:
        assert GITHUB_COMMAND.fullmatch(line), line
