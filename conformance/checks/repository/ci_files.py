"""The files for CI and for a release: the pre-commit hooks run, the action's steps run, the workflows are valid, and so are the files that docs/
shows. All files name the same version."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from support.common import ROOT, copy_examples, path_with_recast, scratch_folder

BIN = Path(sys.executable).parent
USES = re.compile(r"\buses: *(.*)")
# A full commit hash, since a tag can be moved, and a comment with the version, which Dependabot reads.
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
# The files that name the version, and how often they do at least.
VERSIONS = {
    "CITATION.cff": (r"^version: (\S+)$", 1),
    "Cargo.toml": (r'^onnx-(?:cast|operators) = \{ version = "([^"]+)"', 2),
    "crates/onnx-operators/Cargo.toml": (r'^onnx-cast = \{ version = "([^"]+)"', 1),
    "docs/ci.md": (r"(?:onnx-recast(?:==|@v)|rev: v|`version: )([\d.]+\d)", 5),
    "docs/publishing.md": (r"(?:\bv|onnx-recast-)([\d.]+\d)", 3),
    "packaging/conda-forge/recipe.yaml": (r'^  version: "([^"]+)"$', 1),
    "packaging/homebrew/onnx-recast.rb": (r"/v([\d.]+\d)\.tar\.gz", 1),
    "packaging/pre-commit/pyproject.toml": (r'(?:^version = "|onnx-recast==|tag v)([\d.]+\d)', 3),
    "web/npm/package.json": (r'^  "version": "([^"]+)",$', 1),
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def check(report):
    with scratch_folder() as folder:
        environment = environment_with_recast(folder)
        repository = make_repository(folder / "repository")
        check_hooks(report, repository, environment)
        check_action(report, repository, environment)
        check_workflows(report, repository, environment)
        check_versions(report)
        check_image(report)
        check_documentation(report, folder, repository, environment)
        check_forms(report, repository, environment)
        check_git(report, repository, environment)


def environment_with_recast(folder):
    """An environment whose path begins with recast, and whose pre-commit keeps nothing."""
    identity = {f"GIT_{role}_{part}": "nobody@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    return os.environ | identity | {"PATH": path_with_recast(folder, BIN), "PRE_COMMIT_HOME": str(folder / "pre-commit")}


def make_repository(folder):
    """A repository with the example models."""
    copy_examples(folder)
    run(["git", "init", "--quiet"], folder)
    run(["git", "add", "."], folder)
    return folder


def run(command, folder, environment=None):
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def expect(report, name, done, code, part=""):
    wrong = done.returncode != code or part not in done.stdout
    report.case(name, wrong and f"exit code {done.returncode}, not {code}: {done.stdout[-1500:]}{done.stderr[-1500:]}")


def check_hooks(report, repository, environment):
    manifest = ROOT / ".pre-commit-hooks.yaml"
    expect(report, "the hooks by pre-commit", run(["pre-commit", "validate-manifest", manifest], repository, environment), 0)
    mirror = ROOT / "packaging/pre-commit/.pre-commit-hooks.yaml"
    expect(report, "the hook of the mirror by pre-commit", run(["pre-commit", "validate-manifest", mirror], repository, environment), 0)
    (mirrored,) = yaml.safe_load(mirror.read_text())
    original = next(hook for hook in yaml.safe_load(manifest.read_text()) if hook["id"] == mirrored["id"])
    differing = {key for key in {*mirrored, *original} - {"description"} if mirrored.get(key) != original.get(key)}
    report.case("the hook of the mirror", differing)
    # The other hooks do the same, after minutes in which they build recast: `.ci/python` runs the one that is built as a Python package.
    hook = next(hook for hook in yaml.safe_load(manifest.read_text()) if hook["id"] == "recast-lint-installed")
    config = repository / ".pre-commit-config.yaml"
    config.write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": [hook]}]}))
    expect(report, "the hook on all models", run(["pre-commit", "run", "--all-files"], repository, environment), 1, "RC101")
    clean = ["pre-commit", "run", "--files", "models/transformer_fp16.onnx"]
    expect(report, "the hook on a clean model", run(clean, repository, environment), 0)
    config.unlink()


def check_action(report, repository, environment):
    action = ROOT / "action.yml"
    schema = ["check-jsonschema", "--builtin-schema", "vendor.github-actions", action]
    expect(report, "the action by GitHub's schema", run(schema, repository, environment), 0)
    definition = yaml.safe_load(action.read_text())
    step = next(step for step in definition["runs"]["steps"] if "recast lint" in step["run"])
    inputs = {name: str(value.get("default", "")) for name, value in definition["inputs"].items()}
    for name, given, code, part in [
        ("without inputs", {}, 1, "::warning file=models/fp8_qdq.onnx,title=RC101"),
        ("with a pattern", {"paths": "models/t*.onnx models/o*.onnx"}, 0, ""),
        ("with options", {"args": "--exit-zero --select RC4"}, 0, "::notice"),
        ("with an output", {"format": "sarif", "output": "out.sarif"}, 1, ""),
    ]:
        values = inputs | given
        variables = {key: values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]] for key, value in step["env"].items()}
        expect(report, f"the action {name}", run(["bash", "-e", "-c", step["run"]], repository, environment | variables), code, part)
    report.case("the action's output", "2.1.0" not in (repository / "out.sarif").read_text() and "no SARIF")


def check_workflows(report, repository, environment):
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    report.case("the workflows", not workflows and "there are none")
    for workflow in workflows:
        schema = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", workflow]
        expect(report, f"{workflow.name} by GitHub's schema", run(schema, repository, environment), 0)
        unpinned = [used for used in USES.findall(workflow.read_text()) if not PINNED.fullmatch(used)]
        report.case(f"the actions of {workflow.name} are pinned", unpinned)
    dependabot = ["check-jsonschema", "--builtin-schema", "vendor.dependabot", ROOT / ".github/dependabot.yml"]
    expect(report, "dependabot.yml by its schema", run(dependabot, repository, environment), 0)
    # `cargo binstall` looks for the archives under the names that the release gives them.
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["metadata"]["binstall"]
    values = {"repo": "R", "version": "1.2.3", "target": "T", "archive-suffix": ".tar.gz"}
    url = re.sub(r"\{ ([\w-]+) \}", lambda name: values[name[1]], package["pkg-url"])
    release = (ROOT / ".github/workflows/release.yml").read_text()
    name = re.search(r'name="(recast-\S+)"', release)[1].replace("${GITHUB_REF_NAME}", "v1.2.3").replace("${TARGET}", "T")
    report.case("the archives of cargo binstall", url != f"R/releases/download/v1.2.3/{name}.tar.gz" and url)


def check_versions(report):
    """Each file that names the version of the workspace; the wheel has it from python/Cargo.toml."""
    version = workspace()["version"]
    for name, (pattern, least) in VERSIONS.items():
        named = re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)
        report.case(f"the version of {name}", (len(named) < least or set(named) != {version}) and f"{named}, not {version}")
    project = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    report.case("the version of python/pyproject.toml", "version" not in project["dynamic"] and "is not that of Cargo.toml")


def workspace():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]


def check_image(report):
    """The image is built with the oldest supported Rust, and as the release builds its archives."""
    text = (ROOT / "Dockerfile").read_text()
    rust = re.findall(r"^FROM rust:([\d.]+)-", text, re.MULTILINE)
    report.case("the Rust of the image", rust != [workspace()["rust-version"]] and rust)
    build = re.compile(r"cargo build --locked --profile (\w+)")
    profiles = build.findall(text), build.findall((ROOT / ".github/workflows/release.yml").read_text())
    report.case("the profile of the image", (profiles[0] != profiles[1] or not profiles[0]) and profiles)


def check_documentation(report, folder, repository, environment):
    """The examples of commands are checked by `documents`."""
    for kind, text in BLOCK.findall((ROOT / "docs/ci.md").read_text()):
        if kind == "yaml":
            check_yaml(report, folder, text, environment)
            for command in re.findall(r"^ *- (recast lint .*)", text, re.MULTILINE):
                done = run(["bash", "-c", command], repository, environment)
                report.case(f"docs/ci.md: {command}", done.returncode not in (0, 1) and done.stderr)
    (configuration,) = [text for kind, text in BLOCK.findall((ROOT / "docs/lint.md").read_text()) if kind == "toml"]
    (repository / "recast.toml").write_text(configuration)
    (repository / tomllib.loads(configuration)["lint"]["baseline"]).write_text('{"version": 1, "findings": []}')
    done = run(["recast", "lint", "models", "--format", "concise"], repository, environment)
    expect(report, "docs/lint.md: recast.toml", done, 1, "RC101 error")


def check_forms(report, repository, environment):
    """The forms of issues, and how the project is cited."""
    schemas = {path: "vendor.github-issue-forms" for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*-*.yml")}
    report.case("the forms of issues", not schemas and "there are none")
    schemas |= {ROOT / ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config", ROOT / "CITATION.cff": "vendor.citation-file-format"}
    for path, schema in schemas.items():
        expect(report, f"{path.name} by its schema", run(["check-jsonschema", "--builtin-schema", schema, path], repository, environment), 0)


def check_git(report, repository, environment):
    """`git diff` shows the differences of models, after the commands of docs/ci.md."""
    section = (ROOT / "docs/ci.md").read_text().split("## git diff")[1].split("\n## ")[0]
    (commands,) = [text for kind, text in BLOCK.findall(section) if kind == "sh"]
    expect(report, "docs/ci.md: git diff", run(["bash", "-e", "-c", commands], repository, environment), 0)
    run(["git", "commit", "--quiet", "--message", "models"], repository, environment)
    model = repository / "models/fp8_qdq.onnx"
    run(["recast", "lint", model, "--fix", "--isolated"], repository, environment)
    shown = run(["git", "diff"], repository, environment)
    expect(report, "git diff of a changed model", shown, 0, "+ graph/up_weight_cast.saturate: int = 1")
    (repository / "models/new.onnx").write_bytes(model.read_bytes())
    run(["git", "add", "models/new.onnx"], repository, environment)
    added = run(["git", "diff", "--cached"], repository, environment)
    report.case("git diff of a new model", (added.returncode or added.stderr) and f"{added.returncode}: {added.stderr}")
    commit = ["git", "commit", "--quiet", "--all", "--message", "changed"]
    for name, before, command, part in [
        ("git diff --no-ext-diff of a new model", None, ["git", "diff", "--cached", "--no-ext-diff"], "+  input x: tensor(float)[batch,32]"),
        ("git log -p --ext-diff", commit, ["git", "log", "-p", "--ext-diff"], "+ graph/up_weight_cast.saturate: int = 1"),
        ("a folded model", ["recast", "fold", model, "--in-place"], commit, ""),
        ("git log -p", None, ["git", "log", "-p"], "+  9 nodes: "),
    ]:
        if before:
            expect(report, f"before {name}", run(before, repository, environment), 0)
        expect(report, name, run(command, repository, environment), 0, part)


def check_yaml(report, folder, text, environment):
    name = text.splitlines()[0].removeprefix("# ")
    path = folder / Path(name).name
    path.write_text(text)
    schemas = {".gitlab-ci.yml": "vendor.gitlab-ci"}
    if name == ".pre-commit-config.yaml":
        command = ["pre-commit", "validate-config", path]
    else:
        transform = ["--data-transform", "gitlab-ci"] if name == ".gitlab-ci.yml" else []
        command = ["check-jsonschema", "--builtin-schema", schemas.get(name, "vendor.github-workflows"), *transform, path]
    expect(report, f"docs/ci.md: {name}", run(command, folder, environment), 0)
