"""Each task writes the files that the command writes, byte for byte: models, data files and the page about the run."""

import os
import pathlib
import shlex
import shutil

import pytest
from conftest import ROOT, recast
from hostile import plant

# MODELS names another folder with models.
FOLDER = pathlib.Path(os.environ.get("MODELS", ROOT / "models"))
MODELS = sorted(FOLDER.glob("**/*.onnx"))
# A task, and the values of its fields.
TASKS = [
    ("look", {}),
    ("lint", {}),
    ("lint", {"select": "ALL", "target": "onnxruntime@1.17"}),
    ("lint", {"fix": True, "unsafe_fixes": True}),
    ("fold", {}),
    ("fold", {"passes": "exact", "no_verify": True, "external_data": "inline"}),
    ("convert", {"opset": "11"}),
    ("convert", {"opset": "28", "explicit": "all", "no_verify": True}),
    ("convert", {"target": "onnxruntime@1.17", "lowest": True}),
    ("precision", {}),
    ("precision", {"to": "BFLOAT16", "policy": "all", "io": "convert", "no_verify": True}),
    ("precision", {"to": "FLOAT"}),
    ("precision", {"emulate": True}),
]
CASTS = " ".join(f"v{index} = Cast <to = {10 if index % 2 else 1}> ({f'v{index - 1}' if index else 'x'})" for index in range(50_000))
HEAD = '<ir_version: 10, opset_import: ["": 21'
# Models that a program may not survive, in ONNX text.
HOSTILE = {
    "a name of 10 MB": HEAD + ']> g (float x) => (float y) <float w = {2}> { [NAME] a = Cast <to = 10> (w) y = Neg (x) }',
    "50,000 casts": f"{HEAD}]> g (float x) => (float y) {{ {CASTS} y = Cast <to = 1> (v49999) }}",
    "a cycle": HEAD + "]> g (float x) => (float y) { a = Add (x, b) b = Neg (a) y = Cast <to = 1> (b) }",
    "a function that calls itself": HEAD + ', "own": 1]> g (float x) => (float y) { y = own.f (x) }\n<domain: "own", opset_import: ["": 21, "own": 1]> f (x) => (y) { y = own.f (x) }',
    "an initializer of 2^60 elements": HEAD + "]> g (float x) => (float y) <float[1073741824, 1073741824] w = {}> { a = Cast <to = 10> (w) y = Neg (x) }",
}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_files_are_those_of_the_command(opened, tmp_path, path):
    expect_same_tasks(opened(), tmp_path, [path, *data_files(path)])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_models_have_the_results_of_the_command(opened, tmp_path, name):
    """As text, and as the model that `recast fold` makes of it, if it does."""
    text = tmp_path / "text.onnxtxt"
    text.write_text(HOSTILE[name])
    model = tmp_path / "model.onnx"
    recast(tmp_path, "fold", text, "--passes", "none", "-o", model)
    if model.exists() and "[NAME]" in HOSTILE[name]:
        plant(model, b"NAME", b"n" * 10_000_000)
    expect_same_tasks(opened(), tmp_path, [model if model.exists() else text])


def expect_same_tasks(page, folder, files):
    page.open(*files)
    failures = []
    for number, (job, values) in enumerate(TASKS):
        page.go(job, **values)
        try:
            expect_same(page, folder / str(number), files, page.run())
        except AssertionError as error:
            failures.append(f"{job} {values}: {error}")
    assert failures == []


def test_differences_are_those_of_the_command(opened, tmp_path):
    files = [ROOT / "models/fp8_qdq.onnx", ROOT / "models/transformer_fp16.onnx"]
    page = opened()
    page.open(*files)
    page.choose("diff")
    page.set(other="fp8_qdq.onnx")
    code = page.run()
    expect_same(page, tmp_path, files, code)
    assert "differences" in page.text()


def test_errors_are_those_of_the_command(opened, tmp_path):
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"\x3a\xff\xff\xff\x0fmodel")
    for job in ["look", "lint", "fold"]:
        page = opened()
        page.open(broken)
        page.choose(job)
        code = page.run()
        with_message = expect_same(page, tmp_path / job, [broken], code)
        assert with_message.stderr.splitlines()[-1].split(": ")[-1] in page.page.inner_text("main")


def data_files(path):
    return sorted(path.parent.glob(f"{path.stem}*.data"))


def expect_same(page, folder, files, code):
    """Runs the command that the page shows, in a folder with the same files."""
    folder = folder / "command"
    folder.mkdir(parents=True)
    for file in files:
        shutil.copy(file, folder)
    before = {file.name: file.read_bytes() for file in files}
    line = shlex.split(page.page.inner_text("#command"))
    assert line[0] == "recast"
    done = recast(folder, *line[1:])
    written = {file.name: file.read_bytes() for file in folder.iterdir() if before.get(file.name) != file.read_bytes()}
    saved = page.saved()
    assert (code, sorted(saved)) == (done.returncode, sorted(written)), done.stderr
    assert [name for name in written if saved[name] != written[name]] == []
    return done
